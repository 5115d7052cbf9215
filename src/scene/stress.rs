//! The elastic stress of a body under the aimed blow, or under its own weight where nothing is aimed; and where it is weak
//! whatever loads it.
//!
//! In: a body, an aim. Out: gold dots on its surface that brighten with tension, and the places of greatest tension. A worker
//! solves; while it does, the last stress stays.

use std::sync::{Arc, mpsc};

use glam::DVec3;

use super::{Touching, stage::Stage};
use crate::{
    bodies::{Body, BodyId},
    elastic::{ElasticBody, ElasticError, Load, Material, Settings, Solution, Solver},
    fracture::{Cancel, CancelOnDrop, Dab, Impact, Paint},
    render::{Overlay, Point},
    shape::Shape,
};

/// Level of the cells, if the body's octree is as fine.
const LEVEL: u32 = 5;
/// Most dots.
const MOST_DOTS: usize = 20_000;
/// The tension that is brightest is exceeded in this share of the cells.
const BRIGHTEST: f64 = 0.005;
/// Radius of the blow as a share of the object's longest side.
const REACH: f64 = 0.05;
/// Poisson's ratio.
const POISSON: f64 = 0.2;
/// Modes that the weakness is made of.
const MODES: usize = 6;
/// Young's modulus, Pa; stress under given loads does not depend on it.
const STIFFNESS: f64 = 1e9;
/// Colour of tension, sRGB.
const GOLD: [u8; 3] = [255, 190, 50];

/// What is loaded, and how.
#[derive(Clone)]
struct Wanted {
    body: BodyId,
    shape: Arc<Shape>,
    /// The blow, shape space; `None`: the weight.
    blow: Option<(DVec3, DVec3)>,
    /// Gravity, body axes, m/s^2.
    gravity: DVec3,
    /// Whether the weakness is wanted, whatever loads the body.
    is_weakness: bool,
    /// Whether nothing holds the body.
    is_free: bool,
    /// Anchor dabs.
    anchors: Vec<Dab>,
    reach: f64,
}

impl Wanted {
    fn has_same_solver(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shape, &other.shape)
            && (self.is_free, self.is_weakness) == (other.is_free, other.is_weakness)
            && self.blow.is_some() == other.blow.is_some()
            && self.anchors == other.anchors
            && (self.blow.is_some() || self.is_weakness || self.gravity == other.gravity)
    }
}

impl PartialEq for Wanted {
    fn eq(&self, other: &Self) -> bool {
        self.has_same_solver(other) && self.body == other.body && self.blow == other.blow
    }
}

/// A solved load.
struct Solved {
    wanted: Wanted,
    solver: Arc<Solver>,
    /// The displacements; none of a weakness.
    solution: Option<Solution>,
    /// Tension of each cell, Pa, or its weakness, 0 to 1; and that of the brightest.
    tension: Vec<f32>,
    brightest: f32,
    /// Dots on the surface: place in local space, and index of the cell.
    dots: Arc<Vec<(DVec3, u32)>>,
}

/// A worker that solves, and what it solves for.
struct Job {
    wanted: Wanted,
    receiver: mpsc::Receiver<Result<Solved, ElasticError>>,
    _waits: CancelOnDrop,
}

