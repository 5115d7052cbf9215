//! Random shapes and sites on a coarse lattice, where almost everything lies in, on or through something.

use super::*;

/// A random solid of cubes, sheared by whole steps so that faces and edges lie in diagonal planes as well; None where
/// it has edges with four faces.
fn solid(random: &mut Random, step: f64) -> Option<FineMesh> {
    let fill = 0.3 + 0.6 * random.unit();
    let size = 2 + (random.next() % if step > 1024.0 { 2 } else { 3 }) as i32;
    let filled: Vec<bool> = (0..64).map(|_| random.unit() < fill).collect();
    let (corners, triangles) =
        cubes(|x, y, z| filled[(x + 4 * y + 16 * z) as usize], [size; 3], 1.0, DVec3::ZERO);
    let [a, b, c] = [0; 3].map(|_: i32| (random.next() % 2) as f64);
    let shear = |p: DVec3| DVec3::new(p.x + a * p.y, p.y + b * p.z, p.z) + DVec3::splat(c * 0.5);
    let corners = corners.into_iter().map(|p| shear(p) * step).collect();
    if triangles.is_empty() { None } else { FineMesh::new(corners, triangles).ok() }
}

fn lattice_sites(random: &mut Random, step: i32) -> Vec<complex::Point> {
    let count = 1 + random.next() % 60;
    let steps = (16_384 / step) as u64;
    (0..count).map(|_| [0; 3].map(|_: i32| (random.next() % (steps + 1)) as i32 * step)).collect()
}

/// Cases are numbered, so that one that fails can be run alone.
fn run_cases(cases: u64, seed: u64) -> usize {
    let mut done = 0;
    for case in 0..cases {
        let mut random = Random(seed + case);
        let step = [1024, 2048][(random.next() % 2) as usize];
        let Some(mesh) = solid(&mut random, f64::from(step)) else { continue };
        let complex = naive::complex(&lattice_sites(&mut random, step), LOW, HIGH);
        let pieces = match split(&mesh, &complex) {
            Ok(pieces) => pieces,
            Err(error) => panic!("case {}: {error}", seed + case),
        };
        check(&mesh, &complex, &pieces)
            .and_then(|()| sample(&mesh, &complex, &pieces, 30))
            .unwrap_or_else(|e| panic!("case {}: {e}", seed + case));
        done += 1;
    }
    done
}

#[test]
fn solids_on_a_lattice() {
    let done = run_cases(400, 1000);
    assert!(done > 100, "{done} solids");
}

/// Longer: `cargo test --release -- --ignored`.
#[test]
#[ignore = "half a minute"]
fn many_solids_on_a_lattice() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    run_cases(number("SPLIT_CASES").unwrap_or(20_000), number("SPLIT_SEED").unwrap_or(1_000_000));
}
