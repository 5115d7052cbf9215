//! What is refused, and what the message says.

use glam::{DVec3, IVec3};
use kintsugi_core::fracture::{Cancel, Cancelled};
use std::sync::Arc;

use super::{STEEL, body, cuboid, end, octree};
use crate::{ElasticBody, ElasticError, Load, Material, Settings, Solver};

fn block() -> Arc<ElasticBody> {
    body(&octree(4, 0.1, cuboid(IVec3::splat(3), IVec3::splat(12))), STEEL)
}

#[test]
fn numbers_out_of_range_are_refused() {
    let octree = octree(3, 0.1, cuboid(IVec3::splat(2), IVec3::splat(6)));
    let with = |material| ElasticBody::new(&octree, 3, material).map(|_| ());
    for nu in [0.5, 0.4999, -1.0, f64::NAN] {
        assert!(matches!(with(Material { poissons_ratio: nu, ..STEEL }), Err(ElasticError::Material { .. })));
    }
    assert_eq!(
        with(Material { youngs_modulus: -1.0, ..STEEL }).unwrap_err().to_string(),
        "Young's modulus is -1; it must be from 1 to 1e15 Pa"
    );
    assert!(with(Material { density: f64::INFINITY, ..STEEL }).is_err());
    assert_eq!(ElasticBody::new(&octree, 4, STEEL).unwrap_err(), ElasticError::Level { level: 4, most: 3 });
    assert!(ElasticBody::new(&octree, 0, STEEL).is_err());
    let dust = super::octree(3, 0.1, |p| if p == IVec3::ONE { 0.004 } else { 0.0 });
    assert_eq!(ElasticBody::new(&dust, 3, STEEL).unwrap_err(), ElasticError::Empty { level: 3 });
    let nothing = super::octree(3, 0.1, |_| 0.0);
    assert_eq!(ElasticBody::new(&nothing, 2, STEEL).unwrap_err(), ElasticError::Empty { level: 2 });
}

#[test]
fn holds_that_let_the_body_turn_are_refused() {
    let body = block();
    let at = |nodes: &'static [[u32; 3]]| {
        let points: Vec<DVec3> = nodes.iter().map(|node| body.shape_from_node(*node)).collect();
        Solver::held(&body, move |p| [points.iter().any(|q| (p - *q).length() < 1e-6); 3]).map(|_| ())
    };
    assert_eq!(at(&[]), Err(ElasticError::Loose));
    assert_eq!(at(&[[3, 3, 3]]), Err(ElasticError::Loose));
    assert_eq!(at(&[[3, 3, 3], [5, 5, 5], [12, 12, 12]]), Err(ElasticError::Loose));
    assert_eq!(at(&[[3, 3, 3], [5, 5, 5], [12, 12, 11]]), Ok(()));
    assert_eq!(Solver::held(&body, |_| [true, true, false]).map(|_| ()), Err(ElasticError::Loose));
}

#[test]
fn loads_that_make_no_sense_are_refused() {
    let solver = Solver::free(&block());
    let solve = |load: Load<'_>| solver.solve(&[load], &Settings::DISPLAY, None, Cancel::never()).map(|_| ());
    assert_eq!(
        solver.solve(&[], &Settings::DISPLAY, None, Cancel::never()).unwrap_err(),
        ElasticError::NothingLoaded
    );
    // Falling freely strains nothing.
    assert_eq!(solve(Load::Acceleration(DVec3::NEG_Y * 9.81)), Err(ElasticError::NothingLoaded));
    assert_eq!(solve(Load::Pressure { at: &|_| false, pascals: 1.0 }), Err(ElasticError::NothingLoaded));
    assert!(matches!(solve(Load::Acceleration(DVec3::NAN)), Err(ElasticError::Load(_))));
    assert!(matches!(solve(Load::Spin(DVec3::splat(1e200))), Err(ElasticError::Load(_))));
    let blow = |direction, radius, newtons| Load::Blow { point: DVec3::ZERO, direction, radius, newtons };
    assert!(matches!(solve(blow(DVec3::ZERO, 0.1, 1.0)), Err(ElasticError::Load(_))));
    assert!(matches!(solve(blow(DVec3::X, f64::NAN, 1.0)), Err(ElasticError::Load(_))));
    assert!(matches!(solve(blow(DVec3::X, -1.0, 1.0)), Err(ElasticError::Load(_))));
    // Far away and from behind: the nearest face takes it.
    assert_eq!(solve(blow(DVec3::NEG_X, 0.1, 1.0)), Ok(()));
}

#[test]
fn a_solution_tells_whether_it_is_near_enough() {
    let body = block();
    let solver = Solver::free(&body);
    let at = end(&body, 0, true);
    let load = [Load::Traction { at: &at, pascals: DVec3::X }];
    let settings = Settings { tolerance: 1e-12, iterations: 2 };
    let found = solver.solve(&load, &settings, None, Cancel::never()).unwrap();
    assert_eq!(found.convergence.iterations, 2);
    let error = found.converged().unwrap_err();
    assert!(error.to_string().starts_with("after 2 iterations the error is "), "{error}");

    for checks in [0, 1, 5] {
        let cancelled = solver.solve(&load, &Settings::PRECISE, None, &Cancel::after(checks));
        assert_eq!(cancelled.unwrap_err(), ElasticError::Cancelled(Cancelled));
    }
}

/// Solutions of a body are of use only to solvers of the same body.
#[test]
fn a_start_of_another_body_is_left_alone() {
    let (one, other) = (block(), block());
    let [first, second] = [&one, &other].map(Solver::free);
    let at = |face: &crate::Face| face.axis == 0;
    let load = [Load::Pressure { at: &at, pascals: -1.0 }];
    let solve =
        |solver: &Solver, start| solver.solve(&load, &Settings::PRECISE, start, Cancel::never()).unwrap();
    let cold = solve(&first, None);
    assert!(cold.convergence.iterations > 0);
    assert_eq!(solve(&second, Some(&cold)).convergence, cold.convergence);
    assert_eq!(solve(&first, Some(&cold)).convergence.iterations, 0);
}
