//! The relief of crack faces: how far the structure of a material bends a crack, at every point of the grid.
//!
//! In: a [`Volume`], and a point (2^14 units a grid side) of a face with its normal. Out: a [`Relief`], the displacement of
//! the point, which does not depend on the face, and the normal of the displaced face. A crack that goes round the grains
//! of granite, along the fibres of wood or in ripples through glass is the smooth crack after this displacement of
//! space, so both sides of a crack still fit. `shaders/shared/relief.wgsl` has the same formulae for pictures.
//!
//! A relief is made of layers, each the displacement of the points that the layers before it displaced. Each layer alone
//! maps space onto itself without folds, so all of them together do, at every strength up to [`MOST`] (`space_never_folds`
//! in `relief_tests.rs`). Knots are the hash of the colours; all else is single precision with sums, products, quotients
//! and square roots alone, so that files are the same on every processor. Normals pass through a layer with derivatives J
//! by the cofactors of I + J.

use glam::{Mat3, Vec3};

use super::{Material, Volume, volume::hash};

/// Allowed values of [`Interior::relief`](super::Interior::relief).
pub const RELIEFS: std::ops::RangeInclusive<f64> = 0.0..=MOST;
/// Above this strength layers could fold space.
const MOST: f64 = 1.5;
/// Strength 1 in the upper half of a volume's third word.
pub(super) const FULL: f64 = 256.0;

/// What the structure of a material does to a point of a crack face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relief {
    /// Displacement, units of the grid; the same for every face through the point.
    pub shift: Vec3,
    /// Unit normal of the displaced face.
    pub normal: Vec3,
    /// The point as the layers before the grains displace it, whole units: the place of its colour, because colours have
    /// the same grains.
    pub place: [i32; 3],
    /// Whether the grain at the point went with the other side of the crack and left its hollow on this one.
    pub is_hollow: bool,
}

impl Volume {
    /// Strength of the relief; 1 is that of the material itself.
    #[must_use]
    pub fn relief_strength(&self) -> f32 {
        (self.0[2] >> 16) as f32 / FULL as f32
    }

    /// The relief at a point of the grid, whose side is 2^14 units, on a face with a unit normal that points out of the
    /// piece. Layers whose features are smaller than about twice `finest` (units: a pixel, an edge of a triangle) are left
    /// out. Nothing is displaced without a material, and at strength 0.
    #[must_use]
    pub fn relief_at(&self, point: Vec3, normal: Vec3, finest: f32) -> Relief {
        let strength = self.relief_strength();
        if self.material() == 0 || strength == 0.0 {
            return Relief { shift: Vec3::ZERO, normal, place: whole(point), is_hollow: false };
        }
        let scale = self.size().max(1) as f32 / 256.0;
        let turn = if self.material() == Material::Wood as u32 { UPRIGHT } else { TURN };
        let from = turn * ((point + 16_384.0) / scale);
        let salt = self.0[3].wrapping_mul(64).wrapping_add(SALT);
        let mut layers = Layers {
            at: from,
            before_grains: None,
            normal: turn * normal,
            facing: turn * normal,
            out_of_grains: 0.0,
            strength,
            finest: finest / scale,
            salt,
        };
        layers.of(self.known_material(), scale);
        // Lengths scale with the features of the material, slopes do not.
        let back = turn.transpose();
        let normal = back * layers.normal;
        let displaced = |to: Vec3| back * (to - from) * scale;
        Relief {
            shift: displaced(layers.at),
            normal: normal * normal.length_recip(),
            place: whole(point + displaced(layers.before_grains.unwrap_or(layers.at))),
            is_hollow: layers.out_of_grains < 0.0,
        }
    }

    /// The colour of a crack face with this relief, sRGB.
    #[must_use]
    pub fn color_on(&self, relief: &Relief) -> [u8; 3] {
        self.color_between(relief.place, relief.is_hollow)
    }

    /// The roughness of a crack face with this relief, 0 to 1, as glTF has it.
    #[must_use]
    pub fn roughness_on(&self, relief: &Relief) -> f32 {
        match self.known_material() {
            Material::Stone if relief.is_hollow => 0.75,
            Material::Concrete if !relief.is_hollow && self.is_gravel(relief.place) => 0.7,
            _ => self.roughness(),
        }
    }

