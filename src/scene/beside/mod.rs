//! One blow by several methods, side by side: the document, and columns that show the same by other methods.
//!
//! In: the document's stage and its blows, frame by frame. Out: for every column bodies to draw and what came of the last
//! blow. Columns only read the document; each has a world and octrees of its own, which go when it goes. Fractures run on
//! workers, one after the other, so that each one's time is its own.

mod column;
mod counting;
mod strike;
#[cfg(test)]
mod tests;
mod way;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub(super) use column::Column;
pub(super) use strike::Strike;
pub use way::Way;

use self::counting::Counting;
use super::{
    BreakLog,
    stage::{Stage, Touch},
};
use crate::{compute::Compute, export::MeshTally, fracture::Passes, gpu::GpuError, shape::Shape};

/// Columns beside the document, at most.
pub const MOST: usize = 2;
/// The pinned blow must stay the same so long before it is computed.
const SETTLED_AFTER: Duration = Duration::from_millis(250);

/// What came of a blow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Broken {
    /// Wall-clock time of the fracture, s.
    pub seconds: f64,
    /// Pieces.
    pub pieces: usize,
    /// Volume of all pieces, of dust and of what was taken away, divided by that of what broke, minus 1.
    pub volume_error: f64,
    /// Their meshes; `None` while they are being counted.
    pub meshes: Option<MeshTally>,
    /// Whether the blow is pinned and has not fallen.
    pub is_pinned: bool,
}

/// What a column shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnState {
    /// Nothing has broken.
    Whole,
    /// The blow is being computed.
    Breaking,
    /// The method does not break it: why.
    Refused(String),
    /// Pieces.
    Broken(Broken),
}

/// A column for its caption.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnView {
    /// How it breaks, or how it was broken.
    pub way: Way,
    /// What it shows.
    pub state: ColumnState,
}

/// What columns follow.
pub(super) struct Context<'a> {
    /// The document's stage.
    pub stage: &'a Stage,
    /// The stages of the methods.
    pub passes: &'a Arc<Passes>,
    /// Blows that led to what stands there, the first one first.
    pub fallen: Vec<Strike>,
    /// The pinned blow.
    pub pinned: Option<Strike>,
    /// Whether the document's own fracture is on its way, or a value is being changed by hand.
    pub is_busy: bool,
    /// Whether the pinned blow has been the same for a while; [`Beside::update`] says so.
    pub is_settled: bool,
}

impl Context<'_> {
    /// All blows, in the order in which they are to be computed.
    pub fn wanted(&self) -> impl Iterator<Item = &Strike> {
        self.fallen.iter().chain(&self.pinned)
    }
}

/// The columns, and what is known of the document's own pieces.
#[derive(Default)]
pub(super) struct Beside {
    columns: Vec<Column>,
    /// The document's last break, and the count of its pieces' meshes.
    own: Option<(usize, Counting)>,
    /// The pinned blow, and since when it has been the same.
    asked: Option<(Strike, Instant)>,
    last: Option<Strike>,
    pinned: Option<Strike>,
    /// When the blows fell, s.
    times: Vec<f64>,
    revision: u64,
}

impl Beside {
    /// Shows these ways from now on, [`MOST`] of them; a column that is there already stays.
    ///
    /// # Errors
    /// [`GpuError`]; nothing has changed then.
    pub fn show(&mut self, ways: &[Way], compute: &Compute) -> Result<(), GpuError> {
        let new =
            ways.iter().take(MOST).filter(|way| self.columns.iter().all(|column| column.way() != **way));
        let mut new: Vec<Column> =
            new.map(|way| Column::new(*way, compute)).collect::<Result<_, GpuError>>()?;
        let mut old = std::mem::take(&mut self.columns);
        for way in ways.iter().take(MOST) {
            let from = if old.iter().any(|column| column.way() == *way) { &mut old } else { &mut new };
            if let Some(at) = from.iter().position(|column| column.way() == *way) {
                self.columns.push(from.remove(at));
            }
        }
        if self.columns.is_empty() {
            *self = Self { revision: self.revision, ..Self::default() };
        }
        self.revision += 1;
        Ok(())
    }

