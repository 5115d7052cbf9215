//! Preview of methods that part an intact body alike wherever the blow falls: by a closed mesh, and by the parts that are
//! there.
//!
//! In: the body aimed at, its parameters. Out: lines where the method will part the body, over the picture; or its parts, in
//! its place. A worker makes them, since a file is read and a mesh taken apart. There is one worker at a time.

use std::{
    fs,
    sync::{Arc, Weak},
    time::SystemTime,
};

use glam::Vec3;

use crate::{
    bodies::{Body, BodyDef, BodyId},
    fracture::{
        BreakContext, Cancel, FractureError, FractureParams, Impact, Passes, SeedSource, Strike, break_shape,
        cutter, parts,
    },
    render::{Line, Overlay},
    scene::{
        PreviewMode,
        breaking::{Workshop, seeds_in_local, world_from_local_matrix},
        jobs::Worker,
        layer::Layer,
        stage::Stage,
    },
    shape::Shape,
    svo::Arena,
};

/// Colour of a line, sRGB and opacity.
const COLOR: [u8; 4] = [255, 214, 92, 235];
/// Width of a line, pixels.
const WIDTH: f32 = 1.5;
/// Opacity factor of lines within the body.
const THROUGH: f32 = 0.45;

/// What a result depends on.
#[derive(Clone)]
pub(super) struct Asked {
    body: BodyId,
    // Weak, since it must not keep octrees alive that no body uses.
    shape: Weak<Shape>,
    params: FractureParams,
    mode: PreviewMode,
    /// When the file that the parameters name was written.
    written: Option<SystemTime>,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.shape.ptr_eq(&other.shape)
            && (self.body, self.mode, self.written) == (other.body, other.mode, other.written)
            && self.params == other.params
    }
}

impl Asked {
    pub fn of(body: &Body, params: &FractureParams, mode: PreviewMode) -> Self {
        let written = params.seeds_file.as_ref().and_then(|file| fs::metadata(file).ok()?.modified().ok());
        // A random seed changes nothing.
        let params = FractureParams { rng: 0, ..params.clone() };
        Self { body: body.id, shape: Arc::downgrade(&body.def.shape), params, mode, written }
    }

    /// Whether a result for one may stay while that for the other is made.
    fn is_like(&self, other: &Self) -> bool {
        let method = self.params.method == other.params.method;
        method && (self.body, self.mode) == (other.body, other.mode)
    }
}

/// What a worker made.
#[derive(Default)]
struct Made {
    /// In local space of the body's shape.
    lines: Vec<[Vec3; 2]>,
    shapes: Vec<Arc<Shape>>,
}

/// The last result, whether it is on display, and its lines over the picture.
#[derive(Default)]
pub(in crate::scene) struct Outlined {
    job: Option<(Asked, Worker<Result<Made, FractureError>>)>,
    made: Option<(Asked, Made)>,
    failed: Option<FractureError>,
    is_shown: bool,
    /// Counts the results that were shown.
    shown: u64,
    /// Made from that count, and the revisions of the stage and of the overlay below.
    pub layer: Layer<(u64, u64, u64)>,
}

impl Outlined {
    /// Whether a worker is making something.
    pub fn is_on_its_way(&self) -> bool {
        self.job.is_some()
    }

    /// Whether anything is on display.
    pub fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Takes what is made from the display. Parts that were shown are gone then.
    pub fn hide(&mut self) {
        self.is_shown = false;
        self.made.take_if(|(asked, _)| asked.mode == PreviewMode::Exploded);
    }

    /// Takes in the result of the worker, if there is one.
    pub fn poll(&mut self) {
        let Some((_, worker)) = &self.job else { return };
        let Some(result) = worker.ended() else { return };
        let result = result.unwrap_or_else(|| Ok(Made::default()));
        let Some((asked, _)) = self.job.take() else { return };
        self.is_shown = false;
        self.failed = None;
        let made = result.unwrap_or_else(|error| {
            self.failed = Some(error);
            Made::default()
        });
        self.made = Some((asked, made));
    }

    /// Starts a worker for `asked` unless one is busy or its result is there. `impact` in local space of the body.
    pub(super) fn make(&mut self, asked: &Asked, tools: &Workshop<'_>, def: &BodyDef, impact: Impact) {
        if self.job.is_none()
            && self.made.as_ref().is_none_or(|(made, _)| made != asked)
            && let Ok(arena) = tools.arena.try_read()
        {
            let (arena, passes, def) = (arena.clone(), Arc::clone(tools.passes), def.clone());
            let question = asked.clone();
            let work = move |cancel: &Cancel| made(&question, (&def, impact), &arena, &passes, cancel);
            self.job = Some((asked.clone(), Worker::start(work)));
        }
    }

    /// Whether there is a result that may be shown for `asked`: while a slider moves the last one stays.
    pub(super) fn has(&self, asked: &Asked) -> bool {
        self.made.as_ref().is_some_and(|(made, _)| made.is_like(asked))
    }

    /// Why there is no result, once.
    pub fn failure(&mut self) -> Option<FractureError> {
        self.failed.take()
    }

    /// The parts to show, once.
    pub fn take_shapes(&mut self) -> Vec<Arc<Shape>> {
        self.made.as_mut().map_or_else(Vec::new, |(_, made)| std::mem::take(&mut made.shapes))
    }

    /// Notes that the result is on display: what was shown before is gone, and with it parts that it showed.
    pub fn show(&mut self) {
        self.is_shown = true;
        self.shown += 1;
    }

