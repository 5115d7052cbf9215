//! Columns against the library below them, and the document with and without them.

use std::time::{Duration, Instant};

use super::*;
use crate::{
    bodies::BodyState,
    export::MeshTally,
    fracture::{
        FractureParams, Preset, Surface,
        generations::{self, Plan},
    },
    render::{Camera, RenderBody},
    scene::{
        Aim, Arrived, Sandbox, Scene,
        overlays::Maker,
        sandbox::testing::{aim, until},
    },
    svo::{Arena, Key},
};

const PATIENCE: Duration = Duration::from_secs(240);

fn opened(file: &str) -> Sandbox {
    opened_scene(Scene::of_mesh(file, 5))
}

fn opened_scene(scene: Scene) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    sandbox.open_scene(scene);
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
            let params = column.way.params(&record.params);
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
    let mut sandbox = opened("builtin:column");
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
    // A column, of few triangles, is thinner than its ends: what planes cannot break stays whole and says why.
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
    let height = |sandbox: &Sandbox| {
        let bodies = sandbox.beside_bodies(0).unwrap().0;
        let centre = |b: &RenderBody| b.world_from_local.transform_point3(b.shape.centre().as_vec3());
        bodies.iter().map(|body| centre(body).y).sum::<f32>()
    };
    let at_first = height(&sandbox);
    (0..12).for_each(|_| step(&mut sandbox));
    let later = height(&sandbox);
    assert!(later < at_first, "they fall");

    // Back on the timeline and forth again, by itself.
    let last = sandbox.timeline().len() - 1;
    assert!(sandbox.show_recorded(2));
    settle(&mut sandbox);
    assert!(height(&sandbox) > later);
    assert!(sandbox.show_recorded(last));
    settle(&mut sandbox);
    assert!((height(&sandbox) - later).abs() < 1e-3, "the same way again");

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
    let mut params = FractureParams::default();
    assert_eq!(Way::of(&params), all[0]);
    assert_eq!(Way::other_than(&params).map(|way| way.name()).as_deref(), Some("box-cut"));
    params.surface = Surface::Rough;
    params.options.insert("of-another-method".into(), 1.0);
    let cut = way("box-cut").params(&params);
    assert_eq!((cut.surface, cut.options.len(), cut.rng), (Surface::Planar, 0, params.rng));
}

fn tune(sandbox: &mut Sandbox, change: impl FnOnce(&mut crate::scene::Tuning)) {
    let mut tuning = sandbox.tuning().clone();
    change(&mut tuning);
    sandbox.tune("test", tuning);
    sandbox.end_gesture();
}

/// Breaks at an impact as the window does: pinned before.
fn strike_pinned(sandbox: &mut Sandbox, aim: Aim) {
    sandbox.pin(aim);
    sandbox.end_gesture();
    assert!(sandbox.break_pin());
    until(sandbox, Arrived::Broke);
}

/// Codes of the leaves of each piece.
fn leaves<'a>(shapes: impl Iterator<Item = &'a Arc<Shape>>) -> Vec<Vec<Key>> {
    let codes = |shape: &Arc<Shape>| {
        let octree = shape.as_octree().unwrap();
        octree.forest.leaves.keys.slice(octree.leaves()).iter().collect::<Vec<Key>>()
    };
    let mut all: Vec<_> = shapes.map(codes).collect();
    all.sort();
    all
}

fn own_leaves(sandbox: &Sandbox) -> Vec<Vec<Key>> {
    leaves(sandbox.bodies().iter().map(|body| &body.def.shape))
}

fn leaves_beside(sandbox: &Sandbox, column: usize) -> Vec<Vec<Key>> {
    leaves(sandbox.beside_bodies(column).unwrap().0.iter().map(|body| &body.shape))
}

