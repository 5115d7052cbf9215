//! Pieces that are cut out of a mesh hold together by bonds as those of voxels do.

use glam::DVec3;
use kintsugi::{
    bodies::{Body, structure::StrengthMaterial},
    fracture::{FractureParams, MethodId, Preset},
    render::Camera,
    scene::{BodyStrength, Sandbox, Scene, SceneBody},
    shape::MeshCheck,
};

use super::support::stage::{only, open, steps};

/// A cube of 1 m that is cut as a mesh and holds.
fn held(strength: BodyStrength) -> Scene {
    let fracture = FractureParams {
        method: MethodId::named("box-cut").unwrap(),
        preset: Preset::Uniform,
        seeds: 30,
        radii: vec![0.6],
        ..FractureParams::default()
    };
    let strength = Some(Box::new(strength));
    let body = SceneBody { hold: true, strength, fracture, ..SceneBody::standing("builtin:box", 5) };
    Scene { bodies: vec![body], ..Scene::default() }
}

fn settled(sandbox: &mut Sandbox) {
    while sandbox.is_breaking() {
        sandbox.poll().expect("it goes well");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Of every body its parts, its volume (m^3), and how many bonds still hold within it; by parts.
fn told(sandbox: &Sandbox) -> Vec<(Vec<usize>, f64, usize)> {
    let of = |body: &Body| {
        let structure = body.def.structure.as_ref();
        let bonds = structure.map_or(0, |own| own.bonds.iter().filter(|bond| bond.damage < 1.0).count());
        let parts = sandbox.breaks().parts_of(sandbox.info(body.id).expect("a body of the stage"));
        (parts, body.def.shape.mass().volume_m3, bonds)
    };
    let mut all: Vec<_> = sandbox.bodies().iter().map(of).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn pieces_of_a_mesh_are_one_body_until_a_blow_and_then_closed_meshes() {
    let Some(mut sandbox) = open(held(BodyStrength::default())) else { return };
    settled(&mut sandbox);
    let id = only(&sandbox).id;
    let structure = sandbox.structure_of(id).expect("it holds").clone();
    assert!(structure.parts.len() >= 25 && structure.bonds.len() > structure.parts.len());
    assert!(structure.parts.iter().all(|part| part.shape.as_mesh().is_some()));
    // Each bond has its two parts on the sides that its normal says, and lies between their nodes.
    for bond in &structure.bonds {
        let [a, b] = bond.ends.map(|end| structure.parts[end as usize].node);
        assert!((b - a).normalize_or_zero().dot(bond.section.normal) > 0.999, "{bond:?} {a} {b}");
        assert!((bond.section.centre - (a + b) / 2.0).dot(bond.section.normal).abs() < 1e-3, "{bond:?}");
    }
    steps(&mut sandbox, 40);
    assert_eq!((sandbox.bodies().len(), sandbox.bond_failures().len()), (1, 0), "concrete bears its weight");
    sandbox.break_at(id, DVec3::new(0.45, 0.98, 0.45), DVec3::NEG_Y);
    settled(&mut sandbox);
    let after = told(&sandbox);
    assert!((2..20).contains(&after.len()), "{after:?}");
    assert_eq!(after.iter().map(|body| body.0.len()).sum::<usize>(), structure.parts.len());
    assert!(after.iter().all(|(parts, _, bonds)| (*bonds > 0) == (parts.len() > 1)), "{after:?}");
    // Exactly: what is left is one mesh without the cracks within it.
    assert!((after.iter().map(|body| body.1).sum::<f64>() - 1.0).abs() < 1e-9, "{after:?}");
    for body in sandbox.bodies() {
        let check = MeshCheck::of(body.def.shape.as_mesh().expect("a mesh").surface());
        assert!(check.is_watertight() && check.volume > 0.0, "{check:?}");
    }
    assert!(sandbox.undo().is_some());
    assert!(sandbox.is_held(only(&sandbox).id));
    sandbox.redo();
    settled(&mut sandbox);
    assert_eq!(told(&sandbox), after);
    // As it stands it opens with the same bodies and bonds.
    let Some(mut again) = open(sandbox.as_it_stands(Camera::default())) else { return };
    settled(&mut again);
    let again = told(&again);
    assert_eq!(again.len(), after.len());
    for (a, b) in again.iter().zip(&after) {
        assert_eq!((&a.0, a.2), (&b.0, b.2));
        assert!((a.1 / b.1 - 1.0).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn pieces_of_a_mesh_that_stand_on_the_floor_or_lie_in_a_box_are_anchored() {
    let top = [DVec3::new(-1.0, 0.95, -1.0), DVec3::new(1.0, 2.0, 1.0)];
    let material = StrengthMaterial::Plaster;
    let on_floor = BodyStrength { material, anchor_floor: true, ..BodyStrength::default() };
    let in_box = BodyStrength { material, anchors: vec![top], ..BodyStrength::default() };
    for (strength, is_below) in [(on_floor, true), (in_box, false)] {
        let Some(mut sandbox) = open(held(strength)) else { return };
        settled(&mut sandbox);
        let body = only(&sandbox);
        let structure = body.def.structure.as_ref().expect("it holds");
        let middle = body.def.shape.mass().centre.y;
        for part in &structure.parts {
            let bounds = part.shape.as_mesh().expect("a mesh").bounds_m();
            // How far the part ends from the face of the cube that is anchored.
            let away = 0.5 + if is_below { bounds.low.y - middle } else { middle - bounds.high.y };
            let is_certain = !(0.01..0.12).contains(&away);
            assert!(!is_certain || part.anchored == (away < 0.01), "{is_below} {away} {bounds:?}");
        }
        assert!(body.def.fixed && structure.parts.iter().any(|part| !part.anchored));
    }
}
