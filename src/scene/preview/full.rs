//! Preview at the body's own level, computed once nothing has changed for a moment.
//!
//! In: the present preview. Out: the same preview from the full octree, from a worker. A result is dropped if something
//! changed meanwhile.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Preview, Shown, ShownPieces, Target, Wanted, level::GROWTH};
use crate::{
    bodies::{Body, BodyDef},
    compute::Compute,
    fracture::{Cancel, Fracture, FractureError, Fracturer, Seams, Source, Surface},
    scene::{Cells, PreviewMode, breaking::Workshop, jobs::Worker},
    svo::{Arena, KeyArray},
};

/// The user has let go if nothing changes for this long.
pub(super) const LET_GO_AFTER: Duration = Duration::from_millis(300);
/// Longest expected time for seams, ms; beyond it the preview stays at its level. Seams are the same lines at every
/// level, so a finer preview of them is worth less.
const MOST_SEAMS_MS: f64 = 250.0;
/// Longest expected time for pieces, ms.
const MOST_PIECES_MS: f64 = 2500.0;

/// The full preview being computed, and the last request.
#[derive(Default)]
pub(super) struct Full {
    job: Option<FullJob>,
    asked: Option<Wanted>,
}

struct FullJob {
    wanted: Wanted,
    started: Instant,
    /// Without a result where the pipelines could not be made.
    worker: Worker<Option<Result<Computed, FractureError>>>,
}

#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
enum Computed {
    Seams(Seams, Cells),
    Pieces(Fracture, Cells),
}

impl Full {
    /// Whether a worker is computing it.
    pub fn is_on_its_way(&self) -> bool {
        self.job.is_some()
    }

    /// Cancels it.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Preview {
    /// Starts a worker if the user has let go and the preview is worth refining.
    pub(super) fn start_full(&mut self, tools: Workshop<'_>, target: &Target<'_>) {
        let object_level = target.body.def.octree().level();
        let rested = self.stamps.back().is_some_and(|t| t.elapsed() > LET_GO_AFTER);
        let (Some(done), None, true) = (&self.done, &self.full.job, rested) else {
            return;
        };
        let growth = GROWTH.powi(object_level.saturating_sub(done.level) as i32);
        let most_ms = if done.mode == PreviewMode::Seams { MOST_SEAMS_MS } else { MOST_PIECES_MS };
        if self.shown.is_none() || done.level >= object_level || self.report.ms * growth > most_ms {
            return;
        }
        let wanted = Wanted { level: object_level, ..done.clone() };
        if self.full.asked.as_ref() == Some(&wanted) {
            return;
        }
        let Ok(arena) = tools.arena.try_read() else { return };
        // A clone of the buffers' handles suffices, so the lock is free for later changes.
        let (arena, def, intact) = (arena.clone(), target.body.def.clone(), target.intact);
        let (compute, passes, asked) = (tools.compute.clone(), Arc::clone(tools.passes), wanted.clone());
        let worker = Worker::start(move |cancel| {
            let fracturer = passes.ready::<Fracturer>()?;
            Some(computed(&compute, &fracturer, (&arena, cancel), (&def, intact), &asked))
        });
        self.full.asked = Some(wanted.clone());
        self.full.job = Some(FullJob { wanted, started: Instant::now(), worker });
    }

    /// Shows a finished preview if it still matches `now`, a blow on `body`; returns whether it does.
    pub(super) fn take_full(&mut self, tools: Workshop<'_>, body: &Body, now: &Wanted) -> bool {
        let Some(ended) = self.full.job.as_ref().and_then(|job| job.worker.ended()) else { return false };
        let Some(FullJob { wanted, started, .. }) = self.full.job.take() else {
            return false;
        };
        let shown = match ended.flatten() {
            Some(Ok(computed)) if wanted.covers(now) => shown_from(tools, body, computed),
            Some(Err(error)) => {
                // The coarse preview stays on display.
                tracing::warn!("no full preview: {error}");
                None
            }
            _ => None,
        };
        let Some(shown) = shown else {
            return false;
        };
        self.replace(Some(shown));
        let report = &mut self.report;
        (report.level, report.ms) = (wanted.level, started.elapsed().as_secs_f64() * 1e3);
        report.recomputed += 1;
        report.revision += 1;
        self.done = Some(wanted);
        true
    }
}

fn shown_from(tools: Workshop<'_>, body: &Body, computed: Computed) -> Option<Shown> {
    match computed {
        Computed::Seams(seams, cells) => {
            let octree = body.def.octree();
            let first = *octree.forest.tree_start.get(octree.tree as usize)?;
            Some(Shown::Seams { body: body.id, seams, first, kept: cells.kept.first().copied() })
        }
        Computed::Pieces(fracture, cells) => {
            let pieces = ShownPieces::new(tools.compute, body, &fracture, &cells).ok()?;
            tools.arena.try_write().ok()?.insert(&fracture.forest).ok()?;
            Some(Shown::Pieces(pieces))
        }
    }
}

fn computed(
    compute: &Compute,
    fracturer: &Fracturer,
    (arena, cancel): (&Arena, &Cancel),
    (def, intact): (&BodyDef, bool),
    wanted: &Wanted,
) -> Result<Computed, FractureError> {
    let cells = wanted.cells(def, intact)?;
    let pattern = &cells.pattern;
    let octree = def.octree();
    let keys = octree.forest.leaves.keys.slice(octree.leaves());
    if wanted.mode == PreviewMode::Seams && wanted.params.surface == Surface::Planar {
        let voxels = KeyArray::new(compute, "full preview voxels", keys, octree.level())?;
        let seams = fracturer.seams(&voxels, wanted.level, pattern)?;
        compute.wait()?;
        return Ok(Computed::Seams(seams, cells));
    }
    let source = Source::new(arena, &octree.forest, octree.tree)?.unless(cancel);
    let fracture = fracturer.fracture(&source, pattern, &wanted.params.recipe())?;
    Ok(match wanted.mode {
        PreviewMode::Seams => Computed::Seams(Seams::of_fracture(compute, keys, &fracture, pattern)?, cells),
        PreviewMode::Exploded | PreviewMode::Off => Computed::Pieces(fracture, cells),
    })
}
