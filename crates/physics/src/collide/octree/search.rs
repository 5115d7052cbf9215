//! The search for touching surfels, on the CPU: on all cores, with tables of cells and neighbour lists.
//! `shaders/bodies/collide/octree/descend.wgsl` and `hits.wgsl` do the same, word for word, but without tables and
//! lists; the brute-force search of the tests (`brute.rs`) has neither octree.
//!
//! In: pairs. Out: hits by ascending pair, then surfel.

use super::{
    cell_table::{CellTable, Points, TOGETHER},
    neighbour_lists::{FAST_CELLS, NeighbourList, NeighbourLists, TOUCH_CELLS},
    pair::{Directed, Hit, OctreePair, SurfelCache, cell_size},
    surfels::{Cell, Surfels, cell_at, first_of_level, look_up},
};
use crate::{
    Body,
    geometry::set_bits,
    svo::{Forest, morton, morton::Key},
};
use glam::{IVec3, Mat3, Vec3};
use rayon::prelude::*;

/// Normals count as opposing below this cosine.
pub const OPPOSING: f32 = -0.1;
/// Planes of neighbouring cells agree to this, cells.
const ROUNDING: f32 = 0.2;
/// How far beside a surfel its plane is still valid, cells.
const BESIDE: f32 = 1.0;
/// How far a surfel inside the other body searches the way out, cells.
const MARCH: u32 = 6;
/// How far ahead a fast surfel searches, cells: at most as far as it may move before the next search. A ball of 6 cm at
/// 200 m/s, the fastest that there is, gets 50 cm, 32 cells of a wall of 2 m at level 7.
const AHEAD: u32 = 128;

struct Side<'a> {
    forest: &'a Forest,
    surfels: &'a Surfels,
    /// Only of b.
    table: Option<&'a CellTable>,
    tree: u32,
    level: u32,
    first: u32,
}

/// Hits of all pairs, two directions each, over the coming `dt`. `lists` skip distant surfels; the hits are the same.
#[must_use]
pub fn find_hits(
    pairs: &[OctreePair],
    bodies: &[Body],
    cache: &mut SurfelCache,
    dt: f64,
    mut lists: Option<&mut NeighbourLists>,
) -> Vec<Hit> {
    cache.tabulate(pairs, bodies);
    let known = match &mut lists {
        Some(lists) => lists.take(pairs, bodies),
        None => vec![None; pairs.len()],
    };
    let (keep, cache) = (lists.is_some(), &*cache);
    let found: Vec<(Vec<Hit>, Option<NeighbourList>)> = pairs
        .par_iter()
        .zip(known)
        .enumerate()
        // Those of one large body lie side by side and take most of the time.
        .with_max_len(4)
        .map(|(i, (pair, near))| match near.filter(|near| near.holds(pair, bodies)) {
            Some(near) if near.surfels.iter().all(Vec::is_empty) => (Vec::new(), Some(near)),
            near => hits_of(i as u32, pair, near, bodies, cache, dt, keep),
        })
        .collect();
    let mut hits = Vec::with_capacity(found.iter().map(|(hits, _)| hits.len()).sum());
    let mut kept = Vec::new();
    for (own, near) in found {
        hits.extend(own);
        kept.extend(near);
    }
    if let Some(lists) = lists {
        lists.put(kept.into_iter());
    }
    hits
}

