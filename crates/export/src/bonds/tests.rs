//! Bonds of a break, read back from what is written of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use glam::{DMat4, DQuat, DVec3};
use serde_json::Value;

use super::*;
use crate::{
    Handover, MeshKind, Meshes, Pivot, Placing,
    bodies::structure::{Strength, StrengthMaterial},
    compute::Compute,
    fracture::{
        CrackSection, FractureParams, Passes, Surface, crack_sections,
        generations::{Plan, break_object, default_impact},
    },
    import::import,
    svo::Arena,
    voxelize::Progress,
};

fn watch() -> Watch {
    Watch::whole(&Progress::default())
}

/// The built-in box of level 6, broken by seeds at these shares of its bounds, and the sections of its cracks by pieces.
fn broken(shares: &[DVec3], handover: Handover) -> (Assembly, Vec<CrackSection>) {
    let object = import("builtin:box", 6, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let params = FractureParams { surface: Surface::Planar, ..FractureParams::default() };
    let [low, high] = [object.bounds.low, object.bounds.high];
    let seeds: Vec<DVec3> = shares.iter().map(|share| low + *share * (high - low)).collect();
    let plan =
        Plan { impact, params, seeds: Some(seeds.into()), bounds: Some(object.bounds), generations: 1 };
    let broken = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    let mut what = Assembly::of_break(&broken);
    what.handover = Handover { bonds: true, ..handover };
    what.cut_original(&object.mesh, 1.0, &broken, &Progress::default()).unwrap();
    what.prepare(&watch()).unwrap();
    // Parts are in another order than pieces.
    let parts = &broken.steps[0].result.parts;
    let piece = |part: u32| {
        let shape = &parts[part as usize].shape;
        what.pieces.iter().position(|piece| Arc::ptr_eq(&piece.shape, shape)).unwrap() as u32
    };
    let mut sections = crack_sections(parts);
    for section in &mut sections {
        section.parts = section.parts.map(piece);
        section.parts.sort_unstable();
    }
    (what, sections)
}

const TWO: [DVec3; 2] = [DVec3::new(0.25, 0.5, 0.5), DVec3::new(0.75, 0.5, 0.5)];
const FIVE: [DVec3; 5] = [
    DVec3::new(0.2, 0.3, 0.25),
    DVec3::new(0.8, 0.25, 0.3),
    DVec3::new(0.3, 0.8, 0.4),
    DVec3::new(0.75, 0.7, 0.6),
    DVec3::new(0.45, 0.4, 0.85),
];

/// The break into five, which most tests share.
static OF_FIVE: LazyLock<(Assembly, Vec<CrackSection>)> =
    LazyLock::new(|| broken(&FIVE, Handover::default()));

fn five(handover: Handover) -> Assembly {
    Assembly { handover: Handover { bonds: true, ..handover }, ..OF_FIVE.0.clone() }
}

fn for_target(target: Target) -> Handover {
    Handover { target: Some(target), ..Handover::default() }
}

/// What [`write`] writes into a folder of its own, by name.
fn written(test: &str, what: &Assembly, formats: &[Format]) -> BTreeMap<&'static str, String> {
    let folder = std::env::temp_dir().join(format!("kintsugi-bonds-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for format in formats {
        crate::write(what, *format, &folder, &watch()).unwrap();
    }
    let names = write(&folder, what, &watch()).unwrap();
    let texts =
        names.iter().map(|name| (*name, std::fs::read_to_string(folder.join(name)).unwrap())).collect();
    std::fs::remove_dir_all(folder).unwrap();
    texts
}

#[test]
fn a_bond_bears_the_strength_times_the_area_of_the_crack() {
    // The box is a unit cube: the crack between the two halves is a unit square.
    let (what, _) =
        broken(&TWO, Handover { strength: Some(StrengthMaterial::Concrete), ..Handover::default() });
    let joints = joints(&what, &bonds(&what, &watch()).unwrap());
    assert_eq!(joints.len(), 1);
    let Joint { bond, holds } = joints[0];
    let side = what.pieces.iter().map(|p| p.figures().bounds.size().y).fold(0.0, f64::max);
    let (area, modulus) = (bond.area, bond.area.powf(1.5) / 6.0);
    assert!((side * side / area - 1.0).abs() < 0.1, "{side} {area}");
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
    assert!(
        close(holds.pull, 3e6 * area) && close(holds.press, 30e6 * area) && close(holds.slide, 5e6 * area)
    );
    assert!(close(holds.bend, 3e6 * modulus), "{holds:?} {modulus}");
    assert!(close(holds.force(), holds.pull) && close(holds.torque(), holds.bend));
}

#[test]
fn bonds_of_meshes_are_the_cracks_of_voxels() {
    let (what, sections) = &*OF_FIVE;
    assert_eq!(what.pieces.len(), 5);
    let all = bonds(what, &watch()).unwrap();
    let strength = Strength::default();
    let mut compared = 0;
    for section in sections.iter().filter(|section| section.area > 0.05) {
        let pair = section.parts.map(|part| part as usize);
        let bond = all.iter().find(|bond| bond.pieces == pair).unwrap();
        let spread = |m: &glam::DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
        let off = [
            bond.section / section.area - 1.0,
            spread(&bond.moments) / spread(&section.moments) - 1.0,
            bond.centre.distance(section.centre) / section.area.sqrt(),
            bond.normal.cross(section.normal).length(),
        ];
        assert!(
            off[0].abs() < 0.06 && off[1].abs() < 0.12 && off[2] < 0.03 && off[3] < 0.02,
            "{off:?} {bond:?}"
        );
        let force = Capacity::of(bond, &strength, 1.0).force();
        assert!((force / (3e6 * section.area) - 1.0).abs() < 0.06);
        compared += 1;
    }
    assert!(compared >= 5, "{compared}");
}

#[test]
fn pieces_that_have_come_apart_have_no_joint() {
    let mut what = five(Handover::default());
    let all = bonds(&what, &watch()).unwrap();
    let of_first = all.iter().filter(|bond| bond.pieces.contains(&0)).count();
    let together = joints(&what, &all).len();
    assert!(of_first > 0 && together == all.len());
    // A bond that has failed holds nothing; one with half of the strength holds half.
    let usual = what.capacity(&all[0]);
    let held = |bond: &Bond, share: f64| {
        let (parts, area) = (bond.pieces.map(|piece| piece as u32), bond.section);
        let section =
            CrackSection { parts, area, centre: bond.centre, normal: bond.normal, moments: bond.moments };
        (bond.pieces, HeldBond { section, share })
    };
    what.held.extend([held(&all[0], 0.5), held(&all[1], 0.0)]);
    assert!((what.capacity(&all[0]).bend / usual.bend - 0.5).abs() < 1e-9);
    assert_eq!(joints(&what, &all).len(), together - 1);
    what.held.clear();
    // All together elsewhere: nothing has come apart.
    let turn = DQuat::from_rotation_y(0.7);
    let placing = Placing { scale: 1.0, rotation: turn, translation: DVec3::new(3.0, 1.0, -2.0) };
    what.pieces.iter_mut().for_each(|piece| piece.placing = placing);
    assert_eq!(joints(&what, &all).len(), together);
    what.pieces[0].placing.translation.y += what.pieces[0].voxel();
    assert_eq!(joints(&what, &all).len(), together - of_first);
    what.pieces[0].placing = Placing { rotation: turn * DQuat::from_rotation_x(0.01), ..placing };
    assert_eq!(joints(&what, &all).len(), together - of_first);
}

/// Whatever meshes show: a crack that they miss is listed, and one that they show has the section that the structure has.
#[test]
fn bonds_of_a_structure_are_its_own_sections() {
    let (mut what, sections) = (five(Handover::default()), &OF_FIVE.1);
    let of_meshes = bonds(&what, &watch()).unwrap();
    let mut own: Vec<CrackSection> = sections.clone();
    let absent = (0..5u32).flat_map(|a| (a + 1..5).map(move |b| [a, b])).find(|pair| {
        !sections.iter().any(|section| section.parts == *pair)
            && !of_meshes.iter().any(|bond| bond.pieces == pair.map(|piece| piece as usize))
    });
    if let Some(parts) = absent {
        own.push(CrackSection { parts, area: 1e-6, ..sections[0] });
    }
    let held = |section: &CrackSection| {
        let section = CrackSection { area: section.area * 0.5, ..*section };
        (section.parts.map(|part| part as usize), HeldBond { section, share: 0.7 })
    };
    what.held = own.iter().map(held).collect();
    let all = bonds(&what, &watch()).unwrap();
    assert!(all.is_sorted_by_key(|bond| bond.pieces) && all.len() >= own.len());
    for section in &own {
        let bond = all.iter().find(|bond| bond.pieces == section.parts.map(|part| part as usize)).unwrap();
        assert_eq!(
            (bond.section, bond.centre, bond.normal),
            (0.5 * section.area, section.centre, section.normal)
        );
        let pull = what.capacity(bond).pull;
        assert!((pull / (0.35 * section.area * what.strength(None).tension) - 1.0).abs() < 1e-9);
        let meshes = of_meshes.iter().find(|other| other.pieces == bond.pieces);
        let area = meshes.map_or(0.5 * section.area, |bond| bond.area);
        assert_eq!(bond.area, area, "the area of rough faces is that of meshes");
    }
}

#[test]
fn lengths_of_the_files_scale_torques_and_no_forces() {
    let (mut what, _) = broken(&TWO, Handover::default());
    let all = bonds(&what, &watch()).unwrap();
    let before = joints(&what, &all)[0].holds;
    what.pieces.iter_mut().for_each(|piece| piece.placing = Placing::in_units(0.01));
    let after = joints(&what, &all)[0].holds;
    assert!(
        (after.pull / before.pull - 1.0).abs() < 1e-12 && (after.bend / before.bend - 100.0).abs() < 1e-9
    );
}

/// The numbers in the brackets that follow `name = ` after `from`.
fn numbers_after(text: &str, from: usize, name: &str) -> Vec<f64> {
    let at = from + text[from..].find(&format!("{name} = ")).unwrap() + name.len() + 3;
    let line = text[at..].lines().next().unwrap();
    line.trim_matches(['(', ')']).split(", ").map(|v| v.parse().unwrap()).collect()
}

/// The matrix of a piece's prim, or of a joint's frame, from a position and a quaternion w, x, y, z.
fn frame(at: &[f64], turn: &[f64]) -> DMat4 {
    let turn = DQuat::from_xyzw(turn[1], turn[2], turn[3], turn[0]);
    DMat4::from_rotation_translation(turn, DVec3::new(at[0], at[1], at[2]))
}

#[test]
fn frames_of_a_joint_coincide_in_the_world() {
    let blender = (Some(Target::Blender), Pivot::Origin);
    for (target, pivot) in [(None, Pivot::Mass), blender, (Some(Target::Unreal), Pivot::Mass)] {
        let mut what = five(Handover { target, pivot, ..Handover::default() });
        let placing = Placing {
            scale: 2.0,
            rotation: DQuat::from_rotation_x(0.4),
            translation: DVec3::new(0.5, 3.0, 1.0),
        };
        what.pieces.iter_mut().for_each(|piece| piece.placing = placing);
        let folder = std::env::temp_dir().join(format!("kintsugi-frames-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        crate::write(&what, Format::Usda, &folder, &watch()).unwrap();
        let pieces = std::fs::read_to_string(folder.join("pieces.usda")).unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        let joints = joints(&what, &bonds(&what, &watch()).unwrap());
        let text = usd::text(&what, &joints);
        let space = what.handover.space(&Format::Usda);
        for Joint { bond, holds } in &joints {
            let [a, b] = bond.pieces.map(|piece| what.pieces[piece].name());
            let from = text.find(&format!("PhysicsFixedJoint \"{a}_{b}\"")).unwrap();
            let world = |name: &str, side: usize| {
                let at = pieces.find(&format!("def Xform \"{name}\"")).unwrap();
                let body = frame(
                    &numbers_after(&pieces, at, "xformOp:translate"),
                    &numbers_after(&pieces, at, "xformOp:orient"),
                );
                let own = frame(
                    &numbers_after(&text, from, &format!("physics:localPos{side}")),
                    &numbers_after(&text, from, &format!("physics:localRot{side}")),
                );
                body * own
            };
            let [one, other] = [world(&a, 0), world(&b, 1)];
            let size = space.per_metre * what.pieces[0].voxel() * 2.0;
            assert!(one.abs_diff_eq(other, 1e-3 * size), "{one} {other}");
            let at = space.point(placing.point(bond.centre));
            let normal = space.direction(placing.rotation * bond.normal);
            assert!(one.w_axis.truncate().distance(at) < 1e-3 * size);
            assert!(one.x_axis.truncate().dot(normal) > 1.0 - 1e-5);
            let force = numbers_after(&text, from, "float physics:breakForce")[0];
            let torque = numbers_after(&text, from, "float physics:breakTorque")[0];
            assert!((force / (holds.force() * space.per_metre) - 1.0).abs() < 1e-6);
            assert!((torque / (holds.torque() * space.per_metre.powi(2)) - 1.0).abs() < 1e-6);
        }
        // A body that broke as a mesh has a volume for a mass: the layer has the kilograms.
        assert_eq!(text.matches("physics:mass").count(), 5);
        let first = numbers_after(&text, text.find("over \"piece_000\"").unwrap(), "float physics:mass")[0];
        assert!((first / (what.mass(0).kg * 2400.0) - 1.0).abs() < 1e-6);
    }
}

/// The value of a key in a list of keys and values.
fn at<'a>(list: &'a Value, key: &str) -> &'a Value {
    let list = list.as_array().unwrap();
    let found = list.chunks(2).find(|pair| pair[0] == key);
    &found.unwrap_or_else(|| panic!("{key} is missing"))[1]
}

/// The attribute of that name: its definition and its data.
fn attribute<'a>(list: &'a Value, name: &str) -> &'a Value {
    let all = list.as_array().unwrap();
    &all.iter().find(|of| at(&of[0], "name") == name).unwrap_or_else(|| panic!("{name} is missing"))[1]
}

