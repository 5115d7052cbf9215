//! F2: what the pieces weigh and what is dust sum to the source, to 1e-6; and a piece's mass, centre, inertia
//! and bounds are the sums over its voxels.

use glam::{DMat3, DVec3};
use kintsugi::geometry::Aabb;
use kintsugi::{
    shape::{GridMass, box_thickness},
    svo::morton::{self, Key},
};

use super::bed::{Bed, Cell, Outcome};

/// Relative error allowed.
pub const MASS: f64 = 1e-6;

/// Volume of the source, voxels.
pub fn source_volume(bed: &Bed) -> f64 {
    let inside = bed.cells.iter().filter(|cell| **cell == Cell::Inside).count();
    inside as f64 + bed.leaves.iter().map(|(_, leaf)| f64::from(leaf.coverage)).sum::<f64>()
}

pub fn mass(bed: &Bed, got: &Outcome) -> Result<(), String> {
    let before = source_volume(bed);
    let copies: f64 = got.copies.iter().map(|copy| f64::from(copy.leaf.coverage)).sum();
    let summed: f64 = got.pieces.iter().map(|piece| piece.mass.volume).sum();
    for (what, after) in [("voxels", copies + got.inside.len() as f64), ("pieces", summed)] {
        let error = (after + got.dust_volume) / before - 1.0;
        if error.abs() > MASS {
            return Err(format!(
                "{what} {after} and dust {} instead of {before}: {error:.1e}",
                got.dust_volume
            ));
        }
    }
    Ok(())
}

/// Sums over weighted voxels, each a cube of its own.
#[derive(Clone, Copy, Debug)]
pub struct Sums {
    pub volume: f64,
    first: DVec3,
    second: DMat3,
    bounds: Option<Aabb>,
    pub voxels: u64,
}

impl Default for Sums {
    fn default() -> Self {
        // A matrix is the identity by default.
        Self { volume: 0.0, first: DVec3::ZERO, second: DMat3::ZERO, bounds: None, voxels: 0 }
    }
}

impl Sums {
    pub fn add(&mut self, key: Key, weight: f64) {
        let low = DVec3::from_array(morton::decode(key).map(f64::from));
        let at = low + 0.5;
        self.volume += weight;
        self.first += weight * at;
        // The cube's own second moment is a twelfth along each axis.
        let outer = DMat3::from_cols(at * at.x, at * at.y, at * at.z);
        self.second += (outer + DMat3::IDENTITY * (1.0 / 12.0)) * weight;
        let high = low + 1.0;
        self.bounds = Some(self.bounds.unwrap_or(Aabb::NOTHING).joined(Aabb::new(low, high)));
        self.voxels += 1;
    }

    pub fn properties(&self) -> GridMass {
        let centre = self.first / self.volume;
        let outer = DMat3::from_cols(centre * centre.x, centre * centre.y, centre * centre.z);
        let about = self.second - outer * self.volume;
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        let inertia = DMat3::IDENTITY * trace - about;
        GridMass {
            volume: self.volume,
            centre,
            inertia,
            thickness: box_thickness(self.volume, &inertia),
            bounds: self.bounds.unwrap_or_default(),
            voxels: self.voxels,
        }
    }
}

pub fn grid_mass(_: &Bed, got: &Outcome) -> Result<(), String> {
    let mut sums = vec![Sums::default(); got.pieces.len()];
    for copy in &got.copies {
        sums[copy.piece as usize].add(copy.key, f64::from(copy.leaf.coverage));
    }
    for held in &got.inside {
        sums[held.piece as usize].add(held.key, 1.0);
    }
    for (id, (piece, sum)) in got.pieces.iter().zip(&sums).enumerate() {
        let (is, should) = (&piece.mass, sum.properties());
        let scale = should.inertia.x_axis.x + should.inertia.y_axis.y + should.inertia.z_axis.z;
        let turned = (is.inertia - should.inertia).to_cols_array().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let off = [
            ("volume", (is.volume / should.volume - 1.0).abs()),
            ("centre", is.centre.distance(should.centre)),
            ("inertia", turned / scale),
            ("low bounds", is.bounds.low.distance(should.bounds.low)),
            ("high bounds", is.bounds.high.distance(should.bounds.high)),
            (
                "voxels",
                piece.voxels.abs_diff(should.voxels) as f64 + is.voxels.abs_diff(should.voxels) as f64,
            ),
        ];
        if let Some((what, error)) = off.iter().find(|(_, error)| *error > MASS || error.is_nan()) {
            return Err(format!("{what} of piece {id} is off by {error:.1e}: {is:?}, not {should:?}"));
        }
    }
    if got.pieces.is_sorted_by(|a, b| a.voxels >= b.voxels) {
        return Ok(());
    }
    Err("pieces do not go by descending size".into())
}
