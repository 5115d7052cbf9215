//! Dark lines where two pieces of one object lie together.
//!
//! Two pixels belong to surfaces that go on in each other if each point lies within a pixel or so of the other's
//! tangent plane, unless both form a corner that opens towards the eye. A straight border has three of a pixel's eight
//! neighbours beyond it, and the line covers half of its width on either side of the border: three such neighbours give
//! a cover of half the width. A pixel without any such neighbour shows what lies behind a gap if neighbours opposite
//! each other go on in each other and face the same way; it gets the line of both sides. A line of more than two pixels
//! reaches into the next pixel. Borders round the pixel make the line fainter, the more of them there are.

use glam::{DVec2, DVec3};

use super::{FLOOR, SKY, ahead, centre_of, smoothstep, through};
use crate::{surfaces::HitData, svo::unpack_normal, tables::FrameData};

/// What lines are drawn from.
pub struct Picture<'a> {
    pub frame: &'a FrameData,
    pub hits: &'a [HitData],
    /// Of which object each body is a piece.
    pub objects: &'a [u32],
}

impl Picture<'_> {
    /// Share of its light that a pixel keeps.
    pub fn light(&self, at: [u32; 2]) -> f64 {
        let width = f64::from(self.frame.hairline);
        if width == 0.0 {
            return 1.0;
        }
        let beside = self.neighbours(1).map(|step| self.border(at, [0, 0], step, 1.0)).sum::<f64>();
        let pairs = [[1, 0], [1, 1], [0, 1], [-1, 1]];
        let through = pairs.map(|[x, y]| self.border(at, [-x, -y], [x, y], 2.0)).into_iter().sum::<f64>();
        let through = through * (1.0 - beside).max(0.0);
        let lines = beside.min(3.0) / 3.0 + 2.0 * through.min(3.0) / 3.0;
        let mut cover = (width / 2.0 * lines).min(1.0);
        if width > 2.0 {
            let outer = self.neighbours(2).map(|step| self.border(at, [0, 0], step, 2.0)).sum::<f64>();
            cover = cover.max((width / 2.0 - 1.0) * (outer / 5.0).min(1.0));
        }
        1.0 - 0.75 * cover * (1.0 - smoothstep(3.0, 6.0, self.borders_around(at)))
    }

    /// The steps to all pixels of a square ring.
    fn neighbours(&self, reach: i32) -> impl Iterator<Item = [i32; 2]> + use<> {
        let all = move || -reach..=reach;
        let steps = all().flat_map(move |x| all().map(move |y| [x, y]));
        steps.filter(move |[x, y]| x.abs().max(y.abs()) == reach)
    }

    /// How much the surfaces of two pieces go on in each other, `reach` pixels apart.
    fn border(&self, at: [u32; 2], one: [i32; 2], other: [i32; 2], reach: f64) -> f64 {
        let (Some((a, at_a)), Some((b, at_b))) = (self.step(at, one), self.step(at, other)) else {
            return 0.0;
        };
        let is_piece = |hit: &HitData| hit.body != SKY && hit.body != FLOOR;
        if a.body == b.body || !is_piece(a) || !is_piece(b) {
            return 0.0;
        }
        if self.objects[a.body as usize] != self.objects[b.body as usize] {
            return 0.0;
        }
        let (from, to) = (self.point(a, at_a), self.point(b, at_b));
        let [n, m] = [a, b].map(|hit| unpack_normal(hit.normal).as_dvec3());
        let pixel = f64::from(self.frame.pixel_cone) * from.dot(ahead(self.frame));
        // In units in which 1 is still close.
        let way = (to - from) / (pixel * (1.0 + reach) / 2.0);
        let (over_a, over_b) = (way.dot(n), -way.dot(m));
        let corner = smoothstep(0.0, 0.2, over_a + over_b) * (1.0 - smoothstep(0.2, 0.6, n.dot(m)));
        let alike = if one == [0, 0] { 1.0 } else { smoothstep(0.0, 0.5, n.dot(m)) };
        (1.0 - smoothstep(1.0, 2.0, over_a.abs().max(over_b.abs()))) * (1.0 - corner) * alike
    }

    /// A pixel that is a step away, if it is in the picture.
    fn step(&self, at: [u32; 2], step: [i32; 2]) -> Option<(&HitData, DVec2)> {
        let [width, height] = self.frame.size;
        let (x, y) = (at[0].checked_add_signed(step[0])?, at[1].checked_add_signed(step[1])?);
        (x < width && y < height).then(|| (&self.hits[(y * width + x) as usize], centre_of([x, y])))
    }

    /// What a pixel shows, seen from the eye.
    fn point(&self, hit: &HitData, place: DVec2) -> DVec3 {
        through(self.frame, place).normalize() * f64::from(hit.distance)
    }

    /// How often the body changes on the way round an octagon; at the picture's rim it is squeezed into it.
    fn borders_around(&self, at: [u32; 2]) -> f64 {
        let far = f64::from(self.frame.hairline_reach);
        let slant = (0.75 * far + 0.5).floor();
        let bodies: Vec<u32> = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]]
            .map(|[x, y]: [i32; 2]| {
                let length = if x * y == 0 { far } else { slant } as i32;
                let place = |k: usize, step: i32| {
                    (at[k] as i32 + step * length).clamp(0, self.frame.size[k] as i32 - 1) as u32
                };
                self.hits[(place(1, y) * self.frame.size[0] + place(0, x)) as usize].body
            })
            .into();
        let next = bodies.iter().cycle().skip(1);
        bodies.iter().zip(next).filter(|(a, b)| a != b).count() as f64
    }
}
