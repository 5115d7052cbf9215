//! Point-in-mesh tests: parity of intersections on a ray along an axis.
//!
//! In: positions and triangles. Out: answers that are exact at edges and vertices, since the two triangles at an edge
//! compute the same numbers. A table over the other two axes lists the triangles of each column.

use glam::DVec3;
use rayon::prelude::*;

/// Intersections of a closed mesh with rays along an axis, consistent between triangles that share an edge.
pub struct Rays<'a> {
    positions: &'a [DVec3],
    triangles: &'a [[u32; 3]],
    /// Axis of the rays; the other two span the table.
    axis: usize,
    low: [f64; 2],
    scale: f64,
    size: [usize; 2],
    starts: Vec<u32>,
    items: Vec<Item>,
}

/// Steps of a column's side in [`Item`].
const STEPS: f64 = 255.0;

/// A triangle of a column, with bounds that rule out most rays of the column before the corners are read. The bounds are
/// wider than the triangle by far more than the rounding of an intersection.
#[derive(Clone, Copy, Default)]
struct Item {
    triangle: u32,
    /// Its extent in the column along the other two axes, steps.
    sides: [[u8; 2]; 2],
    /// No point of it is farther along the rays' axis.
    top: f32,
}

impl Item {
    /// Whether a ray from depth `from` on, at these steps of its column, may meet the triangle.
    fn may_meet(&self, at: [u8; 2], from: f64) -> bool {
        let [u, v] = self.sides;
        let is_beside = at[0] < u[0] || at[0] > u[1] || at[1] < v[0] || at[1] > v[1];
        !is_beside && f64::from(self.top) > from
    }
}

impl<'a> Rays<'a> {
    /// Prepares rays along `axis`.
    #[must_use]
    pub fn new(positions: &'a [DVec3], triangles: &'a [[u32; 3]], axis: usize) -> Self {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        let (mut extent, mut count) = (0.0, 0.0);
        let span = |t: &[u32; 3], k: usize| {
            let p = t.map(|i| positions[i as usize][k]);
            (p[0].min(p[1]).min(p[2]), p[0].max(p[1]).max(p[2]))
        };
        for t in triangles {
            for (i, k) in [u, v].into_iter().enumerate() {
                let (a, b) = span(t, k);
                low[i] = low[i].min(a);
                high[i] = high[i].max(b);
                extent += b - a;
                count += 1.0;
            }
        }
        let longest = f64::max(high[0] - low[0], high[1] - low[1]).max(1e-300);
        let most = (triangles.len() as f64).sqrt().clamp(1.0, 4096.0);
        let cell = f64::max(extent / f64::max(count, 1.0), longest / most);
        let scale = 1.0 / cell;
        let size = [0, 1].map(|i| (((high[i] - low[i]).max(0.0) * scale) as usize + 1).min(8192));
        let mut rays =
            Self { positions, triangles, axis, low, scale, size, starts: Vec::new(), items: Vec::new() };
        let range = |t: &[u32; 3]| {
            let cells = [u, v].map(|k| span(t, k));
            let at = |i: usize, x: f64| (((x - low[i]) * scale) as usize).min(size[i] - 1);
            [(at(0, cells[0].0), at(0, cells[0].1)), (at(1, cells[1].0), at(1, cells[1].1))]
        };
        let mut starts = vec![0u32; size[0] * size[1] + 1];
        for t in triangles {
            let [a, b] = range(t);
            for y in b.0..=b.1 {
                for x in a.0..=a.1 {
                    starts[y * size[0] + x + 1] += 1;
                }
            }
        }
        (0..size[0] * size[1]).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut items = vec![Item::default(); starts[size[0] * size[1]] as usize];
        // Numbers beyond the column become its first and last step.
        let steps = |(a, b): (f64, f64), i: usize, column: usize| {
            let step = |x: f64| (((x - low[i]) * scale - column as f64) * STEPS).floor();
            [(step(a) - 1.0) as u8, (step(b) + 1.0) as u8]
        };
        for (i, t) in triangles.iter().enumerate() {
            let [a, b] = range(t);
            let [along_u, along_v, depth] = [u, v, axis].map(|k| span(t, k));
            let top = ((depth.1 + 1e-9 * (depth.0.abs() + depth.1.abs())) as f32).next_up();
            for y in b.0..=b.1 {
                let side = steps(along_v, 1, y);
                for x in a.0..=a.1 {
                    let place = &mut next[y * size[0] + x];
                    items[*place as usize] =
                        Item { triangle: i as u32, sides: [steps(along_u, 0, x), side], top };
                    *place += 1;
                }
            }
        }
        (rays.starts, rays.items) = (starts, items);
        rays
    }

