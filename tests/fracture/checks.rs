//! The checks by name, and what a case comes to when all of them are run.

use std::{ops::AddAssign, sync::Arc};

use kintsugi::{
    fracture::{Fracture, Pattern, Recipe},
    svo::Forest,
};

use super::{
    bed::{Bed, Bench, Outcome},
    f1_boundary_set as f1, f2_mass as f2, f3_motion as f3, f4_pieces as f4, f5_partners as f5,
    f7_local as f7, f10_dust as f10,
};

/// Says what is wrong.
pub type Check = fn(&Bed, &Outcome) -> Result<(), String>;

/// What must hold of every fracture. F6, F8 and F9 are about more than one result and have tests of their own.
pub const CHECKS: [(&str, Check); 14] = [
    ("F1 copies", f1::copies),
    ("F1 insides", f1::insides),
    ("F1 boundary set", f1::boundary_set),
    ("F1 counts", f1::counts),
    ("F1 octrees", f1::octrees),
    ("F2 mass", f2::mass),
    ("F2 mass properties", f2::grid_mass),
    ("F3 motion", f3::motion),
    ("F4 pieces", f4::pieces),
    ("F5 partners", f5::partners),
    ("F5 planes", f5::planes),
    ("F5 closed", f5::closed),
    ("F7 untouched leaves", f7::untouched),
    ("F10 dust", f10::dust),
];

/// What cases come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub cases: u64,
    /// Refused, since nothing but dust would be left; the reference leaves nothing either.
    pub refused: u64,
    pub copies: u64,
    pub crack_voxels: u64,
    pub inside: u64,
    pub pieces: u64,
    pub islands: u64,
    pub dust_voxels: u64,
    pub swallowed: u64,
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.cases += other.cases;
        self.refused += other.refused;
        self.copies += other.copies;
        self.crack_voxels += other.crack_voxels;
        self.inside += other.inside;
        self.pieces += other.pieces;
        self.islands += other.islands;
        self.dust_voxels += other.dust_voxels;
        self.swallowed += other.swallowed;
    }
}

impl Figures {
    fn of(outcome: &Outcome) -> Self {
        let counts = &outcome.counts;
        Self {
            cases: 1,
            refused: 0,
            copies: outcome.copies.len() as u64,
            crack_voxels: counts.crack_voxels,
            inside: outcome.inside.len() as u64,
            pieces: counts.pieces,
            islands: counts.islands,
            dust_voxels: counts.dust_voxels,
            swallowed: counts.swallowed,
        }
    }
}

/// The checks that an outcome fails, with what each found.
pub fn failures(bed: &Bed, outcome: &Outcome) -> Vec<(&'static str, String)> {
    let run = |(name, check): &(&'static str, Check)| check(bed, outcome).err().map(|what| (*name, what));
    CHECKS.iter().filter_map(run).collect()
}

/// Breaks one tree and runs every check.
///
/// # Errors
/// What every failed check found.
pub fn examine(
    bench: &Bench,
    (forest, tree): (&Arc<Forest>, u32),
    pattern: &Pattern,
    recipe: &Recipe,
) -> Result<(Figures, Option<Fracture>), String> {
    let bed = Bed::new(forest, tree, pattern, recipe);
    let fracture = bench.run(forest, tree, pattern, recipe);
    if bed.wanted.copies.is_empty() && bed.wanted.internal.is_empty() {
        return match fracture {
            Ok(_) => Err("pieces made of nothing".into()),
            Err(error) if error.to_string().contains("nothing but dust") => {
                Ok((Figures { cases: 1, refused: 1, ..Figures::default() }, None))
            }
            Err(error) => Err(error.to_string()),
        };
    }
    let fracture = fracture.map_err(|error| error.to_string())?;
    let outcome = Outcome::of(&fracture);
    let found = failures(&bed, &outcome);
    if found.is_empty() {
        return Ok((Figures::of(&outcome), Some(fracture)));
    }
    let lines: Vec<String> = found.iter().map(|(name, what)| format!("{name}: {what}")).collect();
    Err(lines.join("\n"))
}
