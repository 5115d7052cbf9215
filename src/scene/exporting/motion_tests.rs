//! Motion of a take, read back from its files.

use std::{collections::BTreeMap, path::Path};

use glam::{DQuat, DVec3, Quat, Vec3};

use super::{
    ExportKind, ExportPlan, MotionPlan,
    tests::{break_largest, folder, names, order, read_report, settle, whole},
};
use crate::{
    compute::RanOn,
    export::{Format, Lying, Pivot},
    gpu::Gpu,
    render::Camera,
    scene::{ExportOrder, Sandbox, Scene},
    voxelize::Progress,
};

/// What an animation says of a node.
#[derive(Clone, Debug, Default)]
struct Moved {
    /// Times, s, positions and rotations of the keys; of a node at rest its only pose.
    times: Vec<f32>,
    places: Vec<Vec3>,
    turns: Vec<Quat>,
    /// When the node is there: times, s, and sizes.
    sizes: Vec<(f32, f32)>,
    /// Enclosed volume of its mesh, m^3.
    volume: f64,
    triangles: usize,
}

impl Moved {
    fn is_there(&self, time: f32) -> bool {
        self.sizes.iter().rfind(|(from, _)| *from <= time).is_none_or(|(_, size)| *size == 1.0)
    }
}

/// All nodes with a mesh, by name.
fn read(path: &Path) -> BTreeMap<String, Moved> {
    let (document, buffers, _) = gltf::import(path).unwrap();
    let data = |buffer: gltf::Buffer<'_>| buffers.get(buffer.index()).map(|data| &data.0[..]);
    let mut moved: BTreeMap<usize, Moved> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for node in document.nodes() {
        let (place, turn, _) = node.transform().decomposed();
        let own = moved.entry(node.index()).or_default();
        (own.places, own.turns) = (vec![Vec3::from(place)], vec![Quat::from_array(turn)]);
        names.insert(node.index(), node.name().unwrap().to_owned());
        for primitive in node.mesh().iter().flat_map(gltf::Mesh::primitives) {
            let reader = primitive.reader(data);
            let points: Vec<DVec3> =
                reader.read_positions().unwrap().map(|p| Vec3::from(p).as_dvec3()).collect();
            let indices: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
            for t in indices.chunks_exact(3) {
                let [a, b, c] = [t[0], t[1], t[2]].map(|i| points[i as usize]);
                own.volume += a.dot(b.cross(c)) / 6.0;
                own.triangles += 1;
            }
        }
    }
    for channel in document.animations().flat_map(|animation| animation.channels().collect::<Vec<_>>()) {
        let own = moved.get_mut(&channel.target().node().index()).unwrap();
        let reader = channel.reader(data);
        let times: Vec<f32> = reader.read_inputs().unwrap().collect();
        match reader.read_outputs().unwrap() {
            gltf::animation::util::ReadOutputs::Translations(all) => {
                (own.times, own.places) = (times, all.map(Vec3::from).collect());
            }
            gltf::animation::util::ReadOutputs::Rotations(all) => {
                own.turns = all.into_f32().map(Quat::from_array).collect();
            }
            gltf::animation::util::ReadOutputs::Scales(all) => {
                own.sizes = times.into_iter().zip(all.map(|size| size[0])).collect();
            }
            gltf::animation::util::ReadOutputs::MorphTargetWeights(_) => panic!("no node has morph targets"),
        }
    }
    moved.into_iter().map(|(node, own)| (names[&node].clone(), own)).collect()
}

fn motion() -> ExportOrder {
    ExportOrder { kind: ExportKind::Motion, ..order(Lying::AsTheyLie, &[Format::Glb, Format::Usda]) }
}

fn exported(
    sandbox: &Sandbox,
    order: &ExportOrder,
    name: &str,
) -> (BTreeMap<String, Moved>, serde_json::Value) {
    let folder = folder(name);
    let plan = MotionPlan::new(sandbox, order, Camera::default(), RanOn::default()).unwrap();
    let told = plan.run(&folder, &Progress::default()).unwrap();
    assert_eq!(told.kind, ExportKind::Motion);
    let wanted: &[&str] = match order.formats.len() {
        2 => &["animation.glb", "animation.usda", "report.json", "scene.toml"],
        _ => &["animation.glb", "report.json", "scene.toml"],
    };
    assert_eq!(names(&folder), wanted);
    let read = (read(&folder.join("animation.glb")), read_report(&folder));
    assert_eq!(told.count, read.0.len());
    std::fs::remove_dir_all(folder).unwrap();
    read
}

