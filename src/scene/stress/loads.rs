//! Solves for the stress of a body under one load, or for its weakness, which no load changes.
//!
//! In: a body, what holds it, a blow or nothing. Out: tension of its cells, and of dots on its surface; by a worker, or by
//! the caller, who waits.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use rayon::prelude::*;

use crate::{
    bodies::{Body, BodyId, structure::Structure},
    elastic::{Convergence, ElasticBody, ElasticError, Load, Solver, Weakness},
    fracture::{Cancel, Dab, Impact, Paint},
    gpu::Gpu,
    scene::{
        BodyStrength, BodyStress, StressLoad,
        body_stress::{REACH, SETTINGS, elastic_body},
        document::Document,
        stage::Stage,
    },
    shape::{Octree, Shape},
    svo::morton,
};

/// Most dots.
const MOST_DOTS: usize = 60_000;
/// The tension that is brightest is exceeded in this share of the dots.
const BRIGHTEST: f64 = 0.02;

/// What is loaded, and how.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) body: BodyId,
    pub(super) shape: Arc<Shape>,
    /// The blow, shape space; `None`: the weight.
    pub(super) blow: Option<(DVec3, DVec3)>,
    /// Gravity, body axes, m/s^2.
    pub(super) gravity: DVec3,
    /// Whether the weakness is wanted, whatever loads the body.
    pub(super) is_weakness: bool,
    /// Whether nothing holds the body.
    pub(super) is_free: bool,
    pub(super) anchors: Anchors,
    /// Radius, m, and force of the blow, N.
    pub(super) reach: f64,
    pub(super) newtons: f64,
    /// The device whose passes may solve for its stress.
    pub(super) device: Option<Gpu>,
}

/// What holds a body, or nothing.
#[derive(Clone, Default)]
pub(super) struct Anchors {
    dabs: Vec<Dab>,
    /// Boxes in the world, m.
    boxes: Vec<[DVec3; 2]>,
    /// The height up to which the floor holds it, world, m.
    floor: Option<f64>,
    /// Where the body lies among these.
    pose: (DVec3, DQuat),
    /// Of a body that bonds hold: its structure, where parts of that are anchored.
    structure: Option<Arc<Structure>>,
}

impl Anchors {
    fn of(body: &Body, strength: &BodyStrength, dabs: Vec<Dab>, floor: Option<f64>) -> Self {
        if let Some(structure) = &body.def.structure {
            let structure = structure.is_anchored().then(|| Arc::clone(structure));
            return Self { dabs, structure, ..Self::default() };
        }
        let (boxes, floor) = strength.anchors_of(body, floor);
        let is_there = !boxes.is_empty() || floor.is_some();
        let pose = if is_there { (body.state.position, body.state.rotation) } else { Self::default().pose };
        Self { dabs, boxes, floor, pose, structure: None }
    }

    fn is_empty(&self) -> bool {
        self.dabs.is_empty() && self.boxes.is_empty() && self.floor.is_none() && self.structure.is_none()
    }

    /// Whether they hold a point of shape space (m), or one that is as near as `reach` (m).
    fn hold(&self, p: DVec3, shape: &Shape, reach: f64) -> bool {
        let is_anchored = |structure: &Arc<Structure>| {
            structure.part_at(p).is_some_and(|part| structure.parts[part as usize].anchored)
        };
        let world = || shape.to_world(self.pose.0, self.pose.1, shape.local_from_shape(p));
        let in_box = |[low, high]: &[DVec3; 2]| {
            let world = world();
            world.cmpge(*low - reach).all() && world.cmple(*high + reach).all()
        };
        self.dabs.iter().any(|dab| p.distance(dab.at) <= dab.radius + reach)
            || self.structure.as_ref().is_some_and(is_anchored)
            || self.floor.is_some_and(|top| world().y <= top + reach)
            || self.boxes.iter().any(in_box)
    }
}

