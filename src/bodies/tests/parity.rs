//! The compute passes against the plain narrow phase.

use super::*;
use crate::{
    bodies::{
        collide::{GpuNarrow, Hit, Pair, find_hits},
        surfels::Shapes,
    },
    gpu::Gpu,
    svo::Arena,
};

/// Share of hits that only one of two lists has.
fn difference(a: &[Hit], b: &[Hit]) -> f64 {
    let alone = |x: &[Hit], y: &[Hit]| x.iter().filter(|h| y.binary_search(h).is_err()).count();
    (alone(a, b) + alone(b, a)) as f64 / (a.len() + b.len()).max(1) as f64
}

/// Rounding may turn a hit at a threshold; more than this is an error.
const TOLERANCE: f64 = 0.002;

#[test]
fn the_gpu_finds_the_hits_of_the_reference() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut arena = Arena::new(&gpu).expect("an arena");
    let mut narrow = GpuNarrow::new(&gpu).expect("kernels");
    // Two forests, so that neither begins at node 0; the second has another size and level.
    for (level, physics_level, parts, seconds) in
        [(5, 5, 2, 0.0), (6, 4, 3, 0.4), (6, 6, 3, 0.7), (5, 3, 3, 0.2)]
    {
        let mut w = pile(level, physics_level, parts);
        let ball = Arc::new(ball(5, Vec3::splat(16.0), 12.0));
        let mut def = body(&ball, 0, grid(5, 0.5), 4, DVec3::new(0.1, 0.7, 0.0));
        def.state.linear_velocity.x = -6.0;
        w.add(def);
        for b in &w.bodies {
            arena.insert(&gpu, &b.def.octree().forest).expect("room");
        }
        steps(&mut w, seconds);
        let mut shapes = Shapes::default();
        let mut pairs = Vec::new();
        for i in 0..w.bodies.len() {
            for j in i + 1..w.bodies.len() {
                pairs.push(Pair::new(&w.bodies, i, j, 0.01));
            }
        }
        narrow.prepare(&gpu, &pairs, &w.bodies, &mut shapes).expect("surfels");
        let directed: Vec<_> =
            pairs.iter().flat_map(|p| p.directed(&w.bodies, &arena, &mut shapes, 0.01)).collect();
        let firsts: Vec<_> = pairs.iter().flat_map(|p| p.firsts(&w.bodies)).collect();
        let want = find_hits(&pairs, &w.bodies, &mut shapes, 0.01, None);
        let (got, _) = narrow.find_hits(&gpu, &arena, &directed, &firsts).expect("hits");
        let off = difference(&want, &got);
        println!(
            "level {level}/{physics_level}: {} hits, {} by the GPU, {off:.6} differ",
            want.len(),
            got.len()
        );
        assert!(want.len() > 50 && off < TOLERANCE);
        // A planted error must not pass.
        let mut wrong = got.clone();
        wrong.iter_mut().step_by(100).for_each(|h| h.b ^= 1);
        wrong.sort_unstable();
        assert!(difference(&want, &wrong) > TOLERANCE);
        drop((w, shapes));
        arena.collect();
    }
    let (none, _) = narrow.find_hits(&gpu, &arena, &[], &[]).expect("nothing");
    assert!(none.is_empty());
}

#[test]
fn a_gpu_world_moves_as_a_cpu_world_and_twice_the_same() {
    let Some(gpu) = Gpu::for_test() else { return };
    let run = || {
        let mut w = pile(5, 5, 3);
        let mut arena = Arena::new(&gpu).expect("an arena");
        arena.insert(&gpu, &w.bodies[0].def.octree().forest).expect("room");
        w.narrow = Some(GpuNarrow::new(&gpu).expect("kernels"));
        w.settings.narrow = Narrow::Gpu;
        for _ in 0..60 {
            w.step(&gpu, &arena).expect("a step");
        }
        w
    };
    let (a, b) = (run(), run());
    let mut c = pile(5, 5, 3);
    steps(&mut c, 0.6);
    let apart = (0..27).map(|i| (a.bodies[i].state.position - c.bodies[i].state.position).length());
    let apart = apart.fold(0.0, f64::max);
    println!("GPU {:016x} {:016x}, CPU apart by {apart:.2e} m", digest(&a), digest(&b));
    assert_eq!(digest(&a), digest(&b));
    assert!(apart < 0.02);
}