#[test]
fn joints_lie_over_the_layer_that_is_there() {
    let what = five(Handover::default());
    for (formats, named) in
        [(&[Format::Usdc][..], "pieces.usdc"), (&[Format::Usda, Format::Usdc][..], "pieces.usda")]
    {
        let text = &written("over", &what, formats)["bonds.usda"];
        assert!(text.contains(&format!("subLayers = [@./{named}@]")), "{named}");
    }
}

#[test]
fn the_network_of_houdini_has_an_anchor_of_each_piece_of_a_bond() {
    let what = five(for_target(Target::Houdini));
    let texts = written("houdini", &what, &[Format::Usda]);
    assert_eq!(texts.keys().copied().collect::<Vec<_>>(), ["bonds.csv", "bonds.usda", "bonds_houdini.geo"]);
    let joints = joints(&what, &bonds(&what, &watch()).unwrap());
    let geo: Value = serde_json::from_str(&texts["bonds_houdini.geo"]).unwrap();
    let n = joints.len();
    let count = |key| at(&geo, key).as_u64().unwrap() as usize;
    assert_eq!((count("pointcount"), count("vertexcount"), count("primitivecount")), (2 * n, 2 * n, n));
    let refs = at(at(at(&geo, "topology"), "pointref"), "indices").as_array().unwrap();
    assert_eq!(refs.len(), 2 * n);
    let run = &at(&geo, "primitives")[0];
    assert_eq!(
        (&run[0][1], at(&run[1], "nvertices_rle")),
        (&Value::from("PolygonCurve_run"), &Value::from(vec![2, n]))
    );
    let of_points = at(at(&geo, "attributes"), "pointattributes");
    let of_lines = at(at(&geo, "attributes"), "primitiveattributes");
    let places = at(at(attribute(of_points, "P"), "values"), "tuples").as_array().unwrap();
    let names = attribute(of_points, "name");
    let owner = |point: usize| {
        let index = at(at(names, "indices"), "arrays")[0][point].as_u64().unwrap();
        at(names, "strings")[index as usize].as_str().unwrap()
    };
    let strength = &at(at(attribute(of_lines, "strength"), "values"), "arrays")[0];
    assert_eq!((places.len(), strength.as_array().unwrap().len()), (2 * n, n));
    assert_eq!(at(attribute(of_lines, "constraint_name"), "strings")[0], "Glue");
    for (i, Joint { bond, holds }) in joints.iter().enumerate() {
        for side in 0..2 {
            assert_eq!(owner(2 * i + side), what.pieces[bond.pieces[side]].name());
            assert_eq!(places[2 * i + side][1].as_f64().unwrap(), bond.centre.y);
        }
        // The impulse of the force over a frame.
        assert!(
            (strength[i].as_f64().unwrap() / (3e6 * bond.section / 24.0) - 1.0).abs() < 1e-9,
            "{holds:?}"
        );
    }
    // Without bonds it is still geometry.
    let empty: Value = serde_json::from_str(&houdini::text(&what, &[])).unwrap();
    assert_eq!(at(&empty, "primitives").as_array().unwrap().len(), 0);
}

