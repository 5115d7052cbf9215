//! Islands (2016, sec. 4.5): the connected components of every cell's solid, 26-connected, by union-find over octree nodes.
//!
//! In: the cells' octrees. Out: a label per node (the smallest node index of its component) and the list of components.

use crate::gpu::{Buffer, Gpu, GpuError, Kernel, Recorder, groups_for, primitives::Scan};

use super::layers::{Clock, Octrees, totals};

pub(super) struct IslandsPass {
    hook: Kernel,
    flatten: Kernel,
    list: Kernel,
    inherit: Kernel,
}

pub(super) struct Islands {
    /// Per node.
    pub labels: Buffer<u32>,
    /// (label, tree) per component, by ascending label.
    pub components: Buffer<[u32; 2]>,
    /// Parent level at which components were told apart: one above the island level.
    pub last: u32,
}

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Params {
    nodes: u32,
    last: u32,
    pad: [u32; 2],
    level_start: [u32; 12],
}

impl IslandsPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            hook: Kernel::new(gpu, "fracture/islands_hook"),
            flatten: Kernel::new(gpu, "fracture/islands_flatten"),
            list: Kernel::new(gpu, "fracture/islands_list"),
            inherit: Kernel::new(gpu, "fracture/islands_inherit"),
        }
    }

    /// `island_level` in 1..=leaf level.
    pub fn run(
        &self,
        gpu: &Gpu,
        scan: &Scan,
        octrees: &Octrees,
        island_level: u32,
        clock: &mut Clock,
    ) -> Result<Islands, GpuError> {
        let last = island_level - 1;
        let elements = octrees.level_start[island_level as usize] as usize;
        let mut level_start = [u32::MAX; 12];
        for (slot, start) in level_start.iter_mut().zip(&octrees.level_start) {
            *slot = *start;
        }
        let params = gpu.uniform(&Params { nodes: elements as u32, last, pad: [0; 2], level_start });
        let parents = octrees.level_start[last as usize];
        let hook_params = gpu.uniform(&Params { nodes: parents, last, pad: [0; 2], level_start });
        let own: Vec<u32> = (0..octrees.nodes.len() as u32).collect();
        let hooked = Buffer::from_slice(gpu, "hooked labels", &own)?;
        let labels = Buffer::from_slice(gpu, "labels", &own)?;
        let ranks = Buffer::zeroed(gpu, "component ranks", elements + 1)?;

        let mut rec = Recorder::new(gpu, "islands");
        let bound =
            self.hook.bind(gpu, &[&hook_params, octrees.nodes.raw(), octrees.info.raw(), hooked.raw()]);
        rec.dispatch(&self.hook, &bound, groups_for(parents as usize));
        let bound =
            self.flatten.bind(gpu, &[&params, octrees.nodes.raw(), hooked.raw(), labels.raw(), ranks.raw()]);
        rec.dispatch(&self.flatten, &bound, groups_for(elements));
        scan.run(&mut rec, &ranks)?;
        for l in last as usize..octrees.level_start.len() - 2 {
            let (first, end) = (octrees.level_start[l], octrees.level_start[l + 1]);
            let range = gpu.uniform(&[first, end - first, 0, 0]);
            let bound = self.inherit.bind(gpu, &[&range, octrees.nodes.raw(), labels.raw()]);
            rec.dispatch(&self.inherit, &bound, groups_for((end - first) as usize));
        }
        clock.submit(rec);

        let count = totals(gpu, &[&ranks])?[0][0] as usize;
        let components = Buffer::zeroed(gpu, "components", count)?;
        let mut rec = Recorder::new(gpu, "islands");
        let bound = self.list.bind(gpu, &[&params, octrees.info.raw(), ranks.raw(), components.raw()]);
        rec.dispatch(&self.list, &bound, groups_for(elements));
        clock.submit(rec);
        Ok(Islands { labels, components, last })
    }
}
