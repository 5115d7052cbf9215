//! The method as an entry of the table of methods.

use crate::geometry::Aabb;
use std::{sync::Arc, time::Instant};

use super::{
    complex::{Complex, Point},
    pass::CellPasses,
    pieces,
    split::{FineMesh, split},
    stage,
};
use crate::{
    compute::Compute,
    fracture::{
        BreakContext, Breaker, CutSource, Cutter, FractureError, FractureParams, MethodEntry, MethodOption,
        ParamProblem, Passes, Pattern, Pieces, PreviewTarget, Seams, Strike, Surface,
        solid::{CutMesh, SourceMesh, Units},
        voronoi::bisector_seams,
    },
    gpu::{GpuError, StageTiming},
    shape::{CLAY, Geometry},
};

/// The line in the table of methods.
pub const METHOD: MethodEntry = MethodEntry {
    name: "box-cut",
    label: "Mesh, box cutting",
    help: "Cuts the mesh itself along Voronoi cells: crisp pieces with its texture coordinates, and flat caps.",
    source: "Chlubna, Brittle Body Simulation on GPU",
    by_seeds: true,
    of_voxels: false,
    options: &[MethodOption {
        name: "voxel_level",
        help: "Octree level of the voxels that pieces meet and are felt by.",
        default: 6.0,
        range: (3.0, 9.0),
        whole: true,
    }],
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
            let complex = stage::cells(&arena.compute(), passes, &sites, box_of[0], box_of[1])?;
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
        let dress = pieces::Dress {
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
        let flat = params.surface == Surface::Planar;
        (!flat).then(|| {
            let text =
                "must be planar: the method box-cut cuts flat; the method octree has rough and dusty cracks";
            ("surface", text.to_owned())
        })
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
