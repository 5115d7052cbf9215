//! Emitted light, holes, hues and thin sheets: what a few pixels must show.

use std::{io::Cursor, sync::Arc};

use glam::{DVec3, Quat, Vec3};

use super::{
    fixtures::{By, Stage, ball},
    surfaces::{body, shape},
};
use crate::{
    Camera, Lighting, PixelHit, RenderOptions,
    mesh::{Alpha, MapUse, Material, MaterialMap, Picture, PictureKind, Sampler, Texture},
    shape::PieceMesh,
    svo::{LeafColor, morton, pack_normal, unpack_normal},
};

on_both!(
    light_is_emitted_where_its_map_says,
    holes_show_what_lies_behind,
    hues_stay_in_strong_light,
    a_sheet_with_normals_of_either_side_is_lit_like_one,
);

/// Pixels in the middle of a square's left and right half, and in its own middle.
const LEFT: usize = 32 * 96 + 35;
const RIGHT: usize = 32 * 96 + 60;
const MIDDLE: usize = 32 * 96 + 48;

/// A square of edge 1 that faces the camera.
fn square(color: [u8; 3]) -> PieceMesh {
    let at = |x: f64, y: f64| DVec3::new(x - 0.5, y - 0.5, 0.0);
    let corners = vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
    let mut square = PieceMesh::flat(corners, vec![[0, 1, 2], [0, 2, 3]], |_| color);
    for (corners, triangle) in square.corners.iter_mut().zip(&square.triangles) {
        for (corner, i) in corners.iter_mut().zip(triangle) {
            let p = square.positions[*i as usize];
            corner.uv = [(p.x + 0.5) as f32, (p.y + 0.5) as f32];
        }
    }
    square
}

/// A stage that is looked at from straight ahead.
fn stage(by: By) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    stage.camera = Camera { target: Vec3::ZERO, distance: 2.0, yaw: 0.0, pitch: 0.0, fov_y: 0.6 };
    Some(stage)
}

fn put(stage: &mut Stage, color: [u8; 3], material: &Material, z: f32) {
    let shape = shape(square(color), std::slice::from_ref(material));
    let id = stage.bodies.len() as u32;
    stage.bodies.push(body(shape, Quat::IDENTITY, Vec3::new(0.0, 0.0, z), id));
}

/// Emits orange in its left half.
fn lamp() -> Material {
    let png = image::RgbImage::from_fn(8, 1, |x, _| image::Rgb([if x < 4 { 255 } else { 0 }; 3]));
    let mut bytes = Vec::new();
    png.write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
    let picture = Arc::new(Picture { name: String::new(), bytes, kind: PictureKind::Png });
    let map = MaterialMap { picture, sampler: Sampler::default(), transform: None, is_second: false };
    Material { emissive: [1.0, 0.5, 0.0], maps: [(MapUse::Emissive, map)].into(), ..Material::default() }
}

/// Opaque in its left half up to `opaque` of its eight texels, and clear beyond.
fn sieve(alpha: Alpha, opaque: u32) -> Material {
    let texel = |x: u32| [200, 180, 160, if x < opaque { 255 } else { 0 }];
    let texture = Texture { width: 8, height: 1, rgba: (0..8).flat_map(texel).collect() };
    Material { alpha, texture: Some(texture.into()), ..Material::default() }
}

fn bytes(picture: &[u8], pixel: usize) -> [u8; 3] {
    [0, 1, 2].map(|k| picture[4 * pixel + k])
}

fn light_is_emitted_where_its_map_says(by: By) {
    let Some(mut stage) = stage(by) else { return };
    let dark = Lighting { sun_strength: 0.0, sky_strength: 0.0, lamp_strength: 0.0, ..Lighting::default() };
    stage.options = RenderOptions { floor: None, lighting: dark, ..RenderOptions::default() };
    put(&mut stage, [255; 3], &lamp(), 0.0);
    let picture = stage.still(1);
    let (left, right) = (bytes(&picture, LEFT), bytes(&picture, RIGHT));
    println!("{left:?}, {right:?}");
    // Light of (2, 1, 0) after the tone curve; no light.
    assert!((0..3).all(|k| left[k].abs_diff([238, 181, 74][k]) <= 4), "{left:?}");
    assert!(right.iter().all(|byte| *byte <= 2), "{right:?}");
    // Colours with a meaning stay as they are.
    stage.options.color_by = crate::ColorBy::Piece;
    assert!(bytes(&stage.still(1), LEFT).iter().all(|byte| *byte <= 2));
}

