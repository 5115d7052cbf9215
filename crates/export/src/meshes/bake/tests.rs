//! Textures of crack faces: charts apart and in world size, texels as the material says, and files that programs read.

use glam::{DVec2, DVec3, Vec3};
use serde_json::Value;

use super::{Maps, charts::charts, pack::BORDER};
use crate::{
    Assembly, Format, Handover, MeshKind, Meshes, PieceMesh, Watch,
    compute::Compute,
    fracture::{
        FractureParams, Interior, Material, Passes, Surface,
        generations::{Plan, break_object, default_impact},
    },
    import::import,
    meshes::{
        Side, primitives,
        relief::{halved, outside_of, smooth_normals, units_per_metre},
    },
    svo::Arena,
    voxelize::Progress,
    write, write_beside,
};

fn watch() -> Watch {
    Watch::whole(&Progress::default())
}

/// The pieces of a built-in shape with textures.
fn baked(name: &str, material: Material, surface: Surface, kind: MeshKind, handover: Handover) -> Assembly {
    baked_of(name, Interior { material, ..Interior::default() }, surface, kind, handover)
}

/// The same with a material of any scale.
fn baked_of(
    name: &str,
    interior: Interior,
    surface: Surface,
    kind: MeshKind,
    handover: Handover,
) -> Assembly {
    let object = import(&format!("builtin:{name}"), 5, &Progress::default()).unwrap();
    let mut arena = Arena::new(Compute::Cpu).unwrap();
    arena.insert(&object.forest).unwrap();
    let impact = default_impact(&object.shape, object.bounds);
    let params = FractureParams { seeds: 7, surface, interior, ..FractureParams::default() };
    let plan = Plan { impact, params, seeds: None, bounds: Some(object.bounds), generations: 1 };
    let broken = break_object(&mut arena, &Passes::default(), &object.shape, &plan, &mut |_, _| {}).unwrap();
    let mut what = Assembly::of_break(&broken);
    match kind {
        MeshKind::Original => what.cut_original(&object.mesh, 1.0, &broken, &Progress::default()).unwrap(),
        kind => what.meshes = Meshes::asked(kind),
    }
    what.handover = handover;
    what.prepare(&watch()).unwrap();
    what
}

fn texels(bake: f64, relief_edge: f64) -> Handover {
    Handover { bake, relief_edge, ..Handover::default() }
}

fn maps(what: &Assembly) -> &Maps {
    what.maps.values().next().unwrap()
}

/// A piece as it is written and before it was displaced.
fn both(what: &Assembly, id: usize) -> [PieceMesh; 2] {
    let written = PieceMesh::clone(what.mesh(id).mesh());
    let edge = what.handover.relief_edge * what.pieces[id].voxel();
    let fine =
        (edge > 0.0).then(|| halved(&what.mesh_without_relief(id), &[what.insides[&None]], edge)).flatten();
    let flat = fine.unwrap_or_else(|| written.clone());
    [written, flat]
}

fn inside(mesh: &PieceMesh) -> impl Iterator<Item = usize> {
    (0..mesh.triangles.len()).filter(|t| mesh.faces[*t].side == Side::Inside)
}

/// The corners of a triangle in the atlas, texels, v up.
fn in_atlas(mesh: &PieceMesh, t: usize, size: u32) -> [DVec2; 3] {
    mesh.corners[t].map(|corner| DVec2::from_array(corner.uv.map(f64::from)) * f64::from(size))
}

/// Weights of a triangle's corners at a point; `None` outside.
fn weights([a, b, c]: [DVec2; 3], p: DVec2) -> Option<[f64; 3]> {
    let area = (b - a).perp_dot(c - a);
    let all =
        [(b - p).perp_dot(c - p), (c - p).perp_dot(a - p), (a - p).perp_dot(b - p)].map(|part| part / area);
    (area > 0.0 && all.iter().all(|weight| *weight > 1e-3)).then_some(all)
}

