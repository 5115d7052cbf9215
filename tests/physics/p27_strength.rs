//! P27: what holds by bonds breaks by its strength: where and when the theory of beams says, and from which energy. More of
//! that is tested beside the code, in `crates/physics/src/structure/tests.rs`.

use std::path::PathBuf;

use glam::DVec3;
use kintsugi::{
    bodies::structure::StrengthMaterial,
    fracture::{FractureParams, MethodId, Preset},
    scene::{BodyStrength, Event, Sandbox, Scene, SceneBody},
};

use super::{G, support::stage::open};

const DENSITY: f64 = 2400.0;

/// A box from `low` to `high` as a mesh file of its own, m.
fn cuboid(name: &str, low: DVec3, high: DVec3) -> String {
    // Each test removes its own.
    let test = format!("kintsugi-p27-{}-{:?}", std::process::id(), std::thread::current().id());
    let folder = std::env::temp_dir().join(test);
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

/// The tension from which a cantilever holds, Pa, and the places along x at which it breaks at a little less, m. It is cracked
/// once, and stood up again for each tension. `None` without a device.
fn least_tension(fracture: FractureParams, guess: f64) -> Option<(f64, Vec<f64>)> {
    let mut sandbox = open(cantilever(fracture, 3.0 * guess))?;
    wait(&mut sandbox);
    let mut broken = |tension: f64| -> Vec<f64> {
        let mut tuning = sandbox.tuning().clone();
        tuning.strength.tension = Some(tension);
        sandbox.tune("tension", tuning);
        step(&mut sandbox);
        let places = sandbox.bond_failures().iter().map(|failure| failure.centre.x).collect();
        sandbox.reset();
        wait(&mut sandbox);
        assert_eq!(sandbox.bodies().len(), 1);
        places
    };
    let (mut low, mut high) = (guess * 0.3, guess * 3.0);
    assert!(!broken(low).is_empty() && broken(high).is_empty(), "{guess}");
    while high > 1.01 * low {
        let middle = (low * high).sqrt();
        if broken(middle).is_empty() { high = middle } else { low = middle }
    }
    Some((high, broken(low)))
}

/// Waits until what holds from the start is cracked.
fn wait(sandbox: &mut Sandbox) {
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// A step, as often as it is taken back, and what comes apart in it.
fn step(sandbox: &mut Sandbox) {
    sandbox.step().unwrap();
    wait(sandbox);
    while sandbox.is_mid_step() {
        sandbox.step().unwrap();
        wait(sandbox);
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
    for (method, bound) in [("octree", 0.05), ("box-cut", 0.02)] {
        let method = MethodId::named(method).unwrap();
        let blocks = FractureParams { method, ..blocks.clone() };
        let Some((least, places)) = least_tension(blocks, stress_at(0.1)) else { return };
        println!(
            "P27: blocks by {method} hold from {:.4} of M c / I on; at {places:.3?}",
            least / stress_at(0.1)
        );
        assert!((least / stress_at(0.1) - 1.0).abs() < bound, "{least} of {}", stress_at(0.1));
        assert!((places[0] - 0.1).abs() < 0.005, "at the root: {places:?}");
    }
    // Cells anywhere: each crack is ragged in its own way, and theory is that of a flat one.
    let mut ratios: Vec<f64> = (1..=9)
        .map(|rng| {
            let cells =
                FractureParams { preset: Preset::Uniform, seeds: 120, rng, ..FractureParams::default() };
            let (least, places) = least_tension(cells, stress_at(0.05)).unwrap();
            let root = places.iter().copied().fold(f64::INFINITY, f64::min);
            println!(
                "P27: cells {rng} hold from {:.4} of M c / I on; from {root:.3} m on",
                least / stress_at(root)
            );
            assert!(root < 0.15, "at the root: {root}");
            least / stress_at(root)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (median, least, most) = (ratios[4], ratios[0], ratios[8]);
    assert!((median - 1.0).abs() < 0.1 && least > 0.8 && ratios[6] < 1.25 && most < 1.8, "{ratios:.3?}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A plate of slabs on two fixed blocks, 0.8 m apart, on whose middle an iron ball falls with this energy, J.
fn struck_plate(strength: BodyStrength, height: f64, energy: f64) -> Scene {
    let (length, width) = (1.0, 0.3);
    let plate = SceneBody {
        file: cuboid(
            "plate",
            DVec3::new(-length, 0.0, -width) / 2.0,
            DVec3::new(length, 2.0 * height, width) / 2.0,
        ),
        level: 7,
        position: DVec3::Y * 0.4,
        density: 2500.0,
        hold: true,
        strength: Some(Box::new(strength)),
        fracture: FractureParams {
            preset: Preset::Slabs,
            grain_axis: DVec3::X,
            seeds: 20,
            ..FractureParams::default()
        },
        ..SceneBody::default()
    };
    let block = |x: f64| SceneBody {
        file: "builtin:box".into(),
        level: 6,
        size: Some(0.4),
        position: DVec3::X * x,
        fixed: true,
        ..SceneBody::default()
    };
    let (size, density) = (0.12f64, 7800.0);
    let mass = std::f64::consts::PI / 6.0 * size.powi(3) * density;
    let ball = SceneBody {
        file: "builtin:sphere".into(),
        level: 6,
        size: Some(size),
        position: DVec3::Y * (0.4 + height + 0.01),
        linear_velocity: DVec3::NEG_Y * (2.0 * energy / mass).sqrt(),
        density,
        restitution: 0.0,
        ..SceneBody::default()
    };
    let throw = Event::Projectile { time: 0.1, object: None, body: Box::new(ball) };
    Scene { bodies: vec![plate, block(-0.6), block(0.6)], events: vec![throw], ..Scene::default() }
}

#[test]
fn a_plate_under_a_ball_breaks_from_the_energy_that_theory_says() {
    let glass = StrengthMaterial::Glass;
    let (span, width, height) = (0.8, 0.3f64, 0.05f64);
    let strength = glass.strength();
    let inertia = width * height.powi(3) / 12.0;
    let force = 4.0 * strength.tension * inertia / (height / 2.0 * span);
    let theory = force * force * span.powi(3) / (96.0 * strength.stiffness * inertia);
    for (share, breaks) in [(0.5, false), (1.0, false), (1.3, true)] {
        let material = BodyStrength { material: glass, shear: Some(1e12), ..BodyStrength::default() };
        let Some(mut sandbox) = open(struck_plate(material, height, share * theory)) else { return };
        wait(&mut sandbox);
        (0..20).for_each(|_| step(&mut sandbox));
        let failed = sandbox.bond_failures();
        println!("P27: {:.2} J, {share} of the theory, break {} bonds", share * theory, failed.len());
        assert_eq!(!failed.is_empty(), breaks, "{failed:?}");
        if let Some(first) = failed.first() {
            assert!(first.by_blow && first.centre.x.abs() < 0.05, "in the middle: {first:?}");
            assert!((first.load - 1.0).abs() < 1e-6 && first.whole_load > 1.0, "{first:?}");
            assert!((first.stress / strength.tension - 1.0).abs() < 0.02, "{first:?}");
        }
    }
    let folder = PathBuf::from(cuboid("unused", DVec3::ZERO, DVec3::ONE)).parent().unwrap().to_owned();
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_plate_in_one_piece_breaks_from_the_energy_that_its_strength_says() {
    let mut least = Vec::new();
    for (material, scale, level) in [
        (StrengthMaterial::Glass, 1.0f64, 7),
        (StrengthMaterial::Glass, 0.1, 6),
        (StrengthMaterial::Glass, 10.0, 8),
        (StrengthMaterial::Oak, 1.0, 7),
    ] {
        let (span, width, height) = (0.8 * scale, 0.3 * scale, 0.05 * scale);
        let strength = material.strength();
        let inertia = width * height.powi(3) / 12.0;
        let force = 4.0 * strength.tension.min(strength.compression) * inertia / (height / 2.0 * span);
        let bent = force * force * span.powi(3) / (96.0 * strength.stiffness * inertia);
        let theory = bent.max(strength.toughness * width * height);
        least.push(theory);
        for (share, breaks) in [(0.5, false), (1.8, true)] {
            let of = BodyStrength { material, grain_axis: DVec3::X, ..BodyStrength::default() };
            let mut scene = struck_plate(of, 0.05, share * theory / scale.powi(3));
            scene.bodies[0].hold = false;
            for body in &mut scene.bodies {
                body.position *= scale;
                body.size = Some(body.size.unwrap_or(1.0) * scale);
            }
            scene.bodies[0].level = level;
            let Event::Projectile { body: ball, .. } = &mut scene.events[0] else { unreachable!() };
            ball.position = DVec3::Y * (0.45 * scale + 0.005);
            ball.size = ball.size.map(|size| size * scale);
            let Some(mut sandbox) = open(scene) else { return };
            (0..20).for_each(|_| step(&mut sandbox));
            let pieces = sandbox.bodies().len() - 3;
            println!(
                "P27: {material:?}, {scale} m, level {level}: {share} of {theory:.3} J, {pieces} pieces"
            );
            assert_eq!(pieces > 1, breaks, "{material:?}, {scale} m, level {level}, {share}");
        }
    }
    assert!(least[0] < least[3], "glass before oak");
    let folder = PathBuf::from(cuboid("unused", DVec3::ZERO, DVec3::ONE)).parent().unwrap().to_owned();
    std::fs::remove_dir_all(folder).unwrap();
}
