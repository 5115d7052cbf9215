//! The same fracture on the whole grid, by brute force: every corner against every seed, its object, every solid
//! voxel, flood fill. No octree, no pruning, no code shared with the passes. For tests, up to level 8.
//!
//! In: one tree and a pattern. Out: sorted lists that the passes' result must equal.
//!
//! Faces of the Voronoi diagram as polygons, for drawing and export. The fracture itself never needs them (2016,
//! sec. 4.3).
//!
//! In: a pattern and a box. Out: one convex polygon for every two cells that share a face inside the box, grid
//! coordinates.

use std::collections::BTreeSet;

use glam::DVec3;

use super::surface::{
    dusty::voxel::DustReference,
    rough::{CrackUniform, reference::CrackReference},
};
use crate::{
    fracture::{Pattern, PatternError, Recipe, Surface, UNIT_BITS},
    geometry::Aabb,
    svo::{
        Forest,
        morton::{self, Key},
    },
};

/// A fracture as plain lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// (cell, Morton code, is crack) of every copy, sorted.
    pub copies: Vec<(u32, Key, bool)>,
    /// (cell, Morton code) of every leaf cell that stays internal, sorted.
    pub internal: Vec<(u32, Key)>,
    /// Per piece the sorted (cell, Morton code) of all its solid voxels; pieces sorted.
    pub pieces: Vec<Vec<(u32, Key)>>,
    /// Internal voxels that became crack voxels, without copies.
    pub crack_voxels: usize,
    /// (Morton code, parts) of every leaf of which one of so many equal parts is dust, sorted; 1 where no object
    /// gets any of it.
    pub dust: Vec<(Key, u32)>,
    /// Cells that would get a voxel with planar surfaces and get none with these.
    pub swallowed: usize,
}

