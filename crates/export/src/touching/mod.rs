//! What the surface of a piece touches: the piece beyond each crack face, and points spread evenly over the surface.
//!
//! In: an [`Assembly`] with meshes. Out: of each triangle the piece on the other side of the crack; and of one mesh
//! [`SurfacePoints`], whose triangles say whether they lie on a crack and what lies beyond.

mod sample;
#[cfg(test)]
mod tests;

use std::{cmp::Reverse, sync::Arc};

use rayon::prelude::*;

pub use sample::{SurfacePoints, sample_surface};

use crate::{
    Assembly, ExportError, ExportPiece, Watch,
    meshes::{CrackFaces, Side, Tagged, WrittenMesh, places},
    pieces::by_object,
};

/// The face is no crack: it is the surface of the object.
pub const OUTSIDE: i32 = -1;
/// The face is a crack, and no piece is beyond it: what was there was dropped or turned to dust, or the crack ends in
/// the piece itself.
pub const NO_PIECE: i32 = -2;

/// Two pieces whose distances from a point differ by less are equally near, voxels. The cell beyond the face, where it
/// is known, then decides.
const TIE: f64 = 0.05;

/// The id of the piece beyond each triangle of each piece, [`OUTSIDE`] or [`NO_PIECE`]: by the id of the piece, then by
/// the index of the triangle in [`Assembly::mesh`]. A triangle that borders on several pieces has the one that borders
/// on most of its area. Pieces are neighbours within the distance at which [`bonds`](fn@crate::bonds) has them as such:
/// two voxels and the widest layer of dust.
///
/// # Errors
/// [`ExportError::Cancelled`].
pub fn pieces_beyond(what: &Assembly, watch: &Watch) -> Result<Vec<Vec<i32>>, ExportError> {
    let mut all: Vec<Vec<i32>> = vec![Vec::new(); what.pieces.len()];
    let mut done = 0;
    for own in by_object(&what.pieces).values() {
        watch.at(done, what.pieces.len())?;
        let mesh = |id: &usize| (*id, what.mesh(*id));
        let meshes: Vec<(usize, Arc<WrittenMesh>)> = own.par_iter().map(mesh).collect();
        for (id, mesh) in &meshes {
            let unknown = mesh.faces.iter().map(|face| match face.side {
                Side::Outside { .. } => OUTSIDE,
                Side::Inside | Side::Later(_) => NO_PIECE,
            });
            all[*id] = unknown.collect();
        }
        let faces = CrackFaces::of(&meshes, what.pieces[own[0]].voxel(), what.gap);
        drop(meshes);
        for some in faces.runs() {
            watch.at(done, what.pieces.len())?;
            let found: Vec<i32> = some.par_iter().map(|t| beyond(&faces, t, &what.pieces)).collect();
            for (triangle, piece) in some.iter().zip(found) {
                let face = faces.face(triangle);
                all[face.piece as usize][face.triangle as usize] = piece;
            }
        }
        done += own.len();
    }
    Ok(all)
}

/// The piece beyond a crack face, or [`NO_PIECE`]: that of most sample points, which stand for equal areas.
fn beyond(faces: &CrackFaces, triangle: &Tagged, pieces: &[ExportPiece]) -> i32 {
    let [a, b, c] = triangle.corners;
    let from = (triangle, (b - a).cross(c - a).try_normalize());
    let cell = faces.face(triangle).beyond;
    let is_of_cell = |piece: u32| pieces[piece as usize].cell == cell;
    let mut votes: Vec<(i32, u32)> = Vec::new();
    for place in places(triangle.corners, faces.along(triangle)) {
        let mut nearest = faces.opposite(from, place, faces.reach(), |_| true);
        if let (Some((squared, face)), Some(_)) = (nearest, cell)
            && !is_of_cell(face.piece)
        {
            let tie = (squared.sqrt() + TIE * faces.voxel()).min(faces.reach());
            nearest = faces.opposite(from, place, tie, is_of_cell).or(nearest);
        }
        let piece = nearest.map_or(NO_PIECE, |(_, face)| face.piece as i32);
        match votes.iter_mut().find(|(known, _)| *known == piece) {
            Some((_, count)) => *count += 1,
            None => votes.push((piece, 1)),
        }
    }
    // With equal counts a piece comes before none, and the lower id before the higher one.
    let most = votes.into_iter().max_by_key(|(piece, count)| (*count, *piece >= 0, Reverse(*piece)));
    most.map_or(NO_PIECE, |(piece, _)| piece)
}
