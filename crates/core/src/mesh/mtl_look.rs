//! What a material of an OBJ's library says of a surface beside its colour: factors, normals, emitted light.
//!
//! In: an entry of a library, and its pictures. Out: factors and maps of a material, and which statements of the entry need no
//! other warning.

use super::{
    MapUse, Material, Texture, TextureTransform,
    load::Shown,
    mtl::{Entry, Map},
};

/// Statements by what their maps say. The factor of normals stands at `map_bump`.
const STATEMENTS: [(&str, MapUse); 4] = [
    ("map_bump", MapUse::Normal),
    ("bump", MapUse::Normal),
    ("norm", MapUse::Normal),
    ("map_ke", MapUse::Emissive),
];

/// Gives `material` the entry's factors, and its maps of normals and emitted light. `moved`: scale and offset (v up) that the
/// colour's map has given texture coordinates. `picture` returns that of a map, or has warned. Returns statements of maps that
/// are in the material, or have a warning.
pub(super) fn describe<'a>(
    entry: &'a Entry,
    material: &mut Material,
    moved: Option<([f32; 2], [f32; 2])>,
    mut picture: impl FnMut(&'a Map) -> Option<Shown>,
) -> Vec<&'static str> {
    let mut told = Vec::new();
    let mut files: Vec<(MapUse, &str)> = Vec::new();
    for (statement, of) in STATEMENTS {
        let Some(map) = entry.map(statement) else { continue };
        // Exporters repeat a map of normals under the names that programs read.
        if files.contains(&(of, map.file.as_str())) {
            told.push(statement);
            continue;
        }
        let transform = beside(moved, map);
        if material.maps.contains_key(&of) || !transform.is_invertible() {
            continue;
        }
        let Some((texture, shown)) = picture(map) else {
            told.push(statement);
            continue;
        };
        if of == MapUse::Normal && statement != "norm" && !has_normals(&texture) {
            continue;
        }
        told.push(statement);
        let Some(mut shown) = shown else { continue };
        if of == MapUse::Normal {
            material.normal_scale = if map.slopes.is_finite() { decimal(map.slopes) } else { 1.0 };
        }
        shown.sampler = map.sampler();
        shown.transform = (transform != STILL).then_some(transform);
        material.maps.insert(of, shown);
        files.push((of, map.file.as_str()));
    }
    let share = |factor: Option<f32>, other: f64| factor.map_or(other, |x| within(x, 1.0));
    material.roughness = share(entry.roughness, material.roughness);
    material.metallic = share(entry.metallic, material.metallic);
    if let Some(ior) = entry.refraction() {
        material.refract(decimal(ior));
    }
    if let Some([factor, roughness]) = entry.coat() {
        material.coat(within(factor, 1.0), within(roughness, 1.0));
    }
    // Programs leave the factor out, or write black, where a map is to be seen.
    let of_map = if material.maps.contains_key(&MapUse::Emissive) { [1.0; 3] } else { [0.0; 3] };
    let light = entry.emissive.filter(|light| light.iter().any(|x| *x > 0.0)).unwrap_or(of_map);
    material.emissive = light.map(|x| within(x, f32::MAX));
    told
}

/// A factor from 0 to `most`; 0 where it is no number.
pub(super) fn within(x: f32, most: f32) -> f64 {
    if x > 0.0 { decimal(x.min(most)) } else { 0.0 }
}

/// A number of a text as a decimal, not as the nearest binary fraction.
pub(super) fn decimal(x: f32) -> f64 {
    (f64::from(x) * 1e6).round() / 1e6
}

const STILL: TextureTransform = TextureTransform { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2] };

/// Where a map lies, on coordinates (v down) that the colour's map has moved.
fn beside(moved: Option<([f32; 2], [f32; 2])>, map: &Map) -> TextureTransform {
    let (by, to) = moved.unwrap_or(([1.0; 2], [0.0; 2]));
    let scale = [0, 1].map(|k| f64::from(map.scale[k]) / f64::from(by[k]));
    let [u, v] = [0, 1].map(|k| f64::from(map.offset[k]) - scale[k] * f64::from(to[k]));
    TextureTransform { offset: [u, 1.0 - scale[1] - v], rotation: 0.0, scale }
}