    /// Updates the lines over the picture, on top of the overlay `below` with its revision. There are none unless `fits`, that
    /// is, bodies are drawn where they are.
    pub fn draw(&mut self, fits: bool, stage: &Stage, below: (Option<&Overlay>, u64)) {
        let lines = self.made.as_ref().filter(|_| fits && self.is_shown);
        let lines = lines.filter(|(_, made)| !made.lines.is_empty());
        let there = lines.and_then(|(asked, made)| Some((stage.body(asked.body)?, &made.lines)));
        let Some((body, lines)) = there else {
            self.layer.hide();
            return;
        };
        if !self.layer.begin((self.shown, stage.revision(), below.1)) {
            return;
        }
        let world_from_local = world_from_local_matrix(&body.state, &body.def.shape);
        let line = |ends: &[Vec3; 2]| {
            let [start, end] = ends.map(|p| world_from_local.transform_point3(p));
            Line { start, color: COLOR, end, width: WIDTH }
        };
        let mut drawn = below.0.cloned().unwrap_or_default();
        drawn.lines.extend(lines.iter().map(line));
        drawn.through = drawn.through.max(THROUGH);
        drawn.lift = drawn.lift.max(body.def.shape.unit_m() as f32);
        self.layer.show(drawn);
    }
}

/// Nothing where the method cuts by a mesh and none was chosen yet.
fn made(
    asked: &Asked,
    (def, impact): (&BodyDef, Impact),
    arena: &Arena,
    passes: &Passes,
    cancel: &Cancel,
) -> Result<Made, FractureError> {
    let (params, cuts) = (&asked.params, asked.params.method == cutter::METHOD.id());
    let seeds = if cuts { seeds_in_local(params, def)? } else { None };
    if cuts && seeds.is_none() {
        return Ok(Made::default());
    }
    cancel.check()?;
    if asked.mode == PreviewMode::Exploded {
        let strike = Strike { preview: true, seeds: seeds.as_ref(), ..Strike::new(impact, params) };
        let broken = break_shape(&BreakContext { arena, passes, cancel }, &def.shape, &strike)?;
        let shapes = broken.parts.into_iter().map(|part| part.shape).collect();
        return Ok(Made { shapes, ..Made::default() });
    }
    let lines = match &seeds {
        Some(SeedSource::Cutter(mesh)) => cutter::outline(mesh, params, &def.shape),
        _ => parts::outline(&def.shape)?,
    };
    let lines = lines.into_iter().map(|ends| ends.map(|p| p.as_vec3())).collect();
    Ok(Made { lines, ..Made::default() })
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::{
        compute::{Choice, Compute},
        fracture::Surface,
        scene::{
            Arrived, Sandbox, Scene,
            sandbox::testing::{aim, until},
        },
    };

    fn settle(sandbox: &mut Sandbox) {
        loop {
            sandbox.update_preview().unwrap();
            if !sandbox.is_preparing_preview() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        sandbox.update_preview().unwrap();
        sandbox.update_touching().unwrap();
    }

    fn lines(sandbox: &Sandbox) -> Vec<Line> {
        sandbox.inside_overlay().map_or(Vec::new(), |overlay| overlay.lines.clone())
    }

    #[test]
    fn a_cutter_is_outlined_where_it_will_cut_and_leaves_its_pieces_alone() {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh("builtin:vase", 5));
        until(&mut sandbox, Arrived::Opened);
        let mut tuning = sandbox.tuning().clone();
        tuning.fracture = tuning.fracture.by(cutter::METHOD.id(), Surface::Planar);
        let aimed = aim(&sandbox);
        sandbox.set_aim(Some(aimed));
        sandbox.tune("method", tuning.clone());
        settle(&mut sandbox);
        assert!(lines(&sandbox).is_empty(), "no mesh was chosen yet");
        tuning.fracture.seeds_file = Some("builtin:sphere".into());
        tuning.fracture.options.extend([("fit".to_owned(), 1.0), ("scale".to_owned(), 0.9)]);
        sandbox.tune("cutter", tuning.clone());
        settle(&mut sandbox);
        let (low, high) = sandbox.bounds(None).unwrap();
        let (middle, radius) = (low.midpoint(high), 0.45 * (high - low).max_element());
        let drawn = lines(&sandbox);
        assert!(drawn.len() > 100);
        for p in drawn.iter().flat_map(|line| [line.start, line.end]) {
            assert!((p.distance(middle) - radius).abs() < 0.2 * radius, "{p} round {middle}");
        }
        // Another place of the same body changes nothing.
        let made = sandbox.preview().recomputed;
        let elsewhere = crate::scene::Aim { point_in_grid: aimed.point_in_grid + DVec3::ONE, ..aimed };
        sandbox.set_aim(Some(elsewhere));
        assert!(!sandbox.update_preview().unwrap() && !sandbox.is_preparing_preview());
        assert_eq!(sandbox.preview().recomputed, made);

        tuning.view.preview = PreviewMode::Exploded;
        sandbox.tune("view", tuning.clone());
        settle(&mut sandbox);
        assert!(lines(&sandbox).is_empty());
        let apart = sandbox.shown_bodies(None).len();
        tuning.view.preview = PreviewMode::Off;
        sandbox.tune("view", tuning);
        settle(&mut sandbox);
        assert_eq!((sandbox.shown_bodies(None).len(), lines(&sandbox).len()), (1, 0));

        let (body, place) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
        sandbox.break_at(body, place, DVec3::NEG_Y);
        until(&mut sandbox, Arrived::Broke);
        assert!(apart > 1 && sandbox.bodies().len() == apart);
        let (piece, place) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
        sandbox.break_at(piece, place, DVec3::NEG_Y);
        let said = (0..60_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            sandbox.poll().err()
        });
        assert!(said.is_some_and(|error| error.to_string().contains("leaves this piece as it is")));
        assert_eq!(sandbox.bodies().len(), apart);
    }
}
