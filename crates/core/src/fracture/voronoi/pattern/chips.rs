//! Chips: small cells where the cracks of a piece meet its outside.
//!
//! In: the octree of a piece, parameters. Out: for every chip a seed on such an edge and eight seeds round it, its guards, which
//! are one object, the rest of the piece. So a chip is the cell of one seed and as large as its guards let it be; no crack
//! that is there already moves, since the guards' own cells stay together.
//!
//! Only +, -, *, / and square root are used, so that every machine draws the same chips.

use glam::DVec3;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use super::{Pattern, PatternError, presets::random_unit};
use crate::{
    fracture::{FractureParams, MAX_SEEDS},
    shape::{Octree, Shape},
    svo::{Grid, morton, unpack_cut, unpack_normal},
};

/// Default length of the largest chips, voxels.
const USUAL_LENGTH: f64 = 12.0;
/// Length that a chip needs to have voxels of its own.
const LEAST_LENGTH: f64 = 4.0;
/// Greatest length as a share of the grid's side.
const MOST_LENGTH: f64 = 0.25;
/// Seeds of one chip: its guards and its own.
const SEEDS: usize = 9;
/// Most chips of one piece.
const MOST: u32 = MAX_SEEDS / SEEDS as u32;
/// Attempts to find a free place for a chip.
const ATTEMPTS: u32 = 64;
/// Distance of a chip's faces from the edge, shares of its length: the face below the edge; those that lean 45 degrees towards
/// the two ends, which meet the edge at half of the length; and those that end it elsewhere.
const FACES: [f64; 3] = [0.28, 0.5 * std::f64::consts::FRAC_1_SQRT_2, 0.5];
/// How far a chip leans towards one of the two faces of its edge, at most: the tangent of the angle.
const TILT: f64 = 0.4;
/// Least sine of the angle between crack and outside: below it they are one face.
const LEAST_SINE: f64 = 0.4;
/// Farthest place of an edge from the middle of the voxel that has it, along an axis, voxels.
const REACH: f64 = 0.75;

/// A place at which a crack meets the outside, grid coordinates. Directions have length 1.
struct Edge {
    place: DVec3,
    /// Along the edge.
    along: DVec3,
    /// Away from the piece, half way between the normals of crack and outside.
    out: DVec3,
}

/// The edges of a piece, one for each boundary voxel of the outside that a crack cuts.
fn edges(octree: &Octree) -> impl Iterator<Item = Edge> + '_ {
    let leaves = &octree.forest.leaves;
    octree.leaves().filter_map(move |leaf| {
        let color = leaves.colors[leaf];
        let (crack, of_crack) = unpack_cut(*leaves.cuts.get(leaf)?).filter(|_| !color.crack())?;
        let (outside, crack) = (unpack_normal(leaves.normals[leaf]).as_dvec3(), crack.as_dvec3());
        let across = outside.cross(crack);
        let (sine, cosine) = (across.length(), outside.dot(crack));
        if sine < LEAST_SINE {
            return None;
        }
        // The point of both planes that is nearest to the middle of the voxel.
        let (a, b) = (f64::from(color.offset()), f64::from(of_crack));
        let from_middle = (outside * (a - b * cosine) + crack * (b - a * cosine)) / (sine * sine);
        if from_middle.abs().max_element() > REACH {
            return None;
        }
        let middle = DVec3::from_array(morton::decode(leaves.keys.at(leaf)).map(|v| f64::from(v) + 0.5));
        let (along, out) = (across / sine, (outside + crack).try_normalize()?);
        Some(Edge { place: middle + from_middle, along, out })
    })
}

/// Lengths of the smallest and the largest chips, voxels.
///
/// # Errors
/// [`PatternError`] for chips that have no voxel of their own, or that are no small part of the grid.
pub(in crate::fracture) fn lengths_of_chips(
    params: &FractureParams,
    grid: &Grid,
) -> Result<(f64, f64), PatternError> {
    let most = MOST_LENGTH * f64::from(grid.side());
    let longest = if params.chip_size > 0.0 { params.chip_size / grid.h } else { USUAL_LENGTH.min(most) };
    let shortest = longest * (1.0 - params.chip_spread);
    let what = if shortest < LEAST_LENGTH {
        let least = LEAST_LENGTH * grid.h / (1.0 - params.chip_spread);
        let text = format!("makes chips of {shortest:.1} voxels; they need {LEAST_LENGTH}: give at least");
        format!("{text} {least:.3e} m, a smaller chip_spread or a higher level")
    } else if longest > most {
        let text = format!("makes chips of {longest:.1} voxels on a grid of {}: give at most", grid.side());
        format!("{text} {:.3e} m, or a higher level", most * grid.h)
    } else {
        return Ok((shortest, longest));
    };
    Err(PatternError::Bad(format!("chip_size {what}")))
}

/// How many of the chips that `params` ask for each of these pieces loses, by the length of its edges; none for a shape
/// without voxels and for a piece that is hardly larger than a chip.
///
/// # Errors
/// [`PatternError`] for chips that are too small or too large for the pieces' grid.
pub fn shares_of_chips<'a>(
    params: &FractureParams,
    pieces: impl IntoIterator<Item = &'a Shape>,
) -> Result<Vec<u32>, PatternError> {
    let weight = |piece: &Shape| -> Result<u64, PatternError> {
        let Some(octree) = piece.as_octree() else { return Ok(0) };
        let (_, longest) = lengths_of_chips(params, &octree.grid)?;
        let is_large = octree.mass.volume >= longest * longest * longest;
        Ok(if is_large { edges(octree).count() as u64 } else { 0 })
    };
    let weights = pieces.into_iter().map(weight).collect::<Result<Vec<u64>, PatternError>>()?;
    let total: u64 = weights.iter().sum::<u64>().max(1);
    let (chips, mut before) = (u64::from(params.chips), 0u64);
    let share = |weight: &u64| {
        let up_to = before + *weight;
        let share = chips * up_to / total - chips * before / total;
        before = up_to;
        (share as u32).min(MOST)
    };
    Ok(weights.iter().map(share).collect())
}