#[test]
fn kept_settings_break_as_a_sandbox_with_them_does() {
    let few = |sandbox: &mut Sandbox| {
        tune(sandbox, |tuning| {
            (tuning.fracture.seeds, tuning.fracture.surface) = (17, Surface::Rough);
        });
    };
    let mut alone = opened("builtin:vase");
    few(&mut alone);
    let hit = aim(&alone);
    strike_pinned(&mut alone, hit);
    let wanted = own_leaves(&alone);

    let mut sandbox = opened("builtin:vase");
    few(&mut sandbox);
    let kept = sandbox.settings_to_keep();
    sandbox.show_beside(std::slice::from_ref(&kept)).unwrap();
    settle(&mut sandbox);
    assert_eq!(sandbox.columns()[1].title, "Kept settings: the same settings");
    let before = document(&sandbox);
    sandbox.show_beside(&[]).unwrap();
    assert!(before == document(&sandbox), "a view is nothing of the document");
    sandbox.show_beside(&[kept]).unwrap();

    tune(&mut sandbox, |tuning| tuning.fracture.seeds = 40);
    let title = "Kept settings: seeds 17 (left: 40)";
    assert_eq!(sandbox.columns()[1].title, title);
    let hit = aim(&sandbox);
    sandbox.pin(hit);
    sandbox.end_gesture();
    settle(&mut sandbox);
    assert_eq!(leaves_beside(&sandbox, 0), wanted, "pinned");
    // What the document changes now is nothing to the kept settings.
    tune(&mut sandbox, |tuning| tuning.fracture.surface = Surface::Planar);
    sandbox.update_beside();
    assert!(!sandbox.is_breaking_beside() && broken(&sandbox.columns()[1]).is_pinned);
    tune(&mut sandbox, |tuning| tuning.fracture.surface = Surface::Rough);

    strike_pinned(&mut sandbox, hit);
    settle(&mut sandbox);
    assert_eq!(leaves_beside(&sandbox, 0), wanted);
    assert_ne!(own_leaves(&sandbox), wanted);
    let column = &sandbox.columns()[1];
    assert_eq!((column.title.as_str(), broken(column).counted_at), (title, Some(5)));
    let [both, left, here] = broken(column).differing.unwrap();
    assert!(both > 0 && left > 0 && here > 0);
}

#[test]
fn captions_name_three_values_that_differ() {
    let kept = Way::kept(FractureParams { seeds: 60, keep: vec![7], ..FractureParams::default() });
    let mut document = FractureParams { seeds: 60, ..FractureParams::default() };
    assert_eq!(kept.title(&document), "Kept settings: the same settings");
    // Without an effect, or found by their places.
    (document.clusters, document.keep) = (9, vec![3]);
    assert_eq!(kept.title(&document), "Kept settings: the same settings");
    document.seeds = 90;
    assert_eq!(kept.title(&document), "Kept settings: seeds 60 (left: 90)");
    (document.preset, document.rng, document.surface) = (Preset::Uniform, 7, Surface::Rough);
    document.island_level = Some(4);
    let named = "seeds 60 (left: 90), pattern spheres (left: uniform), random seed 1 (left: 7) and 2 more";
    assert_eq!(kept.title(&document), format!("Kept settings: {named}"));
    let params = kept.params(&document);
    assert_eq!((params.seeds, params.rng, params.keep.len()), (60, 1, 0), "other seeds have other numbers");
    assert_eq!([Way::Level(7).title(&document), Way::Level(7).name()], ["At level 7", "level-7"]);
    assert_eq!([Way::Before.title(&document), kept.name()], ["Before the last blow", "kept"]);
}

