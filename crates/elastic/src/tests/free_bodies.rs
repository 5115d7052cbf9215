//! Bodies that nothing holds.

use glam::{DVec3, IVec3};
use kintsugi_core::fracture::Cancel;

use super::{STEEL, body, cuboid, end, octree};
use crate::{Load, Settings, Solution, Solver};

const H: f64 = 0.02;

fn solved(loads: impl Fn(&crate::ElasticBody, &dyn Fn(&[Load<'_>]))) -> Solution {
    let body = body(&octree(5, H, cuboid(IVec3::new(2, 13, 14), IVec3::new(30, 17, 18))), STEEL);
    let solver = Solver::free(&body);
    let settings = Settings { tolerance: 1e-8, ..Settings::PRECISE };
    let found = std::cell::RefCell::new(None);
    loads(&body, &|loads| {
        let solution = solver.solve(loads, &settings, None, Cancel::never()).unwrap();
        *found.borrow_mut() = Some(solution.converged().unwrap());
    });
    found.into_inner().unwrap()
}

/// Mean stress along x of the cells with this x.
fn section(solution: &Solution, x: u32) -> f64 {
    let cells = (13..17).flat_map(|y| (14..18).map(move |z| [x, y, z]));
    cells.map(|low| solution.stress()[solution.body().cell_at(low).unwrap()].0[0]).sum::<f64>() / 16.0
}

/// Two equal pulls need no inertia: the stress is uniform.
#[test]
fn a_bar_pulled_at_both_ends_is_strained_evenly() {
    let solution = solved(|body, solve| {
        let (low, high) = (end(body, 0, false), end(body, 0, true));
        solve(&[
            Load::Traction { at: &low, pascals: DVec3::NEG_X * 1e6 },
            Load::Traction { at: &high, pascals: DVec3::X * 1e6 },
        ]);
    });
    for stress in solution.stress() {
        assert!((stress.0[0] - 1e6).abs() < 1.0 && stress.0[1..].iter().all(|s| s.abs() < 1.0), "{stress:?}");
    }
    assert!((solution.tension()[0] - 1e6).abs() < 1.0);
    // It grows by the strain times its length, and its middle stays.
    let [low, high] = [2, 30].map(|x| solution.displacement([x, 15, 16]).unwrap().x);
    let strain = 1e6 / STEEL.youngs_modulus;
    assert!(((high - low) / (strain * 28.0 * H) - 1.0).abs() < 1e-6 && (high + low).abs() < 1e-6 * high);
}

/// A bar that fills its outermost layers in part: what pulls acts at the area of the solid, in the depth where it ends. One
/// force on each face of a cell, however little solid lies behind it, tears the outermost cells.
#[test]
fn a_bar_that_ends_within_cells_is_strained_evenly() {
    let along = |v: i32, low: f32, high: f32| ((v + 1) as f32).min(high) - (v as f32).max(low);
    let fill = |p: IVec3| {
        let shares = [along(p.x, 3.25, 28.5), along(p.y, 13.5, 17.125), along(p.z, 13.0, 17.75)];
        shares.map(|share| share.clamp(0.0, 1.0)).iter().product()
    };
    let body = body(&octree(5, H, fill), STEEL);
    let area: f64 = body.faces().iter().filter(|face| face.axis == 0).map(|face| face.area).sum();
    assert!((area / (2.0 * 3.625 * 4.75 * H * H) - 1.0).abs() < 1e-9, "{area}");
    let middle = body.shape_from_node([16; 3]).x;
    let pulls = |is_high: bool| {
        move |face: &crate::Face| {
            face.axis == 0 && face.is_high == is_high && (face.centre.x > middle) == is_high
        }
    };
    let (low, high) = (pulls(false), pulls(true));
    let loads = [
        Load::Traction { at: &low, pascals: DVec3::NEG_X * 1e6 },
        Load::Traction { at: &high, pascals: DVec3::X * 1e6 },
    ];
    let settings = Settings { tolerance: 1e-8, ..Settings::PRECISE };
    let solution = Solver::free(&body).solve(&loads, &settings, None, Cancel::never()).unwrap();
    for stress in solution.converged().unwrap().stress() {
        assert!((stress.0[0] - 1e6).abs() < 1.0 && stress.0[1..].iter().all(|s| s.abs() < 1.0), "{stress:?}");
    }
}

/// Pulled at one end it accelerates; the tension falls off evenly to the other.
#[test]
fn a_bar_pulled_at_one_end_bears_its_inertia() {
    let solution = solved(|body, solve| {
        let at = end(body, 0, true);
        solve(&[Load::Traction { at: &at, pascals: DVec3::X * 1e6 }]);
    });
    for x in 2..30 {
        let theory = 1e6 * (f64::from(x - 2) + 0.5) / 28.0;
        assert!((section(&solution, x) - theory).abs() < 1e-3 * 1e6, "{x}: {}", section(&solution, x));
    }
}

/// A spinning bar: density w^2 (l^2 - x^2) / 2 at x from the middle, l half its length.
#[test]
fn a_spinning_bar_bears_its_own_pull() {
    let spin = 300.0;
    let solution = solved(|_, solve| solve(&[Load::Spin(DVec3::Z * spin)]));
    for x in 2..30 {
        let (from, half) = ((f64::from(x) + 0.5 - 16.0) * H, 14.0 * H);
        let theory = 0.5 * STEEL.density * spin * spin * (half * half - from * from);
        let most = 0.5 * STEEL.density * spin * spin * half * half;
        // The mean over a cell, whose load sits at its ends.
        assert!(
            (section(&solution, x) - theory).abs() < 5e-3 * most,
            "{x}: {} {theory}",
            section(&solution, x)
        );
    }
}

/// A push beside the centre of mass also turns the bar: inertia loads it unevenly along its length.
#[test]
fn a_blow_beside_the_middle_bends_a_free_bar() {
    let solution = solved(|body, solve| {
        let point = body.shape_from_node([26, 17, 16]);
        solve(&[Load::Blow { point, direction: DVec3::NEG_Y, radius: 2.5 * H, newtons: 1000.0 }]);
    });
    let at = |low| solution.stress()[solution.body().cell_at(low).unwrap()].0[0];
    let mean = |x, y| (at([x, y, 15]) + at([x, y, 16])) / 2.0;
    // Moments about the section at 22.5 of the force and of the inertia beyond, in cells; the bar reaches from 2 to 30. It
    // accelerates by 1 + 12 * 10 (x - 16) / 28^2, as the push lies 10 beside its middle.
    let (slope, beyond) = (120.0 / 784.0, 7.5f64);
    let inertia = (beyond.powi(2) / 2.0 * (1.0 + 6.5 * slope) + slope * beyond.powi(3) / 3.0) / 28.0;
    let moment = 1000.0 * (3.5 - inertia) * H;
    let theory = moment * 1.5 * H / ((4.0 * H).powi(4) / 12.0);
    let found = (mean(22, 16) - mean(22, 13)) / 2.0;
    println!("{found} {theory}");
    assert!((found / theory - 1.0).abs() < 0.05, "{found} {theory}");
}
