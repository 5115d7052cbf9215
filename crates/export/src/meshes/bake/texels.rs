//! Texels of crack faces: what each shows, and the images.
//!
//! In: charts with their places. Out: [`Texels`]. A texel shows the point of the triangle that covers its centre; round a
//! chart, the nearest point of its edge, so that filters take nothing from elsewhere.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use super::{
    charts::Chart,
    pack::{Atlas, BORDER, sides},
};
use crate::{
    ExportError, Watch,
    fracture::{Volume, interior::dye},
    meshes::{
        PieceMesh,
        relief::{halved, number_of, outside_of, share_of, smooth_normals, units_per_metre},
        written::{TriangleTree, tangent},
    },
    svo::Grid,
};

/// How far round a chart texels show its edge.
const REACH: f64 = BORDER as f64 + 1.0;
/// Charts between two checks for cancellation.
const AT_ONCE: usize = 64;

/// A piece whose crack faces are baked.
pub struct Cracked {
    /// Its mesh as it is written, shape space.
    pub written: Arc<PieceMesh>,
    /// The same triangles before crack faces were displaced.
    pub flat: Arc<PieceMesh>,
    /// The grid of its shape space.
    pub grid: Grid,
}

impl Cracked {
    /// A piece whose mesh is `written`. If its crack faces have `relief`, of materials and with edges of this length (m),
    /// `before` is its mesh without relief.
    #[must_use]
    pub fn new(
        written: &Arc<PieceMesh>,
        before: &PieceMesh,
        relief: Option<(&[Volume], f64)>,
        grid: Grid,
    ) -> Self {
        let fine = relief.and_then(|(volumes, edge)| halved(before, volumes, edge));
        let flat = fine.map_or_else(|| Arc::clone(written), Arc::new);
        Self { written: Arc::clone(written), flat, grid }
    }
}

/// A chart in the atlas.
pub struct Placed<'a> {
    /// Number of its piece.
    pub piece: usize,
    /// The chart.
    pub chart: &'a Chart,
    /// Low corner of its rectangle, texels.
    pub corner: [u32; 2],
}

impl Placed<'_> {
    /// A point of shape space in the atlas, texels, v up.
    pub fn texel(&self, p: DVec3, texel: f64) -> DVec2 {
        let [x, y] = self.corner.map(f64::from);
        DVec2::new(x, y) + self.in_rectangle(p, texel)
    }

    fn in_rectangle(&self, p: DVec3, texel: f64) -> DVec2 {
        self.chart.point(p) / texel + f64::from(BORDER)
    }
}

/// Images of an object's crack faces, rows from the top.
pub struct Texels {
    /// sRGB with alpha.
    pub color: Vec<[u8; 4]>,
    /// Normal in tangent space, 0.5 + 0.5 n.
    pub normal: Vec<[u8; 3]>,
    /// Occlusion (none), roughness, metalness (none), as glTF has them.
    pub roughness: Vec<[u8; 3]>,
    /// What the mesh as written leaves of the displacement, along the smooth normal, m.
    pub height: Vec<f32>,
}

/// A point of a triangle: the weights of its first two corners. No triangle: [`NOWHERE`].
#[derive(Clone, Copy)]
struct Spot {
    triangle: u32,
    weights: [f32; 2],
}

const NOWHERE: Spot = Spot { triangle: u32::MAX, weights: [0.0; 2] };

/// What a texel shows.
struct Shown {
    color: [u8; 3],
    normal: [u8; 3],
    roughness: u8,
    height: f32,
}

impl Texels {
    /// Memory while they are made and written, bytes a texel.
    pub const BYTES: u64 = 60;

