//! A group of parts as one closed mesh with surface attributes, which can be cut again.
//!
//! In: the parts of a cut mesh, and their groups. Out: a mesh for every group, without faces between two parts of the
//! same group. Attributes of an outside face are interpolated from its triangle's corners.
//!
//! # The imported mesh as a body to be cut
//!
//! In: the imported mesh, its scale to shape space, the grid. Out: a [`Body`] with welded vertices in whole units.
//!
//! # Prepares the mesh of a mesh piece for files
//!
//! Methods that cut meshes identify every point by its origin, so their pieces are closed however the points are
//! rounded. In a file's 32-bit coordinates two very near points coincide, and other programs then find edges of four
//! triangles or triangles that face inward. Such short edges and thin triangles are removed, as from pieces that are
//! cut for the file alone.

use std::sync::Arc;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    super::{Corner, Face, PieceMesh, Side, world_uv},
    parts::{NOTHING, PartFace, Parts},
    slivers::mend,
    solid::{Edge, Edges, OpenEdges, Solid, UNIT_BITS},
};
use crate::{
    geometry::{UnionFind, srgb},
    shape::{NoSurface, SolidMesh},
    svo::Grid,
};

/// Why a mesh cannot be cut; its pieces can still have *smooth* meshes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOriginal {
    /// Edges without two triangles.
    #[error("the mesh is not closed ({0} edges); fill its holes, or take smooth meshes")]
    Open(usize),
    /// Some parts have no consistent outside.
    #[error("the mesh has a part without inside and outside; take smooth meshes")]
    Unoriented,
    /// The arrangement of cracks and mesh failed.
    #[error("{0}; take smooth meshes")]
    Tangled(String),
    /// The user cancelled.
    #[error("cutting the mesh was cancelled")]
    Cancelled,
    /// A break by another method than Voronoi cells of an octree.
    #[error("a break was not by Voronoi cells; take smooth meshes")]
    OtherMethod,
}

/// A closed mesh with surface attributes.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The mesh.
    pub solid: Solid,
    /// Side of each triangle.
    pub faces: Vec<Face>,
    /// Attributes of each triangle's corners.
    pub corners: Vec<[Corner; 3]>,
    /// The mesh's edges as [`Edges::of`] finds them, where they are known.
    pub edges: Option<Edges>,
}

/// Attributes of the crack faces of a cut.
pub struct Inside<'a> {
    /// Number of a region's cell over all breaks.
    pub beyond: &'a (dyn Fn(u32) -> u32 + Sync),
    /// Colour at a grid position (whole units).
    pub color: &'a (dyn Fn(DVec3) -> [u8; 3] + Sync),
}

/// Barycentric coordinates of a point of a triangle.
fn shares([a, b, c]: [DVec3; 3], p: DVec3) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let whole = normal.length_squared();
    let of = |u: DVec3, v: DVec3| ((u - p).cross(v - p).dot(normal) / whole).clamp(0.0, 1.0);
    let all = [of(b, c), of(c, a), of(a, b)];
    let sum: f64 = all.iter().sum();
    if sum > 0.0 { all.map(|v| v / sum) } else { [1.0, 0.0, 0.0] }
}

pub(super) fn mixed(corners: &[Corner; 3], shares: [f64; 3]) -> Corner {
    let sum = |of: &dyn Fn(&Corner) -> f64| corners.iter().zip(shares).map(|(c, w)| of(c) * w).sum::<f64>();
    let normal = Vec3::from_array([0, 1, 2].map(|k| sum(&|c| f64::from(c.normal[k])) as f32));
    Corner {
        normal: normal.normalize_or(corners[0].normal),
        color: srgb::mixed(corners.map(|c| c.color), shares),
        uv: [0, 1].map(|k| sum(&|c| f64::from(c.uv[k])) as f32),
        uv2: [0, 1].map(|k| sum(&|c| f64::from(c.uv2[k])) as f32),
    }
}