    /// The roughness of most of a crack face, 0 to 1, as glTF has it.
    #[must_use]
    pub fn roughness(&self) -> f32 {
        match self.known_material() {
            Material::Glass => 0.05,
            Material::Porcelain => 0.3,
            Material::Marble => 0.6,
            Material::Stone => 0.65,
            Material::Wood => 0.7,
            Material::Plain => 0.85,
            Material::Clay => 0.9,
            Material::Concrete => 0.92,
            Material::Brick | Material::Plaster => 0.95,
        }
    }

    fn known_material(&self) -> Material {
        self.kind().unwrap_or(Material::Plain)
    }
}

fn whole(point: Vec3) -> [i32; 3] {
    point.to_array().map(|v| v as i32)
}

/// Salts of reliefs begin here; those of colours are below.
pub(super) const SALT: u32 = 32;

/// A point of a face on its way through the layers, in turned units of the material.
struct Layers {
    at: Vec3,
    before_grains: Option<Vec3>,
    normal: Vec3,
    /// Normal of the smooth face.
    facing: Vec3,
    /// How far the grains displaced it along the normal.
    out_of_grains: f32,
    strength: f32,
    /// Smaller features do not show.
    finest: f32,
    salt: u32,
}

/// A displacement and its derivatives, column k along axis k.
#[derive(Clone, Copy)]
struct Layer {
    shift: Vec3,
    slope: Mat3,
}

impl Layers {
    fn of(&mut self, material: Material, scale: f32) {
        match material {
            Material::Clay => {
                self.chips(1100.0, 0, 70.0);
                self.even(150.0, 1, 17.0);
                self.even(61.0, 2, 8.0);
                self.grains(256, 4, 0.4);
            }
            Material::Stone => {
                self.even(1400.0, 0, 110.0);
                self.even(60.0, 1, 6.0);
                self.grains(256, 2, 0.55);
                self.grains(128, 4, 0.5);
            }
            Material::Marble => {
                self.even(1500.0, 0, 120.0);
                self.even(180.0, 1, 18.0);
                self.even(70.0, 2, 9.0);
                self.even(36.0, 3, 4.5);
            }
            Material::Wood => {
                self.fibres([700.0, 16_000.0], 0, [25.0, 240.0]);
                self.fibres([190.0, 9000.0], 1, [9.0, 110.0]);
                self.fibres([64.0, 5000.0], 2, [2.5, 36.0]);
            }
            Material::Porcelain => {
                self.even(1900.0, 0, 190.0);
                self.even(420.0, 1, 12.0);
                self.even(52.0, 2, 2.0);
            }
            Material::Glass => {
                self.even(2600.0, 0, 200.0);
                self.ripples(scale);
                self.hackle(scale);
            }
            Material::Concrete => {
                self.even(2100.0, 0, 160.0);
                self.even(140.0, 1, 15.0);
                self.even(56.0, 2, 7.0);
                self.grains(1024, 3, 0.55);
                self.grains(512, 4, 0.55);
            }
            Material::Plaster => {
                self.even(900.0, 0, 70.0);
                self.even(260.0, 1, 30.0);
                self.even(110.0, 2, 14.0);
                self.even(50.0, 3, 7.0);
            }
            Material::Brick => {
                self.even(800.0, 0, 75.0);
                self.even(240.0, 4, 24.0);
                self.even(110.0, 1, 14.0);
                self.even(48.0, 2, 7.0);
                self.grains(256, 3, 0.4);
            }
            Material::Plain => {
                self.even(500.0, 0, 40.0);
                self.even(140.0, 1, 12.0);
                self.even(55.0, 2, 4.0);
            }
        }
    }

    /// Strength of a layer whose features have this size.
    fn shown(&self, size: f32) -> f32 {
        self.strength * ((size / self.finest.max(1e-3) - 1.5) / 1.5).clamp(0.0, 1.0)
    }

    /// Displaces the point by `by` times a layer.
    fn add(&mut self, layer: Layer, by: f32) {
        self.at += layer.shift * by;
        let Mat3 { x_axis: x, y_axis: y, z_axis: z } = layer.slope;
        let (x, y, z) = (Vec3::X + x * by, Vec3::Y + y * by, Vec3::Z + z * by);
        let n = self.normal;
        self.normal = y.cross(z) * n.x + z.cross(x) * n.y + x.cross(y) * n.z;
    }

    /// Noise that is alike in all directions.
    fn even(&mut self, cell: f32, salt: u32, by: f32) {
        let shown = self.shown(cell);
        if shown > 0.0 {
            let layer = noise_of_cells(self.at, cell, self.salt.wrapping_add(salt));
            self.add(layer, by * shown);
        }
    }

