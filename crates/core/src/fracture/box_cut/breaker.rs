//! The method as an entry of the table of methods.

use std::{sync::Arc, time::Instant};

use super::{
    complex::{Complex, Point},
    pieces,
    split::{FineMesh, split},
    stage,
};
use crate::{
    fracture::{
        Break, BreakContext, Breaker, Cancel, FractureCounts, FractureError, FractureParams, Kept,
        MethodEntry, MethodOption, ParamProblem, Pattern, PreviewTarget, Seams, Solved, Strike, Surface,
        solid::{Assembled, Assembling, SourceMesh, Units, stand_in_grid},
        solve::seeds_for,
        voronoi::cells_of,
    },
    gpu::StageTiming,
    shape::{Geometry, Octree, Shape},
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
    /// Its seeds.
    pub pattern: Pattern,
    /// Objects of the cells of each part, ascending.
    pub objects: Vec<Vec<u32>>,
    /// All cells.
    pub complex: Arc<Complex>,
}

/// One cut.
struct Cut {
    pattern: Pattern,
    complex: Complex,
    assembled: Assembled,
}

/// What is cut, and by what.
struct Work<'a> {
    shape: &'a Shape,
    octree: &'a Octree,
    source: SourceMesh,
    mesh: FineMesh,
    strike: &'a Strike<'a>,
    units: Units,
    context: &'a BreakContext<'a>,
}

impl Work<'_> {
    fn cut(&self, pattern: Pattern, timings: &mut Vec<StageTiming>) -> Result<Cut, FractureError> {
        let mut clock = Instant::now();
        let mut lap = |stage: &str| {
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            clock = Instant::now();
            timings.push(StageTiming { stage: stage.into(), ms });
        };
        let params = self.strike.params;
        let (low, high) = self.source.bounds();
        let (low, high) = (self.units.from_shape(low), self.units.from_shape(high));
        let whole = |v: glam::DVec3| -> Point { v.as_ivec3().to_array() };
        let box_of = [whole(low.floor() - 1.0), whole(high.ceil() + 1.0)];
        let BreakContext { arena, passes, cancel } = self.context;
        let mut tries = 0;
        let (complex, pieces) = loop {
            cancel.ask();
            let sites: Vec<Point> = pattern.seeds.iter().map(|seed| moved(*seed, tries)).collect();
            let complex = stage::cells(&arena.compute(), passes, &sites, box_of[0], box_of[1])?;
            lap("cells");
            cancel.ask();
            match split(&self.mesh, &complex) {
                Ok(pieces) => break (complex, pieces),
                Err(_) if tries < TRIES => tries += 1,
                Err(error) => return Err(FractureError::Params(error.to_string())),
            }
        };
        lap("split");
        self.context.cancel.ask();
        let dress = pieces::Dress {
            source: &self.source,
            complex: &complex,
            units: self.units,
            volume: params.interior.volume(self.shape.look().surface_color.unwrap_or(crate::shape::CLAY)),
            tells_beyond: self.source.is_whole,
        };
        let pieces = pieces.into_iter().map(|piece| dress.piece(piece)).collect();
        lap("surfaces");
        self.context.cancel.ask();
        let level = params.option("voxel_level") as u32;
        let assembling = Assembling {
            source: &self.source,
            shape: self.shape,
            pattern: &pattern,
            params,
            grid: &self.octree.grid,
            // What is only looked at meets nobody.
            stand_in: (!self.strike.preview).then(|| stand_in_grid(self.shape, self.source.bounds(), level)),
        };
        let assembled = assembling.parts(pieces)?;
        lap("voxels of the pieces");
        Ok(Cut { pattern, complex, assembled })
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

fn no_voxels() -> FractureError {
    FractureError::Params("this body has no voxels that a pattern of seeds could be drawn in".into())
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

    fn fracture(
        &self,
        context: &BreakContext<'_>,
        shape: &Shape,
        strike: &Strike<'_>,
    ) -> Result<Break, FractureError> {
        Cancel::catch(|| fracture(context, shape, strike))
    }

    /// Cracks are bisectors, as those of flat cracks in octrees are.
    fn seams(
        &self,
        context: &BreakContext<'_>,
        target: &PreviewTarget<'_>,
        strike: &Strike<'_>,
    ) -> Result<Option<Seams>, FractureError> {
        let passes = context.passes.compiled(context.arena.compute())?;
        let pattern = cells_of(target.shape, target.octree, strike).cells(strike.params)?.pattern;
        Ok(Some(passes.seams(target.voxels, target.octree.level(), &pattern)?))
    }
}

fn fracture(context: &BreakContext<'_>, shape: &Shape, strike: &Strike<'_>) -> Result<Break, FractureError> {
    let octree = shape.as_octree().ok_or_else(no_voxels)?;
    let started = Instant::now();
    let source = SourceMesh::of(shape)?;
    let units = Units::of(&octree.grid);
    let positions: Vec<_> = source.surface.positions.iter().map(|p| units.from_shape(*p)).collect();
    let mesh = FineMesh::new(positions, source.surface.triangles.clone())
        .map_err(|error| FractureError::Params(error.to_string()))?;
    let volume = source.volume;
    let mut timings = vec![StageTiming { stage: "mesh".into(), ms: started.elapsed().as_secs_f64() * 1e3 }];
    let work = Work { shape, octree, source, mesh, strike, units, context };
    let cells = cells_of(shape, octree, strike);

    let mut solved = None;
    let cut = if strike.preview {
        work.cut(cells.cells(strike.params)?.pattern, &mut timings)?
    } else {
        let (cut, found) = seeds_for(strike.params, &mut |params| {
            let cut = work.cut(cells.draw(params)?.0, &mut timings)?;
            let pieces = cut.assembled.parts.len() as u32;
            Ok((cut, pieces))
        })?;
        solved = found;
        cut
    };
    let Cut { pattern, complex, assembled } = cut;

    let mut params = strike.params.clone();
    if let Some(painted) = strike.painted {
        params.keep = painted.among(&pattern.seeds);
        // Cells are named by number, so the number of seeds must not be solved for again.
        if let Some(Solved { seeds, rng, .. }) = solved {
            (params.target_pieces, params.seeds, params.rng) = (None, seeds, rng);
        }
    }
    let kept_cells = cells.kept(&pattern, &params);
    let kept = kept_cells.first().copied().map(|object| {
        let of = |(_, objects): &(usize, &Vec<u32>)| objects.contains(&object);
        let all = || assembled.objects.iter().enumerate().filter(of);
        Kept { part: all().next().map(|(i, _)| i), parts: all().count(), cells: kept_cells.clone() }
    });
    let Assembled { parts, objects, lost, cells, merged } = assembled;
    let pieces = parts.len() as u64;
    let owners: std::collections::BTreeSet<u32> = parts.iter().map(|part| part.cell).collect();
    Ok(Break {
        counts: FractureCounts {
            cells: cells as u64,
            islands: pieces.saturating_sub(owners.len() as u64),
            pieces,
            dropped: lost.dropped.len() as u64,
            merged: merged as u64,
            ..FractureCounts::default()
        },
        parts,
        lost,
        before_m3: Some(volume),
        timings,
        solved,
        params,
        kept,
        detail: Some(Arc::new(BoxCutDetail { pattern, objects, complex: Arc::new(complex) })),
    })
}
