//! Small dense algebra: forces and motions of a part (six numbers) and six-by-six blocks.

use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use glam::{DMat3, DVec3};

/// A motion (displacement in m, turn in rad) or a load (force in N, torque in N m) of one part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Six {
    /// Displacement or force.
    pub linear: DVec3,
    /// Turn or torque, about the part's node.
    pub angular: DVec3,
}

impl Six {
    pub const ZERO: Self = Self { linear: DVec3::ZERO, angular: DVec3::ZERO };

    pub fn dot(self, other: Self) -> f64 {
        self.linear.dot(other.linear) + self.angular.dot(other.angular)
    }

    /// In single precision, with two zeros.
    pub fn lanes(self) -> [f32; 8] {
        let (a, b) = (self.linear.as_vec3(), self.angular.as_vec3());
        [a.x, a.y, a.z, b.x, b.y, b.z, 0.0, 0.0]
    }

    /// Of [`Self::lanes`].
    pub fn of_lanes([a, b, c, d, e, f, ..]: &[f32; 8]) -> Self {
        let of = |a: f32, b: f32, c: f32| DVec3::new(f64::from(a), f64::from(b), f64::from(c));
        Self { linear: of(*a, *b, *c), angular: of(*d, *e, *f) }
    }

    #[cfg(test)]
    fn array(self) -> [f64; 6] {
        let ([a, b, c], [d, e, f]) = (self.linear.to_array(), self.angular.to_array());
        [a, b, c, d, e, f]
    }

    #[cfg(test)]
    fn of([a, b, c, d, e, f]: [f64; 6]) -> Self {
        Self { linear: DVec3::new(a, b, c), angular: DVec3::new(d, e, f) }
    }
}

impl Add for Six {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { linear: self.linear + other.linear, angular: self.angular + other.angular }
    }
}

impl Sub for Six {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { linear: self.linear - other.linear, angular: self.angular - other.angular }
    }
}

impl AddAssign for Six {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Six {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<f64> for Six {
    type Output = Self;
    fn mul(self, by: f64) -> Self {
        Self { linear: self.linear * by, angular: self.angular * by }
    }
}

/// Six rows of six numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Block(pub [[f64; 6]; 6]);

impl Block {
    pub const ZERO: Self = Self([[0.0; 6]; 6]);

    /// From its four quarters.
    pub fn of_quarters(a: DMat3, b: DMat3, c: DMat3, d: DMat3) -> Self {
        let mut all = Self::ZERO;
        for row in 0..3 {
            for column in 0..3 {
                all.0[row][column] = a.col(column)[row];
                all.0[row][column + 3] = b.col(column)[row];
                all.0[row + 3][column] = c.col(column)[row];
                all.0[row + 3][column + 3] = d.col(column)[row];
            }
        }
        all
    }

    pub fn add(&mut self, other: &Self) {
        for (row, more) in self.0.iter_mut().zip(&other.0) {
            row.iter_mut().zip(more).for_each(|(value, more)| *value += more);
        }
    }

    /// Subtracts `a` times the transpose of `b`.
    pub fn subtract_product(&mut self, a: &Self, b: &Self) {
        for (row, of_a) in self.0.iter_mut().zip(&a.0) {
            for (value, of_b) in row.iter_mut().zip(&b.0) {
                *value -= of_a.iter().zip(of_b).map(|(x, y)| x * y).sum::<f64>();
            }
        }
    }

    pub fn transposed(&self) -> Self {
        Self(std::array::from_fn(|row| std::array::from_fn(|column| self.0[column][row])))
    }

