//! Positions of vertices: least squares over the planes of the faces round them (Ju, Losasso, Schaefer & Warren 2002).

use glam::{DMat3, DVec3, IVec3, Vec3};
use rayon::prelude::*;

use super::{
    bricks::{Bricks, Cell},
    faces::{Faces, Quad, cycles_of},
    leaves::Leaf,
};

/// Where the surface passes a face, between the centres of its solid and its empty voxel.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// Point on the line between the centres, grid coordinates.
    pub point: DVec3,
    /// Normal of the surface's plane there, and a point of the plane.
    pub normal: Vec3,
    pub foot: DVec3,
    /// Weight: how much of the plane lies in the face; 0 if no plane is known.
    pub weight: f64,
    pub crack: bool,
    /// Whether a plane clearly crosses between the two centres and is not parallel to the line between them.
    pub is_sure: bool,
    /// The leaf with the plane, or `u32::MAX`.
    pub leaf: u32,
}

impl Crossing {
    fn shifted(mut self, shift: f64) -> Self {
        if self.crack {
            let by = self.normal.as_dvec3() * shift;
            self.point += by;
            self.foot += by;
        }
        self
    }
}

/// Directions with less than this share of the largest eigenvalue are taken from the mean of the crossings.
const FLAT: f64 = 0.04;
/// Least distance between sheets that share a corner or an edge of the grid, voxels.
pub const APART: f64 = 0.15;

/// Where the outside meets cracks at a slant, least squares can move far; a vertex stays this near to a crossing of the
/// outside, voxels.
const FROM_OUTSIDE: f64 = 0.5;

/// A plane within this angle (sine) of the line between two centres, or this far from its expected crossing, may not be
/// the one that separates them.
const ALONG: f64 = 0.2;
const BESIDE: f32 = 0.5;

/// The crossing of each face.
pub fn crossings(bricks: &Bricks, leaves: &[Leaf], faces: &Faces) -> Vec<Crossing> {
    let mut found: Vec<Crossing> =
        faces.quads.par_iter().map(|quad| crossing(bricks, leaves, quad)).collect();
    // A voxel stores at most two planes; a third crack is inferred from its neighbours.
    let is_cracked = |face: usize| {
        let quad = &faces.quads[face];
        let by_leaf = [quad.solid, quad.solid + quad.direction()].into_iter().any(
            |voxel| matches!(bricks.cell(voxel), Cell::Leaf(leaf) if leaves[leaf as usize].is_cracked()),
        );
        by_leaf || is_in_crack(faces, &found, face)
    };
    let cracked: Vec<bool> = (0..found.len())
        .into_par_iter()
        .map(|face| found[face].crack || !found[face].is_sure && is_cracked(face))
        .collect();
    found.iter_mut().zip(cracked).for_each(|(crossing, cracked)| crossing.crack = cracked);
    found
}

/// Whether most of the sure crossings round a face belong to cracks.
fn is_in_crack(faces: &Faces, crossings: &[Crossing], face: usize) -> bool {
    let mut more = 0;
    for corner in faces.quads[face].corners {
        let sure = faces.round(corner as usize).iter().map(|other| &crossings[*other as usize]);
        more += sure.filter(|other| other.is_sure).map(|other| if other.crack { 1 } else { -1 }).sum::<i32>();
    }
    more > 0
}

fn crossing(bricks: &Bricks, leaves: &[Leaf], quad: &Quad) -> Crossing {
    let direction = quad.direction().as_vec3();
    let middle = quad.solid.as_dvec3() + 0.5;
    let at = |t: f32| middle + direction.as_dvec3() * f64::from(t);
    let voxels = [quad.solid, quad.solid + quad.direction()];
    // Distance by which a crossing lies outside the leaf that it comes from.
    let mut best: Option<(f32, Crossing)> = None;
    for (i, voxel) in voxels.into_iter().enumerate() {
        let Cell::Leaf(index) = bricks.cell(voxel) else { continue };
        let Some((t, plane)) = leaves[index as usize].exit(direction) else { continue };
        let (t, low) = (t + i as f32, 0.5 * i as f32);
        let off = (low - t).max(t - low - 0.5).max(0.0);
        if best.as_ref().is_none_or(|best| off < best.0) {
            let weight = f64::from(plane.normal.dot(direction));
            let point = at(t.clamp(-0.5, 1.5));
            let foot = plane.foot(voxel);
            best = Some((
                off,
                Crossing {
                    point,
                    normal: plane.normal,
                    foot,
                    weight,
                    crack: plane.crack,
                    is_sure: off < BESIDE && weight > ALONG,
                    leaf: index,
                },
            ));
        }
    }
    best.map_or_else(
        || {
            let leaf_of = |voxel: IVec3| match bricks.cell(voxel) {
                Cell::Leaf(leaf) => Some(leaf),
                _ => None,
            };
            let [solid, empty] = voxels.map(leaf_of);
            let crack = empty.or(solid).is_some_and(|leaf| leaves[leaf as usize].outermost().crack);
            let leaf = solid.or(empty).unwrap_or(u32::MAX);
            Crossing {
                point: at(0.5),
                normal: direction,
                foot: at(0.5),
                weight: 0.0,
                crack,
                is_sure: false,
                leaf,
            }
        },
        |best| best.1,
    )
}

