//! Sites in the bins of a uniform grid, by which a workgroup finds the neighbours of a site.
//!
//! In: sites, of which no two are equal. Out: the sites in the order of their bins, and where each bin begins. Made on
//! the host, where the sites are: they have to be sorted out and sent in some order anyway.

use super::{CellParams, Point};

/// Sites a bin, on average over all bins.
const SITES_A_BIN: usize = 2;

/// See the file.
pub(super) struct Bins {
    /// A place and the index of the site, in the order of the bins, x fastest; within a bin ascending.
    pub placed: Vec<[i32; 4]>,
    /// Where each bin begins in `placed`, and the end of the last one.
    pub starts: Vec<u32>,
    low: Point,
    /// Units across a bin.
    size: i32,
    /// Bins on each axis.
    across: [i32; 3],
}

impl Bins {
    /// Of the sites with the indices `distinct`, ascending, which are not none; in a single bin where there are no more
    /// than `single`.
    pub fn new(sites: &[Point], distinct: &[u32], single: usize) -> Self {
        let all = || distinct.iter().map(|s| sites[*s as usize]);
        let low: Point = std::array::from_fn(|k| all().map(|p| p[k]).min().unwrap_or(0));
        let high: Point = std::array::from_fn(|k| all().map(|p| p[k]).max().unwrap_or(0));
        let across = |size: i32| -> [i32; 3] { std::array::from_fn(|k| (high[k] - low[k]) / size + 1) };
        let bins = |size: i32| across(size).iter().map(|n| *n as usize).product::<usize>();
        let most = if distinct.len() <= single { 1 } else { (distinct.len() / SITES_A_BIN).max(1) };
        let mut size = 1;
        while bins(size) > most {
            size += size / 8 + 1;
        }
        let across = across(size);
        let bin_of = |p: Point| -> usize {
            let [x, y, z]: [usize; 3] = std::array::from_fn(|k| ((p[k] - low[k]) / size) as usize);
            (z * across[1] as usize + y) * across[0] as usize + x
        };
        let mut starts = vec![0u32; bins(size) + 1];
        all().for_each(|p| starts[bin_of(p) + 1] += 1);
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let mut room = starts.clone();
        let mut placed = vec![[0; 4]; distinct.len()];
        for site in distinct {
            let at = sites[*site as usize];
            let place = &mut room[bin_of(at)];
            placed[*place as usize] = [at[0], at[1], at[2], *site as i32];
            *place += 1;
        }
        Self { placed, starts, low, size, across }
    }

    /// For the cells of `count` sites from `first` on.
    pub fn params(&self, first: usize, count: usize, low: Point, high: Point) -> CellParams {
        CellParams {
            first: first as u32,
            count: count as u32,
            low_x: low[0],
            low_y: low[1],
            low_z: low[2],
            high_x: high[0],
            high_y: high[1],
            high_z: high[2],
            bins_x: self.low[0],
            bins_y: self.low[1],
            bins_z: self.low[2],
            bin: self.size,
            across_x: self.across[0],
            across_y: self.across[1],
            across_z: self.across[2],
        }
    }
}
