//! Tangents of a part's vertices, for materials that need them: those with a map of normals, or a grain.
//!
//! In: a [`Primitive`], and the texture coordinates of that map. Out: the same part with a tangent at every vertex: the mean of
//! the directions in which u grows over the triangles there, weighted by their angles at the vertex, across the normal. A
//! vertex between triangles with mirrored coordinates and others becomes two, since its bitangents point to both sides.

use glam::{DVec3, Vec3};

use super::Primitive;

/// A vertex that is not there.
const NONE: u32 = u32::MAX;

impl Primitive {
    /// The same with tangents. `uvs` has the coordinates of each vertex, v up; 0 where they are missing.
    #[must_use]
    pub fn with_tangents(&self, uvs: &[[f32; 2]]) -> Self {
        let mut out = Self { tangents: Vec::new(), ..self.clone() };
        let count = self.positions.len();
        // Of each vertex its number among triangles as they are, and among mirrored ones.
        let mut numbers = vec![[NONE; 2]; count];
        let (mut sums, mut is_mirrored) = (vec![DVec3::ZERO; count], vec![false; count]);
        let uv = |vertex: u32| uvs.get(vertex as usize).copied().unwrap_or_default().map(f64::from);
        for (t, triangle) in self.indices.as_chunks::<3>().0.iter().enumerate() {
            let places = triangle.map(|vertex| self.positions[vertex as usize]);
            let Some((along, mirrored)) = along_u(places, triangle.map(uv)) else { continue };
            for (k, vertex) in triangle.iter().enumerate() {
                let at = *vertex as usize;
                let known = numbers[at];
                let number = match (known[usize::from(mirrored)], known[usize::from(!mirrored)]) {
                    (NONE, NONE) => *vertex,
                    (NONE, _) => {
                        out.double(at);
                        sums.push(DVec3::ZERO);
                        is_mirrored.push(mirrored);
                        out.positions.len() as u32 - 1
                    }
                    (number, _) => number,
                };
                numbers[at][usize::from(mirrored)] = number;
                out.indices[3 * t + k] = number;
                is_mirrored[number as usize] = mirrored;
                let across = across(along, self.normals[at]);
                sums[number as usize] += across.normalize_or_zero() * angle(places, k);
            }
        }
        let tangent = |((sum, normal), mirrored): ((&DVec3, &Vec3), &bool)| {
            let across = across(*sum, *normal);
            let is_lost = across.length_squared() <= 1e-12 * sum.length_squared();
            let unit =
                if is_lost { normal.any_orthonormal_vector() } else { across.normalize_or_zero().as_vec3() };
            unit.extend(if *mirrored { -1.0 } else { 1.0 }).to_array()
        };
        out.tangents = sums.iter().zip(&out.normals).zip(&is_mirrored).map(tangent).collect();
        out
    }

    /// Adds a vertex with the attributes of another.
    fn double(&mut self, vertex: usize) {
        self.positions.push(self.positions[vertex]);
        self.normals.push(self.normals[vertex]);
        self.colors.push(self.colors[vertex]);
        self.uvs.push(self.uvs[vertex]);
        self.uvs2.push(self.uvs2[vertex]);
        self.cell_beyond.push(self.cell_beyond[vertex]);
        self.crack_distance.push(self.crack_distance[vertex]);
        // The caller may say nothing of it.
        let beyond = self.beyond.get(vertex).copied();
        self.beyond.extend(beyond);
    }
}

/// The direction in which u grows over a triangle, of any length, and whether its coordinates are mirrored; `None` where
/// they have no area.
fn along_u(places: [DVec3; 3], uvs: [[f64; 2]; 3]) -> Option<(DVec3, bool)> {
    let [e, f] = [1, 2].map(|k| places[k] - places[0]);
    let [[eu, ev], [fu, fv]] = [1, 2].map(|k| [uvs[k][0] - uvs[0][0], uvs[k][1] - uvs[0][1]]);
    let area = eu * fv - fu * ev;
    let along = (e * fv - f * ev) * area.signum();
    (area != 0.0 && along.is_finite() && along != DVec3::ZERO).then_some((along, area < 0.0))
}

