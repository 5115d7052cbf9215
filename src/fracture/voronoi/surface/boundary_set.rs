//! The fracture boundary set (2016, sec. 4.4), one thread a copy: where each goes, its attributes, and the colours
//! of crack voxels.
//!
//! In: the pairs of the last parent level, counted. Out: the leaves of all objects. Every kind of surface has a
//! kernel of its own for the attributes; what goes before and after it is here. Colours have a pass of their own,
//! compiled for one material: on a software driver, which runs all branches, choosing among materials inside the
//! kernel more than doubled the time of the whole boundary set.

use std::sync::OnceLock;

use crate::{
    fracture::{
        Material, Source, Volume,
        voronoi::{descent::Layer, octrees::LeafBuffers},
    },
    gpu::{GpuError, Kernel, Named, Submissions, bind, shared},
    svo::Slot,
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
    /// Its own variables beside those of `fracture/voronoi/surface/copy`: what it knows about the cracks.
    pub surfaces: &'a [Named<'a>],
}

shared! {
    pub(in crate::fracture) struct PlaceParams { pairs: u32 }

    pub(in crate::fracture) struct CopyParams { copies: u32, level: u32, node_base: u32, leaf_base: u32 }

    pub(in crate::fracture) struct PaintParams { copies: u32, level: u32, pad: [u32; 2], interior: Volume }
}

impl BoundarySetPass {
    pub fn new(gpu: &crate::gpu::Gpu) -> Self {
        Self { place: Kernel::new(gpu, "fracture/voronoi/surface/place"), paint: Default::default() }
    }

    /// The `copies` leaves of a counted layer with their attributes. Crack voxels are still without colour.
    pub fn emit(
        &self,
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        layer: &Layer,
        copies: usize,
        attributes: &Attributes<'_>,
    ) -> Result<LeafBuffers, GpuError> {
        let leaves = LeafBuffers::new(work.gpu, copies)?;
        let LeafBuffers { place, surface, cuts } = &leaves;
        let Layer { pairs, masks, offsets } = layer;
        let mut rec = work.record(STAGE);
        let params = PlaceParams { pairs: layer.len() as u32 };
        rec.run(&self.place, layer.len(), &params, bind![pairs, masks, offsets, out_place: place])?;

        let (arena, Slot { node_base, leaf_base, .. }) = (source.arena.buffers()?, source.slot);
        let params = CopyParams { copies: copies as u32, level: source.forest.level, node_base, leaf_base };
        let frame = bind![
            nodes: arena.nodes, pairs, source_normals: arena.normals, source_colors: arena.colors,
            source_cuts: arena.cuts, out_place: place, out_surface: surface, out_cuts: cuts,
        ];
        rec.run(attributes.kernel, copies, &params, &[frame, attributes.surfaces].concat())?;
        work.submit(rec);
        Ok(leaves)
    }

    /// Colours the crack voxels on a grid of `level`.
    pub fn paint(
        &self,
        work: &mut Submissions<'_>,
        leaves: &LeafBuffers,
        level: u32,
        interior: Volume,
    ) -> Result<(), GpuError> {
        let material = interior.material();
        let Some(kernel) = self.paint.get((material as usize).wrapping_sub(1)) else { return Ok(()) };
        let kernel = kernel.get_or_init(|| {
            let constants = [("material", f64::from(material))];
            Kernel::with_constants(work.gpu, "fracture/voronoi/surface/paint", &constants)
        });
        let LeafBuffers { place, surface, .. } = leaves;
        let params = PaintParams { copies: place.len() as u32, level, pad: [0; 2], interior };
        let mut rec = work.record(STAGE);
        rec.run(kernel, place.len(), &params, bind![place, surface])?;
        work.submit(rec);
        Ok(())
    }
}
