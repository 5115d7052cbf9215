//! The surface within a leaf voxel.

use glam::{DVec3, IVec3, Vec3};

/// A plane by its unit normal, which points out of the solid, and its signed distance from the voxel's centre along
/// that normal, voxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    pub normal: Vec3,
    pub offset: f32,
    /// Whether it belongs to a crack.
    pub crack: bool,
}

/// A leaf voxel: its solid lies behind its own planes, and behind its cut.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub at: IVec3,
    /// Its plane, or the planes that meet in it if a sharp edge or corner of the object runs through it.
    own: [Plane; 3],
    count: u8,
    /// The solid lies behind any of the planes instead of behind all.
    hollow: bool,
    /// Half thickness of a wall whose two sides lie in the voxel and whose middle is the plane, voxels.
    wall: Option<f32>,
    pub cut: Option<Plane>,
    pub rgb: [u8; 3],
    pub coverage: f32,
}

impl Leaf {
    pub fn new(at: IVec3, plane: Plane, cut: Option<Plane>, rgb: [u8; 3], coverage: f32) -> Self {
        Self { at, own: [plane; 3], count: 1, hollow: false, wall: None, cut, rgb, coverage }
    }

    /// Planes of the object's surface or, in a voxel that was internal, of the crack.
    pub fn own(&self) -> &[Plane] {
        &self.own[..usize::from(self.count)]
    }

    /// Whether a crack passes through the voxel.
    pub fn is_cracked(&self) -> bool {
        self.cut.is_some() || self.own[0].crack
    }

    /// Replaces the mean plane by two or three planes that meet in the voxel.
    pub fn sharpen(&mut self, planes: &[Plane], hollow: bool) {
        self.count = planes.len().min(3) as u8;
        self.own[..usize::from(self.count)].copy_from_slice(&planes[..usize::from(self.count)]);
        self.hollow = hollow;
    }

    /// Marks the plane as the middle of a wall with `half` its thickness on either side.
    pub fn make_wall(&mut self, half: f32) {
        self.wall = Some(half);
    }

    /// Depth of the voxel's centre in the solid; negative outside.
    pub fn depth_of_middle(&self) -> f32 {
        self.outermost().side()
    }

    /// The plane that determines this depth.
    pub fn outermost(&self) -> Plane {
        let deeper = |a: Plane, b: Plane| if b.side() < a.side() { b } else { a };
        let shallower = |a: Plane, b: Plane| if b.side() > a.side() { b } else { a };
        let first = self.own[0];
        if let Some(half) = self.wall {
            let side = first.facing(first.side() < 0.0);
            let own = Plane { offset: side.offset + half, ..side };
            return self.cut.map_or(own, |cut| deeper(own, cut));
        }
        let own =
            self.own().iter().fold(first, |a, b| if self.hollow { shallower(a, *b) } else { deeper(a, *b) });
        self.cut.map_or(own, |cut| deeper(own, cut))
    }

    /// Where a ray from the centre along `direction` leaves the solid, voxels, and through which plane.
    pub fn exit(&self, direction: Vec3) -> Option<(f32, Plane)> {
        let meet = |plane: &Plane| {
            // Only planes that face along the ray count.
            let along = plane.normal.dot(direction);
            (along > GRAZING).then(|| (plane.offset / along, *plane))
        };
        if let Some(half) = self.wall {
            let side = self.own[0].facing(self.own[0].normal.dot(direction) > 0.0);
            let own = Plane { offset: side.offset + half, ..side };
            return meet(&own)
                .into_iter()
                .chain(self.cut.as_ref().and_then(meet))
                .min_by(|a, b| a.0.total_cmp(&b.0));
        }
        let own = self.own().iter().filter_map(meet);
        let by_place = |a: &(f32, Plane), b: &(f32, Plane)| a.0.total_cmp(&b.0);
        let own = if self.hollow { own.max_by(by_place) } else { own.min_by(by_place) };
        own.into_iter().chain(self.cut.as_ref().and_then(meet)).min_by(by_place)
    }

    /// Share of the voxel behind its own planes, sampled on a lattice.
    pub fn share(&self) -> f32 {
        const SIDE: i32 = 10;
        let mut count = 0;
        for i in 0..SIDE * SIDE * SIDE {
            let at = (IVec3::new(i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)).as_vec3() + 0.5) / SIDE as f32
                - 0.5;
            let behind = |plane: &Plane| plane.normal.dot(at) <= plane.offset;
            let solid =
                if self.hollow { self.own().iter().any(behind) } else { self.own().iter().all(behind) };
            count += i32::from(solid);
        }
        count as f32 / (SIDE * SIDE * SIDE) as f32
    }
}

/// Rays within this angle (sine) of a plane do not hit it.
const GRAZING: f32 = 1e-3;

impl Plane {
    /// The offset, but never zero: a plane through the centre counts to one side.
    pub fn side(&self) -> f32 {
        if self.offset != 0.0 {
            return self.offset;
        }
        let [x, y, z] = self.normal.to_array();
        let first = if x != 0.0 {
            x
        } else if y != 0.0 {
            y
        } else {
            z
        };
        if first > 0.0 { f32::MIN_POSITIVE } else { -f32::MIN_POSITIVE }
    }

    /// The same plane, or the opposite one.
    fn facing(self, same: bool) -> Self {
        if same { self } else { Self { normal: -self.normal, offset: -self.offset, ..self } }
    }

    /// The point of the plane nearest to the centre of voxel `at`, grid coordinates.
    pub fn foot(&self, at: IVec3) -> DVec3 {
        at.as_dvec3() + 0.5 + self.normal.as_dvec3() * f64::from(self.offset)
    }
}

/// Share of a unit cube centred at the origin that lies below the plane n . x = offset.
pub fn share_below(normal: Vec3, offset: f64) -> f64 {
    // Mirrored so that its normal is positive; no component may vanish.
    let n = normal.as_dvec3().abs().max(DVec3::splat(1e-4));
    let d = offset + 0.5 * (n.x + n.y + n.z);
    let mut sum = 0.0;
    for corner in 0..8 {
        let mut left = d;
        let mut sign = 1.0;
        for axis in 0..3 {
            if corner >> axis & 1 == 1 {
                left -= n[axis];
                sign = -sign;
            }
        }
        if left > 0.0 {
            sum += sign * left * left * left;
        }
    }
    (sum / (6.0 * n.x * n.y * n.z)).clamp(0.0, 1.0)
}
