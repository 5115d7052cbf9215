//! The pinned impact in scene files: where it is aimed, and which cells stay there.
//!
//! In: a scene that names one. Out: the pin in the tuned values; and back.

use std::sync::Arc;

use glam::DVec3;

use super::{Sandbox, previewing::cells};
use crate::{
    bodies::Body,
    fracture::UNIT_BITS,
    scene::{
        Aim, KeptCells, Pin, Pinned, Scene,
        breaking::{local_from_world, world_from_local},
    },
    svo::Grid,
};

/// Painted cells on their way to another level's grid of the same object.
pub(super) struct Carried {
    grid: Grid,
    kept: Arc<KeptCells>,
}

impl Carried {
    /// What was painted, in another grid of the same mesh.
    fn on(&self, grid: &Grid) -> KeptCells {
        let unit = |grid: &Grid| f64::from(1u32 << (UNIT_BITS - grid.level));
        let old = self.grid.to_mesh();
        self.kept.mapped(|seed| grid.from_mesh(old.transform_point3(seed / unit(&self.grid))) * unit(grid))
    }
}

impl Sandbox {
    /// The cells painted on a whole object, for an import of it at another level.
    pub(super) fn carried(&self) -> Option<Carried> {
        let pin = self.tuning.pin.as_ref()?;
        let grid = self.body(pin.aim.body).filter(|body| self.is_intact(body.id))?.def.octree().grid;
        Some(Carried { grid, kept: pin.kept.clone()? })
    }

    /// A scene's body as it starts.
    fn at_start(&self, object: usize) -> Option<&Body> {
        let first = &self.first.as_ref()?.bodies;
        first.iter().find(|(_, info)| info.object == object).map(|(body, _)| body)
    }

    /// Pins what `scene` pins. Its bodies have just been added, in their order.
    pub(super) fn put_pin(&mut self, scene: &Scene, carried: Option<&Carried>) {
        self.tuning.pin = None;
        let Some(pinned) = scene.pinned else { return };
        let (at, file) = (pinned.body as usize, scene.bodies.get(pinned.body as usize));
        let body = self.world.bodies.iter().find(|b| self.info.get(&b.id).is_some_and(|i| i.object == at));
        let (Some(body), Some(file)) = (body, file) else { return };
        let aim = Aim {
            body: body.id,
            point_in_grid: local_from_world(&body.state, &body.def.shape, pinned.point),
            direction_in_grid: body.state.rotation.inverse() * pinned.direction.normalize_or(DVec3::NEG_Y),
        };
        let mut params = self.tuning.fracture.clone();
        let listed = std::mem::take(&mut params.keep);
        let listed = if at == 0 { listed } else { file.fracture.keep.clone() };
        let kept = match carried {
            Some(carried) => Some(carried.on(&body.def.octree().grid)),
            // Without a pattern there is nothing to name; the preview says why.
            None => cells(&aim, &params, None, (&body.def, true))
                .ok()
                .map(|cells| KeptCells::new(cells.pattern.seeds, listed.clone()))
                .filter(|_| !listed.is_empty()),
        };
        self.tuning.fracture.keep.clear();
        self.tuning.pin = Some(Pin { aim, kept: kept.map(Arc::new) });
    }

    /// Writes the pin into a scene that is to be saved. One on a piece is left out: a scene begins with whole objects.
    pub(super) fn write_pin(&self, scene: &mut Scene) {
        scene.pinned = None;
        let Some(pin) = &self.tuning.pin else { return };
        for body in &mut scene.bodies {
            body.fracture.keep.clear();
        }
        let Some(info) = self.info.get(&pin.aim.body).filter(|info| info.generation == 0) else { return };
        let (Some(start), Some(file)) = (self.at_start(info.object), scene.bodies.get_mut(info.object))
        else {
            return;
        };
        let params = self.params_for(pin.aim.body);
        file.fracture.keep = match &pin.kept {
            Some(kept) => cells(&pin.aim, &params, None, (&start.def, true))
                .map(|cells| kept.among(&cells.pattern.seeds))
                .unwrap_or_default(),
            None => params.keep,
        };
        scene.pinned = Some(Pinned {
            body: info.object as u32,
            point: world_from_local(&start.state, &start.def.shape, pin.aim.point_in_grid),
            direction: start.state.rotation * pin.aim.direction_in_grid,
        });
    }
}
