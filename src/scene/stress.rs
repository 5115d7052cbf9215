//! The elastic stress of a body under the aimed blow, or under its own weight where nothing is aimed; and where it is weak
//! whatever loads it.
//!
//! In: a body, an aim. Out: gold dots on its surface that brighten with tension, and the places of greatest tension. A worker
//! solves; while it does, the last stress stays.

mod loads;

use std::{collections::BTreeMap, sync::Arc};

use glam::DVec3;
use rayon::prelude::*;

use self::loads::{Solved, Wanted, converged, solve, wanted};
use super::{
    Cells, Touching, body_stress::Stresses, document::Document, jobs::Worker, stage::Stage,
    weakness::weak_dabs,
};
use crate::{
    bodies::{Body, BodyId},
    elastic::ElasticError,
    fracture::{Cancel, Dab, Impact, Paint, UNIT_BITS},
    render::{Overlay, Point},
    shape::Shape,
};

/// Radius of a dot as a share of the side of the block of voxels that it stands for. Dots leave no gap; where they overlap, the
/// nearer one is drawn.
const DOT: f32 = 0.75;
/// Opacity of the brightest dots, of 255. It adds up where dots overlap.
const MOST_OPACITY: f32 = 70.0;
/// Least share of the brightest tension that is drawn; opacity grows with the square of the share.
const FAINTEST: f32 = 0.15;
/// Cells of a pattern in which no tension reaches this share of the brightest stay where a break ends with the stress.
const LITTLE: f32 = 0.4;
/// Colour of tension, sRGB.
const GOLD: [u8; 3] = [255, 190, 50];

/// The stress on display, and the worker that solves for the next one.
#[derive(Default)]
pub(super) struct StressView {
    shown: Option<Arc<Solved>>,
    /// Stresses that were solved for by order, under the weight or under a blow.
    ordered: Stresses,
    /// Bodies with a shape that could not be solved for.
    refused: BTreeMap<BodyId, Arc<Shape>>,
    /// What was ordered, and the stress on display.
    known: Stresses,
    /// A worker that solves, and what it solves for.
    job: Option<(Wanted, Worker<Result<Solved, ElasticError>>)>,
    failed: Option<(Wanted, String)>,
    revision: u64,
}

/// Figures of the stress on display.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StressReport {
    /// Cells of the body.
    pub cells: usize,
    /// Level of the cells.
    pub level: u32,
    /// The greatest tension, Pa: for each newton of a blow, or under the weight.
    pub greatest: f64,
    /// Whether it is that of a blow.
    pub of_blow: bool,
    /// Whether it is the weakness, which has no unit.
    pub is_weakness: bool,
    /// Why there is none.
    pub problem: Option<String>,
}

impl StressView {
    /// Changes whenever other stress is shown.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a worker solves.
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Figures of the stress on display.
    pub fn report(&self) -> Option<StressReport> {
        if let Some((_, problem)) = &self.failed {
            return Some(StressReport { problem: Some(problem.clone()), ..StressReport::default() });
        }
        let shown = self.shown.as_ref()?;
        Some(StressReport {
            cells: shown.solver.body().len(),
            level: shown.solver.body().level(),
            greatest: f64::from(shown.tension.iter().copied().fold(0.0, f32::max)),
            of_blow: shown.wanted.blow.is_some(),
            is_weakness: shown.wanted.is_weakness,
            problem: None,
        })
    }

