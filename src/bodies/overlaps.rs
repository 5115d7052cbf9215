//! What pairs share, for the paper's response, for the log and for drawing.
//!
//! In: the bodies as they are. Out: one [`Overlap`] for each pair and plane that touch, in order of body.

use super::{
    Body, BodyId, Levels, Overlap, World, WorldSettings, broad_phase,
    collide::{GpuNarrow, GpuOverlap, Manifold, Pair, cell_size, of_bodies, of_plane},
    planes::{Plane, planes},
    step,
    surfels::Shapes,
};
use crate::{gpu::Gpu, svo::Arena};
use rayon::prelude::*;

/// Cells of a pair may differ this much in size for the passes: the sums of a cell must stay within 32 bits.
const MOST_RATIO: f64 = 16.0;

/// What has to be looked at: indices, and of a plane its number.
enum Work {
    Pair([usize; 2], [u32; 2]),
    Plane(usize, u32, usize),
}

/// What the compute passes need.
pub struct Passes<'a> {
    gpu: &'a Gpu,
    arena: &'a Arena,
    narrow: &'a mut GpuNarrow,
    overlap: &'a mut GpuOverlap,
}

impl<'a> Passes<'a> {
    /// None where the world has no passes, or its settings say that the CPU does it.
    pub fn new(
        gpu: Option<(&'a Gpu, &'a Arena)>,
        settings: &WorldSettings,
        narrow: Option<&'a mut GpuNarrow>,
        overlap: &'a mut Option<GpuOverlap>,
    ) -> Option<Self> {
        let (gpu, arena) = gpu.filter(|(gpu, _)| settings.narrow.wants(gpu))?;
        let narrow = narrow?;
        if overlap.is_none() {
            *overlap = GpuOverlap::new(gpu).ok();
        }
        Some(Self { gpu, arena, narrow, overlap: overlap.as_mut()? })
    }
}

/// Overlaps of everything that the manifolds say is near, of bodies of which one can move.
pub fn find(
    bodies: &[Body],
    levels: &Levels<'_>,
    shapes: &mut Shapes,
    manifolds: &[Manifold],
    settings: &WorldSettings,
    passes: Option<Passes<'_>>,
) -> Vec<Overlap> {
    let index = |id: BodyId| bodies.binary_search_by(|b| b.id.cmp(&id)).ok();
    let planes = planes(settings);
    let mut work = Vec::new();
    for m in manifolds {
        let Some(a) = index(m.first) else { continue };
        match m.second {
            Some(id) => work.extend(index(id).map(|b| Work::Pair([a, b], levels.pair(a, b)))),
            None => work.extend((0..planes.len()).map(|k| Work::Plane(a, levels.own(a), k))),
        }
    }
    work_out(bodies, shapes, &planes, &work, passes)
}

/// Pairs by the passes where there are any, else, and where they fail, by the plain way, which gives the same; planes by the plain
/// way, since they are few.
fn work_out(
    bodies: &[Body],
    shapes: &mut Shapes,
    planes: &[Plane],
    work: &[Work],
    passes: Option<Passes<'_>>,
) -> Vec<Overlap> {
    let mut by_passes = passes.and_then(|p| on_gpu(bodies, shapes, work, p)).unwrap_or_default().into_iter();
    let known: Vec<Option<Overlap>> =
        work.iter().map(|w| if suits(bodies, w) { by_passes.next() } else { None }).collect();
    for w in work {
        let needed = match w {
            Work::Pair(pair, at) => vec![(pair[0], at[0]), (pair[1], at[1])],
            Work::Plane(a, at, _) => vec![(*a, *at)],
        };
        needed.into_iter().for_each(|(k, level)| _ = shapes.get(&bodies[k].def.octree().forest, level));
    }
    let surfels = |k: usize, level: u32| shapes.known(&bodies[k].def.octree().forest, level);
    let found: Vec<Option<Overlap>> = work
        .par_iter()
        .zip(known)
        .map(|(w, known)| match w {
            Work::Pair(..) if known.is_some() => known,
            Work::Pair(pair, at) => {
                let both = [surfels(pair[0], at[0])?, surfels(pair[1], at[1])?];
                Some(of_bodies(pair.map(|k| &bodies[k]), *at, both))
            }
            Work::Plane(a, at, k) => Some(of_plane(&bodies[*a], *at, surfels(*a, *at)?, &planes[*k])),
        })
        .collect();
    found.into_iter().flatten().filter(|o| !o.columns.is_empty()).collect()
}

