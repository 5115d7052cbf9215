//! Topology of a mesh: welded vertices, shared edges, the boundary, and cones that close it.
//!
//! In: a mesh. Out: welded vertex numbers, grouped edges, the signed boundary chain, closing triangles. Everything is
//! sorted, never hashed, so the same mesh gives the same numbers.

use super::Mesh;
use crate::geometry::UnionFind;
use rayon::prelude::*;

/// Vertices at bitwise equal positions (-0 counts as 0), for adjacency only: colours and texture coordinates stay with
/// the mesh's own vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Welded number of each vertex of the mesh.
    pub welded: Vec<u32>,
    /// Number of welded vertices.
    pub welded_count: u32,
}

impl Topology {
    /// The triangles of `mesh` with welded vertices. Every index must be valid.
    #[must_use]
    pub fn triangles(&self, mesh: &Mesh) -> Vec<[u32; 3]> {
        mesh.triangles.par_iter().map(|t| t.map(|i| self.welded[i as usize])).collect()
    }
}

/// Numbers the distinct positions of `mesh`.
#[must_use]
pub fn topology(mesh: &Mesh) -> Topology {
    let bits = |p: &[f32; 3]| p.map(|x| if x == 0.0 { 0 } else { x.to_bits() });
    let mut order: Vec<([u32; 3], u32)> =
        mesh.positions.par_iter().enumerate().map(|(k, p)| (bits(p), k as u32)).collect();
    order.par_sort_unstable();
    let mut welded = vec![0; mesh.positions.len()];
    let mut count = 0u32;
    for (k, &(key, vertex)) in order.iter().enumerate() {
        if k > 0 && order[k - 1].0 != key {
            count += 1;
        }
        welded[vertex as usize] = count;
    }
    Topology { welded, welded_count: if order.is_empty() { 0 } else { count + 1 } }
}

/// Edges of triangles, with equal ones adjacent.
pub(super) struct Edges {
    /// (low vertex, high vertex) in one word, and the half edge `3 * triangle + corner` that starts at that corner.
    sorted: Vec<(u64, u32)>,
}

impl Edges {
    /// The edges of `triangles` (welded vertices), without edges from a vertex to itself.
    pub fn of(triangles: &[[u32; 3]]) -> Self {
        let mut sorted: Vec<(u64, u32)> = triangles
            .par_iter()
            .enumerate()
            .flat_map_iter(|(t, v)| {
                (0..3).filter_map(move |k| {
                    let (a, b) = (v[k], v[(k + 1) % 3]);
                    let key = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
                    (a != b).then_some((key, (t * 3 + k) as u32))
                })
            })
            .collect();
        sorted.par_sort_unstable();
        Self { sorted }
    }

    /// For each distinct edge its two vertices, low first, and its half edges.
    pub fn groups(&self) -> impl Iterator<Item = ([u32; 2], &[(u64, u32)])> {
        self.sorted
            .chunk_by(|a, b| a.0 == b.0)
            .map(|group| ([(group[0].0 >> 32) as u32, group[0].0 as u32], group))
    }

    /// Directed edges (from, to, multiplicity) that do not cancel: the boundary of the surface as a chain.
    pub fn signed_boundary(&self, triangles: &[[u32; 3]]) -> Vec<(u32, u32, u32)> {
        self.groups()
            .filter_map(|([low, high], group)| {
                let net: i64 = group
                    .iter()
                    .map(
                        |&(_, half)| {
                            if triangles[half as usize / 3][half as usize % 3] == low { 1 } else { -1 }
                        },
                    )
                    .sum();
                let times = net.unsigned_abs() as u32;
                match net {
                    0 => None,
                    1.. => Some((low, high, times)),
                    _ => Some((high, low, times)),
                }
            })
            .collect()
    }
}