    /// Takes what the worker has solved, and has it solve for the blow on `aimed`, or for the weight of the first body. Never
    /// waits. In a mode that shows neither stress nor weakness everything is forgotten.
    pub fn update(
        &mut self,
        mode: Touching,
        aim: Option<(BodyId, Impact)>,
        document: &Document,
        stage: &Stage,
    ) {
        if !matches!(mode, Touching::Stress | Touching::Weakness) {
            self.forget();
            self.job = None;
            return;
        }
        if let Some((of, worker)) = &self.job {
            let Some(ended) = worker.ended() else { return };
            match ended.map(|solved| solved.map_err(|error| error.to_string())) {
                Some(Ok(solved)) => {
                    self.failed = None;
                    self.show(Some(Arc::new(solved)));
                }
                // The stress that was shown is of another load.
                failed => {
                    let why = failed.and_then(Result::err);
                    let why = why.unwrap_or_else(|| "the solver stopped unexpectedly".into());
                    self.failed = Some((of.clone(), why));
                    self.show(None);
                }
            }
            self.job = None;
            self.revision += 1;
        }
        let body = match aim {
            Some((id, _)) => stage.body(id),
            None => stage.bodies().iter().find(|body| body.def.shape.as_octree().is_some()),
        };
        let is_weakness = mode == Touching::Weakness;
        let impact = aim.map(|aim| aim.1).filter(|_| !is_weakness);
        let wanted = body.and_then(|body| wanted(body, (impact, is_weakness), document, stage));
        let Some(wanted) = wanted else {
            self.forget();
            return;
        };
        let is_shown = self.shown.as_ref().is_some_and(|shown| shown.wanted == wanted);
        let has_failed = self.failed.as_ref().is_some_and(|(failed, _)| *failed == wanted);
        if is_shown {
            self.failed = None;
        } else if !has_failed {
            let (of, last) = (wanted.clone(), self.shown.clone());
            let work = move |cancel: &Cancel| solve(wanted, last.as_deref(), cancel);
            self.job = Some((of, Worker::start(work)));
        }
    }

    fn forget(&mut self) {
        self.failed = None;
        if self.shown.is_some() {
            self.revision += 1;
            self.show(None);
        }
    }

    fn show(&mut self, shown: Option<Arc<Solved>>) {
        self.known = self.ordered.clone();
        // Dots may be drawn of a solution that is still off; numbers may not be read off it.
        if let Some(Solved { wanted, stress: Some(stress), .. }) = shown.as_deref()
            && stress.solution().convergence.is_converged
        {
            self.known.insert(wanted.body, &wanted.shape, stress);
        }
        self.shown = shown;
    }

    /// Solves for the stress of every body with voxels under its weight, as [`StressView::update`] does where nothing is aimed:
    /// they are known from then on. Waits. Returns why bodies have none.
    pub fn weigh(&mut self, document: &Document, stage: &Stage) -> Vec<ElasticError> {
        self.forget_ordered();
        self.weigh_new(document, stage)
    }

    /// The same for the bodies alone that have another shape, or are new, since it was done last. The others keep their stress,
    /// however they have moved and turned. Waits. Returns why new bodies have none.
    pub fn weigh_new(&mut self, document: &Document, stage: &Stage) -> Vec<ElasticError> {
        let is_there = |id: BodyId| stage.body(id).is_some();
        self.ordered.keep(is_there);
        self.refused.retain(|id, _| is_there(*id));
        let is_new = |body: &&Body| {
            let shape = &body.def.shape;
            let is_refused = self.refused.get(&body.id).is_some_and(|known| Arc::ptr_eq(known, shape));
            !is_refused && self.ordered.of(body.id, shape).is_none()
        };
        let new = stage.bodies().iter().filter(is_new);
        let new: Vec<Wanted> = new.filter_map(|body| wanted(body, (None, false), document, stage)).collect();
        self.order(new)
    }

    /// Solves for the stress of one body under a blow of a force (N) within a radius (m; without one as the window does it): it
    /// alone is known from then on. Waits. Returns why it has none.
    pub fn strike(
        &mut self,
        (id, impact): (BodyId, Impact),
        (newtons, radius): (f64, Option<f64>),
        document: &Document,
        stage: &Stage,
    ) -> Option<ElasticError> {
        self.forget_ordered();
        let wanted = stage.body(id).and_then(|body| wanted(body, (Some(impact), false), document, stage));
        let Some(wanted) = wanted else { return Some(ElasticError::NoVoxels) };
        let reach = radius.unwrap_or(wanted.reach);
        self.order(vec![Wanted { newtons, reach, ..wanted }]).pop()
    }

    fn forget_ordered(&mut self) {
        self.ordered = Stresses::default();
        self.refused.clear();
    }

    /// Solves for loads, and makes the stresses known. Returns why bodies have none.
    fn order(&mut self, loads: Vec<Wanted>) -> Vec<ElasticError> {
        let mut failed = Vec::new();
        for wanted in loads {
            let (body, shape) = (wanted.body, Arc::clone(&wanted.shape));
            match solve(wanted, None, Cancel::never()).and_then(converged) {
                Ok(stress) => self.ordered.insert(body, &shape, &stress),
                Err(error) => {
                    self.refused.insert(body, shape);
                    failed.push(error);
                }
            }
        }
        self.revision += 1;
        self.show(self.shown.clone());
        failed
    }