/// Whether the passes can do it.
fn suits(bodies: &[Body], work: &Work) -> bool {
    match work {
        Work::Pair(pair, at) => {
            let [a, b] = [0, 1].map(|s| cell_size(&bodies[pair[s]], at[s]));
            a / b <= MOST_RATIO && b / a <= MOST_RATIO
        }
        Work::Plane(..) => false,
    }
}

/// All pairs that suit, in order; none where something fails.
fn on_gpu(bodies: &[Body], shapes: &mut Shapes, work: &[Work], passes: Passes<'_>) -> Option<Vec<Overlap>> {
    let pair = |w: &Work| match w {
        Work::Pair(pair, at) => Some(Pair::at(bodies, *pair, *at, 0.0)),
        Work::Plane(..) => None,
    };
    let pairs: Vec<Pair> = work.iter().filter(|w| suits(bodies, w)).filter_map(pair).collect();
    let Passes { gpu, arena, narrow, overlap } = passes;
    overlap.find(gpu, arena, narrow, (&pairs, bodies, shapes)).ok().map(|(found, _)| found)
}

impl World {
    /// What bodies `a` and `b` share now, at the level at which they meet, on the lattice of `a`; nothing where one of them is
    /// not there. A pair that does not overlap has neither points nor volume.
    pub fn pair_data(&mut self, a: BodyId, b: BodyId) -> Option<Overlap> {
        let index = |id: BodyId| self.bodies.iter().position(|body| body.id == id);
        let (i, j) = (index(a)?, index(b)?);
        let at = Levels::new(&self.bodies, &self.pair_levels, self.far()).pair(i, j);
        let both = [self.bodies[i].clone(), self.bodies[j].clone()];
        let surfels = [0, 1].map(|s| self.shapes.get(&both[s].def.octree().forest, at[s]).surfels.clone());
        Some(of_bodies(both.each_ref(), at, surfels.each_ref().map(|s| &**s)))
    }

    /// What each overlapping pair shares now, and what each body shares with the floor and the walls; sleepers, too. By the
    /// compute passes where `gpu` is given and the settings allow.
    pub fn all_pair_data(&mut self, gpu: Option<(&Gpu, &Arena)>) -> Vec<Overlap> {
        let far = self.far();
        let Self { bodies, shapes, pair_levels, settings, narrow, overlap, .. } = self;
        let passes = Passes::new(gpu, settings, narrow.as_mut(), overlap);
        let levels = Levels::new(bodies, pair_levels, far);
        let boxes: Vec<_> =
            bodies.iter().enumerate().map(|(i, b)| step::bounds(b, levels.coarsest(i), 0.0)).collect();
        let moves: Vec<bool> = bodies.iter().map(|b| !b.is_static()).collect();
        let pairs =
            broad_phase::pairs(&boxes, &moves, |_, _| 0.0).into_iter().map(|(i, j)| [i as usize, j as usize]);
        let mut work: Vec<Work> = pairs.map(|pair| Work::Pair(pair, levels.pair(pair[0], pair[1]))).collect();
        let planes = planes(settings);
        for i in (0..bodies.len()).filter(|&i| moves[i] && boxes[i].is_some()) {
            work.extend((0..planes.len()).map(|k| Work::Plane(i, levels.own(i), k)));
        }
        work_out(bodies, shapes, &planes, &work, passes)
    }

    pub(super) fn far(&self) -> Option<(glam::DVec3, super::Adaptive)> {
        self.eye.filter(|eye| eye.is_finite()).zip(self.settings.adaptive)
    }
}
