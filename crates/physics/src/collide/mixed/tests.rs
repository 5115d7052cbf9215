//! Which bodies are plain, and where octrees have to look.

use super::*;
use crate::shape::{Look, Shape};
use crate::{
    BodyDef, Family, Narrow, PairLevels, StepReport, World, WorldSettings,
    broad_phase::bounds,
    collide::Generators,
    context::StageClock,
    gpu::shaders::planting::with_error,
    svo::Arena,
    testing::{ball, block, body, carved, cuboid, grid, scattered, shattered_block, steps, world},
};
use glam::{DQuat, DVec3, EulerRot, Vec3};

#[test]
fn what_is_flat_and_whole_is_plain_and_nothing_else() {
    let mut w = world(WorldSettings::default());
    let seeds: Vec<Vec3> = scattered([8; 3], [56; 3], 12).into_iter().collect();
    let pieces = Arc::new(shattered_block(6, [8; 3], [56; 3], &seeds));
    for tree in 0..12 {
        w.add(body(&pieces, tree, grid(6, 1.0), 5, DVec3::ZERO));
    }
    for (forest, level) in [
        (ball(6, Vec3::splat(32.0), 28.0), 6),
        (block(4, [7; 3], [9; 3]), 4),
        (block(5, [4; 3], [20, 12, 28]), 5),
        (carved(5, [[4; 3], [28; 3]], [[12, 14, 4], [20, 28, 28]]), 5),
    ] {
        w.add(body(&Arc::new(forest), 0, grid(level, 1.0), level - 1, DVec3::X * 5.0));
    }
    let mut generator = MixedGenerator::new(None).expect("no passes");
    let fits = generator.hulls.narrow.fit(&w.bodies, 0..w.bodies.len());
    // A sliver's edges are cut off by its voxels.
    let is_plain = |fit: &Option<HullFit>| *fit == Some(HullFit::Tight);
    let pieces = fits[..12].iter().filter(|fit| is_plain(fit)).count();
    assert!(pieces >= 10, "{pieces} of 12 pieces of a block between planes");
    let first = fits[..12].iter().position(is_plain).expect("some are");
    // A ball, a crumb, a block, a channel.
    assert_eq!(fits[12..], [None, None, Some(HullFit::Tight), Some(HullFit::Enclosing)]);
    // Who was not asked for is not known.
    let fits = generator.hulls.narrow.fit(&w.bodies, [first, 14].into_iter());
    assert_eq!(fits.iter().flatten().count(), 2);
    assert_eq!((fits[first], fits[14]), (Some(HullFit::Tight), Some(HullFit::Tight)));

    let mut levels = PairLevels::default();
    let detail = LevelOfDetail { pairs: &levels, far: None };
    let pair = NearPair { bodies: [first, 14], way: 0.0, resolution_m: f64::MAX };
    assert!(by_hulls(&pair, &w.bodies, &fits, detail));
    let [a, b] = pair.bodies.map(|k| w.bodies[k].def.family);
    levels.set(a, b, 3);
    assert!(
        !by_hulls(&pair, &w.bodies, &fits, LevelOfDetail { pairs: &levels, far: None }),
        "it has a level"
    );
    generator.removed(w.bodies[0].id, &[]);
    assert!(generator.hulls.narrow.fits_known() == 0);
}

/// Who looked at the only pair of a world: whether it was left to octrees, and how many points touch.
fn looked(generator: &mut MixedGenerator, w: &mut World) -> (bool, usize) {
    let none = PairLevels::default();
    let detail = LevelOfDetail { pairs: &none, far: None };
    let mut pairs = [NearPair { bodies: [0, 1], way: 0.0, resolution_m: f64::MAX }];
    generator.begin(&w.bodies, &mut pairs, detail);
    let reach = generator.reach(&w.bodies, detail);
    let boxes: Vec<_> =
        w.bodies.iter().zip(reach).map(|(b, reach)| bounds(b, reach, 0.01, DVec3::ZERO)).collect();
    let old = std::mem::take(&mut w.manifolds);
    let query = ContactQuery {
        bodies: &w.bodies,
        pairs: &pairs,
        at_planes: &[],
        planes: &[],
        old: &old,
        boxes: &boxes,
        dt: 0.01,
    };
    let (mut report, mut clock) = (StepReport::default(), StageClock::new());
    let mut cx = StepContext {
        gpu: None,
        settings: &w.settings,
        detail,
        report: &mut report,
        clock: &mut clock,
        substeps: None,
    };
    let found = generator.find(&mut cx, &query).expect("on the CPU nothing fails");
    w.manifolds = found.with_old(old, &w.bodies);
    let cell = w.bodies[1].def.resolution_m();
    let touch = w.manifolds.iter().flat_map(|m| &m.points).filter(|p| p.separation < 0.1 * cell);
    (generator.hulls.left == [[0, 1]], touch.count())
}