/// Hits of one pair, and its lists if they are kept.
fn hits_of(
    pair_index: u32,
    pair: &OctreePair,
    mut near: Option<NeighbourList>,
    bodies: &[Body],
    cache: &SurfelCache,
    dt: f64,
    keep: bool,
) -> (Vec<Hit>, Option<NeighbourList>) {
    let mut hits = Vec::new();
    let body = pair.bodies.map(|k| &bodies[k]);
    let known = |s: usize| cache.known(&body[s].def.octree().forest, pair.levels[s]);
    let (Some(a), Some(b)) = (known(0), known(1)) else { return (hits, near) };
    let surfels = [a, b];
    let table = [0, 1].map(|s| cache.table(body[s], pair.levels[s]));
    let fresh = near.is_none();
    if fresh && keep && table.iter().all(Option::is_some) {
        near = NeighbourList::begin(pair, bodies);
    }
    for (d, record) in pair.geometry(bodies, dt).iter().enumerate() {
        let side = |s: usize| Side {
            forest: &body[s].def.octree().forest,
            surfels: surfels[s],
            table: table[s],
            tree: body[s].def.octree().tree,
            level: pair.levels[s],
            first: first_of_level(&body[s].def.octree().forest, pair.levels[s]),
        };
        let motion = Vec3::from(record.motion).length();
        let ahead = if motion >= FAST_CELLS { (motion.ceil() as u32).min(AHEAD) } else { 0 };
        let direction = 2 * pair_index + d as u32;
        let search = SurfelSearch { pair: direction, ahead, record, a: side(d), b: side(1 - d) };
        match &mut near {
            None => {
                let reach = record.margin.max(TOUCH_CELLS as f32);
                let mut found = Vec::new();
                search.descend(search.a.tree, 0, 0, reach, &mut found);
                search.ask_all(&found, &mut hits);
            }
            Some(near) => {
                if fresh {
                    let reach = (near.reach() / cell_size(body[1 - d], pair.levels[1 - d])) as f32;
                    let list = &mut near.surfels[d];
                    let mut found = Vec::new();
                    search.descend(search.a.tree, 0, 0, reach, &mut found);
                    let is_within = |table: &CellTable, points: &Points| table.within(points, reach);
                    search.among(&found, is_within, &mut |surfel| {
                        if search.is_within(surfel, reach) {
                            list.push(surfel);
                        }
                    });
                }
                search.ask_all(&near.surfels[d], &mut hits);
            }
        }
    }
    (hits, near)
}

struct SurfelSearch<'a> {
    pair: u32,
    /// How many cells surfels look ahead.
    ahead: u32,
    record: &'a Directed,
    a: Side<'a>,
    b: Side<'a>,
}

