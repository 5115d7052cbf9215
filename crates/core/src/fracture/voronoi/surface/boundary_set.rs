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
        voronoi::{
            descent::Layer,
            octrees::{LeafPart, LeavesReadback, MOST_LEFT, PART},
        },
    },
    gpu::{Buffer, Gpu, GpuError, Kernel, Named, Readback, Submissions, bind, shared},
    svo::{ResidentPart, Slot},
};

const STAGE: &str = "boundary set";

pub(in crate::fracture) struct BoundarySetPass {
    place: Kernel,
    /// By material; made on first use.
    paint: [OnceLock<Kernel>; Material::ALL.len()],
}

/// A kernel that computes attributes of copies.
pub(in crate::fracture) struct Attributes<'a> {
    pub kernel: &'a Kernel,
    /// Its variables beside those of `fracture/voronoi/surface/copy`: data of the cracks.
    pub surfaces: &'a [Named<'a>],
}

shared! {
    pub(in crate::fracture) struct PlaceParams { first: u32, end: u32 }

    pub(in crate::fracture) struct CopyParams { copies: u32, level: u32, node_base: u32, leaf_base: u32 }

    pub(in crate::fracture) struct PaintParams { copies: u32, level: u32, pad: [u32; 2], interior: Volume }
}

/// Where copies are written, some at a time.
struct Part {
    place: Buffer<[u32; 2]>,
    surface: Buffer<[u32; 2]>,
    cuts: Buffer<u32>,
}

impl BoundarySetPass {
    pub fn new(gpu: &Gpu) -> Self {
        Self { place: Kernel::new(gpu, "fracture/voronoi/surface/place"), paint: Default::default() }
    }

    /// The `copies` leaves of a counted layer with their attributes, crack voxels painted: part by part through one
    /// part's memory, copied to the host.
    pub fn emit(
        &self,
        work: &mut Submissions<'_>,
        source: &Source<'_>,
        layer: &Layer,
        copies: usize,
        (attributes, interior): (&Attributes<'_>, Volume),
    ) -> Result<LeavesReadback, GpuError> {
        let room = copies.min(PART);
        let mut part = Part {
            place: work.room("leaf places", room)?,
            surface: work.room("leaf surfaces", room)?,
            cuts: work.room("leaf cuts", room)?,
        };
        let stays = copies <= MOST_LEFT;
        let Layer { pairs, masks, offsets, count, .. } = layer;
        let (arena, Slot { node_base, leaf_base, .. }) = (source.arena.buffers()?, source.slot);
        let level = source.forest.level;
        let (mut leaves, mut left) = (LeavesReadback::default(), Vec::new());
        for first in (0..copies).step_by(PART) {
            let own = (copies - first).min(PART);
            if stays && first > 0 {
                part.surface = Buffer::zeroed(work.gpu, "leaf surfaces", own)?;
                part.cuts = Buffer::zeroed(work.gpu, "leaf cuts", own)?;
            }
            let Part { place, surface, cuts } = &part;
            let mut rec = work.record(STAGE);
            let params = PlaceParams { first: first as u32, end: (first + own) as u32 };
            let given = bind![size: count, pairs, masks, offsets, out_place: place];
            rec.run_counted(&self.place, count, &params, given)?;

            let params = CopyParams { copies: own as u32, level, node_base, leaf_base };
            let frame = bind![
                nodes: arena.nodes, pairs, source_normals: arena.normals, source_colors: arena.colors,
                source_cuts: arena.cuts, out_place: place, out_surface: surface, out_cuts: cuts,
            ];
            rec.run(attributes.kernel, own, &params, &[frame, attributes.surfaces].concat())?;
            if let Some(kernel) = self.paint(work.gpu, interior) {
                let params = PaintParams { copies: own as u32, level, pad: [0; 2], interior };
                rec.run(kernel, own, &params, bind![place, surface])?;
            }
            leaves.parts.push(LeafPart {
                place: Readback::copy(&mut rec, place, 0, own),
                surface: Readback::copy(&mut rec, surface, 0, own),
                cuts: Readback::copy(&mut rec, cuts, 0, own),
            });
            work.submit(rec);
            if stays {
                let (surface, cuts) = (surface.clone(), cuts.clone());
                left.push(ResidentPart { surface, cuts, count: own as u32 });
            }
        }
        leaves.left = stays.then(|| Box::new((work.gpu.clone(), left)));
        // The buffer that stays has another handle, and is not returned.
        work.give(part.place);
        work.give(part.surface);
        work.give(part.cuts);
        Ok(leaves)
    }

    /// The kernel that colours crack voxels; `None` if the material is one colour.
    fn paint(&self, gpu: &Gpu, interior: Volume) -> Option<&Kernel> {
        let material = interior.material();
        let kernel = self.paint.get((material as usize).wrapping_sub(1))?;
        Some(kernel.get_or_init(|| {
            let constants = [("material", f64::from(material))];
            Kernel::with_constants(gpu, "fracture/voronoi/surface/paint", &constants)
        }))
    }
}
