//! The stage alone: bodies come, go, come back, and are met by rays where they are drawn.

use glam::{DVec3, Vec3};

use super::*;
use crate::{
    fracture::Volume,
    gpu::Gpu,
    scene::{BodyInsides, BreakLog, Scene, SceneBody, import, placement::placed},
    voxelize::Progress,
};

/// A box with an edge of 1 m whose middle is at `middle`.
pub(in crate::scene) fn cube(middle: DVec3) -> BodyDef {
    let one = import("builtin:box", 4, &Progress::default()).unwrap();
    let body = SceneBody { size: Some(1.0), ..SceneBody::standing("builtin:box", 4) };
    let mut def = placed(&one, &SceneBody { on_floor: false, ..body }, &Scene::default());
    def.state.position = middle;
    def
}

fn stage(middles: &[DVec3]) -> Option<(Stage, Vec<BodyId>)> {
    let mut stage = Stage::new(&Gpu::for_test()?).unwrap();
    let ids = middles.iter().map(|middle| stage.add(cube(*middle), 0, 0)).collect();
    Some((stage, ids))
}

#[test]
fn what_stood_there_comes_back_under_its_names() {
    let Some((mut stage, ids)) = stage(&[DVec3::Y, DVec3::Y * 3.0]) else { return };
    stage.body_mut(ids[1]).unwrap().asleep = true;
    let then = stage.standing(None);
    let (color, revision) = (stage.info(ids[0]).unwrap().color_id, stage.revision());
    stage.break_up(ids[0], vec![cube(DVec3::X), cube(DVec3::NEG_X)], 0);
    let piece = stage.bodies()[1].id;
    assert_eq!((stage.bodies().len(), stage.body(ids[0]).is_none(), stage.awake()), (3, true, 3));
    assert!(stage.info(piece).is_some_and(|info| !info.is_intact() && info.color_id != color));
    assert!(stage.info_or_whole(ids[0]).is_intact(), "of what is gone nothing else is known");
    stage.put_back(&then);
    assert_eq!(stage.bodies().iter().map(|b| b.id).collect::<Vec<_>>(), ids);
    assert_eq!(stage.info(ids[0]).map(|info| info.color_id), Some(color));
    assert_eq!((stage.body(ids[1]).unwrap().asleep, stage.awake()), (true, 1));
    assert!(stage.info(piece).is_none() && stage.revision() > revision);
    assert_eq!(then.body_of(0).map(|def| def.state.position), Some(DVec3::Y));
    assert!(then.body_of(1).is_none());
}

#[test]
fn rays_meet_bodies_where_they_are_drawn() {
    let Some((stage, ids)) = stage(&[DVec3::new(-1.0, 1.0, 0.0), DVec3::new(1.0, 1.0, 0.0)]) else { return };
    let from = |x: f32| Vec3::new(x, 1.0, 9.0);
    let met = |x: f32, explode| stage.pick(from(x), Vec3::NEG_Z, explode).map(|pick| pick.body);
    assert_eq!((met(-1.0, 0.0), met(1.0, 0.0), met(0.0, 0.0)), (Some(ids[0]), Some(ids[1]), None));
    // Apart from their middle, which is at x = 0: twice as far.
    assert_eq!((met(-1.0, 1.0), met(2.0, 1.0)), (None, Some(ids[1])));
    let pick = stage.pick(from(2.0), Vec3::NEG_Z, 1.0).unwrap();
    assert!((pick.point - DVec3::new(1.0, 1.0, 0.5)).length() < 0.1, "{pick:?}");
    let aim = stage.aim_at(&pick, Vec3::NEG_Z).unwrap();
    let (point, direction) = stage.aimed(&aim).unwrap();
    assert!(point.distance(pick.point) < 1e-9 && direction.distance(DVec3::NEG_Z) < 1e-9);
    assert!((stage.shown_point(&aim, 1.0).unwrap() - Vec3::new(2.0, 1.0, 0.5)).length() < 0.1);
    assert_eq!(stage.nearest_body(DVec3::new(0.1, 1.0, 0.0)), Some(ids[1]));
    let (low, high) = stage.bounds(1.0, None).unwrap();
    assert!((low.x + 2.5).abs() < 0.15 && (high.x - 2.5).abs() < 0.15, "{low} {high}");
    let look = Appearance {
        explode: 1.0,
        insides: BodyInsides::new(vec![Volume::default()], &BreakLog::default()),
        colors: None,
        leaves: None,
        selected: Arc::default(),
    };
    let drawn = stage.render_bodies(&look, Some(ids[1]));
    assert_eq!(drawn.iter().map(|body| body.selected).collect::<Vec<_>>(), [false, true]);
    assert_eq!(stage.drawn_at(1, 1.0), Some(drawn[1].world_from_local));
}

