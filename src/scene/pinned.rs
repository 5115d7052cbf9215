//! The pinned impact: a blow that stays in place until it falls. Computes its cells, and converts it from and to the
//! scene file's form.
//!
//! In: a scene that pins an impact, or tuned values that do. Out: the pin in the other form.

use std::sync::Arc;

use glam::DVec3;

use super::{
    Aim, KeptCells, Pin, Pinned, Scene,
    breaking::cells,
    document::Document,
    stage::{Stage, Standing},
};
use crate::{
    bodies::Body,
    fracture::{FractureParams, UNIT_BITS},
    svo::Grid,
};

/// Painted cells to be transferred to another grid of the same object.
pub(super) struct Carried {
    grid: Grid,
    kept: Arc<KeptCells>,
}

impl Carried {
    /// The cells painted on a whole body, for its import at another level.
    pub fn of(pin: &Pin, stage: &Stage) -> Option<Self> {
        let body = stage.body(pin.aim.body).filter(|body| stage.info_or_whole(body.id).is_intact())?;
        Some(Self { grid: body.def.octree().grid, kept: pin.kept.clone()? })
    }

    /// The painted cells in another grid of the same mesh.
    fn on(&self, grid: &Grid) -> KeptCells {
        let unit = |grid: &Grid| f64::from(1u32 << (UNIT_BITS - grid.level));
        let old = self.grid.to_mesh();
        self.kept.mapped(|seed| grid.from_mesh(old.transform_point3(seed / unit(&self.grid))) * unit(grid))
    }
}

/// The pin of `scene` on its just placed `body`; its cells are those `carried`, or else those that the scene lists.
/// `params` are those tuned from the scene's first body.
pub(super) fn pin_of(
    scene: &Scene,
    body: &Body,
    carried: Option<&Carried>,
    mut params: FractureParams,
) -> Option<Pin> {
    let pinned = scene.pinned?;
    let file = scene.bodies.get(pinned.body as usize)?;
    let aim = Aim::at(body, pinned.point, pinned.direction.normalize_or(DVec3::NEG_Y));
    let listed = std::mem::take(&mut params.keep);
    let listed = if pinned.body == 0 { listed } else { file.fracture.keep.clone() };
    let kept = match carried {
        Some(carried) => Some(carried.on(&body.def.octree().grid)),
        // Without a pattern there are no cells; the preview shows the reason.
        None => cells(aim.impact(), &params, None, (&body.def, true))
            .ok()
            .map(|cells| KeptCells::new(cells.pattern.seeds, listed.clone()))
            .filter(|_| !listed.is_empty()),
    };
    Some(Pin { aim, kept: kept.map(Arc::new) })
}

/// Writes the pinned impact into a scene to be saved, whose bodies `start` as given. A pin on a piece is left out,
/// since a scene starts with whole objects.
pub(super) fn write_pin(scene: &mut Scene, document: &Document, stage: &Stage, start: &Standing) {
    scene.pinned = None;
    let Some(pin) = &document.tuning().pin else { return };
    for body in &mut scene.bodies {
        body.fracture.keep.clear();
    }
    let Some(info) = stage.info(pin.aim.body).filter(|info| info.is_intact()) else { return };
    let (Some(start), Some(file)) = (start.body_of(info.object), scene.bodies.get_mut(info.object)) else {
        return;
    };
    let params = document.tuned_params(info);
    file.fracture.keep = match &pin.kept {
        Some(kept) => cells(pin.aim.impact(), &params, None, (&start, true))
            .map(|cells| kept.among(&cells.pattern.seeds))
            .unwrap_or_default(),
        None => params.keep,
    };
    let (point, direction) = pin.aim.in_world(&start.shape, &start.state);
    scene.pinned = Some(Pinned { body: info.object as u32, point, direction });
}