/// Calls `at` with every sample (a texel has `fine` a side), and the weights there of each triangle that it lies in.
fn samples(corners: [DVec2; 3], fine: u32, mut at: impl FnMut([u32; 2], [f64; 3])) {
    let [a, b, c] = corners.map(|p| p * f64::from(fine));
    let (low, high) = (a.min(b).min(c), a.max(b).max(c));
    for y in low.y as u32..=high.y as u32 {
        for x in low.x as u32..=high.x as u32 {
            if let Some(weights) = weights([a, b, c], DVec2::new(f64::from(x), f64::from(y)) + 0.5) {
                at([x, y], weights);
            }
        }
    }
}

/// Number of samples that several triangles cover, and of those that any covers, four by four in a texel.
fn covered(triangles: &[[DVec2; 3]], size: u32) -> [usize; 2] {
    let mut count = vec![0u8; (4 * size as usize).pow(2)];
    for corners in triangles {
        samples(*corners, 4, |[x, y], _| count[(y * 4 * size + x) as usize] += 1);
    }
    [2, 1].map(|least| count.iter().filter(|n| **n >= least).count())
}

#[test]
fn charts_lie_apart_and_have_world_size() {
    for (name, surface, kind, edge) in [
        ("box", Surface::Planar, MeshKind::Original, 0.0),
        ("vase", Surface::Rough, MeshKind::Original, 0.0),
        ("statue", Surface::Rough, MeshKind::Smooth, 0.0),
        ("box", Surface::Rough, MeshKind::Original, 1.0),
    ] {
        let what = baked(name, Material::Clay, surface, kind, texels(0.5, edge));
        let Maps { size, texel, .. } = *maps(&what);
        assert!(size.is_power_of_two() && texel == 0.5 * what.pieces[0].voxel());
        let mut triangles = Vec::new();
        for id in 0..what.pieces.len() {
            let [written, flat] = both(&what, id);
            assert_eq!(written.triangles, flat.triangles);
            let charts = charts(&flat);
            assert_eq!(
                charts.iter().map(|chart| chart.triangles.len()).sum::<usize>(),
                inside(&flat).count()
            );
            for (chart, t) in
                charts.iter().flat_map(|chart| chart.triangles.iter().map(move |t| (chart, *t as usize)))
            {
                let [a, b, c] = in_atlas(&written, t, size);
                let p = flat.triangles[t].map(|v| flat.positions[v as usize]);
                let doubled = (p[1] - p[0]).cross(p[2] - p[0]);
                let projected = doubled.dot(chart.axes[0].cross(chart.axes[1]));
                let area = (b - a).perp_dot(c - a) * texel * texel;
                let around: f64 = (0..3).map(|k| p[k].distance(p[(k + 1) % 3])).sum();
                let rounding = around * texel * f64::from(size) * f64::from(f32::EPSILON);
                assert!(projected >= 0.3 * doubled.length(), "{name} {t}: {projected} of {doubled}");
                assert!(
                    (area - projected).abs() < 1e-3 * projected + rounding,
                    "{name} {t}: {area} of {projected}"
                );
                triangles.push([a, b, c]);
            }
            let most = f64::from(size - BORDER) + 1e-3;
            let is_in = |p: &DVec2| p.min_element() >= f64::from(BORDER) - 1e-3 && p.max_element() <= most;
            assert!(triangles.iter().flatten().all(is_in), "{name}: no border");
        }
        let [twice, once] = covered(&triangles, size);
        println!("{name} {surface:?} {kind:?}: {} triangles in {size}, {once} samples", triangles.len());
        assert!(twice == 0 && once > 4000, "{name} {surface:?}: {twice} of {once}");
        // The count sees a chart that lies on another.
        let area = |[a, b, c]: &[DVec2; 3]| (*b - *a).perp_dot(*c - *a);
        let largest = *triangles.iter().max_by(|a, b| area(a).total_cmp(&area(b))).unwrap();
        triangles.push(largest.map(|p| p + 0.25));
        assert!(covered(&triangles, size)[0] > 0);
    }
}

