//! Stages against plain references: the product, both transfers, the whole solve, the coarse levels, threads.

use glam::{DVec3, IVec3};
use kintsugi_core::fracture::Cancel;
use kintsugi_geometry::simd::{Simd, Width, Work};
use std::{collections::HashMap, sync::Arc};

use super::{STEEL, body, cuboid, end, noise, octree};
use crate::{
    Cell, ElasticBody, Load, Settings, Solver,
    field::{Field, LANES, Real, zeros},
    lattice::Lattice,
    loads,
    multigrid::Multigrid,
    product::{Matrices, product},
};

/// A body of random cells that hang together: full ones, empty ones, and all between.
pub(super) fn random_body(level: u32, seed: u64) -> Arc<ElasticBody> {
    let mut random = noise(seed);
    let side = 1 << level;
    let mut fills = HashMap::new();
    for at in 0..side * side * side {
        let fill = (2.2 * random() - 0.6).clamp(0.0, 1.0) as f32;
        fills.insert([at % side, at / side % side, at / side / side], if fill < 0.05 { 0.0 } else { fill });
    }
    body(&octree(level, 0.25, |p| fills[&p.to_array()]), STEEL)
}

/// Every cell's matrix added to a full one, over the nodes in their order, and solved by elimination.
struct Dense {
    number: HashMap<[u32; 3], usize>,
    matrix: Vec<Vec<f64>>,
}

impl Dense {
    fn of(body: &ElasticBody) -> Self {
        let mut number = HashMap::new();
        let cells: Vec<Cell> = (0..body.len()).map(|i| body.cell(i).unwrap()).collect();
        let corner = |cell: &Cell, c: u32| [0, 1, 2].map(|axis| cell.low[axis] + (c >> axis & 1));
        for cell in &cells {
            for c in 0..8 {
                let next = number.len();
                number.entry(corner(cell, c)).or_insert(next);
            }
        }
        let mut matrix = vec![vec![0.0; 3 * number.len()]; 3 * number.len()];
        for cell in &cells {
            let dof = |i: usize| 3 * number[&corner(cell, i as u32 / 3)] + i % 3;
            for i in 0..24 {
                for j in 0..24 {
                    matrix[dof(i)][dof(j)] += f64::from(cell.fill) * body.stiffness[i][j];
                }
            }
        }
        Self { number, matrix }
    }

    fn from(&self, lattice: &Lattice, field: &Field<f64>) -> Vec<f64> {
        let mut out = vec![0.0; self.matrix.len()];
        for (node, number) in &self.number {
            let (chunk, lane) = lattice.find(*node);
            (0..3).for_each(|axis| out[3 * number + axis] = field[chunk][axis][lane]);
        }
        out
    }

    fn to(&self, lattice: &Lattice, values: &[f64]) -> Field<f64> {
        let mut field = zeros(lattice.chunks());
        for (node, number) in &self.number {
            let (chunk, lane) = lattice.find(*node);
            (0..3).for_each(|axis| field[chunk][axis][lane] = values[3 * number + axis]);
        }
        field
    }

    /// Solves with some unknowns held at zero.
    fn solve(&self, held: &[bool], right: &[f64]) -> Vec<f64> {
        let mut m = self.matrix.clone();
        let mut x = right.to_vec();
        for i in 0..x.len() {
            if held[i] {
                (0..x.len()).for_each(|j| (m[i][j], m[j][i]) = (0.0, 0.0));
                (m[i][i], x[i]) = (1.0, 0.0);
            }
        }
        for pivot in 0..x.len() {
            for row in pivot + 1..x.len() {
                let factor = m[row][pivot] / m[pivot][pivot];
                if factor != 0.0 {
                    for column in pivot..x.len() {
                        m[row][column] -= factor * m[pivot][column];
                    }
                    x[row] -= factor * x[pivot];
                }
            }
        }
        for row in (0..x.len()).rev() {
            let known: f64 = (row + 1..x.len()).map(|j| m[row][j] * x[j]).sum();
            x[row] = (x[row] - known) / m[row][row];
        }
        x
    }
}