    /// The stresses of bodies: that on display, and those that were ordered.
    pub fn known(&self) -> &Stresses {
        &self.known
    }

    /// Adds dots where the surface is in tension.
    pub fn draw(&self, stage: &Stage, made: &mut Overlay) {
        let Some(shown) = &self.shown else { return };
        let Some(body) = self.body(stage) else { return };
        let (shape, state) = (&body.def.shape, &body.state);
        let block = shape.unit_m() as f32 * shown.dots.block as f32;
        made.lift = made.lift.max(block);
        let dots = shown.dots.places.iter().zip(&shown.at_dots);
        made.points.extend(dots.filter_map(|((local, _), tension)| {
            let share = (tension / shown.brightest).clamp(0.0, 1.0);
            (share >= FAINTEST).then(|| Point {
                at: shape.to_world(state.position, state.rotation, *local).as_vec3(),
                color: [GOLD[0], GOLD[1], GOLD[2], (MOST_OPACITY * share * share) as u8],
                radius_pixels: 0.8,
                radius_m: DOT * block,
                back_pixels: 0.0,
            })
        }));
    }

    /// At most `most` dabs as `like` where the tension is greatest, not nearer to each other than their radius. Dense ones share
    /// out its amount by their tension. Weak ones leave its amount where it pulls most, and more where it pulls less. Where the
    /// weakness is shown, dense ones with its amount and weak ones at the weak cracks. Empty where neither is.
    pub fn dabs(&self, like: &Dab, most: usize) -> Vec<Dab> {
        let Some(shown) = &self.shown else { return Vec::new() };
        if let Some(weakness) = &shown.weakness {
            return weak_dabs(weakness, like.body, like.amount.unwrap_or_default() as u32);
        }
        let mut order: Vec<u32> = (0..shown.tension.len() as u32).collect();
        let tension = |cell: u32| shown.tension[cell as usize].min(shown.brightest);
        order.sort_by(|a, b| tension(*b).total_cmp(&tension(*a)).then(a.cmp(b)));
        let mut places: Vec<(DVec3, f64)> = Vec::new();
        for cell in order {
            let pull = f64::from(tension(cell));
            if places.len() == most || pull <= 0.0 {
                break;
            }
            let Some(cell) = shown.solver.body().cell(cell as usize) else { continue };
            if places.iter().all(|(place, _)| place.distance(cell.centre) >= like.radius) {
                places.push((cell.centre, pull));
            }
        }
        let whole: f64 = places.iter().map(|(_, pull)| pull).sum();
        let greatest = places.first().map_or(1.0, |(_, pull)| *pull);
        let is_weak = like.kind == Paint::Weak;
        let amount = |pull: f64| match is_weak {
            true => 1.0 - (1.0 - like.amount()) * pull / greatest,
            false => (like.amount() * pull / whole).round().clamp(0.0, 1000.0),
        };
        let dab = |(at, pull): (DVec3, f64)| Dab { at, amount: Some(amount(pull)), ..*like };
        places.into_iter().map(dab).filter(|dab| is_weak || dab.amount() > 0.0).collect()
    }

    /// The seeds of `cells` around which there is little tension everywhere, ascending. Seeds of one body, such as the two of a
    /// brick, are among them together or not at all. Empty where no stress is shown.
    pub fn unloaded(&self, cells: &Cells) -> Vec<u32> {
        let seeds = &cells.pattern.seeds;
        let Some(shown) = &self.shown else { return Vec::new() };
        let Some(octree) = shown.wanted.shape.as_octree() else { return Vec::new() };
        let unit = f64::from(1u32 << (UNIT_BITS - octree.level()));
        let body = shown.solver.body();
        let loaded =
            (0..body.len()).into_par_iter().filter(|cell| shown.tension[*cell] >= LITTLE * shown.brightest);
        let of_cells: Vec<u32> = loaded
            .filter_map(|cell| {
                let place = octree.grid.from_mesh(body.cell(cell)?.centre) * unit;
                let distance =
                    |seed: &[i32; 3]| DVec3::from_array(seed.map(f64::from)).distance_squared(place);
                (0..seeds.len() as u32)
                    .min_by(|a, b| distance(&seeds[*a as usize]).total_cmp(&distance(&seeds[*b as usize])))
            })
            .collect();
        let mut is_loaded = vec![false; seeds.len()];
        // All cells that stay have one object; each of them is judged by itself.
        let body_of = |seed: u32| match cells.kept.binary_search(&seed) {
            Ok(_) => seed,
            Err(_) => cells.pattern.objects[seed as usize],
        };
        of_cells.into_iter().for_each(|seed| is_loaded[body_of(seed) as usize] = true);
        (0..seeds.len() as u32).filter(|seed| !is_loaded[body_of(*seed) as usize]).collect()
    }

