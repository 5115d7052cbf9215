//! Times and iterations: `cargo test --release -p kintsugi-elastic measure -- --ignored --nocapture`.

use glam::{DVec3, IVec3};
use kintsugi_core::{
    fracture::{Cancel, CrackSection},
    mesh,
    shape::Octree,
    voxelize,
};
use std::{sync::Arc, time::Instant};

use super::{
    STEEL,
    closed_forms::{ball, in_ball, lame},
    cuboid, octree,
};
use crate::{ElasticBody, FractureModes, Load, ModeBond, Settings, Solver};

fn built_in(name: &str, level: u32) -> Octree {
    let voxels = voxelize::voxelize(&mesh::builtin(name).unwrap(), level, &Default::default()).unwrap();
    Octree::new(&Arc::new(voxels.forest), 0, voxels.grid)
}

/// What all threads have computed so far, ms; Linux only.
fn computed_ms() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |task: std::fs::DirEntry| {
        let told = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0)
    };
    tasks.map(of).sum::<f64>() / 1e6
}

fn measured(name: &str, octree: &Octree, is_free: bool) {
    let begun = Instant::now();
    let body = Arc::new(ElasticBody::new(octree, octree.level(), STEEL).unwrap());
    let made = begun.elapsed();
    let begun = Instant::now();
    let h = body.cell_size();
    let low = body.faces().iter().map(|face| face.centre.y).fold(f64::MAX, f64::min);
    let solver = if is_free {
        Solver::free(&body)
    } else {
        Solver::held(&body, |p| [p.y < low + 1.5 * h; 3]).unwrap()
    };
    let held = begun.elapsed();
    // A pointer that moves over the surface: down along one side.
    let side =
        body.faces().iter().filter(|face| face.axis == 0 && face.is_high && face.centre.y > low + 4.0 * h);
    let mut path: Vec<DVec3> = side.map(|face| face.centre).collect();
    path.sort_by(|a, b| b.y.total_cmp(&a.y));
    let blow = |point: DVec3| [Load::Blow { point, direction: DVec3::NEG_X, radius: 3.0 * h, newtons: 1.0 }];
    // The least of a few runs: other programs may be running.
    let (runs, steps) = if body.len() < 100_000 { (7, 10) } else { (1, 3) };
    let solve = |point, settings: &Settings, start: Option<&crate::Solution>| {
        let mut least = f64::MAX;
        let mut last = None;
        for _ in 0..runs {
            let begun = Instant::now();
            let found = solver.solve(&blow(point), settings, start, Cancel::never()).unwrap();
            std::hint::black_box(found.tension());
            least = least.min(begun.elapsed().as_secs_f64() * 1e3);
            last = Some(found);
        }
        (last.unwrap(), least)
    };
    let middle = path[path.len() / 2];
    let (cold, cold_ms) = solve(middle, &Settings::DISPLAY, None);
    let (precise, precise_ms) = solve(middle, &Settings::PRECISE, None);
    let most = |s: &crate::Solution| s.tension().iter().fold(0.0f32, |most, t| most.max(*t));
    let off = cold
        .stress()
        .iter()
        .zip(precise.stress())
        .map(|(a, b)| (a.tension() - b.tension()).abs())
        .fold(0.0, f64::max)
        / f64::from(most(&precise));
    let (mut last, mut times, mut iterations) = (cold.clone(), Vec::new(), 0);
    let before = computed_ms();
    for k in 0..steps {
        let point = path[path.len() / 2 + (k * path.len() / 40)];
        let (found, ms) = solve(point, &Settings::DISPLAY, Some(&last));
        times.push(ms);
        iterations += found.convergence.iterations;
        last = found;
    }
    let computed = (computed_ms() - before) / (steps * runs) as f64;
    times.sort_by(f64::total_cmp);
    println!(
        "| {name} | {} | {} | {} | {:.0} | {:.0} | {cold_ms:.0} ms, {} | {precise_ms:.0} ms, {} | {:.0} / {:.0} ms, {:.1} | {computed:.0} | {:.3} |",
        octree.level(),
        if is_free { "free" } else { "held" },
        body.len(),
        made.as_secs_f64() * 1e3,
        held.as_secs_f64() * 1e3,
        cold.convergence.iterations,
        precise.convergence.iterations,
        times[steps / 2],
        times[steps - 1],
        f64::from(iterations) / steps as f64,
        off,
    );
}

fn measured_at(level: u32) {
    println!(
        "| body | level | | cells | body, ms | solver, ms | 1e-2 | 1e-6 | moving, median / worst | computing, ms | off |"
    );
    let side = 1 << level;
    let full = octree(level, 1.0 / f64::from(side), cuboid(IVec3::ONE, IVec3::splat(side - 1)));
    measured("box", &full, false);
    measured("box", &full, true);
    for name in ["shell", "vase", "statue", "shelf"] {
        let built = built_in(name, level);
        measured(name, &built, false);
        measured(name, &built, true);
    }
}