impl PartialEq for Anchors {
    fn eq(&self, other: &Self) -> bool {
        let parts = |anchors: &Self| -> Vec<(u32, *const Shape)> {
            let all = anchors.structure.iter().flat_map(|structure| &structure.parts);
            all.filter(|part| part.anchored).map(|part| (part.number, Arc::as_ptr(&part.shape))).collect()
        };
        (&self.dabs, &self.boxes, self.floor, self.pose)
            == (&other.dabs, &other.boxes, other.floor, other.pose)
            && parts(self) == parts(other)
    }
}

impl Wanted {
    fn has_same_solver(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shape, &other.shape)
            && (self.is_free, self.is_weakness) == (other.is_free, other.is_weakness)
            && self.blow.is_some() == other.blow.is_some()
            && self.anchors == other.anchors
            && match (&self.device, &other.device) {
                (Some(one), Some(two)) => one.is_same(two),
                (one, two) => one.is_none() && two.is_none(),
            }
            && (self.blow.is_some() || self.is_weakness || self.gravity == other.gravity)
    }
}

impl PartialEq for Wanted {
    fn eq(&self, other: &Self) -> bool {
        let of_blow = |wanted: &Self| (wanted.blow, wanted.reach, wanted.newtons);
        self.has_same_solver(other) && self.body == other.body && of_blow(self) == of_blow(other)
    }
}

/// A solved load.
pub(super) struct Solved {
    pub(super) wanted: Wanted,
    pub(super) solver: Arc<Solver>,
    /// The stress; none of a weakness.
    pub(super) stress: Option<Arc<BodyStress>>,
    /// The weakness; none of a stress.
    pub(super) weakness: Option<Arc<Weakness>>,
    /// Tension of each cell, Pa, or its weakness, 0 to 1.
    pub(super) tension: Vec<f32>,
    pub(super) dots: Arc<Dots>,
    /// Tension or weakness of each dot, and that of the brightest.
    pub(super) at_dots: Vec<f32>,
    pub(super) brightest: f32,
}

/// Dots spread evenly over the surface of a body.
pub(super) struct Dots {
    /// Places in local space, and indices of the cells they lie in.
    pub(super) places: Vec<(DVec3, u32)>,
    /// Side of the blocks of voxels with one dot each, voxels.
    pub(super) block: u32,
}

/// What to solve for.
pub(super) fn wanted(
    body: &Body,
    (impact, is_weakness): (Option<Impact>, bool),
    document: &Document,
    stage: &Stage,
) -> Option<Wanted> {
    let shape = &body.def.shape;
    shape.as_octree()?;
    let object = stage.info_or_whole(body.id).object;
    let dabs = document.paint_on(object).into_iter().filter(|dab| dab.kind == Paint::Anchor).collect();
    let anchors = Anchors::of(body, &document.strength_of(object), dabs, stage.settings().floor);
    let narrow = stage.settings().narrow;
    Some(Wanted {
        body: body.id,
        shape: Arc::clone(shape),
        blow: impact.map(|impact| (shape.shape_from_local(impact.point), impact.direction)),
        gravity: body.state.rotation.inverse() * stage.settings().gravity,
        is_weakness,
        is_free: is_weakness || anchors.is_empty() && impact.is_some() && !body.def.fixed,
        anchors,
        reach: REACH * body.def.object_size_m,
        newtons: 1.0,
        device: stage.compute().gpu().filter(|gpu| !is_weakness && narrow.wants(gpu)).cloned(),
    })
}

/// The stress of a load, if it is near enough.
pub(super) fn converged(solved: Solved) -> Result<Arc<BodyStress>, ElasticError> {
    let stress = solved.stress.ok_or(ElasticError::NothingLoaded)?;
    let Convergence { iterations, error, is_converged } = stress.solution().convergence;
    if is_converged { Ok(stress) } else { Err(ElasticError::NotConverged { iterations, error }) }
}

