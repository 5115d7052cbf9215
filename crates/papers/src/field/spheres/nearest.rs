//! The nearest of a fixed set of points, by a grid of about as many cells as there are points.

use crate::geometry::Aabb;
use glam::{DVec3, IVec3};

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
