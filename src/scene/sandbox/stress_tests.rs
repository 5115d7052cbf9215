//! Stress by order: of the weight for frames of films, and of the pinned blow.

use glam::DVec3;

use super::{Arrived, Sandbox, testing};
use crate::{
    bodies::BodyId,
    compute::Compute,
    fracture::{FractureParams, Surface},
    scene::{BodyStress, Coloring, Pinned, Quantity, Scene, SceneBody, StressLoad},
};

fn opened(pinned: Option<Pinned>) -> Sandbox {
    let body = SceneBody {
        on_floor: false,
        position: DVec3::Y * 20.0,
        fracture: FractureParams { seeds: 20, surface: Surface::Planar, ..FractureParams::default() },
        ..SceneBody::standing("builtin:box", 5)
    };
    let mut sandbox = Sandbox::new(Compute::Cpu).unwrap();
    sandbox.open_scene(Scene { bodies: vec![body], pinned, ..Scene::default() });
    testing::until(&mut sandbox, Arrived::Opened);
    sandbox
}

fn stress(sandbox: &Sandbox, id: BodyId) -> Option<&BodyStress> {
    sandbox.stress.known().of(id, &sandbox.stage.body(id).unwrap().def.shape)
}

/// Planted error to see this fail: solve for every body again in each frame.
#[test]
fn frames_solve_once_for_a_body_and_again_for_what_breaks() {
    let mut sandbox = opened(None);
    let id = sandbox.bodies()[0].id;
    assert!(stress(&sandbox, id).is_none());
    assert_eq!(sandbox.weigh_new(), None);
    let first = std::ptr::from_ref(stress(&sandbox, id).unwrap());
    (0..5).for_each(|_| sandbox.step().unwrap());
    assert_eq!(sandbox.weigh_new(), None);
    assert_eq!(std::ptr::from_ref(stress(&sandbox, id).unwrap()), first, "it fell, and has the same shape");
    sandbox.break_at(id, sandbox.bodies()[0].state.position, DVec3::NEG_Y);
    testing::until(&mut sandbox, Arrived::Broke);
    let line = sandbox.weigh_new();
    let ids: Vec<BodyId> = sandbox.bodies().iter().map(|body| body.id).collect();
    let lacking = ids.iter().filter(|id| stress(&sandbox, **id).is_none()).count();
    assert!(ids.len() > 3 && lacking < ids.len(), "{lacking} of {}", ids.len());
    assert_eq!(line.is_some(), lacking > 0, "{line:?}");
    // What cannot be solved for is not tried again.
    assert_eq!(sandbox.weigh_new(), None);
}

#[test]
fn the_pinned_blow_strains_its_body_and_legends_say_for_what_load() {
    assert!(opened(None).strike_by_pin((1.0, None)).is_some_and(|line| line.contains("no blow is pinned")));
    let mut sandbox =
        opened(Some(Pinned { body: 0, point: DVec3::new(0.0, 20.0, 0.5), direction: DVec3::NEG_Z }));
    let id = sandbox.bodies()[0].id;
    let mut tuning = sandbox.tuning().clone();
    tuning.view.color_by = Coloring::Value(Quantity::Stress);
    sandbox.tune("colours", tuning);
    let mut solved = |newtons: f64| {
        assert_eq!(sandbox.strike_by_pin((newtons, None)), None);
        let of = stress(&sandbox, id).unwrap();
        let legend = sandbox.legends().remove(0);
        (of.greatest().tension, of.load(), legend.title, legend.unit)
    };
    let (one, fifty) = (solved(1.0), solved(50.0));
    // Elasticity is linear.
    assert!(one.0 > 0.0 && (fifty.0 / one.0 / 50.0 - 1.0).abs() < 1e-3, "{one:?} {fifty:?}");
    assert_eq!((one.1, fifty.1), (StressLoad::Newton, StressLoad::Blow(50.0)));
    assert_eq!((one.2.as_str(), one.3.as_str()), ("Stress, tension, blow", "Pa per N"));
    assert_eq!((fifty.2.as_str(), fifty.3.as_str()), ("Stress, tension, blow of 50 N", "Pa"));
    assert_eq!(sandbox.weigh(), None);
    let legend = sandbox.legends().remove(0);
    assert_eq!((legend.title.as_str(), legend.unit.as_str()), ("Stress, tension, own weight", "Pa"));
}
