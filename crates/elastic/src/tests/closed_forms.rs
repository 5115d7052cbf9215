//! Beams, plates and balls as the theory of elasticity has them.

use glam::{DVec3, IVec3};
use kintsugi_core::fracture::Cancel;
use std::f64::consts::PI;

use super::{STEEL, body, cuboid, end, octree};
use crate::{Load, Settings, Solution, Solver};

/// Asserts that a figure is within a share of the theory's, and prints both.
fn near(name: &str, found: f64, theory: f64, share: f64) {
    let off = found / theory - 1.0;
    println!("{name}: {found:.5e}, theory {theory:.5e}, off by {:.2} %", 100.0 * off);
    assert!(off.abs() <= share, "{name}: {found} instead of {theory}");
}

fn solved(solver: &Solver, loads: &[Load<'_>]) -> Solution {
    let solution =
        solver.solve(loads, &Settings::PRECISE, None, Cancel::never()).unwrap().converged().unwrap();
    println!("{} cells, {} iterations", solver.body().len(), solution.convergence.iterations);
    solution
}

/// A beam of 60 x 8 x 8 cells, held at one end.
#[test]
fn a_cantilever_bends_as_timoshenko_says() {
    let h = 0.01;
    let (low, high) = (IVec3::new(1, 20, 20), IVec3::new(61, 28, 28));
    let body = body(&octree(6, h, cuboid(low, high)), STEEL);
    let root = body.shape_from_node([1, 0, 0]).x;
    let solver = Solver::held(&body, |p| [p.x < root + 0.5 * h; 3]).unwrap();
    let at = end(&body, 0, true);
    let (length, depth) = (60.0 * h, 8.0 * h);
    let force = 1000.0;
    let pascals = DVec3::NEG_Y * force / (depth * depth);
    let solution = solved(&solver, &[Load::Traction { at: &at, pascals }]);
    let (e, nu) = (STEEL.youngs_modulus, STEEL.poissons_ratio);
    let inertia = depth.powi(4) / 12.0;
    let shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu) * e / (2.0 * (1.0 + nu)) * depth * depth;
    let theory = force * length.powi(3) / (3.0 * e * inertia) + force * length / shear;
    near("tip of the cantilever", -solution.displacement([61, 24, 24]).unwrap().y, theory, 0.02);

    // Half way, in the uppermost cells, whose middles lie half a cell below the surface.
    let cell = body.cell_at([31, 27, 24]).unwrap();
    let found = solution.stress()[cell].0[0] * 4.0 / 3.5;
    let theory = force * 28.5 * h + 0.0;
    near(
        "bending stress half way",
        found,
        (theory + force * 0.0) * (depth / 2.0) / inertia * 29.5 / 28.5,
        0.01,
    );
    let mid = solution.stress_at(body.cell(cell).unwrap().centre).unwrap();
    assert!((mid.0[0] / solution.stress()[cell].0[0] - 1.0).abs() < 1e-12);
    // The neutral layer, between two cells.
    let neutral = body.shape_from_node([31, 24, 24]);
    assert!(solution.stress_at(neutral).unwrap().0[0].abs() < 0.01 * found);
}

/// A square plate of 60 x 60 x 4 cells under a uniform pressure, simply supported: its edges move along their normals only.
/// Navier's series, with the shear of Mindlin's plates.
#[test]
fn a_plate_bends_as_navier_and_mindlin_say() {
    let h = 0.005;
    let body = body(&octree(6, h, cuboid(IVec3::new(1, 1, 30), IVec3::new(61, 61, 34))), STEEL);
    let (low, high) = (body.shape_from_node([1, 1, 0]), body.shape_from_node([61, 61, 0]));
    let solver = Solver::held(&body, |p| {
        let [x, y] = [0, 1].map(|i| p[i] < low[i] + 0.5 * h || p[i] > high[i] - 0.5 * h);
        [y, x, x || y]
    })
    .unwrap();
    let at = end(&body, 2, true);
    let pressure = 1e5;
    let solution = solved(&solver, &[Load::Pressure { at: &at, pascals: pressure }]);
    let (a, t, nu) = (60.0 * h, 4.0 * h, STEEL.poissons_ratio);
    let rigidity = STEEL.youngs_modulus * t.powi(3) / (12.0 * (1.0 - nu * nu));
    let shear = 5.0 / 6.0 * STEEL.youngs_modulus / (2.0 * (1.0 + nu)) * t;
    let (mut deflection, mut moment) = (0.0, 0.0);
    for m in (1..100).step_by(2) {
        for n in (1..100).step_by(2) {
            let sign = if (m + n) / 2 % 2 == 1 { 1.0 } else { -1.0 };
            let [m, n] = [m, n].map(f64::from);
            let square = (PI / a).powi(2) * (m * m + n * n);
            let load = 16.0 * pressure / (PI * PI * m * n) * sign;
            deflection += load * (1.0 / (rigidity * square * square) + 1.0 / (shear * square));
            moment += load * (PI / a).powi(2) * (m * m + nu * n * n) / (square * square);
        }
    }
    near("centre of the plate", -solution.displacement([31, 31, 32]).unwrap().z, deflection, 0.01);
    // The middle of the outermost layer of cells lies at 1.5 cells; beside the centre there are four cells.
    let sum: f64 = [[30, 30], [30, 31], [31, 30], [31, 31]]
        .map(|[x, y]| -solution.stress()[body.cell_at([x, y, 33]).unwrap()].0[0])
        .iter()
        .sum();
    near("moment in the middle of the plate", sum / 4.0 * t.powi(3) / 12.0 / (1.5 * h), moment, 0.02);
}

