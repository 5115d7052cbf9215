//! Cells that are chosen to stay, in a sandbox without a window: what is clicked is what stays, whatever
//! happens on the way.

use std::collections::BTreeSet;

use glam::Vec3;

use super::{tests::update, *};
use crate::{
    gpu::Gpu,
    render::{Camera, PieceMark},
    scene::{
        Arrived, Sandbox, Scene, nearest_seed,
        sandbox::testing::{aim, opened, shown, until},
    },
    svo::morton,
};

/// The middle of the picture from the front, moved aside by metres.
fn ray(sandbox: &Sandbox, x: f32, y: f32) -> (Vec3, Vec3) {
    let (low, high) = sandbox.bounds(None).unwrap();
    (low.midpoint(high) + Vec3::new(x, y, 5.0), Vec3::NEG_Z)
}

fn cell(sandbox: &Sandbox, x: f32, y: f32) -> Option<u32> {
    let (origin, direction) = ray(sandbox, x, y);
    sandbox.cell_at(origin, direction)
}

/// The vase with an impact pinned in the middle, its preview shown.
fn pinned(gpu: &Gpu, mode: PreviewMode, change: impl FnOnce(&mut FractureParams)) -> Sandbox {
    let mut sandbox = opened(gpu, 6);
    let mut tuning = sandbox.tuning().clone();
    tuning.view.preview = mode;
    tuning.view.explode = 0.4;
    change(&mut tuning.fracture);
    sandbox.tune("test", tuning);
    show(&mut sandbox);
    sandbox
}

/// Pins the impact where it is not, and shows it.
fn show(sandbox: &mut Sandbox) {
    let at = aim(sandbox);
    if sandbox.tuning().pin.is_none() {
        sandbox.pin(at);
    }
    let at = sandbox.tuning().pin.as_ref().map(|pin| pin.aim);
    sandbox.set_aim(at);
    update(sandbox);
}

fn seeds(sandbox: &mut Sandbox) -> Vec<[i32; 3]> {
    let (_, cells) = sandbox.preview_mut().painting.pinned().unwrap();
    cells.pattern.seeds.clone()
}

/// Whether a voxel of the grid of level 6 has a corner in one of the cells, by plain arithmetic.
fn touches(key: morton::Key, seeds: &[[i32; 3]], cells: &[u32], any: bool) -> bool {
    let low = morton::decode(key);
    let corner_in = |c: u32| {
        let corner = [0, 1, 2].map(|a| f64::from((low[a] + (c >> a & 1)) * 256));
        let d = |s: &[i32; 3]| (0..3).map(|a| (f64::from(s[a]) - corner[a]).powi(2)).sum::<f64>();
        let nearest = (0..seeds.len()).min_by(|a, b| d(&seeds[*a]).total_cmp(&d(&seeds[*b]))).unwrap();
        cells.contains(&(nearest as u32))
    };
    (0..8).any(|c| corner_in(c) == any)
}

fn voxels(body: &Body) -> BTreeSet<morton::Key> {
    let starts = &body.def.octree().forest.tree_start[body.def.octree().tree as usize..];
    body.def.octree().forest.leaves.keys.slice(starts[0] as usize..starts[1] as usize).iter().collect()
}