/// The part of a vector across a unit normal.
fn across(vector: DVec3, normal: Vec3) -> DVec3 {
    let normal = normal.as_dvec3();
    vector - normal * normal.dot(vector)
}

/// The angle of a triangle at its corner `k`, radians.
fn angle(places: [DVec3; 3], k: usize) -> f64 {
    let [a, b] = [1, 2].map(|next| (places[(k + next) % 3] - places[k]).normalize_or_zero());
    libm::acos(a.dot(b).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles of the square from 0 to 1 that face along z, with these coordinates at its corners.
    fn square(uvs: [[f32; 2]; 4]) -> Primitive {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        Primitive {
            positions: corners.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec(),
            normals: vec![Vec3::Z; 4],
            colors: (0..4).map(|k| [k; 3]).collect(),
            uvs: uvs.to_vec(),
            uvs2: vec![[0.0; 2]; 4],
            cell_beyond: vec![-1.0; 4],
            crack_distance: vec![2.0; 4],
            indices: vec![0, 1, 2, 0, 2, 3],
            ..Primitive::default()
        }
    }

    #[test]
    fn tangents_point_along_u_and_bitangents_along_v() {
        let plain = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for (turn, wanted) in [
            ([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0, 0.0, 1.0]),
            ([[-1.0, 0.0], [0.0, 1.0]], [-1.0, 0.0, 0.0, -1.0]),
            ([[0.0, 3.0], [-1.0, 0.0]], [0.0, 1.0, 0.0, 1.0]),
            ([[1.0, 0.0], [0.0, -1.0]], [1.0, 0.0, 0.0, -1.0]),
        ] {
            let uvs = plain.map(|[x, y]: [f32; 2]| turn.map(|[a, b]: [f32; 2]| a * x + b * y));
            let part = square(uvs).with_tangents(&uvs);
            assert_eq!((part.positions.len(), &part.indices[..]), (4, &[0, 1, 2, 0, 2, 3][..]));
            for tangent in &part.tangents {
                assert!((0..4).all(|k| (tangent[k] - wanted[k]).abs() < 1e-6), "{tangent:?} {wanted:?}");
            }
        }
    }

    #[test]
    fn vertices_between_mirrored_and_other_coordinates_become_two() {
        // The second triangle has the first one's coordinates, mirrored at the diagonal.
        let part = square([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]);
        let made = part.with_tangents(&part.uvs);
        assert_eq!(made.indices, [0, 1, 2, 4, 5, 3]);
        assert_eq!((made.positions[4], made.positions[5]), (part.positions[0], part.positions[2]));
        assert_eq!((made.colors[4], made.colors[5], made.tangents.len()), ([0; 3], [2; 3], 6));
        let signs: Vec<f32> = made.tangents.iter().map(|tangent| tangent[3]).collect();
        assert_eq!(signs, [1.0, 1.0, 1.0, -1.0, -1.0, -1.0]);
        assert!(made.tangents[..3].iter().all(|t| (t[0] - 1.0).abs() < 1e-6), "{:?}", made.tangents);
        assert!(made.tangents[3..].iter().all(|t| (t[1] - 1.0).abs() < 1e-6), "{:?}", made.tangents);
        assert!(made.beyond.is_empty() && made.crack_distance == [2.0; 6]);
    }

    #[test]
    fn without_coordinates_any_unit_vector_across_the_normal_serves() {
        let part = square([[0.5; 2]; 4]).with_tangents(&[]);
        assert_eq!((part.positions.len(), part.tangents.len()), (4, 4));
        for [x, y, z, w] in part.tangents {
            assert!((x * x + y * y - 1.0).abs() < 1e-6 && z.abs() < 1e-6 && w == 1.0);
        }
    }
}