    /// Steps: noise whose values stay near [`STEPS`] levels for most of the way.
    fn chips(&mut self, cell: f32, salt: u32, by: f32) {
        let Layer { shift, slope } = noise_of_cells(self.at, cell, self.salt.wrapping_add(salt));
        let x = shift * STEPS;
        let whole = x.floor();
        let t = ((x - whole) * 2.0 - 0.5).clamp(Vec3::ZERO, Vec3::ONE);
        let stair = (whole + t * t * (3.0 - 2.0 * t)) / STEPS;
        let steep = t * (1.0 - t) * 12.0;
        let columns = [slope.x_axis, slope.y_axis, slope.z_axis].map(|column| column * steep);
        let layer = Layer { shift: stair, slope: Mat3::from_cols(columns[0], columns[1], columns[2]) };
        self.add(layer, by * self.shown(cell / STEPS));
    }

    /// Fibres along y: `cell` and `by` have a size across and one along. They end at other heights than their neighbours;
    /// along them a crack follows their sides.
    fn fibres(&mut self, cell: [f32; 2], salt: u32, by: [f32; 2]) {
        let over = Vec3::new(1.0 / cell[0], 1.0 / cell[1], 1.0 / cell[0]);
        let Layer { shift, slope } = noise(self.at * over, self.salt.wrapping_add(salt), FIBRE);
        let by = Vec3::new(by[0], by[1], by[0]);
        let columns =
            [slope.x_axis * over.x, slope.y_axis * over.y, slope.z_axis * over.z].map(|column| column * by);
        let layer = Layer { shift: shift * by, slope: Mat3::from_cols(columns[0], columns[1], columns[2]) };
        self.add(layer, self.shown(cell[0] * FIBRE));
    }

    /// Grains on an even lattice, from which a crack stays away: every point in a grain is displaced towards the surface
    /// of the grain, by the share `by` of the way. One side of a crack shows the grain and the other its hollow.
    fn grains(&mut self, cell: u32, salt: u32, by: f32) {
        self.before_grains.get_or_insert(self.at);
        let side = cell as f32;
        let (salt, by) = (self.salt.wrapping_add(salt), by * self.shown(0.5 * side));
        if by == 0.0 {
            return;
        }
        // Grains whose lattice points agree in all parities do not touch, so these are eight layers.
        for parity in 0..8 {
            let odd = Vec3::new((parity & 1) as f32, (parity >> 1 & 1) as f32, (parity >> 2) as f32);
            let corner = ((self.at / side - odd) * 0.5 + 0.5).floor() * 2.0 + odd;
            let Grain { centre, radius } = grain(corner.as_ivec3().to_array(), cell, salt);
            let out = self.at - centre;
            let square = out.length_squared();
            if square >= radius * radius {
                continue;
            }
            // Softened in the middle, where the direction turns round.
            let soft = (radius * (1.0 / 6.0)).max(self.finest);
            let over = 1.0 / (square + soft * soft).sqrt();
            let distance = square.sqrt();
            let push = (radius - distance) * over * by;
            // The derivatives are push I + falls out outᵀ.
            let falls = (-over / distance.max(1e-6) - (radius - distance) * over * over * over) * by;
            self.at += out * push;
            let along = out.dot(self.normal);
            // By the smooth face: on a bent one stone and hollow would take turns near the rim of a grain.
            self.out_of_grains += push * out.dot(self.facing);
            self.normal = self.normal * (1.0 + push + falls * square) - out * (falls * along);
        }
    }

    /// Place of the point as seen from where cracks in glass begin, and its distance.
    fn off_origin(&self, scale: f32) -> (Vec3, f32) {
        let place = (knot([0; 3], self.salt.wrapping_add(9)) / HALF - 1.0) * 4000.0 + (8192.0 + 16_384.0);
        let out = self.at - TURN * (place / scale);
        (out, (out.length_squared() + 1.0).sqrt())
    }

