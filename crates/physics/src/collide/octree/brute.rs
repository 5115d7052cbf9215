//! The contact search by brute force, for tests: without octrees, look-ups and cached data. Every sample of one body is
//! compared with every sample of the other; geometry is in f64, straight from the bodies' poses.
//!
//! Solid cells follow from the surface alone: a cell without leaves is inside if it cannot be reached from outside
//! through faces between cells without leaves.

use super::{OctreePair, cell_size, pair::cells_to_world, surfels::Surfels};
use crate::{Body, svo::morton};
use glam::{DVec3, IVec3};
use std::collections::{BTreeMap, BTreeSet};

/// The rules of docs/physics.md: cosine below which normals oppose each other; how far planes of neighbouring cells
/// agree, how far beside a sample its plane is valid, how far the way out is searched, which motion counts as fast and
/// how far fast bodies search ahead, all in cells.
const OPPOSING: f64 = -0.1;
const ROUNDING: f64 = 0.2;
const BESIDE: f64 = 1.0;
const MARCH: u32 = 6;
const FAST: f64 = 0.5;
const AHEAD: u32 = 128;

/// Distances that are closer than this are alike, cells: of two samples equally near either may be the
/// answer.
const ALIKE: f64 = 1e-4;

/// The possible hits of one sample (its direction of the pair, index and side, as in [`super::Hit`]): any of these, or
/// nothing.
pub type Answers = BTreeMap<(u32, u32), Vec<u32>>;

/// One side of a sample.
#[derive(Clone, Copy)]
struct Sample {
    p: DVec3,
    n: DVec3,
}

/// A body at one level, as samples and cells.
struct Solid {
    /// First and second side (for a thin part), by sample of the tree.
    samples: Vec<(u32, IVec3, Vec<Sample>, bool)>,
    cells: BTreeMap<[i32; 3], usize>,
    outside: BTreeSet<[i32; 3]>,
    low: IVec3,
    high: IVec3,
}

enum At {
    Outside,
    Inside,
    Surface(usize),
}

impl Solid {
    fn new(body: &Body, level: u32) -> Self {
        let (forest, tree) = (&body.def.octree().forest, body.def.octree().tree as usize);
        let surfels = Surfels::build(forest, level);
        let leaves = forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize;
        let mut samples = Vec::new();
        for (i, surfel) in surfels.items.iter().enumerate() {
            if !leaves.contains(&(surfels.leaf_start[i] as usize)) {
                continue;
            }
            let key = forest.leaves.keys.at(surfels.leaf_start[i] as usize) >> (3 * (forest.level - level));
            let cell = IVec3::from(morton::decode(key).map(|v| v as i32));
            let side = |s: u32| {
                let (p, n) = surfel.side(s);
                Sample { p: p.as_dvec3(), n: n.as_dvec3() }
            };
            let sides = if surfel.thickness > 0.0 { vec![side(0), side(1)] } else { vec![side(0)] };
            samples.push((i as u32, cell, sides, surfel.is_sharp()));
        }
        let cells: BTreeMap<[i32; 3], usize> =
            samples.iter().enumerate().map(|(k, s)| (s.1.to_array(), k)).collect();
        let low = samples.iter().map(|s| s.1).reduce(IVec3::min).unwrap_or_default() - 1;
        let high = samples.iter().map(|s| s.1).reduce(IVec3::max).unwrap_or_default() + 1;
        let mut outside = BTreeSet::from([low.to_array()]);
        let mut open = vec![low];
        while let Some(cell) = open.pop() {
            for way in [IVec3::X, IVec3::NEG_X, IVec3::Y, IVec3::NEG_Y, IVec3::Z, IVec3::NEG_Z] {
                let next = cell + way;
                if next.cmpge(low).all()
                    && next.cmple(high).all()
                    && !cells.contains_key(&next.to_array())
                    && outside.insert(next.to_array())
                {
                    open.push(next);
                }
            }
        }
        Self { samples, cells, outside, low, high }
    }

    fn at(&self, p: DVec3) -> At {
        let cell = p.floor().as_ivec3();
        let beyond = cell.cmplt(self.low).any() || cell.cmpgt(self.high).any();
        match self.cells.get(&cell.to_array()) {
            Some(&k) => At::Surface(k),
            None if beyond || self.outside.contains(&cell.to_array()) => At::Outside,
            None => At::Inside,
        }
    }
}

/// Contact of a sample of one body with sample `k` of the other: signed gap, and distance beside it.
fn facing(solid: &Solid, k: usize, probe: Sample, sharp: bool, side: Option<bool>) -> Option<(f64, f64)> {
    let (_, _, sides, edge) = &solid.samples[k];
    let is_inside = side == Some(true);
    if *edge && !sharp && !is_inside {
        return None;
    }
    let faces = sides.iter().find(|s| s.n.dot(probe.n) <= 0.0 || sides.len() == 1);
    let surface = *faces.or(sides.first())?;
    let opposes = surface.n.dot(probe.n) <= OPPOSING;
    if !opposes && !is_inside {
        return None;
    }
    let both_edges = *edge && sharp && opposes;
    let n = if both_edges { (surface.n - probe.n).normalize_or(surface.n) } else { surface.n };
    let gap = (probe.p - surface.p).dot(n);
    let beside = (probe.p - surface.p - n * gap).length();
    // A point outside is not behind a plane: it is beyond its end.
    (side != Some(false) || gap >= -ROUNDING).then_some((gap, beside))
}