/// The box falls, breaks in the air, its largest piece breaks again, and all of it falls on.
fn played() -> Option<Sandbox> {
    let mut sandbox = whole(|_| ())?;
    let steps = |sandbox: &mut Sandbox, count| (0..count).for_each(|_| sandbox.step().unwrap());
    steps(&mut sandbox, 12);
    break_largest(&mut sandbox);
    steps(&mut sandbox, 10);
    break_largest(&mut sandbox);
    steps(&mut sandbox, 14);
    Some(sandbox)
}

/// Fails where a node has another name than the piece that it is, where a whole outlives its break, or where the last key
/// is not where the body is.
#[test]
fn a_take_leaves_as_keys_of_pieces_that_have_their_names() {
    let Some(sandbox) = played() else { return };
    let (nodes, report) = exported(&sandbox, &motion(), "motion");
    let bodies = sandbox.bodies().len();
    let again = format!("piece_{bodies:03}");
    let mut wanted: Vec<String> = (0..bodies).map(|id| format!("piece_{id:03}")).collect();
    wanted.extend([again.clone(), "whole_000".to_owned()]);
    assert_eq!(nodes.keys().cloned().collect::<Vec<_>>(), wanted);
    // Where each piece is at the end is where an export of the pieces has it.
    let folder = folder("motion-pieces");
    let pieces = order(Lying::AsTheyLie, &[Format::Glb]);
    let plan = ExportPlan::new(&sandbox, &pieces, Camera::default(), RanOn::default());
    plan.run(&folder, &Progress::default()).unwrap();
    let told = read_report(&folder);
    let alone = read(&folder.join("pieces.glb"));
    for piece in told["pieces"].as_array().unwrap() {
        let name = format!("piece_{:03}", piece["id"].as_u64().unwrap());
        let centre: Vec<f64> = serde_json::from_value(piece["centre"].clone()).unwrap();
        let centre = DVec3::from_slice(&centre).as_vec3();
        let own = &nodes[&name];
        assert!(own.places.last().unwrap().distance(centre) < 1e-6, "{name}: {own:?} {centre}");
        let body = sandbox.bodies().iter().find(|b| b.state.position.as_vec3().distance(centre) < 1e-6);
        let turn = body.unwrap().state.rotation.as_quat();
        assert!(own.turns.last().unwrap().dot(turn).abs() > 1.0 - 1e-6);
        assert!((own.volume / alone[&name].volume - 1.0).abs() < 1e-9, "{name}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    // The whole object until it breaks, then its pieces; the same of the piece that broke again.
    let (whole, broken) = (&nodes["whole_000"], &nodes[&again]);
    assert_eq!(whole.triangles, sandbox.objects()[0].triangles, "the imported box, uncut");
    let ends = |moved: &Moved| moved.sizes.iter().map(|(time, _)| *time).collect::<Vec<_>>();
    let (first, second) = (ends(whole)[1], ends(broken)[2]);
    assert_eq!((ends(whole), ends(broken)), (vec![0.0, first], vec![0.0, first, second]));
    let end = sandbox.time() as f32;
    assert!(0.0 < first && first < second && second < end);
    for (time, here, gone) in [(0.5 * first, vec!["whole_000"], vec![&*again, "piece_000"])]
        .into_iter()
        .chain([(0.5 * (first + second), vec![&*again], vec!["whole_000"])])
        .chain([(end, vec!["piece_000"], vec!["whole_000", &*again])])
    {
        assert!(here.iter().all(|name| nodes[*name].is_there(time)), "{time}");
        assert!(gone.iter().all(|name| !nodes[*name].is_there(time)), "{time}");
        let there: f64 = nodes.values().filter(|own| own.is_there(time)).map(|own| own.volume).sum();
        assert!((there / whole.volume - 1.0).abs() < 1e-3, "nothing is lost at {time}: {there}");
    }
    let of = |name: &str| report["bodies"].as_array().unwrap().iter().find(|body| body["name"] == name);
    assert_eq!(of("whole_000").unwrap()["generation"], 0);
    assert!((of(&again).unwrap()["died"].as_f64().unwrap() as f32 - second).abs() < 1e-6);
    assert_eq!(
        (&report["kind"], &report["take"], &report["fps"]),
        (&"motion".into(), &1.into(), &30.0.into())
    );
}

/// Fails where a part of the take has keys outside it, or where a pivot at the origin has the keys of the centre of mass.
#[test]
fn a_part_of_the_take_begins_at_nought_and_pivots_go_where_their_nodes_have_them() {
    let Some(sandbox) = played() else { return };
    let timeline = sandbox.timeline();
    let broke = (0..timeline.len()).rfind(|i| i * 2 < timeline.len()).unwrap();
    let span = [timeline.time(broke).unwrap(), timeline.time(timeline.len() - 4).unwrap()];
    let part = ExportOrder { span: Some(span), formats: [Format::Glb].into(), ..motion() };
    let (nodes, report) = exported(&sandbox, &part, "motion-part");
    let told: Vec<f64> = serde_json::from_value(report["time"].clone()).unwrap();
    assert!((told[0] - span[0]).abs() < 1e-6 && (told[1] - span[1]).abs() < 1e-6);
    let latest = nodes.values().flat_map(|own| own.times.iter()).fold(0.0f32, |a, b| a.max(*b));
    assert!((f64::from(latest) - (span[1] - span[0])).abs() < 1e-5, "{latest}");
    assert!(nodes.values().all(|own| own.times.first().is_none_or(|time| *time >= 0.0)));
    assert!(!nodes.contains_key("whole_000"), "it was gone by then");
    // With their origin for a pivot, the same points are where they were.
    let mut at_origin = part.clone();
    at_origin.handover.pivot = Pivot::Origin;
    let (other, _) = exported(&sandbox, &at_origin, "motion-origin");
    let body = &sandbox.bodies()[0];
    for (name, own) in &nodes {
        let moved = &other[name];
        let shift = (own.places[0].as_dvec3() - moved.places[0].as_dvec3()).length();
        assert!(shift > 1e-3, "{name}: the whole's origin is no piece's centre");
        // Rigid: the way from pivot to pivot turns with the piece.
        let apart = |i: usize| {
            let turn: DQuat = own.turns[i].as_dquat();
            turn.inverse() * (own.places[i] - moved.places[i]).as_dvec3()
        };
        for i in 0..own.places.len() {
            assert!(apart(i).distance(apart(0)) < 1e-5, "{name} {i}: {} {}", apart(i), apart(0));
        }
    }
    assert!(body.def.shape.mass().centre.length() > 1e-3);
    assert!(
        MotionPlan::new(&whole(|_| ()).unwrap(), &motion(), Camera::default(), RanOn::default()).is_none(),
        "nothing was played"
    );
}

/// Fails where a part gets a new node when its structure comes apart, or where it does not move with what holds it.
#[test]
fn parts_of_a_structure_keep_their_nodes_when_it_comes_apart() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut scene = Scene::of_mesh("builtin:box", 5);
    scene.bodies[0].hold = true;
    let mut sandbox = Sandbox::new(&gpu).unwrap();
    sandbox.open_scene(scene);
    settle(&mut sandbox);
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let body = &sandbox.bodies()[0];
    let (id, parts) = (body.id, body.def.structure.as_ref().unwrap().parts.len());
    let corner = body.state.position + DVec3::new(0.45, 0.48, 0.45);
    let steps = |sandbox: &mut Sandbox, count| (0..count).for_each(|_| sandbox.step().unwrap());
    steps(&mut sandbox, 3);
    sandbox.break_at(id, corner, DVec3::NEG_Y);
    while sandbox.is_breaking() {
        sandbox.poll().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    steps(&mut sandbox, 20);
    assert!(sandbox.bodies().len() > 1, "the blow takes off a corner");
    let order = ExportOrder { formats: [Format::Glb].into(), ..motion() };
    let (nodes, _) = exported(&sandbox, &order, "motion-held");
    assert_eq!(nodes.len(), parts, "{:?}", nodes.keys());
    assert!(nodes.values().all(|own| own.sizes.is_empty()), "each is there from the first to the last");
    // Each part is where its body has it.
    let mut places: Vec<Vec3> = nodes.values().map(|own| *own.places.last().unwrap()).collect();
    for piece in ExportOrder::default().pieces(&sandbox) {
        let turned = piece.state.rotation * (piece.shape.mass().centre - piece.def.shape.mass().centre);
        let centre = (piece.state.position + turned).as_vec3();
        let near = places.iter().position(|place| place.distance(centre) < 1e-5);
        places.swap_remove(near.unwrap_or_else(|| panic!("no node at {centre}")));
    }
    assert!(places.is_empty());
}
