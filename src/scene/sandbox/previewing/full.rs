//! Letting go: once nothing has moved for a moment, the preview is computed again at the body's own level.
//!
//! In: what is shown. Out: the same from the full octree, from a worker; whatever has moved meanwhile makes it stale, and it is dropped.

use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use super::{Sandbox, Shown, ShownPieces, Wanted};
use crate::{
    bodies::BodyDef,
    fracture::{Fracture, FractureError, Fracturer, Seams, Source, Surface},
    gpu::{Buffer, Gpu, GpuError},
    scene::{
        Cells,
        preview::{GROWTH, PreviewMode},
    },
    svo::Arena,
};

/// A hand that rests this long has let go.
const LET_GO_AFTER: Duration = Duration::from_millis(300);
/// What would take longer stays at the preview's level, ms. Seams are the same lines at every level, so they may cost less.
const MOST_SEAMS_MS: f64 = 250.0;
const MOST_PIECES_MS: f64 = 2500.0;

/// A full preview on its way.
pub(super) struct FullJob {
    wanted: Wanted,
    started: Instant,
    receiver: mpsc::Receiver<Result<Full, FractureError>>,
}

#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
enum Full {
    Seams(Seams, Cells),
    Pieces(Fracture, Cells),
}

impl Sandbox {
    /// Whether the preview at the body's own level, or a look inside, is on its way: pictures that show nothing new would only delay it.
    #[must_use]
    pub fn is_refining_preview(&self) -> bool {
        self.preview.full.is_some() || self.looking.is_reading()
    }

    pub(super) fn start_full(&mut self, object_level: u32) {
        let preview = &self.preview;
        let rested = preview.stamps.back().is_some_and(|t| t.elapsed() > LET_GO_AFTER);
        let (Some(done), None, true) = (&preview.done, &preview.full, rested && self.editing.is_none())
        else {
            return;
        };
        let growth = GROWTH.powi(object_level.saturating_sub(done.level) as i32);
        let most_ms = if done.mode == PreviewMode::Seams { MOST_SEAMS_MS } else { MOST_PIECES_MS };
        if preview.shown.is_none() || done.level >= object_level || preview.report.ms * growth > most_ms {
            return;
        }
        let wanted = Wanted { level: object_level, ..done.clone() };
        if preview.asked.as_ref() == Some(&wanted) {
            return;
        }
        let (Some(body), Ok(arena)) = (self.body(wanted.aim.body), self.arena.try_read()) else {
            return;
        };
        // The handles of the buffers are enough: the lock stays free for whatever comes meanwhile.
        let (arena, def) = (arena.clone(), body.def.clone());
        let (sender, receiver) = mpsc::channel();
        let (gpu, passes, asked) = (self.gpu.clone(), Arc::clone(&self.passes), wanted.clone());
        let intact = self.is_intact(wanted.aim.body);
        std::thread::spawn(move || {
            if let Some(fracturer) = passes.ready() {
                // The receiver only disappears with the sandbox.
                let _ = sender.send(compute(&gpu, fracturer, &arena, (&def, intact), &asked));
            }
        });
        self.preview.asked = Some(wanted.clone());
        self.preview.full = Some(FullJob { wanted, started: Instant::now(), receiver });
    }

    /// Shows what the worker has finished, if it still answers `now`; `true` when it does.
    pub(super) fn take_full(&mut self, now: &Wanted) -> bool {
        let Some(job) = &self.preview.full else {
            return false;
        };
        let result = match job.receiver.try_recv() {
            Err(mpsc::TryRecvError::Empty) => return false,
            Err(mpsc::TryRecvError::Disconnected) => None,
            Ok(result) => Some(result),
        };
        let Some(FullJob { wanted, started, .. }) = self.preview.full.take() else {
            return false;
        };
        let shown = match result {
            Some(Ok(full)) if wanted.covers(now) => self.shown_from(full, &wanted),
            Some(Err(error)) => {
                // The coarse one is still there.
                tracing::warn!("no full preview: {error}");
                None
            }
            _ => None,
        };
        let Some(shown) = shown else {
            return false;
        };
        self.replace(Some(shown));
        let report = &mut self.preview.report;
        (report.level, report.ms) = (wanted.level, started.elapsed().as_secs_f64() * 1e3);
        report.recomputed += 1;
        report.revision += 1;
        self.preview.done = Some(wanted);
        true
    }

    fn shown_from(&mut self, full: Full, wanted: &Wanted) -> Option<Shown> {
        let id = wanted.aim.body;
        match full {
            Full::Seams(seams, cells) => {
                let def = &self.body(id)?.def;
                let first = *def.octree().forest.tree_start.get(def.octree().tree as usize)?;
                Some(Shown::Seams { body: id, seams, first, kept: cells.kept.first().copied() })
            }
            Full::Pieces(fracture, cells) => {
                let pieces = ShownPieces::new(&self.gpu, self.body(id)?, &fracture, &cells).ok()?;
                self.arena.try_write().ok()?.insert(&self.gpu, &fracture.forest).ok()?;
                Some(Shown::Pieces(pieces))
            }
        }
    }
}

fn compute(
    gpu: &Gpu,
    fracturer: &Fracturer,
    arena: &Arena,
    (def, intact): (&BodyDef, bool),
    wanted: &Wanted,
) -> Result<Full, FractureError> {
    let cells = wanted.cells(def, intact)?;
    let pattern = &cells.pattern;
    let starts = &def.octree().forest.tree_start[def.octree().tree as usize..];
    let keys = &def.octree().forest.leaves.keys[starts[0] as usize..starts[1] as usize];
    if wanted.mode == PreviewMode::Seams && wanted.params.surface == Surface::Planar {
        let on_gpu = Buffer::from_slice(gpu, "full preview voxels", keys)?;
        let seams = fracturer.seams(gpu, &on_gpu, wanted.level, pattern)?;
        let waited = gpu.device.poll(wgpu::PollType::wait_indefinitely());
        waited.map_err(|error| GpuError::Driver(error.to_string()))?;
        return Ok(Full::Seams(seams, cells));
    }
    let source = Source::new(arena, &def.octree().forest, def.octree().tree)?;
    let fracture = fracturer.fracture(gpu, &source, pattern, &wanted.params.recipe())?;
    Ok(match wanted.mode {
        PreviewMode::Seams => Full::Seams(Seams::of_fracture(gpu, keys, &fracture, pattern)?, cells),
        PreviewMode::Exploded | PreviewMode::Off => Full::Pieces(fracture, cells),
    })
}