/// The gathered product of a level, at a width of vectors.
struct All<'a, T>(&'a Lattice, &'a Matrices<T>, &'a Field<T>, &'a mut Field<T>);

impl<T: Real> Work for All<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<S: Simd>(self) {
        for chunk in 0..self.0.chunks() {
            self.3[chunk] = product::<T, S>(self.0, self.1, self.2, chunk);
        }
    }
}

#[test]
fn the_gathered_product_is_that_of_the_full_matrix() {
    for (seed, level) in [(1, 2), (2, 3), (3, 3)] {
        let body = random_body(level, seed);
        let (lattice, dense) = (&body.lattices[0], Dense::of(&body));
        let mut random = noise(seed + 10);
        let u: Vec<f64> = (0..dense.matrix.len()).map(|_| random() - 0.5).collect();
        let expected: Vec<f64> =
            dense.matrix.iter().map(|row| row.iter().zip(&u).map(|(a, b)| a * b).sum()).collect();
        let field = dense.to(lattice, &u);
        let matrices = Matrices::new(&body.stiffness, 1.0);
        let mut forces = zeros(lattice.chunks());
        Width::widest().run(All(lattice, &matrices, &field, &mut forces));
        for (found, expected) in dense.from(lattice, &forces).iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let mut plain = zeros(lattice.chunks());
        Width::PLAIN.run(All(lattice, &matrices, &field, &mut plain));
        assert!(plain == forces, "the width of vectors changes bytes");
    }
}

