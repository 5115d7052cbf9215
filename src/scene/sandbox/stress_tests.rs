//! Stress by order: of the weight for frames of films, and of the pinned blow; and breaks that end with the stress.

use glam::DVec3;

use super::{Arrived, Sandbox, testing};
use crate::{
    bodies::BodyId,
    compute::Compute,
    fracture::{FractureParams, Surface},
    scene::{BodyStress, Coloring, Pinned, Quantity, Scene, SceneBody, StressLoad, Touching},
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

/// Planted error to see this fail: let the cells stay that are loaded.
#[test]
fn the_button_breaks_off_only_what_the_pinned_blow_pulls_at() {
    let without = opened(None).break_where_it_pulls();
    assert_eq!(without, Err("Pin an impact first"));
    let mut sandbox =
        opened(Some(Pinned { body: 0, point: DVec3::new(0.0, 20.0, 0.5), direction: DVec3::NEG_Z }));
    let early = sandbox.break_where_it_pulls();
    assert!(early.is_err_and(|why| why.contains("choose Show: stress")));
    let mut tuning = sandbox.tuning().clone();
    tuning.view.touching = Touching::Stress;
    sandbox.tune("show", tuning);
    let aim = sandbox.tuning().pin.as_ref().unwrap().aim;
    sandbox.set_aim(Some(aim));
    sandbox.update_touching().unwrap();
    while sandbox.is_solving_stress() {
        std::thread::sleep(std::time::Duration::from_millis(1));
        sandbox.update_touching().unwrap();
    }
    assert!(sandbox.stress().is_some_and(|report| report.of_blow && report.greatest > 0.0));
    let (kept, all) = sandbox.break_where_it_pulls().unwrap();
    println!("{kept} of {all} cells stay");
    assert!(all == 20 && (1..all).contains(&kept), "{kept} of {all} stay");
    assert_eq!(sandbox.kept_cells().len(), kept);
    // What stays is farther from the blow than what goes.
    let seeds = sandbox.preview.pinned_cells().unwrap().pattern.seeds_in_voxels(5);
    let distance = |seed: u32| DVec3::from_array(seeds[seed as usize]).distance(aim.point_in_grid);
    let mean = |stays: bool| {
        let some: Vec<u32> =
            (0..all as u32).filter(|seed| sandbox.kept_cells().contains(seed) == stays).collect();
        some.iter().map(|seed| distance(*seed)).sum::<f64>() / some.len() as f64
    };
    assert!(mean(true) > mean(false), "{} voxels, {} voxels", mean(true), mean(false));
    // It is one step of undo, and what breaks off is the rest.
    assert_eq!(sandbox.undo().as_deref(), Some("break where it pulls"));
    assert!(sandbox.tuning().pin.as_ref().unwrap().kept.is_none());
    sandbox.redo();
    assert!(sandbox.break_pin());
    testing::until(&mut sandbox, Arrived::Broke);
    let stayed = sandbox.last_break().unwrap().kept.as_ref().expect("cells stayed");
    assert!(stayed.cells.len() == kept && sandbox.bodies().len() > 1, "{stayed:?}");
}