/// Each group of parts as a mesh of its own. `group` maps a part to its group, below `count`; a part without one is
/// left out.
#[must_use]
pub fn bodies(
    source: &Body,
    parts: &Parts,
    group: &[Option<u32>],
    count: usize,
    inside: &Inside<'_>,
) -> Vec<Body> {
    let group_of = |part: u32| if part == NOTHING { None } else { group[part as usize] };
    let mut lists: Vec<Vec<(u32, bool)>> = vec![Vec::new(); count];
    for (f, face) in parts.faces.iter().enumerate() {
        let [behind, front] = face.parts.map(group_of);
        if behind == front {
            continue;
        }
        for (side, turned) in [(behind, false), (front, true)] {
            if let Some(list) = side.and_then(|g| lists.get_mut(g as usize)) {
                list.push((f as u32, turned));
            }
        }
    }
    lists.par_iter().map(|list| body(source, parts, list, inside)).collect()
}

fn body(source: &Body, parts: &Parts, list: &[(u32, bool)], inside: &Inside<'_>) -> Body {
    let mut out = Body::default();
    let faces = list.iter().map(|(f, turned)| {
        let face: &PartFace = &parts.faces[*f as usize];
        let [a, b, c] = face.nodes;
        (face, *turned, if *turned { [a, c, b] } else { [a, b, c] })
    });
    let mut used: Vec<u32> = faces.clone().flat_map(|(_, _, nodes)| nodes).collect();
    used.sort_unstable();
    used.dedup();
    let number = |node: u32| used.binary_search(&node).unwrap_or_default() as u32;
    out.solid.places = used.iter().map(|n| parts.places[*n as usize]).collect();
    // Rounded to even units, as for the vertices of every solid.
    let even = |n: &u32| parts.in_grid[*n as usize].to_array().map(|v| (v * 0.5).round() as i64 * 2);
    out.solid.points = used.iter().map(even).collect();
    for (face, turned, nodes) in faces {
        out.solid.triangles.push(nodes.map(number));
        let places = nodes.map(|n| parts.places[n as usize]);
        if face.is_crack {
            let normal = parts.normals[face.source as usize];
            let normal = if turned { -normal } else { normal };
            let other = face.regions[usize::from(!turned)];
            let beyond = (other != NOTHING).then(|| (inside.beyond)(other));
            out.faces.push(Face { side: Side::Inside, beyond });
            out.corners.push([0, 1, 2].map(|k| Corner {
                normal: normal.as_vec3(),
                color: (inside.color)(parts.in_grid[nodes[k] as usize]),
                uv: world_uv(places[k], normal.as_vec3()),
                uv2: [0.0; 2],
            }));
        } else {
            let t = face.source as usize;
            let own = source.solid.triangles[t];
            let at = own.map(|i| source.solid.places[i as usize]);
            out.faces.push(source.faces[t]);
            out.corners.push([0, 1, 2].map(|k| match own.iter().position(|i| *i == nodes[k]) {
                Some(corner) => source.corners[t][corner],
                None => mixed(&source.corners[t], shares(at, places[k])),
            }));
        }
    }
    let edges = split_fans(&mut out.solid, |solid| Edges::of(&solid.triangles));
    mend(&mut out, edges);
    out
}

/// Whether all triangles round each vertex are one fan, by the edges that they share.
fn has_single_fans(solid: &Solid, edges: &Edges) -> bool {
    // Of each vertex its last triangle, and how many it has.
    let mut round = vec![(0u32, 0u32); solid.points.len()];
    for (t, corners) in solid.triangles.iter().enumerate() {
        corners.iter().for_each(|v| round[*v as usize] = (t as u32, round[*v as usize].1 + 1));
    }
    let is_single = |(v, &(first, count)): (usize, &(u32, u32))| {
        let (mut at, mut turned) = (first, 0);
        while turned < count {
            let Some(k) = solid.triangles[at as usize].iter().position(|i| *i == v as u32) else {
                return false;
            };
            let [a, b] = edges.list[edges.of_triangle[at as usize][k] as usize].triangles;
            at = if a == at { b } else { a };
            turned += 1;
            if at == first {
                break;
            }
        }
        turned == count && at == first
    };
    round.par_iter().enumerate().all(is_single)
}

