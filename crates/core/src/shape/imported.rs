//! The surface of an imported mesh: welded, closed, with attributes at every corner of its triangles.
//!
//! In: a mesh as read, and its scale to shape space. Out: a [`PieceMesh`]. A corner has the file's normal, or a
//! computed one: flat or smooth where the file says so, else with edges that are sharp where triangles meet at more than
//! about 40 degrees.
//!
//! # A closed surface with attributes, in which pieces are drawn, weighed and written
//!
//! In: meshes of pieces from several sources. Out: one list of points shared by triangles, the source of every
//! triangle, and attributes of each of its corners.

use std::sync::{Arc, OnceLock};

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::mesh::{Checked, Mesh, capped, check, topology, without_inner_walls};

/// Why a mesh does not bound a solid that can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSurface {
    /// Edges without two triangles that traverse them in opposite directions.
    #[error("the mesh is not closed ({0} edges)")]
    Open(usize),
    /// Some parts have no consistent outside.
    #[error("the mesh has a part without inside and outside")]
    Unoriented,
}

/// Default colour of a surface, as for voxels.
const PLAIN: [u8; 3] = [200, 190, 175];
/// Cosine of 40 degrees: triangles that meet at more keep their own normals.
const CREASE: f64 = 0.766_044;

/// Sine of the smallest angle between a file's normal and the surface.
const ALONG: f32 = 0.1;

/// The imported mesh of an object, in its own units, with their length. Clones share cached data.
#[derive(Clone, Debug)]
pub struct Original {
    /// The mesh as read.
    pub mesh: Arc<Mesh>,
    /// Metres of shape space per unit of the mesh.
    pub meters_per_unit: f64,
    checked: Option<Arc<Checked>>,
    surface: Arc<OnceLock<Result<Arc<PieceMesh>, NoSurface>>>,
}

impl Original {
    /// A mesh with `meters_per_unit`.
    #[must_use]
    pub fn new(mesh: Arc<Mesh>, meters_per_unit: f64) -> Self {
        Self { mesh, meters_per_unit, checked: None, surface: Arc::default() }
    }

    /// The same, with the result of [`check`] of its mesh where that was made for its voxels.
    #[must_use]
    pub fn known(self, checked: Option<&Arc<Checked>>) -> Self {
        Self { checked: checked.cloned(), ..self }
    }

    /// The surface of the object, shape space, computed by the first call.
    ///
    /// # Errors
    /// [`NoSurface`] if it is not closed.
    pub fn surface(&self) -> Result<Arc<PieceMesh>, NoSurface> {
        self.surface.get_or_init(|| self.own_surface().map(Arc::new)).clone()
    }

    /// The same, computed by every call and kept nowhere.
    ///
    /// # Errors
    /// [`NoSurface`] if it is not closed.
    pub fn own_surface(&self) -> Result<PieceMesh, NoSurface> {
        match &self.checked {
            Some(checked) => PieceMesh::of_checked(checked, self.meters_per_unit),
            None => PieceMesh::imported(&self.mesh, self.meters_per_unit),
        }
    }
}

impl PieceMesh {
    /// The surface of `mesh`, with `scale` units of shape space per unit of the mesh: healed, with its holes closed where
    /// they are flat or small, and without walls between solids that touch.
    ///
    /// # Errors
    /// [`NoSurface`] if it is not closed.
    pub fn imported(mesh: &Mesh, scale: f64) -> Result<Self, NoSurface> {
        Self::of_checked(&check(mesh), scale)
    }

    /// The same of a mesh that was checked.
    fn of_checked((mesh, health): &Checked, scale: f64) -> Result<Self, NoSurface> {
        if health.unorientable_components > 0 {
            return Err(NoSurface::Unoriented);
        }
        let closed = if health.closed { None } else { capped(mesh).map(|(whole, _)| whole) };
        let mesh = closed.as_ref().unwrap_or(mesh);
        let single = without_inner_walls(mesh);
        let mesh = single.as_ref().unwrap_or(mesh);
        let topology = topology(mesh);
        let triangles = topology.triangles(mesh);
        let open = open_edges(&triangles);
        if open > 0 || triangles.is_empty() {
            return Err(NoSurface::Open(open));
        }
        let mut positions = vec![DVec3::ZERO; topology.welded_count as usize];
        for (p, welded) in mesh.positions.iter().zip(&topology.welded) {
            positions[*welded as usize] = DVec3::from_array(p.map(f64::from)) * scale;
        }
        let normals = normals(&positions, &triangles, &mesh.smoothing);
        let material = |t: usize| mesh.triangle_material.get(t).copied().unwrap_or(0);
        let faces = (0..triangles.len())
            .map(|t| Face { side: Side::Outside { material: material(t) }, beyond: None })
            .collect();
        let corners = mesh
            .triangles
            .par_iter()
            .enumerate()
            .map(|(t, own)| {
                [0, 1, 2].map(|k| {
                    let i = own[k] as usize;
                    let uv = mesh.uvs.get(i).copied().unwrap_or_default();
                    let uv2 = mesh.uvs2.get(i).copied().unwrap_or_default();
                    let normal =
                        mesh.normals.get(i).map_or(normals[t][k], |own| own_normal(*own, normals[t][k]));
                    Corner { normal, color: color(mesh, t, i, uv), uv, uv2 }
                })
            })
            .collect();
        Ok(Self { positions, triangles, faces, corners })
    }
}

