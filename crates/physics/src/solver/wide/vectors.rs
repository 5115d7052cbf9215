//! Eight vectors as one, in single precision.

use crate::geometry::simd::F32x8;
pub(super) use crate::geometry::simd::Vectors8 as Vectors;

/// Manifolds of a batch.
pub(super) const LANES: usize = 8;

/// A number of each lane.
pub(super) type Lane = [f32; LANES];

/// Symmetric matrices: xx, xy, xz, yy, yz, zz.
pub(super) type Matrices = [Lane; 6];

/// Inverses of symmetric matrices that have one; zero where there is none, as for two bodies that cannot turn.
#[inline(always)]
pub(super) fn inverses<F: F32x8>(m: &Matrices) -> Matrices {
    let (zero, one) = (F::splat(0.0), F::splat(1.0));
    let trace = F::of(m[0]).add(F::of(m[3])).add(F::of(m[5]));
    // By the trace, since determinants of small bodies' inertia leave the range of single precision.
    let turns = zero.below(trace);
    let scale = turns.select(one.div(turns.select(trace, one)), zero);
    let [xx, xy, xz] = [F::of(m[0]).mul(scale), F::of(m[1]).mul(scale), F::of(m[2]).mul(scale)];
    let [yy, yz, zz] = [F::of(m[3]).mul(scale), F::of(m[4]).mul(scale), F::of(m[5]).mul(scale)];
    let [a, b, c] = [yy.mul(zz).sub(yz.mul(yz)), xz.mul(yz).sub(xy.mul(zz)), xy.mul(yz).sub(xz.mul(yy))];
    let determinant = xx.mul(a).add(xy.mul(b)).add(xz.mul(c));
    let is_sound = F::splat(1e-9).below(determinant);
    let by = is_sound.select(scale.div(is_sound.select(determinant, one)), zero);
    [
        a.mul(by).array(),
        b.mul(by).array(),
        c.mul(by).array(),
        xx.mul(zz).sub(xz.mul(xz)).mul(by).array(),
        xy.mul(xz).sub(xx.mul(yz)).mul(by).array(),
        xx.mul(yy).sub(xy.mul(xy)).mul(by).array(),
    ]
}
