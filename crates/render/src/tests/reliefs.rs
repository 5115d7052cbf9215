//! Crack faces with the relief of their material: the passes against the cores, and both against the definition.

use glam::{Quat, Vec3};

use super::fixtures::{By, Stage, Taken, altered, rounded_box};
use crate::{
    Camera, RenderOptions,
    fracture::{Interior, Material, Volume},
    gpu::Kernel,
    svo::{Forest, LeafColor, morton, unpack_normal},
};

/// Bytes of a colour that count as equal, and the cosine of normals.
const BYTE_TOLERANCE: u8 = 2;
const SAME_DIRECTION: f32 = 0.9995;
/// Share of crack pixels that may differ more: at the edge of a voxel or of a grain either of two may be met.
const ODD_PIXELS: f64 = 0.02;

/// A broken vase from near.
fn vase(by: By) -> Option<Stage> {
    let mut stage = Stage::drawn_by(by)?;
    stage.add_broken_vase(6);
    (stage.seams, stage.size) = (None, [160, 120]);
    stage.camera = Camera { target: Vec3::new(0.0, 0.75, 0.0), distance: 1.6, yaw: 0.4, ..Camera::default() };
    stage.options = RenderOptions::default();
    Some(stage)
}

fn taken(stage: &mut Stage, by: By, inside: Volume) -> Taken {
    stage.by = by;
    stage.bodies.iter_mut().for_each(|body| body.interior = inside);
    stage.frame(0)
}

fn volume(material: Material, relief: f64) -> Volume {
    // So large that pixels of the vase show all layers.
    Interior { material, relief, scale: 6.0, ..Interior::default() }.volume([170, 120, 90])
}

/// Pixels of crack faces, those of them with another normal or colour, and those with the same normal.
fn compared(a: &Taken, b: &Taken, cracks: &[bool]) -> (usize, usize) {
    let pixels = a.hits.iter().zip(&b.hits).zip(a.looks.iter().zip(&b.looks)).zip(cracks);
    pixels.filter(|(_, is_crack)| **is_crack).fold(
        (0, 0),
        |(count, odd), (((hit, other), (look, theirs)), _)| {
            let alike = unpack_normal(hit.normal).dot(unpack_normal(other.normal)) >= SAME_DIRECTION;
            let bytes = look.to_le_bytes().into_iter().zip(theirs.to_le_bytes()).take(3);
            let same = alike && bytes.into_iter().all(|(a, b)| a.abs_diff(b) <= BYTE_TOLERANCE);
            (count + 1, odd + usize::from(!same || look >> 24 != theirs >> 24))
        },
    )
}

/// Which pixels show crack faces: those of a material without gloss are marked.
fn cracks(stage: &mut Stage, by: By) -> Vec<bool> {
    let of = taken(stage, by, volume(Material::Plain, 0.0));
    of.hits.iter().zip(&of.looks).map(|(hit, look)| hit.body < u32::MAX - 1 && look >> 24 & 1 == 1).collect()
}

fn worst(stage: &mut Stage, materials: &[Material]) -> f64 {
    let cracks = cracks(stage, By::Native);
    let mut worst = 0.0_f64;
    for material in materials {
        let [a, b] = [By::Passes, By::Native].map(|by| taken(stage, by, volume(*material, 1.0)));
        let (count, odd) = compared(&a, &b, &cracks);
        println!("{material:?}: {odd} of {count} pixels differ");
        assert!(count > 500, "only {count} pixels show a crack");
        worst = worst.max(odd as f64 / count as f64);
    }
    worst
}

#[test]
fn the_passes_draw_the_reliefs_of_the_cores() {
    let Some(mut stage) = vase(By::Passes) else { return };
    let worst = worst(&mut stage, &Material::ALL);
    assert!(worst <= ODD_PIXELS, "{worst:.4} of the pixels differ");
}

#[test]
fn errors_planted_in_reliefs_are_found() {
    let Some(mut stage) = vase(By::Passes) else { return };
    for (material, from, to) in [
        (Material::Clay, "t * (1.0 - t) * 12.0", "t * (1.0 - t) * 6.0"),
        (Material::Stone, "- out * (falls * along)", "- out * (falls * along * 0.5)"),
        (Material::Stone, "let offset = vec3<i32>((drawn * 154u)", "let offset = vec3<i32>((drawn * 140u)"),
        (Material::Wood, "layer.slope[1] * over.y * by", "layer.slope[1] * over.x * by"),
        (
            Material::Marble,
            "let steep = t * (1.0 - t) * (6.0 / 511.5) / soft;",
            "let steep = t * (1.0 - t) * (5.0 / 511.5) / soft;",
        ),
    ] {
        let kernel = Kernel::from_text(&stage.gpu, "render/primary", altered("render/primary", from, to));
        let right = std::mem::replace(&mut stage.renderer.primary, kernel);
        let worst = worst(&mut stage, &[material]);
        stage.renderer.primary = right;
        assert!(worst > 2.0 * ODD_PIXELS, "`{to}` for `{from}` goes unnoticed: {worst:.4}");
    }
}