/// A channel, open at the top, and a small block in its grid. Seen to fail where every place counts as surface.
#[test]
fn what_lies_in_a_channel_is_left_to_octrees() {
    let channel = |floor: u32| Arc::new(carved(5, [[4; 3], [28; 3]], [[12, floor, 4], [20, 28, 28]]));
    let small = |low: [u32; 3]| Arc::new(block(5, low, low.map(|v| v + 4)));
    let cases = [
        ("beside a wall", 14, [28, 18, 14], false, true),
        ("on top of a wall", 14, [22, 28, 14], false, true),
        ("over the channel, level with its top", 14, [14, 28, 14], true, false),
        ("on the channel's floor", 14, [14, 14, 14], true, true),
        // Its hull is nearest to the other's out through the floor, where both have surface.
        ("on a thin floor", 6, [14, 6, 14], true, true),
        ("in the channel, in the air", 14, [14, 20, 14], true, false),
    ];
    for (what, floor, low, is_left, touches) in cases {
        let mut w = world(WorldSettings::default());
        w.add(body(&channel(floor), 0, grid(5, 1.0), 5, DVec3::ZERO));
        w.add(body(&small(low), 0, grid(5, 1.0), 5, DVec3::ZERO));
        let mut generator = MixedGenerator::new(None).expect("no passes");
        let (left, points) = looked(&mut generator, &mut w);
        println!("{what}: left {left}, {points} points");
        assert_eq!((left, points > 0), (is_left, touches), "{what}");
        // It is not asked again before it has moved, and then again.
        assert_eq!(looked(&mut generator, &mut w).0, is_left, "{what}, again");
        w.bodies[1].state.position += DVec3::X * 3.0;
        assert_eq!(looked(&mut generator, &mut w), (false, 0), "{what}, far away");
        w.bodies[1].state.position -= DVec3::X * 3.0;
        assert_eq!(looked(&mut generator, &mut w), (left, points), "{what}, back");
    }
}

/// A cuboid as a mesh without voxels, its low corner at `low` in shape space, lying there.
fn mesh_block(low: DVec3, edges: DVec3) -> BodyDef {
    let convex = cuboid(low, edges);
    let solid = convex.shape.drawn_surface().expect("a convex body has a surface").clone();
    BodyDef { shape: Arc::new(Shape::solid(solid, 1000.0, Look::default())), ..convex }
}

/// Meshes have no voxels of the same faces: only hulls know that these two blocks touch.
#[test]
fn convex_meshes_meet_by_their_own_hulls() {
    for (gap, touches) in [(0.0, true), (-1e-4, true), (0.1, false)] {
        let mut w = world(WorldSettings::default());
        w.add(mesh_block(DVec3::ZERO, DVec3::new(1.0, 0.3, 0.7)));
        w.add(mesh_block(DVec3::new(0.2, 0.3 + gap, 0.1), DVec3::splat(0.31)));
        let mut generator = MixedGenerator::new(None).expect("no passes");
        let (left, points) = looked(&mut generator, &mut w);
        assert_eq!((left, points), (false, if touches { 4 } else { 0 }), "{gap}");
        for point in w.manifolds.iter().flat_map(|manifold| &manifold.points) {
            assert!((point.separation - gap).abs() < 1e-6, "{gap}: {}", point.separation);
        }
    }
}

/// A ball that falls into a channel, which octrees look at, and a block across the channel, which hulls do.
fn channelled() -> World {
    let mut w = world(WorldSettings { sleeping: false, ..WorldSettings::default() });
    let channel = carved(5, [[4; 3], [28; 3]], [[12, 14, 4], [20, 28, 28]]);
    let turn = DQuat::from_euler(EulerRot::XYZ, 0.2, 0.3, 0.1);
    for (forest, lift, rotation, fixed) in [
        (channel, DVec3::ZERO, DQuat::IDENTITY, true),
        (ball(5, Vec3::splat(16.0), 3.3), DVec3::new(0.01, 0.15, 0.02), turn, false),
        (block(5, [8; 3], [24; 3]), DVec3::new(0.05, 0.85, 0.1), turn, false),
    ] {
        let def = body(&Arc::new(forest), 0, grid(5, 1.0), 5, lift);
        let mut def = BodyDef { family: Family::unique(), fixed, ..def };
        def.state.rotation = rotation;
        w.add(def);
    }
    w
}

#[test]
fn a_device_moves_bodies_as_the_cores_do() {
    let Some(gpu) = Gpu::for_test() else { return };
    let by_passes = || {
        let mut w = channelled();
        let mut arena = Arena::new(&gpu).expect("an arena");
        for b in &w.bodies {
            arena.insert(&b.def.octree().forest).expect("room");
        }
        w.generators = Generators::new(w.settings.contacts, Some(&gpu)).expect("kernels");
        w.settings.narrow = Narrow::Gpu;
        (0..60).for_each(|_| _ = w.step(Some((&gpu, &arena))).expect("a step"));
        w
    };
    let (start, mut on_cores) = (channelled(), channelled());
    steps(&mut on_cores, 0.6);
    let apart =
        |a: &World, b: &World, k: usize| a.bodies[k].state.position.distance(b.bodies[k].state.position);
    let by_both = by_passes();
    let (moved, off) =
        ([1, 2].map(|k| apart(&start, &on_cores, k)), [1, 2].map(|k| apart(&by_both, &on_cores, k)));
    // Passes look at what hulls leave: an error in them shows.
    let gap = "dot(q - centre, normal)";
    let spoiled =
        with_error("bodies/collide/octree/passes/points", (gap, "dot(q - centre, normal) + 0.6"), by_passes);
    let wrong = [1, 2].map(|k| apart(&spoiled, &on_cores, k));
    println!("{moved:.3?} m moved; {off:.7?} m apart, with an error {wrong:.7?} m");
    assert!(moved.iter().all(|way| *way > 0.05) && off.iter().all(|off| *off < 0.0003));
    assert!(wrong.iter().any(|wrong| *wrong > 0.0003));
}
