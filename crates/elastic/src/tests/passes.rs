//! The solve in compute passes against that on the cores, with errors planted in the kernels and in the refinement.

use std::sync::Arc;

use glam::{DVec3, IVec3};
use kintsugi_core::fracture::Cancel;

use super::{STEEL, body, cuboid, end, noise, octree, stages::random_body};
use crate::{
    ElasticBody, ElasticError, Load, Settings, Solver,
    field::{Chunk, Field, largest, zeros},
    gpu::{
        Gpu,
        kernel_checks::{assert_dispatched, assert_layouts, assert_workgroups},
        shaders::planting::with_error,
    },
    passes::{dot_on, layouts},
};

/// Displacements are those of the cores to this share of the largest.
const SAME: f64 = 1e-7;
/// An error in the energy norm that single precision alone does not reach.
const FINE: Settings = Settings { tolerance: 1e-9, iterations: 300 };
/// What rounding may make of three iterations, as a share of the largest displacement; it makes 4e-5 of them.
const ROUNDED: f64 = 4e-4;

fn beam() -> Arc<ElasticBody> {
    body(&octree(4, 0.1, cuboid(IVec3::new(1, 6, 7), IVec3::new(15, 9, 10))), STEEL)
}

/// A box of cells of uneven fill, of three levels.
fn uneven() -> Arc<ElasticBody> {
    let mut random = noise(7);
    let fills: Vec<f32> = (0..16 * 16 * 16).map(|_| (0.3 + random()).min(1.0) as f32).collect();
    let solid = cuboid(IVec3::new(1, 2, 3), IVec3::new(15, 9, 11));
    let fill = |p: IVec3| solid(p) * fills[(p.x + 16 * p.y + 256 * p.z) as usize];
    let body = body(&octree(4, 0.1, fill), STEEL);
    assert_eq!(body.lattices.len(), 3);
    body
}

/// Held at its lowest x, or free.
fn solver(body: &Arc<ElasticBody>, is_held: bool) -> Solver {
    if !is_held {
        return Solver::free(body);
    }
    let low = (0..body.len()).filter_map(|cell| body.cell(cell)).map(|cell| cell.low[0]).min().unwrap();
    let wall = body.shape_from_node([low, 0, 0]).x + 0.01;
    Solver::held(body, |p| [p.x < wall; 3]).unwrap()
}

/// The forces of a weight and of a pull at the end.
fn forces(solver: &Solver) -> Field<f64> {
    let at = end(solver.body(), 0, true);
    let loads = [
        Load::Acceleration(DVec3::new(3.0, -9.81, 1.0)),
        Load::Traction { at: &at, pascals: DVec3::new(2e5, 1e5, -3e5) },
    ];
    solver.forces(&loads).unwrap().0
}

/// How far displacements are off, as a share of the largest; without end where one is no number.
fn off(wanted: &Field<f64>, found: &Field<f64>) -> f64 {
    let both = wanted.iter().flatten().flatten().zip(found.iter().flatten().flatten());
    let most = both.map(|(a, b)| (a - b).abs()).fold(0.0, |most: f64, off| {
        if off <= most {
            most
        } else if off.is_nan() {
            f64::INFINITY
        } else {
            off
        }
    });
    most / largest(wanted)
}

#[test]
fn solutions_are_those_of_the_cores() {
    let Some(gpu) = Gpu::for_test() else { return };
    for (body, is_held) in [beam(), random_body(3, 2)].iter().flat_map(|body| [(body, true), (body, false)]) {
        let (cores, device) = (solver(body, is_held), solver(body, is_held).always_in_passes(Some(&gpu)));
        let forces = forces(&cores);
        let solve =
            |solver: &Solver| solver.conjugate_gradients(&forces, None, &FINE, Cancel::never()).unwrap();
        let ((wanted, on_cores), (found, on_device)) = (solve(&cores), solve(&device));
        let off = off(&wanted, &found);
        println!("off by {off:.1e}; {on_cores:?}, {on_device:?}");
        assert!(on_device.is_converged && device.is_in_passes() && off < SAME, "{off:e} {on_device:?}");
        // Each round begins with a new direction, which costs a few iterations.
        assert!(on_device.iterations <= 2 * on_cores.iterations + 8, "{on_cores:?}, {on_device:?}");
        if !is_held {
            assert!(solve(&device) == (found, on_device), "a device gives other bytes");
        }
    }
}