#[test]
fn the_table_of_unreal_has_a_root_its_clusters_and_centimetres() {
    let mut what = five(for_target(Target::Unreal));
    // As if the last two had come of one piece that broke again.
    what.generations.push(crate::Generation { id: 5, parent: None });
    what.pieces.iter_mut().skip(3).for_each(|piece| piece.parent = Some(5));
    let texts = written("unreal", &what, &[]);
    let table: Value = serde_json::from_str(&texts["bonds_unreal.json"]).unwrap();
    let bones = table["bones"].as_array().unwrap();
    let level =
        |name: &str| bones.iter().find(|bone| bone["name"] == name).unwrap()["level"].as_u64().unwrap();
    assert_eq!((bones.len(), level("kintsugi"), level("piece_000")), (7, 0, 1));
    assert_eq!((level("piece_005"), level("piece_003"), level("piece_004")), (1, 2, 2));
    let joints = joints(&what, &bonds(&what, &watch()).unwrap());
    let connections = table["connections"].as_array().unwrap();
    assert_eq!(connections.len(), joints.len());
    for (row, Joint { bond, holds }) in connections.iter().zip(&joints) {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!((number("area") / (bond.section * 1e4) - 1.0).abs() < 1e-9);
        assert!((number("force") / (holds.force() * 1e2) - 1.0).abs() < 1e-9);
        assert!((number("torque") / (holds.torque() * 1e4) - 1.0).abs() < 1e-9);
        // Left-handed: y of the file is z, and z is y.
        assert!((row["centre"][2].as_f64().unwrap() - bond.centre.y * 100.0).abs() < 1e-9);
    }
}