    /// The body whose stress is shown, as long as it has the shape that was solved for.
    pub fn body<'a>(&self, stage: &'a Stage) -> Option<&'a Body> {
        let wanted = &self.shown.as_ref()?.wanted;
        stage.body(wanted.body).filter(|body| Arc::ptr_eq(&body.def.shape, &wanted.shape))
    }
}

#[cfg(test)]
mod tests {
    use super::{loads::Anchors, *};
    use crate::{mesh, shape::Octree, voxelize};

    fn wanted(blow: Option<(DVec3, DVec3)>) -> Wanted {
        let mesh = mesh::builtin("box").unwrap();
        let voxels = voxelize::voxelize(&mesh, 5, &Default::default()).unwrap();
        let octree = Octree::new(&Arc::new(voxels.forest), 0, voxels.grid);
        Wanted {
            body: BodyId(0),
            shape: Arc::new(Shape::octree(octree, 2000.0, crate::shape::Look::default())),
            blow,
            gravity: DVec3::NEG_Y * 9.81,
            is_weakness: false,
            is_free: blow.is_some(),
            anchors: Anchors::default(),
            reach: 0.1,
            newtons: 1.0,
            device: None,
        }
    }

    #[test]
    fn a_blow_pulls_where_it_bends_and_seeds_go_there() {
        let bounds = {
            let shape = wanted(None).shape;
            let (low, high) = (shape.bounds().low, shape.bounds().high);
            [low, high].map(|p| shape.as_octree().map(|o| o.grid.origin + o.grid.h * p).unwrap())
        };
        let top = (bounds[0] + bounds[1]) / 2.0 * DVec3::new(1.0, 0.0, 1.0) + DVec3::Y * bounds[1].y;
        let solved = solve(wanted(Some((top, DVec3::NEG_Y))), None, Cancel::never()).unwrap();
        assert!(solved.stress.as_ref().unwrap().solution().convergence.is_converged);
        assert_eq!(solved.tension.len(), solved.solver.body().len());
        let dots = &solved.dots;
        assert!(dots.places.iter().all(|(_, cell)| (*cell as usize) < solved.tension.len()));
        assert_eq!(
            (dots.places.len(), dots.block),
            (solved.wanted.shape.as_octree().unwrap().leaves().len(), 1)
        );
        assert!(
            solved
                .at_dots
                .iter()
                .all(|tension| *tension <= solved.tension.iter().copied().fold(0.0, f32::max))
        );
        let view = StressView { shown: Some(Arc::new(solved)), ..StressView::default() };
        let report = view.report().unwrap();
        assert!(report.of_blow && report.greatest > 0.0 && report.problem.is_none());
        let side = bounds[1].x - bounds[0].x;
        let like = |kind: Paint, amount: f64| Dab {
            kind,
            body: 3,
            radius: 0.1 * side,
            amount: Some(amount),
            ..Dab::default()
        };
        let dabs = view.dabs(&like(Paint::Dense, 40.0), 12);
        assert!((2..=12).contains(&dabs.len()), "{}", dabs.len());
        let seeds: f64 = dabs.iter().map(Dab::amount).sum();
        assert!((36.0..=44.0).contains(&seeds), "{seeds}");
        for (k, dab) in dabs.iter().enumerate() {
            assert!(dab.body == 3 && dabs[..k].iter().all(|other| other.at.distance(dab.at) >= 0.1 * side));
            assert!(dab.at.cmpge(bounds[0]).all() && dab.at.cmple(bounds[1]).all());
        }
        // Weaker bonds go to the same places: the least is left where it pulls most.
        let weak = view.dabs(&like(Paint::Weak, 0.3), 12);
        assert!(weak.len() >= dabs.len() && weak.iter().zip(&dabs).all(|(a, b)| a.at == b.at));
        assert!((weak[0].amount() - 0.3).abs() < 1e-12 && weak.is_sorted_by_key(Dab::amount), "{weak:?}");
        assert!(
            weak.iter().all(|dab| dab.kind == Paint::Weak && (0.3..1.0).contains(&dab.amount())),
            "{weak:?}"
        );
        // Eight octants: those above are pulled by a blow on the top; seeds far outside have no cells and stay.
        let shape = &view.shown.as_ref().unwrap().wanted.shape;
        let octree = shape.as_octree().unwrap();
        let unit = f64::from(1u32 << (UNIT_BITS - octree.level()));
        let [low, high] = bounds.map(|p| octree.grid.from_mesh(p));
        let part = |k: usize| (0..3).map(move |axis| if k >> axis & 1 == 1 { 0.9 } else { 0.1 });
        let seed = |k: usize| -> [i32; 3] {
            let shares: Vec<f64> = part(k).collect();
            std::array::from_fn(|axis| ((low[axis] + shares[axis] * (high[axis] - low[axis])) * unit) as i32)
        };
        let mut seeds: Vec<[i32; 3]> = (0..8).map(seed).collect();
        seeds.push([-8000; 3]);
        let of = |objects: Vec<u32>| Cells {
            pattern: crate::fracture::Pattern { seeds: seeds.clone(), objects },
            kept: Vec::new(),
        };
        let unloaded = view.unloaded(&of((0..9).collect()));
        let tensions = |k: usize| {
            let cells = view.shown.as_ref().unwrap();
            (0..cells.tension.len()).filter_map(move |cell| {
                let centre = cells.solver.body().cell(cell)?.centre;
                let middle = (bounds[0] + bounds[1]) / 2.0;
                let is_in = (0..3).all(|axis| (centre[axis] > middle[axis]) == (k >> axis & 1 == 1));
                is_in.then_some(cells.tension[cell])
            })
        };
        let brightest = view.shown.as_ref().unwrap().brightest;
        let expected: Vec<u32> = (0..8)
            .filter(|k| tensions(*k as usize).fold(0.0, f32::max) < LITTLE * brightest)
            .chain([8])
            .collect();
        assert_eq!(unloaded, expected);
        assert!(unloaded.len() < 9, "something breaks");
        // As one body with an octant that is pulled, what lies outside breaks off, too.
        let pulled = (0..8).find(|k| !unloaded.contains(k)).unwrap();
        let together = (0..8).chain([pulled]).collect();
        assert!(!view.unloaded(&of(together)).contains(&8));
        // The same blow again starts from its own solution.
        let last = view.shown.as_deref();
        let again = solve(wanted_as(last.unwrap()), last, Cancel::never()).unwrap();
        let convergence = again.stress.unwrap().solution().convergence;
        assert!(convergence.iterations <= 1, "{convergence:?}");
        assert!(Arc::ptr_eq(&again.dots, &last.unwrap().dots));
        // Under its weight, standing on its lowest cells, a box is hardly pulled anywhere.
        let weight = solve(wanted(None), None, Cancel::never()).unwrap();
        let most = weight.tension.iter().copied().fold(0.0, f32::max);
        let press = 2000.0 * 9.81 * side as f32;
        assert!(most < 0.3 * press, "{most} {press}");
        let weak = Wanted { is_weakness: true, is_free: true, ..wanted(None) };
        let weak = solve(weak, None, Cancel::never()).unwrap();
        assert!(weak.stress.is_none() && weak.tension.len() == weak.solver.body().len());
        assert_eq!((weak.tension.iter().copied().fold(0.0, f32::max), weak.brightest), (1.0, 1.0));
        let view = StressView { shown: Some(Arc::new(weak)), ..StressView::default() };
        let dabs = view.dabs(&like(Paint::Dense, 40.0), 12);
        let seeds: f64 = dabs.iter().filter(|dab| dab.kind == Paint::Dense).map(Dab::amount).sum();
        assert!(
            seeds == 40.0 && dabs.iter().any(|dab| dab.kind == Paint::Weak && dab.amount() < 0.5),
            "{dabs:?}"
        );
    }

    fn wanted_as(solved: &Solved) -> Wanted {
        solved.wanted.clone()
    }
}