/// Breaks `tree` of `forest` by `pattern` as `recipe` says; islands at the leaf level.
///
/// # Errors
/// [`PatternError`] for a crack shape out of range.
pub fn fracture_by(
    forest: &Forest,
    tree: usize,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<Reference, PatternError> {
    match recipe.surface {
        Surface::Planar => Ok(fracture(forest, tree, pattern)),
        Surface::Rough => rough(forest, tree, pattern, recipe),
        Surface::Dusty => dusty(forest, tree, pattern, recipe),
    }
}

/// Crack surfaces with a gap (2018, sec. 5.3).
fn dusty(
    forest: &Forest,
    tree: usize,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<Reference, PatternError> {
    recipe.crack.check()?;
    let transition = recipe.crack.transition(forest.level, recipe.surface)?;
    let words =
        CrackUniform::new(&recipe.crack, recipe.rng, transition).with_gap(&recipe.crack, forest.level);
    let mut dust = DustReference::new(pattern, words, forest.level);
    let mut out = Reference::default();
    for_each_solid(forest, tree, &mut |p, internal| {
        let shares = dust.leaf(p);
        let key = morton::encode(p);
        if !shares.filled {
            out.dust.push((key, shares.objects.len() as u32 + 1));
        }
        if !shares.objects.is_empty() {
            out.add(key, internal, internal && !shares.touched, &shares.objects);
        }
    });
    out.dust.sort_unstable();
    out.finish(forest.level);
    out.swallowed = cells(&fracture(forest, tree, pattern)).difference(&cells(&out)).count();
    Ok(out)
}

/// Crack surfaces without a gap (2018).
fn rough(
    forest: &Forest,
    tree: usize,
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<Reference, PatternError> {
    recipe.crack.check()?;
    let transition = recipe.crack.transition(forest.level, recipe.surface)?;
    let words = CrackUniform::new(&recipe.crack, recipe.rng, transition);
    let mut cracks = CrackReference::new(pattern, words, forest.level);
    let mut out = Reference::default();
    for_each_solid(forest, tree, &mut |p, internal| {
        let fate = cracks.leaf(p, internal);
        out.add(morton::encode(p), internal, internal && !fate.touched, &fate.objects);
    });
    out.finish(forest.level);
    out.swallowed = cells(&fracture(forest, tree, pattern)).difference(&cells(&out)).count();
    Ok(out)
}

/// The cells that own a voxel.
fn cells(reference: &Reference) -> BTreeSet<u32> {
    reference.pieces.iter().filter_map(|piece| piece.first()).map(|voxel| voxel.0).collect()
}

impl Reference {
    /// One solid voxel: whole inside one cell, or copied to each of `cells`.
    fn add(&mut self, key: Key, internal: bool, whole: bool, cells: &[u32]) {
        if whole {
            self.internal.extend(cells.iter().map(|cell| (*cell, key)));
            return;
        }
        self.crack_voxels += usize::from(internal);
        self.copies.extend(cells.iter().map(|&cell| (cell, key, internal)));
    }

    /// Sorts and finds the pieces.
    fn finish(&mut self, level: u32) {
        self.copies.sort_unstable();
        self.internal.sort_unstable();
        let voxels: Vec<(u32, Key)> = self
            .copies
            .iter()
            .map(|&(cell, key, _)| (cell, key))
            .chain(self.internal.iter().copied())
            .collect();
        self.pieces = components(&voxels, 1 << level);
    }
}

/// Calls `visit` for every solid leaf cell: its place, and whether it is internal.
fn for_each_solid(forest: &Forest, tree: usize, visit: &mut impl FnMut([u32; 3], bool)) {
    for key in
        forest.leaves.keys.slice(forest.tree_start[tree] as usize..forest.tree_start[tree + 1] as usize)
    {
        visit(morton::decode(key), false);
    }
    forest.visit_internal(tree, &mut |_, low, size| {
        for i in 0..size.pow(3) {
            visit([low[0] + i % size, low[1] + i / size % size, low[2] + i / size / size], true);
        }
    });
}

/// Breaks `tree` of `forest` by `pattern`; islands at the leaf level.
#[must_use]
pub fn fracture(forest: &Forest, tree: usize, pattern: &Pattern) -> Reference {
    let side = 1usize << forest.level;
    let unit = 1i64 << (UNIT_BITS - forest.level);
    let owners = corner_owners(side, unit, pattern);

    let mut out = Reference::default();
    for_each_solid(forest, tree, &mut |p, internal| {
        let mut cells: Vec<u32> = (0..8)
            .map(|c| {
                let [x, y, z] = [0, 1, 2].map(|a| p[a] as usize + (c >> a & 1));
                pattern.objects[owners[(z * (side + 1) + y) * (side + 1) + x] as usize]
            })
            .collect();
        cells.sort_unstable();
        cells.dedup();
        out.add(morton::encode(p), internal, internal && cells.len() == 1, &cells);
    });
    out.finish(forest.level);
    out
}

/// Nearest seed of every grid corner, the lowest index where several are.
fn corner_owners(side: usize, unit: i64, pattern: &Pattern) -> Vec<u32> {
    use rayon::prelude::*;
    let n = side + 1;
    (0..n * n * n)
        .into_par_iter()
        .map(|i| {
            let p = [i % n, i / n % n, i / n / n].map(|v| v as i64 * unit);
            let mut best = (i64::MAX, 0);
            for (s, seed) in pattern.seeds.iter().enumerate() {
                let d: i64 = (0..3).map(|a| (p[a] - i64::from(seed[a])).pow(2)).sum();
                if d < best.0 {
                    best = (d, s as u32);
                }
            }
            best.1
        })
        .collect()
}

/// 26-connected components of voxels of the same cell, by flood fill. `voxels` are (cell, Morton code), `side` the
/// grid's.
#[must_use]
pub fn components(voxels: &[(u32, Key)], side: i64) -> Vec<Vec<(u32, Key)>> {
    let mut sorted = voxels.to_vec();
    sorted.sort_unstable();
    // Which voxels of the cell at hand are still to be reached, for the whole grid: all false again when a cell is
    // done.
    let mut open = vec![false; (side * side * side) as usize];
    let mut pieces = Vec::new();
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        same.iter().for_each(|(_, key)| open[*key as usize] = true);
        for &(cell, start) in same {
            if !std::mem::take(&mut open[start as usize]) {
                continue;
            }
            let mut piece = vec![(cell, start)];
            let mut next = 0;
            while next < piece.len() {
                let p = morton::decode(piece[next].1).map(i64::from);
                next += 1;
                for n in 0..27 {
                    let q = [p[0] + n % 3 - 1, p[1] + n / 3 % 3 - 1, p[2] + n / 9 - 1];
                    if q.iter().any(|v| *v < 0 || *v >= side) {
                        continue;
                    }
                    let neighbour = morton::encode(q.map(|v| v as u32));
                    if std::mem::take(&mut open[neighbour as usize]) {
                        piece.push((cell, neighbour));
                    }
                }
            }
            piece.sort_unstable();
            pieces.push(piece);
        }
    }
    pieces.sort_unstable();
    pieces
}

/// A face between two cells.
#[derive(Clone, Debug, PartialEq)]
pub struct VoronoiFace {
    /// Seed indices, the lower first.
    pub seeds: [u32; 2],
    /// Convex polygon, voxels; counter-clockwise as seen from the second seed.
    pub polygon: Vec<DVec3>,
}

/// The faces inside `bounds` (voxels of a grid of `level`), by ascending seed indices. Seeds that share
/// an object id (2016, sec. 4.7) have no face between them. Of coincident seeds the lowest index owns the cell.
#[must_use]
pub fn voronoi_faces(pattern: &Pattern, level: u32, bounds: Aabb) -> Vec<VoronoiFace> {
    use rayon::prelude::*;
    let seeds: Vec<DVec3> = pattern.seeds_in_voxels(level).into_iter().map(DVec3::from_array).collect();
    let owner = |i: usize| pattern.objects.get(i).copied().unwrap_or(i as u32);
    (0..seeds.len())
        .into_par_iter()
        .flat_map_iter(|i| {
            let mut near: Vec<(f64, usize)> = (0..seeds.len())
                .filter(|k| *k != i)
                .map(|k| (seeds[i].distance_squared(seeds[k]), k))
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let taken = near.iter().take_while(|(d, _)| *d == 0.0).any(|(_, k)| *k < i);
            let mut faces = Vec::new();
            for &(_, j) in near.iter().filter(|(d, j)| *d > 0.0 && *j > i && !taken) {
                if owner(i) != owner(j)
                    && let Some(polygon) = face(&seeds, &near, i, j, bounds)
                {
                    faces.push(VoronoiFace { seeds: [i as u32, j as u32], polygon });
                }
            }
            faces.sort_by_key(|face| face.seeds);
            faces
        })
        .collect()
}

/// The bisector of i and j, cut by the box and by i's bisectors with all others, the nearest first.
fn face(
    seeds: &[DVec3],
    near: &[(f64, usize)],
    i: usize,
    j: usize,
    Aabb { low, high }: Aabb,
) -> Option<Vec<DVec3>> {
    let (a, b) = (seeds[i], seeds[j]);
    let normal = (b - a).normalize_or_zero();
    // A square on the bisector that covers the box.
    let reach = (high - low).length() + (low - a).abs().max((high - a).abs()).length() + a.distance(b);
    let (u, v) = normal.any_orthonormal_pair();
    let (u, v) = if u.cross(v).dot(normal) < 0.0 { (v, u) } else { (u, v) };
    let middle = (a + b) * 0.5;
    let mut polygon: Vec<DVec3> = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y)| middle + (u * x + v * y) * reach)
        .into();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        polygon = keep(&polygon, |p| (high - p).dot(axis));
        polygon = keep(&polygon, |p| (p - low).dot(axis));
    }
    for &(squared, k) in near {
        if polygon.len() < 3 {
            return None;
        }
        // Nothing beyond twice the farthest corner can cut it.
        let farthest = polygon.iter().map(|p| p.distance_squared(a)).fold(0.0, f64::max);
        if squared > 4.0 * farthest {
            break;
        }
        if k != j && squared > 0.0 {
            let c = seeds[k];
            let (towards, half) = (c - a, (c.length_squared() - a.length_squared()) * 0.5);
            polygon = keep(&polygon, |p| half - p.dot(towards));
        }
    }
    (polygon.len() >= 3).then_some(polygon)
}