/// Edges that are not traversed equally often in both directions.
fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let side = |a: u32, b: u32| (u64::from(a.min(b)) << 32 | u64::from(a.max(b)), a < b);
    let mut sides: Vec<(u64, bool)> =
        triangles.par_iter().flat_map_iter(|&[a, b, c]| [side(a, b), side(b, c), side(c, a)]).collect();
    sides.par_sort_unstable();
    let odd = |edge: &&[(u64, bool)]| {
        edge[0].0 >> 32 == edge[0].0 & 0xffff_ffff
            || 2 * edge.iter().filter(|side| side.1).count() != edge.len()
    };
    sides.chunk_by(|a, b| a.0 == b.0).filter(odd).count()
}

/// A file's normal at a corner, flipped to the triangle's side if the triangle was reversed; `reckoned` if there is
/// none, or if it is nearly parallel to the surface.
fn own_normal(own: [f32; 3], reckoned: Vec3) -> Vec3 {
    let own = Vec3::from_array(own);
    let side = own.dot(reckoned);
    if side.abs() < ALONG { reckoned } else { own * side.signum() }
}

/// Normals at the corners of every triangle, by its shading in `smoothing`: its own; the mean of its group's triangles
/// round the corner, weighted by their angles, so that it does not depend on how polygons were divided; or the
/// area-weighted mean of the triangles there that this one meets smoothly.
fn normals(positions: &[DVec3], triangles: &[[u32; 3]], smoothing: &[u32]) -> Vec<[Vec3; 3]> {
    let flat: Vec<DVec3> = triangles
        .par_iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| positions[i as usize]);
            (b - a).cross(c - a)
        })
        .collect();
    // The triangles round each point, ascending.
    let mut first = vec![0u32; positions.len() + 1];
    triangles.iter().flatten().for_each(|i| first[*i as usize + 1] += 1);
    (0..positions.len()).for_each(|i| first[i + 1] += first[i]);
    let (mut next, mut around) = (first.clone(), vec![0u32; 3 * triangles.len()]);
    for (t, corners) in triangles.iter().enumerate() {
        for i in corners {
            let place = &mut next[*i as usize];
            around[*place as usize] = t as u32;
            *place += 1;
        }
    }
    let units: Vec<DVec3> = flat.par_iter().map(|n| n.normalize_or(DVec3::ZERO)).collect();
    let shading = |t: usize| smoothing.get(t).copied().unwrap_or(Mesh::CREASED);
    let angle = |t: usize, point: u32| {
        let first = triangles[t].iter().position(|i| *i == point).unwrap_or(0);
        let [a, b, c] = [0, 1, 2].map(|k| positions[triangles[t][(first + k) % 3] as usize]);
        let (b, c) = (b - a, c - a);
        libm::atan2(b.cross(c).length(), b.dot(c))
    };
    triangles
        .par_iter()
        .enumerate()
        .map(|(t, corners)| {
            let own = units[t];
            corners.map(|i| {
                let near = &around[first[i as usize] as usize..first[i as usize + 1] as usize];
                let others = near.iter().map(|o| *o as usize);
                let mean: DVec3 = match shading(t) {
                    Mesh::FLAT => own,
                    Mesh::CREASED => others.filter(|o| units[*o].dot(own) >= CREASE).map(|o| flat[o]).sum(),
                    group => others.filter(|o| shading(*o) == group).map(|o| units[o] * angle(o, i)).sum(),
                };
                mean.normalize_or(own.normalize_or(DVec3::Y)).as_vec3()
            })
        })
        .collect()
}

/// Colour of a triangle's vertex: vertex colour times material colour, or material colour times texture. A vertex colour and
/// a texture multiply where both are shown, so that files have each of them once.
fn color(mesh: &Mesh, triangle: usize, vertex: usize, uv: [f32; 2]) -> [u8; 3] {
    let material = mesh.triangle_material.get(triangle).and_then(|m| mesh.materials.get(*m as usize));
    let own = mesh.colors.get(vertex).copied();
    let base = material.map(|m| m.color).or_else(|| own.map(|_| [255; 3])).unwrap_or(PLAIN);
    let texel = || {
        let texture = material?.texture.as_ref().filter(|_| !mesh.uvs.is_empty())?;
        texture.nearest(uv)
    };
    own.or_else(texel).map_or(base, |factor| times(base, factor))
}