/// The stress on display, and the worker that solves for the next one.
#[derive(Default)]
pub(super) struct StressView {
    shown: Option<Arc<Solved>>,
    job: Option<Job>,
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
    /// Iterations of the solver.
    pub iterations: u32,
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
            iterations: shown.solution.as_ref().map_or(0, |solution| solution.convergence.iterations),
            problem: None,
        })
    }

    /// Takes what the worker has solved, and has it solve for the blow on `aimed`, or for the weight of the first body. Never
    /// waits. In a mode that shows neither stress nor weakness everything is forgotten.
    pub fn update(&mut self, mode: Touching, aim: Option<(BodyId, Impact)>, paint: &[Dab], stage: &Stage) {
        if !matches!(mode, Touching::Stress | Touching::Weakness) {
            self.revision += u64::from(self.shown.is_some());
            (self.shown, self.job, self.failed) = (None, None, None);
            return;
        }
        if let Some(job) = &self.job {
            match job.receiver.try_recv() {
                Ok(Ok(solved)) => (self.shown, self.failed) = (Some(Arc::new(solved)), None),
                Ok(Err(error)) => self.failed = Some((job.wanted.clone(), error.to_string())),
                Err(mpsc::TryRecvError::Disconnected) => {
                    self.failed = Some((job.wanted.clone(), "the solver stopped unexpectedly".into()));
                }
                Err(mpsc::TryRecvError::Empty) => return,
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
        let wanted = body.and_then(|body| wanted(body, (impact, is_weakness), paint, stage));
        let Some(wanted) = wanted else { return };
        let is_shown = self.shown.as_ref().is_some_and(|shown| shown.wanted == wanted);
        let has_failed = self.failed.as_ref().is_some_and(|(failed, _)| *failed == wanted);
        if !is_shown && !has_failed {
            self.job = Some(Job::start(wanted, self.shown.clone()));
        }
    }

    /// Adds dots where the surface is in tension.
    pub fn draw(&self, stage: &Stage, made: &mut Overlay) {
        let Some(shown) = &self.shown else { return };
        let Some(body) = stage.body(shown.wanted.body) else { return };
        let (shape, state) = (&body.def.shape, &body.state);
        if !Arc::ptr_eq(shape, &shown.wanted.shape) {
            return;
        }
        let voxel = shape.unit_m() as f32;
        let leaves = shape.as_octree().map_or(0, |octree| octree.leaves().len());
        let wide = (leaves as f32 / shown.dots.len().max(1) as f32).sqrt().max(1.0);
        made.lift = made.lift.max(voxel);
        made.points.extend(shown.dots.iter().filter_map(|(local, cell)| {
            let share = (shown.tension[*cell as usize] / shown.brightest).clamp(0.0, 1.0);
            let opacity = (240.0 * share) as u8;
            (opacity > 16).then(|| Point {
                at: shape.to_world(state.position, state.rotation, *local).as_vec3(),
                color: [GOLD[0], GOLD[1], GOLD[2], opacity],
                radius_pixels: 0.8,
                radius_m: 0.6 * voxel * wide,
                back_pixels: 0.0,
            })
        }));
    }

    /// Dense dabs where the tension is greatest, not nearer to each other than `radius` (m), which share out `seeds` by their
    /// tension. Empty where no stress is shown.
    pub fn dabs(&self, object: u32, radius: f64, seeds: u32, most: usize) -> Vec<Dab> {
        let Some(shown) = &self.shown else { return Vec::new() };
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
            if places.iter().all(|(place, _)| place.distance(cell.centre) >= radius) {
                places.push((cell.centre, pull));
            }
        }
        let whole: f64 = places.iter().map(|(_, pull)| pull).sum();
        let amount = |pull: f64| (f64::from(seeds) * pull / whole).round().clamp(0.0, 1000.0);
        let dab = |(at, pull): (DVec3, f64)| Dab {
            kind: Paint::Dense,
            body: object,
            at,
            radius,
            amount: Some(amount(pull)),
        };
        places.into_iter().map(dab).filter(|dab| dab.amount() > 0.0).collect()
    }

    /// The body whose stress is shown.
    pub fn body(&self) -> Option<BodyId> {
        Some(self.shown.as_ref()?.wanted.body)
    }
}

/// What to solve for.
fn wanted(
    body: &Body,
    (impact, is_weakness): (Option<Impact>, bool),
    paint: &[Dab],
    stage: &Stage,
) -> Option<Wanted> {
    let shape = &body.def.shape;
    shape.as_octree()?;
    let object = stage.info_or_whole(body.id).object;
    let anchors = paint.iter().filter(|dab| dab.kind == Paint::Anchor && dab.body as usize == object);
    let anchors: Vec<Dab> = anchors.copied().collect();
    Some(Wanted {
        body: body.id,
        shape: Arc::clone(shape),
        blow: impact.map(|impact| (shape.shape_from_local(impact.point), impact.direction)),
        gravity: body.state.rotation.inverse() * stage.settings().gravity,
        is_weakness,
        is_free: anchors.is_empty() && (impact.is_some() || is_weakness) && !body.def.fixed,
        anchors,
        reach: REACH * body.def.object_size_m,
    })
}

impl Job {
    fn start(wanted: Wanted, last: Option<Arc<Solved>>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        let for_worker = wanted.clone();
        std::thread::spawn(move || {
            // The channel is closed only when nothing is wanted any more.
            let _ = sender.send(solve(for_worker, last.as_deref(), &cancel));
        });
        Self { wanted, receiver, _waits: waits }
    }
}

fn solve(wanted: Wanted, last: Option<&Solved>, cancel: &Cancel) -> Result<Solved, ElasticError> {
    let last = last.filter(|last| last.wanted.has_same_solver(&wanted));
    let (solver, dots) = match last {
        Some(last) => (Arc::clone(&last.solver), Arc::clone(&last.dots)),
        None => prepared(&wanted)?,
    };
    let (solution, tension) = if wanted.is_weakness {
        (None, solver.modes(MODES, cancel)?.weakness)
    } else {
        let load = match wanted.blow {
            Some((point, direction)) => Load::Blow { point, direction, radius: wanted.reach, newtons: 1.0 },
            None => Load::Acceleration(wanted.gravity),
        };
        let start = last.and_then(|last| last.solution.as_ref());
        let solution = solver.solve(&[load], &Settings::DISPLAY, start, cancel)?;
        let tension = solution.tension();
        (Some(solution), tension)
    };
    let mut sorted = tension.clone();
    sorted.sort_unstable_by(f32::total_cmp);
    let at = ((1.0 - BRIGHTEST) * sorted.len() as f64) as usize;
    let brightest = sorted.get(at).copied().unwrap_or(0.0).max(f32::MIN_POSITIVE);
    Ok(Solved { wanted, solver, solution, tension, brightest, dots })
}

