//! What loads do to bonds: lumps and wear, what blows do to loose parts, and that bodies which come apart keep their momentum.

use glam::DVec3;

use super::{
    Sandbox,
    holding_tests::{held, opened, play},
};
use crate::{
    bodies::structure::{Loads, Memory, StrengthMaterial},
    fracture::{FractureParams, Preset},
    render::Camera,
    scene::{BodyStrength, Event, Scene, SceneBody},
};

/// Of all bodies: momentum (kg m/s), angular momentum about the origin (kg m^2/s), and kinetic energy (J).
fn motion(sandbox: &Sandbox) -> (DVec3, DVec3, f64) {
    sandbox.bodies().iter().fold((DVec3::ZERO, DVec3::ZERO, 0.0), |(linear, angular, energy), body| {
        let (mass, state) = (body.def.mass_kg(), &body.state);
        let own = state.linear_velocity * mass;
        let spin = body.inertia_in_world() * state.angular_velocity;
        let twice = own.dot(state.linear_velocity) + spin.dot(state.angular_velocity);
        (linear + own, angular + state.position.cross(own) + spin, energy + 0.5 * twice)
    })
}

/// Plays a scene without gravity until it is in more than `bodies` bodies, and some steps more: no step may change the
/// momentum, nor make energy.
fn keeps_its_motion(bodies: Vec<SceneBody>, most_steps: usize, count: usize) {
    let scene = Scene { bodies, gravity: DVec3::ZERO, floor: false, ..Scene::default() };
    let mut sandbox = opened(scene);
    let (linear, angular, energy) = motion(&sandbox);
    let (mut least, mut steps) = (energy, 0);
    while sandbox.bodies().len() <= count {
        assert!(steps < most_steps, "it did not come apart: {} bodies", sandbox.bodies().len());
        play(&mut sandbox, 1);
        steps += 1;
    }
    for _ in 0..20 {
        play(&mut sandbox, 1);
        let now = motion(&sandbox);
        let off = [now.0.distance(linear) / linear.length(), now.1.distance(angular) / angular.length()];
        assert!(off[0] < 1e-6 && off[1] < 1e-4, "momentum is off by {off:?}");
        assert!(now.2 <= least * (1.0 + 1e-6), "{} J after {least} J", now.2);
        least = now.2;
    }
    println!(
        "{} bodies after {steps} steps; {:.3} of the energy is left",
        sandbox.bodies().len(),
        least / energy
    );
}

#[test]
fn what_spins_apart_keeps_its_momentum() {
    let body = SceneBody {
        on_floor: false,
        linear_velocity: DVec3::new(1.0, 0.5, -0.3),
        angular_velocity: DVec3::new(2.0, 120.0, 5.0),
        ..held(BodyStrength { material: StrengthMaterial::Plaster, ..Default::default() })
    };
    keeps_its_motion(vec![body], 10, 3);
}

/// The step in which the blow takes the box apart is taken back and taken again with its parts.
#[test]
fn what_a_ball_takes_apart_keeps_its_momentum() {
    let plaster = BodyStrength { material: StrengthMaterial::Plaster, ..Default::default() };
    let ball = SceneBody {
        on_floor: false,
        size: Some(0.4),
        density: 20_000.0,
        position: DVec3::new(0.1, 0.1, 1.0),
        linear_velocity: DVec3::NEG_Z * 30.0,
        ..SceneBody::standing("builtin:sphere", 5)
    };
    keeps_its_motion(vec![SceneBody { on_floor: false, ..held(plaster) }, ball], 40, 5);
}

/// The structure of a box with such bonds.
fn structure_of(strength: BodyStrength) -> std::sync::Arc<crate::bodies::structure::Structure> {
    let sandbox = opened(Scene { bodies: vec![held(strength)], ..Scene::default() });
    sandbox.bodies()[0].def.structure.clone().unwrap()
}

