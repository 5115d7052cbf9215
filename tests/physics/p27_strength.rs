//! P27: what holds by bonds breaks by its strength: where and when the theory of beams says, from the energy that it says,
//! and not by a change of speed.

use std::path::PathBuf;

use glam::DVec3;
use kintsugi::{
    bodies::structure::StrengthMaterial,
    fracture::{FractureParams, Preset},
    scene::{BodyStrength, Sandbox, Scene, SceneBody},
};

use super::{
    G,
    support::stage::{open, step},
};

const DENSITY: f64 = 2400.0;

/// A box from `low` to `high` as a mesh file of its own, m.
fn cuboid(name: &str, low: DVec3, high: DVec3) -> String {
    let folder = std::env::temp_dir().join(format!("kintsugi-p27-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path: PathBuf = folder.join(format!("{name}.obj"));
    let corner = |k: u32| {
        DVec3::from_array([0, 1, 2].map(|axis| if k >> axis & 1 == 1 { high[axis] } else { low[axis] }))
    };
    let mut text = String::new();
    for k in 0..8 {
        let p = corner(k);
        text.push_str(&format!("v {} {} {}\n", p.x, p.y, p.z));
    }
    for [a, b, c, d] in [[1, 5, 7, 3], [2, 4, 8, 6], [1, 2, 6, 5], [3, 7, 8, 4], [1, 3, 4, 2], [5, 6, 8, 7]] {
        text.push_str(&format!("f {a} {b} {c} {d}\n"));
    }
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A beam of 1 x 0.1 x 0.1 m along x, whose parts at x = 0 are anchored.
fn cantilever(fracture: FractureParams, tension: f64) -> Scene {
    let strength = BodyStrength {
        tension: Some(tension),
        compression: Some(1e12),
        shear: Some(1e12),
        anchors: vec![[DVec3::new(-1.0, 0.0, -1.0), DVec3::new(0.015, 2.0, 1.0)]],
        ..BodyStrength::default()
    };
    let beam = SceneBody {
        file: cuboid("beam", DVec3::ZERO, DVec3::new(1.0, 0.1, 0.1)),
        level: 7,
        position: DVec3::Y,
        density: DENSITY,
        hold: true,
        strength: Some(Box::new(strength)),
        fracture,
        ..SceneBody::default()
    };
    Scene { bodies: vec![beam], floor: false, ..Scene::default() }
}

/// The tension from which a cantilever holds, Pa, and the places along x at which it breaks at a little less, m.
fn least_tension(fracture: &FractureParams, guess: f64) -> Option<(f64, Vec<f64>)> {
    let broken = |tension: f64| -> Option<Vec<f64>> {
        let mut sandbox = open(cantilever(fracture.clone(), tension))?;
        wait(&mut sandbox);
        step(&mut sandbox);
        Some(sandbox.bond_failures().iter().map(|failure| failure.centre.x).collect())
    };
    let (mut low, mut high) = (guess * 0.3, guess * 3.0);
    assert!(!broken(low)?.is_empty() && broken(high)?.is_empty(), "{guess}");
    for _ in 0..9 {
        let middle = (low * high).sqrt();
        if broken(middle)?.is_empty() { high = middle } else { low = middle }
    }
    Some((high, broken(low)?))
}

/// Waits until what holds from the start is cracked.
fn wait(sandbox: &mut Sandbox) {
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// The stress of a cantilever of this section under its own weight, `x` m from the anchor, Pa.
fn stress_at(x: f64) -> f64 {
    let (length, height) = (1.0, 0.1);
    DENSITY * G * height * height * (length - x) * (length - x) / 2.0 * 6.0 / (height * height * height)
}

#[test]
fn a_cantilever_snaps_where_its_bending_moment_says() {
    // Blocks: cracks across the beam.
    let folder = PathBuf::from(cuboid("unused", DVec3::ZERO, DVec3::ONE)).parent().unwrap().to_owned();
    let seeds = folder.join("line.txt");
    let line: String = (0..10).map(|k| format!("{} 0.05 0.05\n", 0.05 + 0.1 * f64::from(k))).collect();
    std::fs::write(&seeds, line).unwrap();
    let blocks =
        FractureParams { seeds_file: Some(seeds.display().to_string()), ..FractureParams::default() };
    let Some((least, places)) = least_tension(&blocks, stress_at(0.1)) else { return };
    println!("P27: blocks hold from {:.4} of M c / I on; at {places:.3?}", least / stress_at(0.1));
    assert!((least / stress_at(0.1) - 1.0).abs() < 0.05, "{least} of {}", stress_at(0.1));
    assert!((places[0] - 0.1).abs() < 0.005, "at the root: {places:?}");
    // Cells anywhere.
    for rng in [1, 2, 3] {
        let cells = FractureParams { preset: Preset::Uniform, seeds: 120, rng, ..FractureParams::default() };
        let (least, places) = least_tension(&cells, stress_at(0.05)).unwrap();
        let root = places.iter().copied().fold(f64::INFINITY, f64::min);
        let wanted = stress_at(root);
        println!("P27: cells {rng} hold from {:.4} of M c / I on; from {root:.3} m on", least / wanted);
        assert!((least / wanted - 1.0).abs() < 0.1 && root < 0.15, "{least} of {wanted} at {root}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A plate of 1 x 0.05 x 1 m that lies on two fixed legs 0.8 m apart, and a ball that falls on its middle with `energy` J.
fn plate_under_ball(energy: f64, material: StrengthMaterial) -> Scene {
    let fixed = |x: f64| SceneBody {
        file: cuboid("leg", DVec3::new(-0.02, 0.0, -0.5), DVec3::new(0.02, 0.3, 0.5)),
        level: 6,
        position: DVec3::new(x, 0.0, 0.0),
        fixed: true,
        ..SceneBody::default()
    };
    let strength = BodyStrength { material, grain_axis: DVec3::X, ..BodyStrength::default() };
    let plate = SceneBody {
        file: cuboid("plate", DVec3::new(-0.5, 0.0, -0.5), DVec3::new(0.5, 0.05, 0.5)),
        level: 7,
        position: DVec3::new(0.0, 0.3, 0.0),
        density: DENSITY,
        restitution: 0.0,
        hold: true,
        strength: Some(Box::new(strength)),
        fracture: FractureParams { preset: Preset::Uniform, seeds: 80, ..FractureParams::default() },
        ..SceneBody::default()
    };
    let mut ball = SceneBody::standing("builtin:sphere", 6);
    (ball.on_floor, ball.size, ball.density, ball.restitution) = (false, Some(0.3), 8000.0, 0.0);
    // The ball weighs 113 kg.
    let mass = 8000.0 * std::f64::consts::PI / 6.0 * 0.027;
    ball.position = DVec3::new(0.0, 0.352, 0.0);
    ball.linear_velocity = DVec3::NEG_Y * (2.0 * energy / mass).sqrt();
    Scene { bodies: vec![plate, fixed(-0.4), fixed(0.4), ball], ..Scene::default() }
}

#[test]
fn a_supported_plate_breaks_from_the_energy_that_its_strength_says() {
    let broken = |energy: f64, material: StrengthMaterial| -> Option<usize> {
        let mut sandbox = open(plate_under_ball(energy, material))?;
        wait(&mut sandbox);
        for _ in 0..12 {
            step(&mut sandbox);
            wait(&mut sandbox);
        }
        Some(sandbox.bodies().len() - 4)
    };
    for material in [StrengthMaterial::Glass, StrengthMaterial::Oak] {
        let strength = material.strength();
        // A beam of the plate's section under a load in the middle: F = 4 sigma I / (c l), F^2 l^3 / (96 E I).
        let (length, width, height) = (0.8f64, 1.0f64, 0.05f64);
        let inertia = width * height.powi(3) / 12.0;
        let force = strength.tension * inertia / (height / 2.0) * 4.0 / length;
        let wanted = force * force * length.powi(3) / (96.0 * strength.stiffness * inertia);
        let Some(half) = broken(wanted * 0.5, material) else { return };
        let twice = broken(wanted * 2.5, material).unwrap();
        println!("P27: {material:?}: {wanted:.1} J; half of it breaks off {half} bodies, 2.5 times {twice}");
        assert_eq!(half, 0, "{material:?} holds at half of {wanted} J");
        assert!(twice > 0, "{material:?} breaks at 2.5 times {wanted} J");
    }
}
