//! The stiffness of a cubic cell: a trilinear hexahedron with incompatible modes.
//!
//! In: Poisson's ratio. Out: the 24 x 24 matrix of a cube of edge 1 and Young's modulus 1; a cube of edge h and modulus E
//! has h E times this matrix.
//!
//! Trilinear displacements alone cannot bend: a cell one deep is far too stiff ("shear locking"). Wilson, Taylor, Doherty &
//! Ghaboussi 1973 add 1 - x^2, 1 - y^2 and 1 - z^2 to each component, amplitudes that belong to the cell alone and are
//! condensed out here. The condition of Taylor, Beresford & Wilson 1976 (a uniform strain does no work on them) holds for
//! every cube as it is. Their derivatives vanish in the middle of a cell, so stress there follows from the corners alone.

use crate::Material;

/// Rows and columns: 3 * corner + axis; bit `axis` of a corner says on which side it lies.
pub(crate) type Stiffness = [[f64; 24]; 24];

/// Degrees of freedom with those of the cell alone.
const ALL: usize = 33;

/// Strains (xx, yy, zz, yz, zx, xy; shears as angles) of a displacement along `axis` whose amplitude has this gradient.
fn strain(axis: usize, [x, y, z]: [f64; 3]) -> [f64; 6] {
    match axis {
        0 => [x, 0.0, 0.0, 0.0, z, y],
        1 => [0.0, y, 0.0, z, 0.0, x],
        _ => [0.0, 0.0, z, y, x, 0.0],
    }
}

/// Gradients of the eight trilinear functions at a point, -1 to 1 along each axis, of a cube of edge 1.
fn gradients(at: [f64; 3]) -> [[f64; 3]; 8] {
    std::array::from_fn(|corner| {
        let side: [f64; 3] = std::array::from_fn(|axis| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 });
        std::array::from_fn(|axis| {
            let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
            side[axis] * 0.25 * (1.0 + side[j] * at[j]) * (1.0 + side[k] * at[k])
        })
    })
}

/// The matrix of a cube of edge 1 and Young's modulus 1.
pub(crate) fn stiffness(poissons_ratio: f64) -> Stiffness {
    let (lambda, mu) = Material::lame(poissons_ratio);
    let stress = |e: [f64; 6]| {
        let trace = lambda * (e[0] + e[1] + e[2]);
        [0, 1, 2, 3, 4, 5].map(|i| if i < 3 { trace + 2.0 * mu * e[i] } else { mu * e[i] })
    };
    let mut full = [[0.0; ALL]; ALL];
    // Two points along each axis integrate every product exactly.
    let place = 1.0 / 3.0f64.sqrt();
    for point in 0..8 {
        let at: [f64; 3] = std::array::from_fn(|axis| if point >> axis & 1 == 1 { place } else { -place });
        let nodes = gradients(at);
        let strains: [[f64; 6]; ALL] = std::array::from_fn(|dof| {
            if dof < 24 {
                return strain(dof % 3, nodes[dof / 3]);
            }
            let (axis, mode) = ((dof - 24) % 3, (dof - 24) / 3);
            let mut slope = [0.0; 3];
            slope[mode] = -4.0 * at[mode];
            strain(axis, slope)
        });
        for (row, e) in strains.iter().enumerate() {
            let s = stress(*e);
            for (column, other) in strains.iter().enumerate() {
                full[row][column] += s.iter().zip(other).map(|(a, b)| a * b).sum::<f64>() / 8.0;
            }
        }
    }
    // Gauss's elimination from the last row upwards leaves the condensed matrix above.
    for pivot in (24..ALL).rev() {
        for row in 0..pivot {
            let factor = full[row][pivot] / full[pivot][pivot];
            for column in 0..pivot {
                full[row][column] -= factor * full[pivot][column];
            }
        }
    }
    std::array::from_fn(|row| std::array::from_fn(|column| 0.5 * (full[row][column] + full[column][row])))
}

/// The 3 x 3 block of two corners.
pub(crate) fn block(matrix: &Stiffness, row: usize, column: usize) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| matrix[3 * row + i][3 * column + j]))
}

