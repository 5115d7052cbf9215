//! The preview of a sandbox without a window.

use super::*;
use crate::{
    fracture::{CutSource, Cutter, Fracture, Pattern, Pieces},
    gpu::Gpu,
    scene::{
        Arrived, Sandbox,
        sandbox::testing::{aim, opened, until},
    },
    svo::gather,
};

/// Brings the preview up to date, waiting for the coarse copy of the object where one is on its way.
pub(super) fn update(sandbox: &mut Sandbox) -> bool {
    loop {
        let changed = sandbox.update_preview().unwrap();
        if changed || !sandbox.is_preparing_preview() {
            return changed;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn the_preview_follows_the_aim_and_the_parameters_and_changes_nothing() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 6);
    assert!(!sandbox.update_preview().unwrap() && sandbox.body_seams().is_none());
    let aim = aim(&sandbox);
    sandbox.set_aim(Some(aim));
    assert!(sandbox.update_preview().unwrap());
    assert!(!sandbox.update_preview().unwrap(), "nothing has moved");
    let first = sandbox.preview();
    assert_eq!((first.showing, first.level, first.recomputed), (Some(PreviewMode::Seams), 6, 1));
    assert_eq!(sandbox.body_seams().map(|s| (s.body, s.seams.seeds)), Some((0, 40)));
    let mut tuning = sandbox.tuning().clone();
    tuning.fracture.seeds = 60;
    sandbox.tune("seeds", tuning.clone());
    assert!(sandbox.update_preview().unwrap());
    assert_eq!(sandbox.body_seams().map(|s| s.seams.seeds), Some(60));
    assert_eq!((sandbox.preview().recomputed, sandbox.bodies().len()), (2, 1));

    tuning.view.preview = PreviewMode::Off;
    sandbox.tune("view", tuning);
    assert!(sandbox.update_preview().unwrap());
    assert_eq!((sandbox.preview().showing, sandbox.body_seams().is_some()), (None, false));
}

#[test]
fn what_is_previewed_is_what_breaks() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 6);
    let aim = aim(&sandbox);
    let mut tuning = sandbox.tuning().clone();
    tuning.view.preview = PreviewMode::Exploded;
    tuning.view.explode = 0.5;
    sandbox.tune("view", tuning);
    sandbox.set_aim(Some(aim));
    assert!(sandbox.update_preview().unwrap());
    assert_eq!(sandbox.preview().showing, Some(PreviewMode::Exploded));
    let apart = sandbox.shown_bodies(None);
    // The vase has its leaves at level 6 and so has its preview: the same pieces, at the same places.
    let (point, direction) = sandbox.aimed(&aim).unwrap();
    sandbox.break_at(aim.body, point, direction);
    assert!(!sandbox.update_preview().unwrap(), "what is shown stays until the pieces are there");
    assert_eq!(sandbox.shown_bodies(None).len(), apart.len());
    until(&mut sandbox, Arrived::Broke);
    sandbox.update_preview().unwrap();
    assert_eq!(sandbox.preview().showing, None, "the body that was aimed at is gone");
    let pieces = sandbox.shown_bodies(None);
    assert_eq!(pieces.len(), apart.len());
    for (piece, before) in pieces.iter().zip(&apart) {
        assert_eq!(piece.bounds(), before.bounds());
        let moved = piece.world_from_local.w_axis - before.world_from_local.w_axis;
        assert!(moved.length() < 0.02, "a piece was drawn {} m beside its preview", moved.length());
    }
}

