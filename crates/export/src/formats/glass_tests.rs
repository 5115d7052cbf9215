//! Glass in files is clear; materials and colours of a file are as they came.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    Assembly, Format, MeshKind, Meshes, Skin, Watch,
    compute::Compute,
    fracture::{
        FractureParams, Insides, Interior, Material, Passes,
        generations::{Plan, break_object, default_impact},
    },
    import::import,
    mesh,
    meshes::Side,
    shape::{Look, Shape},
    svo::Arena,
    voxelize::Progress,
    write,
};

/// A box in pieces of this material.
fn broken(material: Material) -> Assembly {
    let object = import("builtin:box", 4, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let interior = Interior { material, ..Interior::default() };
    let params = FractureParams { seeds: 5, interior, ..FractureParams::default() };
    let plan = Plan { impact, params, seeds: None, bounds: Some(object.bounds), generations: 1 };
    let broken = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    Assembly { meshes: Meshes::asked(MeshKind::Smooth), ..Assembly::of_break(&broken) }
}

/// The materials of the GLB by their names, the colour of the first outside corner, the texts of USD and MTL.
fn written(what: &mut Assembly, name: &str) -> (BTreeMap<String, Value>, [u16; 3], [String; 2]) {
    let watch = Watch::whole(&Progress::default());
    what.prepare(&watch).unwrap();
    let folder = std::env::temp_dir().join(format!("kintsugi-glass-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for format in [Format::Glb, Format::Obj, Format::Usda] {
        write(what, format, &folder, &watch).unwrap();
    }
    let bytes = std::fs::read(folder.join("pieces.glb")).unwrap();
    let [usd, mtl] = ["pieces.usda", "pieces.mtl"].map(|f| std::fs::read_to_string(folder.join(f)).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    gltf::Gltf::from_slice(&bytes).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let materials = document["materials"].as_array().unwrap();
    let is_used = document["extensionsUsed"].as_array().is_some_and(|all| {
        ["KHR_materials_ior", "KHR_materials_transmission"].iter().all(|one| all.contains(&(*one).into()))
    });
    assert_eq!(is_used, materials.iter().any(|one| one.get("extensions").is_some()));
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let primitives = document["meshes"][0]["primitives"].as_array().unwrap();
    let is_outside = |one: &&Value| materials[number(&one["material"])]["name"] != "inside";
    let color = primitives.iter().find(is_outside).and_then(|one| one["attributes"].get("COLOR_0"));
    let place = color.map(|color| &document["accessors"][number(color)]).map(|accessor| {
        let view = &document["bufferViews"][number(&accessor["bufferView"])];
        let start = |of: &Value| of.get("byteOffset").map_or(0, number);
        28 + length + start(view) + start(accessor)
    });
    let part =
        |k: usize| place.map_or(0, |at| u16::from_le_bytes([bytes[at + 2 * k], bytes[at + 2 * k + 1]]));
    let named = materials.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one.clone()));
    (named.collect(), [0, 1, 2].map(part), [usd, mtl])
}

fn transmission(material: &Value) -> f64 {
    let extensions = &material["extensions"];
    assert_eq!(extensions.get("KHR_materials_ior").is_some(), material.get("extensions").is_some());
    extensions["KHR_materials_transmission"]["transmissionFactor"].as_f64().unwrap_or(0.0)
}

#[test]
fn glass_is_clear_in_files_and_what_has_a_material_or_colours_of_its_own_is_as_it_came() {
    let (of, _, [usd, mtl]) = written(&mut broken(Material::Clay), "clay");
    assert!(of.values().all(|one| transmission(one) == 0.0), "{of:?}");
    assert!(!usd.contains("inputs:ior") && !mtl.contains("Ni "));

    let (of, color, [usd, mtl]) = written(&mut broken(Material::Glass), "glass");
    assert_eq!(of.keys().collect::<Vec<_>>(), ["inside", "outside"]);
    for one in of.values() {
        assert_eq!((transmission(one), &one["pbrMetallicRoughness"]["roughnessFactor"]), (1.0, &0.05.into()));
    }
    let [r, g, b] = color;
    assert!(g > 64_000 && r > 40_000 && r < g && b < g && r < b, "pale and greenish: {color:?}");
    assert_eq!(usd.matches("float inputs:ior = 1.52").count(), 2);
    assert_eq!(usd.matches("float inputs:opacity = 0.2").count(), 2);
    assert_eq!((mtl.matches("\nNi 1.52\n").count(), mtl.matches("\nd 0.2\n").count()), (2, 2), "{mtl}");

    // Colours of a file: the cracks alone are clear.
    let mut painted = broken(Material::Glass);
    for piece in &mut painted.pieces {
        let octree = piece.shape.as_octree().unwrap().clone();
        let look = Look { is_bare: false, ..*piece.shape.look() };
        piece.shape = Arc::new(Shape::octree(octree, piece.shape.density(), look));
    }
    let (of, own, [usd, mtl]) = written(&mut painted, "painted");
    assert_eq!((transmission(&of["inside"]), transmission(&of["outside"])), (1.0, 0.0));
    assert!(own[1] < 64_000 && own[0] > own[2], "its own cream: {own:?}");
    assert_eq!((usd.matches("inputs:ior").count(), mtl.matches("\nNi ").count()), (1, 1));

    // A material of a file.
    let mut own = broken(Material::Glass);
    let wood = mesh::Material { name: "Wood".to_owned(), color: [120, 80, 40], ..mesh::Material::default() };
    own.skins.insert(None, Skin { materials: vec![wood] });
    let (of, _, [_, mtl]) = written(&mut own, "own");
    assert_eq!((transmission(&of["Wood"]), transmission(&of["inside of Wood"])), (0.0, 1.0));
    assert_eq!(mtl.matches("\nNi ").count(), 1);
}

#[test]
fn an_outside_of_glass_has_another_material_than_one_of_clay() {
    let (mut what, clay) = (broken(Material::Glass), broken(Material::Clay));
    let own: Vec<_> =
        clay.pieces.into_iter().map(|piece| crate::ExportPiece { object: Some(1), ..piece }).collect();
    what.pieces.extend(own);
    what.pieces.iter_mut().enumerate().for_each(|(id, piece)| piece.id = id);
    what.insides.insert(Some(1), clay.insides[&None]);
    let (of, ..) = written(&mut what, "both");
    let clear: Vec<&str> =
        of.iter().filter(|(_, one)| transmission(one) > 0.0).map(|(name, _)| &**name).collect();
    assert_eq!((of.len(), clear), (4, vec!["inside", "outside of glass"]), "{of:?}");
}

/// Of one piece clay painted the cracks, after a break that opened glass; the cracks of the others are all of glass.
#[test]
fn cracks_have_the_material_that_their_break_opened() {
    for kind in [MeshKind::Smooth, MeshKind::Voxels] {
        let (mut what, glass) = (broken(Material::Clay), broken(Material::Glass).insides[&None]);
        let clay = what.insides.insert(None, glass).unwrap();
        what.meshes = Meshes::asked(kind);
        what.pieces.iter_mut().for_each(|piece| piece.insides = Insides::of([glass]));
        what.pieces[0].insides = Insides::of([glass, clay]);
        let (of, _, [usd, mtl]) = written(&mut what, &format!("later-{}", kind.name()));
        for id in 0..what.pieces.len() {
            let wanted = if id == 0 { Side::Later(1) } else { Side::Inside };
            let mesh = what.mesh(id);
            let cracks: Vec<Side> =
                mesh.faces.iter().map(|face| face.side).filter(|side| side.is_crack()).collect();
            let odd = cracks.iter().filter(|side| **side != wanted).count();
            assert!(cracks.len() > 20 && 50 * odd < cracks.len(), "piece {id}: {odd} of {}", cracks.len());
        }
        assert_eq!((transmission(&of["inside"]), transmission(&of["inside_clay"])), (1.0, 0.0));
        assert_eq!(of["inside_clay"]["pbrMetallicRoughness"]["roughnessFactor"], 0.9);
        assert!(usd.contains("inside_clay") && mtl.contains("newmtl inside_clay"));
    }
}
