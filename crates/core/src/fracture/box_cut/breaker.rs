//! The method as an entry of the table of methods.
//!
//! All cells of some sites, where stages run: in compute passes ([`pass`](super::pass)) or on the cores
//! ([`Complex::new`]). Both give the same bytes.
//!
//! What the pieces of a cut show: the mesh's own corners outside, the cracks' colour, direction and texture coordinates
//! inside.
//!
//! In: pieces of [`split`](super::split), in units. Out: surfaces in shape space. Corners of the mesh keep their places to
//! the last bit.

use std::{sync::Arc, time::Instant};

use glam::DVec3;

use super::{
    complex::{Beyond, Complex, Point, REACH},
    pass::CellPasses,
    split::{FineMesh, SplitFace, SplitPiece, split},
};
use crate::{
    compute::Compute,
    fracture::{
        BreakContext, Breaker, CutSource, Cutter, FractureError, FractureParams, MethodEntry, MethodOption,
        ParamProblem, Passes, Pattern, Pieces, PreviewTarget, Seams, Strike, Surface, Volume,
        solid::{CutMesh, CutPiece, SourceMesh, Units, crack_corner, mixed},
        voronoi::bisector_seams,
    },
    geometry::Aabb,
    gpu::{GpuError, StageTiming},
    shape::{CLAY, Face, Geometry, PieceMesh, Side},
};

/// The line in the table of methods.
pub const METHOD: MethodEntry = MethodEntry {
    name: "box-cut",
    label: "Mesh, box cutting",
    help: "Cuts the mesh itself along Voronoi cells: crisp pieces with its texture coordinates, and flat caps.",
    source: "Chlubna, Brittle Body Simulation on GPU",
    by_seeds: true,
    of_voxels: false,
    options: &[MethodOption::voxel_level("Octree level of the voxels that pieces meet and are felt by.")],
    breaker: &BoxCutBreaker,
};

/// Cuts meshes by Voronoi cells.
pub struct BoxCutBreaker;

/// What a break by box cutting knows beyond its parts.
#[derive(Clone, Debug)]
pub struct BoxCutDetail {
    /// All cells.
    pub complex: Complex,
}

/// What is cut.
struct MeshCutter<'a> {
    input: &'a CutSource<'a>,
    source: SourceMesh,
    mesh: FineMesh,
    units: Units,
    prepared: StageTiming,
}

impl Cutter for MeshCutter<'_> {
    fn cut(&self, pattern: &Pattern, params: &FractureParams) -> Result<Pieces, FractureError> {
        let mut timings = vec![self.prepared.clone()];
        let mut clock = Instant::now();
        let mut lap = |stage: &str| {
            timings.push(StageTiming::since(stage, clock));
            clock = Instant::now();
        };
        let Aabb { low, high } = self.source.bounds();
        let (low, high) = (self.units.from_shape(low), self.units.from_shape(high));
        let whole = |v: glam::DVec3| -> Point { v.as_ivec3().to_array() };
        let box_of = [whole(low.floor() - 1.0), whole(high.ceil() + 1.0)];
        let BreakContext { arena, passes, cancel } = self.input.context;
        let mut tries = 0;
        let (complex, pieces) = loop {
            cancel.check()?;
            let sites: Vec<Point> = pattern.seeds.iter().map(|seed| moved(*seed, tries)).collect();
            let complex = cells(&arena.compute(), passes, &sites, box_of[0], box_of[1])?;
            lap("cells");
            cancel.check()?;
            match split(&self.mesh, &complex) {
                Ok(pieces) => break (complex, pieces),
                Err(_) if tries < TRIES => tries += 1,
                Err(error) => return Err(FractureError::Params(error.to_string())),
            }
        };
        lap("split");
        cancel.check()?;
        let dress = Dress {
            source: &self.source,
            complex: &complex,
            units: self.units,
            volume: params.interior.volume(self.input.shape.look().surface_color.unwrap_or(CLAY)),
            tells_beyond: self.source.is_whole,
        };
        let pieces = pieces.into_iter().map(|piece| dress.piece(piece)).collect();
        lap("surfaces");
        Ok(Pieces::Meshes(CutMesh {
            source: self.source.clone(),
            pieces,
            voxel_level: params.option("voxel_level") as u32,
            timings,
            detail: Some(Arc::new(BoxCutDetail { complex })),
        }))
    }
}

/// How often all cracks are moved by another hair before giving up. Pieces have corners that a crack made, and sheets
/// thinner than the exact tests' finest unit, which a crack in just that place may meet as if they passed through
/// themselves.
const TRIES: i32 = 6;

/// A seed, in every try but the first one moved by up to three units, all seeds alike.
fn moved(seed: Point, tries: i32) -> Point {
    let by = [tries * 2 % 7 - 3, tries * 3 % 7 - 3, tries * 5 % 7 - 3];
    if tries == 0 { seed } else { [0, 1, 2].map(|k| seed[k] + by[k]) }
}