/// The document at that level breaks by the seeds of the first one, which it reads from a file.
#[test]
fn a_view_at_another_level_breaks_as_a_document_of_that_level_does() {
    let folder = std::env::temp_dir().join(format!("kintsugi-level-beside-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for level in [4, 6] {
        let mut sandbox = opened("builtin:box");
        let whole = sandbox.bodies()[0].def.clone();
        sandbox.show_beside(&[Way::Level(level)]).unwrap();
        sandbox.update_beside();
        assert_eq!(sandbox.columns()[1].state, ColumnState::Voxelising(level));
        assert!(sandbox.time_waits_for_beside());
        settle(&mut sandbox);
        assert_eq!(sandbox.columns()[1].state, ColumnState::Whole);
        {
            // The same point of the object is in the same place.
            let (bodies, _) = sandbox.beside_bodies(0).unwrap();
            let there = &bodies[0];
            assert_eq!((bodies.len(), there.shape.as_octree().unwrap().level()), (1, level));
            let point = whole.shape.shape_from_local(whole.shape.bounds().high);
            let place =
                there.world_from_local.transform_point3(there.shape.local_from_shape(point).as_vec3());
            let own = sandbox.render_bodies(None)[0].world_from_local;
            let own = own.transform_point3(whole.shape.bounds().high.as_vec3());
            assert!(place.distance(own) < 1e-4, "{place} {own}");
        }
        let hit = aim(&sandbox);
        strike_pinned(&mut sandbox, hit);
        settle(&mut sandbox);
        let told = broken(&sandbox.columns()[1]);
        let compared = (told.differing, told.counted_at);
        assert!(
            compared.0.is_some_and(|[both, ..]| both > 0) && compared.1 == Some(level.min(5)),
            "{compared:?}"
        );

        let record = sandbox.breaks().records().next_back().unwrap().1;
        let (pattern, grid) = (record.pattern.clone().unwrap(), record.grid.unwrap());
        let line = |seed: [f64; 3]| {
            let place = (grid.origin + grid.h * glam::DVec3::from_array(seed)) / whole.meters_per_unit;
            format!("{} {} {}\n", place.x, place.y, place.z)
        };
        let file = folder.join(format!("{level}.txt"));
        let seeds: String = pattern.seeds_in_voxels(grid.level).into_iter().map(line).collect();
        std::fs::write(&file, seeds).unwrap();
        let mut other = opened_scene(Scene::of_mesh("builtin:box", level));
        tune(&mut other, |tuning| tuning.fracture.seeds_file = Some(file.display().to_string()));
        let body = &other.bodies()[0];
        let same = Aim {
            body: body.id,
            point_in_grid: body.def.shape.local_from_shape(record.impact.point),
            direction_in_grid: record.impact.direction,
        };
        strike_pinned(&mut other, same);
        assert_eq!(leaves_beside(&sandbox, 0), own_leaves(&other), "level {level}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn before_the_last_blow_the_body_moves_as_if_it_were_not_struck() {
    let falling = || {
        let mut scene = Scene::of_mesh("builtin:box", 6);
        (scene.bodies[0].on_floor, scene.bodies[0].position) = (false, glam::DVec3::Y * 40.0);
        opened_scene(scene)
    };
    let (mut free, mut sandbox) = (falling(), falling());
    // Large pieces, so that one breaks again.
    tune(&mut sandbox, |tuning| tuning.fracture.seeds = 8);
    sandbox.show_beside(&[Way::Before]).unwrap();
    for _ in 0..4 {
        step(&mut sandbox);
        free.step().unwrap();
    }
    let hit = aim(&sandbox);
    sandbox.pin(hit);
    sandbox.end_gesture();
    settle(&mut sandbox);
    assert_eq!((leaves_beside(&sandbox, 0).len(), &sandbox.columns()[1].state), (1, &ColumnState::Whole));
    sandbox.unpin();
    sandbox.end_gesture();
    strike(&mut sandbox, &hit);
    for _ in 0..6 {
        step(&mut sandbox);
        free.step().unwrap();
    }
    settle(&mut sandbox);
    assert!(sandbox.bodies().len() > 1);
    let (bodies, _) = sandbox.beside_bodies(0).unwrap();
    let (own, alone) = (bodies[0].world_from_local, free.render_bodies(None)[0].world_from_local);
    assert!(bodies.len() == 1 && own.abs_diff_eq(alone, 1e-4), "{own} {alone}");
    assert_eq!(sandbox.columns()[1].state, ColumnState::Whole);

    // Before a second blow there are the pieces of the first.
    let pieces = own_leaves(&sandbox);
    let piece = aim(&sandbox);
    strike(&mut sandbox, &piece);
    settle(&mut sandbox);
    assert_eq!(leaves_beside(&sandbox, 0), pieces);
    assert_eq!(broken(&sandbox.columns()[1]).pieces, pieces.len());
}

#[test]
fn views_draw_the_inside_of_their_own_breaks() {
    let mut sandbox = opened("builtin:vase");
    tune(&mut sandbox, |tuning| {
        [Maker::Seeds, Maker::Fbs].into_iter().for_each(|maker| tuning.view.inside.of(maker).on = true);
    });
    let kept = sandbox.settings_to_keep();
    sandbox.show_beside(&[kept, way("box-cut")]).unwrap();
    let hit = aim(&sandbox);
    strike(&mut sandbox, &hit);
    settle(&mut sandbox);
    let start = Instant::now();
    sandbox.update_looking();
    while sandbox.looking().is_reading {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
        sandbox.update_looking();
    }
    // The same settings make the same drawing in the same place; a mesh that is cut has no cells of voxels.
    let (own, beside) = (sandbox.inside_overlay().unwrap(), sandbox.beside_overlay(0).unwrap());
    let count = |overlay: &crate::render::Overlay| [overlay.points.len(), overlay.lines.len()];
    assert!(count(own) == count(beside) && !own.points.is_empty());
    assert!(own.points.iter().zip(&beside.points).all(|(a, b)| a.at.distance(b.at) < 1e-4));
    assert!(sandbox.beside_overlay(1).is_none());
    tune(&mut sandbox, |tuning| tuning.view.inside = crate::scene::InsideView::default());
    settle(&mut sandbox);
    assert!(sandbox.beside_overlay(0).is_none());
}

/// Planted error to see this fail: give the view the document's copies of shapes, which its own octrees lack.
#[test]
fn views_have_their_own_octrees_while_colours_mean_voxels() {
    let mut sandbox = opened("builtin:box");
    tune(&mut sandbox, |tuning| {
        tuning.view.color_by = crate::scene::Coloring::Value(crate::scene::Quantity::Coverage);
    });
    sandbox.show_beside(&[Way::Before]).unwrap();
    settle(&mut sandbox);
    sandbox.finish_colors().unwrap();
    let (bodies, arena) = sandbox.beside_bodies(0).unwrap();
    let arena = arena.read().unwrap();
    let is_there =
        |body: &crate::render::RenderBody| arena.slot(&body.shape.as_octree().unwrap().forest).is_some();
    assert!(!bodies.is_empty() && bodies.iter().all(is_there));
}

/// The area of everything that fills slices, m^2.
fn filled(overlay: &crate::render::Overlay) -> f32 {
    let area = |t: &crate::render::Triangle| 0.5 * (t.b - t.a).cross(t.c - t.a).length();
    overlay.triangles.iter().map(area).sum()
}

/// The bodies of a view are cut where they are: whole, broken, and as the pieces of a pinned blow.
#[test]
fn slices_are_shown_alone_in_columns_too() {
    let mut sandbox = opened("builtin:box");
    let hit = aim(&sandbox);
    sandbox.show_beside(&[way("octree-rough")]).unwrap();
    let (low, high) = sandbox.bounds(None).unwrap();
    let at = f64::from(0.5 * (low.z + high.z)) + 1e-3;
    let slice = crate::scene::Slice { at, show: Some(crate::scene::Quantity::Part), ..Default::default() };
    let show = |sandbox: &mut Sandbox, slices: Vec<crate::scene::Slice>, alone: bool| {
        let mut tuning = sandbox.tuning().clone();
        (tuning.slices, tuning.view.slices_alone) = (slices, alone);
        sandbox.tune("slices", tuning);
        settle(sandbox);
        sandbox.update_touching().unwrap();
    };
    let alone_of = |sandbox: &Sandbox| {
        assert!(sandbox.shown_bodies(None).is_empty());
        assert!(sandbox.beside_bodies(0).unwrap().0.is_empty(), "the view has bodies beside its slice");
        filled(sandbox.beside_overlay(0).unwrap())
    };
    show(&mut sandbox, vec![slice], true);
    let whole = filled(sandbox.inside_overlay().unwrap());
    assert!(whole > 0.01 && (alone_of(&sandbox) / whole - 1.0).abs() < 1e-4);

    sandbox.pin(hit);
    sandbox.end_gesture();
    settle(&mut sandbox);
    let (colors, apart) = (sandbox.beside_overlay(0).unwrap(), alone_of(&sandbox));
    let colors: std::collections::BTreeSet<_> = colors.triangles.iter().map(|t| t.color).collect();
    assert!(colors.len() > 1 && apart > 0.0, "the pieces of the pinned blow are cut: {colors:?}");
    sandbox.break_pin();
    until(&mut sandbox, Arrived::Broke);
    settle(&mut sandbox);
    let revision = sandbox.beside_revision();
    show(&mut sandbox, vec![slice], true);
    // Voxels of the crack are in several pieces.
    let (count, broken) = (sandbox.bodies().len(), alone_of(&sandbox));
    assert!(count > 1 && broken > 0.9 * whole && broken < 2.0 * whole, "{count} bodies, {broken} of {whole}");

    show(&mut sandbox, vec![slice], false);
    assert!(!sandbox.beside_bodies(0).unwrap().0.is_empty() && sandbox.beside_overlay(0).is_some());
    show(&mut sandbox, Vec::new(), true);
    assert!(!sandbox.beside_bodies(0).unwrap().0.is_empty() && sandbox.beside_overlay(0).is_none());
    assert!(sandbox.beside_revision() > revision);
}
