//! The compute passes against the CPU, with errors planted in the shaders.

use super::{CollisionPoint, Column, Overlap, gpu::OverlapPasses, of_bodies};
use crate::{
    bodies::{
        Narrow, World, WorldSettings, all_pair_data,
        octrees::{OctreePair, SurfelBuffer, SurfelCache},
        testing::{ball, block, body, grid, scattered, shattered_block, world},
    },
    gpu::{Gpu, Kernel, shaders},
    svo::Arena,
};
use glam::{DQuat, DVec3, Vec3};
use std::sync::Arc;

struct Stage {
    gpu: Gpu,
    arena: Arena,
}

impl Stage {
    fn new() -> Option<Self> {
        let gpu = Gpu::for_test()?;
        let arena = Arena::new(&gpu).expect("an arena");
        Some(Self { gpu, arena })
    }

    /// Puts the forests of all bodies in the arena.
    fn insert(&mut self, w: &World) {
        for b in &w.bodies {
            self.arena.insert(&b.def.octree().forest).expect("room");
        }
    }

    fn find(&self, passes: &mut OverlapPasses, w: &mut World, pairs: &[OctreePair]) -> Vec<Overlap> {
        let mut cache = SurfelCache::default();
        let mut surfels = SurfelBuffer::new(&self.gpu).expect("room");
        let found = passes.find(&self.gpu, &self.arena, &mut surfels, (pairs, &w.bodies, &mut cache));
        found.expect("overlaps").0
    }
}

fn reference(w: &World, pairs: &[OctreePair]) -> Vec<Overlap> {
    let mut cache = SurfelCache::default();
    let of = |pair: &OctreePair, cache: &mut SurfelCache| {
        let both = pair.bodies.map(|k| &w.bodies[k]);
        let surfels = [0, 1].map(|s| cache.get(&both[s].def.octree().forest, pair.levels[s]).surfels.clone());
        of_bodies(both, pair.levels, surfels.each_ref().map(|s| &**s))
    };
    pairs.iter().map(|pair| of(pair, &mut cache)).collect()
}

/// Bodies of several sizes, levels and turns, all in each other's way; with pieces of one block and a thin
/// plate.
fn crowd(turn: f64) -> World {
    let mut w = world(WorldSettings::default());
    let (low, high) = ([6; 3], [26; 3]);
    let pieces = Arc::new(shattered_block(5, low, high, &scattered(low, high, 6)));
    let cube = Arc::new(block(5, [8; 3], [24; 3]));
    let round = Arc::new(ball(6, Vec3::splat(32.0), 21.3));
    let plate = Arc::new(block(6, [4, 30, 4], [60, 33, 60]));
    for tree in 0..pieces.trees() as u32 {
        w.add(body(&pieces, tree, grid(5, 1.0), 5, DVec3::ZERO));
    }
    w.add(body(&cube, 0, grid(5, 0.83), 5, DVec3::new(0.31, 0.27, 0.13)));
    w.add(body(&cube, 0, grid(5, 0.61), 4, DVec3::new(-0.22, 0.41, -0.17)));
    w.add(body(&round, 0, grid(6, 0.91), 5, DVec3::new(0.12, 0.38, -0.21)));
    w.add(body(&plate, 0, grid(6, 1.07), 4, DVec3::new(-0.03, 0.07, 0.02)));
    w.add(body(&plate, 0, grid(6, 0.77), 6, DVec3::new(0.05, 0.21, -0.04)));
    for (k, b) in w.bodies.iter_mut().enumerate() {
        let k = k as f64;
        let way = DVec3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k).sin()) * turn;
        b.state.rotation = DQuat::from_scaled_axis(way);
    }
    w
}

fn all_pairs(w: &World) -> Vec<OctreePair> {
    let n = w.bodies.len();
    let both = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
    both.map(|[i, j]| OctreePair::new(&w.bodies, i, j, 0.01)).collect()
}

