//! A blow as the comparison views replay it.

use std::sync::Arc;

use glam::DVec3;

use super::Way;
use crate::{
    bodies::{BodyDef, BodyId},
    fracture::{FractureParams, Impact, KeptCells, Solved},
    scene::{
        BreakRecord,
        breaking::{Blow, Cause, Waiting, first_radius, world_from_local},
    },
    shape::Shape,
};

/// A blow of the document: one that has fallen, or the pinned one.
#[derive(Clone)]
pub(in crate::scene) struct Strike {
    /// Index of its break; `None` for the pinned blow.
    record: Option<usize>,
    /// The object that it strikes.
    pub object: usize,
    /// Point and direction, shape space.
    impact: Impact,
    /// The document's parameters for it.
    params: FractureParams,
    /// Cells that stay, by their places.
    kept: Option<Arc<KeptCells>>,
    /// The seeds that the document found for a number of pieces.
    solved: Option<Solved>,
    /// Speed given to pieces at the point, m/s.
    speed: f64,
    /// Simulated time, s; for the pinned blow the present time.
    pub time: f64,
    /// The object as it was then, if it was whole.
    pub whole: Option<BodyDef>,
}

impl Strike {
    /// The blow of a break. `whole` is the object in any state, if the broken body was whole.
    pub fn fallen(number: usize, record: &BreakRecord, whole: Option<BodyDef>) -> Self {
        let keep = &record.params.keep;
        let staying = record.pattern.as_ref().filter(|_| !keep.is_empty());
        Self {
            record: Some(number),
            object: record.object,
            impact: record.impact,
            params: record.params.clone(),
            kept: staying.map(|pattern| Arc::new(KeptCells::new(pattern.seeds.clone(), keep.clone()))),
            solved: record.solved,
            speed: record.speed,
            time: record.time,
            whole: whole.map(|def| BodyDef { state: record.state, ..def }),
        }
    }

    /// The pinned blow on an object of that shape, at `time`; `impact` in its local space.
    pub fn pinned(
        (object, shape, whole): (usize, &Shape, Option<BodyDef>),
        impact: Impact,
        (params, kept): (FractureParams, Option<Arc<KeptCells>>),
        time: f64,
    ) -> Self {
        let impact = Impact { point: shape.shape_from_local(impact.point), ..impact };
        Self { record: None, object, impact, params, kept, solved: None, speed: 0.0, time, whole }
    }

    /// Index of its break; `None` for the pinned blow.
    pub fn record(&self) -> Option<usize> {
        self.record
    }

    /// Whether it has fallen.
    pub fn has_fallen(&self) -> bool {
        self.record.is_some()
    }

    /// Whether both produce the same fracture, wherever the object is.
    pub fn is(&self, other: &Self) -> bool {
        self.falls_like(other) && self.params == other.params
    }

    /// Whether both produce the same fracture in a view of this way: what the document changes may not matter there.
    pub fn is_by(&self, other: &Self, way: &Way) -> bool {
        let is_same = || match way {
            Way::Kept(_) => way.params(&self.params) == way.params(&other.params),
            _ => self.params == other.params,
        };
        self.falls_like(other) && is_same()
    }

    fn falls_like(&self, other: &Self) -> bool {
        let shape = |strike: &Self| strike.whole.as_ref().map(|def| Arc::clone(&def.shape));
        let same_shape = match (shape(self), shape(other)) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a, &b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let what = |s: &Self| (s.record, s.object, s.impact, s.kept.clone());
        same_shape && what(self) == what(other)
    }

    /// The point on a body of the object, local space.
    pub fn point_on(&self, shape: &Shape) -> DVec3 {
        shape.local_from_shape(self.impact.point)
    }

    /// The blow on a body, in world space.
    pub fn blow_on(&self, def: &BodyDef) -> Blow {
        Blow {
            point: world_from_local(&def.state, &def.shape, self.point_on(&def.shape)),
            direction: def.state.rotation * self.impact.direction,
            speed: self.speed,
        }
    }

    /// Innermost radius of the blow, as a share of the longest side.
    pub fn first_radius(&self) -> f64 {
        first_radius(&self.params)
    }

    /// The blow for the fracture of the body `def` in a view of this way.
    pub fn waiting(&self, way: &Way, def: &BodyDef) -> Waiting {
        let mut params = way.params(&self.params);
        // The view cuts along the document's seeds, so that their number is not solved for again.
        if let (Way::Level(_), Some(Solved { seeds, rng, .. })) = (way, self.solved) {
            (params.target_pieces, params.seeds, params.rng) = (None, seeds, rng);
        }
        if !matches!(way, Way::Method(..)) {
            params.fit(def.octree().forest.level);
        }
        Waiting {
            // Unused: the view itself finds the body to replace.
            body: BodyId(0),
            blow: self.blow_on(def),
            params,
            kept: self.kept.clone(),
            cause: Cause::Event,
            impact: Some(Impact { point: self.point_on(&def.shape), ..self.impact }),
            piece: None,
            hold: None,
        }
    }
}
