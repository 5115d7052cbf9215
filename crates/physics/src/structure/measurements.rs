//! What structures of a thousand parts cost: `cargo test --release -p kintsugi-physics structures_cost -- --ignored --nocapture`.

use std::{sync::Arc, time::Instant};

use glam::{DVec3, UVec3};

use super::{
    tests::{DENSITY, bricks, force, under},
    *,
};
use crate::{
    compute::Compute,
    fracture::{
        BreakContext, Cancel, FractureParams, Impact, Passes, Preset, Strike, break_shape, crack_sections,
    },
    shape::{Look, Octree, Shape},
    svo::{Arena, Grid},
    testing::{block, scattered},
};

/// The low corner of a part, shape space, m.
fn low(part: &crate::fracture::Part, grid: Grid) -> DVec3 {
    let low = part.shape.as_octree().map_or(DVec3::ZERO, |octree| octree.mass.bounds.low);
    grid.origin + low * grid.h
}

/// Parts cracked out of a box of 1 m at level 7; those at the bottom are anchored.
fn cells(count: usize, strength: Strength) -> Structure {
    let forest = Arc::new(block(7, [4; 3], [124; 3]));
    let grid = Grid { level: 7, origin: DVec3::splat(-4.0 / 120.0), h: 1.0 / 120.0 };
    let shape = Arc::new(Shape::octree(Octree::new(&forest, 0, grid), DENSITY, Look::default()));
    let points: Vec<DVec3> =
        scattered([5; 3], [123; 3], count).iter().map(|p| (p.as_dvec3() * 128.0).round() / 128.0).collect();
    let (arena, passes) = (Arena::new(&Compute::Cpu).unwrap(), Passes::default());
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    let params = FractureParams::default();
    let impact = Impact { point: shape.centre(), direction: DVec3::Y };
    let seeds = points.clone().into();
    let strike = Strike { seeds: Some(&seeds), ..Strike::new(impact, &params) };
    let broken = break_shape(&context, &shape, &strike).unwrap().parts;
    let part = |(number, part): (usize, &crate::fracture::Part)| StructurePart {
        number: number as u32,
        shape: Arc::clone(&part.shape),
        node: grid.origin + grid.h * points[part.cell as usize],
        anchored: low(part, grid).y < 0.01,
    };
    let parts = broken.iter().enumerate().map(part).collect();
    Structure::new(&shape, parts, &crack_sections(&broken), strength)
}

struct Times(Vec<f64>);

impl Times {
    fn of(count: usize, mut each: impl FnMut(usize)) -> Self {
        let one = |k: usize| {
            let started = Instant::now();
            each(k);
            started.elapsed().as_secs_f64() * 1e3
        };
        Self((0..count).map(one).collect())
    }

    fn told(mut self) -> String {
        self.0.sort_by(f64::total_cmp);
        let n = self.0.len();
        format!(
            "median {:.3}, mean {:.3}, worst {:.3} ms",
            self.0[n / 2],
            self.0.iter().sum::<f64>() / n as f64,
            self.0[n - 1]
        )
    }
}

#[test]
#[ignore = "measures"]
fn structures_cost() {
    let masonry = StrengthMaterial::Masonry.strength();
    let wall = bricks(UVec3::new(25, 20, 2), DVec3::new(0.1, 0.1, 0.1), masonry, |at| at.y == 0);
    let concrete = StrengthMaterial::Concrete.strength();
    for (name, structure, size) in
        [("wall", wall, DVec3::new(2.5, 2.0, 0.2)), ("cells", cells(1000, concrete), DVec3::ONE)]
    {
        println!("{name}: {} parts, {} bonds", structure.parts.len(), structure.bonds.len());
        let mut memory = Memory::default();
        let first = Times::of(1, |_| drop(structure.respond(&mut memory, &under(&[]))));
        println!("  first {}", first.told());
        let standing = structure.standing();
        let held = stiffness::Held::of(&structure, standing);
        let fresh = Times::of(5, |_| drop(held.factor()));
        let ones = vec![block::Six { linear: DVec3::ONE, angular: DVec3::ONE }; structure.parts.len()];
        let (mut out, mut scratch, factor) = (ones.clone(), Vec::new(), held.factor());
        let apply = Times::of(200, |_| factor.apply(&ones, &mut scratch, &mut out));
        let multiply = Times::of(200, |_| held.product(&ones, &mut out));
        println!("  factor {}; applied {}; product {}", fresh.told(), apply.told(), multiply.told());
        let same = Times::of(200, |_| drop(structure.respond(&mut memory, &under(&[]))));
        println!("  nothing changes: {}", same.told());
        for newtons in [30.0, 3e3] {
            let mut iterations = 0;
            let mut most = 0.0f64;
            let moving = Times::of(200, |k| {
                let x = size.x * (k as f64 + 0.5) / 200.0;
                let loads = [0.0, 0.05].map(|off| {
                    let at = DVec3::new((x + off).min(size.x - 0.01), size.y, size.z / 2.0 + 0.01);
                    force(at, DVec3::NEG_Y * newtons / 2.0)
                });
                let response = structure.respond(&mut memory, &under(&loads));
                iterations += response.iterations;
                assert!(response.failures.is_empty());
                most = response.loads.iter().map(|l| l.share).fold(most, f64::max);
            });
            println!("  {newtons} N move: {}; {iterations} iterations, share {most:.3}", moving.told());
        }
        let mut failing = structure.clone();
        let mut memory = Memory::default();
        let mut iterations = 0;
        let _ = failing.respond(&mut memory, &under(&[]));
        let mut failures = 0;
        let times = Times::of(50, |k| {
            // The bond that bears most and is not on the anchors loses its strength.
            let weak = (k * 37) % failing.bonds.len();
            let weak = (weak..failing.bonds.len()).find(|b| failing.bonds[*b].damage < 1.0).unwrap();
            failing = failing.changed(|bonds| bonds[weak].share = 1e-9);
            memory.doubt();
            let response = failing.respond(&mut memory, &under(&[]));
            iterations += response.iterations;
            failures += response.failures.len();
            if !response.failures.is_empty() {
                failing = failing.after(&response.failures);
            }
        });
        println!("  bonds fail: {}; {failures} failures, {iterations} iterations", times.told());
    }
}