impl SurfelSearch<'_> {
    fn to_b(&self, p: Vec3) -> Vec3 {
        let [x, y, z] = self.record.rows.map(glam::Vec4::from);
        let p = p.extend(1.0);
        Vec3::new(x.dot(p), y.dot(p), z.dot(p))
    }

    fn turn_to_b(&self, n: Vec3) -> Vec3 {
        let rows = self.record.rows.map(|r| Vec3::new(r[0], r[1], r[2]));
        Mat3::from_cols(rows[0], rows[1], rows[2]).transpose().mul_vec3(n).normalize_or(n)
    }

    /// Gives all surfels of a that may be within `reach` of a cell of b that is not empty, cells of b.
    fn descend(&self, node: u32, level: u32, key: Key, reach: f32, found: &mut Vec<u32>) {
        let parent = self.a.forest.nodes[node as usize];
        for c in 0..8 {
            if parent.valid() >> c & 1 == 0 {
                continue;
            }
            let (child, child_key) = (parent.child(c), key << 3 | Key::from(c));
            // At the last level, asking a table is as quick as finding out whether to ask.
            let last = level + 1 == self.a.level;
            if !(last && self.b.table.is_some() || self.is_near(child_key, level + 1, reach)) {
                continue;
            }
            if last {
                found.push(child - self.a.first);
            } else {
                self.descend(child, level + 1, child_key, reach, found);
            }
        }
    }

    /// Gives those of some surfels of a of which b's table says yes, and all that are thin, or all where it has no table.
    fn among(&self, surfels: &[u32], says: impl Fn(&CellTable, &Points) -> u32, found: &mut impl FnMut(u32)) {
        let Some(table) = self.b.table else {
            surfels.iter().for_each(|surfel| found(*surfel));
            return;
        };
        let [x, y, z] = self.record.rows;
        for chunk in surfels.chunks(TOGETHER) {
            let (mut centres, mut thin) = (Points::default(), 0u32);
            for (i, surfel) in chunk.iter().enumerate() {
                let sample = &self.a.surfels.items[*surfel as usize];
                for (of, centre) in centres.iter_mut().zip(sample.centre) {
                    of[i] = centre;
                }
                thin |= u32::from(sample.thickness > 0.0) << i;
            }
            // As `to_b` has it.
            let mut points = Points::default();
            for (of, row) in points.iter_mut().zip([x, y, z]) {
                for i in 0..TOGETHER {
                    of[i] = row[0] * centres[0][i] + row[1] * centres[1][i] + row[2] * centres[2][i] + row[3];
                }
            }
            let mut mask = says(table, &points) | thin;
            mask &= (1 << chunk.len()) - 1;
            set_bits(mask).for_each(|i| found(chunk[i as usize]));
        }
    }

    /// Asks for the hits of some surfels of a.
    fn ask_all(&self, surfels: &[u32], hits: &mut Vec<Hit>) {
        let may_hit = |table: &CellTable, points: &Points| match self.ahead {
            0 => table.near(points),
            // All cells of the search are within that distance, with rounding.
            cells => table.within(points, (cells + 1) as f32),
        };
        self.among(surfels, may_hit, &mut |surfel| self.ask(surfel, hits));
    }

    /// Whether a surfel of a is within `reach` of a cell of b that is not empty.
    fn is_within(&self, surfel: u32, reach: f32) -> bool {
        let sample = &self.a.surfels.items[surfel as usize];
        let sides = if sample.thickness > 0.0 { 2 } else { 1 };
        (0..sides).any(|side| {
            let p = self.to_b(self.a.surfels.side(surfel as usize, side).0);
            self.b.table.is_none_or(|table| table.is_within(p, reach))
        })
    }

    /// Whether b has anything within `reach` of the cell `key` of a.
    fn is_near(&self, key: Key, level: u32, reach: f32) -> bool {
        let size = (1u32 << (self.a.level - level)) as f32;
        let low = Vec3::from(morton::decode(key).map(|v| v as f32));
        let centre = self.to_b((low + 0.5) * size);
        let row = self.record.rows[0];
        let scale = Vec3::new(row[0], row[1], row[2]).length();
        // A surfel may lie half a cell outside its own cell.
        let radius = (0.867 * size + 0.5) * scale + reach;
        let (low, high) = (Vec3::from_slice(&self.record.low), Vec3::from_slice(&self.record.high));
        if centre.cmplt(low - radius).any() || centre.cmpgt(high + radius).any() {
            return false;
        }
        if let Some(table) = self.b.table {
            return table.is_within(centre, radius);
        }
        let mut m = self.b.level;
        while m > 0 && ((1u32 << (self.b.level - m)) as f32) * 0.5 < radius {
            m -= 1;
        }
        if m == 0 {
            return true;
        }
        let at = cell_at(centre / (1u32 << (self.b.level - m)) as f32 - 0.5);
        (0..8).any(|c| {
            let cell = at + IVec3::new(c & 1, c >> 1 & 1, c >> 2);
            look_up(self.b.forest, self.b.tree, m, cell) != Cell::Empty
        })
    }

    fn cell_of_b(&self, cell: IVec3) -> Cell {
        if let Some(table) = self.b.table {
            return table.get(cell);
        }
        match look_up(self.b.forest, self.b.tree, self.b.level, cell) {
            Cell::Surface(node) => Cell::Surface(node - self.b.first),
            other => other,
        }
    }

    fn ask(&self, surfel: u32, hits: &mut Vec<Hit>) {
        let sample = &self.a.surfels.items[surfel as usize];
        for side in 0..if sample.thickness > 0.0 { 2 } else { 1 } {
            let (p, n) = self.a.surfels.side(surfel as usize, side);
            let p = self.to_b(p);
            let here = self.cell_of_b(cell_at(p));
            // Two flat surfaces get one contact; the second direction adds contacts of the second body's edges, and
            // deep ones.
            if self.pair % 2 == 1 && !sample.is_sharp() && here != Cell::Inside {
                continue;
            }
            let side_of_b = self.side_of(here, p);
            let probe = Probe { p, n: self.turn_to_b(n), sharp: sample.is_sharp(), side_of_b };
            let b =
                self.beside(probe).or_else(|| self.out_of_the_inside(probe)).or_else(|| self.ahead(probe));
            if let Some(b) = b {
                hits.push(Hit { pair: self.pair, a: surfel << 1 | side, b });
            }
        }
    }

    /// On which side of b's surface a point in the cell `here` is.
    fn side_of(&self, here: Cell, p: Vec3) -> ProbeSide {
        match here {
            Cell::Empty => ProbeSide::Outside,
            Cell::Inside => ProbeSide::Inside,
            Cell::Surface(b) => {
                let s = &self.b.surfels.items[b as usize];
                let along = (p - Vec3::from(s.centre)).dot(self.b.surfels.normals[b as usize]);
                let along = if s.thickness > 0.0 { along.abs() } else { along };
                match (s.is_sharp(), along < s.thickness) {
                    (true, _) => ProbeSide::Edge,
                    (false, true) => ProbeSide::Inside,
                    (false, false) => ProbeSide::Outside,
                }
            }
        }
    }

    /// The nearest opposing surfel in the eight cells round `p`.
    fn beside(&self, probe: Probe) -> Option<u32> {
        let at = cell_at(probe.p - 0.5);
        let mut best = (f32::MAX, None);
        let mut ask = |b: u32| {
            if let Some((gap, beside)) = facing(self.b.surfels, b, probe)
                && beside < BESIDE
                && gap < self.record.margin
            {
                let distance = gap * gap + beside * beside;
                if distance < best.0 {
                    best = (distance, Some(b));
                }
            }
        };
        match self.b.table {
            Some(table) => table.surfaces_near(at).for_each(ask),
            None => {
                for c in 0..8 {
                    let cell = at + IVec3::new(c & 1, c >> 1 & 1, c >> 2);
                    if let Cell::Surface(b) = self.cell_of_b(cell) {
                        ask(b);
                    }
                }
            }
        }
        best.1
    }

    /// From a point inside b to its nearest surface, along the axes and against the point's own normal.
    fn out_of_the_inside(&self, probe: Probe) -> Option<u32> {
        if self.cell_of_b(cell_at(probe.p)) != Cell::Inside {
            return None;
        }
        let mut best = (f32::MAX, None);
        for way in [-probe.n, Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z] {
            for k in 1..=MARCH {
                match self.cell_of_b(cell_at(probe.p + way * k as f32)) {
                    Cell::Empty => break,
                    Cell::Inside => {}
                    Cell::Surface(b) => {
                        if let Some((gap, beside)) = facing(self.b.surfels, b, probe)
                            && gap < 0.0
                            && gap * gap + beside * beside < best.0
                        {
                            best = (gap * gap + beside * beside, Some(b));
                        }
                        break;
                    }
                }
            }
        }
        best.1
    }

    /// For a fast pair: along the motion until b's surface.
    fn ahead(&self, probe: Probe) -> Option<u32> {
        let motion = Vec3::from(self.record.motion);
        let reach = motion.length();
        if self.ahead == 0 || self.cell_of_b(cell_at(probe.p)) == Cell::Inside {
            return None;
        }
        let mut k = 1;
        while k <= self.ahead {
            let cell = cell_at(probe.p + motion * (k as f32 / reach));
            if let Cell::Surface(b) = self.cell_of_b(cell) {
                return facing(self.b.surfels, b, probe)
                    .filter(|(gap, _)| *gap > 0.0 && *gap < self.record.margin)
                    .map(|_| b);
            }
            // Cells known to be empty are skipped, except the last, which rounding might decide otherwise.
            k += self.b.table.map_or(1, |table| table.distance(cell).saturating_sub(1).max(1));
        }
        None
    }
}

