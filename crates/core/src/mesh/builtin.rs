//! Built-in shapes, so that a first start, a demo and every test need no file.
//!
//! In: a name. Out: a closed, outward oriented 2-manifold, y up, standing on y = 0, centred on the y axis, longest side
//! 1.

use super::{
    Mesh, household,
    paint::{mix, smoothstep, stone},
    pig, revolve, statue,
};
use glam::Vec3;
use std::f32::consts::PI;

/// Names that `builtin:NAME` accepts.
pub const BUILTIN_NAMES: [&str; 12] = [
    "vase", "column", "box", "sphere", "shell", "cavity", "statue", "pig", "coin", "brick", "plate", "shelf",
];

/// Outer and inner radius of the shell.
const SHELL_RADII: [f32; 2] = [0.5, 0.38];
/// Rounding of the cavity's block, and the radius of its void.
const CAVITY_ROUNDING: f32 = 0.1;
const CAVITY_VOID: f32 = 0.31;

/// The shape called `name`, y up, or `None`.
#[must_use]
pub fn builtin(name: &str) -> Option<Mesh> {
    let mesh = match name {
        "vase" => revolve::vase(),
        "column" => revolve::column(),
        "box" => cube(24, |p| p, |p| stone(p, [196, 184, 164], [142, 128, 110]), false),
        "sphere" => ball(0.5, |p| stone(p, [171, 188, 178], [104, 130, 124]), false),
        "shell" => {
            let outer = ball(SHELL_RADII[0], banded_glaze, false);
            append(outer, ball(SHELL_RADII[1], |p| stone(p, [186, 104, 70], [150, 78, 52]), true))
        }
        "cavity" => {
            let block = cube(48, rounded_block, |p| stone(p, [205, 203, 196], [150, 150, 152]), false);
            append(block, ball(CAVITY_VOID, |p| stone(p, [178, 92, 62], [140, 66, 46]), true))
        }
        "statue" => statue::owl(),
        "pig" => pig::money_box(),
        "coin" => household::coin(),
        "brick" => household::brick(),
        "plate" => household::plate(),
        "shelf" => household::shelf(),
        _ => return None,
    };
    Some(stand(mesh))
}

