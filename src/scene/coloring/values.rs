//! Colours of bodies by a quantity, and the legend that explains them.
//!
//! In: the stage, the log of breaks, stresses. Out: a colour for each body, by its id.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Key, Kind, Legend, MOST_ROWS, NO_VALUE, Quantity, Scale,
    quantity::{BodyPlace, Place, SeedSet},
};
use crate::{
    bodies::{Body, BodyDef, BodyId, BodyState, octrees::Levels},
    render::piece_color,
    scene::{BodyInfo, BodyStress, BreakLog, StressLoad, body_stress::Stresses, stage::Stage},
};

/// Colours of bodies, and what they mean.
pub struct BodyColors {
    quantity: Quantity,
    painter: Painter,
    colors: BTreeMap<BodyId, [u8; 3]>,
}

impl BodyColors {
    /// Colours of all bodies by a quantity.
    pub(in crate::scene) fn new(
        quantity: Quantity,
        scale: Scale,
        stage: &Stage,
        logs: (&BreakLog, &Stresses),
    ) -> Self {
        let values = values_of(quantity, stage, logs);
        let stresses = stage.bodies().iter().filter_map(|body| logs.1.of(body.id, &body.def.shape));
        let painter = Painter::new(quantity, scale, values.iter().map(|(_, value)| *value))
            .under(stresses.map(BodyStress::load));
        let colors = values.iter().map(|(id, value)| (*id, painter.color(*value))).collect();
        Self { quantity, painter, colors }
    }

    /// Colours of the same numbers for the bodies of another stage.
    pub(in crate::scene) fn on(&self, stage: &Stage) -> Self {
        let (quantity, painter) = (self.quantity, self.painter.clone());
        let values = values_of(quantity, stage, (&BreakLog::default(), &Stresses::default()));
        let colors = values.iter().map(|(id, value)| (*id, painter.color(*value))).collect();
        Self { quantity, painter, colors }
    }

    /// Colour of a body; grey if it has no value.
    #[must_use]
    pub fn of(&self, id: BodyId) -> [u8; 3] {
        self.colors.get(&id).copied().unwrap_or(NO_VALUE)
    }

    /// What the colours mean; `None` without values.
    #[must_use]
    pub fn legend(&self) -> Option<Legend> {
        self.painter.legend()
    }
}

/// The values of all bodies that have one.
fn values_of(quantity: Quantity, stage: &Stage, logs: (&BreakLog, &Stresses)) -> Vec<(BodyId, f64)> {
    let pressing = Pressing::new(stage, &[quantity]);
    let value = |body: &Body| {
        let known = (body.id, &body.def, stage.info_or_whole(body.id), &body.state);
        let of = pressing.beside(body.id, body_place(logs, known));
        Some((body.id, (quantity.of)(&Place { body: &of, voxel: None })?))
    };
    stage.bodies().iter().filter_map(value).collect()
}

/// A body as quantities read it, without its contacts.
pub(in crate::scene) fn body_place<'a>(
    (breaks, stresses): (&'a BreakLog, &'a Stresses),
    (id, def, info, state): (BodyId, &'a BodyDef, BodyInfo, &BodyState),
) -> BodyPlace<'a> {
    let record = info.origin.and_then(|origin| Some((breaks.get(origin.record)?, origin.part)));
    let seeds = record.and_then(|(record, _)| {
        let (pattern, grid) = (record.seeds.as_ref()?, record.grid?);
        let impact = Some(grid.from_mesh(record.impact.point));
        Some(SeedSet { seeds: &pattern.seeds, objects: &pattern.objects, impact, grid: Some(grid) })
    });
    // A forest that was put together anew, as that of merged pieces, has other trees than the break made.
    let label = record.filter(|_| info.joined.is_none()).and_then(|(record, _)| {
        let octree = def.shape.as_octree().filter(|_| def.shape.as_mesh().is_none())?;
        let made = record.forest_of_parts()?;
        Arc::ptr_eq(&made, &octree.forest).then_some(octree.tree)
    });
    BodyPlace {
        object: info.object,
        number: info.color_id,
        generation: info.generation,
        cell: record.and_then(|(record, part)| record.cells.get(part).copied()),
        impact: record.map(|(record, _)| record.impact.point),
        unit_m: def.shape.as_octree().map_or(1.0, |octree| octree.grid.h),
        motion: Some([state.linear_velocity.length(), state.angular_velocity.length()]),
        physics_level: Some(def.physics_level),
        seeds,
        stress: stresses.of(id, &def.shape),
        label,
        ..BodyPlace::of(&def.shape)
    }
}

