//! Pairs of all levels to octrees (2016, sec. 4.6: the octrees of all pieces at once): pairs that are empty or wholly
//! inside are dropped bottom-up; the rest are the nodes, already in order.
//!
//! In: layers. Out: octrees, breadth-first and tree-major.

use crate::{
    fracture::voronoi::descent::{Layer, Needs},
    gpu::{Buffer, Gpu, GpuError, IndirectCount, Kernel, Submissions, bind, shared},
    svo::Node,
};

pub(in crate::fracture) struct PrunePass {
    keep: Kernel,
    write: Kernel,
    /// Nodes alone.
    write_nodes: Kernel,
}

shared! {
    pub(in crate::fracture) struct PruneKeepParams { last: u32, root: u32 }

    pub(in crate::fracture) struct PruneWriteParams { last: u32, node_base: u32, child_base: u32, moved: u32 }
}

/// Where the nodes of every level go, and how their children are numbered.
pub(in crate::fracture) struct Numbering<'a> {
    /// First place of every level, and the number of places.
    pub node_base: &'a [u32],
    /// Children are numbered from there; otherwise from their level's first.
    pub children_from_start: bool,
    /// Leaves keep the places of the pair's source.
    pub moved: bool,
    /// Whether places are needed.
    pub with_info: bool,
}

impl PrunePass {
    pub fn new(gpu: &Gpu) -> Self {
        let write = "fracture/voronoi/octrees/prune_write";
        Self {
            keep: Kernel::new(gpu, "fracture/voronoi/octrees/prune_keep"),
            write: Kernel::new(gpu, write),
            write_nodes: Kernel::with_constants(gpu, write, &[("with_info", 0.0)]),
        }
    }

    /// Which pairs stay, in the second word of their offsets, scanned; how many of each level, in the report.
    pub fn keep(&self, work: &mut Submissions<'_>, layers: &[Layer], needs: &Needs) -> Result<(), GpuError> {
        let gpu = work.gpu;
        let mut rec = work.record("octrees");
        let none = Buffer::<[u32; 2]>::zeroed(gpu, "nothing below", 1)?;
        let nothing = Buffer::<u32>::zeroed(gpu, "no masks below", 1)?;
        let scratch = IndirectCount::unknown(gpu);
        for (l, layer) in layers.iter().enumerate().rev() {
            let Layer { offsets, masks, count, .. } = layer;
            let (below, masks_below) =
                layers.get(l + 1).map_or((&none, &nothing), |below| (&below.offsets, &below.masks));
            let last = u32::from(l + 1 == layers.len());
            let params = PruneKeepParams { last, root: u32::from(l == 0) };
            let given = bind![size: count, offsets, below, masks_below, masks];
            rec.run_counted(&self.keep, count, &params, given)?;
            work.scan.run_second(&mut rec, offsets, count)?;
            let report = (&needs.words, needs.kept(l));
            work.plan.run(&mut rec, (offsets, count), (&scratch, [u32::MAX; 2]), report)?;
        }
        work.submit(rec);
        Ok(())
    }

    /// The pairs that stay as nodes, with (tree, Morton code) of each if places are needed.
    pub fn write(
        &self,
        work: &mut Submissions<'_>,
        layers: &[Layer],
        numbering: &Numbering<'_>,
    ) -> Result<(Buffer<Node>, Buffer<[u32; 2]>), GpuError> {
        let Numbering { node_base, children_from_start, moved, with_info } = numbering;
        let count = node_base[layers.len()] as usize;
        let out_nodes: Buffer<Node> = work.room("piece nodes", count)?;
        let out_info = work.room("node places", if *with_info { count } else { 0 })?;
        let kernel = if *with_info { &self.write } else { &self.write_nodes };
        let none = Buffer::<[u32; 2]>::zeroed(work.gpu, "nothing below", 1)?;
        let mut rec = work.record("octrees");
        for (l, layer) in layers.iter().enumerate() {
            let Layer { pairs, masks, offsets, count, .. } = layer;
            let params = PruneWriteParams {
                last: u32::from(l + 1 == layers.len()),
                node_base: node_base[l],
                child_base: if *children_from_start { node_base[l + 1] } else { 0 },
                moved: u32::from(*moved),
            };
            let (roots, below) =
                (&layers[0].offsets, layers.get(l + 1).map_or(&none, |below| &below.offsets));
            let given = bind![size: count, pairs, masks, offsets, below, roots, out_nodes, out_info];
            rec.run_counted(kernel, count, &params, given)?;
        }
        work.submit(rec);
        Ok((out_nodes, out_info))
    }
}