    /// Ribs round the origin; there is a smooth mirror at it.
    fn ripples(&mut self, scale: f32) {
        let (out, distance) = self.off_origin(scale);
        let way = out / distance;
        let wander = noise_of_cells(self.at, 1700.0, self.salt.wrapping_add(1));
        let towards = noise_of_cells(self.at, 12_000.0, self.salt.wrapping_add(2));
        // Ribs lie farther apart the farther they are from the origin.
        let width = RIB + distance / RIBS_WIDEN;
        let phase = distance / width + wander.shift.x * WANDER;
        let Mat3 { x_axis: x, y_axis: y, z_axis: z } = wander.slope;
        let phase_slope = way * (RIB / (width * width)) + Vec3::new(x.x, y.x, z.x) * WANDER;
        // A sine of parabolas.
        let part = phase - phase.floor();
        let half = if part < 0.5 { part } else { part - 0.5 };
        let sign = if part < 0.5 { 1.0 } else { -1.0 };
        let (wave, steep) = (sign * half * (0.5 - half) * 16.0, sign * (0.5 - 2.0 * half) * 16.0);
        let far = distance * distance / (distance * distance + MIRROR * MIRROR);
        let far_slope = way * (2.0 * far * (1.0 - far) / distance);
        let height = wave * far;
        let height_slope = phase_slope * (steep * far) + far_slope * wave;
        self.add(scaled(&towards, height, height_slope), 13.0 * self.shown(150.0));
    }

    /// Streaks that run away from the origin and grow with the distance.
    fn hackle(&mut self, scale: f32) {
        let (out, distance) = self.off_origin(scale);
        let way = out / distance;
        // Cells of a sphere, which change slowly along the way out.
        let reach = 1400.0 + distance / 40.0;
        let streak = noise(way * (reach / 60.0), self.salt.wrapping_add(3), 1.0);
        // On the sphere: (I - way wayᵀ) across + way wayᵀ along, times the slope of the noise.
        let (across, along) = (reach / (60.0 * distance), 1.0 / (60.0 * 40.0));
        let Mat3 { x_axis: x, y_axis: y, z_axis: z } = streak.slope;
        let on_way = (x * way.x + y * way.y + z * way.z) * (along - across);
        let slope = Mat3::from_cols(
            x * across + on_way * way.x,
            y * across + on_way * way.y,
            z * across + on_way * way.z,
        );
        let far = distance * distance / (distance * distance + FAR * FAR);
        let layer = Layer { shift: streak.shift, slope };
        let by = 0.004 * self.shown(60.0 * distance / reach);
        self.add(scaled(&layer, distance * far, way * (far * (3.0 - 2.0 * far))), by);
    }
}

/// A layer times a number that has these derivatives.
fn scaled(of: &Layer, by: f32, slope: Vec3) -> Layer {
    let Layer { shift, slope: Mat3 { x_axis: x, y_axis: y, z_axis: z } } = *of;
    let slope = Mat3::from_cols(x * by + shift * slope.x, y * by + shift * slope.y, z * by + shift * slope.z);
    Layer { shift: shift * by, slope }
}

/// Share of a cell of [`Layers::fibres`] in which one fibre passes into the next.
const FIBRE: f32 = 0.8;
/// Levels of [`Layers::chips`] between 0 and the largest displacement.
const STEPS: f32 = 3.0;
/// Width of the first ribs of glass; over how much of the way from the origin they widen by as much; how far they wander, in
/// widths.
const RIB: f32 = 220.0;
const RIBS_WIDEN: f32 = 40.0;
const WANDER: f32 = 0.7;
/// Radius of the mirror round the origin of cracks in glass, and that from which on there is hackle.
const MIRROR: f32 = 1500.0;
const FAR: f32 = 4000.0;

/// Turns lattices out of the axes, along which faces often lie: the rotation of the quaternion (5, 1, 2, 3).
const TURN: Mat3 = Mat3::from_cols_array(&[
    13.0 / 39.0,
    34.0 / 39.0,
    -14.0 / 39.0,
    -26.0 / 39.0,
    19.0 / 39.0,
    22.0 / 39.0,
    26.0 / 39.0,
    2.0 / 39.0,
    29.0 / 39.0,
]);
/// The same for wood, whose fibres lie along y: a turn about y by an angle of the triangle 3, 4, 5.
const UPRIGHT: Mat3 = Mat3::from_cols_array(&[0.8, 0.0, -0.6, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8]);

#[cfg(test)]
pub(super) fn turn() -> Mat3 {
    TURN
}

