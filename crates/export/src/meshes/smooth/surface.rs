//! The steps from leaves and internal nodes to a closed surface, grid coordinates.

use glam::IVec3;

use super::{
    bricks::Bricks,
    faces::Faces,
    leaves::Leaf,
    place::{Crossing, crossings, place},
    sharpen::sharpen,
    thin::thin,
    untangle::{Untangled, triangulated, untangle},
    walls::find_walls,
};

/// Largest shift of cracks to match a piece's volume, voxels.
const MOST_SHIFT: f64 = 0.1;
/// Iterations of the shift before folds are removed.
const STEPS: usize = 2;
/// If unfolding changed the volume by more than this share, cracks are shifted again, up to `AGAIN` times.
const LOST: f64 = 2e-4;
const AGAIN: usize = 3;

/// An outside face farther than this from its plane does not lie on it, voxels.
const OFF: f64 = 0.6;

/// A closed surface.
pub struct Surface {
    /// The leaves, with planes at sharp edges.
    pub leaves: Vec<Leaf>,
    pub faces: Faces,
    /// Crossing of each face.
    pub crossings: Vec<Crossing>,
    pub mesh: Untangled,
    /// Distance by which cracks were moved outward to match the octree's volume, voxels.
    pub crack_shift: f64,
}

impl Surface {
    /// Builds the surface of leaves and internal nodes (low corner and edge). If `volume` (voxels) is given, cracks are
    /// moved to match it.
    pub fn new(mut leaves: Vec<Leaf>, inside: &[(IVec3, i32)], volume: Option<f64>) -> Self {
        let at: Vec<IVec3> = leaves.iter().map(|leaf| leaf.at).collect();
        let mut bricks = Bricks::new(&at, inside);
        sharpen(&bricks, &mut leaves);
        find_walls(&bricks, &mut leaves);
        thin(&mut bricks, &leaves);
        let faces = Faces::new(&bricks);
        let mut crossings = crossings(&bricks, &leaves, &faces);

        let (mut targets, safe) = place(&bricks, &faces, &crossings, 0.0);
        let mut crack_shift = 0.0;
        let mut shifted = |mesh: &Untangled, least: f64| {
            let shift = shift_for(volume?, mesh, &crossings, crack_shift, least)?;
            crack_shift = shift;
            Some(place(&bricks, &faces, &crossings, shift).0)
        };
        for _ in 0..STEPS {
            let Some(moved) = shifted(&triangulated(&faces, &crossings, targets.clone()), 0.0) else { break };
            targets = moved;
        }
        let mut shares = vec![1.0; targets.len()];
        let mut mesh = untangle(&faces, &crossings, &mut targets, &safe, &mut shares, false);
        for _ in 0..AGAIN {
            let Some(mut moved) = shifted(&mesh, LOST) else { break };
            mesh = untangle(&faces, &crossings, &mut moved, &safe, &mut shares, false);
            targets = moved;
        }
        let mesh = untangle(&faces, &crossings, &mut targets, &safe, &mut shares, true);
        give_to_cracks(&faces, &mut crossings, &mesh);
        Self { leaves, faces, crossings, mesh, crack_shift }
    }
}

/// Turns faces of the outside that do not lie on it into crack faces: slivers beside cracks whose vertices had to move.
fn give_to_cracks(faces: &Faces, crossings: &mut [Crossing], mesh: &Untangled) {
    let is_beside: Vec<bool> = (0..faces.places.len())
        .map(|vertex| faces.round(vertex).iter().any(|face| crossings[*face as usize].crack))
        .collect();
    for (triangle, face) in mesh.triangles.iter().zip(&mesh.of_face) {
        let crossing = &mut crossings[*face as usize];
        let off = |v: u32| (mesh.positions[v as usize] - crossing.foot).dot(crossing.normal.as_dvec3()).abs();
        crossing.crack |= triangle.iter().any(|v| is_beside[*v as usize] && off(*v) > OFF);
    }
}

/// Distance by which cracks should be moved, if the volume of `mesh`, made with the shift `before`, differs from
/// `volume` by more than the share `least`.
fn shift_for(volume: f64, mesh: &Untangled, crossings: &[Crossing], before: f64, least: f64) -> Option<f64> {
    let (mut held, mut cracks) = (0.0, 0.0);
    for (t, face) in mesh.triangles.iter().zip(&mesh.of_face) {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        held += a.dot(b.cross(c)) / 6.0;
        if crossings[*face as usize].crack {
            cracks += 0.5 * (b - a).cross(c - a).length();
        }
    }
    let shift = (before + (volume - held) / cracks).clamp(-MOST_SHIFT, MOST_SHIFT);
    ((volume - held).abs() > least * volume && shift.is_finite() && shift != before).then_some(shift)
}