    /// The images of all charts.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`].
    pub fn of(
        pieces: &[Cracked],
        charts: &[Placed<'_>],
        (atlas, volumes): (&Atlas, &[Volume]),
        watch: &Watch,
    ) -> Result<Self, ExportError> {
        let [r, g, b] = volumes.first().copied().unwrap_or_default().base();
        let count = (atlas.size as usize).pow(2);
        let mut all = Self {
            color: vec![[r, g, b, 255]; count],
            normal: vec![[128, 128, 255]; count],
            roughness: vec![[255, 230, 0]; count],
            height: vec![0.0; count],
        };
        let outside = outside_of(pieces.iter().map(|piece| &*piece.flat));
        let looks: Vec<Look<'_>> =
            pieces.par_iter().map(|piece| Look::of(piece, volumes, atlas.texel, &outside)).collect();
        for (i, some) in charts.chunks(AT_ONCE).enumerate() {
            watch.at(i * AT_ONCE, charts.len())?;
            let shown: Vec<Vec<Option<Shown>>> = some
                .par_iter()
                .map(|placed| {
                    let spots = spots(placed, &pieces[placed.piece].flat, atlas.texel);
                    let axis = placed.chart.axes[0].as_vec3();
                    spots.par_iter().map(|spot| looks[placed.piece].at(*spot, axis)).collect()
                })
                .collect();
            for (placed, shown) in some.iter().zip(shown) {
                all.put(placed, shown, atlas);
            }
        }
        Ok(all)
    }

    fn put(&mut self, placed: &Placed<'_>, shown: Vec<Option<Shown>>, atlas: &Atlas) {
        let ([width, _], size) =
            (sides(placed.chart.extent, atlas.texel).map(|side| side as usize), atlas.size as usize);
        let [left, low] = placed.corner.map(|at| at as usize);
        for (i, shown) in shown.into_iter().enumerate() {
            let Some(Shown { color: [r, g, b], normal, roughness, height }) = shown else { continue };
            let at = (size - 1 - low - i / width) * size + left + i % width;
            self.color[at] = [r, g, b, 255];
            self.normal[at] = normal;
            self.roughness[at] = [255, roughness, 0];
            self.height[at] = height;
        }
    }
}

/// What the texels of a chart's rectangle show, row by row from its low corner.
fn spots(placed: &Placed<'_>, mesh: &PieceMesh, texel: f64) -> Vec<Spot> {
    let [width, height] = sides(placed.chart.extent, texel);
    let mut spots = vec![NOWHERE; (width * height) as usize];
    let corners =
        |t: u32| mesh.triangles[t as usize].map(|v| placed.in_rectangle(mesh.positions[v as usize], texel));
    // Texels whose centres lie in a box, with these.
    let within = |low: DVec2, high: DVec2| {
        let last = DVec2::new(f64::from(width), f64::from(height)) - 1.0;
        let from = (low - 0.5).ceil().clamp(DVec2::ZERO, last).as_uvec2();
        let to = (high - 0.5).floor().clamp(DVec2::ZERO, last).as_uvec2();
        let all = (from.y..=to.y).flat_map(move |y| (from.x..=to.x).map(move |x| (x, y)));
        all.map(move |(x, y)| ((y * width + x) as usize, DVec2::new(f64::from(x), f64::from(y)) + 0.5))
    };
    let mut rim = BTreeMap::new();
    for t in &placed.chart.triangles {
        let [a, b, c] = corners(*t);
        let area = (b - a).perp_dot(c - a);
        for (at, p) in within(a.min(b).min(c), a.max(b).max(c)) {
            let [of_a, of_b] = [(b - p).perp_dot(c - p), (c - p).perp_dot(a - p)].map(|part| part / area);
            // On an edge the first triangle; a little is left for rounding.
            let is_in = area > 0.0 && of_a.min(of_b).min(1.0 - of_a - of_b) >= -1e-9;
            if is_in && spots[at].triangle == NOWHERE.triangle {
                spots[at] = Spot { triangle: *t, weights: [of_a, of_b].map(|w| w as f32) };
            }
        }
        let triangle = mesh.triangles[*t as usize];
        for k in 0..3 {
            let ends = [triangle[k], triangle[(k + 1) % 3]];
            if rim.remove(&[ends[1], ends[0]]).is_none() {
                rim.insert(ends, (*t, k));
            }
        }
    }
    let mut farness = vec![f64::INFINITY; spots.len()];
    for (t, k) in rim.into_values() {
        let corners = corners(t);
        let [a, b] = [corners[k], corners[(k + 1) % 3]];
        for (at, p) in within(a.min(b) - REACH, a.max(b) + REACH) {
            let along = ((p - a).dot(b - a) / (b - a).length_squared().max(1e-300)).clamp(0.0, 1.0);
            let far = p.distance_squared(a + (b - a) * along);
            let is_free = spots[at].triangle == NOWHERE.triangle || farness[at].is_finite();
            if is_free && far < farness[at] && far <= REACH * REACH {
                farness[at] = far;
                let mut weights = [0.0; 3];
                (weights[k], weights[(k + 1) % 3]) = ((1.0 - along) as f32, along as f32);
                spots[at] = Spot { triangle: t, weights: [weights[0], weights[1]] };
            }
        }
    }
    spots
}

/// Everything that the look of a piece's crack faces depends on.
struct Look<'a> {
    piece: &'a Cracked,
    volumes: &'a [Volume],
    normals: Vec<[Vec3; 3]>,
    units: f64,
    /// Side of a texel, units.
    finest: f32,
    /// The outside of the whole object, where displacements vanish.
    outside: &'a TriangleTree,
}

