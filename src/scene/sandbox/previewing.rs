//! The live preview: the blow that is aimed, computed on a coarse copy of the body whenever the aim or a parameter has moved.
//!
//! In: an [`Aim`], the tuned values. Out: seams for the picture, or coarse pieces in the body's place. It runs on the caller's thread
//! just before the picture: on a software adapter its waits would otherwise queue behind pictures.

mod full;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, Weak},
    time::Instant,
};

use glam::{DVec3, Vec3};

use super::{Sandbox, SandboxError, ScenePick};
use crate::{
    bodies::{Body, BodyDef, BodyId, MassProperties},
    fracture::{FractureError, FractureParams, Fracturer, Impact, Pattern, Recipe, Seams, Source, Surface},
    gpu::{Buffer, GpuError},
    render::{BodySeams, RenderBody},
    scene::{
        breaking::{world_from_grid, world_from_grid_matrix},
        preview::{Aim, LevelControl, PreviewMode, PreviewReport},
    },
    svo::{Forest, Slot, coarsen},
};

/// The preview and what it keeps between frames.
#[derive(Default)]
pub(super) struct Preview {
    aim: Option<Aim>,
    /// What was computed last, also where that failed: the same is not tried twice.
    done: Option<Wanted>,
    shown: Option<Shown>,
    coarse: Option<Coarse>,
    control: LevelControl,
    report: PreviewReport,
    /// Octrees to give back when nothing reads the arena.
    unused: Vec<Slot>,
    /// When something was computed last.
    computed: Option<Instant>,
    /// The same at the body's own level, on its way, and the last one that was asked for.
    full: Option<full::FullJob>,
    asked: Option<Wanted>,
}

#[derive(Clone, PartialEq)]
struct Wanted {
    aim: Aim,
    params: FractureParams,
    mode: PreviewMode,
    level: u32,
}

impl Wanted {
    /// Whether this, computed, answers `other`: the same blow, at least as finely.
    fn covers(&self, other: &Self) -> bool {
        let same = (self.aim, &self.params, self.mode) == (other.aim, &other.params, other.mode);
        same && self.level >= other.level
    }

    /// As the body with its leaves at `full` would break, for its copy at this level: what counts in leaf voxels shrinks with them.
    fn recipe(&self, full: u32) -> Result<Recipe, FractureError> {
        let mut recipe = self.params.recipe();
        recipe.island_level = recipe.island_level.map(|l| l.min(self.level));
        if recipe.surface != Surface::Planar {
            recipe.crack.transition_level =
                Some(recipe.crack.transition(full, recipe.surface)?.min(self.level));
            recipe.crack.dusty.width /= f64::from(1u32 << (full - self.level.min(full)));
        }
        Ok(recipe)
    }

    fn pattern(&self, def: &BodyDef) -> Result<Pattern, FractureError> {
        let impact = Impact { point: self.aim.point_in_grid, direction: self.aim.direction_in_grid };
        Pattern::at_impact(&self.params, impact, def.mass.bounds, &def.forest, def.tree)
            .map_err(|error| FractureError::Params(error.to_string()))
    }
}

enum Shown {
    Seams(BodyId, Seams, u32),
    Pieces(BodyId, Slot, Vec<(u32, MassProperties)>, u32),
}

/// A body's forest with its leaves at the preview's level.
struct Coarse {
    // Weak, or it would keep octrees alive that no body has any more.
    of: Weak<Forest>,
    forest: Arc<Forest>,
    tree: u32,
    /// Boundary voxels of the tree.
    keys: Buffer<u32>,
    slot: Option<Slot>,
}

impl Coarse {
    /// Boundary voxels of the tree, Morton codes.
    fn voxels(&self) -> &[u32] {
        let starts = &self.forest.tree_start[self.tree as usize..];
        &self.forest.leaves.keys[starts[0] as usize..starts[1] as usize]
    }

