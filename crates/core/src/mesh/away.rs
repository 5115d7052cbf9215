//! Positions of files that lie far from the origin.
//!
//! In: positions in double precision, one after the other. Out: single precision, counted from an origin near the mesh
//! where the file's own numbers would be rounded noticeably.

use glam::DVec3;

/// Distance from the origin, in sizes of the mesh, above which single precision rounds positions to more than 1/4096 of
/// the size: voxels of the finest levels are no larger.
const FAR: f64 = 2048.0;

/// The size of a mesh with these positions, and their greatest distance from the origin.
pub(super) fn measured(positions: &[[f32; 3]]) -> [f64; 2] {
    if positions.is_empty() {
        return [0.0; 2];
    }
    let axis = |axis: usize| {
        let values = positions.iter().map(|p| p[axis]);
        values.fold((f32::MAX, f32::MIN), |(low, high), v| (low.min(v), high.max(v)))
    };
    let axes = [axis(0), axis(1), axis(2)];
    let size = axes.iter().map(|(low, high)| f64::from(*high) - f64::from(*low)).fold(0.0, f64::max);
    let far = axes.iter().map(|(low, high)| f64::from(low.abs().max(high.abs()))).fold(0.0, f64::max);
    [size, far]
}

/// A warning if a mesh of this size lay so far from the origin when its corners were rounded that this is noticeable.
pub(super) fn rounding([size, far]: [f64; 2]) -> Option<String> {
    let step = far * f64::from(f32::EPSILON);
    (far > FAR * size).then(|| {
        format!(
            "the mesh lies {far:.3e} units from the origin and is {size:.3e} wide: its corners are rounded to steps of \
             {step:.1e}; move it to the origin before it is exported, or holes and wrong volumes may follow"
        )
    })
}

/// What single precision rounds off the positions of a file, for as long as it may lie far away.
#[derive(Debug)]
pub(super) struct Doubles {
    low: DVec3,
    high: DVec3,
    /// By position; shorter than the list of positions where the last ones are exact.
    rest: Vec<[f32; 3]>,
    is_near: bool,
}

impl Default for Doubles {
    fn default() -> Self {
        let (low, high) = (DVec3::splat(f64::MAX), DVec3::splat(f64::MIN));
        Self { low, high, rest: Vec::new(), is_near: false }
    }
}

impl Doubles {
    /// Single precision of position number `index`; those from there on are forgotten.
    pub fn rounded(&mut self, index: usize, position: [f64; 3]) -> [f32; 3] {
        let rounded = position.map(|x| x as f32);
        if self.is_near || rounded.iter().any(|x| !x.is_finite()) {
            return rounded;
        }
        let exact = DVec3::from_array(position);
        (self.low, self.high) = (self.low.min(exact), self.high.max(exact));
        // A further position adds no more to the distance than to the size, so the quotient grows by 1 at most.
        self.is_near = self.distance() <= (FAR - 1.0) * self.size();
        if self.is_near {
            self.rest = Vec::new();
            return rounded;
        }
        let rest: [f32; 3] = std::array::from_fn(|k| (position[k] - f64::from(rounded[k])) as f32);
        self.rest.truncate(index);
        if rest != [0.0; 3] {
            self.rest.resize(index, [0.0; 3]);
            self.rest.push(rest);
        }
        rounded
    }

    /// Position number `index`, whose single precision is `rounded`.
    pub fn exact(&self, index: usize, rounded: [f32; 3]) -> DVec3 {
        let rest = self.rest.get(index).copied().unwrap_or_default();
        DVec3::from_array(rounded.map(f64::from)) + DVec3::from_array(rest.map(f64::from))
    }