impl<'a> Look<'a> {
    fn of(piece: &'a Cracked, volumes: &'a [Volume], texel: f64, outside: &'a TriangleTree) -> Self {
        let units = units_per_metre(&piece.grid);
        let finest = (texel * units) as f32;
        Self { piece, volumes, normals: smooth_normals(&piece.flat), units, finest, outside }
    }

    /// What a point shows in a chart with this u axis.
    fn at(&self, spot: Spot, axis: Vec3) -> Option<Shown> {
        let Cracked { flat, written, grid } = self.piece;
        let t = spot.triangle as usize;
        let corners = flat.triangles.get(t)?.map(|v| flat.positions[v as usize]);
        let [a, b] = spot.weights;
        let weights = [a, b, 1.0 - a - b];
        let mixed = |all: [Vec3; 3]| (0..3).map(|k| all[k] * weights[k]).sum::<Vec3>();
        let point: DVec3 = (0..3).map(|k| corners[k] * f64::from(weights[k])).sum();
        let base = mixed(self.normals[t]).normalize_or(self.normals[t][0]);
        let number = number_of(flat.faces[t].side);
        let volume = self.volumes.get(number).or(self.volumes.first())?;
        let relief = volume.relief_at(((point - grid.origin) * self.units).as_vec3(), base, self.finest);
        // As for geometry: the whole object keeps its outside. What vertices have moved already is not told again.
        let whole = relief.shift.as_dvec3() / self.units;
        let whole = whole * share_of(whole.length(), point, self.outside);
        let places = flat.triangles[t].map(|v| written.positions[v as usize]);
        let moved: DVec3 = (0..3).map(|k| (places[k] - corners[k]) * f64::from(weights[k])).sum();
        let shading = written.corners[t].map(|corner| corner.normal);
        let normal = mixed(shading).normalize_or(shading[0]);
        let along = tangent(axis, normal);
        let bent = [along, normal.cross(along), normal].map(|to| relief.normal.dot(to));
        let color = volume.color_on(&relief);
        Some(Shown {
            color: if volume.is_glass() { dye(color) } else { color },
            normal: bent.map(|n| byte(0.5 + 0.5 * n)),
            roughness: byte(volume.roughness_on(&relief)),
            height: (whole - moved).dot(base.as_dvec3()) as f32,
        })
    }
}

fn byte(share: f32) -> u8 {
    (255.0 * share).round() as u8
}
