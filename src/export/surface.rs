//! The surface of a piece as a closed mesh.
//!
//! In: a shape. Out: its triangles, where it has any; of an octree one quad per voxel face that is exposed,
//! its corners pulled onto the surface planes that the leaves around them store (offset and normal). The
//! faces round a set of voxels close by themselves, and moving corners does not open them; pieces of one
//! break meet on their common crack plane, because both copies of a crack voxel store it.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::{
    shape::{Convex, Geometry, Octree, Shape, SolidMesh},
    svo::{Forest, LeafColor, morton::decode, unpack_cut, unpack_normal},
};

use super::Cells;

/// A closed mesh that faces outward, shape space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PieceMesh {
    /// Vertices.
    pub positions: Vec<DVec3>,
    /// Unit normals per vertex.
    pub normals: Vec<Vec3>,
    /// sRGB per vertex.
    pub colors: Vec<[u8; 3]>,
    /// Counter-clockwise from outside.
    pub quads: Vec<[u32; 4]>,
    /// Triangles that are half of no quad, counter-clockwise from outside.
    pub loose: Vec<[u32; 3]>,
}

impl PieceMesh {
    /// Each quad as two triangles, then the other triangles.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        let halves = self.quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        halves.chain(self.loose.iter().copied())
    }

    /// Of `positions` and `triangles`, with normals that are the mean of the triangles round a vertex, by
    /// area.
    fn of_triangles(positions: Vec<DVec3>, colors: Vec<[u8; 3]>, loose: Vec<[u32; 3]>) -> Self {
        let mut sums = vec![DVec3::ZERO; positions.len()];
        for triangle in &loose {
            let [a, b, c] = triangle.map(|i| positions[i as usize]);
            let normal = (b - a).cross(c - a);
            triangle.iter().for_each(|i| sums[*i as usize] += normal);
        }
        let normals = sums.iter().map(|n| n.normalize_or(DVec3::Y).as_vec3()).collect();
        Self { positions, normals, colors, quads: Vec::new(), loose }
    }
}

/// Corners of the face that looks along each of -x, +x, -y, +y, -z, +z, counter-clockwise from outside.
const FACES: [([i32; 3], [[u32; 3]; 4]); 6] = [
    ([-1, 0, 0], [[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0]]),
    ([1, 0, 0], [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]]),
    ([0, -1, 0], [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]),
    ([0, 1, 0], [[0, 1, 0], [0, 1, 1], [1, 1, 1], [1, 1, 0]]),
    ([0, 0, -1], [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]]),
    ([0, 0, 1], [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]),
];

/// Steps towards the planes; the error halves or better with each.
const STEPS: u32 = 6;

/// Colour of what has none of its own, sRGB.
const CLAY: [u8; 3] = [176, 160, 140];

/// The surface of a piece.
#[must_use]
pub fn piece_mesh(shape: &Shape) -> PieceMesh {
    let color = shape.look().surface_color.unwrap_or(CLAY);
    match shape.geometry() {
        Geometry::Octree(octree) => of_octree(octree),
        Geometry::Mesh(solid) => of_mesh(solid, color),
        Geometry::Convex(convex) => of_convex(convex, color),
    }
}

fn of_octree(octree: &Octree) -> PieceMesh {
    let (forest, grid) = (&octree.forest, &octree.grid);
    let cells = Cells::of(forest, octree.tree as usize);
    let leaf = |i: u32| leaf_of(forest, i as usize);
    let mut mesh = surface(&cells, &leaf);
    for p in &mut mesh.positions {
        *p = grid.origin + grid.h * *p;
    }
    mesh
}

fn of_mesh(solid: &SolidMesh, color: [u8; 3]) -> PieceMesh {
    let (mesh, positions) = (solid.mesh(), solid.vertices().collect::<Vec<_>>());
    let own = mesh.colors.len() == positions.len();
    let colors = if own { mesh.colors.clone() } else { vec![color; positions.len()] };
    let there = |t: &&[u32; 3]| t.iter().all(|i| (*i as usize) < positions.len());
    let triangles = mesh.triangles.iter().filter(there).copied().collect();
    PieceMesh::of_triangles(positions, colors, triangles)
}

