//! Whole meshes through [`voxelize_closed`]: volumes, skins, voids, holes, determinism.

use glam::{DVec3, Quat, Vec3};

use super::*;
use crate::{
    mesh::builtin,
    svo::{inside_never_touches_outside, validate},
};

fn closed(mesh: &Mesh, level: u32) -> Solid {
    let solid = voxelize_closed(mesh, &[], &[], level, &Progress::default()).expect("a mesh with triangles");
    assert_eq!(validate(&solid.forest), Ok(()), "level {level}");
    if level <= 7 {
        assert!(inside_never_touches_outside(&solid.forest, 0), "level {level}");
    }
    solid
}

fn shape(name: &str) -> Mesh {
    builtin(name).expect("a built-in shape")
}

/// The volume that the triangles enclose, mesh units.
fn enclosed(mesh: &Mesh) -> f64 {
    let p = |v: u32| DVec3::from_array(mesh.positions[v as usize].map(f64::from));
    mesh.triangles.iter().map(|&[a, b, c]| p(a).dot(p(b).cross(p(c))) / 6.0).sum()
}

fn rotated(mesh: &Mesh, by: Quat) -> Mesh {
    let positions = mesh.positions.iter().map(|p| (by * Vec3::from_array(*p)).to_array()).collect();
    Mesh { positions, ..mesh.clone() }
}

fn volume(solid: &Solid) -> f64 {
    solid.forest.solid_voxels(0) * solid.grid.h.powi(3)
}

#[test]
fn skins_are_closed_and_volumes_right_at_every_level() {
    for name in ["box", "sphere", "shell", "cavity", "vase", "column"] {
        for level in 1..=7 {
            for turn in [Quat::IDENTITY, Quat::from_euler(glam::EulerRot::XYZ, 0.3, 0.7, -0.4)] {
                let mesh = rotated(&shape(name), turn);
                let solid = closed(&mesh, level);
                let error = volume(&solid) / enclosed(&mesh) - 1.0;
                let allowed = if level >= 5 {
                    2e-4
                } else if level >= 3 {
                    2e-2
                } else {
                    0.2
                };
                assert!(error.abs() < allowed, "{name} at level {level}: volume off by {error}");
            }
        }
    }
}

#[test]
fn volumes_are_right_at_level_8() {
    for name in ["box", "sphere", "shell", "cavity"] {
        let mesh = shape(name);
        let solid = closed(&mesh, 8);
        let error = volume(&solid) / enclosed(&mesh) - 1.0;
        assert!(error.abs() < 1e-4, "{name}: volume off by {error}");
    }
}