#[test]
fn what_is_clicked_is_what_stays() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Seams, |p| p.seeds = 30);
    let seeds = seeds(&mut sandbox);
    // The cell under a ray is that of the voxel that the ray meets, by plain arithmetic.
    let mut clicked = BTreeSet::new();
    let mut clicked_voxels = Vec::new();
    for (x, y) in [(0.0, 0.0), (0.0, 0.03), (0.02, -0.03), (-0.03, 0.0)] {
        let (origin, direction) = ray(&sandbox, x, y);
        let pick = sandbox.pick(origin, direction).unwrap();
        let voxel = pick.cell.unwrap();
        let d = |s: &[i32; 3]| {
            (0..3).map(|a| (f64::from(s[a]) - (f64::from(voxel[a]) + 0.5) * 256.0).powi(2)).sum::<f64>()
        };
        let wanted = (0..seeds.len()).min_by(|a, b| d(&seeds[*a]).total_cmp(&d(&seeds[*b]))).unwrap() as u32;
        assert_eq!(cell(&sandbox, x, y), Some(wanted));
        if clicked.insert(wanted) {
            assert!(!sandbox.toggle_kept(wanted));
            clicked_voxels.push(voxel);
        }
    }
    let clicked: Vec<u32> = clicked.into_iter().collect();
    println!("{clicked:?} of {} stay", seeds.len());
    assert!(clicked.len() > 1, "the rays meet more than one cell");
    assert_eq!(sandbox.kept_cells(), clicked);
    assert_eq!(sandbox.preview().kept, Some((clicked.len() as u32, 30)));
    assert!(update(&mut sandbox));
    assert_eq!(sandbox.body_seams().unwrap().marks.kept, Some(clicked[0]));

    assert!(sandbox.break_pin());
    until(&mut sandbox, Arrived::Broke);
    assert_eq!(sandbox.tuning().pin, None);
    let kept = sandbox.last_break().unwrap().kept.clone().unwrap();
    assert_eq!((&kept.cells, kept.pieces), (&clicked, 1), "cells side by side are one piece");
    let holds = |body: &&Body| voxels(body).contains(&morton::encode(clicked_voxels[0]));
    let own = sandbox.bodies().iter().find(holds).unwrap();
    let own_voxels = voxels(own);
    assert!(clicked_voxels.iter().all(|cell| own_voxels.contains(&morton::encode(*cell))));
    assert!(own_voxels.iter().all(|key| touches(*key, &seeds, &clicked, true)), "nothing else is in it");
    for other in sandbox.bodies().iter().filter(|b| b.id != own.id) {
        let foreign = voxels(other).into_iter().all(|key| touches(key, &seeds, &clicked, false));
        assert!(foreign, "a voxel of the kept cells broke off");
    }
    // The event says it all again.
    let scene = sandbox.scene(Camera::default());
    let Some(crate::scene::Event::Impact { fracture: Some(params), .. }) = scene.events.last() else {
        panic!("no event")
    };
    assert_eq!(params.keep, clicked);
}

#[test]
fn every_click_is_a_step_of_undo() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Seams, |_| {});
    sandbox.toggle_kept(3);
    sandbox.toggle_kept(8);
    sandbox.toggle_kept(3);
    assert_eq!(sandbox.kept_cells(), [8]);
    for wanted in [&[3, 8][..], &[3], &[]] {
        assert_eq!(sandbox.undo().as_deref(), Some("kept cells"));
        update(&mut sandbox);
        assert_eq!(sandbox.kept_cells(), wanted);
        assert_eq!(sandbox.body_seams().unwrap().marks.kept, wanted.first().copied());
    }
    assert_eq!(sandbox.redo().as_deref(), Some("kept cells"));
    update(&mut sandbox);
    assert_eq!(sandbox.kept_cells(), [3]);
    sandbox.unpin();
    assert_eq!((sandbox.undo().as_deref(), sandbox.tuning().pin.is_some()), (Some("removed impact"), true));
    update(&mut sandbox);
    assert_eq!(sandbox.kept_cells(), [3], "the cells come back with their impact");
}

#[test]
fn none_invert_and_everything() {
    let Some(gpu) = Gpu::for_test() else { return };
    for mode in [PreviewMode::Seams, PreviewMode::Exploded] {
        let mut sandbox = pinned(&gpu, mode, |p| p.seeds = 12);
        sandbox.toggle_kept(4);
        sandbox.invert_kept();
        let others: Vec<u32> = (0..12).filter(|s| *s != 4).collect();
        assert_eq!(sandbox.kept_cells(), others);
        sandbox.toggle_kept(4);
        assert_eq!(sandbox.preview().kept, Some((12, 12)));
        assert!(update(&mut sandbox), "that everything stays can be looked at");
        assert_eq!(sandbox.body_seams().unwrap().marks.kept, Some(0));
        let before = sandbox.tuning().clone();
        assert!(sandbox.break_pin());
        let error = loop {
            match sandbox.poll() {
                Ok(arrived) => assert_eq!(arrived, None),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("no cell would break off"), "{error}");
        assert_eq!(*sandbox.tuning(), before, "impact, cells and random seed are as they were");
        sandbox.keep_none();
        assert!(sandbox.kept_cells().is_empty() && sandbox.tuning().pin.as_ref().unwrap().kept.is_none());
    }
}

#[test]
fn a_local_radius_becomes_painted_cells() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Seams, |p| p.local = Some(0.3));
    let by_radius = sandbox.kept_cells().to_vec();
    assert!(by_radius.len() > 5 && by_radius.len() < 40);
    assert!(sandbox.toggle_kept(by_radius[2]), "the radius would hold it");
    let left: Vec<u32> = by_radius.iter().copied().filter(|s| *s != by_radius[2]).collect();
    assert_eq!((sandbox.kept_cells(), sandbox.tuning().fracture.local), (&left[..], None));
    sandbox.undo();
    update(&mut sandbox);
    assert_eq!((sandbox.kept_cells(), sandbox.tuning().fracture.local), (&by_radius[..], Some(0.3)));
}