/// Colours of one quantity's values.
#[derive(Clone)]
pub struct Painter {
    quantity: Quantity,
    range: Option<super::Range>,
    categories: BTreeSet<u64>,
    /// What loads the bodies whose stress is shown, each load once.
    loads: Vec<StressLoad>,
}

impl Painter {
    /// Colours for these values.
    pub fn new(quantity: Quantity, scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        match quantity.kind {
            Kind::Number => {
                Self { quantity, range: scale.over(values), categories: BTreeSet::new(), loads: Vec::new() }
            }
            Kind::Category => {
                let categories = values.map(|value| value.max(0.0) as u64).collect();
                Self { quantity, range: None, categories, loads: Vec::new() }
            }
        }
    }

    /// The same with what loads the bodies, which the legend of a stress names.
    #[must_use]
    pub fn under(mut self, loads: impl Iterator<Item = StressLoad>) -> Self {
        let of_stress = self.quantity.of_stress;
        for load in loads.filter(|_| of_stress) {
            if !self.loads.contains(&load) {
                self.loads.push(load);
            }
        }
        self
    }

    /// Colour of a value.
    pub fn color(&self, value: f64) -> [u8; 3] {
        match (self.quantity.kind, &self.range) {
            (Kind::Category, _) => piece_color(value.max(0.0) as u32),
            (Kind::Number, Some(range)) => range.color(value),
            (Kind::Number, None) => NO_VALUE,
        }
    }

    /// What the colours mean; `None` without values.
    #[must_use]
    pub fn legend(&self) -> Option<Legend> {
        let key = match (&self.range, self.categories.len()) {
            (Some(range), _) => Key::Numbers(*range),
            (None, 0) => return None,
            (None, all) => {
                let named =
                    |number: &u64| (self.quantity.category(*number as f64), piece_color(*number as u32));
                let shown = self.categories.iter().take(MOST_ROWS).map(named).collect();
                Key::Categories { shown, more: all.saturating_sub(MOST_ROWS) }
            }
        };
        let (title, unit) = match self.loads[..] {
            [] => (self.quantity.label.to_owned(), self.quantity.unit),
            [load] => (format!("{}, {}", self.quantity.label, load.in_words()), load.unit()),
            _ => (format!("{}, of several loads", self.quantity.label), self.quantity.unit),
        };
        Some(Legend { title, unit: unit.to_owned(), key })
    }
}

/// Contacts of bodies, where a quantity needs them.
#[derive(Default)]
pub(in crate::scene) struct Pressing {
    /// Deepest contact, m, and sum of impulses, N s.
    presses: BTreeMap<BodyId, [f64; 2]>,
    /// The finest level of a pair.
    levels: BTreeMap<BodyId, u32>,
}

impl Pressing {
    /// What these quantities need of a stage.
    pub(in crate::scene) fn new(stage: &Stage, quantities: &[Quantity]) -> Self {
        let mut all = Self::default();
        let of_contacts = [Quantity::ContactDepth, Quantity::ContactImpulse];
        if of_contacts.iter().any(|quantity| quantities.contains(quantity)) {
            for contact in stage.contacts() {
                for id in [Some(contact.bodies.0), contact.bodies.1].into_iter().flatten() {
                    let [depth, impulse]: &mut [f64; 2] = all.presses.entry(id).or_default();
                    *depth = depth.max(-contact.separation);
                    *impulse += contact.impulse;
                }
            }
        }
        if quantities.contains(&Quantity::PairLevel) {
            let world = stage.world();
            let levels = Levels::new(&world.bodies, world.detail());
            let mut pairs: Vec<_> = stage.contacts().iter().map(|contact| contact.bodies).collect();
            pairs.sort_unstable();
            pairs.dedup();
            for (a, b) in pairs {
                let Some(i) = stage.index(a) else { continue };
                let mut add = |id: BodyId, level: u32| {
                    let finest = all.levels.entry(id).or_default();
                    *finest = level.max(*finest);
                };
                match b.and_then(|b| Some((b, stage.index(b)?))) {
                    Some((b, j)) => {
                        let [own, other] = levels.pair(i, j);
                        add(a, own);
                        add(b, other);
                    }
                    None => add(a, levels.own(i)),
                }
            }
        }
        all
    }

    /// A body with its contacts.
    pub fn beside<'a>(&self, id: BodyId, place: BodyPlace<'a>) -> BodyPlace<'a> {
        let pressing = Some(self.presses.get(&id).copied().unwrap_or_default());
        BodyPlace { pressing, pair_level: self.levels.get(&id).copied(), ..place }
    }
}
