//! The method as an entry of the table of methods.

use std::{sync::Arc, time::Instant};

use crate::geometry::Aabb;
use glam::DVec3;

use super::{Beyond, Planes, Shard, ShatterError};
use crate::{
    fracture::{
        BreakContext, Breaker, CutSource, Cutter, FractureError, FractureParams, MethodEntry, MethodOption,
        ParamProblem, Pattern, Pieces, PreviewTarget, Seams, Strike, Surface, Volume,
        solid::{CutMesh, CutPiece, SourceMesh, Units, crack_corner, mixed},
        voronoi::bisector_seams,
    },
    gpu::StageTiming,
    shape::{CLAY, Corner, Face, Geometry, PieceMesh, Side},
};

/// The line in the table of methods.
pub static ENTRY: MethodEntry = MethodEntry {
    name: "planes",
    label: "Mesh, plane by plane",
    help: "Cuts convex meshes into convex shards, or the convex hull of any other.",
    source: "Voronoi Fracture and Destruction (Bullet's Voronoi shatter)",
    by_seeds: true,
    of_voxels: false,
    options: &[
        MethodOption {
            name: "hull",
            help: "1 breaks the object's convex hull in its place; 0 refuses what is not convex.",
            default: 0.0,
            range: (0.0, 1.0),
            whole: true,
        },
        MethodOption::voxel_level("Octree level of the voxels that pieces meet and are felt by."),
    ],
    breaker: &PlanesBreaker,
};

/// What is convex but for so much of its size breaks as its hull.
const NEARLY_CONVEX: f64 = 1e-4;

/// Of so many triangles the hull is taken at once, and whether they are convex is seen by how much larger it is: to hold
/// every corner against every plane takes seconds.
const MANY: usize = 4096;
/// Share by which the hull of what is convex may be larger.
const NEARLY_FULL: f64 = 3e-4;

/// Breaks convex meshes plane by plane.
pub struct PlanesBreaker;

/// What a break plane by plane knows beyond its parts.
#[derive(Clone, Debug)]
pub struct PlanesDetail {
    /// Shards by ascending seed, shape space.
    pub shards: Vec<Shard>,
}

impl Breaker for PlanesBreaker {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_) | Geometry::Mesh(_) | Geometry::Convex(_))
    }

    fn problem(&self, params: &FractureParams) -> Option<ParamProblem> {
        if params.surface != Surface::Planar {
            let text =
                "must be planar: the method planes cuts flat; the method octree has rough and dusty cracks";
            return Some(("surface", text.to_owned()));
        }
        let text =
            "cannot stay: the method planes gives every cell a shard of its own; take the method box-cut";
        let field = if params.local.is_some() { "local" } else { "keep" };
        (params.local.is_some() || !params.keep.is_empty()).then(|| (field, text.to_owned()))
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        Ok(Box::new(PlaneCutter::new(source)?))
    }

    /// Cracks are bisectors, as those of flat cracks in octrees are.
    fn seams(
        &self,
        context: &BreakContext<'_>,
        target: &PreviewTarget<'_>,
        strike: &Strike<'_>,
    ) -> Result<Option<Seams>, FractureError> {
        Ok(Some(bisector_seams(context, target, strike)?))
    }
}

fn bad(error: impl std::fmt::Display) -> FractureError {
    FractureError::Params(error.to_string())
}

/// What is shattered.
struct PlaneCutter<'a> {
    input: &'a CutSource<'a>,
    source: SourceMesh,
    planes: Planes,
    units: Units,
    prepared: StageTiming,
}

impl<'a> PlaneCutter<'a> {
    fn new(input: &'a CutSource<'a>) -> Result<Self, FractureError> {
        let units = Units::of(&input.octree()?.grid);
        let started = Instant::now();
        let mut source = SourceMesh::of(input.shape)?;
        let mut hull = input.strike.params.option("hull") >= 0.5;
        let triangles: Vec<[DVec3; 3]> = source.surface.corners_of_triangles().collect();
        let many = triangles.len() > MANY;
        let mut planes = Planes::new(&triangles, hull || many);
        let Aabb { low, high } = source.bounds();
        let slight = NEARLY_CONVEX * (high - low).max_element();
        if let Err(ShatterError::NotConvex { outside, .. }) = &planes
            && *outside <= slight
        {
            // Rounding in a file, or an even mesh of what is round.
            hull = true;
            planes = Planes::new(&triangles, hull);
        }
        let planes = planes.map_err(bad)?;
        let prepared = StageTiming::since("planes of the mesh", started);
        if hull || many {
            // What breaks is the hull, of which the mesh may fill only a part.
            let whole = planes.shatter(&[source.surface.positions[0]]).map_err(bad)?;
            let volume: f64 = whole.iter().map(|shard| shard.volume).sum();
            let larger = volume / source.volume - 1.0;
            if !hull && larger > NEARLY_FULL {
                let text = format!(
                    "the object is not convex (its convex hull is larger by {:.1} %): take the octree or the box-cut method, \
                     or ask for its convex hull",
                    100.0 * larger
                );
                return Err(bad(text));
            }
            source.volume = volume;
        }
        Ok(Self { input, source, planes, units, prepared })
    }
}