/// Gives every fan of triangles round a vertex its own vertex, so that parts touching in a point are separate. `paired`
/// says which triangles share an edge. Returns the edges, where nothing was split.
fn split_fans(solid: &mut Solid, paired: impl Fn(&Solid) -> Result<Edges, OpenEdges>) -> Option<Edges> {
    let edges = paired(solid).ok()?;
    if has_single_fans(solid, &edges) {
        return Some(edges);
    }
    // Corner 3 t + k is merged with that of the next triangle round the same vertex.
    let mut corners = UnionFind::new(3 * solid.triangles.len());
    for edge in &edges.list {
        for v in edge.ends {
            let corner = |t: u32| {
                3 * t + solid.triangles[t as usize].iter().position(|i| *i == v).unwrap_or_default() as u32
            };
            let [a, b] = edge.triangles.map(corner);
            corners.join(a, b);
        }
    }
    let mut taken = vec![false; solid.points.len()];
    let mut name: Vec<Option<u32>> = vec![None; corners.count()];
    for at in 0..corners.count() as u32 {
        let top = corners.find(at) as usize;
        let (t, k) = (at as usize / 3, at as usize % 3);
        let v = solid.triangles[t][k] as usize;
        let chosen = name[top].unwrap_or_else(|| {
            if !std::mem::replace(&mut taken[v], true) {
                return v as u32;
            }
            solid.points.push(solid.points[v]);
            solid.places.push(solid.places[v]);
            solid.points.len() as u32 - 1
        });
        name[top] = Some(chosen);
        solid.triangles[t][k] = chosen;
    }
    None
}

impl Body {
    /// Converts it to the mesh to be written.
    #[must_use]
    pub fn into_mesh(self) -> PieceMesh {
        let Self { solid, faces, corners, .. } = self;
        PieceMesh { positions: solid.places, triangles: solid.triangles, faces, corners }
    }
}

/// Converts the surface of an imported mesh on `grid`, both in shape space.
///
/// # Errors
/// [`NotOriginal`] if it is not closed.
pub fn imported(surface: Result<PieceMesh, NoSurface>, grid: &Grid) -> Result<Body, NotOriginal> {
    let surface = surface.map_err(|error| match error {
        NoSurface::Unoriented => NotOriginal::Unoriented,
        NoSurface::Open(edges) => NotOriginal::Open(edges),
    })?;
    let unit = (1u64 << (UNIT_BITS - grid.level - 1)) as f64;
    let half =
        |p: &glam::DVec3| ((*p - grid.origin) / grid.h * unit).to_array().map(|v| v.round() as i64 * 2);
    let points = surface.positions.par_iter().map(half).collect();
    let mut solid = Solid { points, places: surface.positions, triangles: surface.triangles };
    // Where an edge has more than two triangles, the pairs depend on who makes them.
    let is_pair = |edges: &Edges| edges.list.windows(2).all(|pair: &[Edge]| pair[0].ends != pair[1].ends);
    let edges = split_fans(&mut solid, Edges::around).filter(is_pair);
    Ok(Body { solid, faces: surface.faces, corners: surface.corners, edges })
}

