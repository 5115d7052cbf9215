//! Computes the length of the next list on the device.
//!
//! In: a scanned list of demands and its count. Out: the count of the next list, and the totals for the host. If the
//! capacity is exceeded, both counts are 0 from here on.

use crate::{Buffer, GpuError, IndirectCount, Recorder, bind, kernels, shared};

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
