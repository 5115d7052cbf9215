//! Side-by-side comparison: the document, and views that show the same blow in another way: by another method, with
//! kept settings, at another level, or as it was before.
//!
//! In: the document's stage and its blows, frame by frame. Out: for every view its bodies and the result of the last
//! blow. Views only read the document; each owns a world and octrees, freed with it. Fractures run on workers one after
//! the other, so that their times are comparable.

mod column;
mod differing;
mod levels;
mod outcome;
mod strike;
#[cfg(test)]
mod tests;
mod way;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub(super) use column::Column;
pub use differing::Differing;
pub(super) use differing::PieceTrees;
pub use outcome::{Broken, ColumnState, ColumnView};
pub(super) use strike::Strike;
pub use way::Way;

use super::{
    BreakLog, ObjectInfo, Tuning,
    jobs::Once,
    slices::{SliceScene, SliceView},
    stage::{Stage, Touch},
};
use crate::{
    compute::Compute, export::MeshTally, fracture::Passes, gpu::GpuError, render::Overlay, shape::Shape,
};

/// Most comparison views.
pub const MOST: usize = 2;
/// A pinned blow must be unchanged for this long before its fracture is computed.
const SETTLED_AFTER: Duration = Duration::from_millis(250);

/// The document's state that views follow.
pub(super) struct Context<'a> {
    /// The document's stage.
    pub stage: &'a Stage,
    /// Its objects, of which bodies at other levels are made.
    pub objects: &'a [Arc<ObjectInfo>],
    /// Its tuned values, which choose drawings of the inside.
    pub tuning: &'a Tuning,
    /// The pipelines of the methods.
    pub passes: &'a Arc<Passes>,
    /// Blows that led to the document's present state, the first one first.
    pub fallen: Vec<Strike>,
    /// Octrees of the pieces of the document's last break, while they are alive.
    pub own: Option<PieceTrees>,
    /// The pinned blow.
    pub pinned: Option<Strike>,
    /// Whether the document is computing a fracture or the user is changing a value.
    pub is_busy: bool,
    /// Whether the pinned blow has been unchanged for a while; set by [`Beside::update`].
    pub is_settled: bool,
}

/// The comparison views, and the statistics of the document's own pieces.
#[derive(Default)]
pub(super) struct Beside {
    columns: Vec<Column>,
    /// The document's last break, and the statistics of its pieces.
    own: Option<(usize, Once<MeshTally>)>,
    /// The pinned blow, and since when it has been unchanged.
    asked: Option<(Strike, Instant)>,
    pinned: Option<Strike>,
    /// The slices of each view.
    slices: Vec<SliceView>,
    revision: u64,
}

impl Beside {
    /// Shows views of these ways, at most [`MOST`]; existing views stay.
    ///
    /// # Errors
    /// [`GpuError`]; nothing has changed then.
    pub fn show(&mut self, ways: &[Way], compute: &Compute) -> Result<(), GpuError> {
        let new = ways.iter().take(MOST).filter(|way| self.columns.iter().all(|column| column.way() != *way));
        let mut new: Vec<Column> =
            new.map(|way| Column::new(way.clone(), compute)).collect::<Result<_, GpuError>>()?;
        let mut old = std::mem::take(&mut self.columns);
        for way in ways.iter().take(MOST) {
            let from = if old.iter().any(|column| column.way() == way) { &mut old } else { &mut new };
            if let Some(at) = from.iter().position(|column| column.way() == way) {
                self.columns.push(from.remove(at));
            }
        }
        if self.columns.is_empty() {
            *self = Self { revision: self.revision, ..Self::default() };
        }
        self.slices.iter_mut().for_each(|slices| slices.layer.forget());
        self.revision += 1;
        Ok(())
    }

    /// Moves the stages to another backend, which restarts all views.
    ///
    /// # Errors
    /// [`GpuError`]; there are no columns then.
    pub fn begin_on(&mut self, compute: &Compute) -> Result<(), GpuError> {
        let ways = self.ways();
        *self = Self { revision: self.revision, ..Self::default() };
        self.show(&ways, compute)
    }

    /// What the views change.
    pub fn ways(&self) -> Vec<Way> {
        self.columns.iter().map(|column| column.way().clone()).collect()
    }

    /// The views.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether there are no views.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Changes whenever the picture of a view may have changed.
    pub fn revision(&self) -> u64 {
        let slices = self.slices.iter().map(|slices| slices.layer.revision()).sum::<u64>();
        self.columns.iter().map(Column::revision).sum::<u64>() + slices + self.revision
    }

    /// The drawing of the inside of a view's last break, with the slices; 0 is the first view.
    pub fn overlay(&self, column: usize) -> Option<&Arc<Overlay>> {
        let inside = self.columns.get(column)?.overlay();
        self.slices.get(column).and_then(|slices| slices.layer.overlay()).or(inside)
    }