#[test]
fn one_level_of_lumps_is_the_same_by_factors_and_by_what_is_within() {
    let of = |lump_strength: Vec<f64>| {
        let strength = BodyStrength { lumps: vec![6], within: 4.0, lump_strength, ..BodyStrength::default() };
        structure_of(strength).bonds.clone()
    };
    let (within, factors) = (of(Vec::new()), of(vec![1.0, 4.0]));
    assert_eq!(within, factors);
    let stronger = within.iter().filter(|bond| bond.share > 2.0).count();
    assert!(stronger > 5 && stronger < within.len() - 5, "{stronger} of {}", within.len());
    // Without a factor of their own, bonds within the smallest lumps have the strength of the material.
    let weaker = of(vec![0.25]);
    assert!(within.iter().zip(&weaker).all(|(a, b)| (a.share - 4.0 * b.share).abs() < 1e-12));
}

#[test]
fn lumps_come_apart_level_by_level_under_rising_load() {
    let factors = [0.1, 1.0, 10.0];
    let strength =
        BodyStrength { lumps: vec![3, 8], lump_strength: factors.to_vec(), ..BodyStrength::default() };
    let mut structure = (*structure_of(strength)).clone();
    let level = |share: f64| factors.iter().position(|factor| (share / factor - 1.0).abs() < 1e-9).unwrap();
    let counts: Vec<usize> =
        (0..3).map(|k| structure.bonds.iter().filter(|bond| level(bond.share) == k).count()).collect();
    assert!(counts.iter().all(|count| *count > 3), "{counts:?}");
    // It spins ever faster, so that all of it is pulled apart.
    let mut first: [Option<f64>; 3] = [None; 3];
    for k in 0..140 {
        let spin = 5.0 * 1.06f64.powi(k);
        let gravity = DVec3::ZERO;
        let (density, dt) = (2400.0, 0.01);
        let loads = Loads { contacts: &[], supports: &[], gravity, spin: DVec3::Y * spin, density, dt };
        let response = structure.respond(&mut Memory::default(), &loads);
        for failure in &response.failures {
            first[level(structure.bonds[failure.bond].share)].get_or_insert(spin);
        }
        structure = structure.after_step(&response);
    }
    println!("levels fail from {first:?} rad/s on, of {counts:?} bonds");
    let [lumps, within, crumbs] = first.map(Option::unwrap);
    assert!(lumps < within && within < crumbs, "{first:?}");
}

/// A box on the floor onto which a light ball falls, after it has come to rest.
fn struck_softly(fatigue: f64) -> Sandbox {
    let strength = BodyStrength { fatigue, endurance: 0.0, ..BodyStrength::default() };
    let ball = SceneBody {
        on_floor: false,
        size: Some(0.4),
        density: 50.0,
        position: DVec3::new(0.1, 1.22, 0.05),
        ..SceneBody::standing("builtin:sphere", 5)
    };
    let mut sandbox = opened(Scene { bodies: vec![held(strength), ball], ..Scene::default() });
    play(&mut sandbox, 60);
    sandbox
}

#[test]
fn a_blow_that_breaks_nothing_leaves_damage_where_that_is_asked_for() {
    let damages = |sandbox: &Sandbox| -> Vec<f64> {
        let structures = sandbox.bodies().iter().filter_map(|body| body.def.structure.as_ref());
        structures.flat_map(|structure| structure.bonds.iter().map(|bond| bond.damage)).collect()
    };
    let (worn, sound) = (struck_softly(0.9), struck_softly(0.0));
    assert_eq!((worn.bond_failures().len(), worn.bodies().len()), (0, 2));
    let most = damages(&worn).into_iter().fold(0.0, f64::max);
    assert!(most > 0.0 && most < 1.0, "{most}");
    assert!(damages(&sound).iter().all(|damage| *damage == 0.0), "by default nothing is worn");
    let places = |sandbox: &Sandbox| sandbox.bodies().iter().map(|b| b.state.position).collect::<Vec<_>>();
    assert_eq!(places(&worn), places(&sound), "damage pushes nothing");
    // As it stands it opens with its damage.
    let again = opened(worn.as_it_stands(Camera::default()));
    assert_eq!(damages(&again), damages(&worn));
}