    /// The lower triangle L with L L^T = self; `None` if self is not positive definite.
    pub fn cholesky(&self) -> Option<Self> {
        let mut lower = Self::ZERO;
        let largest = (0..6).map(|k| self.0[k][k]).fold(0.0, f64::max);
        for row in 0..6 {
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| lower.0[row][k] * lower.0[column][k]).sum();
                let rest = self.0[row][column] - known;
                if row == column {
                    if rest.is_nan() || rest <= largest * 1e-14 {
                        return None;
                    }
                    lower.0[row][row] = rest.sqrt();
                } else {
                    lower.0[row][column] = rest / lower.0[column][column];
                }
            }
        }
        Some(lower)
    }

    /// X with X L^T = self, for a lower triangle L.
    pub fn divided_by_upper(&self, lower: &Self) -> Self {
        let mut out = Self::ZERO;
        for row in 0..6 {
            for column in 0..6 {
                let known: f64 = (0..column).map(|k| out.0[row][k] * lower.0[column][k]).sum();
                out.0[row][column] = (self.0[row][column] - known) / lower.0[column][column];
            }
        }
        out
    }

    /// x with L x = v, for self = L, a lower triangle.
    #[cfg(test)]
    pub fn solve_lower(&self, v: Six) -> Six {
        let (v, mut x) = (v.array(), [0.0; 6]);
        for row in 0..6 {
            let known: f64 = (0..row).map(|k| self.0[row][k] * x[k]).sum();
            x[row] = (v[row] - known) / self.0[row][row];
        }
        Six::of(x)
    }

    /// x with L^T x = v, for self = L, a lower triangle.
    #[cfg(test)]
    pub fn solve_upper(&self, v: Six) -> Six {
        let (v, mut x) = (v.array(), [0.0; 6]);
        for row in (0..6).rev() {
            let known: f64 = (row + 1..6).map(|k| self.0[k][row] * x[k]).sum();
            x[row] = (v[row] - known) / self.0[row][row];
        }
        Six::of(x)
    }

    #[cfg(test)]
    pub fn times(&self, v: Six) -> Six {
        let v = v.array();
        Six::of(std::array::from_fn(|row| (0..6).map(|k| self.0[row][k] * v[k]).sum()))
    }

    /// The transpose times `v`.
    #[cfg(test)]
    pub fn transpose_times(&self, v: Six) -> Six {
        let (v, mut out) = (v.array(), [0.0; 6]);
        for (row, value) in self.0.iter().zip(v) {
            out.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry * value);
        }
        Six::of(out)
    }
}

/// The matrix that takes the cross product with `v` from the left.
pub(super) fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves_what_it_was_made_of() {
        let root = Block(std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                if i == j { 3.0 + i as f64 } else { ((i * 7 + j * 3) % 5) as f64 * 0.3 - 0.5 }
            })
        }));
        let mut spd = Block::ZERO;
        spd.subtract_product(&root, &root);
        spd.0.iter_mut().flatten().for_each(|v| *v = -*v);
        let lower = spd.cholesky().unwrap();
        let want = Six { linear: DVec3::new(1.0, -2.0, 3.0), angular: DVec3::new(0.5, 4.0, -1.0) };
        let got = lower.solve_upper(lower.solve_lower(spd.times(want)));
        assert!((got.linear - want.linear).length() + (got.angular - want.angular).length() < 1e-9);
        let mut back = Block::ZERO;
        back.subtract_product(&root.divided_by_upper(&lower), &lower.transposed().transposed());
        let difference =
            (0..36).map(|k| (back.0[k / 6][k % 6] + root.0[k / 6][k % 6]).abs()).fold(0.0, f64::max);
        assert!(difference < 1e-12, "{difference}");
        assert_eq!(spd.transpose_times(want), spd.transposed().times(want));
        let indefinite = Block::of_quarters(DMat3::IDENTITY, DMat3::ZERO, DMat3::ZERO, -DMat3::IDENTITY);
        assert!(indefinite.cholesky().is_none());
        let (a, b) = (DVec3::new(1.0, 2.0, -3.0), DVec3::new(0.4, -1.0, 2.0));
        assert_eq!(cross_matrix(a) * b, a.cross(b));
    }
}