#[test]
fn texels_show_what_the_material_is_there() {
    for (material, surface, edge) in
        [(Material::Concrete, Surface::Planar, 0.0), (Material::Stone, Surface::Rough, 1.0)]
    {
        let what = baked("box", material, surface, MeshKind::Original, texels(0.5, edge));
        let maps = maps(&what);
        let size = maps.size;
        let [color, normal, rough, _] =
            maps.all().map(|(_, png)| image::load_from_memory(png).unwrap().into_rgba8());
        let (mut all, mut wrong) = (0u32, [0u32; 3]);
        let mut is_covered = vec![false; (size as usize).pow(2)];
        for id in 0..what.pieces.len() {
            let [written, flat] = both(&what, id);
            let (normals, axes) = (smooth_normals(&flat), what.mesh(id).axes().to_vec());
            let grid = what.pieces[id].shape.as_octree().unwrap().grid;
            let (units, volume) = (units_per_metre(&grid), what.insides[&None]);
            for t in inside(&written) {
                samples(in_atlas(&written, t, size), 1, |[x, y], weights| {
                    let mixed =
                        |of: [Vec3; 3]| (0..3).map(|k| of[k] * weights[k] as f32).sum::<Vec3>().normalize();
                    let corners = flat.triangles[t].map(|v| flat.positions[v as usize]);
                    let p: DVec3 = (0..3).map(|k| corners[k] * weights[k]).sum();
                    let base = mixed(normals[t]);
                    let relief = volume.relief_at(
                        ((p - grid.origin) * units).as_vec3(),
                        base,
                        (maps.texel * units) as f32,
                    );
                    let at = |image: &image::RgbaImage| image.get_pixel(x, size - 1 - y).0;
                    let off = |a: [u8; 4], b: [u8; 3]| (0..3).map(|k| a[k].abs_diff(b[k])).max().unwrap();
                    wrong[0] += u32::from(off(at(&color), volume.color_on(&relief)) > 4);
                    let shading = mixed(written.corners[t].map(|corner| corner.normal));
                    let along = (axes[t] - shading * shading.dot(axes[t])).normalize();
                    let [r, g, b, _] = at(&normal).map(|byte| f32::from(byte) / 127.5 - 1.0);
                    let bent = (along * r + shading.cross(along) * g + shading * b).normalize();
                    wrong[1] += u32::from(bent.dot(relief.normal).min(1.0).acos().to_degrees() > 1.5);
                    wrong[2] += u32::from(
                        off(at(&rough), [255, (255.0 * volume.roughness_on(&relief)).round() as u8, 0]) > 0,
                    );
                    all += 1;
                    is_covered[((size - 1 - y) * size + x) as usize] = true;
                });
            }
        }
        println!("{material:?}: {wrong:?} of {all} differ");
        // The places of texels are rounded; a few lie at the edge of a grain.
        assert!(all > 3000 && wrong.iter().all(|n| n * 100 < all), "{wrong:?} of {all}");
        // Texels next to a chart show its edge and not the background.
        let next_to = |i: usize| {
            let row = size as usize;
            [i - 1, i + 1, i - row, i + row].iter().any(|beside| is_covered[*beside])
        };
        let inner = size as usize..is_covered.len() - size as usize;
        let round: Vec<usize> = inner.filter(|i| !is_covered[*i] && next_to(*i)).collect();
        // Neither material has the background's roughness.
        let is_bare = |i: usize| rough.as_raw()[4 * i + 1] == 230;
        let bare = round.iter().filter(|i| is_bare(**i)).count();
        assert!(
            round.len() > 200 && bare == 0 && (0..is_covered.len()).any(is_bare),
            "{bare} of {}",
            round.len()
        );
    }
}

