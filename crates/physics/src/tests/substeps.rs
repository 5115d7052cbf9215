//! Impulses of all substeps: what contacts say of a step against how the bodies' momenta change in it.

use crate::{
    Body, Contact, ResponseId, World, WorldSettings,
    testing::{block, body, grid, low_y, world},
};
use glam::DVec3;
use std::sync::Arc;

const RESPONSES: [ResponseId; 2] = [ResponseId::SOFT, ResponseId::IMPULSE];

/// A cube that floats `gap` m over the floor and flies at `velocity`, m/s, where `gravity` pulls.
fn cube(response: ResponseId, gravity: DVec3, gap: f64, velocity: DVec3) -> World {
    let mut w = world(WorldSettings { response, gravity, sleeping: false, ..WorldSettings::default() });
    let forest = Arc::new(block(5, [8; 3], [24; 3]));
    let mut def = body(&forest, 0, grid(5, 1.0), 4, DVec3::ZERO);
    def.state.position.y += gap - low_y(&def);
    def.state.linear_velocity = velocity;
    def.restitution = 0.4;
    w.add(def);
    w.contact_substeps = true;
    w
}

fn momentum(body: &Body) -> DVec3 {
    body.def.mass_kg() * body.state.linear_velocity
}

/// The impulse of a row's substep on the first body, N s.
fn of_substep(row: &Contact) -> DVec3 {
    row.normal * row.substep_impulse + row.substep_friction
}

/// The rows of each contact of each search.
fn by_contact(rows: &[Contact]) -> Vec<&[Contact]> {
    rows.chunk_by(|a, b| b.substep.is_some_and(|later| a.substep.map(|k| k + 1) == Some(later))).collect()
}

/// Without weight nothing but contacts changes a velocity. The cube flies fast enough for several searches in a step,
/// slides, and rebounds.
#[test]
fn the_momentum_of_a_body_that_hits_the_floor_changes_by_the_impulses_of_all_substeps() {
    for response in RESPONSES {
        let mut w = cube(response, DVec3::ZERO, 0.05, DVec3::new(3.0, -9.0, 0.5));
        let start = momentum(&w.bodies[0]);
        let (mut sum, mut pushed) = (DVec3::ZERO, DVec3::ZERO);
        for _ in 0..30 {
            let before = momentum(&w.bodies[0]);
            w.step_on_cpu();
            let of_step: DVec3 = w.substep_contacts().iter().map(of_substep).sum();
            let change = momentum(&w.bodies[0]) - before;
            // Planted errors to see this fail: note no bounce, or the rows of the last search alone.
            let off = (change - of_step).length();
            assert!(off < 1e-9 * start.length(), "{response:?}: {change} by {of_step}");
            sum += of_step;
            pushed += w.pushes().iter().map(|push| push.impulse).sum::<DVec3>();
            let most = w.settings.substeps;
            assert!(w.substep_contacts().iter().all(|row| row.substep.is_some_and(|k| k < most)));
        }
        let normal = sum.y;
        println!("{response:?}: {start} and {sum} are {}", momentum(&w.bodies[0]));
        assert!(
            normal > start.length() * 0.9 && sum.x < -0.1 * start.x,
            "it rebounds, and friction brakes it"
        );
        assert!((pushed.y - normal).abs() < 1e-9 * normal, "{pushed}");
    }
}

/// A cube slides and comes to rest. In a step with one search the sums are those of its rows; at rest they bear the cube.
#[test]
fn sums_over_substeps_are_those_of_the_step_and_bear_the_weight() {
    let gravity = DVec3::NEG_Y * 9.81;
    for response in RESPONSES {
        let mut w = cube(response, gravity, 0.0, DVec3::X);
        let (dt, mass) = (w.settings.dt, w.bodies[0].def.mass_kg());
        let (mut slid, mut borne, mut rubbed) = (0, 0.0, DVec3::ZERO);
        let steps = (1.0 / dt).round() as usize;
        for step in 0..2 * steps {
            w.step_on_cpu();
            let contacts = w.contacts();
            let rows = by_contact(w.substep_contacts());
            if rows.len() == contacts.len() {
                for (rows, contact) in rows.iter().zip(&contacts) {
                    let normal: f64 = rows.iter().map(|row| row.substep_impulse).sum();
                    let friction: DVec3 = rows.iter().map(|row| row.substep_friction).sum();
                    let scale = 1e-12 * (1e-3 + normal);
                    assert!(
                        (normal - contact.step_impulse).abs() < scale
                            && contact.impulse == contact.step_impulse
                    );
                    assert!((friction - contact.step_friction).length() < scale);
                    assert_eq!(rows.len(), w.settings.substeps as usize);
                    slid += usize::from(contact.step_friction.x < -1e-3 * mass * dt);
                }
            }
            if step >= steps {
                borne += contacts.iter().map(|contact| contact.step_impulse * contact.normal.y).sum::<f64>();
                rubbed += contacts.iter().map(|contact| contact.step_friction).sum::<DVec3>();
            }
        }
        let weight = mass * 9.81;
        println!("{response:?}: the floor bears {:.6} of the weight, {rubbed}", borne / weight);
        assert!(slid > 10 && (borne / weight - 1.0).abs() < 0.01 && rubbed.length() < 0.01 * weight);
    }
}

#[test]
fn bodies_move_alike_with_and_without_a_record_of_substeps() {
    for response in RESPONSES {
        let end = |kept: bool| {
            let mut w = cube(response, DVec3::NEG_Y * 9.81, 0.1, DVec3::new(2.0, -4.0, 0.0));
            w.contact_substeps = kept;
            for _ in 0..60 {
                w.step_on_cpu();
                assert!(kept || w.substep_contacts().is_empty());
            }
            (w.bodies[0].state, w.contacts().iter().map(|c| (c.impulse, c.step_friction)).collect::<Vec<_>>())
        };
        assert_eq!(end(true), end(false));
    }
}

#[test]
fn a_contact_of_a_body_that_sleeps_has_one_row_without_a_substep() {
    let mut w = cube(ResponseId::SOFT, DVec3::NEG_Y * 9.81, 0.0, DVec3::ZERO);
    w.settings.sleeping = true;
    for _ in 0..400 {
        w.step_on_cpu();
    }
    assert!(w.bodies[0].asleep && w.substep_contacts() == w.contacts() && !w.contacts().is_empty());
    assert!(w.substep_contacts().iter().all(|row| row.substep.is_none()));
    let borne: f64 = w.contacts().iter().map(|contact| contact.step_impulse).sum();
    let weight = w.bodies[0].def.mass_kg() * 9.81 * w.settings.dt;
    assert!((borne / weight - 1.0).abs() < 0.05, "its last step awake: {borne} of {weight}");
}