/// A solver for the shape, and the dots on its surface.
fn prepared(wanted: &Wanted) -> Result<(Arc<Solver>, Arc<Vec<(DVec3, u32)>>), ElasticError> {
    let octree = wanted.shape.as_octree().ok_or(ElasticError::NoVoxels)?;
    let density = wanted.shape.density();
    let material = Material { youngs_modulus: STIFFNESS, poissons_ratio: POISSON, density };
    let body = Arc::new(ElasticBody::new(octree, LEVEL.min(octree.level()), material)?);
    let solver = if wanted.is_free {
        Solver::free(&body)
    } else {
        let anchors = &wanted.anchors;
        let reach = body.cell_size();
        if anchors.is_empty() {
            // It stands on its lowest cells.
            let down = wanted.gravity.normalize_or(DVec3::NEG_Y);
            let depth = |p: DVec3| p.dot(down);
            let deepest =
                body.faces().iter().map(|face| depth(face.centre)).fold(f64::NEG_INFINITY, f64::max);
            Solver::held(&body, |p| [depth(p) >= deepest - 0.75 * reach; 3])?
        } else {
            let touches = |p: DVec3| anchors.iter().any(|dab| p.distance(dab.at) <= dab.radius + 0.5 * reach);
            Solver::held(&body, |p| [touches(p); 3])?
        }
    };
    let leaves = octree.leaves();
    let step = leaves.len().div_ceil(MOST_DOTS).max(1);
    let dots = octree.forest.leaves.keys.slice(leaves).iter().step_by(step).filter_map(|key| {
        let voxel = crate::svo::morton::decode(key);
        let cell = body.cell_of_voxel(voxel)?;
        Some((DVec3::from_array(voxel.map(f64::from)) + 0.5, cell as u32))
    });
    let dots = Arc::new(dots.collect());
    Ok((Arc::new(solver), dots))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fracture::Cancel, mesh, shape::Octree, voxelize};

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
            anchors: Vec::new(),
            reach: 0.1,
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
        assert!(solved.solution.as_ref().unwrap().convergence.is_converged);
        assert_eq!(solved.tension.len(), solved.solver.body().len());
        assert!(solved.dots.iter().all(|(_, cell)| (*cell as usize) < solved.tension.len()));
        let view = StressView { shown: Some(Arc::new(solved)), ..StressView::default() };
        let report = view.report().unwrap();
        assert!(report.of_blow && report.greatest > 0.0 && report.problem.is_none());
        let side = bounds[1].x - bounds[0].x;
        let dabs = view.dabs(3, 0.1 * side, 40, 12);
        assert!((2..=12).contains(&dabs.len()), "{}", dabs.len());
        let seeds: f64 = dabs.iter().map(Dab::amount).sum();
        assert!((36.0..=44.0).contains(&seeds), "{seeds}");
        for (k, dab) in dabs.iter().enumerate() {
            assert!(dab.body == 3 && dabs[..k].iter().all(|other| other.at.distance(dab.at) >= 0.1 * side));
            assert!(dab.at.cmpge(bounds[0]).all() && dab.at.cmple(bounds[1]).all());
        }
        // The same blow again starts from its own solution.
        let last = view.shown.as_deref();
        let again = solve(wanted_as(last.unwrap()), last, Cancel::never()).unwrap();
        let convergence = again.solution.unwrap().convergence;
        assert!(convergence.iterations <= 1, "{convergence:?}");
        assert!(Arc::ptr_eq(&again.dots, &last.unwrap().dots));
        // Under its weight, standing on its lowest cells, a box is hardly pulled anywhere.
        let weight = solve(wanted(None), None, Cancel::never()).unwrap();
        let most = weight.tension.iter().copied().fold(0.0, f32::max);
        let press = 2000.0 * 9.81 * side as f32;
        assert!(most < 0.3 * press, "{most} {press}");
        let weak = Wanted { is_weakness: true, is_free: true, ..wanted(None) };
        let weak = solve(weak, None, Cancel::never()).unwrap();
        assert!(weak.solution.is_none() && weak.tension.len() == weak.solver.body().len());
        assert_eq!(weak.tension.iter().copied().fold(0.0, f32::max), 1.0);
    }

    fn wanted_as(solved: &Solved) -> Wanted {
        solved.wanted.clone()
    }
}