/// Share of a cell that lies between two balls about the middle of the grid, in points of a raster of 8 x 8 x 8; radii in
/// cells.
pub(super) fn ball(level: u32, inner: f64, outer: f64) -> impl Fn(IVec3) -> f32 {
    let centre = DVec3::splat(f64::from(1 << level) / 2.0);
    move |p| {
        let holds = |point: DVec3| (inner..outer).contains(&(point - centre).length());
        let middle = p.as_dvec3() + 0.5;
        let from = (middle - centre).length();
        // No corner is farther from the middle of a cell.
        if (from - inner).abs().min((from - outer).abs()) > 0.9 {
            return f32::from(u8::from(holds(middle)));
        }
        let point = |k: i32| p.as_dvec3() + (IVec3::new(k % 8, k / 8 % 8, k / 64).as_dvec3() + 0.5) / 8.0;
        (0..512).filter(|k| holds(point(*k))).count() as f32 / 512.0
    }
}

/// Wherever in their cells the walls lie: under a pressure all round and in its void, the stress of a free ball is that
/// pressure everywhere.
#[test]
fn a_ball_under_pressure_has_that_pressure_inside() {
    for inner in [0.0, 5.2] {
        let body = body(&octree(5, 0.02, ball(5, inner, 14.3)), STEEL);
        assert!((0..body.len()).any(|cell| body.cell(cell).unwrap().fill < 0.1), "cells with little solid");
        let solver = Solver::free(&body);
        let settings = Settings { tolerance: 1e-9, ..Settings::PRECISE };
        let load = Load::Pressure { at: &|_| true, pascals: 3e6 };
        let solution = solver.solve(&[load], &settings, None, Cancel::never()).unwrap().converged().unwrap();
        println!("{} iterations", solution.convergence.iterations);
        for stress in solution.stress() {
            for (i, s) in stress.0.iter().enumerate() {
                let expected = if i < 3 { -3e6 } else { 0.0 };
                assert!((s - expected).abs() < 3.0, "{stress:?}");
            }
            assert_eq!(stress.tension(), 0.0);
            assert!(stress.von_mises() < 10.0);
        }
    }
}

/// Hoop and radial stress of the theory (Lamé) in a ball of the radii `a` and `b` under a pressure within, at the radius `r`,
/// as shares of pressure a^3 / (b^3 - a^3).
pub(super) fn lame(r: f64, b: f64) -> [f64; 2] {
    let cubed = (b / r).powi(3);
    [1.0 + 0.5 * cubed, 1.0 - cubed]
}

/// Hoop and radial stress of a cell in a ball, and its radius in cells.
pub(super) fn in_ball(solution: &Solution, cell: usize, centre: DVec3) -> ([f64; 2], f64) {
    let from = solution.body().cell(cell).unwrap().centre - centre;
    let (out, stress) = (from / from.length(), solution.stress()[cell]);
    let radial = out.dot(stress.matrix() * out);
    let trace: f64 = stress.0[..3].iter().sum();
    ([(trace - radial) / 2.0, radial], from.length() / solution.body().cell_size())
}

/// A thick ball under a pressure from within (Lamé): shifts along an axis, and the stress of every cell three cells away from
/// its walls.
#[test]
fn a_hollow_ball_stretches_as_lame_says() {
    let (h, a, b) = (0.01, 12.0, 29.0);
    let body = body(&octree(6, h, ball(6, a, b)), STEEL);
    let solver = Solver::free(&body);
    let centre = body.shape_from_node([32; 3]);
    let pressure = 1e7;
    let inside = |face: &crate::Face| (face.centre - centre).length() < 0.5 * (a + b) * h;
    let solution = solved(&solver, &[Load::Pressure { at: &inside, pascals: pressure }]);
    let (e, nu) = (STEEL.youngs_modulus, STEEL.poissons_ratio);
    let share = pressure * a.powi(3) / (b.powi(3) - a.powi(3));
    let mut worst = [0.0f64; 3];
    for x in 32 + 13..32 + 29u32 {
        let r = f64::from(x - 32);
        let moved = solution.displacement([x, 32, 32]).unwrap().x;
        let theory = share / e * r * h * ((1.0 - 2.0 * nu) + 0.5 * (1.0 + nu) * (b / r).powi(3));
        worst[0] = worst[0].max((moved / theory - 1.0).abs());
    }
    for cell in 0..body.len() {
        let (found, r) = in_ball(&solution, cell, centre);
        if (a + 3.0..b - 3.0).contains(&r) {
            let theory = lame(r, b).map(|of_share| share * of_share);
            (0..2).for_each(|i| worst[1 + i] = worst[1 + i].max((found[i] - theory[i]).abs() / theory[0]));
        }
    }
    let [shift, hoop, radial] = worst;
    println!("worst: radial shift {shift:.4}, hoop {hoop:.4}, radial stress {radial:.4} of hoop");
    assert!(shift < 0.01 && hoop < 0.01 && radial < 0.025, "{worst:?}");
}
