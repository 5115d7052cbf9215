//! Convex collision shapes of pieces.
//!
//! In: a piece's mesh. Out: its convex hull ([`Hull`]), or several convex parts that leave hollows open.

mod parts;

use super::{Collision, PieceMesh};
pub use crate::shape::Hull;

/// Most vertices of a hull, which engines accept without simplifying it.
pub const MOST_POINTS: usize = 64;
/// Most convex parts of a piece.
pub const MOST_PARTS: usize = 16;
/// A piece that fills this share of its hull is not divided.
const FILLED: f64 = 0.92;

/// The requested collision shapes of a mesh; none if it has no volume.
#[must_use]
pub fn of(collision: Collision, mesh: &PieceMesh) -> Vec<Hull> {
    if collision == Collision::None {
        return Vec::new();
    }
    let Some(hull) = Hull::of(&mesh.positions, MOST_POINTS) else { return Vec::new() };
    let origin = mesh.positions.first().copied().unwrap_or_default();
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize] - origin);
        a.dot(b.cross(c)) / 6.0
    };
    let filled = mesh.triangles.iter().map(of).sum::<f64>() / hull.volume();
    if collision == Collision::Hull || filled > FILLED {
        return vec![hull];
    }
    parts::divided(mesh, hull)
}
