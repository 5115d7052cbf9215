//! Bodies of cubes against closed forms, and each stage against a plain reference.

mod closed_forms;
mod fracture_modes;
mod free_bodies;
mod measure;
mod parts;
mod passes;
mod refusals;
mod stages;
mod weakness;

use std::sync::Arc;

use glam::{DVec3, IVec3};
use kintsugi_core::{
    shape::Octree,
    svo::{Forest, Grid, LeafColor, Leaves, build, morton},
};

use crate::{ElasticBody, Face, Material};

/// An octree whose voxels are solid by the share that `fill` says; full ones away from the surface are internal.
fn octree(level: u32, h: f64, fill: impl Fn(IVec3) -> f32) -> Octree {
    let side = 1i32 << level;
    let cell = |key: morton::Key| IVec3::from_array(morton::decode(key).map(|v| v as i32));
    let fills: Vec<f32> = (0..1u64 << (3 * level)).map(|key| fill(cell(key))).collect();
    let at = |p: IVec3| {
        let inside = p.min_element() >= 0 && p.max_element() < side;
        if inside { fills[morton::encode(p.as_uvec3().to_array()) as usize] } else { 0.0 }
    };
    let is_buried = |key: morton::Key| {
        let p = cell(key);
        (0..27).all(|n| at(p + IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)) == 1.0)
    };
    let buried: Vec<bool> = (0..fills.len() as u64).map(is_buried).collect();
    let keys: Vec<u64> =
        (0..fills.len() as u64).filter(|key| fills[*key as usize] > 0.0 && !buried[*key as usize]).collect();
    let leaves = Leaves {
        coverage: keys.iter().map(|key| fills[*key as usize]).collect(),
        normals: vec![0; keys.len()],
        colors: vec![LeafColor::default(); keys.len()],
        keys: keys.into(),
        cuts: Vec::new(),
    };
    let forest: Forest =
        build(level, leaves, &|key: morton::Key, l: u32| buried[(key << (3 * (level - l))) as usize]);
    Octree::new(&Arc::new(forest), 0, Grid { level, origin: DVec3::new(-0.3, 0.2, 0.1), h })
}

/// A full box of cells from `low` up to, but without, `high`.
fn cuboid(low: IVec3, high: IVec3) -> impl Fn(IVec3) -> f32 {
    move |p| if p.cmpge(low).all() && p.cmplt(high).all() { 1.0 } else { 0.0 }
}

const STEEL: Material = Material { youngs_modulus: 210e9, poissons_ratio: 0.3, density: 7800.0 };

fn body(octree: &Octree, material: Material) -> Arc<ElasticBody> {
    Arc::new(ElasticBody::new(octree, octree.level(), material).unwrap())
}

/// Faces whose normal is along an axis, at its low or high end of a body.
fn end(body: &ElasticBody, axis: usize, is_high: bool) -> impl Fn(&Face) -> bool + Sync {
    let ends = body.faces().iter().filter(|face| face.axis == axis && face.is_high == is_high);
    let places = ends.map(|face| face.centre[axis]);
    let limit = if is_high { places.fold(f64::MIN, f64::max) } else { places.fold(f64::MAX, f64::min) };
    let h = body.cell_size();
    move |face| face.axis == axis && face.is_high == is_high && (face.centre[axis] - limit).abs() < 0.1 * h
}

/// A sequence of numbers from 0 to 1 that looks random.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}