#[test]
fn lumps_are_clusters_level_in_level_and_columns_of_their_bonds() {
    let mut what = five(for_target(Target::Unreal));
    // Lumps of two levels; the last piece is in none.
    what.lumps = [(0, vec![0, 0]), (1, vec![0, 1]), (2, vec![0, 1]), (3, vec![1, 2])].into();
    let joints = joints(&what, &bonds(&what, &watch()).unwrap());
    let wanted = |bond: &Bond| match bond.pieces {
        [1, 2] => Some(2),
        [0, 1 | 2] => Some(1),
        [_, 4] => None,
        _ => Some(0),
    };
    let table: Value = serde_json::from_str(&unreal::text(&what, &joints)).unwrap();
    let bones = table["bones"].as_array().unwrap();
    let bone = |name: &str| bones.iter().position(|bone| bone["name"] == name).unwrap();
    // The root, two lumps of the first level and three of the second, and the pieces; each after its parent.
    assert_eq!(bones.len(), 1 + 2 + 3 + 5);
    for bone_row in bones.iter().skip(1) {
        let parent = bone(bone_row["parent"].as_str().unwrap());
        assert!(parent < bone(bone_row["name"].as_str().unwrap()));
        let level = |row: &Value| row["level"].as_u64().unwrap();
        assert_eq!(level(bone_row), level(&bones[parent]) + 1);
    }
    let parent = |name: &str| bones[bone(name)]["parent"].as_str().unwrap();
    assert_eq!(parent("piece_001"), parent("piece_002"));
    assert_eq!(parent(parent("piece_001")), parent(parent("piece_000")));
    assert_ne!(parent(parent("piece_003")), parent(parent("piece_000")));
    assert_eq!((parent("piece_004"), parent(parent(parent("piece_003")))), ("kintsugi", "kintsugi"));
    let geo: Value = serde_json::from_str(&houdini::text(&what, &joints)).unwrap();
    let of_points = at(at(&geo, "attributes"), "pointattributes");
    let of_lines = at(at(&geo, "attributes"), "primitiveattributes");
    let column = |list: &Value, name: &str, element: usize| {
        at(at(attribute(list, name), "values"), "arrays")[0][element].as_i64().unwrap()
    };
    let usda = usd::text(&what, &joints);
    for (i, (row, joint)) in table["connections"].as_array().unwrap().iter().zip(&joints).enumerate() {
        let level = wanted(&joint.bond);
        assert_eq!(row.get("lump_level").map(|level| level.as_u64().unwrap()), level);
        assert_eq!(column(of_lines, "cluster_level", i), level.map_or(-1, |level| level as i64));
        for (side, piece) in joint.bond.pieces.iter().enumerate() {
            for depth in 0..2 {
                let own = what.lumps.get(piece).map_or(-1, |own| i64::from(own[depth]));
                assert_eq!(column(of_points, &format!("cluster_{depth}"), 2 * i + side), own);
            }
        }
    }
    let with_level = joints.iter().filter(|joint| wanted(&joint.bond).is_some()).count();
    assert!(with_level > 0 && with_level == usda.matches("int kintsugi:lumpLevel = ").count());
    // Without lumps none of this is there.
    what.lumps.clear();
    let texts = [unreal::text, houdini::text, usd::text].map(|text| text(&what, &joints));
    assert!(texts.iter().all(|text| !text.contains("lump") && !text.contains("cluster_")));
}