/// The surface of a unit cube round the origin with an `n` by `n` grid per face, its points moved by `place`. `inward`
/// reverses it, for the wall of a void.
fn cube(n: u32, place: impl Fn(Vec3) -> Vec3, color: impl Fn(Vec3) -> [u8; 3], inward: bool) -> Mesh {
    let mut mesh = Mesh::default();
    let mut index_of = std::collections::HashMap::new();
    for axis in 0..3 {
        let (u_axis, v_axis) = ((axis + 1) % 3, (axis + 2) % 3);
        for far in [false, true] {
            let mut vertex = |u: u32, v: u32| {
                let mut at = [0; 3];
                (at[axis], at[u_axis], at[v_axis]) = (if far { n } else { 0 }, u, v);
                *index_of.entry(at).or_insert_with(|| {
                    let p = place(Vec3::from(at.map(|k| k as f32 / n as f32 - 0.5)));
                    mesh.positions.push(p.to_array());
                    mesh.colors.push(color(p));
                    mesh.positions.len() as u32 - 1
                })
            };
            for v in 0..n {
                for u in 0..n {
                    let [a, b, c, d] =
                        [vertex(u, v), vertex(u + 1, v), vertex(u + 1, v + 1), vertex(u, v + 1)];
                    // (axis, u, v) is right-handed: counter-clockwise in u, v looks along +axis.
                    let quad = if far != inward { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
                    mesh.triangles.extend(quad);
                }
            }
        }
    }
    mesh
}

/// A sphere made from the cube's grid: no poles, and triangles of similar size.
fn ball(radius: f32, color: impl Fn(Vec3) -> [u8; 3], inward: bool) -> Mesh {
    let to_sphere = |p: Vec3| {
        // Equal angles instead of equal steps along the face give equally fine cells at corners and centres.
        let q = Vec3::from(
            (p * 2.0).to_array().map(|x| if x.abs() == 1.0 { x } else { libm::tanf(x * PI / 4.0) }),
        );
        q / q.length() * radius
    };
    cube(48, to_sphere, color, inward)
}

/// The unit cube with its edges and corners rounded by [`CAVITY_ROUNDING`].
fn rounded_block(p: Vec3) -> Vec3 {
    let core = p.clamp(Vec3::splat(CAVITY_ROUNDING - 0.5), Vec3::splat(0.5 - CAVITY_ROUNDING));
    let out = p - core;
    core + out * (CAVITY_ROUNDING / out.length().max(1e-9))
}

/// Colours of the shell: celadon with two broad pale bands.
fn banded_glaze(p: Vec3) -> [u8; 3] {
    let glaze = stone(p, [128, 164, 148], [92, 132, 122]);
    let from_band = (p.y.abs() - 0.17).abs();
    mix([228, 224, 204], glaze, smoothstep(0.025, 0.05, from_band))
}

/// Joins two meshes; both have colours and no materials.
fn append(mut first: Mesh, second: Mesh) -> Mesh {
    let base = first.positions.len() as u32;
    first.positions.extend(second.positions);
    first.colors.extend(second.colors);
    first.triangles.extend(second.triangles.iter().map(|t| t.map(|i| i + base)));
    first
}

/// Scales a mesh to longest side 1, and moves it to stand on y = 0, centred on the y axis.
fn stand(mut mesh: Mesh) -> Mesh {
    let (low, high) = mesh.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| {
        let p = Vec3::from(p);
        (low.min(p), high.max(p))
    });
    let scale = 1.0 / (high - low).max_element();
    let foot = Vec3::new((low.x + high.x) / 2.0, low.y, (low.z + high.z) / 2.0);
    for p in &mut mesh.positions {
        *p = ((Vec3::from(*p) - foot) * scale).to_array();
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn volume(mesh: &Mesh) -> f64 {
        mesh.triangles.iter().fold(0.0, |sum, t| {
            let [a, b, c] = t.map(|i| Vec3::from(mesh.positions[i as usize]).as_dvec3());
            sum + a.dot(b.cross(c)) / 6.0
        })
    }

    /// Whether every directed edge occurs once and its opposite once.
    fn closed_manifold(mesh: &Mesh) -> bool {
        let mut edges: HashMap<(u32, u32), u32> = HashMap::new();
        for t in &mesh.triangles {
            for k in 0..3 {
                *edges.entry((t[k], t[(k + 1) % 3])).or_default() += 1;
            }
        }
        edges.iter().all(|(&(a, b), &n)| n == 1 && edges.get(&(b, a)) == Some(&1))
    }

    #[test]
    fn every_shape_is_a_closed_outward_manifold() {
        for name in BUILTIN_NAMES {
            let mesh = builtin(name).unwrap();
            println!("{name}: {} triangles, volume {:.4}", mesh.triangles.len(), volume(&mesh));
            assert!(closed_manifold(&mesh), "{name} is not closed");
            assert!(volume(&mesh) > 0.01, "{name} is inside out");
            assert_eq!(mesh.colors.len(), mesh.positions.len());
            let distinct: std::collections::HashSet<_> =
                mesh.positions.iter().map(|p| p.map(f32::to_bits)).collect();
            assert_eq!(distinct.len(), mesh.positions.len(), "{name} repeats positions");
        }
    }

    #[test]
    fn the_closedness_check_sees_a_missing_and_a_flipped_triangle() {
        let mut mesh = builtin("box").unwrap();
        mesh.triangles[7].swap(0, 1);
        assert!(!closed_manifold(&mesh));
        mesh.triangles.remove(7);
        assert!(!closed_manifold(&mesh));
    }

    #[test]
    fn every_shape_stands_on_the_origin_with_longest_side_one() {
        for name in BUILTIN_NAMES {
            let mesh = builtin(name).unwrap();
            let low = mesh.positions.iter().fold(Vec3::MAX, |m, &p| m.min(p.into()));
            let high = mesh.positions.iter().fold(Vec3::MIN, |m, &p| m.max(p.into()));
            assert!(low.y.abs() < 1e-6, "{name} floats at {}", low.y);
            assert!(((high - low).max_element() - 1.0).abs() < 1e-5, "{name}: {}", high - low);
            assert!((low.x + high.x).abs() < 1e-5 && (low.z + high.z).abs() < 1e-5, "{name} is off centre");
        }
    }

    #[test]
    fn volumes_are_those_of_the_ideal_shapes() {
        let pi = std::f64::consts::PI;
        let sphere = |r: f32| 4.0 / 3.0 * pi * f64::from(r).powi(3);
        let r = f64::from(CAVITY_ROUNDING);
        let a = 1.0 - 2.0 * r;
        let block = a.powi(3) + 6.0 * a * a * r + 3.0 * pi * a * r * r + 4.0 / 3.0 * pi * r.powi(3);
        for (name, ideal) in [
            ("box", 1.0),
            ("sphere", sphere(0.5)),
            ("shell", sphere(SHELL_RADII[0]) - sphere(SHELL_RADII[1])),
            ("cavity", block - sphere(CAVITY_VOID)),
        ] {
            let ratio = volume(&builtin(name).unwrap()) / ideal;
            println!("{name}: {ratio:.5} of the ideal volume");
            assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio}");
        }
    }

    #[test]
    fn shapes_are_the_same_every_time() {
        for name in BUILTIN_NAMES {
            assert_eq!(builtin(name), builtin(name), "{name}");
        }
        assert_eq!(builtin("teapot"), None);
    }
}