/// A relief changes the normals of crack faces and no others, and none where its strength is 0.
#[test]
fn only_crack_faces_have_a_relief() {
    let Some(mut stage) = vase(By::Native) else { return };
    let cracks = cracks(&mut stage, By::Native);
    let smooth = taken(&mut stage, By::Native, volume(Material::Stone, 0.0));
    let rough = taken(&mut stage, By::Native, volume(Material::Stone, 1.0));
    let differs = |i: usize| {
        let normals = [&smooth, &rough].map(|of| unpack_normal(of.hits[i].normal));
        smooth.hits[i].body < u32::MAX - 1 && normals[0].dot(normals[1]) < 0.998
    };
    let count =
        |on_cracks: bool| (0..cracks.len()).filter(|i| cracks[*i] == on_cracks && differs(*i)).count();
    let of_cracks = cracks.iter().filter(|is_crack| **is_crack).count();
    assert_eq!(count(false), 0);
    assert!(2 * count(true) > of_cracks, "{} of {of_cracks}", count(true));
}

/// A box half of whose voxels are cracks, painted by two breaks: below the middle by the first, above it by the second.
fn broken_twice(by: By, volumes: [Volume; 2]) -> Option<(Stage, Forest)> {
    let mut stage = Stage::drawn_by(by)?;
    let mut forest = rounded_box(6);
    for (key, color) in forest.leaves.keys.iter().zip(&mut forest.leaves.colors) {
        let cell = morton::decode(key);
        if color.crack() {
            let rgb = volumes[usize::from(cell[1] >= 32)].color_at(cell.map(|v| v as i32 * 256 + 128));
            *color = LeafColor::new(rgb, true, color.offset());
        }
    }
    stage.add(&forest, 2.0, Quat::IDENTITY, Vec3::ZERO);
    stage.size = [120, 90];
    Some((stage, forest))
}

/// Each crack face of a piece that broke twice has the relief of the break that made it.
#[test]
fn every_crack_shows_the_material_of_its_own_break() {
    let volumes = [volume(Material::Plain, 0.0), volume(Material::Stone, 1.0)];
    let Some((mut stage, forest)) = broken_twice(By::Native, volumes) else { return };
    let none = Volume::default();
    let (mut count, mut odd, mut odd_without, mut apart) = (0, 0, 0, 0);
    for yaw in [-1.2, 0.4, 2.0, 3.6] {
        stage.camera = Camera { target: Vec3::ZERO, distance: 2.6, yaw, ..Camera::default() };
        let mut frame = |by: By, first: Volume, second: Volume| {
            stage.by = by;
            (stage.bodies[0].interior, stage.bodies[0].later) = (first, [second, none, none]);
            stage.frame(0)
        };
        let alone = volumes.map(|of| frame(By::Native, of, none));
        let [mixed, passes] = [By::Native, By::Passes].map(|by| frame(by, volumes[0], volumes[1]));
        let crack = |i: usize| {
            let leaf = mixed.hits[i].leaf as usize;
            let is_crack = forest.leaves.colors.get(leaf).is_some_and(|color| color.crack());
            is_crack.then(|| usize::from(morton::decode(forest.leaves.keys.at(leaf))[1] >= 32))
        };
        let cracks: Vec<Option<usize>> =
            (0..mixed.hits.len()).map(|i| (mixed.hits[i].body == 0).then(|| crack(i)).flatten()).collect();
        let alike = |a: &Taken, b: &Taken, i: usize| {
            let [a, b] = [a, b].map(|of| unpack_normal(of.hits[i].normal));
            a.dot(b) >= SAME_DIRECTION
        };
        for (i, number) in cracks.iter().enumerate().filter_map(|(i, number)| Some((i, (*number)?))) {
            count += 1;
            odd += usize::from(!alike(&mixed, &alone[number], i));
            odd_without += usize::from(!alike(&alone[0], &alone[number], i));
        }
        let is_crack: Vec<bool> = cracks.iter().map(Option::is_some).collect();
        apart += compared(&passes, &mixed, &is_crack).1;
    }
    println!("of {count} pixels {odd} show another break, {apart} differ between passes and cores");
    assert!(count > 500, "only {count} pixels show a crack");
    assert!(odd as f64 <= ODD_PIXELS * count as f64, "{odd} of {count}");
    assert!(apart as f64 <= ODD_PIXELS * count as f64, "{apart} of {count}");
    assert!(5 * odd_without > count, "with one material alone {odd_without} of {count} would be wrong");
}