/// The part of a convex polygon where `side` is positive (Sutherland and Hodgman's clip against one plane).
fn keep(polygon: &[DVec3], side: impl Fn(DVec3) -> f64) -> Vec<DVec3> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (n, &p) in polygon.iter().enumerate() {
        let q = polygon[(n + 1) % polygon.len()];
        let (dp, dq) = (side(p), side(q));
        if dp > 0.0 {
            kept.push(p);
        }
        if (dp > 0.0) != (dq > 0.0) {
            kept.push(p + (q - p) * (dp / (dp - dq)));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::FractureParams;

    fn pattern(count: u32) -> Pattern {
        let params =
            FractureParams { seeds: count, radii: vec![0.2, 0.4], rng: 5, ..FractureParams::default() };
        Pattern::on_spheres(&params, DVec3::splat(30.0), BOX, 6).unwrap()
    }

    const BOX: Aabb = Aabb::new(DVec3::ZERO, DVec3::splat(64.0));

    #[test]
    fn every_corner_is_nearest_to_both_its_seeds() {
        let pattern = pattern(60);
        let seeds: Vec<DVec3> = pattern.seeds_in_voxels(6).into_iter().map(DVec3::from_array).collect();
        let faces = voronoi_faces(&pattern, 6, BOX);
        assert!(faces.len() > 150, "{}", faces.len());
        for face in &faces {
            let [i, j] = face.seeds.map(|s| seeds[s as usize]);
            for p in &face.polygon {
                let nearest = seeds.iter().map(|s| s.distance(*p)).fold(f64::INFINITY, f64::min);
                assert!((p.distance(i) - nearest).abs() < 1e-6 && (p.distance(j) - nearest).abs() < 1e-6);
            }
            let turn: DVec3 = (1..face.polygon.len() - 1)
                .map(|n| (face.polygon[n] - face.polygon[0]).cross(face.polygon[n + 1] - face.polygon[0]))
                .sum();
            assert!(turn.dot(j - i) > -1e-9, "counter-clockwise as seen from the second seed");
        }
    }

    /// Each cell is the union of pyramids from its seed over its faces; with the box's own sides the volumes fill
    /// the box. The part over the box's sides is measured by sampling corner owners there, so a missing face shows.
    #[test]
    fn the_faces_close_the_cells() {
        let pattern = pattern(20);
        let seeds: Vec<DVec3> = pattern.seeds_in_voxels(6).into_iter().map(DVec3::from_array).collect();
        let mut flux = vec![DVec3::ZERO; seeds.len()];
        for face in voronoi_faces(&pattern, 6, BOX) {
            let area: DVec3 = (1..face.polygon.len() - 1)
                .map(|n| {
                    (face.polygon[n] - face.polygon[0]).cross(face.polygon[n + 1] - face.polygon[0]) * 0.5
                })
                .sum();
            flux[face.seeds[0] as usize] += area;
            flux[face.seeds[1] as usize] -= area;
        }
        // Area vectors of a closed surface sum to zero: the rest is the cell's share of the box's sides.
        let steps = 400;
        let cell = 64.0 / f64::from(steps);
        for axis in 0..3 {
            for end in 0..2 {
                for n in 0..steps * steps {
                    let mut p = DVec3::ZERO;
                    p[axis] = 64.0 * f64::from(end);
                    p[(axis + 1) % 3] = (f64::from(n % steps) + 0.5) * cell;
                    p[(axis + 2) % 3] = (f64::from(n / steps) + 0.5) * cell;
                    let nearest = (0..seeds.len()).min_by(|a, b| {
                        seeds[*a].distance_squared(p).total_cmp(&seeds[*b].distance_squared(p))
                    });
                    flux[nearest.unwrap()][axis] += if end == 1 { cell * cell } else { -cell * cell };
                }
            }
        }
        for (i, sum) in flux.iter().enumerate() {
            assert!(sum.length() < 12.0, "cell {i} is open by {sum} voxels squared");
        }
    }

    #[test]
    fn merged_and_coincident_seeds_share_no_face() {
        let points = [DVec3::splat(16.0), DVec3::splat(16.0), DVec3::splat(48.0)];
        let mut pattern = Pattern::from_points(&points, 6).unwrap();
        let faces = voronoi_faces(&pattern, 6, BOX);
        assert_eq!(faces.iter().map(|f| f.seeds).collect::<Vec<_>>(), [[0, 2]]);
        pattern.objects = vec![0, 1, 0];
        assert!(voronoi_faces(&pattern, 6, BOX).is_empty());
    }
}