#[test]
fn letting_go_computes_the_full_level() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 7);
    let aim = aim(&sandbox);
    let mut tuning = sandbox.tuning().clone();
    for mode in [PreviewMode::Exploded, PreviewMode::Seams] {
        tuning.view.preview = mode;
        sandbox.tune("view", tuning.clone());
        // The mouse button is still down.
        sandbox.set_aim(Some(aim));
        // As long as several fast ones were not seen, the level is the first one.
        sandbox.preview_mut().control = LevelControl::default();
        assert!(update(&mut sandbox));
        let coarse = sandbox.preview();
        assert_eq!(coarse.level, 6);
        std::thread::sleep(std::time::Duration::from_millis(400));
        assert!(!sandbox.update_preview().unwrap() && !sandbox.is_refining_preview());
        sandbox.end_gesture();
        // A machine that is busy otherwise may have taken too long for the guess.
        sandbox.preview_mut().report.ms = 1.0;
        assert!(!sandbox.update_preview().unwrap() && sandbox.is_refining_preview());
        let mut arrived = false;
        while !arrived {
            arrived = sandbox.update_preview().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let full = sandbox.preview();
        assert_eq!((full.level, full.recomputed), (7, coarse.recomputed + 1));
        assert!(!sandbox.is_refining_preview() && full.revision > coarse.revision);
        let levels = sandbox.shown_bodies(None).iter().map(|b| b.shape.as_octree().unwrap().level()).max();
        assert_eq!(levels, Some(7));
    }
    let seams = sandbox.body_seams().expect("seams");
    assert_eq!((seams.seams.level, seams.first), (7, 0), "the leaves themselves have lists");
    // What has moved meanwhile makes a full preview stale.
    sandbox.preview_mut().control = LevelControl::default();
    tuning.fracture.rng += 1;
    sandbox.tune("rng", tuning.clone());
    assert!(sandbox.update_preview().unwrap());
    sandbox.end_gesture();
    sandbox.preview_mut().report.ms = 1.0;
    std::thread::sleep(std::time::Duration::from_millis(400));
    sandbox.update_preview().unwrap();
    assert!(sandbox.is_refining_preview());
    tuning.fracture.rng += 1;
    sandbox.tune("rng", tuning);
    sandbox.update_preview().unwrap();
    while sandbox.is_refining_preview() {
        sandbox.update_preview().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(sandbox.preview().level, 6, "the answer to an old question is not shown");
}

#[test]
fn exploded_previews_give_their_octrees_back() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 6);
    sandbox.preview_mut().control = LevelControl::default();
    let aim = aim(&sandbox);
    let mut tuning = sandbox.tuning().clone();
    tuning.view.preview = PreviewMode::Exploded;
    sandbox.set_aim(Some(aim));
    let mut bytes = Vec::new();
    for rng in 0..12 {
        tuning.fracture.rng = rng;
        sandbox.tune("rng", tuning.clone());
        assert!(sandbox.update_preview().unwrap());
        bytes.push(sandbox.read_arena(|arena| arena.bytes()));
    }
    // Patterns differ in pieces, and a busy machine changes the level; eight octrees that were not given back
    // would be far more.
    assert!(bytes[11] < bytes[3] + bytes[3] / 4, "the arena grows: {bytes:?}");
    sandbox.set_aim(None);
    assert!(sandbox.update_preview().unwrap());
    sandbox.update_preview().unwrap();
    assert!(!sandbox.preview_mut().dropped);
    assert_eq!(sandbox.shown_bodies(None).len(), 1);
}

