//! Exclusive prefix sums of pairs of counters, reduce-then-scan, for lists whose length only the device knows.
//!
//! In: a buffer of n pairs with room for one more. Out: the same buffer, each pair replaced by the sum of those before
//! it, followed by the total. No decoupled look-back: WebGPU promises no forward progress between workgroups.
//!
//! # Computes the length of the next list on the device
//!
//! In: a scanned list of demands and its count. Out: the count of the next list, and the totals for the host. If the
//! capacity is exceeded, both counts are 0 from here on.

use super::super::recorder::SCAN_BLOCK;
use crate::{Buffer, GpuError, IndirectCount, Kernel, Recorder, bind, kernels, shared};

shared! {
    /// Parameters of both kernels.
    pub(crate) struct ScanParams { depth: u32, second_only: u32 }
}

kernels! {
    /// The compiled passes.
    pub struct Scan {
        reduce: "gpu/primitives/scan_reduce",
        apply: "gpu/primitives/scan_apply",
    }
}

impl Scan {
    /// Scans `count` items in place; `items` has room for at least one more.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn run(
        &self,
        rec: &mut Recorder<'_>,
        items: &Buffer<[u32; 2]>,
        count: &IndirectCount,
    ) -> Result<(), GpuError> {
        self.level(rec, items, count, ScanParams { depth: 0, second_only: 0 })
    }

    /// Like [`Scan::run`], for the second counters only; the first counters stay, including the total's.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`].
    pub fn run_second(
        &self,
        rec: &mut Recorder<'_>,
        items: &Buffer<[u32; 2]>,
        count: &IndirectCount,
    ) -> Result<(), GpuError> {
        self.level(rec, items, count, ScanParams { depth: 0, second_only: 1 })
    }

    fn level(
        &self,
        rec: &mut Recorder<'_>,
        items: &Buffer<[u32; 2]>,
        size: &IndirectCount,
        params: ScanParams,
    ) -> Result<(), GpuError> {
        // Sized for the buffer; kernels read the actual count.
        let blocks = items.len().div_ceil(SCAN_BLOCK).max(1);
        let sums = Buffer::<[u32; 2]>::zeroed(rec.gpu(), "scan sums", blocks)?;
        if blocks > 1 {
            self.dispatch(rec, &self.reduce, (items, &sums), size, params, blocks)?;
            self.level(rec, &sums, size, ScanParams { depth: params.depth + 1, ..params })?;
        }
        self.dispatch(rec, &self.apply, (items, &sums), size, params, blocks)
    }

    fn dispatch(
        &self,
        rec: &mut Recorder<'_>,
        kernel: &Kernel,
        (items, sums): (&Buffer<[u32; 2]>, &Buffer<[u32; 2]>),
        size: &IndirectCount,
        params: ScanParams,
        blocks: usize,
    ) -> Result<(), GpuError> {
        let given = bind![size, items, sums];
        if params.depth == 0 {
            rec.run_blocks(kernel, size, &params, given)
        } else {
            rec.run_groups(kernel, blocks, &params, given)
        }
    }
}

shared! {
    pub(crate) struct PlanParams { at: u32, room_x: u32, room_y: u32 }
}

kernels! {
    /// The compiled pass.
    pub struct Plan {
        plan: "gpu/primitives/plan",
    }
}

impl Plan {
    /// Sets `next` to the first counters' total if both totals fit into `room`; `report[at]` always gets the totals.
    ///
    /// # Errors
    /// [`GpuError::Binding`].
    pub fn run(
        &self,
        rec: &mut Recorder<'_>,
        (scanned, here): (&Buffer<[u32; 2]>, &IndirectCount),
        (next, room): (&IndirectCount, [u32; 2]),
        (report, at): (&Buffer<[u32; 2]>, usize),
    ) -> Result<(), GpuError> {
        let params = PlanParams { at: at as u32, room_x: room[0], room_y: room[1] };
        rec.run(&self.plan, 1, &params, bind![scanned, here, next, report])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gpu, shaders};

    /// A plain reference.
    fn scan_cpu(items: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let mut sums = vec![[0u32; 2]];
        for item in items {
            let last = sums[sums.len() - 1];
            sums.push([last[0].wrapping_add(item[0]), last[1].wrapping_add(item[1])]);
        }
        sums
    }

    fn scan_gpu(gpu: &Gpu, items: &[[u32; 2]]) -> Vec<[u32; 2]> {
        scan_in(gpu, items, items.len() + 1, false)
    }