#[test]
fn other_seeds_keep_what_lies_there() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Seams, |p| p.seeds = 60);
    let painted: Vec<u32> = (0..60).filter(|s| seeds(&mut sandbox)[*s as usize][1] < 8192).collect();
    for s in &painted {
        sandbox.toggle_kept(*s);
    }
    let then = seeds(&mut sandbox);
    let mut tuning = sandbox.tuning().clone();
    (tuning.fracture.rng, tuning.fracture.seeds) = (77, 80);
    sandbox.tune("seeds", tuning.clone());
    update(&mut sandbox);
    let now = seeds(&mut sandbox);
    let expected: Vec<u32> = (0..80)
        .filter(|s| painted.contains(&nearest_seed(&then, now[*s as usize], |_| true).unwrap()))
        .collect();
    assert_eq!(sandbox.kept_cells(), expected);
    assert!(expected.len() > 10, "{} of 80", expected.len());
    (tuning.fracture.rng, tuning.fracture.seeds) = (1, 60);
    sandbox.tune("seeds again", tuning);
    update(&mut sandbox);
    assert_eq!(sandbox.kept_cells(), painted, "going back gives the same cells");
}

#[test]
fn pieces_that_are_drawn_apart_are_clicked_where_they_are_drawn() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Exploded, |p| p.seeds = 16);
    let apart = sandbox.shown_bodies(None).len();
    let mut found = BTreeSet::new();
    for i in 0..400 {
        let (x, y) = ((i % 20) as f32 * 0.06 - 0.57, (i / 20) as f32 * 0.07 - 0.5);
        let Some(cell) = cell(&sandbox, x, y) else { continue };
        found.insert(cell);
        sandbox.hover_cell(Some(cell));
        let (origin, direction) = ray(&sandbox, x, y);
        // The piece that is marked lies on the ray, where it is drawn.
        let marked: Vec<_> =
            sandbox.shown_bodies(None).into_iter().filter(|b| b.mark == Some(PieceMark::Hovered)).collect();
        let meets = marked.iter().any(|piece| {
            let grid = piece.world_from_local.inverse();
            let (o, d) = (grid.transform_point3(origin), grid.transform_vector3(direction));
            // A voxel's surface may leave its cell a little.
            let (a, b) = ((piece.bounds().0 - 1.0 - o) / d, (piece.bounds().1 + 1.0 - o) / d);
            a.min(b).max_element() <= a.max(b).min_element()
        });
        assert!(meets, "cell {cell} at {x}, {y}");
    }
    assert!(found.len() >= 8, "{found:?}");
    let kept: Vec<u32> = found.into_iter().take(5).collect();
    for cell in &kept {
        sandbox.toggle_kept(*cell);
    }
    sandbox.hover_cell(None);
    assert!(update(&mut sandbox));
    let shown = sandbox.shown_bodies(None);
    let marks = shown.iter().filter(|b| b.mark == Some(PieceMark::Kept)).count();
    assert!(marks >= 1 && shown.len() < apart, "{marks} marked, {} of {apart} pieces", shown.len());
    // Inside the kept body its cells are still told apart.
    let again: BTreeSet<u32> = (0..400)
        .filter_map(|i| cell(&sandbox, (i % 20) as f32 * 0.06 - 0.57, (i / 20) as f32 * 0.07 - 0.5))
        .collect();
    assert!(kept.iter().filter(|cell| again.contains(cell)).count() >= 3, "{kept:?} {again:?}");
}

#[test]
fn the_impact_survives_undo_and_a_break_that_fails() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Seams, |p| p.seeds = 20);
    sandbox.toggle_kept(2);
    update(&mut sandbox);
    let before = sandbox.tuning().clone();
    assert!(sandbox.break_pin());
    until(&mut sandbox, Arrived::Broke);
    let pieces = sandbox.bodies().len();
    assert!(sandbox.tuning().pin.is_none() && sandbox.tuning().fracture.rng == before.fracture.rng + 1);
    assert_eq!(sandbox.undo().as_deref(), Some("break vase"));
    assert_eq!(*sandbox.tuning(), before, "the same blow is pinned, with the same random seed");
    update(&mut sandbox);
    assert_eq!((sandbox.kept_cells(), sandbox.preview().showing), (&[2][..], Some(PreviewMode::Seams)));
    assert!(sandbox.break_pin());
    until(&mut sandbox, Arrived::Broke);
    assert_eq!(sandbox.bodies().len(), pieces, "it breaks as it did");
    sandbox.undo();

    let mut tuning = sandbox.tuning().clone();
    tuning.fracture.seeds = 1;
    sandbox.tune("seeds", tuning.clone());
    sandbox.keep_none();
    assert!(sandbox.break_pin());
    let failed = loop {
        match sandbox.poll() {
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            other => break other,
        }
    };
    assert!(matches!(failed, Err(SandboxError::NoCrack)));
    let pin = sandbox.tuning().pin.clone().unwrap();
    assert_eq!((pin.aim, sandbox.tuning().fracture.rng), (before.pin.unwrap().aim, before.fracture.rng));
}