#[test]
fn a_picture_takes_few_waits_and_the_same_load_again_no_iteration() {
    let Some(gpu) = Gpu::for_test() else { return };
    let solver = solver(&beam(), true).always_in_passes(Some(&gpu));
    let load = [Load::Acceleration(DVec3::NEG_Y)];
    let _ = gpu.take_all_traffic();
    let first = solver.solve(&load, &Settings::DISPLAY, None, Cancel::never()).unwrap();
    let waits = gpu.take_all_traffic().waits;
    assert!(first.convergence.is_converged && first.convergence.iterations > 0 && waits <= 5, "{waits}");
    let load = [Load::Acceleration(DVec3::NEG_Y * 7.0)];
    let again = solver.solve(&load, &Settings::DISPLAY, Some(&first), Cancel::never()).unwrap();
    assert!(again.convergence.is_converged && solver.is_in_passes());
    assert_eq!((again.convergence.iterations, gpu.take_all_traffic().waits), (0, 1));
    // What is cancelled has not failed.
    let cancel = Cancel::possible();
    cancel.wish();
    let cancelled = solver.solve(&load, &Settings::DISPLAY, None, &cancel);
    assert!(matches!(cancelled, Err(ElasticError::Cancelled(_))) && solver.is_in_passes());
}

#[test]
fn the_cores_end_what_a_device_does_not() {
    let body = beam();
    let cores = solver(&body, false);
    let forces = forces(&cores);
    let (wanted, _) = cores.conjugate_gradients(&forces, None, &FINE, Cancel::never()).unwrap();
    // The device refuses a buffer, is lost in the first batch, in what that found, or in the second.
    for lost_at in [None, Some(1), Some(2), Some(3)] {
        let Some(gpu) = Gpu::for_test() else { return };
        if lost_at.is_none() {
            gpu.mishaps().refuse_allocation(5);
        }
        let device = solver(&body, false).always_in_passes(Some(&gpu));
        assert_eq!(device.is_in_passes(), lost_at.is_some());
        if let Some(wait) = lost_at {
            gpu.mishaps().lose_at_wait(wait);
        }
        let (found, how) = device.conjugate_gradients(&forces, None, &FINE, Cancel::never()).unwrap();
        assert!(how.is_converged && !device.is_in_passes(), "lost at wait {lost_at:?}: {how:?}");
        assert!(off(&wanted, &found) < SAME, "lost at wait {lost_at:?}");
    }
}

#[test]
fn small_bodies_stay_on_the_cores() {
    let Some(gpu) = Gpu::for_test() else { return };
    assert!(!solver(&beam(), true).in_passes(Some(&gpu)).is_in_passes());
    assert!(!solver(&beam(), true).always_in_passes(None).is_in_passes());
}

/// Three iterations in passes; nothing where the device ended them otherwise.
fn three(solver: &Solver, forces: &Field<f64>) -> Option<Field<f64>> {
    let settings = Settings { tolerance: 0.0, iterations: 3 };
    let (mut x, mut left) = (zeros(forces.len() - 1), forces.clone());
    let multiply = |u: &Field<f64>, to: &mut Field<f64>| solver.multiply(u, to);
    let given = (&settings, Cancel::never());
    let how = solver.refine(forces, (&mut x, &mut left), &multiply, given).unwrap();
    how.filter(|how| how.iterations == 3).map(|_| x)
}

