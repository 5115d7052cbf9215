//! Preview of methods without Voronoi cells: there is no coarse copy and no painting. The preview shows the method's
//! seams, or its parts if it computes no seams.
//!
//! In: the body aimed at, the blow. Out: seams on it, or parts in its place. Computed on the caller's thread, from the
//! body's own shape, whenever the aim or a parameter changes.

use std::{sync::Arc, time::Instant};

use glam::{Mat4, Vec3};

use super::{Preview, Shown, Target, Wanted, outlined::Asked};
use crate::{
    bodies::{Body, BodyId},
    fracture::{BreakContext, Cancel, FractureParams, PreviewTarget, Strike, break_shape},
    render::RenderBody,
    scene::{
        PreviewMode, SandboxError,
        breaking::{Workshop, has_cells, part_state, world_from_local_matrix},
    },
    shape::Shape,
    svo::KeyArray,
};

/// Whether only the method itself can compute the preview: its cells are not Voronoi cells, or its pieces are not
/// voxels.
pub(super) fn shows_itself(params: &FractureParams, mode: PreviewMode) -> bool {
    !has_cells(params) || mode == PreviewMode::Exploded && !params.method.entry().of_voxels
}

/// Parts shown in place of an unbroken body.
pub(super) struct ShownParts {
    pub body: BodyId,
    pub shapes: Vec<Arc<Shape>>,
}

impl ShownParts {
    /// The parts of `body`, which is drawn as `whole`, moved apart by the explode slider.
    pub fn drawn(&self, body: &Body, whole: &RenderBody, explode: f64, first_color: u32) -> Vec<RenderBody> {
        let shift = whole.world_from_local * world_from_local_matrix(&body.state, &body.def.shape).inverse();
        let place = |shape: &Arc<Shape>| {
            let state = part_state(&body.state, &body.def.shape, shape);
            shift * world_from_local_matrix(&state, shape)
        };
        let placed: Vec<(&Arc<Shape>, Mat4)> =
            self.shapes.iter().map(|shape| (shape, place(shape))).collect();
        let centre = |(shape, place): &(&Arc<Shape>, Mat4)| place.transform_point3(shape.centre().as_vec3());
        let lowest = placed.iter().map(|part| centre(part).y).fold(f32::INFINITY, f32::min);
        let middle = shift.transform_point3(body.state.position.as_vec3());
        let foot = Vec3::new(middle.x, lowest, middle.z);
        let drawn = |(i, part): (usize, &(&Arc<Shape>, Mat4))| RenderBody {
            shape: Arc::clone(part.0),
            world_from_local: Mat4::from_translation((centre(part) - foot) * explode as f32) * part.1,
            id: first_color.wrapping_add(i as u32),
            object: whole.object,
            color: None,
            selected: false,
            mark: None,
            interior: whole.interior,
            later: whole.later,
        };
        placed.iter().enumerate().map(drawn).collect()
    }
}

impl Preview {
    /// Like [`Preview::update`], for such a method.
    pub(super) fn update_by_method(
        &mut self,
        tools: Workshop<'_>,
        target: &Target<'_>,
        wanted: Wanted,
    ) -> Result<bool, SandboxError> {
        self.coarse.give_up();
        if target.intact && !wanted.params.method.entry().needs_only_a_blow() {
            return self.update_outlined(tools, target, wanted);
        }
        if self.done.as_ref().is_some_and(|done| done.covers(&wanted)) {
            return Ok(false);
        }
        let start = Instant::now();
        match shown_by_method(tools, target, &wanted) {
            Ok(None) => Ok(false),
            Ok(Some(shown)) => {
                self.replace(Some(shown));
                self.count(wanted.level, start);
                self.report.showing = Some(wanted.mode);
                self.report.revision += 1;
                self.done = Some(wanted);
                Ok(true)
            }
            Err(error) => {
                self.drop_shown(true);
                self.done = Some(wanted);
                Err(error)
            }
        }
    }

    /// Like [`Preview::update`], for such a method and an intact body.
    fn update_outlined(
        &mut self,
        tools: Workshop<'_>,
        target: &Target<'_>,
        wanted: Wanted,
    ) -> Result<bool, SandboxError> {
        let (asked, start) = (Asked::of(target.body, &wanted.params, wanted.mode), Instant::now());
        self.outlined.make(&asked, &tools, &target.body.def, wanted.aim.impact());
        if !self.outlined.has(&asked) {
            return Ok(self.drop_shown(true));
        }
        if let Some(error) = self.outlined.failure() {
            self.drop_shown(true);
            return Err(error.into());
        }
        if self.outlined.is_shown() {
            return Ok(false);
        }
        let Ok(mut arena) = tools.arena.try_write() else { return Ok(false) };
        let shapes = self.outlined.take_shapes();
        for octree in shapes.iter().filter_map(|shape| shape.as_octree()) {
            arena.insert(&octree.forest)?;
        }
        let body = target.body.id;
        let parts = (!shapes.is_empty()).then(|| Shown::Parts(ShownParts { body, shapes }));
        // What was shown before goes first, and the result with it if it was parts.
        let outlined = std::mem::take(&mut self.outlined);
        self.replace(parts);
        self.outlined = outlined;
        self.outlined.show();
        self.count(wanted.level, start);
        self.report.showing = Some(wanted.mode);
        self.report.revision += 1;
        self.done = Some(wanted);
        Ok(true)
    }
}

/// `None` while another thread has the octrees locked.
fn shown_by_method(
    tools: Workshop<'_>,
    target: &Target<'_>,
    wanted: &Wanted,
) -> Result<Option<Shown>, SandboxError> {
    let (body, shape) = (target.body.id, &target.body.def.shape);
    if !wanted.params.method.entry().needs_only_a_blow() {
        // A piece, which such a method leaves as it is.
        return Ok(Some(Shown::Parts(ShownParts { body, shapes: vec![Arc::clone(shape)] })));
    }
    let Ok(mut arena) = tools.arena.try_write() else { return Ok(None) };
    let impact = wanted.aim.impact();
    let painted = wanted.kept.as_deref();
    let strike = Strike { preview: true, painted, ..Strike::new(impact, &wanted.params) };
    let breaker = wanted.params.method.entry().breaker;
    let context = BreakContext { arena: &arena, passes: tools.passes, cancel: Cancel::never() };
    if wanted.mode == PreviewMode::Seams
        && let Some(octree) = shape.as_octree()
    {
        let keys = octree.forest.leaves.keys.slice(octree.leaves());
        let voxels = KeyArray::new(tools.compute, "preview voxels", keys, octree.level())?;
        let seams = breaker.seams(&context, &PreviewTarget { shape, octree, voxels: &voxels }, &strike)?;
        if let (Some(seams), Some(first)) = (seams, octree.forest.tree_start.get(octree.tree as usize)) {
            return Ok(Some(Shown::Seams { body, seams, first: *first, kept: None }));
        }
    }
    let broken = break_shape(&context, shape, &strike)?;
    for octree in broken.parts.iter().filter_map(|part| part.shape.as_octree()) {
        arena.insert(&octree.forest)?;
    }
    let shapes = broken.parts.into_iter().map(|part| part.shape).collect();
    Ok(Some(Shown::Parts(ShownParts { body, shapes })))
}
