//! Options of a query: which of the points that collide become contacts (Glondu et al. 2012, sec. 5.3).
//!
//! In: the values of a world's options. Out: the [`Selection`] of each query. With the defaults a query puts out eight
//! points that lie well apart, and beyond these points deeper than the deepest. With [`SELECTION`] 1 a query follows the
//! paper to the letter: beyond the first points it puts out all points deeper than epsilon. With [`MOST_POINTS`] 0 a
//! query puts out every colliding point, and no later stage thins them: the paper's full collision detection (fig. 5).

use super::spheres::{Beyond, Selection};
use crate::{
    bodies::{Body, Options},
    fracture::MethodOption,
};

/// Points that a query searches for beyond the first ones. Options are numbers, so a name is a whole number here; scene
/// files have the names `deepest` and `epsilon`.
pub const SELECTION: MethodOption = MethodOption {
    name: "field_selection",
    help: "Points that a query of distance fields adds to the first ones: 0, only points deeper than the deepest contact \
           by epsilon; 1, all points deeper than epsilon, as published.",
    default: 0.0,
    range: (0.0, 1.0),
    whole: true,
};

/// Number of contacts at which a query begins to leave points out.
pub const MOST_POINTS: MethodOption = MethodOption {
    name: "field_most_points",
    help: "Contacts of a query of distance fields that are enough, so that only deeper points are added; 0: all points.",
    default: 8.0,
    range: (0.0, 4096.0),
    whole: true,
};

/// Depth up to which points may be left out. A share of the body's radius, as in the paper: a depth in metres would
/// mean something else for each size of body.
pub const EPSILON: MethodOption = MethodOption {
    name: "field_epsilon",
    help: "Depth up to which contacts of distance fields may be left out, a share of the radius of the body whose points \
           they are.",
    default: 0.002,
    range: (0.0, 1.0),
    whole: false,
};

/// Additional distance searched, so that the result serves the next search, cells.
const SLACK_CELLS: f64 = 0.5;

/// Values of the options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Number of contacts that are enough; `None`: all points are contacts.
    pub enough: Option<usize>,
    /// Depth up to which contacts may be left out, shares of the body's radius.
    pub epsilon: f64,
    /// Contacts that are searched beyond enough.
    pub beyond: Beyond,
}

impl Default for Choice {
    fn default() -> Self {
        Self::of(&Options::default())
    }
}

impl Choice {
    /// What the options of a world say.
    #[must_use]
    pub fn of(options: &Options) -> Self {
        let most = options.value(&MOST_POINTS) as usize;
        Self {
            enough: (most > 0).then_some(most),
            epsilon: options.value(&EPSILON),
            beyond: if options.value(&SELECTION) > 0.0 { Beyond::Epsilon } else { Beyond::Deepest },
        }
    }

    /// Whether every point that collides stays a contact, so that no stage after a query may thin them.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        self.enough.is_none()
    }

    /// How to query the tree of `body` for points within `near_m` m of another body, in units of `unit_m` m.
    #[must_use]
    pub fn selection(&self, body: &Body, near_m: f64, unit_m: f64) -> Selection {
        Selection {
            enough: self.enough,
            epsilon: self.epsilon * body.def.radius() / unit_m,
            tolerance: near_m / unit_m,
            beyond: self.beyond,
            quick: true,
            slack: SLACK_CELLS * body.def.resolution_m() / unit_m,
            below: None,
        }
    }
}