#[test]
fn errors_planted_in_the_passes_are_found() {
    let Some(gpu) = Gpu::for_test() else { return };
    let body = uneven();
    let settings = Settings { tolerance: 0.0, iterations: 3 };
    // It keeps the kernels without an error.
    let _solver = solver(&body, true).always_in_passes(Some(&gpu));
    let sound = [true, false].map(|is_held| {
        let (cores, device) = (solver(&body, is_held), solver(&body, is_held).always_in_passes(Some(&gpu)));
        let forces = forces(&cores);
        let (wanted, _) = cores.conjugate_gradients(&forces, None, &settings, Cancel::never()).unwrap();
        let off = three(&device, &forces).map_or(f64::INFINITY, |found| off(&wanted, &found));
        println!("off by {off:.1e}");
        assert!(off < ROUNDED, "{off:e}");
        (wanted, forces)
    });
    let [(wanted, forces), _] = &sound;
    for (name, from, to) in [
        ("multiply", "select(1.0, -1.0, offset == 1u)", "1.0"),
        ("multiply", "chunks[at - 1u] * MATTER", "chunks[at] * MATTER"),
        ("multiply", "select(vec3<f32>(0.0), v, ", "select(v, v, "),
        ("smooth", "held * before", "0.0 * before"),
        ("smooth", "zx * left.x + yz * left.y", "zx * left.y + yz * left.x"),
        ("restrict", "force(first, x - 1)", "force(first, x + 1)"),
        ("prolong", "parent >> 2u & 1u", "parent >> 1u & 1u"),
        ("coarsest", "total += inverse", "total -= inverse"),
        ("dot", "half > 0u", "half > 1u"),
        ("decide", "state.turn = total / state.size", "state.turn = 0.0"),
        ("decide", "state.step = state.size / total", "state.step = 0.9 * state.size / total"),
        ("turn", "state.turn * direction[id]", "direction[id]"),
        ("step", "left[id] - state.step", "left[id] + state.step"),
    ] {
        let path: &'static str = format!("elastic/passes/{name}").leak();
        let found =
            with_error(path, (from, to), || three(&solver(&body, true).always_in_passes(Some(&gpu)), forces));
        let off = found.map_or(f64::INFINITY, |found| off(wanted, &found));
        println!("{name} with '{to}': off by {off:.1e}");
        assert!(off >= ROUNDED, "{name} with '{to}' is not found");
    }
}

/// Forces that are left, computed of displacements in single precision, end the refinement before its end.
#[test]
fn an_error_planted_in_the_refinement_is_found() {
    let Some(gpu) = Gpu::for_test() else { return };
    let body = beam();
    let refine = |rounds: bool| {
        let solver = solver(&body, true).always_in_passes(Some(&gpu));
        let forces = forces(&solver);
        let (mut x, mut left) = (zeros(forces.len() - 1), forces.clone());
        let single = |chunk: &Chunk<f64>| chunk.map(|axis| axis.map(|u| f64::from(u as f32)));
        let multiply = |u: &Field<f64>, to: &mut Field<f64>| match rounds {
            true => {
                let rounded: Field<f64> = u.iter().map(single).collect();
                solver.multiply(&rounded, to);
            }
            false => solver.multiply(u, to),
        };
        let how = solver.refine(&forces, (&mut x, &mut left), &multiply, (&FINE, Cancel::never()));
        (how.unwrap().is_some_and(|how| how.is_converged), solver.is_in_passes())
    };
    assert_eq!((refine(false), refine(true)), ((true, true), (false, false)));
}

#[test]
fn scalar_products_are_those_of_the_cores_at_any_length() {
    let Some(gpu) = Gpu::for_test() else { return };
    // It keeps the kernels.
    let _solver = solver(&beam(), true).always_in_passes(Some(&gpu));
    let mut random = noise(3);
    // The longest one has more sums than a workgroup has threads.
    let mut numbers = |count: usize| -> Vec<f32> { (0..count).map(|_| random() as f32 - 0.3).collect() };
    let mut check = |count: usize| {
        let (a, b) = (numbers(count), numbers(count));
        let wanted: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        let found = f64::from(dot_on(&gpu, &a, &b).unwrap());
        (found - wanted).abs() <= 1e-4 * wanted.abs().max(1.0)
    };
    for count in [1, 2, 255, 256, 257, 1000, 70_001] {
        assert!(check(count), "{count}");
    }
    let path = "elastic/passes/decide";
    let is_right = with_error(path, ("k += WORKGROUP", "k += 2u * WORKGROUP"), || check(70_001));
    assert!(!is_right, "a sum that leaves some out is not found");
}

#[test]
fn kernels_and_rust_agree_on_structs_workgroups_and_variables() {
    const FOLDERS: &[&str] = &["elastic/"];
    assert_layouts(FOLDERS, &layouts(), &[]);
    assert_workgroups(FOLDERS, |_| None);
    let Some(gpu) = Gpu::for_test() else { return };
    let solver = solver(&uneven(), true).always_in_passes(Some(&gpu));
    assert!(three(&solver, &forces(&solver)).is_some());
    assert_dispatched(FOLDERS);
}