impl Breaker for BoxCutBreaker {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_) | Geometry::Mesh(_))
    }

    fn problem(&self, params: &FractureParams) -> Option<ParamProblem> {
        let text =
            "must be planar: the method box-cut cuts flat; the method octree has rough and dusty cracks";
        (params.surface != Surface::Planar).then(|| ("surface", text.to_owned()))
    }

    fn shares_faces(&self) -> bool {
        true
    }

    fn prepare(&self, passes: &Passes, compute: &Compute) -> Result<(), GpuError> {
        compute.gpu().map_or(Ok(()), |gpu| CellPasses::shared(passes, gpu).map(|_| ()))
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        let units = Units::of(&source.octree()?.grid);
        let (started, input) = (Instant::now(), source);
        let source = SourceMesh::of(input.shape)?;
        let positions: Vec<_> = source.surface.positions.iter().map(|p| units.from_shape(*p)).collect();
        let mesh = FineMesh::new(positions, source.surface.triangles.clone())
            .map_err(|error| FractureError::Params(error.to_string()))?;
        let prepared = StageTiming::since("mesh", started);
        Ok(Box::new(MeshCutter { input, source, mesh, units, prepared }))
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

/// The cells of `sites` in the box from `low` to `high`, put together.
///
/// # Errors
/// [`FractureError::Params`] where a site or the box goes beyond [`REACH`], [`FractureError::Gpu`] for the device's.
pub fn cells(
    compute: &Compute,
    passes: &Passes,
    sites: &[Point],
    low: Point,
    high: Point,
) -> Result<Complex, FractureError> {
    let is_within = |p: &Point| p.iter().all(|v| v.unsigned_abs() <= REACH as u32);
    if !sites.iter().chain([&low, &high]).all(is_within) {
        let text = "the object or its seeds lie too far outside of its grid; use seeds nearer to it";
        return Err(FractureError::Params(text.into()));
    }
    match compute {
        Compute::Cpu => Ok(Complex::new(sites, low, high)),
        Compute::Gpu(gpu) => {
            let made = CellPasses::shared(passes, gpu)?.run(gpu, sites, low, high)?;
            if made.by_twin > 0 {
                tracing::debug!("{} of {} cells had no room on the device", made.by_twin, sites.len());
            }
            Ok(Complex::of_cells(sites, low, high, &made.cells))
        }
    }
}

/// What is needed to dress a piece.
pub struct Dress<'a> {
    /// What was cut.
    pub source: &'a SourceMesh,
    /// By what.
    pub complex: &'a Complex,
    /// Units of its seeds.
    pub units: Units,
    /// What cracks show.
    pub volume: Volume,
    /// Whether cracks say which cell lies beyond them: cells are numbered over all breaks of an object, which only the
    /// first one knows.
    pub tells_beyond: bool,
}

impl Dress<'_> {
    /// One piece.
    #[must_use]
    pub fn piece(&self, piece: SplitPiece) -> CutPiece {
        let own = &self.source.surface;
        let mut positions: Vec<DVec3> = piece.positions.iter().map(|p| self.units.to_shape(*p)).collect();
        let mut faces = Vec::with_capacity(piece.triangles.len());
        let mut corners = Vec::with_capacity(piece.triangles.len());
        for ((triangle, face), weights) in piece.triangles.iter().zip(&piece.faces).zip(&piece.weights) {
            match face {
                SplitFace::Outside(t) => {
                    let t = *t as usize;
                    for (i, weights) in triangle.iter().zip(weights) {
                        // A corner of the mesh is where the mesh has it.
                        if let Some(k) = weights.iter().position(|w| *w == 1.0) {
                            positions[*i as usize] = own.positions[own.triangles[t][k] as usize];
                        }
                    }
                    faces.push(own.faces[t]);
                    corners.push(weights.map(|weights| mixed(&own.corners[t], weights)));
                }
                SplitFace::Cap(facet) => {
                    let plane = self.complex.plane(*facet);
                    let facet = &self.complex.facets[*facet as usize];
                    let outward = DVec3::from_array(plane.normal.map(|n| n as f64)).normalize_or(DVec3::Y);
                    let (normal, beyond) = if facet.site == piece.cell {
                        (outward, facet.beyond)
                    } else {
                        (-outward, Beyond::Site(facet.site))
                    };
                    let normal = normal.as_vec3();
                    let beyond = match beyond {
                        Beyond::Site(site) if self.tells_beyond => Some(site),
                        Beyond::Site(_) | Beyond::Wall(_) => None,
                    };
                    faces.push(Face { side: Side::Inside, beyond });
                    corners.push(triangle.map(|i| {
                        let (units, place) = (piece.positions[i as usize], positions[i as usize]);
                        crack_corner(&self.volume, units, place, normal)
                    }));
                }
            }
        }
        let surface = PieceMesh { positions, triangles: piece.triangles, faces, corners };
        CutPiece { cell: piece.cell, surface }
    }
}