    /// Scans within a larger buffer, whose pairs behind the items are not part of the sum.
    fn scan_in(gpu: &Gpu, items: &[[u32; 2]], room: usize, second: bool) -> Vec<[u32; 2]> {
        let mut all = items.to_vec();
        all.resize(room, [7, 70]);
        let buffer = Buffer::from_slice(gpu, "test", &all).unwrap();
        let count = IndirectCount::known(gpu, items.len());
        let mut rec = Recorder::new(gpu, "test");
        let scan = Scan::new(gpu);
        match second {
            false => scan.run(&mut rec, &buffer, &count).unwrap(),
            true => scan.run_second(&mut rec, &buffer, &count).unwrap(),
        }
        rec.submit();
        buffer.read_range(gpu, 0, items.len() + 1).unwrap()
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
    fn room_beyond_the_items_changes_nothing() {
        let Some(gpu) = Gpu::for_test() else { return };
        for (n, room) in [(0, 5000), (1, 1025), (1023, 2_000_000), (1024, 1025), (5000, 1_100_000)] {
            let items = random(n);
            assert!(scan_in(&gpu, &items, room, false) == scan_cpu(&items), "{n} of {room}");
        }
    }

    #[test]
    fn the_first_counters_can_stay() {
        let Some(gpu) = Gpu::for_test() else { return };
        for n in [0, 1, 1024, 3000, 1_100_000] {
            let items = random(n);
            let wanted = scan_cpu(&items);
            let found = scan_in(&gpu, &items, n + 1, true);
            assert!(found.iter().zip(&wanted).all(|(f, w)| f[1] == w[1]), "{n}");
            assert!(found.iter().zip(&items).all(|(f, i)| f[0] == i[0]), "{n}");
        }
    }

    #[test]
    fn errors_planted_in_the_kernels_are_found() {
        let Some(gpu) = Gpu::for_test() else { return };
        // Three levels of sums.
        let items = random(1_100_000);
        let wanted = scan_cpu(&items);
        let room = items.len() + 1;
        for (name, from, to) in [
            ("scan_reduce", "half > 0u", "half > 1u"),
            ("scan_reduce", "var sum = vec2<u32>(0u)", "var sum = vec2<u32>(u32(first == 4092u))"),
            ("scan_apply", "sums[block] + running[local] - sum", "0u * sums[block] + running[local] - sum"),
            (
                "scan_apply",
                "running[local] - sum;",
                "running[local] - sum + vec2<u32>(0u, u32(first == 0u));",
            ),
            ("scan_apply", "reach < WORKGROUP", "reach < WORKGROUP / 2u"),
            ("scan_apply", "own[i] = sum;", "own[i] = summed(items[min(first + i, end - 1u)]);"),
            ("scan_apply", "size.count + 1u", "size.count"),
        ] {
            let path: &'static str = format!("gpu/primitives/{name}").leak();
            let found =
                shaders::planting::with_error(path, (from, to), || scan_in(&gpu, &items, room, false));
            assert!(found != wanted, "{name} with '{to}' goes unnoticed");
        }
        let summed = "select(item, vec2<u32>(0u, item.y), params.second_only != 0u)";
        let kept = "select(scanned.x, items[first + i].x, params.second_only != 0u)";
        for (from, to) in [(summed, "vec2<u32>(item.x, 0u)"), (kept, "scanned.x + 1u")] {
            let found = shaders::planting::with_error("gpu/primitives/scan_apply", (from, to), || {
                scan_in(&gpu, &items, room, true)
            });
            let same = |f: &[u32; 2], w: &[u32; 2], i: &[u32; 2]| f[1] == w[1] && f[0] == i[0];
            let all = found.iter().zip(&wanted).zip(&items).all(|((f, w), i)| same(f, w, i));
            assert!(!all, "'{to}' goes unnoticed");
        }
    }
}

#[cfg(test)]
mod plan_tests {
    use super::*;
    use crate::{Gpu, Kernel, primitives::Scan};

    /// Totals planned for lists of ones, and the number of dispatched threads over the list and over the next one.
    fn planned(gpu: &Gpu, n: usize, room: u32) -> (Vec<[u32; 2]>, [u32; 2]) {
        let text = "struct ScanParams { depth: u32, second_only: u32 }
            @group(0) @binding(0) var<uniform> params: ScanParams;
            @group(0) @binding(1) var<storage, read_write> runs: array<atomic<u32>>;
            @compute @workgroup_size(256)
            fn main() { atomicAdd(&runs[params.depth], 1u); }";
        let once = Kernel::from_text(gpu, "gpu/primitives/scan_apply", text.replace("            ", ""));
        let demands = Buffer::from_slice(gpu, "demands", &vec![[3u32, 5]; n + 1]).unwrap();
        let report = Buffer::zeroed(gpu, "report", 2).unwrap();
        let runs = Buffer::<u32>::zeroed(gpu, "runs", 2).unwrap();
        let (here, next) = (IndirectCount::known(gpu, n), IndirectCount::unknown(gpu));
        let mut rec = Recorder::new(gpu, "test");
        Scan::new(gpu).run(&mut rec, &demands, &here).unwrap();
        Plan::new(gpu).run(&mut rec, (&demands, &here), (&next, [room, u32::MAX]), (&report, 1)).unwrap();
        for (depth, count) in [(0, &here), (1, &next)] {
            let params = super::super::ScanParams { depth, second_only: 0 };
            rec.run_counted(&once, count, &params, bind![runs]).unwrap();
        }
        rec.submit();
        let runs = runs.read(gpu).unwrap();
        (report.read(gpu).unwrap(), [runs[0] / 256, runs[1] / 256])
    }

    #[test]
    fn counts_stay_on_the_device_and_dispatches_follow_them() {
        let Some(gpu) = Gpu::for_test() else { return };
        let all = |n: usize| vec![[0, 0], [3 * n as u32, 5 * n as u32]];
        assert_eq!(planned(&gpu, 0, 10), (all(0), [0, 0]));
        assert_eq!(planned(&gpu, 1000, 3000), (all(1000), [4, 12]));
        // More workgroups than one dimension of a dispatch allows: 3 * 9,000,000 / 256.
        assert_eq!(planned(&gpu, 9_000_000, u32::MAX), (all(9_000_000), [65_536, 131_072]));
    }

    #[test]
    fn what_has_no_room_is_reported_and_not_begun() {
        let Some(gpu) = Gpu::for_test() else { return };
        assert_eq!(planned(&gpu, 1000, 2999), (vec![[0, 0], [3000, 5000]], [0, 0]));
    }
}
