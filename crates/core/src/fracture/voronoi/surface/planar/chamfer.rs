//! The second plane of a leaf that several cracks cross: the same as
//! `shaders/fracture/voronoi/surface/planar/chamfer.wgsl`, which explains it. The volume of the rest of the leaf is
//! counted at 4 x 4 x 4 points, odd eighths of a voxel from its centre.

use glam::IVec3;

use crate::fracture::voronoi::surface::plane::{Plane, Scaled};

/// Planes through one leaf, facing out of the piece.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    planes: [Plane; 9],
    count: usize,
}

impl Default for Cuts {
    fn default() -> Self {
        Self { planes: [Plane::UP; 9], count: 0 }
    }
}

/// Point k of the 64, eighths of a voxel from the centre.
fn sample(k: usize) -> IVec3 {
    2 * IVec3::new((k & 3) as i32, (k >> 2 & 3) as i32, (k >> 4) as i32) - 3
}

/// The points above a plane, a bit each. 512 = 4096 / 8; both sides stay below 2^29.
fn above(plane: &Plane) -> u64 {
    let Plane { normal, length, offset } = *plane;
    let height = offset * length as i32;
    (0..64).filter(|k| 512 * normal.dot(sample(*k)) > height).fold(0, |mask, k| mask | 1 << k)
}

impl Cuts {
    /// Adds a plane; beyond nine they are ignored.
    pub fn add(&mut self, plane: Plane) {
        if self.count < 9 {
            self.planes[self.count] = plane;
            self.count += 1;
        }
    }

    /// The plane that comes nearest to the voxel's far side, the first of equal ones; only where there is one.
    #[must_use]
    pub fn nearest(&self) -> usize {
        (1..self.count).fold(
            0,
            |best, j| {
                if self.planes[j].offset < self.planes[best].offset { j } else { best }
            },
        )
    }

    /// Takes the nearest one out; only where there is one.
    pub fn take_nearest(&mut self) -> Plane {
        let nearest = self.nearest();
        let plane = self.planes[nearest];
        self.count = self.count.saturating_sub(1);
        self.planes[nearest] = self.planes[self.count];
        plane
    }

    /// The word for all of them, in a leaf with the plane `own`; 0 without planes.
    #[must_use]
    pub fn word(&self, own: &Plane) -> u32 {
        if self.count == 0 {
            return 0;
        }
        let first = self.nearest();
        let alone = self.planes[first].cut_word();
        if self.count == 1 {
            return alone;
        }
        let inside = !above(own);
        let mut kept = inside;
        let mut normal = IVec3::ZERO;
        let mut left_by_first = 0;
        for (j, plane) in self.planes[..self.count].iter().enumerate() {
            let taken = above(plane);
            let unit = (plane.normal << 14) / plane.length as i32;
            normal += unit * (inside & taken).count_ones() as i32;
            kept &= !taken;
            if j == first {
                left_by_first = (inside & !taken).count_ones();
            }
        }
        let left = kept.count_ones();
        // Shorter than a tenth of one normal: they face in all directions.
        let short = normal.clamp(IVec3::splat(-8192), IVec3::splat(8192));
        if left == left_by_first || short.length_squared() < 2_684_355 {
            return alone;
        }
        let Scaled { vector, length, .. } = Scaled::new(normal);
        let leaves = |step: i32| {
            let plane = Plane { normal: vector, length, offset: 32 * step };
            (inside & !above(&plane)).count_ones()
        };
        let (mut low, mut high) = (-127, 127);
        for _ in 0..8 {
            let middle = (low + high) >> 1;
            if leaves(middle) > left {
                high = middle;
            } else {
                low = middle;
            }
        }
        Plane { normal: vector, length, offset: 32 * low }.cut_word()
    }
}