/// Positions of all vertices, grid coordinates, and safe positions, at which no faces intersect.
///
/// Cracks are assumed to lie `shift` voxels further out.
pub fn place(bricks: &Bricks, faces: &Faces, crossings: &[Crossing], shift: f64) -> (Vec<DVec3>, Vec<DVec3>) {
    let both: Vec<(DVec3, DVec3)> = (0..faces.places.len())
        .into_par_iter()
        .map(|vertex| {
            let (corner, round) = (faces.places[vertex].corner(), faces.round(vertex));
            let Some(cycle) = faces.places[vertex].cycle() else {
                return (DVec3::ZERO, DVec3::ZERO);
            };
            let aside = cycles_of(voxels_round(bricks, corner)).aside(cycle);
            let target = solve(round.iter().map(|quad| crossings[*quad as usize].shifted(shift)));
            let at = corner.as_dvec3();
            let all = || round.iter().map(|quad| &crossings[*quad as usize]);
            let by_distance =
                |p: &DVec3, q: &DVec3| p.distance_squared(target).total_cmp(&q.distance_squared(target));
            let of_outside = all().filter(|crossing| !crossing.crack).map(|crossing| crossing.point);
            let target = match of_outside.min_by(by_distance) {
                Some(near) if all().any(|crossing| crossing.crack) => {
                    near + (target - near).clamp_length_max(FROM_OUTSIDE)
                }
                _ => target,
            };
            (target.clamp(at - 1.0, at + 1.0), at + APART * aside)
        })
        .collect();
    both.into_iter().unzip()
}

/// Position of a vertex inside an edge: between its ends, shifted to the side of its sheet.
pub fn between_ends(faces: &Faces, positions: &[DVec3], vertex: usize) -> DVec3 {
    let mut aside = DVec3::ZERO;
    let mut between = DVec3::ZERO;
    for quad in faces.round(vertex) {
        let quad = &faces.quads[*quad as usize];
        let Some(i) = quad.middles.iter().position(|v| *v as usize == vertex) else { continue };
        let ends = [quad.corners[i], quad.corners[(i + 1) % 4]].map(|v| positions[v as usize]);
        between = (ends[0] + ends[1]) * 0.5;
        aside += quad.direction().as_dvec3();
    }
    between + APART * aside.normalize_or_zero()
}

fn voxels_round(bricks: &Bricks, corner: IVec3) -> u8 {
    (0..8).fold(0, |bits, octant| {
        let at = corner - 1 + IVec3::new(octant & 1, octant >> 1 & 1, octant >> 2);
        bits | u8::from(bricks.is_solid(at)) << octant
    })
}

/// The point nearest to all planes; in directions that they leave open, the mean of the crossings.
fn solve(crossings: impl Iterator<Item = Crossing> + Clone) -> DVec3 {
    let (mut mean, mut sum) = (DVec3::ZERO, 0.0);
    for crossing in crossings.clone() {
        // If no plane is known, the mean of the lines' middles.
        let weight = crossing.weight.max(1e-6);
        mean += crossing.point * weight;
        sum += weight;
    }
    mean /= f64::max(sum, 1e-6);
    let (mut matrix, mut right) = (DMat3::ZERO, DVec3::ZERO);
    for crossing in crossings {
        let n = crossing.normal.as_dvec3();
        matrix += DMat3::from_cols(n * n.x, n * n.y, n * n.z) * crossing.weight;
        right += n * (crossing.weight * n.dot(crossing.foot - mean));
    }
    mean + pseudo_inverse_times(matrix, right)
}

/// The smallest x with matrix * x nearest to `right`, where small eigenvalues count as zero.
fn pseudo_inverse_times(mut matrix: DMat3, right: DVec3) -> DVec3 {
    // Jacobi rotations until the matrix is diagonal.
    let mut vectors = DMat3::IDENTITY;
    for _ in 0..12 {
        let off = [matrix.col(1)[0].abs(), matrix.col(2)[0].abs(), matrix.col(2)[1].abs()];
        let largest = if off[0] >= off[1] && off[0] >= off[2] {
            (0, 1)
        } else if off[1] >= off[2] {
            (0, 2)
        } else {
            (1, 2)
        };
        let (p, q) = largest;
        let apq = matrix.col(q)[p];
        if apq.abs() < 1e-14 {
            break;
        }
        let theta = (matrix.col(q)[q] - matrix.col(p)[p]) / (2.0 * apq);
        let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let s = t * c;
        let mut turn = DMat3::IDENTITY;
        turn.col_mut(p)[p] = c;
        turn.col_mut(q)[q] = c;
        turn.col_mut(q)[p] = s;
        turn.col_mut(p)[q] = -s;
        matrix = turn.transpose() * matrix * turn;
        vectors *= turn;
    }
    let values = DVec3::new(matrix.col(0)[0], matrix.col(1)[1], matrix.col(2)[2]);
    let least = FLAT * values.max_element();
    (0..3).filter(|k| values[*k] > least && values[*k] > 1e-12).fold(DVec3::ZERO, |x, k| {
        let v = vectors.col(k);
        x + v * (v.dot(right) / values[k])
    })
}
