//! Lines of a blow's cracks on the surface (2016, sec. 4.4, on boundary voxels only).
//!
//! In: the cells of an octree's boundary voxels at any level, and the seeds. Out: for every voxel the cells near it, on
//! the backend: in a compute pass, or on the cores (`native`). Seeds are fixed point, so every level lists the same
//! cracks, and a picture that measures its distance to the bisectors of the listed cells draws them exactly. Nothing is
//! read back.

mod native;

use std::sync::Arc;

use super::Fracturer;
use crate::{
    compute::{Array, Compute},
    fracture::{Fracture, FractureError, Pattern},
    gpu::{Buffer, Gpu, GpuError, Recorder, bind, kernels, shared},
    svo::{KeyArray, KeySlice, unpack_cut},
};

/// Words of one voxel's list; `shaders/shared/seams.wgsl` draws them.
const WORDS: usize = 8;

/// `SEAM_PLANES` there: the list holds planes.
const PLANES: u32 = 256;

/// Cells near every boundary voxel of one octree, or the planes of the cracks in it.
#[derive(Clone, Debug)]
pub struct Seams {
    /// Seeds, then lists, in the layout of `shaders/shared/seams.wgsl`.
    pub words: Array<u32>,
    /// Seeds.
    pub seeds: u32,
    /// Level of the voxels.
    pub level: u32,
}

impl Seams {
    /// Lists from the second planes of the pieces' boundary voxels, for cracks that are no bisectors. `keys` are
    /// the boundary voxels of the octree that `pattern` broke, ascending. A line then ends at its voxel's faces, so
    /// it is less even than one between cells.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn of_fracture(
        compute: impl Into<Compute>,
        keys: KeySlice<'_>,
        fracture: &Fracture,
        pattern: &Pattern,
    ) -> Result<Self, GpuError> {
        let leaves = &fracture.forest.leaves;
        let mut words = head(pattern);
        let first = words.len();
        words.resize(first + WORDS * keys.len(), 0);
        for ((key, cut), color) in leaves.keys.iter().zip(&leaves.cuts).zip(&leaves.colors) {
            let (Some(plane), Ok(at)) = (unpack_cut(*cut), keys.binary_search(key)) else {
                continue;
            };
            let record = &mut words[first + WORDS * at..][..WORDS];
            let count = (record[0] & 0xff) as usize;
            // The copy on the other side has the same plane, reversed.
            let known =
                record[1..=count].iter().filter_map(|word| unpack_cut(*word)).any(|(normal, offset)| {
                    let alike = normal.dot(plane.0);
                    alike.abs() > 0.98 && (offset * alike.signum() - plane.1).abs() < 0.06
                });
            if !known && !color.crack() && count + 1 < WORDS {
                record[1 + count] = *cut;
                record[0] = PLANES + count as u32 + 1;
            }
        }
        let seeds = pattern.seeds.len() as u32;
        Ok(Self { words: Array::from_slice(compute, "seams", &words)?, seeds, level: fracture.forest.level })
    }

    /// The seeds without any list, for a picture that only shows which cell is which.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn of_seeds(compute: impl Into<Compute>, pattern: &Pattern) -> Result<Self, GpuError> {
        let words = Array::from_slice(compute, "seeds", &head(pattern))?;
        Ok(Self { words, seeds: pattern.seeds.len() as u32, level: 0 })
    }
}

/// The seeds and their object ids, before the lists.
fn head(pattern: &Pattern) -> Vec<u32> {
    let seeds = pattern.seeds.iter().zip(&pattern.objects);
    seeds.flat_map(|([x, y, z], object)| [*x as u32, *y as u32, *z as u32, *object]).collect()
}

kernels! {
    pub(in crate::fracture) struct SeamsPass {
        list: "fracture/voronoi/seams",
    }
}

shared! {
    pub(in crate::fracture) struct SeamParams { leaves: u32, level: u32, seeds: u32 }
}

impl SeamsPass {
    fn run(&self, gpu: &Gpu, keys: &Buffer<u32>, level: u32, pattern: &Pattern) -> Result<Seams, GpuError> {
        let seeds = pattern.seeds.len();
        let words = Buffer::zeroed(gpu, "seams", 4 * seeds + WORDS * keys.len())?;
        words.write(gpu, 0, &head(pattern));
        let params = SeamParams { leaves: keys.len() as u32, level, seeds: seeds as u32 };
        let mut rec = Recorder::new(gpu, "seams");
        rec.run(&self.list, keys.len(), &params, bind![keys, seams: words])?;
        rec.submit();
        Ok(Seams { words: Array::Device(words), seeds: seeds as u32, level })
    }
}