    /// Index of the tree's first voxel in the slot of the forest that this was made of: a node's, or a leaf's where that is the leaf level.
    fn first_voxel(&self, fine: &Forest) -> u32 {
        let level = self.forest.level;
        let of_level = if level < fine.level { fine.level_start[level as usize] } else { 0 };
        of_level + self.forest.tree_start[self.tree as usize]
    }
}

impl Sandbox {
    /// The blow that a pick means, along a ray.
    #[must_use]
    pub fn aim_at(&self, pick: &ScenePick, direction: Vec3) -> Option<Aim> {
        let body = self.body(pick.body)?;
        let state = &body.state;
        let point_in_grid =
            crate::scene::breaking::grid_from_world(state, &body.def.mass, body.def.grid.h, pick.point);
        let direction_in_grid = state.rotation.inverse() * direction.as_dvec3();
        Some(Aim { body: pick.body, point_in_grid, direction_in_grid })
    }

    /// Where an aimed blow falls and where to, m in the world; `None` when its body is gone.
    #[must_use]
    pub fn aimed(&self, aim: &Aim) -> Option<(DVec3, DVec3)> {
        let body = self.body(aim.body)?;
        let point = world_from_grid(&body.state, &body.def.mass, body.def.grid.h, aim.point_in_grid);
        Some((point, body.state.rotation * aim.direction_in_grid))
    }

    fn body(&self, id: BodyId) -> Option<&Body> {
        self.world.bodies.iter().find(|b| b.id == id)
    }

    /// Whether a body stands still, so that a preview of it is worth while.
    #[must_use]
    pub fn is_at_rest(&self, id: BodyId) -> bool {
        self.body(id).is_some_and(|b| b.asleep || b.def.fixed)
    }

    /// Aims: what [`Sandbox::update_preview`] shows from now on.
    pub fn set_aim(&mut self, aim: Option<Aim>) {
        self.preview.aim = aim;
    }

    /// What the preview does.
    #[must_use]
    pub fn preview(&self) -> PreviewReport {
        self.preview.report
    }

