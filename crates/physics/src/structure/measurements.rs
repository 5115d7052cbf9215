//! What structures of a thousand parts cost: `cargo test --release -p kintsugi-physics structures_cost -- --ignored --nocapture`.

use std::{sync::Arc, time::Instant};

use glam::{DVec3, UVec3};

use super::{
    tests::{DENSITY, bricks, force, under},
    *,
};
use crate::{
    compute::Compute,
    fracture::{BreakContext, Cancel, FractureParams, Impact, Passes, Strike, break_shape, crack_sections},
    shape::{Look, Octree, Shape},
    svo::{Arena, Grid},
    testing::{block, scattered},
};

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
    let strike = Strike { points: Some(&points), ..Strike::new(impact, &params) };
    let broken = break_shape(&context, &shape, &strike).unwrap().parts;
    let part = |(number, part): (usize, &crate::fracture::Part)| StructurePart {
        number: number as u32,
        shape: Arc::clone(&part.shape),
        node: grid.origin + grid.h * points[part.cell as usize],
        anchored: part.shape.bounds().low.y < 0.01,
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
        format!("median {:.3}, mean {:.3}, worst {:.3} ms", self.0[n / 2], self.0.iter().sum::<f64>() / n as f64, self.0[n - 1])
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
