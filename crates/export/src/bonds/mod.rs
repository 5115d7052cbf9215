//! The bonds of neighbouring pieces, and the files in which they leave for other programs.
//!
//! In: an [`Assembly`] with meshes. Out: `bonds.csv`, and beside it what the target program reads: a table of four files
//! below. To add one: a file here with a function that makes its text, a line in [`FILES`], and a section in docs/files.md.

mod blender;
mod bond;
mod find;
mod houdini;
mod table;
#[cfg(test)]
mod tests;
mod unreal;
mod usd;

use std::path::Path;

pub use bond::{Bond, Capacity, HeldBond};
pub use find::bonds;

use crate::{Assembly, ExportError, Format, Target, Watch};

/// Neighbours, the crack that they share, and what its bond bears.
pub const BONDS_FILE: &str = "bonds.csv";

/// A bond between two pieces that lie where the crack between them is closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Joint {
    /// What they share.
    pub bond: Bond,
    /// What it bears: N, and N m of the files, whose lengths may not be those of the object.
    pub holds: Capacity,
}

/// A line of the table.
struct BondFile {
    /// Its name in the folder.
    file: &'static str,
    /// The program that reads it; `None`: any.
    target: Option<Target>,
    /// The formats to whose file it adds, the first of them that is there; its text names the first one. It is not written
    /// without one of them, unless there are none.
    beside: &'static [Format],
    /// Its text.
    text: fn(&Assembly, &[Joint]) -> String,
}

const FILES: [BondFile; 4] = [
    BondFile { file: "bonds.usda", target: None, beside: &[Format::Usda, Format::Usdc], text: usd::text },
    BondFile { file: "bonds_blender.py", target: Some(Target::Blender), beside: &[], text: blender::text },
    BondFile { file: "bonds_houdini.geo", target: Some(Target::Houdini), beside: &[], text: houdini::text },
    BondFile { file: "bonds_unreal.json", target: Some(Target::Unreal), beside: &[], text: unreal::text },
];

/// Names of all files that [`write`] may write.
pub(crate) const NAMES: [&str; 5] = [BONDS_FILE, FILES[0].file, FILES[1].file, FILES[2].file, FILES[3].file];

/// Farthest distance between the two sides of a bond's centre, as a share of a voxel.
const CLOSED: f64 = 0.5;
/// Least product of two rotations of one body: half an angle of 1.4e-3.
const ALIKE: f64 = 1.0 - 1e-6;

/// What holds the pieces together where they lie, by ascending pair. Pieces that have come apart since, and bonds that have
/// failed, have no joint.
pub(crate) fn joints(what: &Assembly, all: &[Bond]) -> Vec<Joint> {
    let joint = |bond: &Bond| {
        let [a, b] = bond.pieces.map(|piece| &what.pieces[piece]);
        let apart = a.placing.point(bond.centre).distance(b.placing.point(bond.centre));
        let is_closed = apart <= CLOSED * a.voxel() * a.placing.scale
            && a.placing.rotation.dot(b.placing.rotation).abs() >= ALIKE;
        let holds = what.capacity(bond);
        (is_closed && holds.pull > 0.0).then_some(Joint { bond: *bond, holds })
    };
    all.iter().filter_map(joint).collect()
}

/// The first level at which the pieces of a bond are in different lumps, and the number of levels where there is none; `None`
/// where a piece is in no lump.
fn lump_level(what: &Assembly, bond: &Bond) -> Option<usize> {
    let [a, b] = bond.pieces.map(|piece| what.lumps.get(&piece));
    Some(a?.iter().zip(b?).take_while(|(a, b)| a == b).count())
}

/// Writes `bonds.csv` and what the target program reads into `folder`; names of the files.
///
/// # Errors
/// [`ExportError`]; files may then be there in part.
pub(crate) fn write(folder: &Path, what: &Assembly, watch: &Watch) -> Result<Vec<&'static str>, ExportError> {
    let all = bonds(what, watch)?;
    let put = |name: &'static str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| ExportError::write(&path, e)).map(|()| name)
    };
    let mut files = vec![put(BONDS_FILE, table::text(what, &all))?];
    let joints = joints(what, &all);
    for line in &FILES {
        let is_read = line.target.is_none_or(|target| what.handover.target == Some(target));
        let beside = line.beside.iter().find(|format| folder.join(format.file).is_file());
        if is_read && (line.beside.is_empty() || beside.is_some()) {
            let mut text = (line.text)(what, &joints);
            if let (Some(named), Some(beside)) = (line.beside.first(), beside) {
                text = text.replacen(named.file, beside.file, 1);
            }
            files.push(put(line.file, text)?);
        }
    }
    Ok(files)
}
