//! The changes of a forest's points in a fracture, from the shapes of the pieces.
//!
//! In: the forest of the broken fragment, and the shapes of its pieces in its local space. Out: a [`Fracture`]. A point
//! belongs to the piece in whose solid it lies (the first of several that share it). The new points are those of the
//! cracks' cells where the piece has no point yet; the parent of each is the piece's nearest point. (The paper's new
//! points are where cracks cut edges of its tetrahedra; cells of an octree are cut as well, and the ends of their edges
//! are the points of the lattice.)

use crate::geometry::Aabb;
use crate::shape::{Geometry, Octree, Shape};
use glam::{DVec3, UVec3};
use rayon::prelude::*;

use super::{
    forest::SphereForest,
    fracture::{CrackPoint, Fate, Fracture},
    nearest::PointGrid,
    points::{Containment, Sampling, containment, crack_samples, surface_samples},
};

/// A piece has a point already where one of its surface is so near, cells.
const HAS_POINT: f64 = 0.25;
/// A point so far from a piece's surface of triangles lies on it, cells.
const ON_SURFACE: f64 = 0.01;
/// Cells along an axis of the grid in which pieces are looked up.
const GRID: u32 = 16;

impl Sampling {
    /// The changes of the points of `forest`, whose body broke into `pieces`.
    #[must_use]
    pub fn fracture(&self, forest: &SphereForest, pieces: &[&Shape]) -> Fracture {
        let near = NearPieces::new(pieces, ON_SURFACE * self.cell);
        let fates: Vec<Fate> = forest
            .points
            .par_iter()
            .map(|point| {
                let mut at = near
                    .at(point.position)
                    .map(|piece| (piece, self.containment(pieces[piece as usize], point.position)));
                match at.find(|(_, at)| *at != Containment::Outside) {
                    Some((fragment, at)) => {
                        let on_surface = point.on_surface || at == Containment::AtSurface;
                        Fate::In { fragment, on_surface }
                    }
                    None => Fate::Gone,
                }
            })
            .collect();
        let mut kept: Vec<Vec<(DVec3, u32)>> = vec![Vec::new(); pieces.len()];
        for (i, (fate, point)) in fates.iter().zip(&forest.points).enumerate() {
            if let Fate::In { fragment, .. } = fate {
                kept[*fragment as usize].push((point.position, i as u32));
            }
        }
        let on_surface = |point: u32| matches!(fates[point as usize], Fate::In { on_surface: true, .. });
        let cracks =
            pieces.par_iter().zip(&kept).map(|(piece, kept)| self.cracks(piece, kept, &on_surface)).collect();
        Fracture { fates, cracks }
    }

    /// The new points of a piece that kept these points.
    fn cracks(
        &self,
        piece: &Shape,
        kept: &[(DVec3, u32)],
        on_surface: &(impl Fn(u32) -> bool + Sync),
    ) -> Vec<CrackPoint> {
        let samples = match piece.geometry() {
            Geometry::Octree(octree) => crack_samples(octree, self.level),
            Geometry::Mesh(_) | Geometry::Convex(_) => surface_samples(piece, self.cell, true),
        };
        let grid = PointGrid::new(kept);
        let new = |position: DVec3| match grid.nearest(position) {
            Some((point, distance)) if distance <= HAS_POINT * self.cell && on_surface(point) => None,
            nearest => Some(CrackPoint { position, neighbour: nearest.map(|(point, _)| point) }),
        };
        samples.into_iter().filter_map(new).collect()
    }

    /// Where a point lies in a piece.
    fn containment(&self, piece: &Shape, p: DVec3) -> Containment {
        if let Some(octree) = piece.as_octree() {
            return containment_of_rounded(octree, p);
        }
        match piece.distance(p) {
            0.0 => Containment::Inside,
            distance if distance <= ON_SURFACE * self.cell => Containment::AtSurface,
            _ => Containment::Outside,
        }
    }
}

/// Which pieces may be at a place: those whose bounds come within `slack` of it.
struct NearPieces {
    bounds: Vec<Aabb>,
    slack: DVec3,
    low: DVec3,
    edge: DVec3,
    /// By cell, x fastest: pieces whose bounds reach into it, ascending.
    cells: Vec<Vec<u32>>,
}

impl NearPieces {
    fn new(pieces: &[&Shape], slack: f64) -> Self {
        let bounds: Vec<Aabb> = pieces.iter().map(|piece| piece.bounds()).collect();
        let Aabb { low, high } = bounds.iter().fold(Aabb::NOTHING, |all, own| all.joined(*own));
        let slack = DVec3::splat(slack);
        let low = low - slack;
        let edge = ((high + slack - low) / f64::from(GRID)).max(DVec3::splat(f64::MIN_POSITIVE));
        let cells = vec![Vec::new(); (GRID * GRID * GRID) as usize];
        let mut near = Self { bounds, slack, low, edge, cells };
        for piece in 0..near.bounds.len() {
            let Aabb { low, high } = near.bounds[piece];
            let (first, last) = (near.cell(low - slack), near.cell(high + slack));
            for (z, y) in (first.z..=last.z).flat_map(|z| (first.y..=last.y).map(move |y| (z, y))) {
                for x in first.x..=last.x {
                    near.cells[index(UVec3::new(x, y, z))].push(piece as u32);
                }
            }
        }
        near
    }

    fn cell(&self, p: DVec3) -> UVec3 {
        ((p - self.low) / self.edge).max(DVec3::ZERO).as_uvec3().min(UVec3::splat(GRID - 1))
    }

    fn at(&self, p: DVec3) -> impl Iterator<Item = u32> {
        self.cells[index(self.cell(p))].iter().copied().filter(move |piece| {
            let Aabb { low, high } = self.bounds[*piece as usize];
            p.cmpge(low - self.slack).all() && p.cmple(high + self.slack).all()
        })
    }
}

fn index(cell: UVec3) -> usize {
    (cell.x + GRID * (cell.y + GRID * cell.z)) as usize
}

/// A point on the far face of a voxel lies in the next voxel, which may be empty; then a point slightly towards the
/// middle of the octree is tested.
fn containment_of_rounded(octree: &Octree, p: DVec3) -> Containment {
    const HAIR: f64 = 0.01;
    match containment(octree, p) {
        Containment::Outside => {
            let towards = (octree.mass.centre - p).signum();
            containment(octree, p + HAIR * towards)
        }
        at => at,
    }
}
