//! What is asked for beside formats, on pieces of built-in shapes: read back from the files.

use std::{collections::BTreeMap, path::PathBuf};

use glam::{DQuat, DVec3};
use serde_json::Value;

use super::*;
use crate::{
    compute::Compute,
    fracture::{
        FractureParams, Passes, Surface,
        generations::{Plan, break_object, default_impact},
    },
    import::import,
    svo::Arena,
    voxelize::Progress,
};

/// The pieces of a built-in shape with meshes of `kind`, and what they were broken from.
fn broken(name: &str, surface: Surface, generations: u32, kind: MeshKind, handover: Handover) -> Assembly {
    let object = import(&format!("builtin:{name}"), 6, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let params = FractureParams { surface, seeds: 12, ..FractureParams::default() };
    let plan = Plan { impact, params, seeds: None, bounds: Some(object.bounds), generations };
    let broken = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    let mut what = Assembly::of_break(&broken);
    what.handover = handover;
    match kind {
        MeshKind::Original => what.cut_original(&object.mesh, 1.0, &broken, &Progress::default()).unwrap(),
        kind => what.meshes = Meshes::asked(kind),
    }
    what.prepare(&watch()).unwrap();
    what
}

fn watch() -> Watch {
    Watch::whole(&Progress::default())
}

/// A folder of a test's own, with everything written into it.
fn written(test: &str, what: &Assembly, formats: &[Format]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kintsugi-handover-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for format in formats {
        write(what, *format, &folder, &watch()).unwrap();
    }
    write_beside(what, &folder, &watch()).unwrap();
    folder
}

/// The JSON of a GLB and its buffer.
fn glb(path: &std::path::Path) -> (Value, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let json = length(12);
    (serde_json::from_slice(&bytes[20..20 + json]).unwrap(), bytes[28 + json..].to_vec())
}

/// Points of a node's meshes in the world, in order.
fn placed(document: &Value, binary: &[u8], node: &Value) -> Vec<DVec3> {
    let vector = |value: &Value| -> Option<DVec3> {
        let list: Vec<f64> = value.as_array()?.iter().filter_map(Value::as_f64).collect();
        Some(DVec3::new(list[0], list[1], list[2]))
    };
    let at = vector(&node["translation"]).unwrap_or_default();
    let turn = node["rotation"].as_array().map_or(DQuat::IDENTITY, |q| {
        let q: Vec<f64> = q.iter().filter_map(Value::as_f64).collect();
        DQuat::from_xyzw(q[0], q[1], q[2], q[3])
    });
    let Some(mesh) = node["mesh"].as_u64() else { return Vec::new() };
    let mut points = Vec::new();
    for primitive in document["meshes"][mesh as usize]["primitives"].as_array().unwrap() {
        let accessor = &document["accessors"][primitive["attributes"]["POSITION"].as_u64().unwrap() as usize];
        let view = &document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let from = view["byteOffset"].as_u64().unwrap() as usize;
        let count = accessor["count"].as_u64().unwrap() as usize;
        let floats: &[f32] = bytemuck::cast_slice(&binary[from..from + 12 * count]);
        points.extend(
            floats.as_chunks::<3>().0.iter().map(|p| at + turn * DVec3::from_array(p.map(f64::from))),
        );
    }
    points
}

#[test]
fn neighbours_share_what_lies_between_them() {
    // Two cells: the cut through a box is one plane, and its area can be told from the meshes.
    for kind in [MeshKind::Original, MeshKind::Smooth, MeshKind::Voxels] {
        let what = broken("box", Surface::Planar, 1, kind, Handover::default());
        let all = bonds(&what, &watch()).unwrap();
        assert!(all.len() >= what.pieces.len() - 1 && all.iter().all(|b| b.pieces[0] < b.pieces[1]));
        let inside = |id: usize| -> f64 {
            let mesh = what.mesh(id);
            let area = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                (b - a).cross(c - a).length() * 0.5
            };
            let faces = mesh.triangles.iter().zip(&mesh.faces);
            faces.filter(|(_, face)| face.side == meshes::Side::Inside).map(|(t, _)| area(t)).sum()
        };
        for piece in &what.pieces {
            let shared: f64 = all.iter().filter(|b| b.pieces.contains(&piece.id)).map(|b| b.area).sum();
            let own = inside(piece.id);
            let (limit, least) = if kind == MeshKind::Original { (1e-6, 0.0) } else { (0.12, 200.0) };
            if piece.figures().voxels as f64 >= least {
                assert!((shared / own - 1.0).abs() < limit, "{kind:?} {}: {shared} of {own}", piece.name());
            }
        }
        // Across a plane a seed is the other's mirror image, so normals point along the line between seeds.
        let seeds = &what.arrays.as_ref().unwrap().seeds;
        // Cubes show it in steps.
        let least = if kind == MeshKind::Voxels { 0.8 } else { 0.999 };
        for bond in all.iter().filter(|bond| bond.area > 0.05) {
            let [a, b] = bond.pieces.map(|id| what.pieces[id].cell.unwrap() as usize);
            let line = DVec3::from_array(seeds[b]) - DVec3::from_array(seeds[a]);
            assert!(line.normalize().dot(bond.normal) > least, "{kind:?} {bond:?}");
        }
    }
}