    /// Brings the preview up to date; `true` when it has changed. While a fracture is on its way, what is shown stays.
    ///
    /// # Errors
    /// [`SandboxError`]; nothing is shown then, and the same is not tried again.
    pub fn update_preview(&mut self) -> Result<bool, SandboxError> {
        if self.is_breaking() {
            return Ok(false);
        }
        self.give_back();
        let mode = self.tuning.view.preview;
        let aimed = self.preview.aim.filter(|_| mode != PreviewMode::Off);
        let Some((aim, object_level)) =
            aimed.and_then(|aim| Some((aim, self.body(aim.body)?.def.forest.level)))
        else {
            return Ok(self.drop_shown());
        };
        let fracturer = Arc::clone(&self.fracturer);
        // Not compiled yet: the next frame asks again.
        let Some(Ok(fracturer)) = fracturer.get() else {
            return Ok(self.drop_shown());
        };
        let level = self.preview.control.level(object_level);
        let wanted = Wanted { aim, params: self.tuning.fracture.clone(), mode, level };
        let taken = self.take_full(&wanted);
        let done = self.preview.done.as_ref().is_some_and(|done| done.covers(&wanted));
        let Some(body) = self.body(aim.body).filter(|_| !done).cloned() else {
            self.start_full(object_level);
            return Ok(taken);
        };
        match self.compute(fracturer, &body, &wanted) {
            Ok(Some(shown)) => {
                self.replace(Some(shown));
                self.preview.done = Some(wanted);
                self.preview.report.showing = Some(mode);
                self.preview.report.revision += 1;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(
                SandboxError::Gpu(GpuError::TooLarge { .. })
                | SandboxError::Fracture(FractureError::Gpu(GpuError::TooLarge { .. })),
            ) if level > 5 => {
                self.preview.control.refused(level);
                Ok(false)
            }
            Err(error) => {
                self.drop_shown();
                self.preview.done = Some(wanted);
                Err(error)
            }
        }
    }

    /// `None` where the octrees are being read elsewhere just now.
    fn compute(
        &mut self,
        fracturer: &Fracturer,
        body: &Body,
        wanted: &Wanted,
    ) -> Result<Option<Shown>, SandboxError> {
        let def = &body.def;
        self.refresh_coarse(&def.forest, def.tree, wanted.level)?;
        let start = Instant::now();
        let pattern = wanted.pattern(def)?;
        let planar = wanted.params.surface == Surface::Planar;
        let shown = match wanted.mode {
            PreviewMode::Off => return Ok(None),
            PreviewMode::Seams if planar => {
                let Some(coarse) = &self.preview.coarse else {
                    return Ok(None);
                };
                let seams = fracturer.seams(&self.gpu, &coarse.keys, wanted.level, &pattern)?;
                // Waited for, so that what is measured is the preview and not the picture after it.
                let waited = self.gpu.device.poll(wgpu::PollType::wait_indefinitely());
                waited.map_err(|error| GpuError::Driver(error.to_string()))?;
                Shown::Seams(body.id, seams, coarse.first_voxel(&def.forest))
            }
            PreviewMode::Seams | PreviewMode::Exploded => {
                match self.break_coarse(fracturer, body, wanted, &pattern)? {
                    Some(shown) => shown,
                    None => return Ok(None),
                }
            }
        };
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let preview = &mut self.preview;
        preview.control.measured(def.forest.level, ms);
        preview.report.recomputed += 1;
        preview.computed = Some(Instant::now());
        (preview.report.level, preview.report.ms) = (wanted.level, ms);
        Ok(Some(shown))
    }

    /// Breaks the coarse octree as a click would break the body: its pieces, or the seams that they have.
    fn break_coarse(
        &mut self,
        fracturer: &Fracturer,
        body: &Body,
        wanted: &Wanted,
        pattern: &Pattern,
    ) -> Result<Option<Shown>, SandboxError> {
        let shared = Arc::clone(&self.arena);
        let (Some(coarse), Ok(mut arena)) = (&mut self.preview.coarse, shared.try_write()) else {
            return Ok(None);
        };
        let slot = match coarse.slot {
            Some(slot) => slot,
            None => *coarse.slot.insert(arena.insert(&self.gpu, &coarse.forest)?),
        };
        let source = Source { arena: &arena, slot, forest: &coarse.forest, tree: coarse.tree };
        let recipe = wanted.recipe(body.def.forest.level)?;
        let fracture = fracturer.fracture(&self.gpu, &source, pattern, &recipe)?;
        if wanted.mode == PreviewMode::Seams {
            let seams = Seams::of_fracture(&self.gpu, coarse.voxels(), &fracture)?;
            return Ok(Some(Shown::Seams(body.id, seams, coarse.first_voxel(&body.def.forest))));
        }
        // The last preview's octrees go first, so that the arena does not grow.
        if let Some(Shown::Pieces(_, old, ..)) = self.preview.shown.take() {
            arena.remove(old);
        }
        let slot = arena.insert(&self.gpu, &fracture.forest)?;
        let pieces = fracture.pieces.iter().map(|p| (p.tree, p.mass)).collect();
        Ok(Some(Shown::Pieces(body.id, slot, pieces, wanted.level)))
    }

    fn refresh_coarse(&mut self, forest: &Arc<Forest>, tree: u32, level: u32) -> Result<(), GpuError> {
        let there = self.preview.coarse.as_ref();
        let same_forest = |c: &&Coarse| c.of.ptr_eq(&Arc::downgrade(forest)) && c.forest.level == level;
        if there.is_some_and(|c| same_forest(&c) && c.tree == tree) {
            return Ok(());
        }
        let (coarse, slot) = match there.filter(same_forest) {
            Some(known) => (Arc::clone(&known.forest), known.slot),
            None => {
                self.preview.unused.extend(self.preview.coarse.take().and_then(|c| c.slot));
                let whole = level >= forest.level;
                (if whole { Arc::clone(forest) } else { Arc::new(coarsen(forest, level)) }, None)
            }
        };
        let keys = Buffer::zeroed(&self.gpu, "preview voxels", 0)?;
        let mut coarse = Coarse { of: Arc::downgrade(forest), forest: coarse, tree, keys, slot };
        coarse.keys = Buffer::from_slice(&self.gpu, "preview voxels", coarse.voxels())?;
        self.preview.coarse = Some(coarse);
        Ok(())
    }

    fn replace(&mut self, shown: Option<Shown>) {
        if let Some(Shown::Pieces(_, slot, ..)) = std::mem::replace(&mut self.preview.shown, shown) {
            self.preview.unused.push(slot);
        }
    }

    /// Shows nothing any more; `true` when something was shown.
    fn drop_shown(&mut self) -> bool {
        let was = self.preview.shown.is_some();
        self.replace(None);
        if self.preview.aim.is_none_or(|aim| self.body(aim.body).is_none()) {
            // A body's own octree must not be kept alive, and is no work to find again.
            let idle = |c: &mut Coarse| c.of.strong_count() == 0 || c.of.as_ptr() == Arc::as_ptr(&c.forest);
            self.preview.unused.extend(self.preview.coarse.take_if(idle).and_then(|c| c.slot));
        }
        // A full one that is on its way has nobody to answer.
        (self.preview.done, self.preview.full, self.preview.asked) = (None, None, None);
        self.preview.report.showing = None;
        self.preview.report.revision += u64::from(was);
        was
    }

    fn give_back(&mut self) {
        if self.preview.unused.is_empty() {
            return;
        }
        if let Ok(mut arena) = self.arena.try_write() {
            self.preview.unused.drain(..).for_each(|slot| arena.remove(slot));
        }
    }

    /// The cracks that the picture draws on a body that is still whole; the index counts in [`Sandbox::shown_bodies`].
    #[must_use]
    pub fn body_seams(&self) -> Option<BodySeams<'_>> {
        let Some(Shown::Seams(id, seams, first)) = &self.preview.shown else {
            return None;
        };
        let body = self.world.bodies.iter().position(|b| b.id == *id)?;
        Some(BodySeams { body, seams, first: *first })
    }

