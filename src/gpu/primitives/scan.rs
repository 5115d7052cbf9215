//! Exclusive prefix sums of pairs of counters, reduce-then-scan.
//!
//! In: a buffer of n pairs. Out: the same buffer, each pair replaced by the sum of those before it. No decoupled
//! look-back: WebGPU promises no forward progress between workgroups. Callers append one zero so that the last
//! element becomes the total.

use crate::gpu::{Buffer, GpuError, Recorder, bind, kernels, shared};

/// Items of one block: 256 threads of four.
const BLOCK: usize = 1024;

shared! {
    /// What both kernels take as numbers.
    pub(crate) struct ScanParams { count: u32 }
}

kernels! {
    /// The compiled passes.
    pub struct Scan {
        reduce: "gpu/primitives/scan_reduce",
        apply: "gpu/primitives/scan_apply",
    }
}

impl Scan {
    /// Scans `items` in place.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn run(&self, rec: &mut Recorder<'_>, items: &Buffer<[u32; 2]>) -> Result<(), GpuError> {
        let blocks = items.len().div_ceil(BLOCK).max(1);
        let sums = Buffer::<[u32; 2]>::zeroed(rec.gpu(), "scan sums", blocks)?;
        let params = ScanParams { count: items.len() as u32 };
        if blocks > 1 {
            rec.run_groups(&self.reduce, blocks, &params, bind![items, sums])?;
            self.run(rec, &sums)?;
        }
        rec.run_groups(&self.apply, blocks, &params, bind![items, sums])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;

    /// The plain reference.
    fn scan_cpu(items: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let mut sum = [0u32; 2];
        items
            .iter()
            .map(|item| {
                let before = sum;
                sum = [sum[0].wrapping_add(item[0]), sum[1].wrapping_add(item[1])];
                before
            })
            .collect()
    }

    fn scan_gpu(gpu: &Gpu, items: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let buffer = Buffer::from_slice(gpu, "test", items).unwrap();
        let mut rec = Recorder::new(gpu, "test");
        Scan::new(gpu).run(&mut rec, &buffer).unwrap();
        rec.submit();
        buffer.read(gpu).unwrap()
    }

    fn random(n: usize) -> Vec<[u32; 2]> {
        let mut state = 0x9e37_79b9_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        (0..n).map(|_| [next() % 9, next() % 1000]).collect()
    }

    #[test]
    fn equals_the_reference_at_awkward_sizes() {
        let Some(gpu) = Gpu::for_test() else { return };
        for n in [0, 1, 3, 255, 256, 257, 1023, 1024, 1025, 4097, 1_048_575, 1_048_577, 1_300_001] {
            let items = random(n);
            assert!(scan_gpu(&gpu, &items) == scan_cpu(&items), "{n} items");
        }
    }

    #[test]
    fn a_planted_error_is_caught() {
        let Some(gpu) = Gpu::for_test() else { return };
        let items = random(5000);
        let mut planted = items.clone();
        planted[2047][1] += 1;
        assert!(scan_gpu(&gpu, &planted) != scan_cpu(&items));
    }
}