#[test]
fn a_break_and_a_new_scene_end_the_preview_and_undo_brings_it_back() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 6);
    let aim = aim(&sandbox);
    sandbox.set_aim(Some(aim));
    sandbox.update_preview().unwrap();
    let (point, direction) = sandbox.aimed(&aim).unwrap();
    sandbox.break_at(aim.body, point, direction);
    until(&mut sandbox, Arrived::Broke);
    assert!(sandbox.bodies().len() > 1 && sandbox.aimed(&aim).is_none());
    assert!(sandbox.update_preview().unwrap(), "what was aimed at is gone");
    assert_eq!(sandbox.preview().showing, None);
    assert_eq!(sandbox.undo().as_deref(), Some("break vase"));
    // Its coarse copy is made on a worker again.
    let mut is_back = false;
    for _ in 0..600 {
        is_back = is_back || sandbox.update_preview().unwrap();
        if is_back {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(is_back, "the body is back under its name, and what aims at it too");
    assert_eq!((sandbox.bodies().len(), sandbox.preview().showing), (1, Some(PreviewMode::Seams)));
    let again = self::aim(&sandbox);
    sandbox.open("builtin:sphere", 5);
    until(&mut sandbox, Arrived::Opened);
    sandbox.update_preview().unwrap();
    assert_eq!((sandbox.preview().showing, sandbox.aimed(&again)), (None, None));
}

/// A method without cells and seams: all of the body, twice.
struct Twice;

impl crate::fracture::Breaker for Twice {
    fn accepts(&self, _: &crate::shape::Geometry) -> bool {
        true
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        let whole = source.octree()?;
        Ok(Box::new(move |_: &Pattern, _: &FractureParams| {
            let copy = || gather(whole.level(), &[(&*whole.forest, whole.tree as usize)]);
            Ok(Pieces::Octrees(Fracture::of_pieces(whole, &[(0, copy()), (1, copy())])))
        }))
    }
}

#[test]
fn a_method_without_cells_shows_its_parts() {
    let Some(gpu) = Gpu::for_test() else { return };
    crate::fracture::register(&crate::fracture::MethodEntry {
        name: "twice",
        label: "Twice",
        help: "Makes two of one.",
        source: "a test",
        by_seeds: false,
        of_voxels: false,
        options: &[],
        breaker: &Twice,
    })
    .unwrap();
    let mut sandbox = opened(&gpu, 5);
    let aim = aim(&sandbox);
    let mut tuning = sandbox.tuning().clone();
    tuning.fracture.method = crate::fracture::MethodId::named("twice").unwrap();
    tuning.view.explode = 0.5;
    sandbox.tune("method", tuning);
    sandbox.pin(aim);
    sandbox.set_aim(Some(aim));
    assert!(sandbox.update_preview().unwrap());
    assert!(!sandbox.update_preview().unwrap(), "nothing has moved");
    let report = sandbox.preview();
    assert_eq!((report.showing, report.level, report.recomputed), (Some(PreviewMode::Seams), 5, 1));
    assert_eq!((report.kept, sandbox.body_seams().is_none()), (None, true), "there are no cells");
    let shown = sandbox.shown_bodies(None);
    assert_eq!(shown.len(), 2);
    let whole = sandbox.render_bodies(None).remove(0);
    assert_eq!(shown[0].bounds(), whole.bounds());
    assert!(sandbox.break_pin());
    until(&mut sandbox, Arrived::Broke);
    sandbox.set_aim(None);
    sandbox.update_preview().unwrap();
    assert_eq!((sandbox.shown_bodies(None).len(), sandbox.preview().showing), (2, None));
    assert_eq!(sandbox.undo().as_deref(), Some("break vase"));
    assert_eq!(sandbox.bodies().len(), 1);
}

#[test]
fn a_number_of_pieces_is_previewed_by_the_seeds_that_the_break_finds() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 5);
    let aim = aim(&sandbox);
    let mut tuning = sandbox.tuning().clone();
    tuning.fracture.target_pieces = Some(60);
    sandbox.tune("fracture", tuning);
    sandbox.end_gesture();
    sandbox.set_aim(Some(aim));
    sandbox.update_preview().unwrap();
    let seeds = |sandbox: &Sandbox| sandbox.body_seams().map(|s| s.seams.seeds);
    assert_eq!(
        (seeds(&sandbox), sandbox.preview().solved),
        (Some(60), None),
        "a guess, not the 40 of before"
    );
    let start = std::time::Instant::now();
    while sandbox.preview().solved.is_none() {
        assert!(sandbox.preview().solving && start.elapsed().as_secs() < 60, "no answer comes");
        std::thread::sleep(std::time::Duration::from_millis(5));
        sandbox.update_preview().unwrap();
    }
    let solved = sandbox.preview().solved.unwrap();
    update(&mut sandbox);
    assert_eq!(seeds(&sandbox), Some(solved.seeds));
    assert_ne!(solved.seeds, 60, "or the guess would do");
    let (point, direction) = sandbox.aimed(&aim).unwrap();
    sandbox.break_at(aim.body, point, direction);
    until(&mut sandbox, Arrived::Broke);
    assert_eq!(sandbox.last_break().unwrap().solved, Some(solved));
    sandbox.set_aim(None);
    sandbox.update_preview().unwrap();
    assert!(!sandbox.preview().solving && !sandbox.is_preparing_preview(), "nobody waits for anything");
}

#[test]
fn exploded_pieces_are_apart_and_the_slider_stays() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 5);
    let aim = aim(&sandbox);
    let mut tuning = sandbox.tuning().clone();
    tuning.view.preview = PreviewMode::Exploded;
    sandbox.tune("view", tuning);
    sandbox.set_aim(Some(aim));
    assert!(update(&mut sandbox));
    let places = |sandbox: &Sandbox| {
        let drawn = sandbox.shown_bodies(None);
        drawn.iter().map(|body| body.world_from_local).collect::<Vec<_>>()
    };
    let apart = places(&sandbox);
    assert_eq!(sandbox.tuning().view.explode, 0.0);
    assert!(apart.len() > 5 && apart.iter().any(|place| *place != apart[0]), "they lie together");
    let mut tuning = sandbox.tuning().clone();
    tuning.view.explode = 0.6;
    sandbox.tune("explode", tuning);
    update(&mut sandbox);
    assert_ne!(places(&sandbox), apart, "the slider says how far");
}
