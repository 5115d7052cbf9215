//! Columns against the library below them, and the document with and without them.

use std::time::{Duration, Instant};

use super::*;
use crate::{
    bodies::BodyState,
    fracture::{
        Surface,
        generations::{self, Plan},
    },
    render::Camera,
    scene::{
        Aim, Arrived, Sandbox, Scene,
        sandbox::testing::{aim, until},
    },
    svo::Arena,
};

const PATIENCE: Duration = Duration::from_secs(240);

fn opened(file: &str) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    sandbox.open_scene(Scene::of_mesh(file, 5));
    until(&mut sandbox, Arrived::Opened);
    sandbox
}

fn way(name: &str) -> Way {
    Way::all().into_iter().find(|way| way.name() == name).unwrap()
}

/// Lets the columns come to rest: all is computed, counted and as far as the document.
fn settle(sandbox: &mut Sandbox) {
    let start = Instant::now();
    loop {
        sandbox.update_beside();
        sandbox.catch_up_beside(Instant::now() + Duration::from_millis(100));
        if !sandbox.is_waiting_beside() {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{:?}", sandbox.columns());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn strike(sandbox: &mut Sandbox, aim: &Aim) {
    let (point, direction) = sandbox.aimed(aim).unwrap();
    sandbox.break_at(aim.body, point, direction);
    until(sandbox, Arrived::Broke);
}

/// A step of time as the window makes it.
fn step(sandbox: &mut Sandbox) {
    settle(sandbox);
    sandbox.step().unwrap();
    sandbox.step_beside();
}

fn broken(column: &ColumnView) -> Broken {
    match &column.state {
        ColumnState::Broken(broken) => *broken,
        other => panic!("{}: {other:?}", column.way.name()),
    }
}

/// Volumes of the pieces that a column shows, descending, m^3.
fn volumes(sandbox: &Sandbox, column: usize) -> Vec<f64> {
    let (bodies, _) = sandbox.beside_bodies(column).unwrap();
    let mut all: Vec<f64> = bodies.iter().map(|body| body.shape.mass().volume_m3).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    all
}

#[test]
fn a_column_gives_what_the_command_compare_gives() {
    let mut sandbox = opened("builtin:box");
    let source = Arc::clone(&sandbox.bodies()[0].def.shape);
    let hit = aim(&sandbox);
    sandbox.show_beside(&[way("octree-rough"), way("box-cut")]).unwrap();
    strike(&mut sandbox, &hit);
    for ways in [["octree-rough", "box-cut"], ["planes", "octree-dusty"]] {
        sandbox.show_beside(&ways.map(way)).unwrap();
        settle(&mut sandbox);
        let columns = sandbox.columns();
        assert_eq!(columns.len(), 3);
        assert_eq!(broken(&columns[0]).pieces, sandbox.bodies().len());
        let record = sandbox.breaks().records().next_back().unwrap().1;
        for (number, column) in columns[1..].iter().enumerate() {
            let mut arena = Arena::new(Compute::Cpu).unwrap();
            arena.insert(&source.as_octree().unwrap().forest).unwrap();
            let params = record.params.by(column.way.method, column.way.surface);
            let plan = Plan { impact: record.impact, params, seeds: None, bounds: None, generations: 1 };
            let passes = Passes::default();
            let by_itself =
                generations::break_object(&mut arena, &passes, &source, &plan, &mut |_, _| {}).unwrap();
            let shapes: Vec<_> =
                by_itself.pieces.iter().map(|at| Arc::clone(&by_itself.part(*at).shape)).collect();
            let mut wanted: Vec<f64> = shapes.iter().map(|shape| shape.mass().volume_m3).collect();
            wanted.sort_by(|a, b| b.total_cmp(a));
            assert_eq!(volumes(&sandbox, number), wanted, "{}", column.way.name());
            let told = broken(column);
            assert_eq!(told.pieces, wanted.len());
            assert_eq!(told.meshes, Some(MeshTally::of(&shapes, crate::fracture::Cancel::never()).unwrap()));
            assert!(told.volume_error.abs() < 1e-5 && told.seconds > 0.0, "{told:?}");
        }
    }
}

/// Everything of the document: bodies, undo, timeline, and what would be saved.
fn document(sandbox: &Sandbox) -> (Vec<(u32, BodyState, bool)>, String) {
    let bodies = sandbox.bodies().iter().map(|b| (b.id.0, b.state, b.asleep)).collect();
    let (history, timeline) = (sandbox.history(), sandbox.timeline());
    let times: Vec<_> = (0..timeline.len()).map(|frame| timeline.time(frame)).collect();
    let labels = (history.undo_label(), history.redo_label(), timeline.cursor());
    let saved = toml::to_string(&sandbox.scene(Camera::default())).unwrap();
    let standing = toml::to_string(&sandbox.as_it_stands(Camera::default())).unwrap();
    (bodies, format!("{labels:?} {times:?} {:?} {} {saved} {standing}", sandbox.kept_bytes(), sandbox.time()))
}

#[test]
fn looking_side_by_side_changes_nothing_of_the_document() {
    let all = |ways: &[Way]| {
        let mut sandbox = opened("builtin:vase");
        sandbox.show_beside(ways).unwrap();
        let mut told = vec![document(&sandbox)];
        let hit = aim(&sandbox);
        sandbox.pin(hit);
        sandbox.end_gesture();
        settle(&mut sandbox);
        let mut tuning = sandbox.tuning().clone();
        tuning.fracture.seeds = 17;
        sandbox.tune("seeds", tuning);
        sandbox.end_gesture();
        assert!(sandbox.break_pin());
        until(&mut sandbox, Arrived::Broke);
        (0..12).for_each(|_| step(&mut sandbox));
        told.push(document(&sandbox));
        let piece = aim(&sandbox);
        strike(&mut sandbox, &piece);
        (0..4).for_each(|_| step(&mut sandbox));
        told.push(document(&sandbox));
        assert!(sandbox.show_recorded(3));
        step(&mut sandbox);
        told.push(document(&sandbox));
        sandbox.undo().unwrap();
        settle(&mut sandbox);
        told.push(document(&sandbox));
        sandbox.redo().unwrap();
        settle(&mut sandbox);
        told.push(document(&sandbox));
        sandbox.reset();
        settle(&mut sandbox);
        told.push(document(&sandbox));
        told
    };
    let alone = all(&[]);
    let beside = all(&[way("box-cut"), way("octree-planar")]);
    for (moment, (alone, beside)) in alone.iter().zip(&beside).enumerate() {
        assert!(alone == beside, "moment {moment}: {alone:?} {beside:?}");
    }
}

#[test]
fn columns_follow_undo_the_timeline_and_the_pinned_blow() {
    let mut sandbox = opened("builtin:vase");
    sandbox.show_beside(&[way("box-cut"), way("planes")]).unwrap();
    settle(&mut sandbox);
    let states = |sandbox: &Sandbox| sandbox.columns().into_iter().map(|c| c.state).collect::<Vec<_>>();
    assert_eq!(states(&sandbox), vec![ColumnState::Whole; 3]);
    assert_eq!(volumes(&sandbox, 0).len(), 1);

    let hit = aim(&sandbox);
    sandbox.pin(hit);
    sandbox.end_gesture();
    settle(&mut sandbox);
    let pinned = sandbox.columns();
    assert!(broken(&pinned[1]).is_pinned && pinned[0].state == ColumnState::Whole);
    assert_eq!(volumes(&sandbox, 0).len(), broken(&pinned[1]).pieces, "its pieces are drawn");
    assert!(!sandbox.has_motion_beside() && sandbox.bodies().len() == 1);
    // A vase is hollow: what planes cannot break stays whole and says why.
    let ColumnState::Refused(why) = &pinned[2].state else { panic!("{:?}", pinned[2]) };
    assert!(why.contains("convex"), "{why}");
    assert_eq!(volumes(&sandbox, 1).len(), 1);

    let mut tuning = sandbox.tuning().clone();
    tuning.fracture.seeds *= 2;
    sandbox.tune("seeds", tuning);
    sandbox.end_gesture();
    settle(&mut sandbox);
    let more = broken(&sandbox.columns()[1]);
    assert!(more.pieces > broken(&pinned[1]).pieces, "{more:?}");

    sandbox.break_pin();
    until(&mut sandbox, Arrived::Broke);
    sandbox.update_beside();
    assert!(sandbox.time_waits_for_beside(), "until its pieces are there");
    settle(&mut sandbox);
    let fallen = broken(&sandbox.columns()[1]);
    assert_eq!((fallen.pieces, fallen.is_pinned), (more.pieces, false));
    assert!(sandbox.has_motion_beside());
    let highest = |sandbox: &Sandbox| {
        let bodies = sandbox.beside_bodies(0).unwrap().0;
        bodies.iter().map(|body| body.world_from_local.w_axis.y).sum::<f32>()
    };
    let at_first = highest(&sandbox);
    (0..20).for_each(|_| step(&mut sandbox));
    let later = highest(&sandbox);
    assert!(later < at_first, "they fall");

    // Back on the timeline and forth again, by itself.
    let last = sandbox.timeline().len() - 1;
    assert!(sandbox.show_recorded(2));
    settle(&mut sandbox);
    assert!(highest(&sandbox) > later);
    assert!(sandbox.show_recorded(last));
    settle(&mut sandbox);
    assert!((highest(&sandbox) - later).abs() < 1e-3, "the same way again");

    // A piece of a piece, in every column the one that lies there.
    let piece = aim(&sandbox);
    strike(&mut sandbox, &piece);
    settle(&mut sandbox);
    assert!(volumes(&sandbox, 0).len() > fallen.pieces);
    assert!(matches!(states(&sandbox)[2], ColumnState::Refused(_)));

    sandbox.undo().unwrap();
    settle(&mut sandbox);
    assert_eq!(volumes(&sandbox, 0).len(), fallen.pieces);
    sandbox.undo().unwrap();
    settle(&mut sandbox);
    assert_eq!(volumes(&sandbox, 0).len(), broken(&sandbox.columns()[1]).pieces, "the pinned blow is back");
    sandbox.unpin();
    sandbox.end_gesture();
    settle(&mut sandbox);
    assert_eq!(volumes(&sandbox, 0).len(), 1);
    sandbox.redo();
    sandbox.open_scene(Scene::of_mesh("builtin:box", 5));
    until(&mut sandbox, Arrived::Opened);
    settle(&mut sandbox);
    assert_eq!(states(&sandbox), vec![ColumnState::Whole; 3]);

    // All that columns hold goes with them.
    let held = Arc::downgrade(sandbox.beside_bodies(0).unwrap().1);
    sandbox.show_beside(&[way("planes")]).unwrap();
    assert!(held.upgrade().is_none() && sandbox.beside_bodies(1).is_none());
    sandbox.show_beside(&[]).unwrap();
    assert!(sandbox.columns().is_empty() && sandbox.beside_bodies(0).is_none());
    assert!(!sandbox.is_waiting_beside() && !sandbox.has_motion_beside());
}

#[test]
fn stages_that_move_take_columns_along() {
    let mut sandbox = opened("builtin:box");
    sandbox.show_beside(&[way("planes"), way("octree-planar")]).unwrap();
    let hit = aim(&sandbox);
    strike(&mut sandbox, &hit);
    settle(&mut sandbox);
    let before = [0, 1].map(|column| volumes(&sandbox, column));
    sandbox.recover_on(&Compute::Cpu).unwrap();
    assert_eq!(sandbox.ways_beside(), [way("planes"), way("octree-planar")]);
    settle(&mut sandbox);
    assert_eq!(before, [0, 1].map(|column| volumes(&sandbox, column)));
}

#[test]
fn ways_have_names_of_their_own() {
    let all = Way::all();
    let names: std::collections::BTreeSet<_> = all.iter().map(Way::name).collect();
    let labels: std::collections::BTreeSet<_> = all.iter().map(Way::label).collect();
    assert_eq!((names.len(), labels.len()), (all.len(), all.len()));
    assert!(names.contains("octree-dusty") && names.contains("box-cut"));
    let mut params = crate::fracture::FractureParams::default();
    assert_eq!(Way::of(&params), all[0]);
    assert_eq!(Way::other_than(&params).map(|way| way.name()).as_deref(), Some("box-cut"));
    params.surface = Surface::Rough;
    params.options.insert("of-another-method".into(), 1.0);
    let cut = params.by(way("box-cut").method, params.surface);
    assert_eq!((cut.surface, cut.options.len(), cut.rng), (Surface::Planar, 0, params.rng));
}
