//! Reliefs against their definition: normals against differences, no folds, and grains where colours have them.

use glam::{DMat3, DVec3, Vec3};

use super::{Interior, Material, Volume};

/// Points in the grid.
fn points(count: u32) -> impl Iterator<Item = Vec3> {
    (0..count).map(|i| {
        let part = |k: u32| {
            let mixed = (3 * i + k).wrapping_mul(2_654_435_761);
            ((mixed ^ mixed >> 15).wrapping_mul(2_246_822_519) >> 8) as f32 / (1 << 24) as f32
        };
        Vec3::new(part(0), part(1), part(2)) * 16_384.0
    })
}

fn normal_at(p: Vec3) -> Vec3 {
    (p - Vec3::new(8000.0, 7000.0, 9000.0)).normalize()
}

fn volume(material: Material, scale: f64, relief: f64) -> Volume {
    Interior { material, scale, relief, seed: 5, ..Interior::default() }.volume([150, 140, 130])
}

fn displaced(volume: &Volume, p: Vec3) -> DVec3 {
    p.as_dvec3() + volume.relief_at(p, Vec3::Y, 0.0).shift.as_dvec3()
}

/// Derivatives of displaced points by differences; `None` where they jump, at the surface of a grain.
fn derivatives(volume: &Volume, p: Vec3, step: f32) -> Option<DMat3> {
    let here = displaced(volume, p);
    let mut columns = [DVec3::ZERO; 3];
    for (column, axis) in columns.iter_mut().zip(Vec3::AXES) {
        let [after, before] = [p + axis * step, p - axis * step];
        let [to, from] = [displaced(volume, after), displaced(volume, before)];
        let length = (after - before).as_dvec3().length();
        if ((to - here) - (here - from)).length() > 0.03 * length {
            return None;
        }
        *column = (to - from) / length;
    }
    Some(DMat3::from_cols_array_2d(&columns.map(|column| column.to_array())))
}

#[test]
fn the_normal_is_that_of_the_displaced_face() {
    for material in Material::ALL {
        for (scale, strength) in [(1.0, 1.0), (2.5, 0.6), (0.5, 1.5)] {
            let volume = volume(material, scale, strength);
            let off = |p: Vec3| {
                let normal = normal_at(p);
                let slope = derivatives(&volume, p, 0.8 * scale as f32)?;
                let (along, across) = normal.any_orthonormal_pair();
                let bent = (slope * along.as_dvec3()).cross(slope * across.as_dvec3()).normalize();
                Some(volume.relief_at(p, normal, 0.0).normal.as_dvec3().distance(bent))
            };
            let mut off: Vec<f64> = points(3000).filter_map(off).collect();
            off.sort_by(f64::total_cmp);
            let (count, middle, most) = (off.len(), off[off.len() / 2], off[off.len() * 97 / 100]);
            println!("{material:?} scale {scale}: {middle:.5}, {most:.5} at 97 of 100 of {count}");
            assert!(count > 1200 && middle < 0.006 && most < 0.03, "{material:?}: {middle} {most}");
        }
    }
}

#[test]
fn space_never_folds() {
    for material in Material::ALL {
        let volume = volume(material, 1.0, 1.5);
        let least = points(100_000)
            .filter_map(|p| Some(derivatives(&volume, p, 1.0)?.determinant()))
            .fold(f64::INFINITY, f64::min);
        println!("{material:?}: least determinant {least:.4}");
        assert!(least > 0.0, "{material:?}: {least}");
    }
}

/// Root mean square of heights and slopes on faces of all directions.
#[test]
fn every_material_bends_cracks_and_none_too_far() {
    for material in Material::ALL {
        let volume = volume(material, 1.0, 1.0);
        let (mut heights, mut leans, mut farthest) = (0.0, 0.0, 0.0f32);
        let count = 20_000;
        for p in points(count) {
            let normal = normal_at(p);
            let relief = volume.relief_at(p, normal, 0.0);
            heights += relief.shift.dot(normal).powi(2);
            leans += relief.normal.dot(normal).clamp(-1.0, 1.0).acos().powi(2);
            farthest = farthest.max(relief.shift.length());
        }
        let root = |sum: f32| (sum / count as f32).sqrt();
        let (height, lean) = (root(heights), root(leans).to_degrees());
        println!("{material:?}: height {height:.0}, lean {lean:.0} degrees, farthest {farthest:.0}");
        assert!((10.0..400.0).contains(&height), "{material:?}: {height}");
        assert!((4.0..60.0).contains(&lean), "{material:?}: {lean}");
        // A twelfth of the side of the grid.
        assert!(farthest < 1365.0, "{material:?}: {farthest}");
    }
}

#[test]
fn both_sides_of_a_crack_have_the_same_displacement_and_opposite_normals() {
    for material in Material::ALL {
        let volume = volume(material, 1.0, 1.0);
        for p in points(500) {
            let normal = normal_at(p);
            let [one, other] = [normal, -normal].map(|normal| volume.relief_at(p, normal, 0.0));
            assert_eq!(one.shift, other.shift);
            assert_eq!(one.normal, -other.normal);
            assert!(!(one.is_hollow && other.is_hollow));
        }
    }
}

#[test]
fn strength_and_size_scale_it() {
    let p = Vec3::new(5000.0, 7000.0, 9000.0);
    for material in Material::ALL {
        let none = volume(material, 1.0, 0.0).relief_at(p, Vec3::Z, 0.0);
        assert_eq!((none.shift, none.normal, none.place), (Vec3::ZERO, Vec3::Z, [5000, 7000, 9000]));
        let [small, large] = [1.0, 2.0].map(|scale| volume(material, scale, 1.0));
        // The same place of the material.
        let wide = (p + 16_384.0) * 2.0 - 16_384.0;
        let [one, two] = [small.relief_at(p, Vec3::Z, 0.0), large.relief_at(wide, Vec3::Z, 0.0)];
        // The ripples of glass have their origin in the grid.
        if material != Material::Glass {
            let apart = (two.shift - one.shift * 2.0).length();
            assert!(apart < 0.05 * one.shift.length() + 0.1, "{material:?}: {apart}");
        }
    }
    assert_eq!(Volume::default().relief_at(p, Vec3::Z, 0.0).shift, Vec3::ZERO);
}

#[test]
fn gravel_has_its_colour_where_it_bends_cracks() {
    let volume = volume(Material::Concrete, 1.0, 1.0);
    let (mut inside, mut wrong) = (0, 0);
    for p in points(20_000) {
        let p = p.as_ivec3().to_array();
        let (is_colored, depth) = (volume.is_gravel(p), volume.depth_in_gravel(p));
        inside += u32::from(is_colored);
        // Rounding to whole units moves the surface of a grain by up to two of them.
        wrong += u32::from(is_colored != (depth > 0.0) && depth.abs() > 2.5);
    }
    assert!(inside > 5000, "{inside}");
    assert_eq!(wrong, 0);
}

#[test]
fn the_turn_is_a_rotation() {
    let turn = super::relief::turn().as_dmat3();
    assert!((turn * turn.transpose() - DMat3::IDENTITY).to_cols_array().iter().all(|v| v.abs() < 1e-6));
    assert!((turn.determinant() - 1.0).abs() < 1e-6);
    let p = DVec3::new(12_345.0, 23_456.0, 34_567.0);
    let whole = super::relief::turned_whole(p.as_ivec3().to_array()).map(f64::from);
    assert!((turn * p - DVec3::from_array(whole)).abs().max_element() <= 1.01);
}