/// The answers of all pairs, two directions each.
pub fn answers(pairs: &[OctreePair], bodies: &[Body], dt: f64) -> Answers {
    let mut out = Answers::new();
    for (i, pair) in pairs.iter().enumerate() {
        let body = pair.bodies.map(|k| &bodies[k]);
        let solids = [0, 1].map(|s| Solid::new(body[s], pair.levels[s]));
        for d in 0..2 {
            let (a, b) = (d, 1 - d);
            let world = [a, b].map(|s| cells_to_world(body[s], pair.levels[s]));
            let b_from_a = world[1].inverse() * world[0];
            let cell = cell_size(body[b], pair.levels[b]);
            let relative = body[a].state.linear_velocity - body[b].state.linear_velocity;
            let spin = |s: usize| body[s].state.angular_velocity.length() * body[s].def.radius();
            let closer = (relative.length() + spin(0) + spin(1)) * dt;
            let towards = if relative.length() > 1e-9 {
                relative.normalize()
            } else {
                (body[b].state.position - body[a].state.position).normalize_or_zero()
            };
            let motion = world[1].inverse().transform_vector3(towards * closer);
            for (index, _, sides, sharp) in &solids[a].samples {
                for (side, sample) in sides.iter().enumerate() {
                    let p = b_from_a.transform_point3(sample.p);
                    let probe = Sample { p, n: b_from_a.transform_vector3(sample.n).normalize() };
                    let found = answer(&solids[b], probe, *sharp, d == 1, motion, pair.margin / cell);
                    if !found.is_empty() {
                        out.insert((2 * i as u32 + d as u32, index << 1 | side as u32), found);
                    }
                }
            }
        }
    }
    out
}

/// Possible hits of one side of a sample; `again`: it is the second body's, which only adds edges and deep hits.
fn answer(b: &Solid, probe: Sample, sharp: bool, again: bool, motion: DVec3, margin: f64) -> Vec<u32> {
    let here = b.at(probe.p);
    if again && !sharp && !matches!(here, At::Inside) {
        return Vec::new();
    }
    // Behind the surface, before it, or in a cell with an edge, where the plane does not tell.
    let side = match here {
        At::Outside => Some(false),
        At::Inside => Some(true),
        At::Surface(k) if b.samples[k].3 => None,
        At::Surface(k) => Some(b.samples[k].2.iter().all(|s| (probe.p - s.p).dot(s.n) < 0.0)),
    };
    let nearest = |found: Vec<(f64, usize)>| -> Vec<u32> {
        let least = found.iter().map(|f| f.0).fold(f64::MAX, f64::min);
        found.iter().filter(|f| f.0 <= least + ALIKE).map(|f| b.samples[f.1].0).collect()
    };
    let face = |k: usize| facing(b, k, probe, sharp, side);
    // Every sample whose cell is one of the eight round the point.
    let round: Vec<(f64, usize)> = (0..b.samples.len())
        .filter(|&k| (b.samples[k].1.as_dvec3() + 0.5 - probe.p).abs().max_element() < 1.0)
        .filter_map(|k| face(k).map(|(gap, beside)| (gap, beside, k)))
        .filter(|(gap, beside, _)| *beside < BESIDE && *gap < margin)
        .map(|(gap, beside, k)| (libm::hypot(gap, beside), k))
        .collect();
    if !round.is_empty() {
        return nearest(round);
    }
    if matches!(here, At::Inside) {
        let mut out = Vec::new();
        for way in [-probe.n, DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z] {
            let mut cells = (1..=MARCH).map(|k| b.at(probe.p + way * f64::from(k)));
            if let Some(At::Surface(k)) = cells.find(|at| !matches!(at, At::Inside))
                && let Some((gap, beside)) = face(k).filter(|(gap, _)| *gap < 0.0)
            {
                out.push((libm::hypot(gap, beside), k));
            }
        }
        return nearest(out);
    }
    if motion.length() < FAST {
        return Vec::new();
    }
    let steps = (motion.length().ceil() as u32).min(AHEAD);
    let ahead = (1..=steps).map(|k| b.at(probe.p + motion.normalize() * f64::from(k)));
    let first = ahead.filter_map(|at| if let At::Surface(k) = at { Some(k) } else { None }).next();
    let hit = first.filter(|&k| face(k).is_some_and(|(gap, _)| gap > 0.0 && gap < margin));
    hit.map(|k| b.samples[k].0).into_iter().collect()
}
