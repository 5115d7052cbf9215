//! Voronoi cells by a linear scan and by the sphere tree, for increasing numbers of sites, to find where the tree
//! overtakes the scan (Chlubna, fig. 14).

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{samples::Samples, stages::Bench};
use crate::{
    fracture::box_cut::{NearestBy, Point, cells_by},
    gpu::ms_since,
    voxelize::Progress,
};

/// The numbers of sites in the paper's figure, and larger ones for which the tree is far faster.
const SITES: [usize; 10] = [10, 30, 90, 300, 600, 1000, 1500, 2000, 3000, 10_000];

/// The box's edge, in units of box cutting.
const EDGE: i32 = 1 << 14;

impl Bench<'_> {
    /// Computes all cells of random sites in a cube on the cores, by both methods in turn within each run.
    pub fn neighbours(&self, samples: &mut Samples, progress: &Progress) {
        let mut random = ChaCha8Rng::seed_from_u64(self.args.rng);
        for (done, count) in SITES.into_iter().enumerate() {
            let sites: Vec<Point> =
                (0..count).map(|_| [0; 3].map(|_: i32| random.random_range(0..=EDGE))).collect();
            for run in 0..=self.args.repeat {
                for (by, name) in [(NearestBy::Scan, "linear scan"), (NearestBy::SphereTree, "sphere tree")] {
                    let start = Instant::now();
                    let cells = cells_by(by, &sites, [0; 3], [EDGE; 3]);
                    // The first run also allocates memory for the others, so it is not counted.
                    if run > 0 {
                        samples.add(&format!("cells of {count} sites, {name} (CPU)"), ms_since(start));
                    }
                    std::hint::black_box(cells);
                }
            }
            progress.set((done + 1) as f32 / SITES.len() as f32);
        }
    }
}
