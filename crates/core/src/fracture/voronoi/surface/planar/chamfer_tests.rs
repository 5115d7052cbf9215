//! How far leaves in which several cracks end stand out beyond those cracks.

use std::sync::Arc;

use crate::geometry::Aabb;
use glam::{DVec3, IVec3, Vec3};

use crate::{
    fracture::{Cancel, FractureParams, Fracturer, Pattern, Recipe, Source, voronoi::testing::forest_of},
    gpu::Gpu,
    svo::{Arena, Forest, LeafColor, morton, pack_normal, unpack_cut, unpack_normal},
};

const LEVEL: u32 = 6;
const UNIT: i64 = 1 << (14 - LEVEL);

/// A ball whose leaves have its own tangent planes.
fn ball() -> Forest {
    let side = f64::from(1 << LEVEL);
    let (centre, radius) = (DVec3::splat(side / 2.0), side * 0.45);
    let mut forest = forest_of(LEVEL, |p: IVec3| (p.as_dvec3() + 0.5 - centre).length() < radius);
    let leaves = &mut forest.leaves;
    for ((key, normal), color) in leaves.keys.iter().zip(&mut leaves.normals).zip(&mut leaves.colors) {
        let out = DVec3::from_array(morton::decode(key).map(|v| f64::from(v) + 0.5)) - centre;
        *normal = pack_normal(out.normalize().as_vec3());
        *color = LeafColor::new([90, 120, 110], false, (radius - out.length()).min(0.98) as f32);
    }
    forest
}

fn distance2(point: [i64; 3], seed: [i32; 3]) -> i64 {
    (0..3).map(|k| (point[k] - i64::from(seed[k])).pow(2)).sum()
}

/// The other cells of a voxel's corners, and their bisectors from its centre: normal and offset, voxels.
fn cracks(cell: [u32; 3], own: u32, seeds: &[[i32; 3]]) -> Vec<(Vec3, f32)> {
    let low = cell.map(|v| i64::from(v) * UNIT);
    let mut others: Vec<usize> = (0..8)
        .filter_map(|c: i64| {
            let corner = [low[0] + (c & 1) * UNIT, low[1] + (c >> 1 & 1) * UNIT, low[2] + (c >> 2) * UNIT];
            (0..seeds.len()).min_by_key(|s| (distance2(corner, seeds[*s]), *s))
        })
        .filter(|s| *s != own as usize)
        .collect();
    others.sort_unstable();
    others.dedup();
    let centre = low.map(|v| v + UNIT / 2);
    let s = seeds[own as usize];
    let bisector = |other: usize| {
        let t = seeds[other];
        let towards = IVec3::from_array(t).as_dvec3() - IVec3::from_array(s).as_dvec3();
        let ahead = (distance2(centre, t) - distance2(centre, s)) as f64;
        (towards.normalize().as_vec3(), (ahead / (2.0 * towards.length() * UNIT as f64)) as f32)
    };
    others.into_iter().map(bisector).collect()
}

/// Volumes in voxels: what stands out beyond a crack, what is missing, the most that one leaf stands out, and
/// leaves counted.
#[derive(Debug, Default)]
struct Errors {
    out: f64,
    missing: f64,
    most: f64,
    leaves: usize,
}

impl Errors {
    fn add(&mut self, own: (Vec3, f32), cut: (Vec3, f32), cracks: &[(Vec3, f32)]) {
        const N: usize = 10;
        let below = |plane: (Vec3, f32), p: Vec3| plane.0.dot(p) <= plane.1;
        let (mut out, mut missing) = (0, 0);
        for i in 0..N * N * N {
            let p =
                (Vec3::new((i % N) as f32, (i / N % N) as f32, (i / N / N) as f32) + 0.5) / N as f32 - 0.5;
            let shown = below(own, p) && below(cut, p);
            let real = below(own, p) && cracks.iter().all(|crack| below(*crack, p));
            out += usize::from(shown && !real);
            missing += usize::from(real && !shown);
        }
        let part = 1.0 / (N * N * N) as f64;
        self.out += out as f64 * part;
        self.missing += missing as f64 * part;
        self.most = self.most.max(out as f64 * part);
        self.leaves += 1;
    }
}

#[test]
fn leaves_where_several_cracks_end_do_not_stand_out() {
    let gpu = Gpu::headless().expect("the tests need a Vulkan adapter, a software one will do");
    let fracturer = Fracturer::new(&gpu).unwrap();
    let forest = Arc::new(ball());
    let mut arena = Arena::new(&gpu).unwrap();
    let slot = arena.insert(&forest).unwrap();
    let params =
        FractureParams { seeds: 60, radii: vec![0.2, 0.4, 0.5], rng: 5, ..FractureParams::default() };
    let side = DVec3::splat(f64::from(1 << LEVEL));
    let pattern = Pattern::on_spheres(&params, side / 2.0, Aabb::new(DVec3::ZERO, side), LEVEL).unwrap();
    let source = Source { arena: &arena, slot, forest: &forest, tree: 0, cancel: Cancel::never() };
    let broken = fracturer.fracture(&source, &pattern, &Recipe::default()).unwrap();

    let (mut now, mut with_one) = (Errors::default(), Errors::default());
    let leaves = &broken.forest.leaves;
    for piece in &broken.pieces {
        let tree = piece.tree as usize;
        for i in broken.forest.tree_start[tree] as usize..broken.forest.tree_start[tree + 1] as usize {
            let mut cracks = cracks(morton::decode(leaves.keys.at(i)), piece.cell, &pattern.seeds);
            cracks.sort_by(|a, b| a.1.total_cmp(&b.1));
            let own = (unpack_normal(leaves.normals[i]), leaves.colors[i].offset());
            // A crack voxel's own plane is the nearest crack; the second plane stands for the others.
            let rest = &cracks[usize::from(leaves.colors[i].crack()).min(cracks.len())..];
            let (Some(cut), true) = (unpack_cut(leaves.cuts[i]), rest.len() > 1) else { continue };
            now.add(own, cut, rest);
            with_one.add(own, rest[0], rest);
        }
    }
    println!("with a chamfer: {now:?}");
    println!("with the nearest crack alone: {with_one:?}");
    assert!(now.leaves > 300);
    assert!(now.out < 0.6 * with_one.out && now.most < 0.8 * with_one.most);
    // What the chamfer takes too much is no more than what it leaves standing.
    assert!(now.missing < with_one.out && now.out + now.missing < 0.9 * with_one.out);
}