fn of_convex(convex: &Convex, color: [u8; 3]) -> PieceMesh {
    let positions = convex.vertices().to_vec();
    let fan = |face: &Vec<u32>| -> Vec<[u32; 3]> {
        let first = face.first().copied().unwrap_or_default();
        face.windows(2).skip(1).map(|edge| [first, edge[0], edge[1]]).collect()
    };
    let triangles = convex.faces().iter().flat_map(fan).collect();
    let colors = vec![color; positions.len()];
    PieceMesh::of_triangles(positions, colors, triangles)
}

/// A leaf's packed normal, colour, and packed cut.
type Leaf = (u32, LeafColor, u32);

fn leaf_of(forest: &Forest, i: usize) -> Leaf {
    let leaves = &forest.leaves;
    (leaves.normals[i], leaves.colors[i], leaves.cuts.get(i).copied().unwrap_or(0))
}

/// The same in grid coordinates.
fn surface(cells: &Cells, leaf: &(impl Fn(u32) -> Leaf + Sync)) -> PieceMesh {
    // Internal nodes have no exposed faces: inside never touches outside through a face.
    let quads: Vec<[u64; 4]> = (0..cells.len())
        .into_par_iter()
        .filter(|i| cells.leaves[*i] != u32::MAX)
        .flat_map_iter(|i| {
            let low = decode(cells.starts.at(i));
            FACES.iter().filter_map(move |(side, corners)| {
                let beside = std::array::from_fn(|k| low[k] as i32 + side[k]);
                let open = cells.find_at(beside).is_none();
                open.then(|| corners.map(|c| corner_code(std::array::from_fn(|k| low[k] + c[k]))))
            })
        })
        .collect();
    let mut corners: Vec<u64> = quads.iter().flatten().copied().collect();
    corners.par_sort_unstable();
    corners.dedup();
    let vertices: Vec<(DVec3, Vec3, [u8; 3])> =
        corners.par_iter().map(|code| vertex(cells, leaf, corner_of(*code))).collect();
    let index = |code: u64| corners.binary_search(&code).unwrap_or_default() as u32;
    PieceMesh {
        positions: vertices.iter().map(|v| v.0).collect(),
        normals: vertices.iter().map(|v| v.1).collect(),
        colors: vertices.iter().map(|v| v.2).collect(),
        quads: quads.par_iter().map(|q| q.map(index)).collect(),
        loose: Vec::new(),
    }
}

fn corner_code(at: [u32; 3]) -> u64 {
    u64::from(at[0]) | u64::from(at[1]) << 16 | u64::from(at[2]) << 32
}

fn corner_of(code: u64) -> [i32; 3] {
    [code, code >> 16, code >> 32].map(|v| i32::from(v as u16))
}