    /// Stages run there from now on: columns begin anew.
    ///
    /// # Errors
    /// [`GpuError`]; there are no columns then.
    pub fn begin_on(&mut self, compute: &Compute) -> Result<(), GpuError> {
        let ways = self.ways();
        *self = Self { revision: self.revision, ..Self::default() };
        self.show(&ways, compute)
    }

    /// The columns' ways.
    pub fn ways(&self) -> Vec<Way> {
        self.columns.iter().map(Column::way).collect()
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Changes whenever a column's picture may have changed.
    pub fn revision(&self) -> u64 {
        self.columns.iter().map(Column::revision).sum::<u64>() + self.revision
    }

    /// Whether a fracture is being computed.
    pub fn is_computing(&self) -> bool {
        self.columns.iter().any(Column::is_computing)
    }

    /// Whether a worker is to be asked again soon.
    pub fn is_waiting(&self) -> bool {
        let counts = self.own.as_ref().is_some_and(|(_, counting)| counting.is_busy());
        let settling =
            self.asked.is_some() && self.columns.iter().any(|column| self.state_of(column).is_open());
        counts
            || settling
            || self.columns.iter().any(|c| c.is_computing() || c.is_counting() || c.is_behind())
    }

    /// Whether the document's time must wait for a column.
    pub fn holds_time(&self) -> bool {
        self.columns.iter().any(Column::is_behind)
    }

    /// Whether a step would change anything in a column.
    pub fn has_motion(&self) -> bool {
        self.columns.iter().any(Column::has_motion)
    }

    /// Follows the document. Never waits.
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
        (self.last, self.pinned) = (cx.wanted().last().cloned(), cx.pinned.clone());
        self.times = cx.fallen.iter().map(|strike| strike.time).collect();
        self.columns.iter_mut().for_each(|column| column.update(&cx));
        let mut computing = cx.is_busy || self.is_computing();
        for column in &mut self.columns {
            computing = computing || column.start_next(&cx);
        }
        for column in &mut self.columns {
            self.revision += u64::from(column.count(&cx, !computing));
        }
        self.count_own(&cx, !computing);
    }

    /// Counts the meshes of what the document's last blow left.
    fn count_own(&mut self, cx: &Context<'_>, may_start: bool) {
        let record = cx.fallen.last().and_then(Strike::record);
        if self.own.as_ref().map(|(known, _)| *known) != record {
            self.own = record.map(|record| (record, Counting::default()));
        }
        let Some((record, counting)) = &mut self.own else { return };
        if may_start && counting.is_due() {
            let shapes = pieces_of(cx.stage, *record).map(Arc::clone).collect();
            *counting = Counting::start(shapes);
        }
        self.revision += u64::from(counting.poll());
    }

    /// What the document's own column tells: of its last blow, as long as none is pinned.
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
            meshes: counting.tally(),
            is_pinned: false,
        })
    }

    /// What a column tells.
    pub fn state_of(&self, column: &Column) -> ColumnState {
        column.state(self.last.as_ref())
    }

    /// The pinned blow.
    pub fn pinned(&self) -> Option<&Strike> {
        self.pinned.as_ref()
    }

    /// A step of time, after one of the document, whose time is `time` (s) now.
    pub fn step(&mut self, time: f64) {
        self.columns.iter_mut().for_each(|column| column.step(time));
    }

    /// Lets columns that began later come as far as the document, whose time is `time` (s), until `deadline`.
    pub fn catch_up(&mut self, time: f64, deadline: Instant) {
        for column in &mut self.columns {
            let next = self.times.get(column.blows()).copied();
            column.catch_up(time, next, deadline);
        }
    }

    /// Goes by the document's values from now on.
    pub fn go_by(&mut self, stage: &Stage, touches: &[Touch], moved: bool) {
        self.columns.iter_mut().for_each(|column| column.go_by(stage, touches, moved));
    }
}

impl ColumnState {
    /// Whether something is still to come.
    fn is_open(&self) -> bool {
        *self == Self::Breaking
    }
}

/// Shapes of the pieces there that a break left.
fn pieces_of(stage: &Stage, record: usize) -> impl Iterator<Item = &Arc<Shape>> {
    let bodies = stage.bodies().iter();
    bodies
        .filter(move |body| stage.info_or_whole(body.id).origin.is_some_and(|origin| origin.record == record))
        .map(|body| &body.def.shape)
}
