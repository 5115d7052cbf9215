//! The changes of a forest's points in a fracture, from the shapes of the pieces.
//!
//! In: the forest of the broken fragment, and the shapes of its pieces in its local space. Out: a [`Fracture`]. A point
//! belongs to the piece in whose solid it lies (the first of several that share it). The new points are those of the
//! cracks' cells where the piece has no point yet; the parent of each is the piece's nearest point. (The paper's new
//! points are where cracks cut edges of its tetrahedra; cells of an octree are cut as well, and the ends of their edges
//! are the points of the lattice.)
//!
//! # The nearest of a fixed set of points, by a grid of about as many cells as there are points
//!
//! # Errors that tests plant, to see whether the checks find them

use glam::{DVec3, IVec3, UVec3};
use rayon::prelude::*;

use super::{
    forest::SphereForest,
    fracture::{CrackPoint, Fate, Fracture},
    points::{Containment, Sampling, containment, crack_samples, surface_samples},
};
use crate::{
    geometry::Aabb,
    shape::{Geometry, Octree, Shape},
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

/// Cells along an axis, at most.
const MOST_ALONG: f64 = 64.0;

/// Points in the cells of a grid.
pub struct PointGrid {
    low: DVec3,
    edge: f64,
    along: IVec3,
    /// First item of each cell, and the number of items.
    starts: Vec<u32>,
    items: Vec<(DVec3, u32)>,
}

impl PointGrid {
    /// The grid of these points with their indices.
    #[must_use]
    pub fn new(points: &[(DVec3, u32)]) -> Self {
        let Aabb { low, high } = Aabb::of(points.iter().map(|(p, _)| *p));
        let size =
            if points.is_empty() { DVec3::ONE } else { (high - low).max(DVec3::splat(f64::MIN_POSITIVE)) };
        let low = if points.is_empty() { DVec3::ZERO } else { low };
        // Points lie on surfaces rather than all over the box: as many cells as points over its largest face.
        let (shortest, longest) = (size.min_element(), size.max_element());
        let face = size.element_product() / shortest;
        let even = (face / points.len().max(1) as f64).sqrt();
        let edge = even.max(longest / MOST_ALONG).max(f64::MIN_POSITIVE);
        let along = (size / edge).floor().as_ivec3() + 1;
        let mut grid = Self { low, edge, along, starts: Vec::new(), items: Vec::new() };
        let mut placed: Vec<(u32, (DVec3, u32))> =
            points.iter().map(|p| (grid.index(grid.cell(p.0)), *p)).collect();
        placed.sort_by_key(|(cell, _)| *cell);
        let cells = (along.x * along.y * along.z) as usize;
        grid.starts = vec![0; cells + 1];
        placed.iter().for_each(|(cell, _)| grid.starts[*cell as usize + 1] += 1);
        (0..cells).for_each(|cell| grid.starts[cell + 1] += grid.starts[cell]);
        grid.items = placed.into_iter().map(|(_, item)| item).collect();
        grid
    }

    fn cell(&self, p: DVec3) -> IVec3 {
        ((p - self.low) / self.edge).floor().as_ivec3().clamp(IVec3::ZERO, self.along - 1)
    }

    fn index(&self, cell: IVec3) -> u32 {
        ((cell.z * self.along.y + cell.y) * self.along.x + cell.x) as u32
    }

    /// The nearest point to `p`: its number, and how far it is; of equally near ones the smallest number.
    #[must_use]
    pub fn nearest(&self, p: DVec3) -> Option<(u32, f64)> {
        let middle = self.cell(p);
        // From the point to the nearest wall of its own cell; it may lie outside the grid.
        let beyond_low = p - self.low - middle.as_dvec3() * self.edge;
        let wall = beyond_low.min(self.edge - beyond_low).min_element().max(0.0);
        let mut best: Option<(f64, u32)> = None;
        for ring in 0..self.along.max_element() {
            // Points outside the visited rings are at least as far away as these are wide.
            let least = if ring == 0 { 0.0 } else { f64::from(ring - 1) * self.edge + wall };
            if best.is_some_and(|(distance, _)| distance < least * least) {
                break;
            }
            self.visit_ring(middle, ring, |(at, number)| {
                let found = (at.distance_squared(p), number);
                if best.is_none_or(|best| found < best) {
                    best = Some(found);
                }
            });
        }
        best.map(|(distance, number)| (number, distance.sqrt()))
    }

    /// The items of all cells that are `ring` away from `middle` along some axis.
    fn visit_ring(&self, middle: IVec3, ring: i32, mut visit: impl FnMut((DVec3, u32))) {
        let low = (middle - ring).max(IVec3::ZERO);
        let high = (middle + ring).min(self.along - 1);
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                let is_face = (z - middle.z).abs() == ring || (y - middle.y).abs() == ring;
                let step = if is_face || ring == 0 { 1 } else { 2 * ring };
                let mut x = if is_face { low.x } else { middle.x - ring };
                while x <= high.x {
                    if x >= low.x {
                        let cell = self.index(IVec3::new(x, y, z)) as usize;
                        let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
                        self.items[range].iter().for_each(|item| visit(*item));
                    }
                    x += step;
                }
            }
        }
    }
}

/// A planted error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Planted {
    /// Nothing.
    #[default]
    Nothing,
    /// New points grow only the sphere of their parent, and those above up to the first that contains them already.
    RadiusTooSmall,
    /// The last root of each fragment with several is lost.
    LostRoot,
    /// A point whose parent went to another fragment stays with the point that has the parent's number.
    WrongParent,
    /// A point is tested at every node of it, not only at the first.
    MetTwice,
    /// The last contacts are not tested first.
    KnownLost,
    /// The data of the last query ignores steps in the surface.
    StepsForgotten,
}

impl Planted {
    pub(super) fn stops_growing(self) -> bool {
        self == Self::RadiusTooSmall
    }

    pub(super) fn loses_root(self) -> bool {
        self == Self::LostRoot
    }

    pub(super) fn keeps_parent(self) -> bool {
        self == Self::WrongParent
    }

    pub(super) fn forgets_known(self) -> bool {
        self == Self::KnownLost
    }

    pub(super) fn forgets_steps(self) -> bool {
        self == Self::StepsForgotten
    }

    pub(super) fn meets_again(self) -> bool {
        self == Self::MetTwice
    }
}
