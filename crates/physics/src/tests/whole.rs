//! Bodies that no bonds hold: from which energy of a blow they break.

use glam::{DMat4, DVec3};

use crate::{
    BodyDef, BodyId, Struck, World, WorldSettings,
    structure::{PointLoad, Strength, StrengthMaterial, resistance},
    testing::{cuboid, world},
};

/// Plate and legs at the scale 1, m: thickness and width of the plate, the distance of the middles of the legs, their height
/// and width.
const THICK: f64 = 0.05;
const WIDE: f64 = 0.3;
const SPAN: f64 = 0.8;
const LEGS: f64 = 0.3;
const LEG: f64 = 0.02;

fn placed(size: DVec3, at: DVec3, density: f64) -> BodyDef {
    let mut def = cuboid(DVec3::ZERO, size);
    def.set_density(density);
    def.state = def.state_in_place(DMat4::from_translation(at));
    def
}

/// A plate in one piece that rests on two fixed legs.
fn plate(strength: Strength, scale: f64, settings: WorldSettings) -> (World, BodyId) {
    let mut w = world(WorldSettings { sleeping: false, ..settings });
    for x in [0.0, SPAN] {
        let leg = placed(DVec3::new(LEG, LEGS, WIDE) * scale, DVec3::X * x * scale, 2400.0);
        w.add(BodyDef { fixed: true, ..leg });
    }
    let size = DVec3::new(SPAN + LEG, THICK, WIDE) * scale;
    let plate = w.add(placed(size, DVec3::Y * LEGS * scale, 2400.0));
    w.strengths.insert(plate, strength);
    let steps = (0.2 / w.settings.dt).round() as u32;
    for _ in 0..steps {
        w.step_on_cpu();
        assert!(w.struck().iter().all(|blow| !blow.breaks()), "it lies there: {:?}", w.struck());
    }
    (w, plate)
}

/// Lets a bar of so many kg fall on the middle of the plate with this energy, J; the greatest blow by what
/// breaks the plate.
fn struck(w: &mut World, plate: BodyId, (scale, gap): (f64, f64), mass: f64, energy: f64) -> Option<Struck> {
    let size = DVec3::new(LEG, 0.1, WIDE) * scale;
    let low = DVec3::new(0.5 * SPAN, LEGS + THICK + gap, 0.0) * scale;
    let mut bar = placed(size, low, mass / (size.x * size.y * size.z));
    // It gains the rest on its way.
    bar.state.linear_velocity = DVec3::NEG_Y * (2.0 * (energy / mass - 9.81 * gap * scale)).sqrt();
    w.add(bar);
    let mut greatest: Option<Struck> = None;
    for _ in 0..(0.05 / w.settings.dt).round() as u32 {
        w.step_on_cpu();
        let blows = w.struck().iter().filter(|blow| blow.body == plate);
        for blow in blows {
            if greatest.is_none_or(|most| blow.energy / blow.needed > most.energy / most.needed) {
                greatest = Some(*blow);
            }
        }
    }
    greatest
}

/// The energy from which beam theory breaks the plate, J, or that of the crack.
fn theory(strength: &Strength, scale: f64) -> f64 {
    let (wide, thick, span) = (WIDE * scale, THICK * scale, SPAN * scale);
    let inertia = wide * thick.powi(3) / 12.0;
    let force = strength.tension.min(strength.compression) * inertia / (thick / 2.0) * 4.0 / span;
    let bent = force * force * span.powi(3) / (96.0 * strength.stiffness * inertia);
    bent.max(strength.toughness * wide * thick)
}

fn material(material: StrengthMaterial) -> Strength {
    Strength { grain_axis: DVec3::X, ..material.strength() }
}

#[test]
fn a_plate_in_one_piece_breaks_from_the_energy_that_its_strength_says() {
    let mut least = Vec::new();
    for of in [StrengthMaterial::Glass, StrengthMaterial::Oak] {
        let strength = material(of);
        for scale in [0.1, 1.0, 10.0] {
            let wanted = theory(&strength, scale);
            // A bar that is heavier for its size would gain more energy on its way than breaks the plate.
            for kg in if scale > 1.0 { [1.0, 10.0] } else { [10.0, 100.0] } {
                let breaks = |share: f64| {
                    let (mut w, plate) = plate(strength, scale, WorldSettings::default());
                    let mass = kg * scale.powi(3);
                    let blow = struck(&mut w, plate, (scale, 0.001), mass, share * wanted);
                    blow.is_some_and(|blow| blow.breaks())
                };
                assert!(!breaks(0.5) && !breaks(0.8) && breaks(1.3), "{of:?}, {scale}, {kg} kg");
            }
            least.push(wanted);
        }
    }
    assert!((0..3).all(|k| least[k] < least[k + 3]), "glass before oak: {least:?}");
}