#[test]
fn the_script_of_blender_lists_pieces_and_bonds_as_it_lays_them() {
    let handover = Handover { strength: Some(StrengthMaterial::Glass), ..for_target(Target::Blender) };
    let (what, _) = broken(&TWO, handover);
    let texts = written("blender", &what, &[]);
    let script = &texts["bonds_blender.py"];
    let joints = joints(&what, &bonds(&what, &watch()).unwrap());
    let Joint { bond, holds } = joints[0];
    let (c, force, torque) = (bond.centre, holds.force(), holds.torque());
    let row =
        format!("    (\"piece_000\", \"piece_001\", ({}, {}, {}), {force}, {torque}),\n", c.x, -c.z, c.y);
    assert!(script.contains(&row), "{row} is missing of\n{script}");
    assert!(script.contains(&format!("(\"piece_001\", {}, (", what.mass(1).kg * 2500.0)));
    assert!(script.contains("PIECES = [\n") && script.contains("BONDS = [\n") && !script.contains("VERSION"));
    assert!(script.contains("= force * seconds"));
}

#[test]
fn two_runs_write_the_same_bytes() {
    let (mut one, mut other) = (five(Handover::default()), broken(&FIVE, Handover::default()).0);
    let header =
        "a,b,area,gap,centre_x,centre_y,centre_z,normal_x,normal_y,normal_z,pull,press,slide,bend,twist\n";
    for (target, files) in Target::ALL.into_iter().zip([3, 3, 3, 2]) {
        (one.handover.target, other.handover.target) = (Some(target), Some(target));
        let texts = written("again", &one, &[Format::Usda]);
        assert_eq!(texts, written("again", &other, &[Format::Usda]));
        assert!(texts["bonds.csv"].starts_with(header) && texts.len() == files);
    }
}

#[test]
fn a_scene_says_its_own_strength_unless_another_is_asked_for() {
    let (mut what, _) = broken(&TWO, Handover::default());
    what.meshes = Meshes::asked(MeshKind::Original);
    what.strengths.insert(None, StrengthMaterial::Ice.strength());
    assert_eq!(what.strength(None).tension, 1e6);
    assert_eq!(what.strength(Some(3)).tension, 3e6);
    what.handover.strength = Some(StrengthMaterial::Glass);
    assert_eq!(what.strength(None).tension, 40e6);
    what.relative_masses = false;
    assert_eq!(what.solid(0).kg, what.mass(0).kg);
}