/// The largest displacement, the largest height, and the largest difference between the displacement and what mesh and height
/// map have of it together, m.
fn heights(what: &Assembly) -> [f64; 3] {
    let maps = maps(what);
    let height = image::load_from_memory(&maps.height).unwrap().into_luma8();
    let all: Vec<[PieceMesh; 2]> = (0..what.pieces.len()).map(|id| both(what, id)).collect();
    let outside = outside_of(all.iter().map(|[_, flat]| flat));
    let mut most = [0.0f64; 3];
    for (piece, [written, flat]) in what.pieces.iter().zip(&all) {
        let normals = smooth_normals(flat);
        let grid = piece.shape.as_octree().unwrap().grid;
        let (units, volume) = (units_per_metre(&grid), what.insides[&None]);
        for t in inside(written) {
            samples(in_atlas(written, t, maps.size), 1, |[x, y], weights| {
                let mixed = |of: [DVec3; 3]| (0..3).map(|k| of[k] * weights[k]).sum::<DVec3>();
                let [at, before] =
                    [written, flat].map(|mesh| mixed(flat.triangles[t].map(|v| mesh.positions[v as usize])));
                let base = mixed(normals[t].map(Vec3::as_dvec3)).normalize();
                let finest = (maps.texel * units) as f32;
                let relief =
                    volume.relief_at(((before - grid.origin) * units).as_vec3(), base.as_vec3(), finest);
                let shift = relief.shift.as_dvec3() / units;
                // Up to a length of 0.35 of the distance from the outside nothing is lost.
                let (squared, _) = outside.nearest(before, f64::INFINITY, |_| true).unwrap();
                let near = (0.35 * squared.sqrt() / shift.length()).min(1.0);
                let wanted = (shift * (near * (2.0 - near))).dot(base);
                let raised = f64::from(height.get_pixel(x, maps.size - 1 - y).0[0]) - 128.0;
                let raised = raised / 127.0 * maps.height_range;
                let found = [wanted, raised, wanted - raised - (at - before).dot(base)];
                most.iter_mut().zip(found).for_each(|(most, found)| *most = most.max(found.abs()));
            });
        }
    }
    most
}

#[test]
fn mesh_and_height_map_have_the_displacement_together_and_none_of_it_twice() {
    let of = |(material, scale), surface, edge| {
        let interior = Interior { material, scale, ..Interior::default() };
        let what = baked_of("box", interior, surface, MeshKind::Original, texels(0.5, edge));
        let (range, [whole, most, off]) = (maps(&what).height_range, heights(&what));
        println!("{material:?} {edge}: displaced to {whole:.2e}, heights to {most:.2e} by {off:.1e}");
        assert!(
            range > 0.0 && most > 0.9 * range && off < 0.03 * range,
            "{material:?} {edge}: {most} {off} {range}"
        );
        [whole, range]
    };
    for material in [Material::Concrete, Material::Marble] {
        let [[whole, alone], [same, rest]] =
            [0.0, 1.0].map(|edge| of((material, 6.0), Surface::Planar, edge));
        assert!((alone / whole - 1.0).abs() < 0.1 && (same / whole - 1.0).abs() < 0.1);
        assert!(rest < 0.6 * alone, "{material:?}: {rest} of {alone}");
    }
    // So fine that geometry shows none of it.
    of((Material::Stone, 1.0), Surface::Rough, 1.0);
}

#[test]
fn the_same_pieces_give_the_same_bytes() {
    let [a, b] =
        [0, 1].map(|_| baked("vase", Material::Marble, Surface::Rough, MeshKind::Original, texels(1.0, 0.0)));
    assert!(maps(&a) == maps(&b), "bytes differ");
    assert!((0..a.pieces.len()).all(|id| a.mesh(id).mesh() == b.mesh(id).mesh()));
    let other = baked("vase", Material::Clay, Surface::Rough, MeshKind::Original, texels(1.0, 0.0));
    assert!(maps(&a).color != maps(&other).color);
}

