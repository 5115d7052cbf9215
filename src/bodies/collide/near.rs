//! Which surfels of a pair are near the other body, kept while the two hardly move against each other.
//!
//! In: a pair, and its lists of an earlier step. Out: the surfels that may hit now, a superset. These are the neighbour lists of
//! Verlet (1967, Physical Review 159, sec. 2), with a skin: whatever is nearer than what is needed now, and a cell more, is on the list,
//! and the list holds until something may have come through the skin. Most pairs whose boxes overlap do not touch; their lists
//! are empty, and asking them costs nothing.

use super::{Lie, Pair, cell_size, reference::FAST};
use crate::bodies::{Body, BodyId};

/// Thickness of the skin, cells of the pair. Half and twice as much were slower (docs/physics.md).
const SKIN_CELLS: f64 = 1.0;

/// A surfel within this of a cell that is not empty may hit, cells: the eight cells round it begin there.
pub const TOUCH_CELLS: f64 = 0.87;

/// Cells stick out of the radius of their body by less than this, cells.
const OUT_CELLS: f64 = 2.0;

/// Lists that nobody has asked for in so many searches are dropped.
const MOST_AGE: u32 = 64;

/// The lists of one pair.
#[derive(Clone, Debug)]
pub struct Near {
    /// Of the bodies, ascending.
    ids: [BodyId; 2],
    levels: [u32; 2],
    /// How the bodies lay.
    lie: Lie,
    /// All surfels that were so near are there, m.
    reach: f64,
    /// Of either body, ascending.
    pub surfels: [Vec<u32>; 2],
    age: u32,
}

impl Near {
    /// Empty lists, to be filled with everything that is within [`Near::reach`]; none where the pair is so fast that they would not last.
    #[must_use]
    pub fn begin(pair: &Pair, bodies: &[Body]) -> Option<Self> {
        let [a, b] = pair.bodies.map(|k| &bodies[k]);
        let skin = SKIN_CELLS * pair.cell;
        (pair.way < skin).then(|| Self {
            ids: [a.id, b.id],
            levels: pair.levels,
            lie: Lie::new(a, Some(b)),
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
    pub fn holds(&self, pair: &Pair, bodies: &[Body]) -> bool {
        let [a, b] = pair.bodies.map(|k| &bodies[k]);
        // Distances change by no more than the points of the smaller body move in the axes of the larger.
        let radius = a.def.radius().min(b.def.radius()) + OUT_CELLS * pair.cell;
        self.levels == pair.levels
            && Lie::new(a, Some(b)).way(&self.lie, radius) + needed(pair, bodies) <= self.reach
    }
}

/// How near a surfel must be to hit, m.
fn needed(pair: &Pair, bodies: &[Body]) -> f64 {
    let cells = [0, 1].map(|s| cell_size(&bodies[pair.bodies[s]], pair.levels[s]));
    // The fast look ahead by whole cells, one more at most than they move.
    let ahead = if pair.way >= f64::from(FAST) * cells[0].min(cells[1]) { pair.cell } else { 0.0 };
    (pair.way + ahead).max(TOUCH_CELLS * pair.cell)
}

/// The lists of all pairs that were looked at lately.
#[derive(Debug, Default)]
pub struct NearLists {
    /// Ascending.
    pairs: Vec<Near>,
}

impl NearLists {
    /// Takes the lists of `pairs` (ascending) out, those that still hold; the others grow older.
    pub fn take(&mut self, pairs: &[Pair], bodies: &[Body]) -> Vec<Option<Near>> {
        let mut out: Vec<Option<Near>> = Vec::with_capacity(pairs.len());
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
    pub fn put(&mut self, lists: impl Iterator<Item = Near>) {
        self.pairs.extend(lists.map(|near| Near { age: 0, ..near }));
        // Two ascending runs.
        self.pairs.sort_by_key(|near| near.ids);
    }

    /// Forgets a body.
    pub fn forget(&mut self, id: BodyId) {
        self.pairs.retain(|near| !near.ids.contains(&id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bodies::{
        collide::{Hit, find_hits},
        surfels::Shapes,
        testing::{ball, body, grid},
        tests::{pile, steps},
    };
    use glam::{DVec3, Vec3};
    use std::sync::Arc;

    /// Hits of a heap that is stirred, over its steps, with lists and without; the lists are said to reach so much farther than they do, m.
    fn compare(level: u32, physics_level: u32, farther: f64) -> (usize, usize, usize) {
        let mut w = pile(level, physics_level, 3);
        // Another grid, whose cells are three quarters as large: it is thrown at the heap so fast that its pairs look ahead.
        let cell = 1.0 / f64::from(1u32 << physics_level);
        let ball = Arc::new(ball(5, Vec3::splat(16.0), 12.0));
        let thrown = w.add(body(&ball, 0, grid(5, 24.0 * cell), 5, DVec3::ZERO));
        for (i, body) in w.bodies.iter_mut().enumerate() {
            let angle = 2.4 * i as f64;
            body.state.linear_velocity += DVec3::new(angle.cos(), 0.3 * (0.7 * angle).sin(), angle.sin());
            body.state.angular_velocity = DVec3::new(angle.sin(), 1.0, angle.cos());
        }
        let (mut shapes, mut lists) = (Shapes::default(), NearLists::default());
        let (mut all, mut off, mut spared) = (0, 0, 0);
        for step in 0..60 {
            steps(&mut w, 0.01);
            if let Some(ball) = w.body_mut(thrown).filter(|_| step % 12 == 0) {
                let angle = f64::from(step);
                let way = DVec3::new(angle.cos(), -0.4, angle.sin());
                ball.state.position = DVec3::Y * 0.6 - way * 0.85;
                ball.state.linear_velocity = way * (80.0 * cell);
                ball.wake();
            }
            let n = w.bodies.len();
            let each = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j]));
            let pairs: Vec<Pair> = each.map(|[i, j]| Pair::new(&w.bodies, i, j, 0.01)).collect();
            for near in &mut lists.pairs {
                spared += usize::from(near.surfels.iter().all(Vec::is_empty));
                near.reach += farther;
            }
            let want = find_hits(&pairs, &w.bodies, &mut shapes, 0.01, None);
            let got = find_hits(&pairs, &w.bodies, &mut shapes, 0.01, Some(&mut lists));
            let alone = |a: &[Hit], b: &[Hit]| a.iter().filter(|hit| b.binary_search(hit).is_err()).count();
            (all, off) = (all + want.len(), off + alone(&want, &got) + alone(&got, &want));
        }
        (all, off, spared)
    }

    #[test]
    fn lists_give_the_hits_of_a_full_search() {
        for (level, physics_level) in [(5, 5), (6, 4)] {
            let (all, off, spared) = compare(level, physics_level, 0.0);
            println!(
                "level {level}/{physics_level}: {all} hits, {off} differ, {spared} pairs were not looked at"
            );
            assert!(all > 10_000 && spared > 1_000);
            assert_eq!(off, 0);
        }
        // Lists that are kept for too long must not pass.
        let (all, off, _) = compare(5, 5, 0.05);
        println!("kept for too long: {off} of {all} differ");
        assert!(off > 0);
    }
}
