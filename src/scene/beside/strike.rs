//! A blow as every column is to show it.

use std::sync::Arc;

use glam::DVec3;

use super::Way;
use crate::{
    bodies::{BodyDef, BodyId},
    fracture::{FractureParams, Impact, KeptCells},
    scene::{
        BreakRecord,
        breaking::{Blow, Cause, Waiting, first_radius, world_from_local},
    },
    shape::Shape,
};

/// A blow of the document's: one that has fallen, or the pinned one.
#[derive(Clone)]
pub(in crate::scene) struct Strike {
    /// Number of its break; `None` for the pinned blow.
    record: Option<usize>,
    /// The object that it falls on.
    pub object: usize,
    /// Where it falls, shape space.
    impact: Impact,
    /// As the document breaks by it.
    params: FractureParams,
    /// Cells that were painted to stay.
    kept: Option<Arc<KeptCells>>,
    /// Speed that pieces at the point get, m/s.
    speed: f64,
    /// When it fell, s; the pinned one falls now.
    pub time: f64,
    /// The object as it lay then, where it was whole.
    pub whole: Option<BodyDef>,
}

impl Strike {
    /// The blow of a break, on an object that was whole (`whole`: any state) or on a piece of one.
    pub fn fallen(number: usize, record: &BreakRecord, whole: Option<BodyDef>) -> Self {
        Self {
            record: Some(number),
            object: record.object,
            impact: record.impact,
            params: record.params.clone(),
            kept: None,
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
        Self { record: None, object, impact, params, kept, speed: 0.0, time, whole }
    }

    /// Number of its break; `None` for the pinned blow.
    pub fn record(&self) -> Option<usize> {
        self.record
    }

    /// Whether it has fallen.
    pub fn has_fallen(&self) -> bool {
        self.record.is_some()
    }

    /// Whether both break the same, wherever it lies.
    pub fn is(&self, other: &Self) -> bool {
        let shape = |strike: &Self| strike.whole.as_ref().map(|def| Arc::clone(&def.shape));
        let same_shape = match (shape(self), shape(other)) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a, &b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let what = |s: &Self| (s.record, s.object, s.impact, s.kept.clone());
        same_shape && what(self) == what(other) && self.params == other.params
    }

    /// Where it falls on a body of the object, local space.
    pub fn point_on(&self, shape: &Shape) -> DVec3 {
        shape.local_from_shape(self.impact.point)
    }

    /// The same on a body, in the world.
    pub fn blow_on(&self, def: &BodyDef) -> Blow {
        Blow {
            point: world_from_local(&def.state, &def.shape, self.point_on(&def.shape)),
            direction: def.state.rotation * self.impact.direction,
            speed: self.speed,
        }
    }

    /// Its innermost radius, share of the longest side.
    pub fn first_radius(&self) -> f64 {
        first_radius(&self.params)
    }

    /// The same to be computed by another method on such a body.
    pub fn waiting(&self, way: Way, def: &BodyDef) -> Waiting {
        Waiting {
            // Of no importance: what comes of it goes where the blow falls.
            body: BodyId(0),
            blow: self.blow_on(def),
            params: self.params.by(way.method, way.surface),
            kept: self.kept.clone(),
            cause: Cause::Event,
            impact: Some(Impact { point: self.point_on(&def.shape), ..self.impact }),
            piece: None,
        }
    }
}