impl Fracturer {
    /// Where `pattern` cracks the surface: `keys` are the boundary voxels' Morton codes at `level`. Does not wait.
    ///
    /// # Errors
    /// [`FractureError::Params`] for an empty pattern, [`FractureError::Gpu`] where the lists are too large for the
    /// adapter.
    pub fn seams(&self, keys: &KeyArray, level: u32, pattern: &Pattern) -> Result<Seams, FractureError> {
        if pattern.seeds.is_empty() {
            return Err(FractureError::Params("a fracture needs at least one seed".into()));
        }
        match self.compute() {
            Compute::Gpu(_) => {
                let (gpu, passes) = self.passes()?;
                Ok(passes.seams.run(gpu, keys.device()?, level, pattern)?)
            }
            Compute::Cpu => {
                let words = Array::Host(Arc::new(native::words(keys.host()?, level, pattern)));
                Ok(Seams { words, seeds: pattern.seeds.len() as u32, level })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svo::{Key, Keys, morton};
    use glam::{DVec3, I64Vec3};

    /// As in `shaders/shared/seams.wgsl`.
    const REACH: i64 = 128;
    const MOST: usize = 14;
    const QUIET: u32 = 512;

    fn on_device(gpu: &Gpu, keys: &[Key]) -> Result<KeyArray, GpuError> {
        KeyArray::new(gpu, "keys", Keys::from(keys.to_vec()).as_slice(), 9)
    }

    /// The list of one voxel in 64 bits: the nearest seed, then the seeds at least as near as it somewhere in the
    /// widened voxel. The difference of two squared distances is linear, so its least value over a box is at a corner.
    /// And whether it contains a crack.
    fn expected(pattern: &Pattern, key: Key, level: u32) -> (Vec<usize>, bool) {
        let seed = |k: usize| I64Vec3::from_array(pattern.seeds[k].map(i64::from));
        let edge = 1i64 << (14 - level);
        let low = I64Vec3::from_array(morton::decode(key).map(i64::from)) * edge;
        let d2 = |x: I64Vec3, k: usize| (x - seed(k)).length_squared();
        let centre = low + edge / 2;
        let own = (0..pattern.seeds.len()).min_by_key(|k| (d2(centre, *k), *k)).unwrap();
        let near = |k: &usize| {
            (0..8).any(|c| {
                let side = |bit: i64| if c >> bit & 1 == 0 { -REACH } else { edge + REACH };
                let x = low + I64Vec3::new(side(0), side(1), side(2));
                d2(x, *k) - d2(x, own) < i64::from(*k < own)
            })
        };
        let rivals: Vec<usize> = (0..pattern.seeds.len()).filter(|k| *k != own && near(k)).collect();
        let cracked = rivals.iter().any(|k| pattern.objects[*k] != pattern.objects[own]);
        ([vec![own], rivals].concat(), cracked)
    }

    /// Voxels whose list differs from the expected one, voxels with a crack, and voxels whose list did not fit.
    fn differing(seams: &Seams, words: &[u32], keys: &[Key], pattern: &Pattern) -> (usize, usize, usize) {
        let (mut wrong, mut cracked, mut full) = (0, 0, 0);
        for (i, key) in keys.iter().enumerate() {
            let record = &words[4 * seams.seeds as usize + WORDS * i..][..WORDS];
            let (wanted, crack) = expected(pattern, *key, seams.level);
            cracked += usize::from(crack);
            full += usize::from(wanted.len() > MOST);
            let count = (record[0] & !QUIET) as usize;
            let listed: Vec<usize> = (0..count.min(MOST))
                .map(|c| (record[1 + c / 2] >> (16 * (c % 2)) & 0xffff) as usize)
                .collect();
            let same = crack == (record[0] & QUIET == 0)
                && count == wanted.len().min(MOST + 1)
                && listed == wanted[..wanted.len().min(MOST)];
            wrong += usize::from(!same);
        }
        (wrong, cracked, full)
    }

    fn shell(level: u32) -> Vec<Key> {
        let side = f64::from(1u32 << level);
        let near = |key: &Key| {
            let p = DVec3::from_array(morton::decode(*key).map(|v| f64::from(v) + 0.5));
            ((p - side / 2.0).length() - 0.4 * side).abs() < 0.8
        };
        (0..1 << (3 * level)).filter(near).collect()
    }

    fn pattern(seeds: usize, spread: f64) -> Pattern {
        let points: Vec<DVec3> = (0..seeds)
            .map(|i| {
                let f = |k: f64| ((i as f64 + 1.0) * k).fract() - 0.5;
                DVec3::splat(32.0) + DVec3::new(f(0.754_88), f(0.569_84), f(0.319_3)) * spread
            })
            .collect();
        Pattern::from_points(&points, 6).unwrap()
    }

    #[test]
    fn every_voxel_lists_the_cells_that_come_near_it() {
        let Some(gpu) = Gpu::for_test() else { return };
        let fracturer = Fracturer::new(&gpu).unwrap();
        // Seeds close together overflow the lists of the voxels between them.
        for (level, seeds, spread) in [(4, 1, 60.0), (5, 7, 60.0), (4, 3000, 70.0), (6, 40, 60.0)] {
            let keys = shell(level);
            let pattern = pattern(seeds, spread);
            let on_gpu = on_device(&gpu, &keys).unwrap();
            let seams = fracturer.seams(&on_gpu, level, &pattern).unwrap();
            let mut words = seams.words.read(Compute::from(&gpu)).unwrap();
            let (wrong, cracked, full) = differing(&seams, &words, &keys, &pattern);
            println!("level {level}, {seeds} seeds: {cracked} of {} voxels cracked, {full} full", keys.len());
            assert_eq!(wrong, 0, "level {level}, {seeds} seeds");
            assert_eq!(cracked > 0, seeds > 1);
            assert_eq!(full > 0, seeds == 3000, "a list that does not fit must be met here");
            // The comparison sees a single planted error.
            let at = 4 * seeds + WORDS * (keys.len() / 2) + 1;
            words[at] ^= 1;
            words[at - 1] ^= 1;
            assert_eq!(differing(&seams, &words, &keys, &pattern).0, 1);
        }
    }

    /// Word by word what the pass writes, also where codes are in no order.
    #[test]
    fn cores_write_the_same_words() {
        let Some(gpu) = Gpu::for_test() else { return };
        let passes = Fracturer::new(&gpu).unwrap();
        let cores = Fracturer::new(Compute::Cpu).unwrap();
        let cases = [
            (1, 3, 60.0),
            (4, 1, 60.0),
            (5, 7, 60.0),
            (4, 3000, 70.0),
            (6, 40, 60.0),
            (7, 90, 50.0),
            (6, 300, 9.0),
        ];
        for (level, seeds, spread) in cases {
            let mut keys = shell(level);
            let mut pattern = pattern(seeds, spread);
            if seeds == 40 {
                keys.sort_by_key(|key| (*key as u32).wrapping_mul(0x9e37_79b1));
                pattern.objects.iter_mut().filter(|object| **object % 3 == 0).for_each(|object| *object = 0);
            }
            // Two seeds in one place.
            let last = pattern.seeds[seeds - 1];
            pattern.seeds[seeds / 2] = last;
            let words = |fracturer: &Fracturer, compute: &Compute| {
                let keys =
                    KeyArray::new(compute, "keys", Keys::from(keys.clone()).as_slice(), level).unwrap();
                fracturer.seams(&keys, level, &pattern).unwrap().words.read(compute).unwrap()
            };
            let wanted = words(&passes, &Compute::from(&gpu));
            let mut got = words(&cores, &Compute::Cpu);
            assert!(got == wanted, "level {level}, {seeds} seeds");
            got[4 * seeds + 1] ^= 1;
            assert!(got != wanted, "the comparison can fail");
        }
    }

    #[test]
    fn cells_of_one_object_have_no_crack_between_them() {
        let Some(gpu) = Gpu::for_test() else { return };
        let fracturer = Fracturer::new(&gpu).unwrap();
        let keys = shell(5);
        let on_gpu = on_device(&gpu, &keys).unwrap();
        let mut merged = pattern(12, 60.0);
        let cracked = |pattern: &Pattern| {
            let seams = fracturer.seams(&on_gpu, 5, pattern).unwrap();
            let words = seams.words.read(Compute::from(&gpu)).unwrap();
            let (wrong, cracked, _) = differing(&seams, &words, &keys, pattern);
            assert_eq!(wrong, 0);
            cracked
        };
        let apart = cracked(&merged);
        merged.objects.iter_mut().filter(|o| **o % 2 == 0).for_each(|o| *o = 0);
        let half = cracked(&merged);
        merged.objects.fill(0);
        assert!(cracked(&merged) == 0 && half < apart && half > 0, "{half} of {apart}");
    }

    #[test]
    fn a_pattern_without_seeds_is_refused() {
        let Some(gpu) = Gpu::for_test() else { return };
        let fracturer = Fracturer::new(&gpu).unwrap();
        let keys = on_device(&gpu, &[0]).unwrap();
        let empty = Pattern { seeds: Vec::new(), objects: Vec::new() };
        assert!(matches!(fracturer.seams(&keys, 1, &empty), Err(FractureError::Params(_))));
    }
}