pub(super) fn solve(wanted: Wanted, last: Option<&Solved>, cancel: &Cancel) -> Result<Solved, ElasticError> {
    let last = last.filter(|last| last.wanted.has_same_solver(&wanted));
    let (solver, dots) = match last {
        Some(last) => (Arc::clone(&last.solver), Arc::clone(&last.dots)),
        None => prepared(&wanted)?,
    };
    let (stress, weakness, tension) = if wanted.is_weakness {
        let weakness = Weakness::new(solver.body(), cancel)?;
        let of_cells = weakness.of_cells().to_vec();
        (None, Some(Arc::new(weakness)), of_cells)
    } else {
        let (load, of) = match wanted.blow {
            Some((point, direction)) => {
                let (radius, newtons) = (wanted.reach, wanted.newtons);
                (Load::Blow { point, direction, radius, newtons }, StressLoad::of_blow(newtons))
            }
            None => (Load::Acceleration(wanted.gravity), StressLoad::Weight),
        };
        let start = last.and_then(|last| last.stress.as_ref()).map(|stress| stress.solution());
        let solution = solver.solve(&[load], &SETTINGS, start, cancel)?;
        let tension = solution.tension();
        (Some(Arc::new(BodyStress::new(solution, of))), None, tension)
    };
    let value = |(local, cell): &(DVec3, u32)| {
        let place = wanted.shape.shape_from_local(*local);
        let smooth = stress.as_ref().and_then(|stress| stress.solution().tension_at(place));
        smooth.map_or(tension[*cell as usize], |tension| tension as f32)
    };
    let at_dots: Vec<f32> = dots.places.par_iter().map(value).collect();
    let mut sorted = at_dots.clone();
    sorted.sort_unstable_by(f32::total_cmp);
    let at = ((1.0 - BRIGHTEST) * sorted.len() as f64) as usize;
    // Few dots lie at cracks, and the weakest of these has a weakness of 1.
    let brightest = if wanted.is_weakness { 1.0 } else { sorted.get(at).copied().unwrap_or(0.0) };
    let brightest = brightest.max(f32::MIN_POSITIVE);
    Ok(Solved { wanted, solver, stress, weakness, tension, dots, at_dots, brightest })
}

/// A solver for the shape, and the dots on its surface.
fn prepared(wanted: &Wanted) -> Result<(Arc<Solver>, Arc<Dots>), ElasticError> {
    let octree = wanted.shape.as_octree().ok_or(ElasticError::NoVoxels)?;
    let body = elastic_body(&wanted.shape, wanted.shape.density())?;
    let solver = if wanted.is_free {
        Solver::free(&body)
    } else {
        let reach = 0.5 * body.cell_size();
        let touches = |p: DVec3| wanted.anchors.hold(p, &wanted.shape, reach);
        match wanted.anchors.is_empty() {
            true => Solver::standing(&body, wanted.gravity)?,
            false => Solver::held(&body, |p| [touches(p); 3])?,
        }
    };
    let dots = Arc::new(dots(octree, &body));
    Ok((Arc::new(solver.in_passes(wanted.device.as_ref())), dots))
}

/// A dot for each block of boundary voxels that has a cell: on the voxel nearest to the middle of the block's voxels. Blocks are
/// as small as [`MOST_DOTS`] allows.
fn dots(octree: &Octree, body: &ElasticBody) -> Dots {
    let keys: Vec<u64> = octree.forest.leaves.keys.slice(octree.leaves()).iter().collect();
    let mut bits = 0;
    while keys.chunk_by(|a, b| a >> (3 * bits) == b >> (3 * bits)).count() > MOST_DOTS {
        bits += 1;
    }
    let middle = |key: &u64| DVec3::from_array(morton::decode(*key).map(f64::from)) + 0.5;
    let places = keys.chunk_by(|a, b| a >> (3 * bits) == b >> (3 * bits)).filter_map(|block| {
        let mean = block.iter().map(middle).sum::<DVec3>() / block.len() as f64;
        let off = |key: &u64| middle(key).distance_squared(mean);
        let nearest = block.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
        Some((middle(nearest), body.cell_of_voxel(morton::decode(*nearest))? as u32))
    });
    Dots { places: places.collect(), block: 1 << bits }
}