/// Triangles that close every hole: for each connected part of the signed boundary chain, a fan from the part's centre
/// to each of its edges, oriented so that mesh and cones together have no boundary. An edge of multiplicity two gets
/// two triangles. Some may be degenerate, for example at a slit along a line.
#[must_use]
pub fn boundary_cones(mesh: &Mesh, topology: &Topology) -> Vec<[[f32; 3]; 3]> {
    let triangles = topology.triangles(mesh);
    let chain = Edges::of(&triangles).signed_boundary(&triangles);
    let mut sets = UnionFind::new(topology.welded_count as usize);
    for &(a, b, _) in &chain {
        sets.join(a, b);
    }
    let mut position = vec![[0.0f32; 3]; topology.welded_count as usize];
    for (vertex, &id) in topology.welded.iter().enumerate() {
        // Adding zero turns -0 into 0, so that welded vertices have one position.
        position[id as usize] = mesh.positions[vertex].map(|x| x + 0.0);
    }
    let mut ends: Vec<u32> = chain.iter().flat_map(|&(a, b, _)| [a, b]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut sums = vec![([0.0f64; 3], 0.0f64); if ends.is_empty() { 0 } else { position.len() }];
    for &v in &ends {
        let (sum, count) = &mut sums[sets.find(v) as usize];
        for k in 0..3 {
            sum[k] += f64::from(position[v as usize][k]);
        }
        *count += 1.0;
    }
    let mut cones = Vec::with_capacity(chain.len());
    for &(a, b, times) in &chain {
        let (sum, count) = sums[sets.find(a) as usize];
        let centre = sum.map(|x| (x / count) as f32);
        let cone = [position[b as usize], position[a as usize], centre];
        cones.extend(std::iter::repeat_n(cone, times as usize));
    }
    cones
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    fn chain(mesh: &Mesh) -> Vec<(u32, u32, u32)> {
        let triangles = topology(mesh).triangles(mesh);
        Edges::of(&triangles).signed_boundary(&triangles)
    }

    fn with_cones(mesh: &Mesh) -> (Mesh, usize) {
        let cones = boundary_cones(mesh, &topology(mesh));
        let mut whole = mesh.clone();
        for cone in &cones {
            let base = whole.positions.len() as u32;
            whole.positions.extend(cone);
            whole.triangles.push([base, base + 1, base + 2]);
        }
        (whole, cones.len())
    }

    fn soup(seed: u64, triangles: usize, points: u64) -> Mesh {
        let mut state = seed | 1;
        let mut next = move |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % n
        };
        let mut mesh = Mesh::default();
        for _ in 0..points {
            mesh.positions.push(std::array::from_fn(|_| next(7) as f32 - 3.0));
        }
        for _ in 0..triangles {
            mesh.triangles.push(std::array::from_fn(|_| next(points) as u32));
        }
        mesh
    }

    #[test]
    fn positions_weld_bitwise_and_zero_has_no_sign() {
        let positions = vec![[0.0, 1.0, 2.0], [-0.0, 1.0, 2.0], [0.0, 1.0, 2.0000002], [0.0, 1.0, 2.0]];
        let t = topology(&Mesh { positions, ..Mesh::default() });
        assert_eq!(t.welded_count, 2);
        assert_eq!(t.welded[0], t.welded[1]);
        assert_eq!(t.welded[0], t.welded[3]);
        assert_ne!(t.welded[0], t.welded[2]);
        assert_eq!(topology(&Mesh::default()), Topology::default());
    }

    #[test]
    fn a_closed_mesh_needs_no_cones() {
        assert_eq!(
            boundary_cones(&builtin("cavity").unwrap(), &topology(&builtin("cavity").unwrap())).len(),
            0
        );
    }

    #[test]
    fn cones_close_an_open_box_a_lone_triangle_and_random_soups() {
        let mut open = builtin("box").unwrap();
        open.triangles.retain(|t| t.iter().any(|&i| open.positions[i as usize][1] < 1.0));
        assert_eq!(chain(&open).len(), 4 * 24);
        let (closed, added) = with_cones(&open);
        assert_eq!((chain(&closed).len(), added), (0, 4 * 24));

        let lone = soup(3, 0, 3);
        let lone = Mesh { triangles: vec![[0, 1, 2]], ..lone };
        assert_eq!((chain(&lone).len(), with_cones(&lone).1, chain(&with_cones(&lone).0).len()), (3, 3, 0));

        for seed in 1..60 {
            let mesh = soup(seed * 77, (seed * 5) as usize, 4 + seed);
            let (closed, added) = with_cones(&mesh);
            assert!(chain(&mesh).is_empty() || added > 0);
            assert_eq!(chain(&closed), [], "seed {seed}");
        }
    }

    #[test]
    fn an_edge_that_counts_twice_gets_two_cones() {
        // Two triangles that both run 0 -> 1.
        let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mesh = Mesh { positions, triangles: vec![[0, 1, 2], [0, 1, 3]], ..Mesh::default() };
        assert_eq!(chain(&mesh).iter().map(|e| e.2).max(), Some(2));
        let (closed, added) = with_cones(&mesh);
        assert_eq!((added, chain(&closed).len()), (6, 0));
    }

    #[test]
    fn a_cone_the_wrong_way_round_is_noticed() {
        let mesh = Mesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            ..Mesh::default()
        };
        let (mut closed, _) = with_cones(&mesh);
        if let Some(t) = closed.triangles.last_mut() {
            t.swap(0, 1);
        }
        assert!(!chain(&closed).is_empty());
    }
}
