//! Positions of each preset's seeds (2016, sec. 4.2, and beyond it).
//!
//! In: parameters, an impact and the object's bounds in grid coordinates. Out: one drawn position a call;
//! `pattern.rs` draws positions far from the object again. Only +, -, *, / and square root are used, so that every
//! machine draws the same.

use crate::geometry::Aabb;
use glam::DVec3;
use rand_chacha::{ChaCha8Rng, rand_core::Rng};

use crate::fracture::{FractureParams, Impact, Preset};

/// Draws the positions of one pattern.
pub(in crate::fracture) struct Presets<'a> {
    params: &'a FractureParams,
    impact: Impact,
    low: DVec3,
    high: DVec3,
    longest: f64,
    /// Sphere or ring of every seed, and its number there.
    places: Vec<(usize, u32)>,
    /// Middles of the clusters.
    centres: Vec<DVec3>,
    grain: Grain,
}

/// Layers square to the grain.
#[derive(Default)]
struct Grain {
    axis: DVec3,
    /// Begin of the object along the axis, and distance of the layers.
    start: f64,
    spacing: f64,
    layers: u32,
    /// Mean distance of neighbours in a layer.
    across: f64,
}

impl<'a> Presets<'a> {
    /// `impact` and bounds in grid coordinates; the parameters were checked.
    pub fn new(params: &'a FractureParams, impact: Impact, Aabb { low, high }: Aabb) -> Self {
        let longest = (high - low).max_element();
        let mut made = Self {
            params,
            impact: Impact { direction: impact.direction.normalize_or(DVec3::NEG_Z), ..impact },
            low,
            high,
            longest,
            places: dealt(params),
            centres: Vec::new(),
            grain: Grain::default(),
        };
        if params.preset == Preset::Grain {
            made.grain = made.layers();
        }
        made
    }

    /// Draws what all seeds share. `accept` says whether a place is near the object.
    pub fn prepare(&mut self, rng: &mut ChaCha8Rng, accept: &dyn Fn(DVec3) -> bool) {
        if self.params.preset == Preset::Clustered {
            self.centres.push(self.impact.point);
            for _ in 1..self.params.clusters {
                let centre = drawn(|_| self.in_box(rng), |p| self.within(p), accept);
                self.centres.push(centre);
            }
        }
    }

    /// A position for seed `i`, drawn for the `attempt`th time.
    pub fn draw(&self, i: usize, attempt: u32, rng: &mut ChaCha8Rng) -> DVec3 {
        let (place, number) = self.places[i];
        match self.params.preset {
            Preset::Spheres => {
                self.impact.point + self.params.radii[place] * self.longest * random_direction(rng)
            }
            // Without a surface the start is random; regular patterns and chips are drawn elsewhere.
            Preset::Uniform
            | Preset::Inward
            | Preset::Bricks
            | Preset::Hexagons
            | Preset::Slabs
            | Preset::Lattice
            | Preset::Chips => self.in_box(rng),
            Preset::Clustered => {
                let reach = self.params.spread * self.longest * random_unit(rng);
                self.centres[i % self.centres.len()] + reach * random_direction(rng)
            }
            Preset::Radial => self.on_ring(self.params.radii[place] * self.longest, number, attempt, rng),
            Preset::Grain => self.in_layer(i, rng),
        }
    }

    /// Whether a position is of use: within the bounds and `near` the object. A radial seed's cell runs along the
    /// whole line of the blow, so it is of use where that line meets the object.
    pub fn accepts(&self, p: DVec3, near: &dyn Fn(DVec3) -> bool) -> bool {
        if self.params.preset != Preset::Radial {
            return self.within(p) && near(p);
        }
        (-24..=24).any(|k| {
            let q = p + self.impact.direction * (f64::from(k) / 16.0 * self.longest);
            self.within(q) && near(q)
        })
    }

    /// Whether a position lies within the object's bounds.
    pub fn within(&self, p: DVec3) -> bool {
        p.cmpge(self.low).all() && p.cmple(self.high).all()
    }

    fn in_box(&self, rng: &mut ChaCha8Rng) -> DVec3 {
        let u = DVec3::new(random_unit(rng), random_unit(rng), random_unit(rng));
        self.low + u * (self.high - self.low)
    }