#[test]
fn dust_between_neighbours_is_their_gap() {
    let what = broken("box", Surface::Dusty, 1, MeshKind::Original, Handover::default());
    let all = bonds(&what, &watch()).unwrap();
    assert!(all.len() + 1 >= what.pieces.len());
    assert!(all.iter().any(|bond| bond.gap > 0.2 * what.pieces[0].voxel()));
}

#[test]
fn what_came_of_a_piece_stands_under_it() {
    let mut what = broken("box", Surface::Planar, 2, MeshKind::Original, Handover::default());
    // As if what broke again had come of one that did.
    let top = what.pieces.len() + what.generations.len();
    what.generations[0].parent = Some(top);
    what.generations.push(Generation { id: top, parent: None });
    let folder = written("generations", &what, &[Format::Glb, Format::Usda]);
    let (document, binary) = glb(&folder.join("pieces.glb"));
    let nodes = document["nodes"].as_array().unwrap();
    let mut parents: BTreeMap<&str, &str> = BTreeMap::new();
    for node in nodes {
        for child in node["children"].as_array().into_iter().flatten() {
            let name = nodes[child.as_u64().unwrap() as usize]["name"].as_str().unwrap();
            assert!(parents.insert(name, node["name"].as_str().unwrap()).is_none(), "{name} has two parents");
        }
    }
    let name = |id: usize| format!("piece_{id:03}");
    for piece in &what.pieces {
        assert_eq!(parents.get(piece.name().as_str()).copied(), piece.parent.map(name).as_deref());
        assert!(!placed(&document, &binary, &nodes[piece.id]).is_empty());
    }
    for group in &what.generations {
        assert_eq!(parents.get(name(group.id).as_str()).copied(), group.parent.map(name).as_deref());
    }
    // Each once, and braces close.
    let text = std::fs::read_to_string(folder.join("pieces.usda")).unwrap();
    for id in 0..what.pieces.len() + what.generations.len() {
        assert_eq!(text.matches(&format!("def Xform \"{}\"", name(id))).count(), 1, "{id}");
    }
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn pivots_move_nodes_and_leave_points_where_they_are() {
    let mut places = Vec::new();
    for pivot in [Pivot::Mass, Pivot::Origin] {
        let handover = Handover { pivot, ..Handover::default() };
        let mut what = broken("box", Surface::Planar, 1, MeshKind::Original, handover);
        for piece in &mut what.pieces {
            let turn = DQuat::from_rotation_x(piece.id as f64);
            piece.placing = Placing { scale: 2.0, rotation: turn, translation: DVec3::new(1.0, 2.0, 3.0) };
        }
        let folder = written(pivot.name(), &what, &[Format::Glb]);
        let (document, binary) = glb(&folder.join("pieces.glb"));
        let nodes = document["nodes"].as_array().unwrap();
        let origin = nodes.iter().all(|node| node["translation"] == serde_json::json!([1.0, 2.0, 3.0]));
        assert_eq!(origin, pivot == Pivot::Origin);
        places.push(nodes.iter().flat_map(|node| placed(&document, &binary, node)).collect::<Vec<_>>());
        std::fs::remove_dir_all(folder).unwrap();
    }
    assert_eq!(places[0].len(), places[1].len());
    assert!(places[0].iter().zip(&places[1]).all(|(a, b)| a.distance(*b) < 1e-5));
}

/// Signed volume of an OBJ's faces.
fn obj_volume(text: &str) -> f64 {
    let number = |word: &str| word.parse::<f64>().unwrap();
    let points: Vec<DVec3> = text
        .lines()
        .filter_map(|line| line.strip_prefix("v "))
        .map(|line| {
            let words: Vec<f64> = line.split_whitespace().map(number).collect();
            DVec3::new(words[0], words[1], words[2])
        })
        .collect();
    let face = |line: &str| -> f64 {
        let corner = |word: &str| points[word.split('/').next().unwrap().parse::<usize>().unwrap() - 1];
        let corners: Vec<DVec3> = line.split_whitespace().map(corner).collect();
        corners[0].dot(corners[1].cross(corners[2])) / 6.0
    };
    text.lines().filter_map(|line| line.strip_prefix("f ")).map(face).sum()
}

#[test]
fn targets_have_their_units_and_triangles_face_outward_in_their_axes() {
    let mut what = broken("statue", Surface::Planar, 1, MeshKind::Smooth, Handover::default());
    let volume: f64 = (0..what.pieces.len()).map(|id| what.mass(id).volume_m3).sum();
    for target in Target::ALL {
        what.handover.target = Some(target);
        let folder = written(target.name(), &what, &[Format::Obj, Format::Usda]);
        let space = what.handover.space(&Format::Obj);
        let text = std::fs::read_to_string(folder.join("pieces.obj")).unwrap();
        let there = obj_volume(&text) / space.per_metre.powi(3);
        assert!((there / volume - 1.0).abs() < 1e-4, "{target:?}: {there} of {volume}");
        let layer = std::fs::read_to_string(folder.join("pieces.usda")).unwrap();
        let axis = if matches!(target, Target::Blender | Target::Unreal) { 'Z' } else { 'Y' };
        let unit = if target == Target::Unreal { 0.01 } else { 1.0 };
        assert!(layer.contains(&format!("upAxis = \"{axis}\"")), "{target:?}");
        assert!(layer.contains(&format!("metersPerUnit = {unit}\n")), "{target:?}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn masses_are_those_of_the_meshes() {
    let what = broken("box", Surface::Planar, 1, MeshKind::Original, Handover::default());
    let sum: f64 = (0..what.pieces.len()).map(|id| what.mass(id).kg).sum();
    let source = crate::mesh::builtin("box").unwrap();
    let corners = source
        .triangles
        .iter()
        .map(|t| t.map(|v| DVec3::from_array(source.positions[v as usize].map(f64::from))));
    let whole = crate::shape::MassProperties::of_triangles(corners, 1.0).kg;
    assert!((sum / whole - 1.0).abs() < 1e-6, "{sum} of {whole}");
    let voxels = broken("box", Surface::Planar, 1, MeshKind::Voxels, Handover::default());
    assert_eq!(voxels.mass(0), *voxels.pieces[0].shape.mass(), "cubes hold more than the voxels' shares");
}

#[test]
fn simpler_meshes_are_as_many_and_closed() {
    let all = Handover { all_triangles: true, ..Handover::default() };
    let plain = broken("statue", Surface::Rough, 1, MeshKind::Smooth, all);
    let usual = broken("statue", Surface::Rough, 1, MeshKind::Smooth, Handover::default());
    let handover = Handover { simplify: 0.1, ..Handover::default() };
    let simpler = broken("statue", Surface::Rough, 1, MeshKind::Smooth, handover);
    let triangles = |what: &Assembly| what.figures.iter().map(|f| f.triangles).sum::<u64>();
    assert!(triangles(&simpler) * 2 < triangles(&plain), "{} {}", triangles(&simpler), triangles(&plain));
    assert!(triangles(&usual) < triangles(&plain), "{} {}", triangles(&usual), triangles(&plain));
    let inside = |what: &Assembly, id: usize| {
        what.mesh(id).faces.iter().filter(|face| face.side == crate::meshes::Side::Inside).count()
    };
    for id in 0..simpler.pieces.len() {
        assert!(MeshCheck::of(&simpler.mesh(id)).is_manifold());
        let (before, after) = (MeshCheck::of(&plain.mesh(id)), MeshCheck::of(&usual.mesh(id)));
        assert!(after.holds() && (after.volume / before.volume - 1.0).abs() <= 0.01, "{before:?} {after:?}");
        assert_eq!(inside(&usual, id), inside(&plain, id), "crack faces stay");
        assert_eq!(usual.mesh(id).full().unwrap_or(after.triangles), before.triangles);
    }
}
