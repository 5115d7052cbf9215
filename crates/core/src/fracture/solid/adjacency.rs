//! Pieces that touch, and where.
//!
//! In: pieces of one cut. Out: pairs of triangles that are the two sides of a crack. A method makes a crack's triangles
//! once and gives both sides the same corners to the last bit, so that triangles are matched by their corners.

use rayon::prelude::*;

use super::CutPiece;
use crate::shape::Side;

/// A triangle of a piece.
type At = (u32, u32);

/// The two sides of cracks.
pub(super) struct Adjacency {
    /// Pairs of touching pieces, the lower one first, with the triangles of each that touch; ascending.
    pub pairs: Vec<Pair>,
}

/// Two pieces that touch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    /// Their numbers, the lower one first.
    pub pieces: [u32; 2],
    /// m^2.
    pub area: f64,
    /// Triangles of the first and of the second that are equal except for their orientation.
    pub triangles: Vec<[u32; 2]>,
}

impl Adjacency {
    pub fn of(pieces: &[CutPiece]) -> Self {
        let mut sides: Vec<([[u64; 3]; 3], At)> = pieces
            .par_iter()
            .enumerate()
            .flat_map_iter(|(p, piece)| {
                let cracks =
                    (0..piece.surface.faces.len()).filter(|t| piece.surface.faces[*t].side == Side::Inside);
                cracks.map(move |t| {
                    let corner = |i: u32| piece.surface.positions[i as usize].to_array().map(f64::to_bits);
                    let mut corners = piece.surface.triangles[t].map(corner);
                    corners.sort_unstable();
                    (corners, (p as u32, t as u32))
                })
            })
            .collect();
        sides.par_sort_unstable();
        let mut met: Vec<([u32; 2], [u32; 2])> = sides
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|same| match same {
                [(_, (a, s)), (_, (b, t))] if a != b => Some(([*a, *b], [*s, *t])),
                _ => None,
            })
            .collect();
        met.par_sort_unstable();
        let pairs = met.chunk_by(|a, b| a.0 == b.0).map(|all| {
            let surface = &pieces[all[0].0[0] as usize].surface;
            let area = |t: u32| {
                let [a, b, c] = surface.triangles[t as usize].map(|i| surface.positions[i as usize]);
                0.5 * (b - a).cross(c - a).length()
            };
            Pair {
                pieces: all[0].0,
                area: all.iter().map(|(_, [t, _])| area(*t)).sum(),
                triangles: all.iter().map(|(_, t)| *t).collect(),
            }
        });
        Self { pairs: pairs.collect() }
    }
}