    /// A position on a ring round the line of the blow. Angles halve the largest gaps in turn (van der Corput's
    /// sequence) and are the same on every ring, so the cells' sides line up to spokes.
    fn on_ring(&self, radius: f64, number: u32, attempt: u32, rng: &mut ChaCha8Rng) -> DVec3 {
        let d = self.impact.direction;
        let (ax, ay, az) = (d.x.abs(), d.y.abs(), d.z.abs());
        let least = if ax <= ay && ax <= az {
            DVec3::X
        } else if ay <= az {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let u = d.cross(least).normalize_or(DVec3::X);
        let v = d.cross(u);
        let (wobble, stretch) = (random_unit(rng) - 0.5, random_unit(rng) - 0.5);
        let [c, s] = if attempt == 0 {
            let [c, s] = turn(number);
            let t = 0.3 * wobble;
            let length = (1.0 + t * t).sqrt();
            [(c - s * t) / length, (s + c * t) / length]
        } else {
            let v = random_direction(rng);
            let length = (v.x * v.x + v.y * v.y).sqrt().max(1e-9);
            [v.x / length, v.y / length]
        };
        self.impact.point + (u * c + v * s) * (radius * (1.0 + 0.3 * stretch))
    }

    /// Positions of layers that make cells `grain_ratio` times as long as wide.
    fn layers(&self) -> Grain {
        let axis = self.params.grain_axis.normalize_or(DVec3::Y);
        let size = self.high - self.low;
        let (from, to) = ((self.low * axis).min(self.high * axis), (self.low * axis).max(self.high * axis));
        let (start, length) = (from.element_sum(), (to - from).element_sum().max(1e-9));
        let area = (size.x * size.y * size.z / length).max(1e-9);
        // A search for a number of pieces draws different numbers of seeds; the layers must not jump with them.
        let seeds = self.params.target_pieces.unwrap_or(self.places.len() as u32);
        let (n, ratio) = (f64::from(seeds.max(1)), self.params.grain_ratio);
        // The spacing along, length / layers, is ratio times that across, sqrt(area * layers / n).
        let mut layers = 1u32;
        while f64::from(layers + 1) * f64::from(layers + 1) * f64::from(layers + 1) * area * ratio * ratio
            <= length * length * n
        {
            layers += 1;
        }
        let across = (area * f64::from(layers) / n).sqrt();
        Grain { axis, start, spacing: length / f64::from(layers), layers, across }
    }

    fn in_layer(&self, i: usize, rng: &mut ChaCha8Rng) -> DVec3 {
        let grain = &self.grain;
        let p = self.in_box(rng);
        // A little off the layer: sides that lean a bit read as splinters. Much would lose the grain.
        let off = (random_unit(rng) - 0.5) * 0.5 * grain.across;
        let layer = f64::from(i as u32 % grain.layers) + 0.5;
        p + grain.axis * (grain.start + layer * grain.spacing + off - p.dot(grain.axis))
    }
}

/// Draws up to 64 times until `accept`; else the last one that is `within`, else the first.
pub(in crate::fracture) fn drawn(
    mut draw: impl FnMut(u32) -> DVec3,
    within: impl Fn(DVec3) -> bool,
    accept: &dyn Fn(DVec3) -> bool,
) -> DVec3 {
    let mut best = DVec3::NAN;
    for attempt in 0..64 {
        let p = draw(attempt);
        let inside = within(p);
        // A seed within the bounds is the next best to one near the object.
        if inside || attempt == 0 {
            best = p;
        }
        if accept(p) {
            return p;
        }
    }
    best
}

/// Deals the seeds to the spheres in turn, the innermost first; with counts, until each has its own.
fn dealt(params: &FractureParams) -> Vec<(usize, u32)> {
    let seeds = params.seed_count();
    let spheres = params.radii.len().max(1);
    if params.counts.is_empty() {
        return (0..seeds as usize).map(|i| (i % spheres, (i / spheres) as u32)).collect();
    }
    let rounds = params.counts.iter().copied().max().unwrap_or(0);
    (0..rounds)
        .flat_map(|round| {
            let counts = params.counts.iter().enumerate();
            counts.filter(move |(_, count)| round < **count).map(move |(sphere, _)| (sphere, round))
        })
        .collect()
}

/// Cosine and sine of the `number`th angle of van der Corput's sequence: 0, 1/2, 1/4, 3/4, 1/8, ... of a turn.
fn turn(number: u32) -> [f64; 2] {
    let mut sum = [1.0, 0.0];
    // Cosine and sine of 1/2, 1/4, 1/8 ... of a turn, by halving the angle.
    let mut part = [-1.0f64, 0.0f64];
    for bit in 0..16 {
        if number >> bit & 1 == 1 {
            sum = [sum[0] * part[0] - sum[1] * part[1], sum[0] * part[1] + sum[1] * part[0]];
        }
        part = if bit == 0 {
            [0.0, 1.0]
        } else {
            let c = ((1.0 + part[0]) / 2.0).sqrt();
            [c, part[1] / (2.0 * c)]
        };
    }
    sum
}

/// Uniform in [0, 1).
pub(super) fn random_unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A uniform unit vector, by rejection from the cube.
pub(super) fn random_direction(rng: &mut ChaCha8Rng) -> DVec3 {
    let mut coordinate = || (rng.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    loop {
        let v = DVec3::new(coordinate(), coordinate(), coordinate());
        let squared = v.length_squared();
        if squared > 1e-6 && squared <= 1.0 {
            return v / squared.sqrt();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_on_the_circle_and_halve_the_gaps() {
        for (number, part) in [(0, 0.0), (1, 0.5), (2, 0.25), (3, 0.75), (4, 0.125), (7, 0.875), (13, 0.6875)]
        {
            let angle = std::f64::consts::TAU * part;
            let [c, s] = turn(number);
            assert!((c - angle.cos()).abs() < 1e-12 && (s - angle.sin()).abs() < 1e-12, "{number}: {c} {s}");
        }
    }

    #[test]
    fn counts_are_dealt_in_turn_until_each_sphere_has_its_own() {
        let params = FractureParams {
            counts: vec![1, 3, 0, 2],
            radii: vec![0.1, 0.2, 0.3, 0.4],
            ..FractureParams::default()
        };
        assert_eq!(dealt(&params), [(0, 0), (1, 0), (3, 0), (1, 1), (3, 1), (1, 2)]);
    }
}
