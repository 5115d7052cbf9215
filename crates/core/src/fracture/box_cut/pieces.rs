//! What the pieces of a cut show: the mesh's own corners outside, the cracks' colour, direction and texture coordinates
//! inside.
//!
//! In: pieces of [`split`](super::split), in units. Out: surfaces in shape space. Corners of the mesh keep their places to
//! the last bit.

use glam::DVec3;

use super::{
    complex::{Beyond, Complex},
    split::{SplitFace, SplitPiece},
};
use crate::{
    fracture::{
        Volume,
        solid::{CutPiece, SourceMesh, Units, crack_corner, mixed},
    },
    shape::{Face, PieceMesh, Side},
};

/// What is needed to dress a piece.
pub struct Dress<'a> {
    /// What was cut.
    pub source: &'a SourceMesh,
    /// By what.
    pub complex: &'a Complex,
    /// Units of its seeds.
    pub units: Units,
    /// What cracks show.
    pub volume: Volume,
    /// Whether cracks say which cell lies beyond them: cells are numbered over all breaks of an object, which only the
    /// first one knows.
    pub tells_beyond: bool,
}

impl Dress<'_> {
    /// One piece.
    #[must_use]
    pub fn piece(&self, piece: SplitPiece) -> CutPiece {
        let own = &self.source.surface;
        let mut positions: Vec<DVec3> = piece.positions.iter().map(|p| self.units.to_shape(*p)).collect();
        let mut faces = Vec::with_capacity(piece.triangles.len());
        let mut corners = Vec::with_capacity(piece.triangles.len());
        for ((triangle, face), weights) in piece.triangles.iter().zip(&piece.faces).zip(&piece.weights) {
            match face {
                SplitFace::Outside(t) => {
                    let t = *t as usize;
                    for (i, weights) in triangle.iter().zip(weights) {
                        // A corner of the mesh is where the mesh has it.
                        if let Some(k) = weights.iter().position(|w| *w == 1.0) {
                            positions[*i as usize] = own.positions[own.triangles[t][k] as usize];
                        }
                    }
                    faces.push(own.faces[t]);
                    corners.push(weights.map(|weights| mixed(&own.corners[t], weights)));
                }
                SplitFace::Cap(facet) => {
                    let plane = self.complex.plane(*facet);
                    let facet = &self.complex.facets[*facet as usize];
                    let outward = DVec3::from_array(plane.normal.map(|n| n as f64)).normalize_or(DVec3::Y);
                    let (normal, beyond) = if facet.site == piece.cell {
                        (outward, facet.beyond)
                    } else {
                        (-outward, Beyond::Site(facet.site))
                    };
                    let normal = normal.as_vec3();
                    let beyond = match beyond {
                        Beyond::Site(site) if self.tells_beyond => Some(site),
                        Beyond::Site(_) | Beyond::Wall(_) => None,
                    };
                    faces.push(Face { side: Side::Inside, beyond });
                    corners.push(triangle.map(|i| {
                        let (units, place) = (piece.positions[i as usize], positions[i as usize]);
                        crack_corner(&self.volume, units, place, normal)
                    }));
                }
            }
        }
        let surface = PieceMesh { positions, triangles: piece.triangles, faces, corners };
        CutPiece { cell: piece.cell, surface }
    }
}
