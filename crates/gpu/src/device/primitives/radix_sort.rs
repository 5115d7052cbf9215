//! Stable sort of pairs (key, value) by key: least significant digit first, eight bits per pass, for lists whose length
//! only the device knows.
//!
//! In: a buffer of pairs and another of the same length. Out: the first one in ascending order of keys, equal keys in
//! their original order. A pass counts each digit in each tile; a prefix sum over all digits, tile by tile, gives the
//! position of each tile's keys with that digit, and each key is moved there.

use super::Scan;
use crate::{Buffer, GpuError, IndirectCount, Recorder, WORKGROUP, bind, kernels, shared};

/// Bits of a digit.
const DIGIT_BITS: u32 = 8;
/// Number of values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Keys per workgroup.
const TILE: usize = 4 * WORKGROUP as usize;

shared! {
    /// Parameters of both kernels.
    pub(crate) struct RadixParams { shift: u32, tiles: u32 }
}

kernels! {
    /// The compiled passes.
    pub struct RadixSort {
        count: "gpu/primitives/radix_count",
        place: "gpu/primitives/radix_place",
    }
}

impl RadixSort {
    /// Sorts the first `size` pairs of `keys`, at most `most`, which must fit into both buffers. All keys must be less
    /// than 2^`bits`. The contents of `spare` are overwritten.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`], [`GpuError::OutOfMemory`].
    pub fn run(
        &self,
        rec: &mut Recorder<'_>,
        scan: &Scan,
        [keys, spare]: [&Buffer<[u32; 2]>; 2],
        (size, most): (&IndirectCount, usize),
        bits: u32,
    ) -> Result<(), GpuError> {
        let tiles = most.div_ceil(TILE);
        if tiles == 0 {
            return Ok(());
        }
        let counts = Buffer::<[u32; 2]>::zeroed(rec.gpu(), "digits of tiles", DIGITS * tiles + 1)?;
        let all = IndirectCount::known(rec.gpu(), DIGITS * tiles);
        // After an even number of passes the result is in `keys`.
        let passes = bits.div_ceil(DIGIT_BITS).next_multiple_of(2);
        let mut sides = [keys, spare];
        for pass in 0..passes.min(u32::BITS / DIGIT_BITS) {
            let params = RadixParams { shift: pass * DIGIT_BITS, tiles: tiles as u32 };
            let [keys, sorted] = sides;
            rec.run_groups(&self.count, tiles, &params, bind![size, keys, counts])?;
            scan.run(rec, &counts, &all)?;
            let starts = &counts;
            rec.run_groups(&self.place, tiles, &params, bind![size, keys, starts, sorted])?;
            sides.reverse();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gpu, shaders};

    struct Bench<'g> {
        gpu: &'g Gpu,
        sort: RadixSort,
        scan: Scan,
    }

    impl<'g> Bench<'g> {
        fn new(gpu: &'g Gpu) -> Self {
            Self { gpu, sort: RadixSort::new(gpu), scan: Scan::new(gpu) }
        }

        /// Sorts within a larger buffer, whose pairs behind the items are not part of the list.
        fn sorted_in(&self, items: &[[u32; 2]], room: usize, bits: u32) -> Vec<[u32; 2]> {
            let mut all = items.to_vec();
            all.resize(room, [5, 55]);
            let keys = Buffer::from_slice(self.gpu, "test", &all).unwrap();
            let spare = Buffer::from_slice(self.gpu, "test", &vec![[6, 66]; room]).unwrap();
            let count = IndirectCount::known(self.gpu, items.len());
            let mut rec = Recorder::new(self.gpu, "test");
            self.sort.run(&mut rec, &self.scan, [&keys, &spare], (&count, room), bits).unwrap();
            rec.submit();
            keys.read(self.gpu).unwrap()
        }

        fn sorted(&self, items: &[[u32; 2]], bits: u32) -> Vec<[u32; 2]> {
            self.sorted_in(items, items.len(), bits)
        }
    }

    /// A plain reference.
    fn sorted_cpu(items: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let mut all = items.to_vec();
        all.sort_by_key(|item| item[0]);
        all
    }

