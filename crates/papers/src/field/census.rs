//! Number of colliding points, to compare with the number of contacts (Glondu et al. 2012, table 2).
//!
//! In: the generator's data of bodies, and the manifolds of a step. Out: counts. Every tree is searched for all of its
//! points, which costs far more than the few contacts that a step needs: for measuring.

use super::{
    ENTRY, Fields,
    parts::Parts,
    spheres::{HalfSpace, Interior, Placement, Scratch, Selection},
};
use crate::bodies::{
    Body, BodyId, Plane, World,
    collide::{MARGIN_CELLS, Manifold, remembered},
    index_of,
};
use rayon::prelude::*;

/// Points of all pairs at one moment. *Near* is inside, or outside by less than a quarter of a cell, where contacts are
/// made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Colliding {
    /// Contacts that were put out.
    pub contacts: usize,
    /// Number of them closer than a quarter of a cell.
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

/// How many points collide in a world, and how many contacts were put out for them; none where its contacts are not
/// found by distance fields. Takes longer than a step.
#[must_use]
pub fn colliding_points(world: &World) -> Option<Colliding> {
    let memory = world.memory_of(ENTRY.name);
    let parts = remembered::<Fields>(&memory)?;
    Some(colliding(parts, &world.bodies, world.manifolds(), &world.settings.sane().planes()))
}

/// Counts the points of all pairs that have a manifold. Pairs of which no field is known count with their contacts
/// alone.
fn colliding(parts: &Parts, bodies: &[Body], manifolds: &[Manifold], planes: &[Plane]) -> Colliding {
    let of = |id: BodyId| index_of(bodies, id).map(|k| &bodies[k]);
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
    // A body without a contact of its surface points collides by points of its interior.
    let inside = scratch.contacts().iter().filter(|contact| contact.depth >= 0.0).count();
    [scratch.contacts().len(), inside]
}

#[cfg(test)]
mod tests {
    use super::{super::LEVEL, *};
    use crate::bodies::{
        ContactsId, Options, WorldSettings,
        testing::{block, body, grid},
    };
    use glam::DVec3;
    use std::sync::Arc;

    /// A world with one block, a little into the floor, after a step.
    fn on_the_floor(settings: WorldSettings) -> World {
        crate::register();
        let contacts = ContactsId::named("field").expect("it is in the table");
        let mut world = World::on_cpu(WorldSettings { contacts, ..settings });
        let forest = Arc::new(block(5, [8, 0, 8], [24, 8, 24]));
        world.add(body(&forest, 0, grid(5, 1.0), 5, DVec3::Y * -0.002));
        world.step_on_cpu();
        world
    }

    fn known(world: &World) -> Parts {
        remembered::<Fields>(&world.memory_of(ENTRY.name)).expect("it finds contacts").clone()
    }

    #[test]
    fn every_point_near_the_floor_is_counted_and_few_are_contacts() {
        let world = on_the_floor(WorldSettings::default());
        let counts = colliding_points(&world).expect("contacts are found by fields");
        let parts = known(&world);
        let (body, margin) = (&world.bodies[0], MARGIN_CELLS / 32.0);
        let world_from_grid = body.def.world_from_grid(&body.state);
        let forest = &parts.of(body.id).expect("it is known").forest;
        let height = |k: usize| world_from_grid.transform_point3(forest.position(k as u32)).y;
        let points: Vec<_> = forest.points().enumerate().filter(|(_, p)| p.on_surface).collect();
        let near = points.iter().filter(|(k, _)| height(*k) < margin).count();
        let inside = points.iter().filter(|(k, _)| height(*k) < 0.0).count();
        println!("{counts:?}; by hand {near} near and {inside} inside");
        assert_eq!((counts.near, counts.inside), (near, inside));
        assert!(near > 200 && inside > 200 && (4..=9).contains(&counts.near_contacts), "{counts:?}");
        let octrees = World::on_cpu(WorldSettings::default());
        assert_eq!(colliding_points(&octrees), None);
    }

    #[test]
    fn another_field_level_makes_another_field() {
        let at = |field_level: u32| {
            let options = Options::from([(LEVEL.name, f64::from(field_level))]);
            let world = on_the_floor(WorldSettings { options, ..WorldSettings::default() });
            let parts = known(&world);
            parts.of(world.bodies[0].id).and_then(|part| Some(part.fragment()?.cell())).expect("it is known")
        };
        assert_eq!([at(5), at(3), at(2)], [1.0, 4.0, 8.0]);
        // Beyond what there is, and beyond what the body collides at.
        assert_eq!([at(0), at(7), at(99)], [16.0, 1.0, 1.0]);
        let mut world = on_the_floor(WorldSettings::default());
        world.settings.options.set(&LEVEL, 3.0);
        world.step_on_cpu();
        world.bodies[0].state.position.y -= 0.003;
        world.step_on_cpu();
        let cell = known(&world).of(world.bodies[0].id).and_then(|part| Some(part.fragment()?.cell()));
        assert_eq!(cell, Some(4.0), "it is made anew");
    }
}
