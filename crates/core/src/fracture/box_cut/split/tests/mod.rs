//! Shapes, convex and not, split by few and many sites, against checks that know nothing of the method.

mod checks;
mod naive;
mod shapes;

use super::*;
use crate::fracture::box_cut::complex;
use checks::{check, sample};
use shapes::*;

fn ball(radius: f64) -> Soup {
    icosphere(2, radius, DVec3::splat(8192.0))
}

fn all_shapes() -> Vec<(&'static str, Soup)> {
    vec![
        ("box", cube(10_000.0, DVec3::splat(3000.3))),
        ("ball", ball(7000.0)),
        ("torus", torus(5000.0, 2000.0, 24, 12, DVec3::splat(8192.0))),
        ("comb", comb()),
        ("hollow ball", together([ball(7000.0), inverted(ball(5000.0))])),
        ("nested", together([ball(7000.0), inverted(ball(5000.0)), ball(3000.0)])),
        ("L", l_shape()),
        (
            "frame",
            cubes(
                |x, y, z| (x != 1) as i32 + (y != 1) as i32 + (z != 1) as i32 >= 2,
                [3; 3],
                5000.0,
                DVec3::splat(700.0),
            ),
        ),
    ]
}

/// Runs all checks.
fn passes(name: &str, mesh: &FineMesh, complex: &Complex, points: usize) -> Vec<SplitPiece> {
    let pieces = split(mesh, complex).unwrap_or_else(|e| panic!("{name}: {e}"));
    check(mesh, complex, &pieces).unwrap_or_else(|e| panic!("{name}: {e}"));
    sample(mesh, complex, &pieces, points).unwrap_or_else(|e| panic!("{name}: {e}"));
    pieces
}

fn every_shape(seed: u64) {
    for count in [1, 2, 3, 7, 30, 120, 300] {
        let complex = naive::complex(&random_sites(count, seed + count as u64), LOW, HIGH);
        for (name, soup) in all_shapes() {
            let points = if count > 100 { 20 } else { 100 };
            let name = format!("{name} by {count}, seed {seed}");
            let pieces = passes(&name, &mesh(soup), &complex, points);
            assert!(count < 30 || pieces.len() * 8 > count, "{name}: {} pieces", pieces.len());
        }
    }
}

#[test]
fn every_shape_by_few_and_many_sites() {
    every_shape(5);
}

/// Longer: `cargo test --release -- --ignored`.
#[test]
#[ignore = "half a minute"]
fn every_shape_by_many_seeds() {
    for seed in 0..40 {
        every_shape(1000 * seed);
    }
}

/// Faces in planes, edges in planes, corners at vertices of the complex, four cells round every edge.
#[test]
fn shapes_aligned_with_a_grid_of_sites() {
    for (count, step) in [(2, 8192), (4, 4096), (5, 3000), (8, 2048)] {
        let complex = naive::complex(&grid_sites(count, step, 0), LOW, HIGH);
        let s = f64::from(step);
        let shapes = [
            ("inner box", cube(s * f64::from((count - 2).max(1)), DVec3::splat(s))),
            ("whole box", cube(s * f64::from(count), DVec3::ZERO)),
            ("half-way box", cube(s, DVec3::splat(s / 2.0))),
            ("steps", cubes(|x, y, z| x + y + z < 3, [3; 3], s / 2.0, DVec3::ZERO)),
            (
                "frame",
                cubes(
                    |x, y, z| (x != 1) as i32 + (y != 1) as i32 + (z != 1) as i32 >= 2,
                    [3; 3],
                    s / 2.0,
                    DVec3::ZERO,
                ),
            ),
            ("cavity", cubes(|x, y, z| [x, y, z] != [1; 3], [3; 3], s / 2.0, DVec3::splat(s / 2.0))),
            (
                "octahedron",
                (
                    (0..6)
                        .map(|k| DVec3::splat(s) + DVec3::AXES[k / 2] * if k % 2 == 0 { s } else { -s })
                        .collect(),
                    vec![
                        [0, 2, 4],
                        [2, 1, 4],
                        [1, 3, 4],
                        [3, 0, 4],
                        [2, 0, 5],
                        [1, 2, 5],
                        [3, 1, 5],
                        [0, 3, 5],
                    ],
                ),
            ),
            ("ball", icosphere(2, s, DVec3::splat(s))),
        ];
        for (name, soup) in shapes {
            passes(&format!("{name} in grid of {count}"), &mesh(soup), &complex, 100);
        }
    }
}

#[test]
fn a_box_in_planes_has_the_pieces_one_would_draw() {
    let complex = naive::complex(&grid_sites(4, 4096, 0), LOW, HIGH);
    let pieces = passes("box", &mesh(cube(8192.0, DVec3::splat(4096.0))), &complex, 100);
    assert_eq!(pieces.len(), 8);
    for piece in pieces {
        assert!((checks::volume(&piece.positions, &piece.triangles) - 4096.0_f64.powi(3)).abs() < 1.0);
        let outside = piece.faces.iter().filter(|f| matches!(f, SplitFace::Outside(_))).count();
        assert!(outside >= 3, "its outside faces are the mesh's");
    }
}

#[test]
fn any_number_of_threads_makes_the_same_bytes() {
    let mesh = mesh(together([ball(7000.0), inverted(ball(5000.0)), ball(3000.0)]));
    let complex = naive::complex(&random_sites(100, 9), LOW, HIGH);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| split(&mesh, &complex).unwrap())
    };
    let one = with(1);
    assert!([2, 3, 8].into_iter().all(|threads| with(threads) == one));
}

#[test]
fn corners_come_out_with_the_bits_that_they_had() {
    let soup = torus(5000.1, 2000.7, 24, 12, DVec3::splat(8192.3));
    let complex = naive::complex(&random_sites(40, 11), LOW, HIGH);
    let bits = |p: &DVec3| p.to_array().map(f64::to_bits);
    let pieces = split(&mesh(soup.clone()), &complex).unwrap();
    let written: std::collections::HashSet<_> = pieces.iter().flat_map(|p| &p.positions).map(bits).collect();
    assert!(soup.0.iter().all(|corner| written.contains(&bits(corner))));
}

mod degenerate;
mod exact;
mod planted;
mod refused;