/// The blocks of eight full cells give what the cells give one by one.
#[test]
fn full_cells_are_added_up_beforehand() {
    let body = body(&octree(5, 0.1, cuboid(IVec3::splat(3), IVec3::splat(29))), STEEL);
    let lattice = &body.lattices[0];
    assert!(lattice.full.iter().filter(|full| **full).count() > 500);
    let mut random = noise(5);
    let mut u = zeros::<f64>(lattice.chunks());
    u.iter_mut().take(lattice.chunks()).flatten().flatten().for_each(|u| *u = random() - 0.5);
    let matrices = Matrices::new(&body.stiffness, 1.0);
    let mut fast = zeros(lattice.chunks());
    Width::widest().run(All(lattice, &matrices, &u, &mut fast));
    let mut slowly = Lattice::new(&body.cells, 5);
    slowly.full.iter_mut().for_each(|full| *full = false);
    let mut slow = zeros(lattice.chunks());
    Width::widest().run(All(&slowly, &matrices, &u, &mut slow));
    for (a, b) in fast.iter().flatten().flatten().zip(slow.iter().flatten().flatten()) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn a_random_body_moves_as_the_full_matrix_says() {
    for seed in 1..5 {
        let body = random_body(2, seed);
        let (lattice, dense) = (&body.lattices[0], Dense::of(&body));
        let low = (0..body.len()).map(|i| body.cell(i).unwrap().low[0]).min().unwrap();
        let wall = body.shape_from_node([low, 0, 0]).x + 0.01;
        let solver = Solver::held(&body, |p| [p.x < wall; 3]).unwrap();
        let gravity = DVec3::new(3.0, -9.81, 1.0);
        let top = end(&body, 1, true);
        let loads =
            [Load::Acceleration(gravity), Load::Traction { at: &top, pascals: DVec3::new(1e5, 2e5, 0.0) }];
        let settings = Settings { tolerance: 1e-11, ..Settings::PRECISE };
        let found = solver.solve(&loads, &settings, None, Cancel::never()).unwrap().converged().unwrap();
        let forces = dense.from(lattice, &loads::forces(&body, &loads).unwrap());
        let held: Vec<bool> = {
            let mut held = vec![false; forces.len()];
            for (node, number) in &dense.number {
                (0..3).for_each(|axis| held[3 * number + axis] = body.shape_from_node(*node).x < wall);
            }
            held
        };
        let scale = STEEL.youngs_modulus * body.cell_size();
        let expected: Vec<f64> = dense.solve(&held, &forces).iter().map(|u| u / scale).collect();
        let most = expected.iter().fold(0.0f64, |most, u| most.max(u.abs()));
        for (node, number) in &dense.number {
            let u = found.displacement(*node).unwrap();
            for axis in 0..3 {
                let off = u[axis] - expected[3 * number + axis];
                assert!(off.abs() < 1e-8 * most, "seed {seed}: {node:?} {u} off by {off:e} of {most:e}");
            }
        }
    }
}

/// Patch test: displacements that are linear at the surface are so inside, with one stress, to rounding. The surface is held
/// in steps: what is prescribed there loads the nodes within.
#[test]
fn a_uniform_strain_stays_uniform() {
    let body = body(&octree(4, 0.1, cuboid(IVec3::new(3, 4, 5), IVec3::new(12, 13, 12))), STEEL);
    let lattice = &body.lattices[0];
    let strain = glam::DMat3::from_cols_array(&[3e-4, 1e-4, -2e-4, 1e-4, -1e-4, 5e-5, -2e-4, 5e-5, 2e-4]);
    // The tractions of one stress on all faces: its exact solution is the uniform strain.
    let solver = Solver::free(&body);
    let (lambda, mu) = crate::Material::lame(STEEL.poissons_ratio);
    let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
    let stress = (strain * (2.0 * mu) + glam::DMat3::from_diagonal(DVec3::splat(lambda * trace)))
        * STEEL.youngs_modulus;
    let sides: Vec<_> = (0..6).map(|side| end(&body, side / 2, side % 2 == 1)).collect();
    let loads: Vec<Load<'_>> = (0..6)
        .map(|side| {
            let normal = DVec3::AXES[side / 2] * if side % 2 == 1 { 1.0 } else { -1.0 };
            Load::Traction { at: &sides[side], pascals: stress * normal }
        })
        .collect();
    let settings = Settings { tolerance: 1e-10, ..Settings::PRECISE };
    let found = solver.solve(&loads, &settings, None, Cancel::never()).unwrap().converged().unwrap();
    let most = 1e-4 * STEEL.youngs_modulus;
    for cell in found.stress() {
        let off = cell.matrix() - stress;
        assert!(off.to_cols_array().iter().all(|s| s.abs() < 1e-6 * most), "{off}");
    }
    let from = found.displacement([3, 4, 5]).unwrap();
    for chunk in 0..lattice.chunks() {
        for lane in 0..LANES {
            let node = lattice.node(chunk, lane);
            let Some(u) = found.displacement(node) else { continue };
            let r = body.shape_from_node(node) - body.shape_from_node([3, 4, 5]);
            // Up to a turn, which a symmetric strain does not have: the part along r has none.
            let stretch = (u - from - strain * r).dot(r);
            assert!(stretch.abs() < 1e-6 * 1e-4 * r.length_squared().max(0.01), "{node:?} {stretch}");
        }
    }
}

/// A uniform strain costs the same energy on all levels, however cells are filled.
#[test]
fn coarse_cells_are_as_stiff_as_their_octants() {
    let body = random_body(5, 9);
    assert!(body.lattices.len() >= 3);
    let levels = Multigrid::new(&body, body.lattices[0].active.clone());
    let strained = |[x, y, z]: [f64; 3]| [0.3 * x + 0.2 * y - 0.1 * z, 0.1 * y + 0.2 * z, 0.4 * x - 0.2 * z];
    let energies: Vec<f64> = (0..body.lattices.len())
        .map(|k| {
            let lattice = &body.lattices[k];
            let size = f64::from(1u32 << k);
            let mut u = zeros::<f32>(lattice.chunks());
            for chunk in 0..lattice.chunks() {
                for lane in 0..LANES {
                    let at = strained(lattice.node(chunk, lane).map(|v| size * f64::from(v) - 16.0));
                    let is_active = lattice.active[chunk] >> lane & 1 == 1;
                    (0..3).for_each(|axis| {
                        u[chunk][axis][lane] = if is_active { at[axis] as f32 } else { 0.0 }
                    });
                }
            }
            let forces = levels.forces_of(k, &body, &u);
            let pairs = u.iter().flatten().flatten().zip(forces.iter().flatten().flatten());
            pairs.map(|(u, f)| f64::from(*u) * f64::from(*f)).sum()
        })
        .collect();
    for energy in &energies {
        assert!((energy / energies[0] - 1.0).abs() < 1e-4, "{energies:?}");
    }
}

/// <P c, f> = <c, R f>, and P of a linear function is that function.
#[test]
fn transfers_are_transposed_and_keep_what_is_linear() {
    let body = random_body(5, 4);
    let (fine, coarse, transfer) = (&body.lattices[0], &body.lattices[1], &body.transfers[0]);
    let mut random = noise(6);
    let mut filled = |lattice: &Lattice| {
        let mut field = zeros::<f32>(lattice.chunks());
        for (chunk, values) in field.iter_mut().take(lattice.chunks()).enumerate() {
            values.iter_mut().flatten().for_each(|v| *v = random() as f32 - 0.5);
            *values = crate::transfer::masked(*values, lattice.active[chunk]);
        }
        field
    };
    let scalar = |a: &Field<f32>, b: &Field<f32>| -> f64 {
        let pairs = a.iter().flatten().flatten().zip(b.iter().flatten().flatten());
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let (above, below) = (filled(coarse), filled(fine));
    let (mut down, mut sum, mut up) = (zeros(fine.chunks()), zeros(fine.chunks()), zeros(coarse.chunks()));
    transfer.prolong((fine, coarse), &fine.active, &above, (&mut down, &mut sum));
    transfer.restrict(coarse, &below, &mut up);
    assert_eq!(down, sum);
    let (a, b) = (scalar(&down, &below), scalar(&above, &up));
    assert!((a - b).abs() < 1e-4 && a.abs() > 0.1, "{a} {b}");

    let linear = |[x, y, z]: [u32; 3], size: f32| [x, y, z].map(|v| v as f32 * size);
    let mut ramp = zeros::<f32>(coarse.chunks());
    for chunk in 0..coarse.chunks() {
        for lane in 0..LANES {
            let at = linear(coarse.node(chunk, lane), 2.0);
            (0..3).for_each(|axis| ramp[chunk][axis][lane] = at[axis]);
        }
    }
    transfer.prolong((fine, coarse), &fine.active, &ramp, (&mut down, &mut sum));
    for chunk in 0..fine.chunks() {
        for lane in (0..LANES).filter(|lane| fine.active[chunk] >> lane & 1 == 1) {
            let at = linear(fine.node(chunk, lane), 1.0);
            (0..3).for_each(|axis| assert_eq!(down[chunk][axis][lane], at[axis]));
        }
    }
}

/// The number of iterations says whether the coarse levels help: without one, it grows with the size.
#[test]
fn a_few_iterations_suffice() {
    let body = body(&octree(5, 0.1, cuboid(IVec3::new(1, 8, 9), IVec3::new(31, 20, 22))), STEEL);
    let at = end(&body, 0, true);
    let root = body.shape_from_node([1, 0, 0]).x + 0.01;
    for solver in [Solver::free(&body), Solver::held(&body, |p| [p.x < root; 3]).unwrap()] {
        let load = [Load::Traction { at: &at, pascals: DVec3::new(1.0, 2.0, 3.0) }];
        let found = solver.solve(&load, &Settings::PRECISE, None, Cancel::never()).unwrap();
        println!("{:?}", found.convergence);
        assert!(
            found.convergence.is_converged && found.convergence.iterations <= 20,
            "{:?}",
            found.convergence
        );
    }
}

#[test]
fn threads_change_no_byte() {
    let body = random_body(4, 8);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let solver = Solver::free(&body);
            let blow = Load::Blow {
                point: body.faces()[0].centre,
                direction: -body.faces()[0].normal(),
                radius: 0.6,
                newtons: 10.0,
            };
            let found = solver.solve(&[blow], &Settings::PRECISE, None, Cancel::never()).unwrap();
            (found.convergence, found.stress().to_vec())
        })
    };
    let one = on(1);
    assert!(one.0.is_converged && one.1.iter().any(|stress| stress.von_mises() > 0.0));
    assert_eq!(one, on(2));
    assert_eq!(one, on(3));
}
