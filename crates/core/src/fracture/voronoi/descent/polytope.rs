//! Convex polytopes cut out of a box by planes, in f64: for bounds with a margin, never for exact decisions.
//!
//! In: a box and half-spaces. Out: the vertices of the rest.

use glam::DVec3;

/// A bounded convex polytope as its faces, each a ring of vertices.
#[derive(Clone, Debug)]
pub(in crate::fracture) struct Polytope {
    faces: Vec<Vec<DVec3>>,
}

impl Polytope {
    /// The box from `low` to `high`.
    pub fn of_box(low: DVec3, high: DVec3) -> Self {
        let corner = |c: usize| {
            let pick = |k: usize| if c >> k & 1 == 1 { high[k] } else { low[k] };
            DVec3::new(pick(0), pick(1), pick(2))
        };
        let rings = [[0, 2, 6, 4], [1, 3, 7, 5], [0, 1, 5, 4], [2, 3, 7, 6], [0, 1, 3, 2], [4, 5, 7, 6]];
        Self { faces: rings.iter().map(|ring| ring.iter().map(|c| corner(*c)).collect()).collect() }
    }

    /// Whether the rest is empty.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// All vertices; some occur more than once.
    pub fn vertices(&self) -> impl Iterator<Item = DVec3> + '_ {
        self.faces.iter().flatten().copied()
    }

    /// Keeps the part where `normal . x <= limit`; whether there was another part.
    pub fn clip(&mut self, normal: DVec3, limit: f64) -> bool {
        let side = |v: DVec3| normal.dot(v) - limit;
        if self.vertices().all(|v| side(v) <= 0.0) {
            return false;
        }
        let mut cap: Vec<DVec3> = Vec::new();
        let mut faces = Vec::with_capacity(self.faces.len() + 1);
        for ring in &self.faces {
            let mut kept = Vec::with_capacity(ring.len() + 1);
            for (i, &a) in ring.iter().enumerate() {
                let b = ring[(i + 1) % ring.len()];
                let (da, db) = (side(a), side(b));
                if da <= 0.0 {
                    kept.push(a);
                }
                if (da <= 0.0) != (db <= 0.0) {
                    let cut = a + (b - a) * (da / (da - db));
                    kept.push(cut);
                    cap.push(cut);
                }
            }
            if kept.len() >= 3 {
                faces.push(kept);
            }
        }
        if faces.is_empty() {
            self.faces.clear();
            return true;
        }
        if cap.len() >= 3 {
            sort_round(&mut cap, normal);
            faces.push(cap);
        }
        self.faces = faces;
        true
    }
}

/// Sorts the points of a convex ring round their middle.
fn sort_round(ring: &mut [DVec3], normal: DVec3) {
    let middle = ring.iter().sum::<DVec3>() / ring.len() as f64;
    let u = normal.any_orthogonal_vector();
    let v = normal.cross(u);
    let angle = |p: &DVec3| {
        let d = *p - middle;
        libm::atan2(d.dot(v), d.dot(u) * normal.length())
    };
    ring.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_of_the_unit_cube_is_a_tetrahedron() {
        let mut p = Polytope::of_box(DVec3::ZERO, DVec3::ONE);
        p.clip(DVec3::ONE, 0.5);
        let mut vertices: Vec<[i64; 3]> =
            p.vertices().map(|v| (v * 1000.0).round().as_i64vec3().to_array()).collect();
        vertices.sort_unstable();
        vertices.dedup();
        assert_eq!(vertices, [[0, 0, 0], [0, 0, 500], [0, 500, 0], [500, 0, 0]]);
        p.clip(DVec3::NEG_ONE, -0.6);
        assert!(p.is_empty());
    }

    #[test]
    fn many_planes_round_a_point_leave_a_ball() {
        let mut p = Polytope::of_box(DVec3::splat(-10.0), DVec3::splat(10.0));
        for i in 0..400 {
            let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 400.0;
            let turn = f64::from(i) * 2.399_963;
            let r = (1.0 - z * z).sqrt();
            p.clip(DVec3::new(r * turn.cos(), r * turn.sin(), z), 1.0);
        }
        let reach = p.vertices().map(DVec3::length).fold(0.0, f64::max);
        assert!(reach > 1.0 && reach < 1.05, "{reach}");
        assert!(p.vertices().all(|v| v.length() > 0.999));
    }
}