#[test]
fn texels_grow_where_a_texture_has_no_room() {
    let extents = [DVec2::new(2.0, 1.0), DVec2::new(0.5, 0.25)];
    let atlas = super::pack::pack(&extents, 0.01).unwrap();
    assert_eq!((atlas.size, atlas.texel), (256, 0.01));
    let atlas = super::pack::pack(&extents, 1e-6).unwrap();
    assert!(atlas.size == 8192 && (2.0..2.2).contains(&(atlas.texel * 8192.0)), "{atlas:?}");
    assert!(super::pack::pack(&vec![DVec2::ZERO; 3_000_000], 1.0).is_none());
}

#[test]
fn files_name_the_textures() {
    let mut what = baked("box", Material::Brick, Surface::Planar, MeshKind::Original, texels(1.0, 0.0));
    let folder = std::env::temp_dir().join(format!("kintsugi-bake-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for format in [Format::Glb, Format::Obj, Format::Usda] {
        write(&what, format, &folder, &watch()).unwrap();
    }
    assert_eq!(write_beside(&what, &folder, &watch()).unwrap(), ["textures"]);
    let bytes = std::fs::read(folder.join("pieces.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let binary = &bytes[28 + length..];
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let image = |texture: &Value| -> &[u8] {
        let source = number(&document["textures"][number(&texture["index"])]["source"]);
        let view = &document["bufferViews"][number(&document["images"][source]["bufferView"])];
        &binary[number(&view["byteOffset"])..][..number(&view["byteLength"])]
    };
    let materials = document["materials"].as_array().unwrap();
    let inside = materials.iter().position(|material| material["name"] == "inside").unwrap();
    let surface = &materials[inside]["pbrMetallicRoughness"];
    let maps = maps(&what).clone();
    assert_eq!(image(&surface["baseColorTexture"]), maps.color);
    assert_eq!(image(&surface["metallicRoughnessTexture"]), maps.roughness);
    assert_eq!(image(&materials[inside]["normalTexture"]), maps.normal);
    assert_eq!(surface["roughnessFactor"], 1.0);
    let mut count = [0; 2];
    for mesh in document["meshes"].as_array().unwrap() {
        for primitive in mesh["primitives"].as_array().unwrap() {
            let (has, is_inside) = (&primitive["attributes"], number(&primitive["material"]) == inside);
            assert_eq!(has.get("TANGENT").is_some(), is_inside);
            assert_eq!(has.get("COLOR_0").is_some(), !is_inside);
            count[usize::from(is_inside)] += 1;
        }
    }
    assert_eq!(count, [what.pieces.len(); 2]);
    for (shown, png) in maps.all() {
        let name = format!("textures/inside_{shown}.png");
        assert!(std::fs::read(folder.join(&name)).unwrap() == png, "{name}");
    }
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert!(text("pieces.mtl").contains("map_Kd textures/inside_color.png"));
    assert_eq!(text("pieces.usda").matches("@./textures/inside_").count(), 3);
    gltf::Gltf::from_slice(&bytes).unwrap();
    // Tangents are unit vectors across the normals, and a second object has names of its own.
    for part in primitives(&what.mesh(0), &[]).iter().filter(|part| part.side == Some(Side::Inside)) {
        assert_eq!(part.tangents.len(), part.normals.len());
        for ([x, y, z, w], normal) in part.tangents.iter().zip(&part.normals) {
            let along = Vec3::new(*x, *y, *z);
            assert!((along.length() - 1.0).abs() < 1e-5 && along.dot(*normal).abs() < 1e-5 && *w == 1.0);
        }
    }
    assert_eq!(what.inside_name(None), "inside");
    what.insides.insert(Some(3), what.insides[&None]);
    what.maps.insert(Some(3), maps.into());
    assert_eq!(what.inside_name(Some(3)), "inside_3");
    std::fs::remove_dir_all(folder).unwrap();
}
