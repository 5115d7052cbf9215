//! A convex polygon in grid space and its partition by planes of whole grid coordinates.
//!
//! A triangle is cut into slabs, the slabs into rows, the rows into cells. Both sides of a cut share its points, so the
//! parts add up to the triangle; therefore the winding sums of [`super::inside`] are integers.

/// A triangle cut by the six planes of a box has at most nine corners; the rest is room for rounding.
const MAX_CORNERS: usize = 16;

/// A convex polygon in grid coordinates.
#[derive(Clone)]
pub(super) struct Polygon {
    points: [[f64; 3]; MAX_CORNERS],
    len: usize,
}

impl Polygon {
    pub(super) const EMPTY: Self = Self { points: [[0.0; 3]; MAX_CORNERS], len: 0 };

    pub(super) fn set_triangle(&mut self, corners: &[[f64; 3]; 3]) {
        self.points[..3].copy_from_slice(corners);
        self.len = 3;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len < 3
    }

    /// Lowest and highest coordinate along axis `A`.
    pub(super) fn range<const A: usize>(&self) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        // Comparisons instead of `min` and `max`, whose handling of NaN costs more than the cut itself.
        for p in &self.points[..self.len] {
            low = if p[A] < low { p[A] } else { low };
            high = if p[A] > high { p[A] } else { high };
        }
        (low, high)
    }

    fn push(&mut self, p: [f64; 3]) {
        if self.len < MAX_CORNERS {
            self.points[self.len] = p;
            self.len += 1;
        }
    }

    /// Cuts at coordinate `plane` of axis `A`.
    pub(super) fn split<const A: usize>(&self, plane: f64, below: &mut Self, above: &mut Self) {
        below.len = 0;
        above.len = 0;
        if self.len == 0 {
            return;
        }
        let mut p = self.points[self.len - 1];
        let mut from = p[A] - plane;
        for &q in &self.points[..self.len] {
            let to = q[A] - plane;
            if (from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0) {
                let t = from / (from - to);
                let mut cut = [p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t, p[2] + (q[2] - p[2]) * t];
                cut[A] = plane;
                below.push(cut);
                above.push(cut);
            }
            if to <= 0.0 {
                below.push(q);
            }
            if to >= 0.0 {
                above.push(q);
            }
            (p, from) = (q, to);
        }
    }

    /// Area and centroid of a polygon whose unit normal is `normal` with largest component `axis`.
    pub(super) fn area_and_centroid(&self, normal: &[f64; 3], axis: usize) -> (f64, [f64; 3]) {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let origin = self.points[0];
        let (mut doubled, mut moment) = (0.0, [0.0f64; 3]);
        for pair in self.points[1..self.len.max(1)].windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            let cross = (a[u] - origin[u]) * (b[v] - origin[v]) - (a[v] - origin[v]) * (b[u] - origin[u]);
            doubled += cross;
            moment = std::array::from_fn(|i| moment[i] + cross * (a[i] + b[i] - 2.0 * origin[i]));
        }
        let area = doubled / (2.0 * normal[axis]);
        if area > 1e-18 {
            let third = 1.0 / (3.0 * doubled);
            return (area, std::array::from_fn(|i| origin[i] + moment[i] * third));
        }
        let mean = std::array::from_fn(|i| {
            self.points[..self.len].iter().map(|p| p[i]).sum::<f64>() / self.len.max(1) as f64
        });
        (0.0, mean)
    }
}

/// Cells of width one that an interval of coordinates overlaps. An interval on a plane between two cells belongs to the
/// cell behind the face (its normal component is `normal`), so that a box of whole voxels gets no outer skin. The
/// result is clamped to 1..=`last_cell`.
pub(super) fn cells_of(low: f64, high: f64, normal: f64, last_cell: i32) -> (i32, i32) {
    // Coordinates are positive: truncation equals the floor and is much cheaper on processors without an instruction
    // for it.
    let (first, end) = (low as i32, high as i32);
    let last = if f64::from(end) == high { end - 1 } else { end };
    if last < first {
        let cell = if normal > 0.0 { first - 1 } else { first }.clamp(1, last_cell);
        return (cell, cell);
    }
    (first.clamp(1, last_cell), last.clamp(1, last_cell))
}

/// Buffers for cutting a polygon along one axis.
pub(super) struct Slabs {
    part: Polygon,
    rest: [Polygon; 2],
}

impl Slabs {
    pub(super) const NEW: Self = Self { part: Polygon::EMPTY, rest: [Polygon::EMPTY, Polygon::EMPTY] };

    /// Cuts `polygon` along axis `A` into slabs `first..=last`, slab i spanning `i << shift` to `(i + 1) << shift`.
    pub(super) fn cut<const A: usize>(
        &mut self,
        polygon: &Polygon,
        (first, last): (i32, i32),
        shift: u32,
        mut visit: impl FnMut(i32, &Polygon),
    ) {
        if first == last {
            visit(first, polygon);
            return;
        }
        let plane = |slab: i32| f64::from((slab + 1) << shift);
        let [a, b] = &mut self.rest;
        let (mut rest, mut next) = (a, b);
        polygon.split::<A>(plane(first), &mut self.part, rest);
        visit(first, &self.part);
        for slab in first + 1..last {
            rest.split::<A>(plane(slab), &mut self.part, next);
            visit(slab, &self.part);
            std::mem::swap(&mut rest, &mut next);
        }
        visit(last, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_triangle() {
        let corners = [[1.3, 2.1, 1.0], [9.7, 3.3, 4.2], [4.4, 8.9, 6.6]];
        let (n, area) = super::super::rasterise::unit_normal(&corners).expect("not degenerate");
        let axis = 2;
        let mut triangle = Polygon::EMPTY;
        triangle.set_triangle(&corners);
        let (mut sum, mut moment, mut parts) = (0.0, [0.0; 3], 0);
        let (mut sx, mut sy, mut sz) = (Slabs::NEW, Slabs::NEW, Slabs::NEW);
        sz.cut::<2>(&triangle, (1, 6), 0, |z, slab| {
            let (low, high) = slab.range::<1>();
            sy.cut::<1>(slab, cells_of(low, high, n[1], 20), 0, |y, row| {
                let (low, high) = row.range::<0>();
                sx.cut::<0>(row, cells_of(low, high, n[0], 20), 0, |x, part| {
                    let (a, c) = part.area_and_centroid(&n, axis);
                    sum += a;
                    parts += 1;
                    for ((moment, c), cell) in moment.iter_mut().zip(c).zip([x, y, z]) {
                        *moment += a * c;
                        assert!(c >= f64::from(cell) && c <= f64::from(cell + 1));
                    }
                });
            });
        });
        assert!(parts > 30, "{parts}");
        assert!((sum - area).abs() < 1e-12 * area);
        for (i, moment) in moment.iter().enumerate() {
            let centre = (corners[0][i] + corners[1][i] + corners[2][i]) / 3.0;
            assert!((moment / sum - centre).abs() < 1e-12);
        }
    }

    #[test]
    fn a_face_on_a_plane_belongs_to_the_cell_behind_it() {
        assert_eq!(cells_of(4.0, 4.0, 1.0, 9), (3, 3));
        assert_eq!(cells_of(4.0, 4.0, -1.0, 9), (4, 4));
        assert_eq!(cells_of(1.0, 1.0, 1.0, 9), (1, 1));
        assert_eq!(cells_of(10.0, 10.0, -1.0, 9), (9, 9));
        assert_eq!(cells_of(3.0, 5.0, 0.0, 9), (3, 4));
        assert_eq!(cells_of(3.5, 3.5, 0.0, 9), (3, 3));
    }
}
