//! The surfels of a pair near the other body, cached while the two hardly move against each other.
//!
//! In: a pair, and its lists of an earlier step. Out: the surfels that may hit now, a superset. These are the neighbour
//! lists of Verlet (1967, Physical Review 159), with a skin: all surfels within the needed distance and a cell more are
//! on the list, and the list is valid until a surfel may have crossed the skin. Most pairs whose boxes overlap do not
//! touch; their lists are empty and cost nothing.

use super::pair::{OctreePair, cell_size};
use crate::{
    Body, BodyId,
    collide::{InOrder, RelativePose},
};

/// Thickness of the skin, cells of the pair. Half and twice as much were slower (docs/lab/steps.md).
const SKIN_CELLS: f64 = 1.0;

/// A surfel within this distance of a non-empty cell may hit, cells: the eight cells round it begin there.
pub const TOUCH_CELLS: f64 = 0.87;

/// Pairs that move so far in the coming step look ahead, cells.
pub const FAST_CELLS: f32 = 0.5;

/// Cells stick out of the radius of their body by less than this, cells.
const OUT_CELLS: f64 = 2.0;

/// Lists unused for this number of searches are dropped; this is checked every that many searches.
const MOST_AGE: u32 = 64;
const LOOK_AFTER: u32 = 16;

/// The lists of one pair.
#[derive(Clone, Debug)]
pub struct NeighbourList {
    /// Ids of the bodies, ascending.
    ids: [BodyId; 2],
    /// Levels at which they collide.
    levels: [u32; 2],
    /// How the bodies lay.
    pose: RelativePose,
    /// All surfels that were so near are there, m.
    reach: f64,
    /// Per body, ascending.
    pub surfels: [Vec<u32>; 2],
    /// Number of the search that used it last.
    asked: u32,
    /// Whether it is taken out.
    is_out: bool,
}

impl NeighbourList {
    /// Empty lists, to be filled with all surfels within [`NeighbourList::reach`]; `None` if the pair is too fast for
    /// lists to last.
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
            asked: 0,
            is_out: false,
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

/// The lists of all pairs that were searched lately.
#[derive(Debug, Default)]
pub struct NeighbourLists {
    /// Ascending.
    pairs: Vec<NeighbourList>,
    /// Searches so far.
    searches: u32,
}

impl NeighbourLists {
    /// Takes the lists of `pairs` (ascending) out, whether they are valid or not.
    pub fn take(&mut self, pairs: &[OctreePair], bodies: &[Body]) -> Vec<Option<NeighbourList>> {
        self.searches = self.searches.wrapping_add(1);
        let mut known = InOrder::new(&self.pairs, |near| near.ids);
        let places: Vec<Option<usize>> =
            pairs.iter().map(|pair| known.find(&pair.bodies.map(|k| bodies[k].id))).collect();
        let take = |place: Option<usize>| {
            let near = &mut self.pairs[place?];
            let blank = NeighbourList { surfels: [Vec::new(), Vec::new()], is_out: true, ..*near };
            Some(std::mem::replace(near, blank))
        };
        places.into_iter().map(take).collect()
    }

    /// Puts lists back, by ascending pair; lists that were taken and are not put back are dropped.
    pub fn put(&mut self, lists: impl Iterator<Item = NeighbourList>) {
        let (mut at, mut new) = (0, Vec::new());
        for list in lists {
            let list = NeighbourList { asked: self.searches, is_out: false, ..list };
            at += self.pairs[at..].iter().take_while(|near| near.ids < list.ids).count();
            match self.pairs.get_mut(at).filter(|near| near.ids == list.ids) {
                Some(near) => *near = list,
                None => new.push(list),
            }
        }
        let searches = self.searches;
        let looks = searches.is_multiple_of(LOOK_AFTER);
        let is_old = |near: &NeighbourList| searches.wrapping_sub(near.asked) >= MOST_AGE;
        self.pairs.retain(|near| !(near.is_out || looks && is_old(near)));
        if !new.is_empty() {
            self.pairs.extend(new);
            // Two ascending runs.
            self.pairs.sort_by_key(|near| near.ids);
        }
    }

    /// Forgets a body.
    pub fn forget(&mut self, id: BodyId) {
        self.pairs.retain(|near| !near.ids.contains(&id));
    }
}

#[cfg(test)]
impl NeighbourLists {
    /// Claims that all lists reach farther by this than they do, m; returns the number of empty lists.
    pub fn exaggerate(&mut self, farther: f64) -> usize {
        self.pairs.iter_mut().for_each(|near| near.reach += farther);
        self.pairs.iter().filter(|near| near.surfels.iter().all(Vec::is_empty)).count()
    }
}
