//! The fracture boundary set (2016, sec. 4.4), one thread a copy: where each goes, its attributes, and the colours of crack voxels.
//!
//! In: the pairs of the last parent level, counted. Out: the leaves of all objects. Every kind of surface has a kernel of its own for the attributes;
//! what goes before and after it is here. Colours have a pass of their own, compiled for one material: on a software driver, which
//! runs all branches, choosing among materials inside the kernel more than doubled the time of the whole boundary set.

use std::sync::OnceLock;

use crate::gpu::{Gpu, GpuError, Kernel, Recorder, Submissions, groups_for};

use crate::fracture::{
    Material, Source, Volume,
    voronoi::{
        descent::{Layer, Params},
        octrees::LeafBuffers,
    },
};

const STAGE: &str = "boundary set";

pub(in crate::fracture) struct BoundarySetPass {
    place: Kernel,
    /// By material; made when first asked for.
    paint: [OnceLock<Kernel>; Material::ALL.len()],
}

/// What gives copies their attributes.
pub(in crate::fracture) struct Attributes<'a> {
    pub kernel: &'a Kernel,
    /// Its own bindings, after those of `fracture/voronoi/surface/copy`: what it knows about the cracks.
    pub surfaces: &'a [&'a wgpu::Buffer],
}

/// What `fracture/voronoi/surface/paint` takes as numbers.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Paint {
    copies: u32,
    level: u32,
    pad: [u32; 2],
    interior: Volume,
}

impl BoundarySetPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self { place: Kernel::new(gpu, "fracture/voronoi/surface/place"), paint: Default::default() }
    }

    /// The `copies` leaves of a counted layer with their attributes. Crack voxels are still without colour.
    pub fn emit(
        &self,
        gpu: &Gpu,
        source: &Source<'_>,
        layer: &Layer,
        copies: usize,
        attributes: &Attributes<'_>,
        clock: &mut Submissions,
    ) -> Result<LeafBuffers, GpuError> {
        let leaves = LeafBuffers::new(gpu, copies)?;
        let level = source.forest.level;
        let mut rec = Recorder::new(gpu, STAGE);
        let pairs = gpu.uniform(&[layer.len() as u32, 0, 0, 0]);
        let bound = self.place.bind(
            gpu,
            &[&pairs, layer.pairs.raw(), layer.masks.raw(), layer.offsets.raw(), leaves.place.raw()],
        );
        rec.dispatch(&self.place, &bound, groups_for(layer.len()));

        let params = gpu.uniform(&Params::new(source, copies, level));
        let arena = source.arena;
        let frame = [
            &params,
            arena.nodes.raw(),
            layer.pairs.raw(),
            arena.normals.raw(),
            arena.colors.raw(),
            arena.cuts.raw(),
            leaves.place.raw(),
            leaves.surface.raw(),
            leaves.cuts.raw(),
        ];
        let bound = attributes.kernel.bind(gpu, &[&frame[..], attributes.surfaces].concat());
        rec.dispatch(attributes.kernel, &bound, groups_for(copies));
        clock.submit(rec);
        Ok(leaves)
    }

    /// Colours the crack voxels on a grid of `level`.
    pub fn paint(
        &self,
        gpu: &Gpu,
        leaves: &LeafBuffers,
        level: u32,
        interior: Volume,
        clock: &mut Submissions,
    ) {
        let material = interior.material();
        let Some(kernel) = self.paint.get((material as usize).wrapping_sub(1)) else { return };
        let kernel = kernel.get_or_init(|| {
            Kernel::with_constants(
                gpu,
                "fracture/voronoi/surface/paint",
                &[("material", f64::from(material))],
            )
        });
        let copies = leaves.place.len();
        let params = gpu.uniform(&Paint { copies: copies as u32, level, pad: [0; 2], interior });
        let mut rec = Recorder::new(gpu, STAGE);
        let bound = kernel.bind(gpu, &[&params, leaves.place.raw(), leaves.surface.raw()]);
        rec.dispatch(kernel, &bound, groups_for(copies));
        clock.submit(rec);
    }
}
