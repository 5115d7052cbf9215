//! What is done with selected pieces: what changes, what does not, and that undo, the timeline and scene files keep it.

use glam::{DVec3, Vec3};

use super::{PieceEdit, Sandbox, SandboxError};
use crate::{
    bodies::{Body, BodyId},
    compute::{Choice, Compute},
    fracture::{FractureParams, Surface},
    render::Camera,
    scene::{Arrived, Scene, SceneBody, parse_scene},
    svo::validate,
};

fn until(sandbox: &mut Sandbox, wanted: Arrived) {
    while sandbox.poll().unwrap() != Some(wanted) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn opened(scene: Scene) -> Sandbox {
    let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
    sandbox.open_scene(scene);
    until(&mut sandbox, Arrived::Opened);
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    sandbox
}

fn boxed(surface: Surface) -> Scene {
    let fracture = FractureParams { seeds: 30, surface, ..FractureParams::default() };
    let body = SceneBody { fracture, ..SceneBody::standing("builtin:box", 6) };
    Scene { bodies: vec![body], ..Scene::default() }
}

fn strike(sandbox: &mut Sandbox, id: BodyId) {
    let body = sandbox.stage.body(id).unwrap();
    let point = body.state.position;
    sandbox.break_at(id, point, DVec3::NEG_Z);
    until(sandbox, Arrived::Broke);
}

/// The broken box, whose pieces have no speed.
fn broken(surface: Surface) -> Sandbox {
    let mut sandbox = opened(boxed(surface));
    let tuning = crate::scene::Tuning { blow_speed: 0.0, ..sandbox.tuning().clone() };
    sandbox.tune("speed", tuning);
    let id = sandbox.bodies()[0].id;
    strike(&mut sandbox, id);
    assert!(sandbox.bodies().len() > 12);
    sandbox
}

fn ids(sandbox: &Sandbox) -> Vec<BodyId> {
    sandbox.bodies().iter().map(|body| body.id).collect()
}

fn kg(bodies: &[Body]) -> f64 {
    bodies.iter().map(|body| body.def.mass_kg()).sum()
}

/// The largest piece, and those of `count` others that touch it or one another.
fn neighbours(sandbox: &mut Sandbox, count: usize) -> Vec<BodyId> {
    let mut chosen = vec![sandbox.bodies()[0].id];
    for id in ids(sandbox).into_iter().skip(1) {
        let more: Vec<BodyId> = chosen.iter().copied().chain([id]).collect();
        if chosen.len() <= count && sandbox.can_unite(&more).is_ok() {
            chosen = more;
        }
    }
    assert_eq!(chosen.len(), count + 1);
    chosen
}

/// Saved, read and opened.
fn again(sandbox: &Sandbox) -> Sandbox {
    let (scene, stands) = sandbox.scene_to_keep(Camera::default());
    assert!(stands);
    opened(parse_scene(&scene.to_text(), "again").unwrap())
}

/// What can be told from outside of each body, by where it is.
fn told(sandbox: &Sandbox) -> Vec<String> {
    let one = |row: crate::scene::PieceRow| {
        format!("{} {:?} {:.9} {:?}", sandbox.piece_name(&row), row.voxels, row.mass_kg, row.status)
    };
    let mut all: Vec<String> = sandbox.piece_rows().into_iter().map(one).collect();
    all.sort();
    all
}

#[test]
fn what_was_deleted_comes_back_as_it_was() {
    let mut sandbox = broken(Surface::Planar);
    sandbox.step().unwrap();
    let before = ids(&sandbox);
    let gone = [before[1], before[4]];
    let shapes = gone.map(|id| sandbox.stage.body(id).unwrap().def.shape.clone());
    let states = gone.map(|id| sandbox.stage.body(id).unwrap().state);
    sandbox.select(gone);
    assert_eq!(sandbox.edit(PieceEdit::Delete).unwrap(), 2);
    assert_eq!(sandbox.bodies().len(), before.len() - 2);
    assert_eq!((sandbox.history().undo_label(), sandbox.selected().count()), (Some("delete 2 pieces"), 0));
    // The timeline has both.
    let last = sandbox.timeline().len() - 1;
    assert!(sandbox.show_recorded(last - 1));
    assert_eq!(ids(&sandbox), before);
    assert!(sandbox.show_recorded(last));
    assert_eq!(sandbox.bodies().len(), before.len() - 2);
    assert_eq!(sandbox.undo().as_deref(), Some("delete 2 pieces"));
    assert_eq!(ids(&sandbox), before);
    for ((id, shape), state) in gone.into_iter().zip(shapes).zip(states) {
        let body = sandbox.stage.body(id).unwrap();
        assert!(std::sync::Arc::ptr_eq(&body.def.shape, &shape));
        // A turn is made one again when a body is put back.
        let turned = body.state.rotation.angle_between(state.rotation);
        assert!(body.state.position == state.position && turned < 1e-6, "{turned}");
    }
    assert_eq!(sandbox.selected().count(), 2, "what was selected is so again");
    assert_eq!(sandbox.redo().as_deref(), Some("delete 2 pieces"));
    assert_eq!(sandbox.bodies().len(), before.len() - 2);
    sandbox.step().unwrap();
}

/// A box in the air and one above it.
fn stacked() -> Scene {
    let at = |y: f64| SceneBody {
        position: DVec3::Y * y,
        size: Some(0.5),
        on_floor: false,
        break_threshold: Some(0.1),
        ..SceneBody::standing("builtin:box", 4)
    };
    Scene { bodies: vec![at(2.0), at(2.8)], ..Scene::default() }
}

#[test]
fn what_is_moved_by_hand_can_be_undone_and_is_saved_where_it_is() {
    let mut sandbox = opened(Scene { gravity: DVec3::ZERO, ..stacked() });
    let place = |sandbox: &Sandbox| sandbox.bodies()[0].state.position;
    let before = place(&sandbox);
    assert!(!sandbox.scene_to_keep(Camera::default()).1, "nothing was moved");
    let pick = sandbox.pick(Vec3::new(0.0, 2.0, 5.0), Vec3::NEG_Z).unwrap();
    sandbox.grab(&pick);
    sandbox.drag(pick.point + DVec3::X * 0.5);
    for _ in 0..60 {
        sandbox.step().unwrap();
    }
    sandbox.release();
    let moved = place(&sandbox);
    assert!(moved.distance(before) > 0.2, "{before} {moved}");
    let reopened = place(&again(&sandbox));
    assert!(reopened.distance(moved) < 1e-6, "{moved} {reopened}");
    assert_eq!(sandbox.undo().as_deref(), Some("move by hand"));
    assert_eq!(place(&sandbox), before);
    assert!(!sandbox.scene_to_keep(Camera::default()).1, "nothing was moved any more");
    assert_eq!(sandbox.redo().as_deref(), Some("move by hand"));
    assert!(place(&sandbox).distance(moved) < 1e-6 && sandbox.scene_to_keep(Camera::default()).1);
}

#[test]
fn what_is_locked_does_not_move_or_break_until_it_is_unlocked() {
    let mut sandbox = opened(Scene { break_generations: 0, ..stacked() });
    let [held, falls] = [sandbox.bodies()[0].id, sandbox.bodies()[1].id];
    let place = |sandbox: &Sandbox, id: BodyId| sandbox.stage.body(id).unwrap().state;
    let pick = sandbox.pick(Vec3::new(0.0, 2.0, 5.0), Vec3::NEG_Z).unwrap();
    assert_eq!(pick.body, held);
    sandbox.grab(&pick);
    assert!(sandbox.held().is_some());
    sandbox.select([held]);
    sandbox.edit(PieceEdit::Lock).unwrap();
    assert!(sandbox.held().is_none(), "the hand lets go");
    sandbox.grab(&pick);
    assert!(sandbox.held().is_none());
    let (before, above) = (place(&sandbox, held), place(&sandbox, falls));
    for _ in 0..150 {
        sandbox.step().unwrap();
    }
    assert_eq!(place(&sandbox, held), before);
    let lies = place(&sandbox, falls).position.y;
    assert!(
        lies < above.position.y - 0.2 && lies > before.position.y + 0.4,
        "it was struck and bears: {lies}"
    );
    sandbox.break_at(held, before.position, DVec3::X);
    assert!(!sandbox.is_breaking(), "no blow breaks it");
    assert_eq!(sandbox.undo().as_deref(), Some("lock 1 piece"));
    assert_eq!(place(&sandbox, falls).position.y, lies, "taking it back moves nothing");
    for _ in 0..60 {
        sandbox.step().unwrap();
    }
    assert!(place(&sandbox, held).position.y < before.position.y - 0.5, "now it falls");
    assert_eq!(sandbox.redo().as_deref(), Some("lock 1 piece"));
    assert_eq!(place(&sandbox, held).linear_velocity, DVec3::ZERO);
}

#[test]
fn what_is_locked_is_not_broken_by_what_strikes_it() {
    let mut sandbox = opened(stacked());
    sandbox.select_all();
    sandbox.edit(PieceEdit::Lock).unwrap();
    let above = sandbox.bodies()[1].id;
    sandbox.select([above]);
    sandbox.edit(PieceEdit::Unlock).unwrap();
    let held = sandbox.bodies()[0].id;
    // What strikes it breaks within the step in which it strikes.
    let mut broke = 0;
    for _ in 0..60 {
        sandbox.step().unwrap();
        while sandbox.is_breaking() {
            sandbox.poll().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        broke += usize::from(sandbox.bodies().len() > 2);
        if broke == 5 {
            break;
        }
    }
    assert_eq!(broke, 5, "the other one breaks");
    assert!(sandbox.stage.body(held).is_some());
}

#[test]
fn what_is_hidden_is_neither_drawn_nor_picked_and_still_bears() {
    let mut sandbox = opened(Scene { break_generations: 0, ..stacked() });
    let [low, high] = [sandbox.bodies()[0].id, sandbox.bodies()[1].id];
    let met = |sandbox: &Sandbox| sandbox.pick(Vec3::new(0.0, 2.0, 5.0), Vec3::NEG_Z).map(|pick| pick.body);
    assert_eq!(met(&sandbox), Some(low));
    let ends = sandbox.bounds(None).unwrap();
    sandbox.select([low]);
    sandbox.edit(PieceEdit::Hide).unwrap();
    assert_eq!((met(&sandbox), sandbox.render_bodies(None).len(), sandbox.selected().count()), (None, 1, 0));
    assert!(sandbox.bounds(None).unwrap().0.y > ends.0.y + 0.5);
    sandbox.select_all();
    assert_eq!(sandbox.selected().map(|body| body.id).collect::<Vec<_>>(), [high]);
    for _ in 0..200 {
        sandbox.step().unwrap();
    }
    assert!(sandbox.stage.body(high).unwrap().state.position.y > 0.6, "it lies on what is hidden");
    assert_eq!(sandbox.undo().as_deref(), Some("hide 1 piece"));
    assert_eq!(sandbox.render_bodies(None).len(), 2);
    // Isolating hides the others, one step; showing all, another.
    sandbox.select([low]);
    sandbox.edit(PieceEdit::Isolate).unwrap();
    assert!(sandbox.status(high).hidden && !sandbox.status(low).hidden);
    sandbox.edit(PieceEdit::ShowAll).unwrap();
    assert!(!sandbox.status(high).hidden);
    assert_eq!(sandbox.undo().as_deref(), Some("show 1 piece"));
    assert_eq!(sandbox.undo().as_deref(), Some("isolate 1 piece"));
    assert_eq!(sandbox.history().undo_label(), None);
    sandbox.select([]);
    assert_eq!(sandbox.edit(PieceEdit::Hide).unwrap(), 0);
    assert_eq!(sandbox.history().undo_label(), None, "nothing done is nothing to undo");
}

#[test]
fn pieces_of_what_is_hidden_are_hidden_at_every_moment() {
    let mut sandbox = opened(boxed(Surface::Planar));
    sandbox.step().unwrap();
    let whole = sandbox.bodies()[0].id;
    strike(&mut sandbox, whole);
    let piece = sandbox.bodies()[3].id;
    sandbox.select([piece]);
    sandbox.edit(PieceEdit::Hide).unwrap();
    strike(&mut sandbox, piece);
    let hidden = sandbox.bodies().iter().filter(|body| sandbox.status(body.id).hidden).count();
    assert!(hidden > 1, "{hidden}");
    let all = sandbox.bodies().len();
    assert_eq!(sandbox.render_bodies(None).len(), all - hidden);
    assert!(sandbox.show_recorded(0));
    assert_eq!(sandbox.render_bodies(None).len(), 1, "the whole was not hidden");
    assert!(sandbox.show_recorded(sandbox.timeline().len() - 1));
    assert_eq!(sandbox.render_bodies(None).len(), all - hidden);
}

#[test]
fn merged_pieces_are_one_body_of_the_same_mass_and_motion() {
    for surface in [Surface::Planar, Surface::Rough] {
        let mut sandbox = broken(surface);
        let chosen = neighbours(&mut sandbox, 4);
        // As a rigid body moves that is thrown and spins.
        let (velocity, spin) = (DVec3::new(1.0, 2.0, -0.5), DVec3::new(0.3, -2.0, 1.0));
        for id in ids(&sandbox) {
            let body = sandbox.stage.body_mut(id).unwrap();
            body.state.linear_velocity = velocity + spin.cross(body.state.position);
            body.state.angular_velocity = spin;
        }
        let (before, count) = (kg(sandbox.bodies()), sandbox.bodies().len());
        let of = |sandbox: &Sandbox, chosen: &[BodyId]| -> f64 {
            chosen.iter().map(|id| sandbox.stage.body(*id).unwrap().def.mass_kg()).sum()
        };
        let own = of(&sandbox, &chosen);
        sandbox.select(chosen.iter().copied());
        assert_eq!(sandbox.merge_selected().unwrap(), 5);
        assert_eq!(sandbox.bodies().len(), count - 4);
        let one = sandbox.selected().next().unwrap().clone();
        let error = |a: f64, b: f64| (a / b - 1.0).abs();
        println!("{surface:?}: {:.2e}", error(one.def.mass_kg(), own));
        assert!(error(one.def.mass_kg(), own) < 1e-7, "{} of {own}", one.def.mass_kg());
        assert!(error(kg(sandbox.bodies()), before) < 1e-7);
        let octree = one.def.shape.as_octree().unwrap();
        assert_eq!(validate(&octree.forest), Ok(()));
        // Its crack voxels are inside again: fewer than all pieces had.
        let expected = velocity + spin.cross(one.state.position);
        assert!(one.state.linear_velocity.distance(expected) < 1e-6, "{}", one.state.linear_velocity);
        assert!(one.state.angular_velocity.distance(spin) < 1e-2, "{}", one.state.angular_velocity);
        sandbox.step().unwrap();
        assert_eq!(sandbox.undo().as_deref(), Some("merge 5 pieces"));
        assert_eq!(sandbox.bodies().len(), count);
        assert!(chosen.iter().all(|id| sandbox.stage.body(*id).is_some()));
        sandbox.redo().unwrap();
        assert_eq!(sandbox.bodies().len(), count - 4);
    }
}

#[test]
fn while_pieces_are_merged_time_stands_still_and_nothing_is_lost() {
    let mut sandbox = broken(Surface::Planar);
    sandbox.step().unwrap();
    let chosen = neighbours(&mut sandbox, 3);
    let merge = |sandbox: &mut Sandbox| {
        sandbox.select(chosen.iter().copied());
        sandbox.edit(PieceEdit::Merge).unwrap()
    };
    let (count, time) = (sandbox.bodies().len(), sandbox.time());
    assert_eq!(merge(&mut sandbox), 4);
    assert!(sandbox.is_busy() && sandbox.is_merging() && sandbox.bodies().len() == count);
    sandbox.step().unwrap();
    assert_eq!(sandbox.time(), time);
    for edit in [PieceEdit::Merge, PieceEdit::Delete] {
        assert!(matches!(sandbox.edit(edit), Err(SandboxError::Busy)), "{edit:?}");
    }
    // A blow waits, and falls on what is there then.
    let other = ids(&sandbox).into_iter().find(|id| !chosen.contains(id)).unwrap();
    let point = sandbox.stage.body(other).unwrap().state.position;
    sandbox.break_at(other, point, DVec3::NEG_Z);
    until(&mut sandbox, Arrived::Merged);
    assert_eq!((sandbox.bodies().len(), sandbox.history().undo_label()), (count - 3, Some("merge 4 pieces")));
    until(&mut sandbox, Arrived::Broke);
    assert!(sandbox.bodies().len() > count - 3);
    sandbox.undo();
    assert_eq!(sandbox.undo().as_deref(), Some("merge 4 pieces"));
    assert_eq!(sandbox.bodies().len(), count);
    // Taking back the break before it: nobody waits for it then.
    merge(&mut sandbox);
    sandbox.undo();
    assert!(!sandbox.is_merging());
    assert_eq!((sandbox.poll().unwrap(), sandbox.bodies().len()), (None, 1));
    // The mass that a panel says meanwhile is the one body's.
    sandbox.redo();
    merge(&mut sandbox);
    sandbox.select([]);
    let heavy = crate::scene::Tuning { density: 2.0 * sandbox.tuning().density, ..sandbox.tuning().clone() };
    sandbox.tune("density", heavy);
    until(&mut sandbox, Arrived::Merged);
    let one = sandbox.selected().next().unwrap().def.shape.density();
    assert_eq!(one, sandbox.bodies().last().unwrap().def.shape.density());
}

/// The box, broken as a mesh by a method.
fn broken_mesh(method: &str) -> Sandbox {
    crate::papers::register();
    let mut scene = boxed(Surface::Planar);
    scene.bodies[0].fracture.method = crate::fracture::MethodId::named(method).unwrap();
    let mut sandbox = opened(scene);
    let whole = sandbox.bodies()[0].id;
    strike(&mut sandbox, whole);
    sandbox
}

#[test]
fn pieces_of_a_mesh_merge_into_one_closed_mesh() {
    let mut sandbox = broken_mesh("box-cut");
    let chosen = neighbours(&mut sandbox, 2);
    let own: f64 = chosen.iter().map(|id| sandbox.stage.body(*id).unwrap().def.mass_kg()).sum();
    sandbox.select(chosen);
    sandbox.merge_selected().unwrap();
    let one = sandbox.selected().next().unwrap();
    assert!((one.def.mass_kg() / own - 1.0).abs() < 1e-9, "{} of {own}", one.def.mass_kg());
    let octree = one.def.shape.as_octree().unwrap();
    let volume = octree.mass.volume * octree.grid.h.powi(3);
    assert!((volume / one.def.shape.mass().volume_m3 - 1.0).abs() < 0.01, "{volume}");
    assert_eq!(told(&again(&sandbox)), told(&sandbox));
    sandbox.select_all();
    sandbox.merge_selected().unwrap();
    let all = sandbox.bodies()[0].def.shape.as_mesh().unwrap();
    assert!(all.surface().faces.iter().all(|face| face.side != crate::shape::Side::Inside));
    sandbox.step().unwrap();
    // Shards of planes have no triangles in common.
    let mut shards = broken_mesh("planes");
    shards.select_all();
    let error = shards.merge_selected().unwrap_err().to_string();
    assert!(error.contains("cut on its own"), "{error}");
}

#[test]
fn all_pieces_merged_are_what_broke() {
    let mut sandbox = opened(boxed(Surface::Planar));
    let whole = sandbox.bodies()[0].clone();
    strike(&mut sandbox, whole.id);
    sandbox.select_all();
    sandbox.merge_selected().unwrap();
    assert_eq!(sandbox.bodies().len(), 1);
    let [was, is] = [&whole, &sandbox.bodies()[0]].map(|body| body.def.shape.as_octree().unwrap().mass);
    assert_eq!(was.voxels, is.voxels, "no crack is left inside");
    assert!((was.volume - is.volume).abs() < 1e-3, "{} and {}", was.volume, is.volume);
    assert!(sandbox.bodies()[0].state.position.distance(whole.state.position) < 1e-6);
}

#[test]
fn what_cannot_be_merged_says_why() {
    let mut sandbox = broken(Surface::Planar);
    let pieces = ids(&sandbox);
    let refused = |sandbox: &mut Sandbox, chosen: &[BodyId]| {
        let (count, label) = (sandbox.bodies().len(), sandbox.history().undo_label().map(str::to_owned));
        sandbox.select(chosen.iter().copied());
        let Err(SandboxError::CannotMerge(why)) = sandbox.merge_selected() else {
            panic!("{chosen:?} merge")
        };
        assert_eq!(
            (sandbox.bodies().len(), sandbox.history().undo_label().map(str::to_owned)),
            (count, label)
        );
        why
    };
    assert!(refused(&mut sandbox, &pieces[..1]).contains("two pieces"));
    // Two that do not touch: some pair there is.
    let apart = pieces[1..].iter().find(|id| {
        matches!(sandbox.can_unite(&[pieces[0], **id]), Err(SandboxError::CannotMerge(why)) if why.contains("touch"))
    });
    let apart = *apart.unwrap();
    assert!(refused(&mut sandbox, &[pieces[0], apart]).contains("do not touch"));
    let near = neighbours(&mut sandbox, 2);
    let voxel = sandbox.bodies()[0].def.shape.unit_m();
    sandbox.stage.body_mut(near[1]).unwrap().state.position.x += 0.4 * voxel;
    assert!(sandbox.can_unite(&near).is_ok(), "less than half a voxel cannot be seen");
    sandbox.stage.body_mut(near[1]).unwrap().state.position.x += 0.2 * voxel;
    assert!(refused(&mut sandbox, &near).contains("moved against each other"));
    strike(&mut sandbox, near[2]);
    let new = sandbox.bodies().last().unwrap().id;
    assert!(refused(&mut sandbox, &[near[0], new]).contains("different breaks"));
    let mut dusty = broken(Surface::Dusty);
    let pieces = ids(&dusty);
    assert!(refused(&mut dusty, &pieces).contains("dust"));
    let mut whole =
        opened(Scene { bodies: vec![SceneBody::standing("builtin:box", 3); 2], ..Scene::default() });
    let both = ids(&whole);
    assert!(refused(&mut whole, &both).contains("whole object"));
}

#[test]
fn a_scene_file_keeps_what_was_done_with_pieces() {
    let mut sandbox = broken(Surface::Planar);
    assert!(!sandbox.scene_to_keep(Camera::default()).1);
    let scene = sandbox.as_it_stands(Camera::default());
    assert!(scene.deleted.is_empty() && scene.breaks.iter().all(|one| one.joined.is_empty()));
    let merged = neighbours(&mut sandbox, 3);
    sandbox.select(merged);
    sandbox.merge_selected().unwrap();
    let one = sandbox.selected().next().unwrap().id;
    assert_eq!(told(&again(&sandbox)), told(&sandbox), "one is merged");
    // What was merged breaks again, and two of its parts are one.
    strike(&mut sandbox, one);
    let parts: Vec<BodyId> = sandbox.bodies().iter().rev().take(6).map(|body| body.id).collect();
    let pairs = || parts.iter().flat_map(|a| parts.iter().map(move |b| [*a, *b])).filter(|[a, b]| a < b);
    let pair = pairs().find(|pair| sandbox.can_unite(pair).is_ok()).unwrap();
    sandbox.select(pair);
    sandbox.merge_selected().unwrap();
    assert_eq!(told(&again(&sandbox)), told(&sandbox), "two generations");
    let pieces = ids(&sandbox);
    sandbox.select([pieces[0], pieces[2]]);
    sandbox.edit(PieceEdit::Hide).unwrap();
    sandbox.select([pieces[1], pieces[2]]);
    sandbox.edit(PieceEdit::Lock).unwrap();
    sandbox.select([pieces[3], pieces[5]]);
    sandbox.edit(PieceEdit::Delete).unwrap();
    let opened = again(&sandbox);
    assert_eq!(told(&opened), told(&sandbox));
    assert_eq!(opened.bodies().iter().filter(|body| body.locked).count(), 2);
    assert!(opened.history().undo_label().is_none());
    assert_eq!(told(&again(&opened)), told(&sandbox), "and again");
    // All of a body's pieces, or it whole.
    let mut none = broken(Surface::Planar);
    none.select_all();
    none.edit(PieceEdit::Delete).unwrap();
    assert!(again(&none).bodies().is_empty());
}

#[test]
fn names_say_which_part_of_which_part() {
    let mut sandbox = broken(Surface::Planar);
    let piece = sandbox.bodies()[1].id;
    strike(&mut sandbox, piece);
    let names: Vec<String> = sandbox.piece_rows().iter().map(|row| sandbox.piece_name(row)).collect();
    assert_eq!((names[0].as_str(), names[1].as_str()), ("box 1", "box 3"));
    assert!(names.contains(&"box 2.1".to_owned()), "{names:?}");
    let different: std::collections::BTreeSet<&String> = names.iter().collect();
    assert_eq!(different.len(), names.len());
}
