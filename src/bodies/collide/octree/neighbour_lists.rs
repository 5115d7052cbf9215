//! Which surfels of a pair are near the other body, kept while the two hardly move against each other.
//!
//! In: a pair, and its lists of an earlier step. Out: the surfels that may hit now, a superset. These are the
//! neighbour lists of Verlet (1967, Physical Review 159), with a skin: whatever is nearer than what
//! is needed now, and a cell more, is on the list, and the list holds until something may have come through
//! the skin. Most pairs whose boxes overlap do not touch; their lists are empty, and asking them costs
//! nothing.

use super::pair::{OctreePair, cell_size};
use crate::bodies::{Body, BodyId, collide::RelativePose};

/// Thickness of the skin, cells of the pair. Half and twice as much were slower (docs/lab/steps.md).
const SKIN_CELLS: f64 = 1.0;

/// A surfel within this of a cell that is not empty may hit, cells: the eight cells round it begin there.
pub const TOUCH_CELLS: f64 = 0.87;

/// Pairs that move so far in the coming step look ahead, cells.
pub const FAST_CELLS: f32 = 0.5;

/// Cells stick out of the radius of their body by less than this, cells.
const OUT_CELLS: f64 = 2.0;

/// Lists that nobody has asked for in so many searches are dropped.
const MOST_AGE: u32 = 64;

/// The lists of one pair.
#[derive(Clone, Debug)]
pub struct NeighbourList {
    /// Of the bodies, ascending.
    ids: [BodyId; 2],
    /// Levels at which they meet.
    levels: [u32; 2],
    /// How the bodies lay.
    pose: RelativePose,
    /// All surfels that were so near are there, m.
    reach: f64,
    /// Of either body, ascending.
    pub surfels: [Vec<u32>; 2],
    age: u32,
}

impl NeighbourList {
    /// Empty lists, to be filled with everything that is within [`NeighbourList::reach`]; none where the pair
    /// is so fast that they would not last.
    #[must_use]
    pub fn begin(pair: &OctreePair, bodies: &[Body]) -> Option<Self> {
        let [a, b] = pair.bodies.map(|k| &bodies[k]);
        let skin = SKIN_CELLS * pair.cell;
        (pair.way < skin).then(|| Self {
            ids: [a.id, b.id],
            levels: pair.levels,
            pose: RelativePose::new(a, Some(b)),
            reach: needed(pair, bodies) + skin,
            surfels: [Vec::new(), Vec::new()],
            age: 0,
        })
    }

    /// How near is on the list, m.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Whether all that may hit in the coming step is on the lists.
    #[must_use]
    pub fn holds(&self, pair: &OctreePair, bodies: &[Body]) -> bool {
        let [a, b] = pair.bodies.map(|k| &bodies[k]);
        // Distances change by no more than the points of the smaller body move in the axes of the larger.
        let radius = a.def.radius().min(b.def.radius()) + OUT_CELLS * pair.cell;
        self.levels == pair.levels
            && RelativePose::new(a, Some(b)).way(&self.pose, radius) + needed(pair, bodies) <= self.reach
    }
}

/// How near a surfel must be to hit, m.
fn needed(pair: &OctreePair, bodies: &[Body]) -> f64 {
    let cells = [0, 1].map(|s| cell_size(&bodies[pair.bodies[s]], pair.levels[s]));
    // The fast look ahead by whole cells, one more at most than they move.
    let ahead = if pair.way >= f64::from(FAST_CELLS) * cells[0].min(cells[1]) { pair.cell } else { 0.0 };
    (pair.way + ahead).max(TOUCH_CELLS * pair.cell)
}

/// The lists of all pairs that were looked at lately.
#[derive(Debug, Default)]
pub struct NeighbourLists {
    /// Ascending.
    pairs: Vec<NeighbourList>,
}

impl NeighbourLists {
    /// Takes the lists of `pairs` (ascending) out, those that still hold; the others grow older.
    pub fn take(&mut self, pairs: &[OctreePair], bodies: &[Body]) -> Vec<Option<NeighbourList>> {
        let mut out: Vec<Option<NeighbourList>> = Vec::with_capacity(pairs.len());
        let mut rest = std::mem::take(&mut self.pairs).into_iter().peekable();
        for pair in pairs {
            let ids = pair.bodies.map(|k| bodies[k].id);
            while let Some(other) = rest.next_if(|near| near.ids < ids) {
                self.pairs.push(other);
            }
            out.push(rest.next_if(|near| near.ids == ids).filter(|near| near.holds(pair, bodies)));
        }
        self.pairs.extend(rest);
        self.pairs.iter_mut().for_each(|near| near.age += 1);
        self.pairs.retain(|near| near.age < MOST_AGE);
        out
    }

    /// Puts lists back, in order of pair.
    pub fn put(&mut self, lists: impl Iterator<Item = NeighbourList>) {
        self.pairs.extend(lists.map(|near| NeighbourList { age: 0, ..near }));
        // Two ascending runs.
        self.pairs.sort_by_key(|near| near.ids);
    }

    /// Forgets a body.
    pub fn forget(&mut self, id: BodyId) {
        self.pairs.retain(|near| !near.ids.contains(&id));
    }
}

#[cfg(test)]
impl NeighbourLists {
    /// Says of all lists that they reach so much farther than they do, m; gives how many are empty.
    pub fn exaggerate(&mut self, farther: f64) -> usize {
        self.pairs.iter_mut().for_each(|near| near.reach += farther);
        self.pairs.iter().filter(|near| near.surfels.iter().all(Vec::is_empty)).count()
    }
}