/// How far two answers are apart: the share of collision points that only one has, and of volume, gradient
/// and columns.
fn apart(want: &[Overlap], got: &[Overlap]) -> f64 {
    assert_eq!(want.len(), got.len());
    let (mut odd, mut points) = (0usize, 0usize);
    let (mut off, mut volume) = (0.0f64, 0.0f64);
    let (mut turned, mut area) = (0.0f64, 0.0f64);
    let (mut lone, mut columns) = (0usize, 0usize);
    for (w, g) in want.iter().zip(got) {
        assert_eq!((w.first, w.second, w.levels), (g.first, g.second, g.levels));
        let near = |p: &CollisionPoint, list: &[CollisionPoint]| {
            list.iter().any(|q| {
                q.owner == p.owner
                    && (q.position - p.position).length() < 0.02 * w.cell
                    && q.normal.dot(p.normal) > 0.999
            })
        };
        odd += w.points.iter().filter(|p| !near(p, &g.points)).count();
        odd += g.points.iter().filter(|p| !near(p, &w.points)).count();
        points += w.points.len() + g.points.len();
        off += (0..3).map(|k| (w.volumes[k] - g.volumes[k]).abs()).sum::<f64>() / 3.0
            + (w.volume - g.volume).abs();
        volume += w.volume;
        turned += (w.gradient - g.gradient).length();
        area += w.gradient.length();
        let alike = |c: &Column, list: &[Column]| {
            list.iter().any(|d| {
                (c.axis, c.owners) == (d.axis, d.owners)
                    && (c.middle - d.middle).length() + (c.length - d.length).abs() < 0.05 * w.cell
                    && c.normal.dot(d.normal) > 0.999
            })
        };
        lone += w.columns.iter().filter(|c| !alike(c, &g.columns)).count();
        lone += g.columns.iter().filter(|c| !alike(c, &w.columns)).count();
        columns += w.columns.len() + g.columns.len();
    }
    assert!(points > 2000 && columns > 1000 && volume > 0.01 && area > 0.0);
    let shares = [odd as f64 / points as f64, off / volume, turned / area, lone as f64 / columns as f64];
    println!("{points} points, {columns} columns: apart by {shares:.5?}");
    shares.into_iter().fold(0.0, f64::max)
}

/// Dispatches every kernel of this folder.
pub(crate) fn run_every_kernel() {
    let Some(mut stage) = Stage::new() else { return };
    let mut w = crowd(0.3);
    stage.insert(&w);
    let pairs = all_pairs(&w);
    let mut passes = OverlapPasses::new(&stage.gpu).expect("kernels");
    stage.find(&mut passes, &mut w, &pairs);
}

/// Rounding may turn a cell or a column over at its edge; more than this is an error.
const TOLERANCE: f64 = 0.0005;

#[test]
fn the_gpu_finds_what_pairs_share() {
    let Some(mut stage) = Stage::new() else { return };
    let mut passes = OverlapPasses::new(&stage.gpu).expect("kernels");
    for turn in [0.1, 0.3, 1.1] {
        let mut w = crowd(turn);
        stage.insert(&w);
        let pairs = all_pairs(&w);
        let want = reference(&w, &pairs);
        let got = stage.find(&mut passes, &mut w, &pairs);
        assert!(apart(&want, &got) < TOLERANCE);
        let again = stage.find(&mut passes, &mut w, &pairs);
        assert_eq!(got, again, "the same pairs give the same bytes");
        let mut small = OverlapPasses::with_room(&stage.gpu, [1; super::gpu::COUNTERS]).expect("kernels");
        assert_eq!(got, stage.find(&mut small, &mut w, &pairs), "lists that are too short grow");
    }
    let mut w = crowd(0.0);
    assert!(stage.find(&mut passes, &mut w, &[]).is_empty());
}