/// Pulls a corner onto the planes of the leaves that meet there, and behind their cuts, at most one voxel
/// along each axis.
fn vertex(cells: &Cells, leaf: &impl Fn(u32) -> Leaf, corner: [i32; 3]) -> (DVec3, Vec3, [u8; 3]) {
    let start = DVec3::from_array(corner.map(f64::from));
    let (mut planes, mut count) = ([(DVec3::ZERO, 0.0); 8], 0);
    let (mut cuts, mut cut_count) = ([(DVec3::ZERO, 0.0); 8], 0);
    let (mut normal, mut color) = (Vec3::ZERO, [0u32; 3]);
    for c in 0..8 {
        let cell: [i32; 3] = std::array::from_fn(|k| corner[k] - (c >> k & 1));
        let Some(i) = cells.find_at(cell).map(|i| cells.leaves[i]).filter(|i| *i != u32::MAX) else {
            continue;
        };
        let (packed, leaf_color, cut) = leaf(i);
        let middle = DVec3::from_array(cell.map(|v| f64::from(v) + 0.5));
        let plane = |n: Vec3, offset: f32| (n.as_dvec3(), n.as_dvec3().dot(middle) + f64::from(offset));
        let n = unpack_normal(packed);
        planes[count] = plane(n, leaf_color.offset());
        count += 1;
        if let Some((cut_normal, offset)) = unpack_cut(cut) {
            cuts[cut_count] = plane(cut_normal, offset);
            cut_count += 1;
        }
        normal += n;
        for (sum, part) in color.iter_mut().zip(leaf_color.rgb()) {
            *sum += u32::from(part);
        }
    }
    let mut point = start;
    for _ in 0..STEPS {
        let pull: DVec3 = planes[..count].iter().map(|(n, d)| *n * (d - n.dot(point))).sum();
        point += pull / count.max(1) as f64;
        // A cut only bounds the piece: what lies behind it already stays on the outer surface.
        let beyond = cuts[..cut_count].iter().filter(|(n, d)| n.dot(point) > *d);
        let (push, pushes) = beyond
            .fold((DVec3::ZERO, 0), |(sum, pushes), (n, d)| (sum + *n * (d - n.dot(point)), pushes + 1));
        point += push / f64::from(pushes.max(1));
    }
    point = point.clamp(start - DVec3::ONE, start + DVec3::ONE);
    (point, normal.normalize_or(Vec3::Y), color.map(|sum| (sum / count.max(1) as u32) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{Leaves, morton, pack_normal};
    use std::collections::BTreeMap;

    /// Leaves of a sphere's shell with exact planes, the inside filled by the builder.
    fn sphere(level: u32, radius: f64) -> crate::svo::Forest {
        let side = 1u32 << level;
        let middle = DVec3::splat(f64::from(side) / 2.0);
        let mut leaves = Leaves::default();
        for key in 0..morton::Key::from(side).pow(3) {
            let centre = DVec3::from_array(morton::decode(key).map(|v| f64::from(v) + 0.5));
            let out = centre - middle;
            let reach = 0.5 * (out.x.abs() + out.y.abs() + out.z.abs()) / out.length();
            let offset = radius - out.length();
            if offset.abs() <= reach {
                leaves.keys.push(key);
                leaves.normals.push(pack_normal((out / out.length()).as_vec3()));
                leaves.colors.push(LeafColor::new([200, 100, 50], false, offset as f32));
                leaves.coverage.push(0.5);
                leaves.cuts.push(0);
            }
        }
        crate::svo::build(level, leaves, &|key: morton::Key, l: u32| {
            let size = f64::from(1u32 << (level - l));
            let centre = DVec3::from_array(morton::decode(key).map(|v| (f64::from(v) + 0.5) * size));
            centre.distance(middle) < radius
        })
    }

    /// The volume of a mesh, which must be closed.
    fn volume_of_closed(mesh: &PieceMesh) -> f64 {
        let mut edges: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        let mut volume = 0.0;
        for t in mesh.triangles() {
            let p = t.map(|i| mesh.positions[i as usize]);
            volume += p[0].dot(p[1].cross(p[2])) / 6.0;
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
        assert!(!edges.is_empty() && edges.values().all(|sum| *sum == 0), "an edge is open");
        assert_eq!((mesh.normals.len(), mesh.colors.len()), (mesh.positions.len(), mesh.positions.len()));
        volume
    }

    #[test]
    fn other_geometries_are_closed_outward_and_have_their_volumes() {
        use crate::shape::Look;
        let look = Look { surface_color: Some([1, 2, 3]) };
        let mesh = std::sync::Arc::new(crate::mesh::builtin("box").unwrap());
        let solid = Shape::mesh(&mesh, 0.5, 1.0, look);
        let volume = volume_of_closed(&piece_mesh(&solid));
        assert!((volume / solid.mass().volume_m3 - 1.0).abs() < 1e-6, "{volume}");
        let corners = (0..8).map(|c| DVec3::new(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2)));
        let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let cube = Convex::new(corners.collect(), faces.map(|f| f.to_vec()).to_vec()).unwrap();
        let mesh = piece_mesh(&Shape::convex(cube, 1.0, look));
        assert!((volume_of_closed(&mesh) - 1.0).abs() < 1e-12);
        assert_eq!((mesh.loose.len(), mesh.colors[7]), (12, [1, 2, 3]));
    }

    #[test]
    fn a_sphere_is_closed_outward_and_has_its_volume() {
        let forest = sphere(5, 11.3);
        let cells = Cells::of(&forest, 0);
        let leaf = |i: u32| leaf_of(&forest, i as usize);
        let mesh = surface(&cells, &leaf);
        let volume = volume_of_closed(&mesh);
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 11.3f64.powi(3);
        assert!((volume / exact - 1.0).abs() < 0.02, "volume {volume} of {exact}");
        assert!(mesh.colors.iter().all(|c| *c == [200, 100, 50]));
    }
}