/// How stress near the walls of a ball under inner pressure scatters round the theory's, by the distance to the wall: of all
/// cells, and of those that are at least half full.
#[test]
#[ignore = "a measurement"]
fn measure_surface() {
    for level in [5, 6] {
        let side = f64::from(1u32 << level);
        let (a, b) = (0.1875 * side, 0.453 * side);
        let octree = octree(level, 1.0 / side, ball(level, a, b));
        let body = Arc::new(ElasticBody::new(&octree, level, STEEL).unwrap());
        let middle = body.shape_from_node([1 << (level - 1); 3]);
        let at = |face: &crate::Face| (face.centre - middle).length() < 0.5 * (a + b) / side;
        let load = Load::Pressure { at: &at, pascals: 1.0 };
        let solver = Solver::free(&body);
        let found = solver.solve(&[load], &Settings::PRECISE, None, Cancel::never()).unwrap();
        let share = a.powi(3) / (b.powi(3) - a.powi(3));
        for (wall, least) in [("outer", 0.0), ("outer", 0.5), ("inner", 0.0), ("inner", 0.5)] {
            for depth in 0..4 {
                let (mut sum, mut worst, mut count) = ([0.0; 2], [0.0f64; 2], 0.0);
                for cell in 0..body.len() {
                    let (stress, r) = in_ball(&found, cell, middle);
                    let deep = if wall == "outer" { b - r } else { r - a };
                    let is_first = depth == 0 && deep < 0.0;
                    let there = is_first || (f64::from(depth)..f64::from(depth + 1)).contains(&deep);
                    if there && f64::from(body.cell(cell).unwrap().fill) >= least {
                        let theory = lame(r, b).map(|of_share| share * of_share);
                        for i in 0..2 {
                            let off = (stress[i] - theory[i]) / theory[0];
                            (sum[i], worst[i]) = (sum[i] + off * off, worst[i].max(off.abs()));
                        }
                        count += 1.0;
                    }
                }
                let of = |i: usize| format!("{:.3}, worst {:.3}", (sum[i] / count).sqrt(), worst[i]);
                println!(
                    "level {level}, {wall} wall, fill from {least}, {depth} deep: hoop {}; radial {}",
                    of(0),
                    of(1)
                );
            }
        }
    }
}

/// Parts of an iteration, the least of some runs, us.
#[test]
#[ignore = "a measurement"]
fn measure_stages() {
    use crate::{field::zeros, multigrid, product::Matrices};
    let full = octree(5, 1.0, cuboid(IVec3::ONE, IVec3::splat(31)));
    for (name, octree) in [("box", full), ("shell", built_in("shell", 5)), ("vase", built_in("vase", 5))] {
        let body = Arc::new(ElasticBody::new(&octree, 5, STEEL).unwrap());
        let lattice = &body.lattices[0];
        let levels = multigrid::Multigrid::new(&body, lattice.active.clone());
        let mut vectors = levels.vectors(&body);
        let matrices = Matrices::<f64>::new(&body.stiffness, 1.0);
        let (u, mut to) = (zeros::<f64>(lattice.chunks()), zeros(lattice.chunks()));
        let least = |run: &mut dyn FnMut()| {
            let times = (0..60).map(|_| {
                let begun = Instant::now();
                run();
                begun.elapsed().as_secs_f64() * 1e6
            });
            times.fold(f64::MAX, f64::min)
        };
        let exact = least(&mut || multigrid::exact_product(lattice, &matrices, levels.free(), &u, &mut to));
        let cycle = least(&mut || levels.cycle(&body, &mut vectors, Cancel::never()).unwrap());
        let full = lattice.full.iter().filter(|full| **full).count();
        let dot = least(&mut || assert!(crate::field::dot(&u, &to) == 0.0));
        println!(
            "{name}: {} cells, {} chunks, {full} full, {} nodes",
            body.len(),
            lattice.chunks(),
            lattice.nodes()
        );
        println!("    product in doubles {exact:.0}, cycle {cycle:.0}, scalar product {dot:.0}");
    }
}

#[test]
#[ignore = "a measurement"]
fn measure_level_4() {
    measured_at(4);
}

#[test]
#[ignore = "a measurement"]
fn measure_level_5() {
    measured_at(5);
}

#[test]
#[ignore = "a measurement"]
fn measure_level_6() {
    measured_at(6);
}

#[test]
#[ignore = "a measurement"]
fn measure_level_7() {
    measured_at(7);
}

/// Times of six fracture modes by number of parts.
#[test]
#[ignore = "a measurement"]
fn measure_fracture_modes() {
    let body = ElasticBody::new(&built_in("vase", 6), 5, STEEL).unwrap();
    for count in [16, 32, 64, 128] {
        let begun = Instant::now();
        let parts = body.parts(count).unwrap();
        let divided = begun.elapsed();
        let bond = |section: &CrackSection| ModeBond { section: *section, strength: 1e6 };
        let bonds: Vec<ModeBond> = parts.sections.iter().map(bond).collect();
        let begun = Instant::now();
        let modes = FractureModes::new(&parts.parts, &bonds, 6, Cancel::never()).unwrap();
        let energies: Vec<f64> = modes.modes.iter().map(|mode| mode.energy).collect();
        println!(
            "{count} parts, {} bonds: {divided:.1?}, {:.1?}; {energies:.0?} N",
            bonds.len(),
            begun.elapsed()
        );
    }
}
