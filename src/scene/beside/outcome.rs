//! What came of a blow in a comparison view, and what captions say.
//!
//! In: a break, or why there is none. Out: figures, which workers count, and drawings of the inside of the break.

use std::sync::Arc;

use super::{
    Way,
    differing::{Differing, PieceTrees},
    strike::Strike,
};
use crate::{
    bodies::{BodyDef, BodyState},
    export::MeshTally,
    fracture::{Break, Passes},
    render::Overlay,
    scene::{
        InsideView,
        jobs::Once,
        looking::{BreakInside, OneBreak},
    },
};

/// Result of a blow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Broken {
    /// Wall-clock time of the fracture, s.
    pub seconds: f64,
    /// Number of pieces.
    pub pieces: usize,
    /// Relative error of the volume: pieces, dust and dropped parts over the broken body, minus 1.
    pub volume_error: f64,
    /// Statistics of their meshes; `None` while they are being counted.
    pub meshes: Option<MeshTally>,
    /// Numbers of crack voxels without copies: of the document and this view, of the document alone, of this view
    /// alone; `None` until they are counted, and where one of the two has no voxels.
    pub differing: Option<[usize; 3]>,
    /// Level of the grid on which these are counted: of two levels the coarser one.
    pub counted_at: Option<u32>,
    /// Whether the blow is pinned and has not fallen yet.
    pub is_pinned: bool,
}

/// State of a view, for its caption.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnState {
    /// Nothing has broken.
    Whole,
    /// An object is being voxelised at this level.
    Voxelising(u32),
    /// A fracture is being computed.
    Breaking,
    /// The view could not break the object; the text says why.
    Refused(String),
    /// The last blow has broken the object.
    Broken(Broken),
}

/// Contents of a caption.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnView {
    /// What the view changes; for the document the method and the crack surface of the last break.
    pub way: Way,
    /// First line of the caption.
    pub title: String,
    /// State of the view.
    pub state: ColumnState,
}

impl ColumnState {
    /// Whether something is still to be computed.
    pub(super) fn is_open(&self) -> bool {
        *self == Self::Breaking
    }
}

/// Result of a blow in a view.
pub(super) struct Outcome {
    pub strike: Strike,
    /// The break and its time, s, or why there is none.
    came: Result<(Arc<Break>, f64), String>,
    /// Volume of the broken body as the method measures it, m^3.
    before_m3: f64,
    /// The broken body, in its state when it broke.
    body: Option<BodyDef>,
    counting: Once<MeshTally>,
    comparing: Once<Arc<Differing>>,
    inside: BreakInside,
}

impl Outcome {
    /// The outcome of a blow on `body`, with what came of it.
    pub fn new(
        strike: Strike,
        came: Result<(Arc<Break>, f64), String>,
        before_m3: f64,
        body: Option<BodyDef>,
    ) -> Self {
        let (counting, comparing) = (Once::default(), Once::default());
        Self { strike, came, before_m3, body, counting, comparing, inside: BreakInside::default() }
    }

    /// The break, if there is one.
    pub fn broken(&self) -> Option<&Arc<Break>> {
        self.came.as_ref().ok().map(|(broken, _)| broken)
    }

    /// Why there is no break.
    pub fn refusal(&self) -> Option<&String> {
        self.came.as_ref().err()
    }

    /// Notes the state of the body when its pieces replace it.
    pub fn fell_on(&mut self, state: BodyState) {
        self.body.iter_mut().for_each(|body| body.state = state);
    }

    /// Counts the meshes of the pieces; a new count only starts if it `may_start`. Returns whether there is news.
    pub fn count(&mut self, may_start: bool) -> bool {
        if let (Ok((broken, _)), true) = (&self.came, may_start && self.counting.is_due()) {
            let shapes: Vec<_> = broken.parts.iter().map(|part| Arc::clone(&part.shape)).collect();
            self.counting = Once::start(move |cancel| MeshTally::of(&shapes, cancel).ok());
        }
        self.counting.poll()
    }

    /// Compares the crack voxels with the document's; a new comparison only starts if it `may_start`. Returns whether
    /// there is news.
    pub fn compare(&mut self, own: Option<&PieceTrees>, may_start: bool) -> bool {
        if let (Ok((broken, _)), Some(own), true) = (&self.came, own, may_start && self.comparing.is_due()) {
            let octrees: Vec<_> = broken.parts.iter().filter_map(|part| part.shape.as_octree()).collect();
            let is_cut = broken.parts.iter().any(|part| part.shape.as_mesh().is_some());
            if let Some(first) = octrees.first().filter(|_| !is_cut) {
                let trees = octrees.iter().map(|octree| octree.tree).collect();
                let other = PieceTrees { forest: Arc::clone(&first.forest), trees, grid: first.grid };
                let own = own.clone();
                self.comparing = Once::start(move |cancel| Differing::of(&own, &other, cancel).map(Arc::new));
            }
        }
        self.comparing.poll()
    }

    /// Whether it is counting meshes.
    pub fn is_counting(&self) -> bool {
        self.counting.is_busy()
    }

    /// Whether it is comparing voxels, or reading the inside of the break.
    pub fn is_comparing(&self) -> bool {
        self.comparing.is_busy() || self.inside.is_reading()
    }

    /// How the crack voxels differ from the document's.
    pub fn differing(&self) -> Option<&Arc<Differing>> {
        self.comparing.result()
    }

    /// Draws the chosen drawings of the inside where the body broke, or where it stands `now`. A new worker only starts
    /// if it `may_start`. Returns whether the drawing has changed.
    pub fn look(
        &mut self,
        passes: &Arc<Passes>,
        now: Option<BodyState>,
        view: (&InsideView, u32),
        may_start: bool,
    ) -> bool {
        let (Ok((broken, _)), Some(body)) = (&self.came, &self.body) else { return false };
        let point = self.strike.point_on(&body.shape);
        let one = OneBreak { broken, body, point, state: now.unwrap_or(body.state) };
        self.inside.update(passes, &one, view, may_start)
    }

    /// The drawing of the inside.
    pub fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.inside.overlay()
    }

    /// What the caption says.
    pub fn state(&self) -> ColumnState {
        let (broken, seconds) = match &self.came {
            Err(why) => return ColumnState::Refused(why.clone()),
            Ok((broken, seconds)) => (broken, *seconds),
        };
        let found = self.comparing.result();
        let volume = broken.volume_m3() + broken.lost.dust_m3;
        ColumnState::Broken(Broken {
            seconds,
            pieces: broken.parts.len(),
            volume_error: volume / self.before_m3.max(f64::MIN_POSITIVE) - 1.0,
            meshes: self.counting.result().copied(),
            differing: found.map(|found| [found.both, found.only_document.len(), found.only_other.len()]),
            counted_at: found.map(|found| found.grid.level),
            is_pinned: !self.strike.has_fallen(),
        })
    }
}