/// A surfel of a, in cells of b.
#[derive(Clone, Copy)]
struct Probe {
    p: Vec3,
    n: Vec3,
    sharp: bool,
    side_of_b: ProbeSide,
}

/// On which side of the surface a probe is.
#[derive(Clone, Copy, PartialEq)]
enum ProbeSide {
    /// Before b's surface: no plane behind which it seems to be, beside its own end, counts.
    Outside,
    /// Behind b's surface: any surface may be the way out, whatever its orientation.
    Inside,
    /// In a cell with an edge, where the plane does not tell.
    Edge,
}

/// Signed gap from the plane of `surfel` (of its side that faces the probe) to the probe, and the distance beside its
/// centre; `None` if it does not face a probe outside, or if only `surfel` is an edge: then the probe's plane decides.
fn facing(surfels: &Surfels, b: u32, probe: Probe) -> Option<(f32, f32)> {
    let surfel = &surfels.items[b as usize];
    if surfel.is_sharp() && !probe.sharp && probe.side_of_b != ProbeSide::Inside {
        return None;
    }
    let (mut centre, mut normal) = surfels.side(b as usize, 0);
    if surfel.thickness > 0.0 && normal.dot(probe.n) > 0.0 {
        (centre, normal) = surfels.side(b as usize, 1);
    }
    let opposing = normal.dot(probe.n) <= OPPOSING;
    if !opposing && probe.side_of_b != ProbeSide::Inside {
        return None;
    }
    if surfel.is_sharp() && probe.sharp && opposing {
        normal = (normal - probe.n).normalize_or(normal);
    }
    let r = probe.p - centre;
    let gap = r.dot(normal);
    let beyond = probe.side_of_b == ProbeSide::Outside && gap < -ROUNDING;
    (!beyond).then_some((gap, (r - normal * gap).length()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        testing::{ball, body, by_octrees, grid, steps},
        tests::pile,
    };
    use glam::DVec3;
    use std::sync::Arc;

    /// Hits of a heap that is stirred, over its steps, with lists and without; the lists are said to reach so
    /// much farther than they do, m.
    fn compare(level: u32, physics_level: u32, farther: f64) -> (usize, usize, usize) {
        let mut w = by_octrees(pile(level, physics_level, 3));
        // Another grid, whose cells are three quarters as large: it is thrown at the heap so fast that its
        // pairs look ahead.
        let cell = 1.0 / f64::from(1u32 << physics_level);
        let ball = Arc::new(ball(5, Vec3::splat(16.0), 12.0));
        let thrown = w.add(body(&ball, 0, grid(5, 24.0 * cell), 5, DVec3::ZERO));
        for (i, body) in w.bodies.iter_mut().enumerate() {
            let angle = 2.4 * i as f64;
            body.state.linear_velocity += DVec3::new(angle.cos(), 0.3 * (0.7 * angle).sin(), angle.sin());
            body.state.angular_velocity = DVec3::new(angle.sin(), 1.0, angle.cos());
        }
        let (mut cache, mut lists) = (SurfelCache::default(), NeighbourLists::default());
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
            let pairs: Vec<OctreePair> = each.map(|[i, j]| OctreePair::new(&w.bodies, i, j, 0.01)).collect();
            spared += lists.exaggerate(farther);
            let want = find_hits(&pairs, &w.bodies, &mut cache, 0.01, None);
            let got = find_hits(&pairs, &w.bodies, &mut cache, 0.01, Some(&mut lists));
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
