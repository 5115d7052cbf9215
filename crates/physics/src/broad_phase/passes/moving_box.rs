//! The boxes of bodies in the format of the passes.
//!
//! In: oriented boxes, which bodies move, and how fast. Out: a [`MovingBox`] for each body with a box, in order of
//! body.
//!
//! # The lattice of whole numbers on which the passes see boxes
//!
//! In: places in the world. Out: cells. Places are rounded the same way for all, so boxes that overlap in the world
//! overlap on the lattice, too.

use glam::{DMat3, DVec3};

use crate::{
    broad_phase::{Asked, Obb},
    geometry::Aabb,
    gpu::shared,
};

shared! {
    /// A box as the passes see it (`moving_box.wgsl`).
    #[derive(Debug, Default, PartialEq)]
    pub struct MovingBox {
        /// Low corner of the box along the world's axes which it does not leave in the step, lattice of the scene.
        low: [i32; 3],
        /// 1 where it moves.
        moves: u32,
        /// High corner.
        high: [i32; 3],
        /// 1 if single precision is enough for the test of the oriented box.
        measured: u32,
        /// Its middle against that of the scene, m.
        centre: [f32; 3],
        /// How far its farthest point turns in the step, m.
        spin: f32,
        /// Rounding error of `centre`, m.
        centre_rest: [f32; 3],
        /// Unused.
        pad_rest: u32,
        /// First row of the rotation to the world.
        turn_x: [f32; 3],
        /// Unused.
        pad_x: u32,
        /// Second row.
        turn_y: [f32; 3],
        /// Unused.
        pad_y: u32,
        /// Third row.
        turn_z: [f32; 3],
        /// Unused.
        pad_z: u32,
        /// Half its edges, m.
        half_edges: [f32; 3],
        /// Unused.
        pad_half: u32,
        /// How far it moves in the step, m.
        travel: [f32; 3],
        /// Unused.
        pad_travel: u32,
    }
}

/// All boxes of a step.
pub struct MovingBoxes {
    /// By ascending body.
    pub items: Vec<MovingBox>,
    /// By box: its body.
    pub bodies: Vec<usize>,
    /// Largest rounding error of a box's position, m.
    pub slack: f32,
}

/// Largest rounding error of two parts of single precision, and of sums of double precision, as a share of the distance
/// from the middle; and the smallest slack of any test, m.
const PLACE_ROUNDED: f64 = 1e-14;
const LEAST: f64 = 1e-15;

impl MovingBoxes {
    /// Those of the bodies that have one.
    #[must_use]
    pub fn new(asked: &Asked<'_>) -> Self {
        let known = || asked.boxes.iter().enumerate().filter_map(|(k, obb)| Some((k, obb.as_ref()?)));
        let middle = middle(known().map(|(_, obb)| obb.centre));
        let lattice = Lattice::new(known().map(|(_, obb)| obb.aabb()));
        let mut out = Self { items: Vec::new(), bodies: Vec::new(), slack: 0.0 };
        let mut extent = middle.abs().max_element();
        for (k, obb) in known() {
            let centre = obb.centre - middle;
            extent = extent.max(centre.abs().max_element());
            let item = MovingBox { moves: u32::from(asked.moves[k]), ..moving(asked, k, obb, centre) };
            let Aabb { low, high } = obb.aabb();
            out.items.push(MovingBox { low: lattice.at(low), high: lattice.at(high), ..item });
            out.bodies.push(k);
        }
        out.slack = (PLACE_ROUNDED * extent.min(FAR) + LEAST) as f32;
        out
    }
}

fn moving(asked: &Asked<'_>, k: usize, obb: &Obb, centre: DVec3) -> MovingBox {
    let motion = &asked.motions[k];
    let (travel, spin) = (motion.velocity * asked.dt, motion.spin * asked.dt);
    let [near, rest] = in_two(centre);
    // Rows of the rotation are columns of its transpose.
    let turn: DMat3 = obb.axes.transpose();
    let row = |v: DVec3| v.as_vec3().to_array();
    let measured = [centre, obb.half, travel, DVec3::splat(spin)].iter().all(|v| v.abs().max_element() < FAR);
    MovingBox {
        measured: u32::from(measured),
        centre: near,
        spin: spin as f32,
        centre_rest: rest,
        turn_x: row(turn.x_axis),
        turn_y: row(turn.y_axis),
        turn_z: row(turn.z_axis),
        half_edges: row(obb.half),
        travel: row(travel),
        ..MovingBox::default()
    }
}

/// Cells of the lattice along the longest side of the scene.
const LATTICE: f64 = 1_048_575.0;
/// Beyond this a number is as good as infinite to the passes, m or m/s.
pub const FAR: f64 = 1e15;

/// A lattice that covers the scene.
pub struct Lattice {
    low: DVec3,
    cell: f64,
}

impl Lattice {
    /// Over these boxes.
    pub fn new(boxes: impl Iterator<Item = Aabb>) -> Self {
        let far = DVec3::splat(FAR);
        let Aabb { low, high } = boxes.fold(Aabb::new(far, -far), Aabb::joined);
        let (low, high) = (low.max(-far), high.min(far));
        Self { low, cell: ((high - low).max_element() / LATTICE).max(f64::MIN_POSITIVE) }
    }

    /// The cell in which a place lies.
    #[must_use]
    pub fn at(&self, p: DVec3) -> [i32; 3] {
        ((p - self.low) / self.cell).floor().clamp(DVec3::ZERO, DVec3::splat(LATTICE)).as_ivec3().to_array()
    }
}

/// The middle of the scene: of the box round these places.
pub fn middle(places: impl Iterator<Item = DVec3>) -> DVec3 {
    let mut places = places.peekable();
    if places.peek().is_none() { DVec3::ZERO } else { Aabb::of(places).middle() }
}

/// A position relative to the middle of the scene in two parts of single precision, the second the rounding error of
/// the first, so that nothing is lost far from the middle.
#[must_use]
pub fn in_two(place: DVec3) -> [[f32; 3]; 2] {
    let near = place.clamp(DVec3::splat(-FAR), DVec3::splat(FAR)).as_vec3();
    [near.to_array(), (place - near.as_dvec3()).as_vec3().to_array()]
}