#[cfg(test)]
impl Volume {
    /// How deep a point lies in the deepest grain of gravel of concrete, units.
    pub(super) fn depth_in_gravel(&self, point: [i32; 3]) -> f32 {
        let q = point.map(|v| super::volume::scaled(v, self.size()) as i32);
        let place = TURN * Vec3::from_array(q.map(|v| v as f32));
        let salt = self.0[3].wrapping_mul(64).wrapping_add(SALT);
        let mut deepest = f32::NEG_INFINITY;
        for (cell, of) in [(1024, 3), (512, 4)] {
            let corner = (place / cell as f32).floor().as_ivec3().to_array();
            for k in 0..8 {
                let at = [corner[0] + (k & 1), corner[1] + (k >> 1 & 1), corner[2] + (k >> 2)];
                let Grain { centre, radius } = grain(at, cell, salt.wrapping_add(of));
                deepest = deepest.max(radius - centre.distance(place));
            }
        }
        deepest
    }
}

/// A grain of [`Layers::grains`], in turned units.
struct Grain {
    centre: Vec3,
    radius: f32,
}

/// The grain of a lattice point. Its centre and radius are shares of 256 of a cell, so that colours have it in whole
/// numbers, too.
fn grain(corner: [i32; 3], cell: u32, salt: u32) -> Grain {
    let h = hash(corner.map(|v| v as u32), salt);
    let part = cell as f32 / 256.0;
    let centre = |k: usize| corner[k] as f32 * cell as f32 + grain_offset(h, k) as f32 * part;
    Grain { centre: Vec3::new(centre(0), centre(1), centre(2)), radius: grain_radius(h) as f32 * part }
}

/// Offset of a grain from its lattice point along an axis, 1/256 of a cell: less than 0.31 of it.
pub(super) fn grain_offset(hash: u32, axis: usize) -> i32 {
    (((hash >> (8 * axis) & 0xff) * 154) >> 8) as i32 - 77
}

/// Radius of a grain, 1/256 of a cell: with the offset less than a whole cell.
pub(super) fn grain_radius(hash: u32) -> i32 {
    77 + (((hash >> 24) * 92) >> 8) as i32
}

/// [`TURN`] times a point in whole numbers, rounded down.
pub(super) fn turned_whole(q: [i32; 3]) -> [i32; 3] {
    let [x, y, z] = q;
    [13 * x - 26 * y + 26 * z, 34 * x + 19 * y + 2 * z, -14 * x + 22 * y + 29 * z].map(|v| v.div_euclid(39))
}

/// Three whole numbers from 0 to 2 [`HALF`].
fn knot(cell: [i32; 3], salt: u32) -> Vec3 {
    let h = hash(cell.map(|v| v as u32), salt);
    Vec3::new((h & 0x3ff) as i32 as f32, (h >> 10 & 0x3ff) as i32 as f32, (h >> 20 & 0x3ff) as i32 as f32)
}

/// Half of the largest knot.
const HALF: f32 = 511.5;

fn noise_of_cells(q: Vec3, cell: f32, salt: u32) -> Layer {
    let over = 1.0 / cell;
    let Layer { shift, slope } = noise(q * over, salt, 1.0);
    Layer { shift, slope: slope * over }
}

/// Three noises from -1 to 1 with one knot per unit. `soft` is the share of a cell across x and z in which values change.
fn noise(p: Vec3, salt: u32, soft: f32) -> Layer {
    let base = p.floor();
    let rest = p - base;
    let soft = Vec3::new(soft, 1.0, soft);
    let t = ((rest - 0.5) / soft + 0.5).clamp(Vec3::ZERO, Vec3::ONE);
    let s = t * t * (3.0 - 2.0 * t);
    let steep = t * (1.0 - t) * (6.0 / HALF) / soft;
    let base = base.as_ivec3().to_array();
    let at = |k: i32| knot([base[0] + (k & 1), base[1] + (k >> 1 & 1), base[2] + (k >> 2)], salt);
    let k: [Vec3; 8] = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
    let mix = |a: Vec3, b: Vec3, s: f32| a + (b - a) * s;
    let (x00, x10) = (mix(k[0], k[1], s.x), mix(k[2], k[3], s.x));
    let (x01, x11) = (mix(k[4], k[5], s.x), mix(k[6], k[7], s.x));
    let (y0, y1) = (mix(x00, x10, s.y), mix(x01, x11, s.y));
    let dx = mix(mix(k[1] - k[0], k[3] - k[2], s.y), mix(k[5] - k[4], k[7] - k[6], s.y), s.z);
    let dy = mix(x10 - x00, x11 - x01, s.z);
    let slope = Mat3::from_cols(dx * steep.x, dy * steep.y, (y1 - y0) * steep.z);
    Layer { shift: mix(y0, y1, s.z) / HALF - 1.0, slope }
}