    /// Counts `positions` from an origin near them if they lie far away and have more than single precision; returns
    /// it, and a warning. Origins are multiples of a power of two about as large as the mesh.
    pub fn settle(&mut self, positions: &mut [[f32; 3]]) -> Option<([f64; 3], String)> {
        let (size, far) = (self.size(), self.distance());
        let Self { low, high, .. } = *self;
        if self.is_near || self.rest.is_empty() || far <= FAR * size {
            return None;
        }
        // The exponent alone.
        let unit = f64::from_bits(size.to_bits() & 0x7ff0_0000_0000_0000);
        let origin: [f64; 3] = std::array::from_fn(|k| {
            let middle = (low[k] + high[k]) / 2.0;
            if low[k].abs().max(high[k].abs()) <= FAR * size {
                0.0
            } else if unit > 0.0 {
                (middle / unit).round() * unit
            } else {
                middle
            }
        });
        for (k, position) in positions.iter_mut().enumerate() {
            if position.iter().all(|x| x.is_finite()) {
                *position = (self.exact(k, *position) - DVec3::from_array(origin)).as_vec3().to_array();
            }
        }
        (self.rest, self.is_near) = (Vec::new(), true);
        let [x, y, z] = origin;
        let warning = format!(
            "the mesh lies {far:.3e} units from the origin and is {size:.3e} wide: positions are counted from ({x}, {y}, \
             {z}) of the file here, in pieces and in the report; move pieces by that to bring them back"
        );
        Some((origin, warning))
    }

    fn size(&self) -> f64 {
        (self.high - self.low).max_element()
    }

    fn distance(&self) -> f64 {
        self.low.abs().max(self.high.abs()).max_element()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions of `count` points about 1 apart, which begin at `start`.
    fn points(start: [f64; 3], count: usize) -> Vec<[f64; 3]> {
        let at = |k: usize, axis: usize| start[axis] + ((k * 7919 + axis * 104_729) % 1009) as f64 / 1009.0;
        (0..count).map(|k| [0, 1, 2].map(|axis| at(k, axis))).collect()
    }

    /// Positions, and the origin with the warning that names it.
    type Read = (Vec<[f32; 3]>, Option<([f64; 3], String)>);

    fn read(points: &[[f64; 3]]) -> Read {
        let mut doubles = Doubles::default();
        let mut positions: Vec<[f32; 3]> =
            points.iter().enumerate().map(|(k, p)| doubles.rounded(k, *p)).collect();
        let moved = doubles.settle(&mut positions);
        (positions, moved)
    }

    #[test]
    fn what_lies_far_away_is_moved_before_it_is_rounded() {
        let far = points([500_123.25, 120.5, -4_649_776.75], 300);
        let (positions, moved) = read(&far);
        let (origin, warning) = moved.unwrap();
        assert_eq!(origin[1], 0.0, "120 sizes are not far");
        for (position, exact) in positions.iter().zip(&far) {
            for k in 0..3 {
                let error = f64::from(position[k]) + origin[k] - exact[k];
                assert!(error.abs() <= if k == 1 { 4e-6 } else { 1e-7 }, "{error:e} along {k}");
            }
        }
        assert!(warning.contains(&format!("({}, 0, {})", origin[0], origin[2])), "{warning}");
    }

    #[test]
    fn what_is_near_or_was_rounded_before_stays_bit_by_bit() {
        for start in [[0.0; 3], [-1500.0, 0.0, 3.0], [500.25, 1e3, -0.0]] {
            let (positions, moved) = read(&points(start, 100));
            let plain: Vec<[f32; 3]> = points(start, 100).iter().map(|p| p.map(|x| x as f32)).collect();
            assert_eq!((positions, moved.is_none()), (plain, true), "{start:?}");
        }
        let single: Vec<[f64; 3]> =
            points([5e5, 0.0, 0.0], 100).iter().map(|p| p.map(|x| f64::from(x as f32))).collect();
        assert!(read(&single).1.is_none(), "single precision has all of it");
        // Far in sizes of its first points, near in those of all.
        let mut grows = points([9e4, 0.0, 0.0], 50);
        grows.push([-9e4, 0.1, f64::NAN]);
        grows.push([-9e4, 0.1, 0.1]);
        let (positions, moved) = read(&grows);
        assert!(moved.is_none() && positions[3] == grows[3].map(|x| x as f32));
    }
}
