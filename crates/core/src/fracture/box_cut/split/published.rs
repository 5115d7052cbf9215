//! How often the published caps are wrong.
//!
//! The paper (section 5, listing 3 and figure 9) makes a piece by cutting the cell by the planes of the triangles
//! that lie in it. What comes out is convex, so it is the piece only where the surface in the cell is convex, and
//! where the planes leave the cell at all. In: a mesh and a complex. Out: the cells whose piece that would not be.
//! Here nothing hangs together by names: polygons of f64 are enough to compare volumes to one part in a million.

use super::exact::FINE_BITS;
use super::walk;
use super::{Fault, FineMesh, Makers, Skeleton, SplitError, split};
use crate::fracture::box_cut::complex::Complex;
use glam::DVec3;
use rayon::prelude::*;

/// Relative difference of volumes from which a cell counts as wrong, beside that of a fine unit on the whole surface:
/// a crack is rounded by that much where it meets the mesh, which is not the caps' fault.
const DIFFERENCE: f64 = 1e-6;

/// This near to a plane, a point is on it, units: faces of several triangles cut by one plane several times.
const ON_PLANE: f64 = 1e-6;

/// What the published caps would make of each cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedCaps {
    /// Cells whose published piece differs in volume from the exact ones by more than one part in a million.
    pub wrong: Vec<u32>,
    /// Cells with a piece.
    pub total: usize,
    /// Cells with a triangle in them; all others are right.
    pub with_surface: usize,
}

/// Compares the published caps with the exact pieces of a mesh. For reports: it splits the mesh first, and cuts each
/// cell by all its triangles, which takes time with the square of their number.
pub fn published_caps(mesh: &FineMesh, complex: &Complex) -> Result<PublishedCaps, SplitError> {
    let pieces = split(mesh, complex)?;
    let mut exact = vec![0.0; complex.sites.len()];
    let mut with_piece = vec![false; complex.sites.len()];
    for piece in &pieces {
        with_piece[piece.cell as usize] = true;
        exact[piece.cell as usize] += piece.volume();
    }
    let skeleton = Skeleton::new(complex)?;
    let shards = walk::walk(Makers { mesh, complex, skeleton: &skeleton }, Fault::default())?;
    let mut triangles_of = vec![Vec::new(); complex.sites.len()];
    for shard in &shards.shards {
        triangles_of[shard.cell as usize].push(shard.triangle);
    }
    let is_wrong = |&cell: &u32| {
        let triangles = &triangles_of[cell as usize];
        if triangles.is_empty() {
            return false;
        }
        let mut polytope = Polytope::of_cell(complex, cell);
        for &triangle in triangles {
            let [a, b, c] = mesh.triangle(triangle);
            if let Some(normal) = (b - a).cross(c - a).try_normalize() {
                polytope.clip(normal, normal.dot(a));
            }
        }
        let (own, exact) = (polytope.volume(), exact[cell as usize]);
        (own - exact).abs() > DIFFERENCE * own.max(exact) + polytope.area() / f64::from(1 << FINE_BITS)
    };
    let wrong = (0..complex.sites.len() as u32).into_par_iter().filter(is_wrong).collect();
    let total =
        (0..with_piece.len()).filter(|&cell| with_piece[cell] || !triangles_of[cell].is_empty()).count();
    let with_surface = triangles_of.iter().filter(|t| !t.is_empty()).count();
    Ok(PublishedCaps { wrong, total, with_surface })
}

/// Convex; faces counter-clockwise from outside.
struct Polytope {
    faces: Vec<Vec<DVec3>>,
}

impl Polytope {
    fn of_cell(complex: &Complex, cell: u32) -> Self {
        let face = |&facet: &u32| {
            let facet = &complex.facets[facet as usize];
            let mut ring: Vec<DVec3> =
                facet.ring.iter().map(|&v| complex.vertices[v as usize].position()).collect();
            if facet.site != cell {
                ring.reverse();
            }
            ring
        };
        Self { faces: complex.facets_of[cell as usize].iter().map(face).collect() }
    }

    /// Keeps normal . x <= limit, and closes the cut: its points, in the order of their angle.
    fn clip(&mut self, normal: DVec3, limit: f64) {
        let beyond = |p: DVec3| normal.dot(p) - limit;
        let is_inside = |at: f64| at <= ON_PLANE;
        if self.faces.iter().flatten().all(|&p| is_inside(beyond(p))) {
            return;
        }
        let mut cut: Vec<DVec3> = Vec::new();
        for face in &mut self.faces {
            let mut kept = Vec::with_capacity(face.len() + 1);
            for (k, &a) in face.iter().enumerate() {
                let b = face[(k + 1) % face.len()];
                let (at_a, at_b) = (beyond(a), beyond(b));
                if is_inside(at_a) {
                    kept.push(a);
                }
                if is_inside(at_a) != is_inside(at_b) {
                    let crossing = a + (b - a) * (at_a / (at_a - at_b)).clamp(0.0, 1.0);
                    kept.push(crossing);
                    cut.push(crossing);
                }
            }
            *face = kept;
        }
        self.faces.retain(|face| face.len() >= 3);
        if cut.len() < 3 {
            return;
        }
        let middle = cut.iter().sum::<DVec3>() / cut.len() as f64;
        let u = normal.any_orthonormal_vector();
        let v = normal.cross(u);
        cut.sort_by(|a, b| {
            let angle = |p: &DVec3| libm::atan2((*p - middle).dot(v), (*p - middle).dot(u));
            angle(a).total_cmp(&angle(b))
        });
        self.faces.push(cut);
    }

    fn volume(&self) -> f64 {
        let Some(origin) = self.faces.first().map(|face| face[0]) else { return 0.0 };
        let six: f64 = self
            .faces
            .iter()
            .flat_map(|face| {
                (1..face.len() - 1).map(move |k| [face[0], face[k], face[k + 1]].map(|p| p - origin))
            })
            .map(|[a, b, c]| a.dot(b.cross(c)))
            .sum();
        six / 6.0
    }

    fn area(&self) -> f64 {
        let of_face = |face: &Vec<DVec3>| {
            let doubled: DVec3 =
                (1..face.len() - 1).map(|k| (face[k] - face[0]).cross(face[k + 1] - face[0])).sum();
            0.5 * doubled.length()
        };
        self.faces.iter().map(of_face).sum()
    }
}
