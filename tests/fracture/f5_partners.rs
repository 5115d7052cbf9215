//! F5: every crack voxel has its partners, with opposite normals on plain faces; rough surfaces match without
//! a gap: both sides of a crack show one surface, an inside is closed off by its own piece's boundary
//! everywhere, and so no two insides ever meet.

use std::collections::{BTreeSet, HashMap};

use glam::DVec3;
use kintsugi::{
    fracture::{
        Surface,
        crack::{
            CrackUniform,
            reference::{CrackReference, LeafPlane},
        },
    },
    svo::{
        morton::{self, Key},
        unpack_cut, unpack_normal,
    },
};
use rayon::prelude::*;

use super::{
    bed::{Bed, Cell, Copy, Outcome},
    f1_boundary_set::opens_holes,
    f10_dust::parts,
};

/// A plane as a copy shows it: out of the piece, and how far from the voxel's centre, voxels.
fn shown(copy: &Copy) -> (DVec3, f64) {
    (unpack_normal(copy.leaf.normal).as_dvec3(), f64::from(copy.leaf.color.offset()))
}

/// Voxels that this fracture made boundary.
fn cracks<'a>(bed: &'a Bed, got: &'a Outcome) -> impl Iterator<Item = &'a [Copy]> {
    got.voxels().filter(|copies| bed.cells[copies[0].key as usize] == Cell::Inside)
}

/// A crack voxel has copies in several objects, or in one and the rest is dust: no faces inside an object.
/// Two copies show one plane from its two sides where the corners have two seeds. Where an object of several seeds bends in the
/// voxel there are several bisectors, and each side shows that of its own seed ([`planes`] checks them).
pub fn partners(bed: &Bed, got: &Outcome) -> Result<(), String> {
    for copies in cracks(bed, got) {
        let key = copies[0].key;
        if let [only] = copies {
            if parts(bed, copies) == Some(2) && bed.is_dusty() {
                continue;
            }
            return Err(format!("crack voxel {key} is in object {} alone", only.cell));
        }
        for (i, copy) in copies.iter().enumerate() {
            if copies[..i].iter().any(|other| other.cell == copy.cell) {
                return Err(format!("crack voxel {key} is twice in object {}", copy.cell));
            }
        }
        if let ([a, b], false) = (copies, bed.is_dusty()) {
            let ((n, d), (m, e)) = (shown(a), shown(b));
            let is_plain = || {
                let seeds: BTreeSet<usize> = bed.corner_seeds(key).into_iter().collect();
                bed.recipe.surface != Surface::Planar || seeds.len() <= 2
            };
            if (n.dot(m) > -0.9999 || (d + e).abs() > 1e-6) && is_plain() {
                return Err(format!("crack voxel {key}: {n} at {d} and {m} at {e} are not one plane"));
            }
        }
    }
    Ok(())
}

/// Every inside voxel's 26 neighbours that are solid at all belong to its piece too: a piece has a boundary
/// voxel wherever its inside ends, so neither holes nor two insides that meet, not even at a corner.
pub fn closed(bed: &Bed, got: &Outcome) -> Result<(), String> {
    if opens_holes(&bed.recipe) {
        return Ok(());
    }
    let mut inside = vec![u32::MAX; bed.cells.len()];
    got.inside.iter().for_each(|held| inside[held.key as usize] = held.piece);
    let side = 1i64 << bed.level;
    let open = got.inside.par_iter().find_map_any(|held| {
        let p = morton::decode(held.key).map(i64::from);
        (0..27).find_map(|n| {
            let q = [p[0] + n % 3 - 1, p[1] + n / 3 % 3 - 1, p[2] + n / 9 - 1];
            if !q.iter().all(|v| (0..side).contains(v)) {
                return None;
            }
            let key = morton::encode(q.map(|v| v as u32));
            if bed.cells[key as usize] == Cell::Empty || inside[key as usize] == held.piece {
                return None;
            }
            let own = got.copies_at(key).iter().any(|copy| copy.piece == held.piece);
            (!own).then(|| format!("the inside of piece {} is open at {p:?} towards {q:?}", held.piece))
        })
    });
    open.map_or(Ok(()), Err)
}

