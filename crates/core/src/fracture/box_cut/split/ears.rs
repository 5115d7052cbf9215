//! One ring of points into triangles, by clipping ears.
//!
//! In: a ring, counter-clockwise, which may pass a point twice where holes were joined to it. Out: as many triangles
//! as it has points, less two. An ear is a convex corner whose triangle holds no other point of the ring; only points
//! at reflex corners need be asked. Where rounding or collinear points leave no such corner, demands are lowered one
//! by one, down to none, so the clipping always ends with a closed surface.

use super::triangulate::{Points, turn};
use glam::DVec2;

/// A triangle this flat (height over length) is clipped only when there is no better one.
const FLAT: f64 = 1e-9;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Demand {
    /// It has an area, and no point is in it or on its border.
    Clear,
    /// No point is inside.
    Open,
    /// It has no area, so nothing is lost or covered twice.
    Flat,
    /// It joins what may be joined.
    Joined,
    Nothing,
}

const DEMANDS: [Demand; 5] = [Demand::Clear, Demand::Open, Demand::Flat, Demand::Joined, Demand::Nothing];

struct Ring<'a> {
    points: &'a Points,
    items: &'a [u32],
    next: Vec<u32>,
    before: Vec<u32>,
    /// Places in the ring whose corner is not convex.
    reflex: Vec<u32>,
}

/// Triangles of a ring of three points or more.
pub fn clip_ears(points: &Points, items: &[u32]) -> Vec<[u32; 3]> {
    let count = items.len() as u32;
    let mut ring = Ring {
        points,
        items,
        next: (0..count).map(|k| (k + 1) % count).collect(),
        before: (0..count).map(|k| (k + count - 1) % count).collect(),
        reflex: Vec::new(),
    };
    ring.reflex = (0..count).filter(|&k| ring.is_reflex(k)).collect();
    let mut triangles = Vec::with_capacity(items.len().saturating_sub(2));
    let (mut at, mut left, mut in_vain, mut demand) = (0, count, 0, 0);
    while left > 3 {
        if ring.is_ear(at, DEMANDS[demand]) {
            let after = ring.next[at as usize];
            triangles.push(ring.clip(at));
            left -= 1;
            in_vain = 0;
            demand = 0;
            // One corner is left out, so that ears do not make a fan of slivers round one point.
            at = ring.next[after as usize];
        } else {
            at = ring.next[at as usize];
            in_vain += 1;
            if in_vain >= left {
                in_vain = 0;
                demand = (demand + 1).min(DEMANDS.len() - 1);
            }
        }
    }
    triangles.push([ring.before[at as usize], at, ring.next[at as usize]].map(|k| items[k as usize]));
    triangles
}

impl Ring<'_> {
    fn point(&self, place: u32) -> DVec2 {
        self.points.at[self.items[place as usize] as usize]
    }

    fn corner(&self, place: u32) -> [u32; 3] {
        [self.before[place as usize], place, self.next[place as usize]]
    }

    fn is_reflex(&self, place: u32) -> bool {
        let [a, b, c] = self.corner(place).map(|k| self.point(k));
        turn(a, b, c) <= FLAT * (a.distance_squared(b) + b.distance_squared(c))
    }

    fn is_ear(&self, place: u32, demand: Demand) -> bool {
        let corner = self.corner(place);
        let names = corner.map(|k| self.items[k as usize]);
        if demand == Demand::Nothing {
            return true;
        }
        if names[0] == names[2] || !self.points.may_join(names[0], names[2]) {
            return false;
        }
        let [a, b, c] = corner.map(|k| self.point(k));
        let area = turn(a, b, c);
        let size = a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a));
        let flat = FLAT * size;
        match demand {
            Demand::Joined => return true,
            Demand::Flat => return area.abs() <= flat,
            Demand::Open if area <= 0.0 => return false,
            Demand::Clear if area <= flat => return false,
            _ => {}
        }
        // On the border counts as inside while demands are high.
        let margin = if demand == Demand::Clear { -flat } else { 0.0 };
        let reach = DVec2::splat(FLAT * size.sqrt());
        let (low, high) = (a.min(b).min(c) - reach, a.max(b).max(c) + reach);
        !self.reflex.iter().any(|&k| {
            let p = self.point(k);
            if p.x < low.x
                || p.y < low.y
                || p.x > high.x
                || p.y > high.y
                || names.contains(&self.items[k as usize])
            {
                return false;
            }
            turn(a, b, p) > margin && turn(b, c, p) > margin && turn(c, a, p) > margin
        })
    }

    fn clip(&mut self, place: u32) -> [u32; 3] {
        let [before, _, next] = self.corner(place);
        self.next[before as usize] = next;
        self.before[next as usize] = before;
        let (keep_before, keep_next) = (self.is_reflex(before), self.is_reflex(next));
        self.reflex.retain(|&k| k != place && (k != before || keep_before) && (k != next || keep_next));
        [before, place, next].map(|k| self.items[k as usize])
    }
}