#[test]
fn each_object_has_its_values_and_no_finer_level_than_its_voxels() {
    let Some((mut stage, ids)) = stage(&[DVec3::ZERO]) else { return };
    let other = stage.add(cube(DVec3::X * 4.0), 1, 0);
    let touch = |friction, physics_level| Touch {
        density: 1000.0 * friction,
        friction,
        restitution: 0.5,
        rolling_resistance: 0.1,
        physics_level,
    };
    let settings = WorldSettings { dt: 0.25, ..WorldSettings::default() };
    stage.go_by(settings, &[touch(0.3, 2), touch(0.9, 7)]);
    let of = |id: BodyId| stage.body(id).map(|b| (b.def.friction, b.def.physics_level));
    assert_eq!((of(ids[0]), of(other)), (Some((0.3, 2)), Some((0.9, 4))));
    let weighs = |id: BodyId| stage.body(id).unwrap().def.mass_kg();
    assert!((weighs(other) / weighs(ids[0]) - 3.0).abs() < 1e-12, "as heavy as their densities say");
    stage.pass_time().unwrap();
    assert_eq!((stage.time(), stage.last_step().time), (0.25, 0.25));
}

#[test]
fn the_hand_moves_what_can_move() {
    let Some((mut stage, ids)) = stage(&[DVec3::Y]) else { return };
    let wall = stage.add(BodyDef { fixed: true, ..cube(DVec3::new(3.0, 1.0, 0.0)) }, 0, 0);
    let pick = |stage: &Stage, x: f32| stage.pick(Vec3::new(x, 1.0, 9.0), Vec3::NEG_Z, 0.0).unwrap();
    let fixed = pick(&stage, 3.0);
    assert_eq!(fixed.body, wall);
    stage.grab(&fixed);
    assert!(stage.held().is_none(), "a fixed body is not dragged");
    let free = pick(&stage, 0.0);
    assert_eq!(free.body, ids[0]);
    stage.grab(&free);
    stage.drag(DVec3::splat(f64::NAN));
    stage.drag(DVec3::Y * 2.0);
    let (point, target) = stage.held().unwrap();
    assert!(point.distance(free.point) < 1e-9 && target == DVec3::Y * 2.0);
    stage.release();
    assert!(stage.held().is_none());
}

#[test]
fn throws_come_in_their_order() {
    let Some((mut stage, _)) = stage(&[]) else { return };
    let at = |x: f64, object| Projectile { def: cube(DVec3::X * x), object };
    stage.prepare_throw(0, at(1.0, 0));
    stage.prepare_throw(9, at(3.0, 2));
    stage.prepare_throw(1, at(2.0, 1));
    (0..4).for_each(|n| stage.throw(n));
    let objects: Vec<_> = stage.bodies().iter().map(|b| stage.info_or_whole(b.id).object).collect();
    assert_eq!(objects, [0, 1, 2]);
    stage.clear();
    stage.throw(0);
    assert!(stage.bodies().is_empty(), "another scene throws its own");
}

#[test]
fn a_body_that_ran_away_is_free_again_at_a_moment_before_that() {
    let Some((mut stage, ids)) = stage(&[DVec3::Y]) else { return };
    let frozen = |stage: &Stage| stage.body(ids[0]).unwrap().frozen;
    let (free, moving) = (stage.standing(None), Runs::of(motions(stage.bodies()), None));
    stage.body_mut(ids[0]).unwrap().frozen = true;
    let (stuck, stopped) = (stage.standing(None), Runs::of(motions(stage.bodies()), None));
    stage.go_to(0.0, &moving);
    assert!(!frozen(&stage), "the timeline");
    stage.go_to(1.0, &stopped);
    assert!(frozen(&stage));
    stage.put_back(&free);
    assert!(!frozen(&stage), "undo");
    stage.put_back(&stuck);
    assert!(frozen(&stage));
}
