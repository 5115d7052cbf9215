//! Rigid motions: taken out of vectors of a free body, and the accelerations that balance its loads.
//!
//! In: a lattice, forces at its nodes. Out: the forces with those of inertia added, which are in balance; the body then
//! needs no hold. The six motions that cost no energy are kept out of every displacement.

use glam::{DMat3, DVec3};

use crate::{
    field::{Field, LANES, sum_of, zip},
    lattice::Lattice,
};

/// Masses and rigid motions of the nodes of a lattice. Lengths are in cells, about the centre of mass.
pub(crate) struct Rigid {
    /// Share of the solid of each node, cells.
    pub masses: Vec<[f64; LANES]>,
    /// Centre of mass, in cells from the grid's corner.
    pub centre: DVec3,
    total: f64,
    inverse_inertia: DMat3,
    /// The same with every node as heavy as any other, for projections.
    plain_centre: DVec3,
    count: f64,
    plain_inverse: DMat3,
}

impl Rigid {
    pub fn new(lattice: &Lattice) -> Self {
        let masses: Vec<[f64; LANES]> = (0..lattice.chunks())
            .map(|chunk| {
                let fills = lattice.fills(chunk);
                std::array::from_fn(|l| fills.iter().map(|cell| f64::from(cell[l])).sum::<f64>() / 8.0)
            })
            .collect();
        let (total, centre, inertia) = moments(lattice, |chunk, lane| masses[chunk][lane]);
        let (count, plain_centre, plain) =
            moments(lattice, |chunk, lane| f64::from(lattice.active[chunk] >> lane & 1));
        let (inverse_inertia, plain_inverse) = (inertia.inverse(), plain.inverse());
        Self { masses, centre, total, inverse_inertia, plain_centre, count, plain_inverse }
    }

    /// The sum of forces and of their moments about a point.
    fn resultant(lattice: &Lattice, forces: &Field<f64>, about: DVec3) -> (DVec3, DVec3) {
        let sums = sum_of::<6>(lattice.chunks(), |chunk| {
            let (mut force, mut moment) = (DVec3::ZERO, DVec3::ZERO);
            for lane in 0..LANES {
                let f = DVec3::from([0, 1, 2].map(|axis| forces[chunk][axis][lane]));
                force += f;
                moment += (place(lattice, chunk, lane) - about).cross(f);
            }
            [force.x, force.y, force.z, moment.x, moment.y, moment.z]
        });
        (DVec3::new(sums[0], sums[1], sums[2]), DVec3::new(sums[3], sums[4], sums[5]))
    }

    /// Adds the forces of inertia to the forces of a free body, so that both are in balance.
    pub fn relieve(&self, lattice: &Lattice, forces: &mut Field<f64>) {
        let (force, moment) = Self::resultant(lattice, forces, self.centre);
        let (along, turn) = (force / self.total, self.inverse_inertia * moment);
        let chunks: Vec<usize> = (0..lattice.chunks()).collect();
        zip(forces, &chunks, |forces, chunk| {
            for lane in 0..LANES {
                let mass = self.masses[*chunk][lane];
                let acceleration = along + turn.cross(place(lattice, *chunk, lane) - self.centre);
                for axis in 0..3 {
                    forces[axis][lane] -= mass * acceleration[axis];
                }
            }
        });
    }

    /// Takes rigid motions out of a vector, as seen by the plain scalar product: the nearest vector without them.
    pub fn project(&self, lattice: &Lattice, vector: &mut Field<f64>) {
        let (along, turn) = Self::resultant(lattice, vector, self.plain_centre);
        let (along, turn) = (along / self.count, self.plain_inverse * turn);
        let chunks: Vec<usize> = (0..lattice.chunks()).collect();
        zip(vector, &chunks, |vector, chunk| {
            for lane in 0..LANES {
                if lattice.active[*chunk] >> lane & 1 == 1 {
                    let motion = along + turn.cross(place(lattice, *chunk, lane) - self.plain_centre);
                    for axis in 0..3 {
                        vector[axis][lane] -= motion[axis];
                    }
                }
            }
        });
    }
}

/// The place of a node, cells.
pub(crate) fn place(lattice: &Lattice, chunk: usize, lane: usize) -> DVec3 {
    DVec3::from(lattice.node(chunk, lane).map(f64::from))
}

/// Sum, centre and inertia about the centre of weights at the nodes.
fn moments(lattice: &Lattice, weight: impl Fn(usize, usize) -> f64 + Sync) -> (f64, DVec3, DMat3) {
    let of = |about: DVec3| {
        sum_of::<10>(lattice.chunks(), |chunk| {
            let mut sum = [0.0; 10];
            for lane in 0..LANES {
                let (w, r) = (weight(chunk, lane), place(lattice, chunk, lane) - about);
                let more =
                    [1.0, r.x, r.y, r.z, r.x * r.x, r.y * r.y, r.z * r.z, r.y * r.z, r.z * r.x, r.x * r.y];
                sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += w * more);
            }
            sum
        })
    };
    let [total, x, y, z, ..] = of(DVec3::ZERO);
    let centre = DVec3::new(x, y, z) / total;
    let [.., xx, yy, zz, yz, zx, xy] = of(centre);
    let inertia = DMat3::from_cols(
        DVec3::new(yy + zz, -xy, -zx),
        DVec3::new(-xy, zz + xx, -yz),
        DVec3::new(-zx, -yz, xx + yy),
    );
    (total, centre, inertia)
}

/// Whether held unknowns allow no rigid motion: the six motions, seen at what is held, are independent.
pub(crate) fn holds(lattice: &Lattice, free: &[u32]) -> bool {
    let (count, centre, _) = moments(lattice, |chunk, lane| {
        f64::from((held_bits(lattice, free, chunk) >> lane & 0x1_0101 != 0) as u8)
    });
    if count == 0.0 {
        return false;
    }
    let size = (0..lattice.chunks()).fold(1.0f64, |size, chunk| {
        let reach = (0..LANES).filter(|lane| held_bits(lattice, free, chunk) >> lane & 0x1_0101 != 0);
        reach.fold(size, |size, lane| size.max((place(lattice, chunk, lane) - centre).length()))
    });
    let sums = sum_of::<36>(lattice.chunks(), |chunk| {
        let mut sum = [0.0; 36];
        for lane in 0..LANES {
            let r = (place(lattice, chunk, lane) - centre) / size;
            for axis in 0..3 {
                if held_bits(lattice, free, chunk) >> (LANES * axis + lane) & 1 == 1 {
                    // What the six motions do along the axis: three shifts, three turns about the centre.
                    let mut motion = [0.0; 6];
                    motion[axis] = 1.0;
                    (0..3).for_each(|turn| motion[3 + turn] = DVec3::AXES[turn].cross(r)[axis]);
                    (0..36).for_each(|i| sum[i] += motion[i / 6] * motion[i % 6] / count);
                }
            }
        }
        sum
    });
    // Cholesky's pivots of the 6 x 6 matrix are positive if and only if the motions are independent.
    let mut m: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| sums[6 * i + j]));
    for pivot in 0..6 {
        if m[pivot][pivot] < 1e-9 {
            return false;
        }
        for row in pivot + 1..6 {
            let factor = m[row][pivot] / m[pivot][pivot];
            for column in pivot..6 {
                m[row][column] -= factor * m[pivot][column];
            }
        }
    }
    true
}

fn held_bits(lattice: &Lattice, free: &[u32], chunk: usize) -> u32 {
    lattice.active[chunk] & !free[chunk]
}
