//! A descent that cracks rough surfaces: what its passes share.

use super::CrackUniform;
use crate::{
    fracture::{
        Pattern, Source,
        voronoi::descent::{Descent, DescentPass, Layer},
    },
    gpu::{Buffer, Gpu, GpuError, Kernel, Submissions, Uniform, bind},
};

/// What the steps of one descent share.
pub(in crate::fracture) struct Cracking<'a> {
    pub passes: &'a DescentPass,
    pub source: &'a Source<'a>,
    pub words: CrackUniform,
    pub shape: Uniform<CrackUniform>,
}

impl<'a> Cracking<'a> {
    pub fn new(gpu: &Gpu, passes: &'a DescentPass, source: &'a Source<'a>, words: CrackUniform) -> Self {
        Self { passes, source, words, shape: Uniform::new(gpu, &words) }
    }

    pub fn planar(
        &self,
        work: &mut Submissions<'_>,
        descent: &mut Descent,
        level: u32,
    ) -> Result<(), GpuError> {
        self.passes.descend(work, self.source, descent, level)
    }

    /// Counts the children of the next pairs and where each one's begin; returns how many there are.
    pub fn count(
        &self,
        work: &mut Submissions<'_>,
        kernel: &Kernel,
        child_level: u32,
        layer: &Layer,
        records: &Buffer<u32>,
    ) -> Result<usize, GpuError> {
        let Layer { pairs, masks, offsets } = layer;
        let (nodes, shape) = (&self.source.arena.buffers()?.nodes, &self.shape);
        let mut rec = work.record("traverse");
        let params = layer.params(self.source, child_level);
        rec.run(kernel, layer.len(), &params, bind![nodes, shape, records, pairs, masks, counts: offsets])?;
        work.scan.run(&mut rec, offsets)?;
        work.submit(rec);
        Ok(layer.totals(work.gpu)?[0] as usize)
    }
}

/// Objects (by rank) of `wanted` that get a voxel when the surfaces are planar.
pub(in crate::fracture) fn planar_objects(
    work: &mut Submissions<'_>,
    crack: &Cracking<'_>,
    pattern: &Pattern,
    wanted: impl Fn(u32) -> bool,
) -> Result<usize, GpuError> {
    let mut descent = Descent::new(work.gpu, crack.source, pattern, wanted)?;
    let leaf_level = crack.source.forest.level;
    for level in 1..leaf_level {
        // Most of what is asked for comes to an end soon.
        if descent.layer.len() > 0 {
            crack.planar(work, &mut descent, level)?;
        }
    }
    if descent.layer.len() > 0 {
        crack.passes.count_leaves(work, crack.source, &descent)?;
    }
    let mut objects = std::collections::BTreeSet::new();
    let last = leaf_level as usize - 1;
    for (level, layer) in descent.layers.iter().chain([&descent.layer]).enumerate() {
        // A stored octant counts at the leaves only: above, it may turn out to hold nothing.
        let octants = if level == last { 0xffff } else { 0xff00 };
        let (pairs, masks) = (layer.pairs.read(work.gpu)?, layer.masks.read(work.gpu)?);
        let holding = pairs.iter().zip(masks).filter(|(_, mask)| mask & octants != 0);
        objects.extend(holding.map(|(pair, _)| pair.object));
    }
    Ok(objects.len())
}