#[test]
fn finer_steps_have_the_same_threshold_wherever_the_bar_is_at_their_start() {
    let strength = material(StrengthMaterial::Glass);
    let wanted = theory(&strength, 1.0);
    let usual = WorldSettings::default();
    let finer = WorldSettings { dt: usual.dt / 10.0, ..usual.clone() };
    let usual_dt = usual.dt;
    let more = WorldSettings { substeps: usual.substeps * 10, ..usual.clone() };
    let mut shares = Vec::new();
    for settings in [usual, finer, more] {
        // The bar comes 17 mm far in a step.
        for gap in [0.001, 0.005, 0.0093, 0.0131, 0.0171] {
            let (mut w, plate) = plate(strength, 1.0, settings.clone());
            let blow = struck(&mut w, plate, (1.0, gap), 10.0, wanted).unwrap();
            shares.push(blow.energy / blow.needed);
        }
    }
    let (low, high) = shares.iter().fold((f64::MAX, 0.0f64), |(a, b), s| (a.min(*s), b.max(*s)));
    println!("blow over need from {low:.3} to {high:.3}");
    // The speed is that of the step's beginning: of what the bar gains until it touches up to 2 g dt / v of its energy is missing.
    let speed = (2.0 * wanted / 10.0).sqrt();
    let gained = 2.0 * 9.81 * usual_dt / speed;
    assert!(gained < 0.13 && high / low < 1.07 + gained, "{shares:.3?}, {gained}");
}

#[test]
fn bending_under_forces_in_balance_is_that_of_the_theory() {
    // Three forces on a beam, without inertia: 2 x 0.1 x 0.2 m, supports at +-0.8 m.
    let size = DVec3::new(2.0, 0.1, 0.2);
    let def = cuboid(DVec3::new(-1.0, -0.05, -0.1), size);
    let load = |x: f64, y: f64, f: f64| PointLoad {
        point: DVec3::new(x, y, 0.0),
        impulse: DVec3::Y * f,
        closing: 0.0,
    };
    let contacts = [load(-0.8, -0.05, 1.0), load(0.8, -0.05, 1.0), load(0.0, 0.05, -2.0)];
    let strength = Strength { toughness: 0.0, ..StrengthMaterial::Glass.strength() };
    let found = resistance(&def.shape, &strength, &contacts);
    let inertia = 0.2 * 0.1f64.powi(3) / 12.0;
    let force = 4.0 * strength.tension * inertia / (0.05 * 1.6);
    let wanted = force * force * 1.6f64.powi(3) / (96.0 * strength.stiffness * inertia);
    println!("{} J of {wanted} J", found.needed);
    assert!((found.needed / wanted - 1.0).abs() < 0.05, "{} of {wanted}", found.needed);
    // The cost of a crack counts where it is more.
    let tough = Strength { toughness: 1e6, ..strength };
    let found = resistance(&def.shape, &tough, &contacts);
    assert!((found.needed / (1e6 * 0.02) - 1.0).abs() < 1e-9 && found.crack == found.needed, "{found:?}");
}

#[test]
fn energy_beyond_a_break_pays_for_pieces_or_stays_motion() {
    let blow = |energy: f64, needed: f64, crack: f64| Struck {
        body: BodyId(0),
        energy,
        needed,
        crack,
        point: DVec3::ZERO,
        way: DVec3::X,
    };
    assert!(!blow(9.0, 10.0, 1.0).breaks() && blow(10.0, 10.0, 1.0).breaks());
    assert!(!blow(0.0, 0.0, 0.0).breaks());
    assert_eq!([10.0, 25.0, 500.0].map(|energy| blow(energy, 10.0, 10.0).pieces(20)), [2, 3, 20]);
    assert_eq!(blow(10.0, 10.0, 0.0).pieces(7), 7);
    // 40 J that need 10 J leave three quarters of the energy, the root of that of the speed.
    assert!((blow(40.0, 10.0, 0.0).share_left(20).powi(2) - 0.75).abs() < 1e-12);
    assert!((blow(40.0, 10.0, 15.0).share_left(3).powi(2) - 0.25).abs() < 1e-12);
}

#[test]
fn an_impact_says_what_left_the_motion() {
    for restitution in [0.0, 0.5] {
        let settings = WorldSettings { gravity: DVec3::ZERO, floor: None, ..WorldSettings::default() };
        let mut w = world(settings);
        w.keeps_impacts = true;
        let cube = |x: f64, v: f64| {
            let mut def = placed(DVec3::splat(0.2), DVec3::X * x, 1000.0);
            def.state.linear_velocity = DVec3::X * v;
            BodyDef { restitution, ..def }
        };
        let [a, b] = [w.add(cube(0.0, 2.0)), w.add(cube(0.21, -2.0))];
        let kinetic = |w: &World| w.bodies.iter().map(crate::Body::kinetic_energy).sum::<f64>();
        let before = kinetic(&w);
        let (mut lost, mut pushed) = (0.0, 0.0);
        for _ in 0..5 {
            w.step_on_cpu();
            for impact in w.impacts() {
                assert_eq!(impact.bodies, (a, Some(b)));
                assert!(impact.normal.x < -0.99, "from the second to the first: {impact:?}");
                (lost, pushed) = (lost + impact.energy, pushed + impact.impulse);
            }
        }
        let gone = before - kinetic(&w);
        println!("{lost} J of {gone} J, {pushed} N s");
        assert!((lost / gone - 1.0).abs() < 0.05, "{lost} of {gone}");
        let wanted = 8.0 * 2.0 * (1.0 + restitution);
        assert!((pushed / wanted - 1.0).abs() < 0.05, "{pushed} of {wanted}");
    }
}