    /// Numbered keys below `most`.
    fn random(n: usize, most: u64) -> Vec<[u32; 2]> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) % most
        };
        (0..n as u32).map(|k| [next() as u32, k]).collect()
    }

    const SIZES: [usize; 14] = [0, 1, 2, 31, 255, 256, 257, 1023, 1024, 1025, 4095, 4097, 40_003, 300_001];

    #[test]
    fn equals_a_stable_sort_at_awkward_sizes() {
        let Some(gpu) = Gpu::for_test() else { return };
        let bench = Bench::new(&gpu);
        for n in SIZES {
            // Keys over all bits, each a few times; then few different keys, so that the order of equal ones matters
            // most.
            for (most, bits) in [(1 << 32, 32), (1 << 30, 30), (1 << 16, 16), (300, 9), (3, 2), (1, 1)] {
                let items = random(n, most);
                assert!(bench.sorted(&items, bits) == sorted_cpu(&items), "{n} keys below {most}");
            }
        }
    }

    #[test]
    fn what_is_sorted_already_stays_and_what_is_the_other_way_round_is_turned() {
        let Some(gpu) = Gpu::for_test() else { return };
        let bench = Bench::new(&gpu);
        let ends = [0, 1, 255, 256, 65_535, 65_536, 0x00ff_ffff, 0x0100_0000, u32::MAX - 1, u32::MAX];
        for n in [10, 1030, 5000] {
            let upward: Vec<[u32; 2]> = (0..n).map(|k| [ends[k * ends.len() / n], k as u32]).collect();
            assert_eq!(bench.sorted(&upward, 32), upward);
            let downward: Vec<[u32; 2]> = upward.iter().rev().copied().collect();
            assert_eq!(bench.sorted(&downward, 32), sorted_cpu(&downward));
        }
    }

    #[test]
    fn room_beyond_the_pairs_is_left_alone() {
        let Some(gpu) = Gpu::for_test() else { return };
        let bench = Bench::new(&gpu);
        for (n, room) in [(0, 3000), (1, 1025), (1023, 40_000), (1024, 1025), (5000, 70_000)] {
            let items = random(n, 1 << 10);
            let found = bench.sorted_in(&items, room, 16);
            assert!(found[..n] == sorted_cpu(&items), "{n} of {room}");
            assert!(found[n..].iter().all(|item| *item == [5, 55]), "{n} of {room}");
        }
    }

    #[test]
    fn errors_planted_in_the_radix_sort_are_found() {
        let Some(gpu) = Gpu::for_test() else { return };
        let bench = Bench::new(&gpu);
        // Several tiles, the last one partial; frequent keys that differ in every digit.
        let items: Vec<[u32; 2]> =
            random(10_007, 400).iter().map(|[key, k]| [key.wrapping_mul(0x0101_4101), *k]).collect();
        let wanted = sorted_cpu(&items);
        assert!(bench.sorted(&items, 32) == wanted);
        for (name, from, to) in [
            ("radix_count", "digit * params.tiles + tile", "tile * DIGITS + digit"),
            ("radix_count", "place < size.count", "place + 1u < size.count"),
            ("radix_count", "atomicLoad(&tally[local])", "min(atomicLoad(&tally[local]), 3u)"),
            ("radix_count", "round < ROUNDS", "round < ROUNDS - 1u"),
            ("radix_count", "key >> params.shift", "key >> (params.shift + 1u)"),
            ("radix_place", "digit * params.tiles + tile", "tile * DIGITS + digit"),
            ("radix_place", "place < size.count", "place + 1u < size.count"),
            // This error swaps equal keys.
            ("radix_place", "& (own_bit - 1u)", "& ~(2u * own_bit - 1u)"),
            ("radix_place", "& (own_bit - 1u)", "& 0u"),
            ("radix_place", "word < own_word", "word + 1u < own_word"),
            ("radix_place", "next[local] += ", "next[local] = next[local] + 0u * "),
            ("radix_place", "atomicStore(&marks[local * WORDS + word], 0u)", "_ = word"),
        ] {
            let path: &'static str = format!("gpu/primitives/{name}").leak();
            let found =
                shaders::planting::with_error(path, (from, to), || Bench::new(&gpu).sorted(&items, 32));
            assert!(found != wanted, "{name} with '{to}' goes unnoticed");
        }
    }
}