#[test]
fn a_world_hands_over_the_same_either_way() {
    let Some(mut stage) = Stage::new() else { return };
    crate::register();
    let settings = WorldSettings { narrow: Narrow::Gpu, ..WorldSettings::default() };
    let mut w = World::new(Some(&stage.gpu), settings).expect("kernels");
    let forest = Arc::new(block(6, [4; 3], [60; 3]));
    // The last is so much smaller that its pairs are left to the CPU.
    for (metres, lift) in
        [(1.0, DVec3::Y * -0.1), (0.9, DVec3::new(0.31, 0.4, 0.12)), (0.04, DVec3::Y * 0.82)]
    {
        w.add(body(&forest, 0, grid(6, metres), 6, lift));
    }
    w.bodies[1].state.rotation = DQuat::from_scaled_axis(DVec3::new(0.3, -0.2, 0.4));
    stage.insert(&w);
    let by_passes = all_pair_data(&mut w, Some((&stage.gpu, &stage.arena))).unwrap();
    let plain = all_pair_data(&mut w, None).unwrap();
    assert!(by_passes.len() >= 3 && by_passes.iter().any(|o| o.second.is_none()));
    let name = |o: &Overlap| (o.first, o.second);
    assert!(by_passes.iter().map(name).eq(plain.iter().map(name)));
    for (p, q) in by_passes.iter().zip(&plain) {
        assert_eq!((p.points.len(), p.columns.len()), (q.points.len(), q.columns.len()));
        assert!((p.volume / q.volume - 1.0).abs() < 1e-4 && (p.gradient - q.gradient).length() < 1e-4);
    }
    // It was the passes that did it: what they round differs in the last digits.
    assert_ne!(by_passes, plain);
}

fn kernel_of<'a>(passes: &'a mut OverlapPasses, name: &str) -> &'a mut Kernel {
    match name {
        "meet" => &mut passes.meet,
        "lead" => &mut passes.lead,
        "sum" => &mut passes.sum,
        "mean" => &mut passes.mean,
        "link" => &mut passes.link,
        _ => &mut passes.column,
    }
}

#[test]
fn planted_errors_in_the_shaders_are_found() {
    let Some(mut stage) = Stage::new() else { return };
    let mut w = crowd(0.3);
    stage.insert(&w);
    let pairs = all_pairs(&w);
    let want = reference(&w, &pairs);
    let planted = [
        ("meet", "found[0] - found[1] * INWARDS", "found[0] + found[1] * 0.5"),
        ("meet", "vec3<f32>(SLIVER)", "vec3<f32>(0.2)"),
        ("meet", "clamp(p - n * dot(p - q, n), low, low + 1.0)", "p - n * dot(p - q, n)"),
        ("meet", "clamp(weight, LEAST_WEIGHT, 1.0)", "1.0"),
        ("lead", "atomicMax", "atomicMin"),
        ("lead", "raws[entry].meeting, raws[entry].place", "raws[entry].meeting, 0u"),
        ("sum", "select(WORDS, 0u, along)", "0u"),
        ("sum", "r.y * r.weight", "r.x * r.weight"),
        ("mean", "back < 2u", "back < 1u"),
        ("mean", "+ q", "+ q * 0.9"),
        ("link", "abs(n[id % 3u]) < LEAST_COSINE", "abs(n[id % 3u]) < 0.5"),
        ("link", "cell[(axis + 2u) % 3u]", "0u"),
        ("column", "all(owners == vec2<u32>(0u))", "true"),
        ("column", "v > last_at ||", "v > last_at + 0.3 ||"),
        ("column", "at - entry_at, normal.x", "at, normal.x"),
    ];
    // The right kernels are compiled once.
    let mut passes = OverlapPasses::new(&stage.gpu).expect("kernels");
    for (name, text, error) in planted {
        let path = match name {
            "meet" => "papers/overlap/meet",
            "lead" => "papers/overlap/lead",
            "sum" => "papers/overlap/sum",
            "mean" => "papers/overlap/mean",
            "link" => "papers/overlap/link",
            _ => "papers/overlap/column",
        };
        let source = shaders::source(path);
        assert!(source.contains(text), "{path} has no '{text}'");
        let kernel = Kernel::from_text(&stage.gpu, path, source.replace(text, error));
        let right = std::mem::replace(kernel_of(&mut passes, name), kernel);
        let got = stage.find(&mut passes, &mut w, &pairs);
        *kernel_of(&mut passes, name) = right;
        let off = apart(&want, &got);
        assert!(off > TOLERANCE, "{path} with '{error}' is only {off} off");
    }
}