    /// Triangles that a ray has to look at, on the mean over rays that begin at the triangles.
    fn depth(&self) -> f64 {
        let counts = || self.starts.windows(2).map(|pair| f64::from(pair[1] - pair[0]));
        counts().map(|count| count * count).sum::<f64>() / self.items.len().max(1) as f64
    }

    /// Whether `from` is inside: the ray along the axis has an odd number of intersections.
    #[must_use]
    pub fn is_inside(&self, from: DVec3) -> bool {
        let (u, v) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
        let q = [from[u], from[v]];
        let cell = [0, 1].map(|i| (q[i] - self.low[i]) * self.scale);
        if cell.iter().zip(self.size).any(|(c, size)| *c < 0.0 || *c >= size as f64) {
            return false;
        }
        let at = cell.map(|c| (c.fract() * STEPS) as u8);
        let depth = from[self.axis];
        let cell = cell[1] as usize * self.size[0] + cell[0] as usize;
        let mut odd = false;
        for item in &self.items[self.starts[cell] as usize..self.starts[cell + 1] as usize] {
            if item.may_meet(at, depth) {
                odd ^= self.crosses(self.triangles[item.triangle as usize], from, q, (u, v));
            }
        }
        odd
    }

    fn crosses(&self, t: [u32; 3], from: DVec3, q: [f64; 2], (u, v): (usize, usize)) -> bool {
        // Intersections of the line at height q[1] with the triangle's edges: (position along u, depth).
        let mut meets = [(0.0, 0.0); 3];
        let mut count = 0;
        for i in 0..3 {
            // Ordered by index, so that both triangles at an edge compute the same numbers.
            let (a, b) = (t[i].min(t[(i + 1) % 3]), t[i].max(t[(i + 1) % 3]));
            let (a, b) = (self.positions[a as usize], self.positions[b as usize]);
            if (a[v] > q[1]) != (b[v] > q[1]) {
                let share = (q[1] - a[v]) / (b[v] - a[v]);
                meets[count] =
                    (a[u] + share * (b[u] - a[u]), a[self.axis] + share * (b[self.axis] - a[self.axis]));
                count += 1;
            }
        }
        if count != 2 || (meets[0].0 > q[0]) == (meets[1].0 > q[0]) {
            return false;
        }
        let [(u0, d0), (u1, d1), _] = meets;
        d0 + (q[0] - u0) / (u1 - u0) * (d1 - d0) > from[self.axis]
    }
}

/// Finds triangles that face inward: points above them are inside instead of outside.
#[derive(Clone, Copy, Debug)]
pub struct Inward<'a> {
    /// Heights of the tested points above a triangle, units of the positions; any one suffices.
    pub steps: &'a [f64],
    /// Triangles narrower than this count as inward, since they have no facing.
    pub flat: f64,
    /// How many of four points above a triangle must be inside; a grazing ray may be wrong once.
    pub points: usize,
}

/// How thoroughly a triangle is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Not at all.
    Not,
    /// At its centre, at the first height.
    Once,
    /// At all points and heights.
    Well,
}

/// Triangles that all rays of a mesh may look at. Where thousands lie behind one another, as those of parts that pass through
/// each other, fewer are asked: the time would grow with the square of their number.
const MOST_LOOKS: f64 = 8e9;

/// Barycentric coordinates of the tested points, the centre first.
const POINTS: [[f64; 3]; 4] = [[1.0 / 3.0; 3], [0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]];