    /// Draws slices through the bodies of the views, as `scene_of` has them for a view and the pinned blow.
    pub fn draw_slices<'a>(&'a mut self, scene_of: impl Fn(&'a Column, Option<&Strike>) -> SliceScene<'a>) {
        if self.slices.len() < self.columns.len() {
            self.slices.resize_with(self.columns.len(), SliceView::default);
        }
        for (column, slices) in self.columns.iter().zip(&mut self.slices) {
            let inside = column.overlay().map(|overlay| &**overlay);
            slices.update(&scene_of(column, self.pinned.as_ref()), (inside, column.revision()));
        }
    }

    /// Whether a fracture is being computed.
    pub fn is_computing(&self) -> bool {
        self.columns.iter().any(Column::is_computing)
    }

    /// Whether a worker must be polled again soon.
    pub fn is_waiting(&self) -> bool {
        let counts = self.own.as_ref().is_some_and(|(_, counting)| counting.is_busy());
        let settling = self.asked.is_some() && self.columns.iter().any(|column| column.state().is_open());
        let is_busy = |column: &Column| column.is_computing() || column.is_waiting() || column.is_behind();
        counts || settling || self.columns.iter().any(is_busy)
    }

    /// Whether the document's time must wait for a view.
    pub fn holds_time(&self) -> bool {
        self.columns.iter().any(Column::is_behind)
    }

    /// Whether a step would change anything in a view.
    pub fn has_motion(&self) -> bool {
        self.columns.iter().any(Column::has_motion)
    }

    /// Follows the document without waiting.
    pub fn update(&mut self, mut cx: Context<'_>) {
        if self.columns.is_empty() {
            return;
        }
        let since = match (self.asked.take(), &cx.pinned) {
            (Some((asked, since)), Some(pinned)) if asked.is(pinned) => since,
            _ => Instant::now(),
        };
        self.asked = cx.pinned.clone().map(|pinned| (pinned, since));
        cx.is_settled = since.elapsed() >= SETTLED_AFTER;
        self.pinned.clone_from(&cx.pinned);
        self.columns.iter_mut().for_each(|column| column.update(&cx));
        let mut computing = cx.is_busy || self.is_computing();
        for column in &mut self.columns {
            computing = computing || column.start_next(&cx);
        }
        for column in &mut self.columns {
            self.revision += u64::from(column.count(&cx, !computing));
            self.revision += u64::from(column.look(&cx, !computing));
        }
        self.count_own(&cx, !computing);
    }

    /// Counts the meshes of the document's last break.
    fn count_own(&mut self, cx: &Context<'_>, may_start: bool) {
        let record = cx.fallen.last().and_then(Strike::record);
        if self.own.as_ref().map(|(known, _)| *known) != record {
            self.own = record.map(|record| (record, Once::default()));
        }
        let Some((record, counting)) = &mut self.own else { return };
        if may_start && counting.is_due() {
            let shapes: Vec<_> = pieces_of(cx.stage, *record).map(Arc::clone).collect();
            *counting = Once::start(move |cancel| MeshTally::of(&shapes, cancel).ok());
        }
        self.revision += u64::from(counting.poll());
    }

    /// Caption of the document's own view: its last blow, unless one is pinned.
    pub fn own_state(&self, stage: &Stage, breaks: &BreakLog) -> ColumnState {
        let Some((number, counting)) = self.own.as_ref().filter(|_| self.pinned.is_none()) else {
            return ColumnState::Whole;
        };
        let Some(record) = breaks.get(*number) else { return ColumnState::Whole };
        let parts: Vec<f64> = pieces_of(stage, *number).map(|shape| shape.mass().volume_m3).collect();
        let volume = parts.iter().sum::<f64>() + record.dropped + record.dust;
        ColumnState::Broken(Broken {
            seconds: record.seconds,
            pieces: parts.len(),
            volume_error: volume / record.whole.volume.max(f64::MIN_POSITIVE) - 1.0,
            meshes: counting.result().copied(),
            differing: None,
            counted_at: None,
            is_pinned: false,
        })
    }

    /// How the crack voxels of the first view differ from the document's, after a blow that has fallen.
    pub fn differing(&self) -> Option<&Arc<Differing>> {
        self.columns.first()?.differing()
    }

    /// The pinned blow.
    pub fn pinned(&self) -> Option<&Strike> {
        self.pinned.as_ref()
    }

    /// Takes a simulation step in all views, after one of the document, whose time is now `time` (s).
    pub fn step(&mut self, time: f64) {
        self.columns.iter_mut().for_each(|column| column.step(time));
    }

    /// Lets views started later catch up with the document at `time` (s), until `deadline`.
    pub fn catch_up(&mut self, time: f64, deadline: Instant) {
        self.columns.iter_mut().for_each(|column| column.catch_up(time, deadline));
    }

    /// Takes the document's new values over.
    pub fn go_by(&mut self, stage: &Stage, touches: &[Touch], moved: bool) {
        self.columns.iter_mut().for_each(|column| column.go_by(stage, touches, moved));
    }
}

/// Shapes of the pieces of a break that exist in the document.
fn pieces_of(stage: &Stage, record: usize) -> impl Iterator<Item = &Arc<Shape>> {
    let bodies = stage.bodies().iter();
    bodies
        .filter(move |body| stage.info_or_whole(body.id).origin.is_some_and(|origin| origin.record == record))
        .map(|body| &body.def.shape)
}