/// The product of two colours.
fn times(color: [u8; 3], factor: [u8; 3]) -> [u8; 3] {
    [0, 1, 2].map(|k| (u32::from(color[k]) * u32::from(factor[k]) / 255) as u8)
}

/// A closed mesh that faces outward, shape space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PieceMesh {
    /// Points of the surface. Adjacent triangles share them whatever their attributes, so closedness depends only on
    /// them.
    pub positions: Vec<DVec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Source of each triangle.
    pub faces: Vec<Face>,
    /// Attributes of each corner of each triangle.
    pub corners: Vec<[Corner; 3]>,
}

/// Source of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    /// The imported surface, or a crack.
    pub side: Side,
    /// For crack faces: the cell beyond, as a number over all breaks of its object, if known.
    pub beyond: Option<u32>,
}

/// Side of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The surface of the imported object.
    Outside {
        /// Index of its material.
        material: u32,
    },
    /// A crack.
    Inside,
    /// A crack of a later break that opened another material, in files that name materials: its number, from 1 on.
    Later(u8),
}

impl Side {
    /// Whether a break made it.
    #[must_use]
    pub fn is_crack(self) -> bool {
        !matches!(self, Self::Outside { .. })
    }
}

/// Attributes of a triangle's corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Unit normal.
    pub normal: Vec3,
    /// Colour, sRGB; outside: of a painted material the vertex colour times the material's colour, without its texture.
    pub color: [u8; 3],
    /// Texture coordinates; outside: the object's own; inside: in world size, 1 = 1 m of shape space.
    pub uv: [f32; 2],
    /// The object's second set of texture coordinates; zeros inside, and where it has none.
    pub uv2: [f32; 2],
}

impl PieceMesh {
    /// Its memory, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.positions)
            + size_of_val(&*self.triangles)
            + size_of_val(&*self.faces)
            + size_of_val(&*self.corners)
    }

    /// These triangles with flat shading, all of them outside.
    #[must_use]
    pub fn flat(
        positions: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        color: impl Fn(u32) -> [u8; 3] + Sync,
    ) -> Self {
        let corners = triangles
            .par_iter()
            .map(|triangle| {
                let [a, b, c] = triangle.map(|i| positions[i as usize]);
                let normal = (b - a).cross(c - a).normalize_or(DVec3::Y).as_vec3();
                triangle.map(|i| Corner { normal, color: color(i), uv: [0.0; 2], uv2: [0.0; 2] })
            })
            .collect();
        let face = Face { side: Side::Outside { material: 0 }, beyond: None };
        Self { faces: vec![face; triangles.len()], positions, triangles, corners }
    }

    /// The triangles of `mesh` with flat shading and `meters_per_unit`, with its colours, materials and texture
    /// coordinates; `color` if it has none.
    #[must_use]
    pub fn of_mesh(mesh: &Mesh, meters_per_unit: f64, color: [u8; 3]) -> Self {
        let place = |p: &[f32; 3]| DVec3::from_array(p.map(f64::from)) * meters_per_unit;
        let positions: Vec<DVec3> = mesh.positions.iter().map(place).collect();
        let own = mesh.colors.len() == positions.len();
        let there = |(_, t): &(usize, &[u32; 3])| t.iter().all(|i| (*i as usize) < positions.len());
        let (kept, triangles): (Vec<usize>, Vec<[u32; 3]>) =
            mesh.triangles.iter().enumerate().filter(there).map(|(k, t)| (k, *t)).unzip();
        let mut surface =
            Self::flat(positions, triangles, |i| if own { mesh.colors[i as usize] } else { color });
        for (at, k) in kept.into_iter().enumerate() {
            let material = mesh.triangle_material.get(k).copied().unwrap_or(0);
            surface.faces[at].side = Side::Outside { material };
            let base = mesh.triangle_material.get(k).and_then(|m| mesh.materials.get(*m as usize));
            for (corner, i) in surface.corners[at].iter_mut().zip(surface.triangles[at]) {
                corner.uv = mesh.uvs.get(i as usize).copied().unwrap_or_default();
                corner.uv2 = mesh.uvs2.get(i as usize).copied().unwrap_or_default();
                if let Some(material) = base {
                    corner.color = if own { times(corner.color, material.color) } else { material.color };
                }
            }
        }
        surface
    }

    /// Whether its triangles have a second set of texture coordinates.
    #[must_use]
    pub fn has_second_set(&self) -> bool {
        self.corners.iter().flatten().any(|corner| corner.uv2 != [0.0; 2])
    }

    /// Vertices of the triangles, shape space.
    pub fn corners_of_triangles(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles.iter().map(|t| t.map(|i| self.positions[i as usize]))
    }
}
