//! F1: the boundary set without copies is exactly the source's boundary voxels and the internal voxels that a
//! crack crosses, and the copies of each are exactly its cells, as the brute force over the whole grid has
//! them.

use kintsugi::fracture::{Recipe, Surface, crack::Sides};

use super::bed::{Bed, Cell, Outcome};

/// The first place where two sorted lists differ.
fn first_difference<T: PartialEq + std::fmt::Debug>(got: &[T], wanted: &[T]) -> Result<(), String> {
    if got == wanted {
        return Ok(());
    }
    let at = got.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    let (a, b) = (got.get(at), wanted.get(at));
    Err(format!("{} instead of {}; the first that differs is {a:?}, not {b:?}", got.len(), wanted.len()))
}

/// (object, voxel, crack) of every copy. What was a crack in the source stays one.
pub fn copies(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let mut list: Vec<_> = got.copies.iter().map(|c| (c.cell, c.key, c.leaf.color.crack())).collect();
    list.sort_unstable();
    let was_crack = |key| bed.leaf(key).is_some_and(|leaf| leaf.color.crack());
    let wanted: Vec<_> =
        bed.wanted.copies.iter().map(|(cell, key, crack)| (*cell, *key, *crack || was_crack(*key))).collect();
    first_difference(&list, &wanted)
}

/// (object, voxel) of every cell that stays inside.
pub fn insides(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let mut list: Vec<_> = got.inside.iter().map(|held| (held.cell, held.key)).collect();
    list.sort_unstable();
    first_difference(&list, &bed.wanted.internal)
}

/// From the result alone: without copies, the boundary voxels and the insides are the source, each cell once,
/// but for what is dust; every leaf of the source is still a leaf.
pub fn boundary_set(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let mut seen = vec![Cell::Empty; bed.cells.len()];
    for copies in got.voxels() {
        seen[copies[0].key as usize] = Cell::Leaf;
        if let Some(pair) = copies.windows(2).find(|pair| pair[0].piece == pair[1].piece) {
            return Err(format!("piece {} has voxel {} twice", pair[0].piece, pair[0].key));
        }
    }
    for held in &got.inside {
        let cell = &mut seen[held.key as usize];
        if *cell != Cell::Empty {
            return Err(format!("cell {} is inside piece {} and elsewhere too", held.key, held.piece));
        }
        *cell = Cell::Inside;
    }
    let mut gone = 0u64;
    for (key, (was, is)) in bed.cells.iter().zip(&seen).enumerate() {
        match (was, is) {
            (Cell::Empty, Cell::Empty) | (Cell::Leaf, Cell::Leaf) => {}
            (Cell::Inside, Cell::Leaf | Cell::Inside) => {}
            (Cell::Leaf | Cell::Inside, Cell::Empty) => gone += 1,
            _ => return Err(format!("cell {key} was {was:?} and is {is:?}")),
        }
    }
    if gone == got.counts.dust_voxels && (gone == 0 || bed.is_dusty()) {
        return Ok(());
    }
    Err(format!("{gone} solid cells are gone, {} are counted as dust", got.counts.dust_voxels))
}

/// The counts are those of the lists and of the reference.
pub fn counts(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let new_cracks = got.voxels().filter(|copies| bed.cells[copies[0].key as usize] == Cell::Inside).count();
    let mut cells: Vec<u32> = got.pieces.iter().map(|piece| piece.cell).collect();
    cells.sort_unstable();
    cells.dedup();
    let (counts, pieces) = (&got.counts, got.pieces.len());
    for (what, is, should) in [
        ("source_leaves", counts.source_leaves, bed.leaves.len()),
        ("crack_voxels", counts.crack_voxels, new_cracks),
        ("crack_voxels (reference)", counts.crack_voxels, bed.wanted.crack_voxels),
        ("fbs", counts.fbs, got.copies.len()),
        ("cells", counts.cells, cells.len()),
        ("islands", counts.islands, pieces - cells.len()),
        ("pieces", counts.pieces, pieces),
        ("swallowed", counts.swallowed, bed.wanted.swallowed),
    ] {
        if is != should as u64 {
            return Err(format!("{what} is {is}, not {should}"));
        }
    }
    Ok(())
}

/// The octrees are sound. Votes open holes, by which a node can hold an inside and no surface; that alone is let pass.
pub fn octrees(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let hole = |line: &str| opens_holes(&bed.recipe) && line.ends_with("holds no surface but is no root");
    got.findings.iter().find(|line| !hole(line)).map_or(Ok(()), |line| Err(line.clone()))
}

/// Whether leaves are given to sides by votes, which opens holes (kept for comparison: `docs/fracture.md`).
pub fn opens_holes(recipe: &Recipe) -> bool {
    recipe.surface == Surface::Rough && recipe.crack.sides == Sides::Votes
}