#[test]
fn a_scene_file_and_another_level_keep_the_cells() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Seams, |p| p.seeds = 24);
    for (x, y) in [(0.0, 0.0), (0.0, 0.08), (0.05, -0.06)] {
        let cell = cell(&sandbox, x, y).unwrap();
        if sandbox.kept_cells().binary_search(&cell).is_err() {
            sandbox.toggle_kept(cell);
        }
    }
    let kept = sandbox.kept_cells().to_vec();
    let scene = sandbox.scene(Camera::default());
    assert_eq!(scene.bodies[0].fracture.keep, kept);
    let text = toml::to_string(&scene).unwrap();
    let again: Scene = crate::scene::parse_scene(&text, "again.toml").unwrap();
    let mut other = shown(&gpu, again);
    other.update_preview().unwrap();
    assert_eq!(other.kept_cells(), kept);
    assert!(other.tuning().fracture.keep.is_empty(), "a list of numbers counts for this impact only");
    let (a, b) = (sandbox.tuning().pin.clone().unwrap().aim, other.tuning().pin.clone().unwrap().aim);
    assert!(a.point_in_grid.distance(b.point_in_grid) < 1e-6);
    assert!(a.direction_in_grid.distance(b.direction_in_grid) < 1e-9);

    sandbox.set_level(7, Camera::default());
    until(&mut sandbox, Arrived::Opened);
    show(&mut sandbox);
    assert_eq!(sandbox.bodies()[0].def.octree().forest.level, 7);
    let stays = |cell: Option<u32>| cell.is_some_and(|c| sandbox.kept_cells().contains(&c));
    assert!(stays(cell(&sandbox, 0.0, 0.0)), "{:?}", sandbox.kept_cells());
}

#[test]
fn rough_cracks_are_painted_by_their_cells() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = pinned(&gpu, PreviewMode::Seams, |p| {
        (p.seeds, p.surface) = (16, Surface::Rough);
    });
    let cell = cell(&sandbox, 0.0, 0.0).unwrap();
    sandbox.toggle_kept(cell);
    assert!(update(&mut sandbox));
    let shown = sandbox.body_seams().unwrap();
    assert_eq!((shown.marks.kept, shown.seams.seeds), (Some(cell), 16));
    sandbox.break_pin();
    until(&mut sandbox, Arrived::Broke);
    assert_eq!(sandbox.last_break().unwrap().kept.as_ref().unwrap().cells, [cell]);
}

#[test]
fn the_coarse_copy_is_made_elsewhere_and_another_level_serves_meanwhile() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut sandbox = opened(&gpu, 7);
    let aim = aim(&sandbox);
    sandbox.set_aim(Some(aim));
    // On a busy machine the worker may be there before this thread goes on.
    if !sandbox.update_preview().unwrap() {
        assert!(sandbox.is_preparing_preview());
        assert!(sandbox.preview().preparing && sandbox.preview().showing.is_none());
        assert!(update(&mut sandbox));
    }
    assert_eq!((sandbox.preview().level, sandbox.is_preparing_preview()), (6, false));
    // The control asks for a coarser level: until that is there, level 6 shows what is new.
    for _ in 0..9 {
        sandbox.preview_mut().control.measured(7, 500.0);
    }
    let mut tuning = sandbox.tuning().clone();
    tuning.fracture.rng += 1;
    sandbox.tune("rng", tuning.clone());
    assert!(sandbox.update_preview().unwrap());
    assert_eq!((sandbox.preview().level, sandbox.is_preparing_preview()), (6, true));
    while sandbox.is_preparing_preview() {
        sandbox.update_preview().unwrap();
    }
    tuning.fracture.rng += 1;
    sandbox.tune("rng", tuning);
    assert!(sandbox.update_preview().unwrap());
    assert_eq!(sandbox.preview().level, 5);
    assert!(sandbox.preview().per_second >= 1);
    // Looking away from a single object makes it ready for when one looks again.
    sandbox.set_aim(None);
    sandbox.update_preview().unwrap();
    assert!(sandbox.preview_mut().coarse.there().is_some());
}