impl Cutter for PlaneCutter<'_> {
    fn cut(&self, pattern: &Pattern, params: &FractureParams) -> Result<Pieces, FractureError> {
        let mut timings = vec![self.prepared.clone()];
        let started = Instant::now();
        let place = |seed: &[i32; 3]| self.units.to_shape(DVec3::from_array(seed.map(f64::from)));
        let sites: Vec<DVec3> = pattern.seeds.iter().map(place).collect();
        let shards = self.planes.shatter(&sites).map_err(bad)?;
        timings.push(StageTiming::since("shards", started));
        self.input.context.cancel.check()?;
        let started = Instant::now();
        let surface_color = self.input.shape.look().surface_color.unwrap_or(CLAY);
        let dress = Dress {
            source: &self.source,
            planes: &self.planes,
            units: self.units,
            volume: params.interior.volume(surface_color),
            color: surface_color,
        };
        let pieces = shards.iter().map(|shard| dress.piece(shard)).collect();
        timings.push(StageTiming::since("surfaces", started));
        Ok(Pieces::Meshes(CutMesh {
            source: self.source.clone(),
            pieces,
            voxel_level: params.option("voxel_level") as u32,
            timings,
            detail: Some(Arc::new(PlanesDetail { shards })),
        }))
    }
}

/// What is needed to dress a shard.
struct Dress<'a> {
    source: &'a SourceMesh,
    planes: &'a Planes,
    units: Units,
    volume: Volume,
    /// Of a hull's faces where the mesh has none.
    color: [u8; 3],
}

impl Dress<'_> {
    fn piece(&self, shard: &Shard) -> CutPiece {
        let mut surface = PieceMesh { positions: shard.vertices.clone(), ..PieceMesh::default() };
        for (ring, beyond) in shard.faces.iter().zip(&shard.beyond) {
            let corner = |k: usize| shard.vertices[ring[k] as usize];
            let sum: DVec3 =
                (1..ring.len() - 1).map(|k| (corner(k) - corner(0)).cross(corner(k + 1) - corner(0))).sum();
            let normal = sum.normalize_or(DVec3::Y).as_vec3();
            for k in 1..ring.len() - 1 {
                let triangle = [ring[0], ring[k], ring[k + 1]];
                let (face, corners) = match beyond {
                    Beyond::Site(site) => {
                        let beyond = self.source.is_whole.then_some(*site as u32);
                        let of = |i: u32| {
                            let place = shard.vertices[i as usize];
                            crack_corner(&self.volume, self.units.from_shape(place), place, normal)
                        };
                        (Face { side: Side::Inside, beyond }, triangle.map(of))
                    }
                    Beyond::Mesh(plane) => {
                        self.outside(*plane, triangle.map(|i| shard.vertices[i as usize]), normal)
                    }
                };
                surface.triangles.push(triangle);
                surface.faces.push(face);
                surface.corners.push(corners);
            }
        }
        CutPiece { cell: shard.site as u32, surface }
    }

    /// What a triangle in a plane of the mesh shows: at each corner what the mesh shows there.
    fn outside(&self, plane: usize, at: [DVec3; 3], normal: glam::Vec3) -> (Face, [Corner; 3]) {
        let own = &self.source.surface;
        let sources = self.planes.sources(plane);
        let nearest = |p: DVec3| {
            let shares = |t: &u32| {
                let shares = shares_of(own.triangles[*t as usize].map(|i| own.positions[i as usize]), p);
                (shares, *t as usize)
            };
            let inside = |s: &([f64; 3], usize)| s.0.iter().copied().fold(f64::INFINITY, f64::min);
            sources.iter().map(shares).max_by(|a, b| inside(a).total_cmp(&inside(b)))
        };
        let middle = (at[0] + at[1] + at[2]) / 3.0;
        let Some((_, t)) = nearest(middle) else {
            let face = Face { side: Side::Outside { material: 0 }, beyond: None };
            return (face, [Corner { normal, color: self.color, uv: [0.0; 2], uv2: [0.0; 2] }; 3]);
        };
        let corner = |p: DVec3| {
            let (shares, t) = nearest(p).unwrap_or(([1.0, 0.0, 0.0], t));
            let shares = shares.map(|s| s.clamp(0.0, 1.0) as f32);
            let sum: f32 = shares.iter().sum();
            mixed(&own.corners[t], shares.map(|s| s / sum.max(f32::MIN_POSITIVE)))
        };
        (own.faces[t], at.map(corner))
    }
}

/// Shares of a triangle's corners at a point of its plane; negative outside.
fn shares_of([a, b, c]: [DVec3; 3], p: DVec3) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let whole = normal.length_squared().max(f64::MIN_POSITIVE);
    let of = |u: DVec3, v: DVec3| (u - p).cross(v - p).dot(normal) / whole;
    [of(b, c), of(c, a), of(a, b)]
}