/// Whether a picture shows normals, which point at the viewer mostly (bluish), and not heights (grey).
fn has_normals(texture: &Texture) -> bool {
    let count = (texture.rgba.len() as u64 / 4).max(1);
    let mut sums = [0; 3];
    for texel in texture.rgba.chunks_exact(4) {
        for (sum, byte) in sums.iter_mut().zip(texel) {
            *sum += u64::from(*byte);
        }
    }
    let [r, g, b] = sums.map(|sum| sum / count);
    let is_middle = |mean: u64| (88..=168).contains(&mean);
    is_middle(r) && is_middle(g) && b > 176
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::mesh::{MaterialMap, Picture, PictureKind, Sampler, mtl};

    fn shown(file: &str, texel: [u8; 3]) -> Shown {
        let [r, g, b] = texel;
        let texture = Texture { width: 1, height: 1, rgba: vec![r, g, b, 255] };
        let picture = Picture { name: file.to_owned(), bytes: texel.to_vec(), kind: PictureKind::Png };
        let map = MaterialMap {
            picture: Arc::new(picture),
            sampler: Sampler::default(),
            transform: None,
            is_second: false,
        };
        (Arc::new(texture), Some(map))
    }

    /// The material of a library's first entry, and the statements that need no warning.
    fn read(library: &str, moved: Option<([f32; 2], [f32; 2])>) -> (Material, Vec<&'static str>) {
        let entries = mtl::parse(library.as_bytes());
        let mut material = Material::default();
        let told = describe(&entries[0], &mut material, moved, |map| match map.file.as_str() {
            "gone.png" => None,
            "heights.png" => Some(shown("heights", [128; 3])),
            file => Some(shown(file, [120, 130, 250])),
        });
        material.settle();
        (material, told)
    }

    #[test]
    fn factors_and_maps_of_an_entry_arrive() {
        let (material, told) = read(
            "newmtl a\nPr 0.375\nPm 0.25\nKe 1 0.5 0\nmap_Ke glow.png\nmap_Bump -bm 0.75 n.png\nnorm n.png\n",
            None,
        );
        assert_eq!((material.roughness, material.metallic, material.normal_scale), (0.375, 0.25, 0.75));
        assert_eq!((material.emissive, told.len()), ([1.0, 0.5, 0.0], 3));
        let names = |of: &MapUse| material.maps.get(of).map(|map| map.picture.name.clone());
        assert_eq!(names(&MapUse::Normal), Some("n.png".to_owned()));
        assert_eq!(names(&MapUse::Emissive), Some("glow.png".to_owned()));
        assert!(material.maps.values().all(|map| map.transform.is_none()));
    }

    #[test]
    fn refraction_and_a_coat_are_carried_where_somebody_chose_them() {
        let of = |library: &str| read(library, None).0.extensions;
        let coated = of("newmtl a\nNi 1.45\nPc 0.5\nPcr 0.25\n");
        assert_eq!(coated["KHR_materials_ior"]["ior"], 1.45);
        let coat = serde_json::json!({"clearcoatFactor": 0.5, "clearcoatRoughnessFactor": 0.25});
        assert_eq!(coated["KHR_materials_clearcoat"], coat);
        for nothing in ["Ni 1", "Ni 1.5", "Ni 0", "Ni inf", "Ni nan", "Pc 0\nPcr 0.03", "Pc nan", "Pcr 1"] {
            assert!(of(&format!("newmtl a\n{nothing}\n")).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn heights_are_no_normals_and_what_is_missing_is_told_once() {
        let (material, told) = read("newmtl a\nmap_Bump heights.png\nmap_Ke gone.png\n", None);
        assert_eq!((told, material.maps.len(), material.emissive), (vec!["map_ke"], 0, [0.0; 3]));
        let (material, told) = read("newmtl a\nbump heights.png\nnorm n.png\nKe nan 9 3\n", None);
        assert_eq!((told, material.maps.len()), (vec!["norm"], 1));
        assert_eq!(material.emissive, [0.0, 1.0, 3.0 / 9.0]);
        assert_eq!(material.extensions["KHR_materials_emissive_strength"]["emissiveStrength"], 9.0);
    }

    #[test]
    fn a_map_lies_where_its_own_options_say_though_the_colour_moved_coordinates() {
        let library = "newmtl a\nmap_Kd -s 4 2 -o 0.25 0.5 c.png\nnorm -s 2 2 -o 0 0.125 n.png\n";
        let moved = ([4.0, 2.0], [0.25, 0.5]);
        let (material, _) = read(library, Some(moved));
        let transform = material.maps[&MapUse::Normal].transform.unwrap();
        for [u, v] in [[0.0f32, 0.0], [0.3, 0.9], [-1.0, 2.0]] {
            let at = [u * 4.0 + 0.25, v * 2.0 + 0.5];
            let [x, y] = transform.moved([at[0], 1.0 - at[1]]);
            let wanted = [u * 2.0, v * 2.0 + 0.125];
            assert!((x - wanted[0]).abs() < 1e-5 && (1.0 - y - wanted[1]).abs() < 1e-5, "{x} {y} {wanted:?}");
        }
        let same = "newmtl a\nmap_Kd -s 4 2 -o 0.25 0.5 c.png\nnorm -s 4 2 -o 0.25 0.5 n.png\n";
        assert_eq!(read(same, Some(moved)).0.maps[&MapUse::Normal].transform, None);
    }

    #[test]
    fn libraries_of_blender_are_read_as_blender_means_them() {
        let library = "# Blender 3.4.1 MTL File: 'None'\n# www.blender.org\n\nnewmtl a\nNs 390.625\nKa 0.25 0.25 0.25\n\
                       Kd 0.5 0.25 0.125\nKe 0 0 0\nd 1\nillum 3\nnewmtl b\nNs 1000\nKa 1 1 1\nillum 2\n";
        let entries = mtl::parse(library.as_bytes());
        let [a, b] = &entries[..] else { panic!("{entries:?}") };
        assert!(a.is_linear && b.is_linear);
        assert_eq!(
            (a.roughness, a.metallic, b.roughness, b.metallic),
            (Some(0.375), Some(0.25), Some(0.0), Some(0.0))
        );
        let others = mtl::parse(b"# Blender's colours\nnewmtl a\nNs 30\nPr 0.5\nillum 2\n");
        assert_eq!((others[0].roughness, others[0].metallic), (Some(0.5), Some(0.0)));
        let plain = mtl::parse(b"newmtl a\nNs 30\nKa 1 1 1\nillum 3\n");
        assert_eq!((plain[0].is_linear, plain[0].roughness, plain[0].metallic), (false, None, None));
    }
}