/// Seeds of as many chips as `params` have seeds, at random places of the edges of a piece; fewer where the edges have no
/// more room. Object 0 is the rest of the piece.
///
/// # Errors
/// [`PatternError`] for parameters out of range, and for a piece without such an edge.
pub(super) fn chips(params: &FractureParams, octree: &Octree) -> Result<Pattern, PatternError> {
    if let Some((field, what)) = params.problem() {
        return Err(PatternError::Bad(format!("{field} {what}")));
    }
    let (shortest, longest) = lengths_of_chips(params, &octree.grid)?;
    let edges: Vec<Edge> = edges(octree).collect();
    if edges.is_empty() {
        let text = "there is no edge of a crack that chips could break out of; break the object, then its pieces by this \
                    pattern";
        return Err(PatternError::Bad(text.into()));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(params.rng);
    let mut taken: Vec<(DVec3, f64)> = Vec::new();
    let (mut points, mut objects) = (Vec::new(), Vec::new());
    for _ in 0..params.seed_count().min(MOST) {
        let free = (0..ATTEMPTS).find_map(|_| {
            let number = (random_unit(&mut rng) * edges.len() as f64) as usize;
            // The root makes small chips more frequent.
            let length = longest - (longest - shortest) * random_unit(&mut rng).sqrt();
            let tilt = TILT * (2.0 * random_unit(&mut rng) - 1.0);
            let edge = &edges[number.min(edges.len() - 1)];
            // So the guards of one chip are no nearer to another chip's seed than that chip's own.
            let is_free = taken.iter().all(|(place, other)| place.distance(edge.place) >= length + other);
            is_free.then_some((edge, length, tilt))
        });
        let Some((edge, length, tilt)) = free else { break };
        taken.push((edge.place, length));
        points.extend(seeds_of(edge, length, tilt));
        let own = objects.len() as u32 + SEEDS as u32 - 1;
        objects.extend([0; SEEDS - 1]);
        objects.push(own);
    }
    Ok(Pattern { objects, ..Pattern::from_points(&points, octree.grid.level)? })
}

/// The guards of a chip of this length on an edge, the one below the edge first, and then its own seed.
fn seeds_of(edge: &Edge, length: f64, tilt: f64) -> [DVec3; SEEDS] {
    let Edge { place, along, out } = *edge;
    let out = (out + along.cross(out) * tilt).normalize_or(out);
    let across = along.cross(out);
    let [below, aslant, end] = FACES;
    let slanted = |along: DVec3| (along - out) * std::f64::consts::FRAC_1_SQRT_2;
    // A face lies half way between the chip's seed and the guard.
    let guard = |direction: DVec3, share: f64| place + direction * (2.0 * share * length);
    [
        guard(-out, below),
        guard(slanted(along), aslant),
        guard(slanted(-along), aslant),
        guard(along, end),
        guard(-along, end),
        guard(across, end),
        guard(-across, end),
        guard(out, end),
        place,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume, length along the edge and depth below it of a chip of length 1 on an edge along z, the solid of which lies
    /// within `half` (the tangent of half its angle) of -x; by points.
    fn measured(half: f64, tilt: f64) -> [f64; 3] {
        let edge = Edge { place: DVec3::ZERO, along: DVec3::Z, out: DVec3::X };
        let seeds = seeds_of(&edge, 1.0, tilt);
        let (guards, own) = (&seeds[..SEEDS - 1], seeds[SEEDS - 1]);
        const POINTS: u32 = 75;
        let step = 1.5 / f64::from(POINTS);
        let at = |i: u32| (f64::from(i) + 0.5) * step - 0.75;
        let (mut volume, mut ends, mut depth) = (0.0, [0.0f64; 2], 0.0f64);
        for n in 0..POINTS.pow(3) {
            let p = DVec3::new(at(n % POINTS), at(n / POINTS % POINTS), at(n / POINTS / POINTS));
            let is_solid = p.x < 0.0 && p.y.abs() <= -p.x * half;
            let squared = p.distance_squared(own);
            if is_solid && guards.iter().all(|guard| p.distance_squared(*guard) > squared) {
                volume += step * step * step;
                ends = [ends[0].min(p.z), ends[1].max(p.z)];
                depth = depth.max(-p.x);
            }
        }
        [volume, ends[1] - ends[0], depth]
    }

    /// Without the guard below the edge the depth is 0.5; without those aslant the ends do not taper, and the volume is 0.078.
    #[test]
    fn a_chip_is_a_flat_lens_on_its_edge_however_sharp_that_is() {
        let [volume, length, depth] = measured(1.0, 0.0);
        // 0.049 by integration; points that lie in the planes of the solid count, too.
        assert!((volume - 0.049).abs() < 0.008, "{volume}");
        assert!((0.9..=1.0).contains(&length) && (depth - 0.28).abs() < 0.02, "{length} {depth}");
        for (half, tilt) in [(0.36, 0.0), (0.36, TILT), (1.0, TILT), (1.73, -TILT), (3.73, 0.0)] {
            let [volume, length, depth] = measured(half, tilt);
            assert!((0.015..0.17).contains(&volume), "{half} {tilt}: {volume}");
            assert!(length <= 1.0 && (0.26..0.47).contains(&depth), "{half} {tilt}: {length} {depth}");
        }
    }
}