/// The surface of a piece, shape space, without edges and triangles too small for a file. A surface without cracks is
/// the imported one and stays unchanged.
#[must_use]
pub fn of_solid(solid: &SolidMesh) -> Arc<PieceMesh> {
    let surface = solid.surface();
    if !surface.faces.iter().any(|face| face.side.is_crack()) {
        return Arc::clone(surface);
    }
    let farthest = surface.positions.iter().fold(0.0, |most: f64, p| most.max(p.abs().max_element()));
    let grid = solid.voxels().map_or(0.0, |octree| octree.grid.h * f64::from(octree.grid.side()));
    let side = grid.max(2.0 * farthest).max(f64::MIN_POSITIVE);
    let units = (1u64 << UNIT_BITS) as f64 / side;
    let whole = |p: &DVec3| (*p * units).to_array().map(|v| v.round() as i64);
    let mut body = Body {
        solid: Solid {
            points: surface.positions.iter().map(whole).collect(),
            places: surface.positions.clone(),
            triangles: surface.triangles.clone(),
        },
        faces: surface.faces.clone(),
        corners: surface.corners.clone(),
        edges: None,
    };
    mend(&mut body, None);
    let Body { solid: Solid { places, triangles, .. }, faces, corners, .. } = body;
    Arc::new(PieceMesh { positions: places, triangles, faces, corners })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        meshes::MeshCheck,
        shape::{Corner, Face},
    };

    /// A unit cube whose top is divided by a crack triangle so thin that it collapses to a line in 32-bit coordinates.
    fn cube(gap: f64) -> SolidMesh {
        let at = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        let mut positions: Vec<DVec3> =
            (0..8).map(|c| at(f64::from(c & 1), f64::from(c >> 1 & 1), f64::from(c >> 2))).collect();
        positions.push(at(0.5, 1.0, 0.5));
        positions.push(at(0.5, 1.0, 0.5 + gap));
        let mut triangles: Vec<[u32; 3]> = vec![
            [0, 1, 5],
            [0, 5, 4],
            [0, 2, 3],
            [0, 3, 1],
            [4, 5, 7],
            [4, 7, 6],
            [0, 4, 6],
            [0, 6, 2],
            [1, 3, 7],
            [1, 7, 5],
        ];
        // The top: 2, 6, 7, 3 round 8 and 9, which lie close together.
        triangles.extend([[2, 8, 3], [2, 6, 9], [2, 9, 8], [6, 7, 9], [3, 8, 9], [3, 9, 7]]);
        let side = |t: usize| if t >= 10 { Side::Inside } else { Side::Outside { material: 0 } };
        let faces = (0..triangles.len()).map(|t| Face { side: side(t), beyond: None }).collect();
        let corner = Corner { normal: glam::Vec3::Y, color: [9; 3], uv: [0.0; 2], uv2: [0.0; 2] };
        let corners = vec![[corner; 3]; triangles.len()];
        let surface = PieceMesh { positions, triangles, faces, corners };
        SolidMesh::new(Arc::new(surface), Arc::from([]))
    }

    /// The check of the mesh with points merged that coincide in 32-bit coordinates.
    fn as_filed(mesh: &PieceMesh) -> MeshCheck {
        let filed: Vec<[u32; 3]> =
            mesh.positions.iter().map(|p| p.as_vec3().to_array().map(f32::to_bits)).collect();
        let first = |v: u32| filed.iter().position(|p| *p == filed[v as usize]).unwrap_or_default() as u32;
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(first)).collect();
        let positions: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_vec3().as_dvec3()).collect();
        MeshCheck::of_triangles(&positions, &triangles)
    }

    #[test]
    fn what_a_file_cannot_tell_apart_is_one_point() {
        let solid = cube(1e-9);
        let before = as_filed(solid.surface());
        assert!(MeshCheck::of(solid.surface()).is_manifold());
        assert!(before.flat_triangles > 0, "{before:?}");
        let mesh = of_solid(&solid);
        let after = as_filed(&mesh);
        assert!(after.holds() && (after.volume - 1.0).abs() < 1e-6, "{after:?}");
        assert_eq!(mesh.triangles.len(), solid.surface().triangles.len() - 2);
        assert_eq!(mesh.corners.len(), mesh.triangles.len());
        assert_eq!(mesh.faces.iter().filter(|face| face.side.is_crack()).count(), 4);
    }

    #[test]
    fn what_is_large_enough_stays() {
        let solid = cube(0.01);
        assert_eq!(of_solid(&solid).triangles, solid.surface().triangles);
    }

    #[test]
    fn an_unbroken_surface_is_left_alone() {
        let mesh = cube(1e-9);
        let mut whole = PieceMesh::clone(mesh.surface());
        whole.faces.iter_mut().for_each(|face| face.side = Side::Outside { material: 0 });
        let whole = SolidMesh::new(Arc::new(whole), Arc::from([]));
        assert!(Arc::ptr_eq(&of_solid(&whole), whole.surface()));
    }
}