impl Inward<'_> {
    /// Indices of inward triangles, ascending, and how many were tested; `ask` says how thoroughly each is. Where the rays
    /// would look at too many triangles, only every second of those that are to be tested is, or every third and so on.
    #[must_use]
    pub fn find(
        &self,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        ask: &(impl Fn(usize) -> Ask + Sync),
    ) -> (Vec<u32>, u64) {
        let rays = Rays::new(positions, triangles, 0);
        let faces_inward = |i: &u32| {
            let p = triangles[*i as usize].map(|v| positions[v as usize]);
            let sides = [p[1] - p[0], p[2] - p[1], p[0] - p[2]];
            let cross = sides[0].cross(sides[1]);
            let longest = sides.iter().map(|side| side.length_squared()).fold(0.0, f64::max).sqrt();
            let length = cross.length();
            if length <= self.flat * longest {
                return true;
            }
            let normal = cross / length;
            if ask(*i as usize) == Ask::Once {
                return self
                    .steps
                    .first()
                    .is_some_and(|step| rays.is_inside((p[0] + p[1] + p[2]) / 3.0 + normal * *step));
            }
            self.steps.iter().any(|step| {
                let is_inside = |at: &[f64; 3]| {
                    rays.is_inside(p[0] * at[0] + p[1] * at[1] + p[2] * at[2] + normal * *step)
                };
                // The points after these cannot change the answer.
                let most_outside = POINTS.len().saturating_sub(self.points);
                let (mut inside, mut outside) = (0, 0);
                for at in &POINTS {
                    if inside >= self.points || outside > most_outside {
                        break;
                    }
                    if is_inside(at) {
                        inside += 1;
                    } else {
                        outside += 1;
                    }
                }
                inside >= self.points
            })
        };
        let mut asked: Vec<u32> =
            (0..triangles.len() as u32).filter(|i| ask(*i as usize) != Ask::Not).collect();
        let every = one_of(asked.len(), rays.depth());
        if every > 1 {
            asked = asked.into_iter().step_by(every).collect();
        }
        let count = asked.len() as u64;
        (asked.into_par_iter().filter(faces_inward).collect(), count)
    }
}

/// Every how manyth of `asked` triangles is tested, so that rays which look at `depth` triangles each stay below
/// [`MOST_LOOKS`].
fn one_of(asked: usize, depth: f64) -> usize {
    let looks = asked as f64 * POINTS.len() as f64 * depth;
    (looks / MOST_LOOKS).ceil().max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heap of triangles behind one another took n^2; meshes that are not deep are asked as before.
    #[test]
    fn triangles_behind_one_another_are_asked_for_a_bounded_time() {
        let heap = |count: u32| -> (Vec<DVec3>, Vec<[u32; 3]>) {
            let corner = |i: u32| {
                let [y, z] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]][i as usize % 3];
                DVec3::new(1e-5 * f64::from(i / 3), y, z)
            };
            (
                (0..3 * count).map(corner).collect(),
                (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
            )
        };
        let inward = Inward { steps: &[1e-7], flat: -1.0, points: 2 };
        let asked = |count: u32| {
            let (positions, triangles) = heap(count);
            let (found, asked) = inward.find(&positions, &triangles, &|_| Ask::Once);
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(found.len() as u64 <= asked);
            asked
        };
        assert_eq!([0, 1, 3000].map(asked), [0, 1, 3000]);
        assert_eq!([one_of(4_000_000, 100.0), one_of(4_000_000, 1000.0), one_of(0, 0.0)], [1, 2, 1]);
        let (positions, triangles) = heap(3000);
        let depth = Rays::new(&positions, &triangles, 0).depth();
        assert!(depth > 1500.0, "{depth}");
        // A million of them, in one column, would be looked at 4e12 times.
        let looks = |count: usize| (count / one_of(count, count as f64)) as f64 * count as f64 * 4.0;
        assert!(looks(1_000_000) <= MOST_LOOKS && looks(50_000) <= MOST_LOOKS);
    }

    fn number(i: u32) -> f64 {
        let mixed = i.wrapping_mul(2_654_435_761);
        f64::from((mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 8) / f64::from(1 << 24)
    }

    /// Small and large triangles, near the origin and far from it, and points among them and on their corners.
    #[test]
    fn rays_meet_what_they_meet_among_all_triangles() {
        let mut answers = [0; 2];
        for (count, at) in [(1, 0.0), (40, -0.5), (700, 0.0), (700, 1e6)] {
            let place = |i: u32| DVec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2));
            let positions: Vec<DVec3> = (0..3 * count)
                .map(|i| {
                    let reach = if i / 3 % 5 == 0 { 1.0 } else { 0.1 };
                    place(i / 3 + 90_000) + place(i) * reach + at
                })
                .collect();
            let triangles: Vec<[u32; 3]> = (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            for axis in 0..3 {
                let rays = Rays::new(&positions, &triangles, axis);
                let beside = (0..2000).map(|i| place(i + 10_000) * 2.0 - 0.3 + at);
                for p in positions.iter().copied().chain(beside) {
                    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                    let met = triangles.iter().filter(|t| rays.crosses(**t, p, [p[u], p[v]], (u, v)));
                    let wanted = met.count() % 2 == 1;
                    assert_eq!(rays.is_inside(p), wanted, "{count} at {at}, axis {axis}, {p}");
                    answers[usize::from(wanted)] += 1;
                }
            }
        }
        assert!(answers.iter().all(|count| *count > 1000), "{answers:?}");
    }
}