/// What a wall of 13,000 bonds costs on one thread and on all: it is solved in domains.
#[test]
#[ignore = "measures"]
fn a_large_structure_costs() {
    let masonry = StrengthMaterial::Masonry.strength();
    let wall = bricks(UVec3::new(60, 44, 2), DVec3::new(0.1, 0.1, 0.1), masonry, |at| at.y == 0);
    for threads in [1, 0] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut iterations = 0;
            let first = Times::of(5, |_| {
                let fresh = wall.changed(|_| ());
                iterations = fresh.respond(&mut Memory::default(), &under(&[])).iterations;
            });
            let held = stiffness::Held::of(&wall, wall.standing());
            let ones = vec![block::Six { linear: DVec3::ONE, angular: DVec3::ONE }; wall.parts.len()];
            let (mut out, mut scratch, factor) = (ones.clone(), Vec::new(), held.factor());
            let apply = Times::of(200, |_| factor.apply(&ones, &mut scratch, &mut out));
            let (ends, mut on_springs) = (stiffness::Ends::new(&held), Vec::new());
            let multiply = Times::of(200, |_| held.product_at_once(&ends, &mut on_springs, &ones, &mut out));
            println!("{} threads, {iterations} iterations: {}", rayon::current_num_threads(), first.told());
            println!("  factor applied {}; product {}", apply.told(), multiply.told());
        });
    }
}

/// What the outermost bonds of a cantilever bear that was cracked into cells anywhere, against M c / I at their centres, by
/// how far their normals lie off its axis.
#[test]
#[ignore = "measures"]
fn cells_bend() {
    let (long, high) = (124u32, 12u32);
    let h = 1.0 / f64::from(long);
    let forest = Arc::new(block(7, [2; 3], [2 + long, 2 + high, 2 + high]));
    let grid = Grid { level: 7, origin: DVec3::splat(-2.0 * h), h };
    let shape = Arc::new(Shape::octree(Octree::new(&forest, 0, grid), DENSITY, Look::default()));
    let height = f64::from(high) * h;
    let theory = |x: f64| DENSITY * 9.81 * (1.0 - x).powi(2) * 3.0 / height;
    let (arena, passes) = (Arena::new(&Compute::Cpu).unwrap(), Passes::default());
    let context = BreakContext { arena: &arena, passes: &passes, cancel: Cancel::never() };
    for rng in 1..=8 {
        let params = FractureParams { preset: Preset::Uniform, seeds: 120, rng, ..FractureParams::default() };
        let strike = Strike::new(Impact { point: shape.centre(), direction: DVec3::Y }, &params);
        let broken = break_shape(&context, &shape, &strike).unwrap();
        let pattern = broken.pattern.as_ref().unwrap();
        let seeds = pattern.seeds_in_voxels(7);
        let part = |(number, part): (usize, &crate::fracture::Part)| {
            let is_alone = pattern.objects.iter().filter(|object| **object == part.cell).count() == 1;
            let seed = grid.origin + h * DVec3::from_array(seeds[part.cell as usize]);
            StructurePart {
                number: number as u32,
                shape: Arc::clone(&part.shape),
                node: if is_alone { seed } else { part.shape.mass().centre },
                anchored: low(part, grid).x < 0.015,
            }
        };
        let parts = broken.parts.iter().enumerate().map(part).collect();
        let strength = Strength { tension: 1e9, compression: 1e12, shear: 1e15, ..Strength::default() };
        let structure = Structure::new(&shape, parts, &crack_sections(&broken.parts), strength);
        let response = structure.respond(&mut Memory::default(), &under(&[]));
        let mut all: Vec<(f64, usize)> =
            response.loads.iter().enumerate().map(|(bond, load)| (load.share * 1e9, bond)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let told = all.iter().take(3).map(|(stress, bond)| {
            let section = &structure.bonds[*bond].section;
            let (x, off) = (section.centre.x, section.normal.x.powi(2));
            format!("{:.3} at {x:.3} m, n_x^2 {off:.3}", stress / theory(x))
        });
        println!("{rng}: {} parts; {}", structure.parts.len(), told.collect::<Vec<_>>().join("; "));
        let mut sums = [(0.0, 0.0); 5];
        for (load, bond) in response.loads.iter().zip(&structure.bonds) {
            let (section, off) = (&bond.section, bond.section.normal.x.powi(2));
            let reach = (3.0 * section.moments.y_axis.y / section.area).sqrt();
            let outermost = ((section.centre.y + reach) / height).min(1.0) * 2.0 - 1.0;
            if section.area > 2e-4 && outermost > 0.8 && (0.15..0.7).contains(&section.centre.x) {
                let sum = &mut sums[(off * 4.999) as usize];
                *sum = (sum.0 + load.share * 1e9 / (theory(section.centre.x) * outermost), sum.1 + 1.0);
            }
        }
        println!("   mean share by n_x^2, 0 to 1: {:.3?}", sums.map(|(sum, count)| sum / count));
    }
}