#[test]
fn lumps_and_fatigue_keep_the_momentum() {
    let strength = BodyStrength {
        material: StrengthMaterial::Plaster,
        lumps: vec![6],
        lump_strength: vec![0.5, 1.0],
        fatigue: 0.5,
        endurance: 0.1,
        ..Default::default()
    };
    let ball = SceneBody {
        on_floor: false,
        size: Some(0.4),
        density: 20_000.0,
        position: DVec3::new(0.1, 0.1, 1.0),
        linear_velocity: DVec3::NEG_Z * 30.0,
        ..SceneBody::standing("builtin:sphere", 5)
    };
    keeps_its_motion(vec![SceneBody { on_floor: false, ..held(strength) }, ball], 40, 5);
}

/// Planted error to see this fail: let no body with `hold` have a strength of its own.
#[test]
fn loose_parts_break_on_by_the_energy_of_a_blow_where_that_is_asked_for() {
    let pane = format!("{}/assets/scenes/pane.obj", env!("CARGO_MANIFEST_DIR"));
    // A pane of glass in two parts that an iron ball of 110 kg strikes at 30 m/s; how many bodies there are then.
    let struck = |loose: bool, break_generations: u32| {
        let body = SceneBody {
            density: 2500.0,
            hold: true,
            strength: Some(Box::new(BodyStrength {
                material: StrengthMaterial::Glass,
                loose,
                ..BodyStrength::default()
            })),
            fracture: FractureParams { preset: Preset::Uniform, seeds: 2, ..FractureParams::default() },
            ..SceneBody::standing(pane.clone(), 6)
        };
        let ball = SceneBody {
            on_floor: false,
            size: Some(0.3),
            density: 7800.0,
            position: DVec3::new(0.1, 0.5, 1.0),
            linear_velocity: DVec3::NEG_Z * 30.0,
            ..SceneBody::standing("builtin:sphere", 5)
        };
        let throw = Event::Projectile { time: 0.05, object: None, body: Box::new(ball) };
        let scene = Scene { bodies: vec![body], events: vec![throw], break_generations, ..Scene::default() };
        let mut sandbox = opened(scene);
        play(&mut sandbox, 14);
        sandbox.bodies().len()
    };
    assert_eq!(struck(false, 2), 3, "two parts and the ball");
    let broken = struck(true, 2);
    assert!((4..=5).contains(&broken), "parts of two seeds are in two each: {broken} bodies");
    assert_eq!(struck(true, 1), 3, "the crack that bonds held was the first break in a row");
}

/// Planted error to see this fail: note the hammer's blow without its energy.
#[test]
fn a_knock_with_an_energy_puts_it_into_bonds_and_plays_again() {
    let mut sandbox = opened(Scene { bodies: vec![held(BodyStrength::default())], ..Scene::default() });
    // J that have gone into cracks which are still closed, and how many bonds have failed.
    let taken = |sandbox: &Sandbox| {
        let structure = sandbox.bodies()[0].def.structure.as_ref().expect("it holds");
        let bonds = || structure.bonds.iter();
        let energy = bonds().map(|b| b.damage * structure.strength.toughness * b.share * b.section.area);
        (energy.sum::<f64>(), bonds().filter(|bond| bond.damage >= 1.0).count())
    };
    let mut tuning = sandbox.tuning().clone();
    tuning.knock_energy = 0.5;
    sandbox.tune("knock", tuning);
    let id = sandbox.bodies()[0].id;
    let corner = DVec3::new(0.45, 0.98, 0.45);
    sandbox.break_at(id, corner, DVec3::NEG_Y);
    let (energy, failed) = taken(&sandbox);
    assert!((energy - 0.5).abs() < 1e-9 && failed == 0, "{energy} J, {failed} failed");
    assert_eq!(sandbox.bodies().len(), 1);
    // From its start the scene strikes the same blow.
    let mut again = opened(sandbox.scene(Camera::default()));
    assert_eq!(taken(&again).0, 0.0);
    play(&mut again, 1);
    assert!((taken(&again).0 - 0.5).abs() < 1e-9, "{:?}", taken(&again));
}