/// What a crack voxel shows is the bisector of two of its corners' seeds, the nearest there is (planar), or
/// the nearest crack triangle that touches it, with a ridge as its cut (rough).
pub fn planes(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let all: Vec<&[Copy]> = cracks(bed, got).collect();
    // A million planes at most, spread evenly.
    let stride = all.len().div_ceil(400_000).max(1);
    let some = all.par_iter().step_by(stride);
    let wrong = match bed.recipe.surface {
        Surface::Planar => some.find_map_any(|copies| {
            let seeds = bed.corner_seeds(copies[0].key);
            copies.iter().find_map(|copy| bisector(bed, copy, &seeds))
        }),
        Surface::Rough => {
            let transition =
                bed.recipe.crack.transition(bed.level, bed.recipe.surface).map_err(|e| e.to_string())?;
            let words = CrackUniform::new(&bed.recipe.crack, bed.recipe.rng, transition);
            some.map_init(
                || CrackReference::new(&bed.pattern, words, bed.level),
                |cracks, copies| copies.iter().find_map(|copy| facet(cracks, copy)),
            )
            .find_map_any(|found| found)
        }
        // Each border is a surface of its own; what it leaves is F10's.
        Surface::Dusty => None,
    };
    wrong.map_or(Ok(()), Err)
}

/// Says what is wrong with a planar copy.
fn bisector(bed: &Bed, copy: &Copy, corner_seeds: &[usize; 8]) -> Option<String> {
    let (normal, offset) = shown(copy);
    let unit = f64::from(1 << (14 - bed.level));
    let centre = DVec3::from_array(morton::decode(copy.key).map(f64::from)) + 0.5;
    let place = |seed: usize| DVec3::from_array(bed.pattern.seeds[seed].map(f64::from)) / unit;
    let (own, others): (Vec<usize>, Vec<usize>) =
        corner_seeds.iter().partition(|seed| bed.pattern.objects[**seed] == copy.cell);
    let fits = own.iter().any(|own| {
        let plane = |other: usize| {
            let (a, b) = (place(*own), place(other));
            let towards = (b - a).normalize_or_zero();
            (towards, ((a + b) / 2.0 - centre).dot(towards))
        };
        let nearest = others.iter().map(|other| plane(*other).1).fold(f64::INFINITY, f64::min);
        others.iter().any(|other| {
            let (towards, distance) = plane(*other);
            // Offsets are stored in 1/64 voxel, within one voxel.
            distance < nearest + 0.02
                && towards.dot(normal) > 0.9999
                && (distance.clamp(-1.0, 63.0 / 64.0) - offset).abs() < 0.02
        })
    });
    (!fits).then(|| format!("voxel {}, object {}: {normal} at {offset} is no bisector", copy.key, copy.cell))
}

/// Says what is wrong with a rough copy.
fn facet(cracks: &mut CrackReference<'_>, copy: &Copy) -> Option<String> {
    let (normal, offset) = shown(copy);
    let cut = unpack_cut(copy.leaf.cut).map(|(n, offset)| (n.as_dvec3(), f64::from(offset)));
    let planes = cracks.planes(morton::decode(copy.key), copy.cell);
    let nearest = planes.iter().map(|plane| plane.distance).fold(f64::INFINITY, f64::min);
    // Facets may lie in one plane: one of them explains what the copy shows.
    let close = |plane: &LeafPlane, normal: &DVec3, offset: &f64| {
        plane.normal.dot(*normal) > 0.999 && (plane.offset - offset).abs() < 0.02
    };
    let fits = planes.iter().any(|first| {
        let mut ridges = planes.iter().filter(|plane| plane.makes_ridge_with(first));
        first.distance < nearest + 1e-3
            && close(first, &normal, &offset)
            && match &cut {
                Some((normal, offset)) => ridges.any(|plane| close(plane, normal, offset)),
                None => ridges.next().is_none(),
            }
    });
    (!fits).then(|| format!("voxel {}, object {}: {normal} at {offset}, {cut:?}", copy.key, copy.cell))
}

/// Crack voxels by the number of their copies.
pub fn by_copies(bed: &Bed, got: &Outcome) -> HashMap<usize, usize> {
    let mut by = HashMap::new();
    cracks(bed, got).for_each(|copies| *by.entry(copies.len()).or_default() += 1);
    by
}

/// A key that the tests can name.
pub fn first_crack(bed: &Bed, got: &Outcome, copies: usize) -> Key {
    let found = cracks(bed, got).find(|all| all.len() == copies);
    found.expect("a crack voxel with so many copies")[0].key
}