    /// Bodies as the window shows them: as [`Sandbox::render_bodies`], and where a preview is exploded, its pieces instead of the body.
    #[must_use]
    pub fn shown_bodies(&self, selected: Option<BodyId>) -> Vec<RenderBody> {
        let mut drawn = self.render_bodies(selected);
        let Some(Shown::Pieces(id, slot, pieces, level)) = &self.preview.shown else {
            return drawn;
        };
        let Some(at) = self.world.bodies.iter().position(|b| b.id == *id) else {
            return drawn;
        };
        let (body, whole) = (&self.world.bodies[at], drawn.remove(at));
        let shift = whole.world_from_grid
            * world_from_grid_matrix(&body.state, &body.def.mass, body.def.grid.h).inverse();
        let coarse = f64::from(1u32 << (body.def.forest.level - level));
        let world_from_coarse = whole.world_from_grid * glam::Mat4::from_scale(Vec3::splat(coarse as f32));
        let centre = |mass: &MassProperties| world_from_coarse.transform_point3(mass.centre.as_vec3());
        let lowest = pieces.iter().map(|(_, mass)| centre(mass).y).fold(f32::INFINITY, f32::min);
        let middle = shift.transform_point3(body.state.position.as_vec3());
        let foot = Vec3::new(middle.x, lowest, middle.z);
        drawn.extend(pieces.iter().enumerate().map(|(i, (tree, mass))| {
            let offset = (centre(mass) - foot) * self.tuning.view.explode as f32;
            RenderBody {
                slot: *slot,
                root: *tree,
                level: *level,
                world_from_grid: glam::Mat4::from_translation(offset) * world_from_coarse,
                bounds: (mass.bounds.0.as_vec3(), mass.bounds.1.as_vec3()),
                id: self.next_color.wrapping_add(i as u32),
                selected: false,
                interior: whole.interior,
            }
        }));
        drawn
    }
}
