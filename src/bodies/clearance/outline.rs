//! A few corners round which a body lies.
//!
//! In: a shape. Out: corners of its convex hull, and how far anything may lie outside. Most leaves of an octree lie in the
//! midst of something flat and are no corners: of a cube of leaves whose normals agree only the one that sticks out farthest
//! is looked at. Made once for a shape.

use crate::{
    bodies::{Body, collide::HullPoints, corners::Corners},
    shape::{Hull, Shape},
};
use glam::DVec3;
use rayon::prelude::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::distance::outside;

/// More corners are not looked at.
const MOST_CORNERS: usize = 64;

/// Corners in body axes, from the centre of mass, m.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// In no order.
    pub corners: Corners,
    /// So far anything may lie outside their hull, m.
    pub slack: f64,
}

impl Outline {
    /// Of a shape.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        let HullPoints { points, rounded, beyond } = HullPoints::of(shape);
        let Some(hull) = Hull::through(&points, MOST_CORNERS, rounded) else {
            // What is flat has no hull.
            return Self { corners: Corners::new(&corners_of_bounds(shape)), slack: 0.0 };
        };
        let mut outline = Self { corners: Corners::new(&hull.points), slack: rounded };
        if hull.points.len() >= MOST_CORNERS {
            outline.slack = points.iter().map(|p| outside(&outline.corners, *p)).fold(rounded, f64::max);
        }
        outline.slack += beyond;
        outline
    }
}

fn corners_of_bounds(shape: &Shape) -> Vec<DVec3> {
    let (low, high) = shape.bounds();
    let at = |c: u32| low + DVec3::from([c & 1, c >> 1 & 1, c >> 2].map(f64::from)) * (high - low);
    (0..8).map(|c| (at(c) - shape.centre()) * shape.unit_m()).collect()
}

/// Outlines of the shapes of bodies that have been near others.
#[derive(Default)]
pub struct Outlines {
    /// By address of the shape, which is held, so that its address names it. Only looked up.
    known: BTreeMap<usize, (Arc<Shape>, Arc<Outline>)>,
    /// Of bodies by their numbers, with the addresses of their shapes, so that nobody has to look them up twice.
    of_body: Vec<Option<(usize, Arc<Outline>)>>,
}

fn address(shape: &Arc<Shape>) -> usize {
    Arc::as_ptr(shape) as usize
}

impl Outlines {
    /// Makes what is missing of the bodies with these numbers, on all cores.
    pub fn prepare(&mut self, bodies: &[Body], near: impl Iterator<Item = usize>) {
        let mut asked = vec![false; bodies.len()];
        near.for_each(|k| asked[k] = true);
        self.of_body.resize(bodies.len(), None);
        for (body, of_body) in bodies.iter().zip(&mut self.of_body) {
            if of_body.as_ref().is_some_and(|(at, _)| *at != address(&body.def.shape)) {
                *of_body = None;
            }
        }
        let unknown: Vec<usize> =
            (0..bodies.len()).filter(|&k| asked[k] && self.of_body[k].is_none()).collect();
        let mut missing: BTreeMap<usize, &Arc<Shape>> = BTreeMap::new();
        for shape in unknown.iter().map(|&k| &bodies[k].def.shape) {
            if !self.known.contains_key(&address(shape)) {
                missing.insert(address(shape), shape);
            }
        }
        let missing: Vec<_> = missing.into_iter().collect();
        let make =
            |(at, shape): (usize, &Arc<Shape>)| (at, (Arc::clone(shape), Arc::new(Outline::of(shape))));
        let made: Vec<_> = missing.into_par_iter().map(make).collect();
        self.known.extend(made);
        for k in unknown {
            let at = address(&bodies[k].def.shape);
            self.of_body[k] = self.known.get(&at).map(|(_, outline)| (at, Arc::clone(outline)));
        }
    }

    /// That of the body with this number, where it was prepared.
    #[must_use]
    pub fn of(&self, k: usize) -> Option<&Outline> {
        self.of_body[k].as_ref().map(|(_, outline)| &**outline)
    }

    /// Forgets shapes that no body has.
    pub fn keep(&mut self, left: &[Body]) {
        let used: BTreeSet<usize> = left.iter().map(|body| address(&body.def.shape)).collect();
        self.known.retain(|at, _| used.contains(at));
        self.of_body.clear();
    }
}