fn holes_show_what_lies_behind(by: By) {
    let Some(mut stage) = stage(by) else { return };
    for (material, seen) in [
        (sieve(Alpha::Opaque, 4), [0, 0]),
        (sieve(Alpha::Mask(0.5), 4), [0, 1]),
        (sieve(Alpha::Blend, 4), [0, 1]),
        (Material { factor: Some([1.0, 1.0, 1.0, 0.3]), ..sieve(Alpha::Mask(0.5), 8) }, [1, 1]),
        // Nothing of it is half there, as of glass.
        (sieve(Alpha::Blend, 0), [0, 0]),
    ] {
        stage.bodies.clear();
        put(&mut stage, [200; 3], &material, 0.0);
        put(&mut stage, [90; 3], &Material::default(), -0.5);
        stage.still(1);
        let hits = stage.hits();
        let shows = |at: usize| match hits[at] {
            PixelHit::Body { body, .. } => body,
            _ => usize::MAX,
        };
        assert_eq!([shows(LEFT), shows(RIGHT)], seen, "{:?}", material.alpha);
    }
    // What is not there throws no shadow.
    stage.bodies.clear();
    put(&mut stage, [90; 3], &Material::default(), -0.5);
    let alone = stage.still(1);
    put(&mut stage, [200; 3], &sieve(Alpha::Mask(0.5), 0), 0.0);
    assert!(stage.still(1) == alone, "clear glass is seen or shades");
    stage.bodies.pop();
    put(&mut stage, [200; 3], &sieve(Alpha::Mask(0.5), 4), 0.0);
    assert!(stage.still(1) != alone);
}

fn hues_stay_in_strong_light(by: By) {
    let Some(mut stage) = stage(by) else { return };
    let mut shown = |color: [u8; 3], sun_strength: f64| {
        let lighting = Lighting { sun_strength, ..Lighting::default() };
        stage.options = RenderOptions { floor: None, lighting, ..RenderOptions::default() };
        stage.bodies.clear();
        put(&mut stage, color, &Material::default(), 0.0);
        bytes(&stage.still(1), MIDDLE)
    };
    // Where green lies between blue and red, in linear light: 0.26 in the colour itself.
    for strength in [0.3, 1.0, 2.0] {
        let [r, g, b] = shown([244, 140, 50], strength).map(crate::geometry::srgb::linear);
        let place = (g - b) / (r - b);
        println!("sun {strength}: {r:.3} {g:.3} {b:.3}, green at {place:.3}");
        assert!((0.2..0.36).contains(&place), "{strength}: {place}");
        let [r, g, b] = shown([128; 3], strength);
        assert!(r.abs_diff(b) <= 16 && r.abs_diff(g) <= 8, "grey is {r} {g} {b}");
    }
}

/// A shell thinner than a voxel has leaves with normals of either side: here every other one of a ball.
fn a_sheet_with_normals_of_either_side_is_lit_like_one(by: By) {
    let Some(mut stage) = stage(by) else { return };
    let plain = ball(6);
    let mut turned = plain.clone();
    let leaves = &mut turned.leaves;
    for ((key, normal), color) in leaves.keys.iter().zip(&mut leaves.normals).zip(&mut leaves.colors) {
        if morton::decode(key).iter().sum::<u32>() % 2 == 1 {
            *normal = pack_normal(-unpack_normal(*normal));
            *color = LeafColor::new(color.rgb(), color.crack(), -color.offset());
        }
    }
    let [a, b] = [plain, turned].map(|forest| {
        stage.bodies.clear();
        stage.add(&forest, 1.0, Quat::IDENTITY, Vec3::ZERO);
        stage.frame(0)
    });
    let (mut facing, mut odd) = (0, 0);
    for (i, (one, other)) in
        a.hits.iter().zip(&b.hits).enumerate().filter(|(_, (a, b))| a.body == 0 && b.body == 0)
    {
        let place = ((i % 96) as f32 + 0.5, (i / 96) as f32 + 0.5);
        let (_, view) = stage.camera.ray(place.0 / 96.0, place.1 / 64.0, 1.5);
        let normals = [one, other].map(|hit| unpack_normal(hit.normal));
        if normals[0].dot(view) < -0.45 {
            facing += 1;
            odd += usize::from(normals[0].dot(normals[1]) < 0.9);
        }
    }
    println!("{odd} of {facing} pixels have another normal");
    assert!(facing > 300 && odd * 50 < facing, "{odd} of {facing} pixels");
}

/// Both ways to a picture with all of these.
#[test]
fn passes_and_cores_draw_the_same() {
    let Some(mut stage) = stage(By::Passes) else { return };
    put(&mut stage, [255; 3], &lamp(), 0.1);
    put(&mut stage, [244, 140, 50], &sieve(Alpha::Mask(0.5), 3), 0.3);
    put(&mut stage, [90, 120, 200], &sieve(Alpha::Blend, 6), -0.3);
    put(&mut stage, [244, 140, 50], &Material::default(), -0.6);
    for (k, of) in stage.bodies.iter_mut().enumerate() {
        of.world_from_local *= glam::Mat4::from_rotation_y(0.3 * k as f32 - 0.4);
    }
    stage.camera = Camera { yaw: 0.4, pitch: 0.3, ..stage.camera };
    let [a, b] = [By::Passes, By::Native].map(|by| {
        stage.by = by;
        stage.still(2)
    });
    let differs = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 2);
    let odd = a.chunks(4).zip(b.chunks(4)).filter(|pair| differs(*pair)).count();
    println!("{odd} of {} pixels differ", a.len() / 4);
    assert!(odd * 50 < a.len() / 4, "{odd} pixels differ");
}
