//! How many points collide, to be compared with how many contacts are put out (Glondu et al. 2012, table 2).
//!
//! In: what is known of bodies, and the manifolds of a step. Out: counts. Every tree is asked for all of its points, which
//! costs far more than the few contacts that a step needs: for measuring.

use super::{
    parts::Parts,
    spheres::{HalfSpace, Interior, Placement, Scratch, Selection},
};
use crate::bodies::{
    Body, BodyId, Plane,
    collide::{MARGIN_CELLS, Manifold},
};
use rayon::prelude::*;

/// Points of all pairs at one moment. *Near* is inside, or outside by less than a quarter of a cell, where contacts are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Colliding {
    /// Contacts that were put out.
    pub contacts: usize,
    /// Those of them that are near.
    pub near_contacts: usize,
    /// All points of surfaces that are near.
    pub near: usize,
    /// All points of surfaces that lie inside.
    pub inside: usize,
}

impl std::iter::Sum for Colliding {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            contacts: a.contacts + b.contacts,
            near_contacts: a.near_contacts + b.near_contacts,
            near: a.near + b.near,
            inside: a.inside + b.inside,
        })
    }
}

/// Counts the points of all pairs that have a manifold. Pairs of which no field is known count with their contacts alone.
#[must_use]
pub fn colliding(parts: &Parts, bodies: &[Body], manifolds: &[Manifold], planes: &[Plane]) -> Colliding {
    let of = |id: BodyId| bodies.binary_search_by_key(&id, |body| body.id).ok().map(|k| &bodies[k]);
    let count = |manifold: &Manifold| {
        let margin = MARGIN_CELLS * manifold.resolution_m;
        let mut sum = Colliding {
            contacts: manifold.points.len(),
            near_contacts: manifold.points.iter().filter(|point| point.separation <= margin).count(),
            ..Colliding::default()
        };
        let Some(first) = of(manifold.first) else { return sum };
        let met: Vec<[usize; 2]> = match manifold.second {
            None => planes.iter().map(|plane| at_plane(parts, first, plane, margin)).collect(),
            Some(second) => {
                let Some(second) = of(second) else { return sum };
                vec![points_in(parts, [first, second], margin), points_in(parts, [second, first], margin)]
            }
        };
        for [near, inside] in met {
            (sum.near, sum.inside) = (sum.near + near, sum.inside + inside);
        }
        sum
    };
    manifolds.par_iter().map(count).sum()
}

/// Points of the first body that are near the second, and those inside.
fn points_in(parts: &Parts, [own, other]: [&Body; 2], margin: f64) -> [usize; 2] {
    let [Some(part), Some(of_other)] = [own, other].map(|body| parts.of(body.id)) else { return [0; 2] };
    let Some(fragment) = of_other.fragment() else { return [0; 2] };
    let world_from_other = other.def.world_from_grid(&other.state);
    let placement = Placement::new(world_from_other.inverse() * own.def.world_from_grid(&own.state));
    all_points(&part.forest, &fragment, &placement, margin / other.def.shape.unit_m())
}

fn at_plane(parts: &Parts, body: &Body, plane: &Plane, margin: f64) -> [usize; 2] {
    let Some(part) = parts.of(body.id) else { return [0; 2] };
    let placement = Placement::new(body.def.world_from_grid(&body.state));
    let half_space = HalfSpace { normal: plane.normal, offset: plane.offset };
    all_points(&part.forest, &half_space, &placement, margin)
}

fn all_points(
    forest: &super::spheres::SphereForest,
    other: &impl Interior,
    placement: &Placement,
    tolerance: f64,
) -> [usize; 2] {
    let (all, mut scratch) = (Selection { tolerance, ..Selection::all() }, Scratch::default());
    forest.query(other, placement, &all, &mut scratch);
    // Without a point of its surface a body is met by points of its interior.
    let inside = scratch.contacts().iter().filter(|contact| contact.depth >= 0.0).count();
    [scratch.contacts().len(), inside]
}
