//! `bonds_blender.py`: a script that makes rigid bodies of the pieces in Blender, and a breakable constraint of each bond.
//!
//! In: joints. Out: the script `blender.py` beside this file with the pieces and the bonds in its two lists. Axes are
//! Blender's, z up, as its importers lay the pieces; lengths are metres. The script computes Blender's threshold, an impulse
//! in a step of the solver, from the break force and the scene's own steps.

use std::fmt::Write as _;

use super::Joint;
use crate::Assembly;

/// The script with empty lists.
const SCRIPT: &str = include_str!("blender.py");

/// The script's text.
pub fn text(what: &Assembly, joints: &[Joint]) -> String {
    let space = what.handover.table_space();
    let (mut pieces, mut bonds) = (String::new(), String::new());
    for piece in &what.pieces {
        let solid = what.solid(piece.id);
        let at = space.point(piece.placing.point(solid.centre));
        // Writing to a string cannot fail.
        let _ = writeln!(pieces, "    (\"{}\", {}, ({}, {}, {})),", piece.name(), solid.kg, at.x, at.y, at.z);
    }
    for Joint { bond, holds } in joints {
        let [a, b] = bond.pieces.map(|piece| &what.pieces[piece]);
        let at = space.point(a.placing.point(bond.centre));
        let (a, b) = (a.name(), b.name());
        let (force, torque) = (holds.force(), holds.torque());
        let _ = writeln!(bonds, "    (\"{a}\", \"{b}\", ({}, {}, {}), {force}, {torque}),", at.x, at.y, at.z);
    }
    SCRIPT
        .replace("VERSION", env!("CARGO_PKG_VERSION"))
        .replace("PIECES = []", &format!("PIECES = [\n{pieces}]"))
        .replace("BONDS = []", &format!("BONDS = [\n{bonds}]"))
}