/// An upper bound of the eigenvalues of D^-1 K, D the 3 x 3 blocks on the diagonal of K, for any body of such cells.
/// K and D are sums over cells, so the bound of one cell holds for every sum (Wathen 1987), with any fill.
pub(crate) fn largest_eigenvalue(matrix: &Stiffness) -> f64 {
    let inverses: [[[f64; 3]; 3]; 8] = std::array::from_fn(|corner| inverse(block(matrix, corner, corner)));
    let mut v: [f64; 24] = std::array::from_fn(|i| 1.0 + (i * i % 7) as f64 - (i % 3) as f64);
    let mut value = 1.0;
    for _ in 0..400 {
        let product: [f64; 24] = std::array::from_fn(|i| matrix[i].iter().zip(&v).map(|(a, b)| a * b).sum());
        let next: [f64; 24] =
            std::array::from_fn(|i| (0..3).map(|j| inverses[i / 3][i % 3][j] * product[i / 3 * 3 + j]).sum());
        value = next.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        v = next.map(|x| x / value);
    }
    // The iteration comes from below.
    value * 1.02
}

/// The inverse of a symmetric 3 x 3 matrix.
fn inverse(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    glam::DMat3::from_cols_array_2d(&m).inverse().to_cols_array_2d()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(matrix: &Stiffness, v: &[f64; 24]) -> [f64; 24] {
        std::array::from_fn(|i| matrix[i].iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// A displacement by the corners' places, 0 or 1.
    fn field(of: impl Fn([f64; 3]) -> [f64; 3]) -> [f64; 24] {
        std::array::from_fn(|i| of([0, 1, 2].map(|axis| ((i / 3) >> axis & 1) as f64))[i % 3])
    }

    #[test]
    fn rigid_motions_cost_nothing_and_uniform_strains_their_energy() {
        for nu in [-0.5, 0.0, 0.3, 0.49] {
            let k = stiffness(nu);
            for rigid in [field(|_| [1.0, 2.0, 3.0]), field(|[x, y, z]| [y - z, 2.0 * z - x, x - 2.0 * y])] {
                assert!(times(&k, &rigid).iter().all(|f| f.abs() < 1e-12));
            }
            let (lambda, mu) = Material::lame(nu);
            let u = field(|[x, y, z]| [0.3 * x + 0.2 * y, 0.1 * y, 0.4 * x - 0.2 * z]);
            let (e, shear): ([f64; 3], [f64; 3]) = ([0.3, 0.1, -0.2], [0.0, 0.4, 0.2]);
            let trace: f64 = e.iter().sum();
            let squares = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>();
            let expected = lambda * trace * trace + 2.0 * mu * squares(e) + mu * squares(shear);
            let energy: f64 = times(&k, &u).iter().zip(&u).map(|(f, u)| f * u).sum();
            assert!((energy - expected).abs() < 1e-12, "{nu}: {energy} {expected}");
        }
    }

    /// Pure bending, u = x y: a beam one cell deep has the stiffness E I of the theory, without locking.
    #[test]
    fn one_cell_bends_as_a_beam_does() {
        let k = stiffness(0.0);
        let u = field(|[x, y, _]| [(x - 0.5) * (y - 0.5), 0.0, 0.0]);
        let energy: f64 = times(&k, &u).iter().zip(&u).map(|(f, u)| f * u).sum();
        // E I kappa^2 for a curvature of 1: 1 / 12. The trilinear cell alone has one and a half times that.
        assert!((energy - 1.0 / 12.0).abs() < 1e-12, "{energy}");
    }

    #[test]
    fn no_sum_of_cells_has_a_larger_eigenvalue() {
        for nu in [-0.5, 0.0, 0.3, 0.49] {
            let k = stiffness(nu);
            let bound = largest_eigenvalue(&k);
            assert!((1.0..8.0).contains(&bound), "{nu}: {bound}");
            // x K x <= bound x D x.
            for seed in 0..200usize {
                let v: [f64; 24] = std::array::from_fn(|i| ((i * 37 + seed * 101) % 97) as f64 / 48.0 - 1.0);
                let energy: f64 = times(&k, &v).iter().zip(&v).map(|(f, u)| f * u).sum();
                let own: f64 = (0..24)
                    .map(|i| (0..3).map(|j| v[i] * k[i][i / 3 * 3 + j] * v[i / 3 * 3 + j]).sum::<f64>())
                    .sum();
                assert!(energy <= bound * own, "{nu}: {energy} {own} {bound}");
            }
        }
    }
}
