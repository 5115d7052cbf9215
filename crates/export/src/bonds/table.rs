//! `bonds.csv`: the neighbours, the crack that they share, and what its bond bears.
//!
//! In: bonds. Out: a row each, with areas and positions in the file's units and axes, relative to the first piece of each
//! pair, and loads in N and N m.

use std::fmt::Write as _;

use super::Bond;
use crate::Assembly;

/// The table's text.
pub fn text(what: &Assembly, all: &[Bond]) -> String {
    let space = what.handover.table_space();
    let mut text = String::from(
        "a,b,area,gap,centre_x,centre_y,centre_z,normal_x,normal_y,normal_z,pull,press,slide,bend,twist\n",
    );
    for bond in all {
        let piece = &what.pieces[bond.pieces[0]];
        let placing = &piece.placing;
        let units = placing.scale * space.per_metre;
        let (centre, normal) =
            (space.point(placing.point(bond.centre)), space.direction(placing.rotation * bond.normal));
        let holds = what.capacity(bond);
        let [a, b] = bond.pieces;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{a},{b},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            bond.area * units * units,
            bond.gap * units,
            centre.x,
            centre.y,
            centre.z,
            normal.x,
            normal.y,
            normal.z,
            holds.pull,
            holds.press,
            holds.slide,
            holds.bend,
            holds.twist
        );
    }
    text
}
