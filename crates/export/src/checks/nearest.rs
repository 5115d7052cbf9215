//! The nearest of many seeds, by a uniform grid over them.
//!
//! In: seeds and a point, in 1/2^14 of the octree's side. Out: the number of the nearest seed, the lowest of equally near
//! ones: what a search through all seeds finds, in a time that hardly grows with their number. It shares no code with
//! the fracture, since the checks recompute what that found.

/// Seeds in the cells of a grid over their bounds.
pub(super) struct SeedGrid<'a> {
    seeds: &'a [[i32; 3]],
    low: [i64; 3],
    /// Edge of a cell, at least 1.
    edge: i64,
    /// Cells along each axis.
    cells: [usize; 3],
    /// Where each cell's seeds begin in `order`, and the end of the last.
    begins: Vec<u32>,
    /// Numbers of seeds, by cell, ascending within a cell.
    order: Vec<u32>,
}

impl<'a> SeedGrid<'a> {
    /// The grid of these seeds, about one in a cell.
    pub(super) fn new(seeds: &'a [[i32; 3]]) -> Self {
        let bound = |pick: fn(i64, i64) -> i64, from: i64| {
            [0, 1, 2].map(|k| seeds.iter().map(|seed| i64::from(seed[k])).fold(from, pick))
        };
        let (low, high) = match seeds {
            [] => ([0; 3], [0; 3]),
            _ => (bound(i64::min, i64::MAX), bound(i64::max, i64::MIN)),
        };
        // Cubes, so that a flat or long pattern is searched as fast as a round one; never more cells than seeds.
        let cells_of = |edge: i64| [0, 1, 2].map(|k| ((high[k] - low[k]) / edge + 1) as usize);
        let mut edge = (0..3).map(|k| high[k] - low[k] + 1).max().unwrap_or(1);
        while edge > 1 && cells_of(edge * 4 / 5).into_iter().product::<usize>() <= seeds.len() {
            edge = edge * 4 / 5;
        }
        let cells = cells_of(edge);
        let mut grid = Self { seeds, low, edge, cells, begins: Vec::new(), order: Vec::new() };
        let places: Vec<usize> =
            seeds.iter().map(|seed| grid.place(grid.cell(seed.map(i64::from)))).collect();
        let mut begins = vec![0u32; cells.into_iter().product::<usize>() + 1];
        places.iter().for_each(|place| begins[place + 1] += 1);
        for place in 1..begins.len() {
            begins[place] += begins[place - 1];
        }
        let (mut next, mut order) = (begins.clone(), vec![0; seeds.len()]);
        for (seed, place) in places.into_iter().enumerate() {
            order[next[place] as usize] = seed as u32;
            next[place] += 1;
        }
        (grid.begins, grid.order) = (begins, order);
        grid
    }

    /// The nearest seed of a point, which may lie outside of the seeds' bounds; `u32::MAX` where there are no seeds.
    pub(super) fn nearest(&self, at: [i64; 3]) -> u32 {
        let middle = self.cell(at);
        let mut best = (i64::MAX, u32::MAX);
        for ring in 0..self.cells.into_iter().max().unwrap_or(0) {
            // A cell `ring` cells away lies behind ring - 1 whole ones. A seed just as near may have a lower number.
            let gap = (ring as i64 - 1).max(0) * self.edge;
            if gap.saturating_mul(gap) > best.0 {
                break;
            }
            self.each_of_ring(middle, ring, |place| {
                let (begin, end) = (self.begins[place] as usize, self.begins[place + 1] as usize);
                for &number in &self.order[begin..end] {
                    let seed = self.seeds[number as usize];
                    let squared = (0..3).map(|k| (i64::from(seed[k]) - at[k]).pow(2)).sum::<i64>();
                    best = best.min((squared, number));
                }
            });
        }
        best.1
    }

    /// Visits the cells whose farthest axis is `ring` cells from `middle`.
    fn each_of_ring(&self, middle: [usize; 3], ring: usize, mut visit: impl FnMut(usize)) {
        let reach =
            |k: usize| middle[k].saturating_sub(ring)..=middle[k].saturating_add(ring).min(self.cells[k] - 1);
        for x in reach(0) {
            for y in reach(1) {
                let is_side = x.abs_diff(middle[0]) == ring || y.abs_diff(middle[1]) == ring;
                for z in reach(2).filter(|z| is_side || z.abs_diff(middle[2]) == ring) {
                    visit(self.place([x, y, z]));
                }
            }
        }
    }

    /// The cell of a point; of one outside of the grid, the cell nearest to it.
    fn cell(&self, at: [i64; 3]) -> [usize; 3] {
        [0, 1, 2].map(|k| ((at[k] - self.low[k]) / self.edge).clamp(0, self.cells[k] as i64 - 1) as usize)
    }

    fn place(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.cells[1] + y) * self.cells[2] + z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search_all(seeds: &[[i32; 3]], at: [i64; 3]) -> u32 {
        let distance = |seed: &[i32; 3]| (0..3).map(|k| (i64::from(seed[k]) - at[k]).pow(2)).sum::<i64>();
        let nearest = seeds.iter().enumerate().min_by_key(|(_, seed)| distance(seed));
        nearest.map_or(u32::MAX, |(i, _)| i as u32)
    }

    #[test]
    fn it_finds_what_a_search_through_all_seeds_finds() {
        let mut random = 7u64;
        let mut below = |most: i64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as i64 % most
        };
        // Coarse places put many seeds at equal distances; a flat and a long pattern have cells of unlike edges.
        for (count, sides, step) in [
            (0, [1, 1, 1], 1),
            (1, [100, 100, 100], 1),
            (7, [16384, 16384, 16384], 1),
            (400, [8, 8, 8], 2048),
            (2000, [16384, 16384, 1], 1),
            (2000, [16384, 30, 30], 1),
            (5000, [16384, 16384, 16384], 1),
        ] {
            let seeds: Vec<[i32; 3]> =
                (0..count).map(|_| sides.map(|side| (below(side) * step - 500) as i32)).collect();
            let grid = SeedGrid::new(&seeds);
            for _ in 0..400 {
                let at = [0; 3].map(|_| below(24_000) - 4000);
                // Whole steps lie between seeds, where several are equally near.
                for at in [at, at.map(|v| v / 1024 * 1024 - 500)] {
                    assert_eq!(grid.nearest(at), search_all(&seeds, at), "{count} {sides:?} {at:?}");
                }
            }
        }
        // A crowd and one seed far away.
        let mut seeds: Vec<[i32; 3]> = (0..300).map(|i| [i % 7, i % 11, i % 13]).collect();
        seeds.push([16_000, 16_000, 16_000]);
        let grid = SeedGrid::new(&seeds);
        for at in [[8003; 3], [8010; 3], [5, 5, 5], [16_000, 0, 0]] {
            assert_eq!(grid.nearest(at), search_all(&seeds, at));
        }
    }
}
