//! Cracks that a picture draws: closed lines part the object, as seen along the blow, into prisms.
//!
//! In: an encoded picture; where the blow goes and the object's bounds. Out: pairs of seeds that mirror each other in the
//! lines, all in one plane square to the blow. The seeds on both sides of a line belong to the areas there, so that an area
//! is one body and its outline is the line.

use std::{collections::BTreeMap, fmt, sync::Arc};

use glam::{DVec2, DVec3};
use image::{DynamicImage, ImageReader, Limits};

use super::Pattern;
use crate::{
    fracture::{CutterMesh, Impact, MAX_SEEDS, PatternError},
    geometry::{Aabb, UnionFind},
};

/// Larger pictures are reduced to this many pixels on their longer side.
const SIDE: usize = 1024;
/// Longest side of a picture that is read, and bytes that its pixels may take.
const MOST_PIXELS: (u32, u64) = (16_384, 1 << 30);
/// Pairs of seeds are spread along the lines as densely as this number allows.
const PAIRS: usize = 1500;
/// Least distance of pairs along a line, pixels.
const LEAST_SPACING: f64 = 4.0;
/// An area of less than this share of the picture is no area.
const SPECK: f64 = 2e-5;
/// Distance of a seed from its line, as a share of the distance of pairs: within 1/8 of the latter the crack is the line.
const OFFSET: f64 = 0.5;

/// Seeds that somebody gives, in place of a pattern's.
#[derive(Clone, Debug, PartialEq)]
pub enum SeedSource {
    /// At these places, each a body of its own.
    Points(Vec<DVec3>),
    /// At these places, with the object ids of [`Pattern::objects`]: the cells of another pattern.
    Cells(Vec<DVec3>, Vec<u32>),
    /// Along the lines of a picture.
    Picture(Arc<CrackPicture>),
    /// No seeds, but a closed mesh, for the method that cuts by it.
    Cutter(Arc<CutterMesh>),
}

impl SeedSource {
    /// The same, with other coordinates.
    #[must_use]
    pub fn placed(&self, place: impl Fn(DVec3) -> DVec3) -> Self {
        let all = |points: &[DVec3]| points.iter().map(|point| place(*point)).collect::<Vec<_>>();
        match self {
            Self::Points(points) => Self::Points(all(points)),
            Self::Cells(points, objects) => Self::Cells(all(points), objects.clone()),
            Self::Picture(picture) => Self::Picture(Arc::clone(picture)),
            Self::Cutter(mesh) => Self::Cutter(Arc::new(mesh.placed(place))),
        }
    }

    /// Number of seeds.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Points(points) | Self::Cells(points, _) => points.len() as u32,
            Self::Picture(picture) => picture.seeds.len() as u32,
            Self::Cutter(_) => 0,
        }
    }

    /// The seeds for a blow on an object with these `bounds`; all in grid coordinates (voxels) of a grid of `level`.
    ///
    /// # Errors
    /// See [`Pattern::from_file_points`].
    pub(super) fn pattern(&self, impact: Impact, bounds: Aabb, level: u32) -> Result<Pattern, PatternError> {
        match self {
            Self::Points(points) => Pattern::from_file_points(points, level),
            Self::Cells(points, objects) => {
                let pattern = Pattern { objects: objects.clone(), ..Pattern::from_points(points, level)? };
                if pattern.objects_are_sound() {
                    return Ok(pattern);
                }
                let text = "every seed needs an object id: the index of the first seed of its body";
                Err(PatternError::Bad(text.into()))
            }
            Self::Picture(picture) => picture.pattern(impact, bounds, level),
            Self::Cutter(_) => {
                let text = "the file of seeds is a mesh, which has no seeds; take the method cutter, which cuts by it";
                Err(PatternError::Bad(text.into()))
            }
        }
    }
}

impl From<Vec<DVec3>> for SeedSource {
    fn from(points: Vec<DVec3>) -> Self {
        Self::Points(points)
    }
}

/// The areas of a picture of cracks, as seeds.
#[derive(Clone, PartialEq)]
pub struct CrackPicture {
    /// From the picture's upper left corner, 0 to 1 to the right and down.
    seeds: Vec<DVec2>,
    /// The first seed of the area that each lies in.
    areas: Vec<u32>,
}

impl fmt::Debug for CrackPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CrackPicture of {} areas by {} seeds", self.areas(), self.seeds.len())
    }
}

impl CrackPicture {
    /// Reads a PNG, JPEG, BMP or WebP. Dark lines are cracks; light ones where most of the picture is dark. Transparent pixels
    /// are light. A line that does not part two areas is no crack.
    ///
    /// # Errors
    /// One line that says what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let cannot = |why: String| format!("the picture cannot be read: {why}");
        let mut reader = ImageReader::new(std::io::Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|e| cannot(e.to_string()))?;
        let mut limits = Limits::default();
        (limits.max_image_width, limits.max_image_height) = (Some(MOST_PIXELS.0), Some(MOST_PIXELS.0));
        limits.max_alloc = Some(MOST_PIXELS.1);
        reader.limits(limits);
        let picture = reader.decode().map_err(|e| cannot(e.to_string()))?;
        Self::of(&Lines::of(&picture))
    }

    /// Number of areas, each one body of a solid object.
    #[must_use]
    pub fn areas(&self) -> usize {
        (0u32..).zip(&self.areas).filter(|(seed, area)| seed == *area).count()
    }

    fn of(lines: &Lines) -> Result<Self, String> {
        let areas = Areas::of(lines);
        let border = areas.border();
        if border.is_empty() {
            return Err(
                "the picture has no line that parts two areas; draw closed lines, or lines from edge to \
                        edge, dark on light"
                    .into(),
            );
        }
        let mut spacing = LEAST_SPACING;
        let mut pairs = areas.pairs(&border, spacing);
        while pairs.len() > PAIRS.min(MAX_SEEDS as usize / 2) {
            spacing *= 1.25;
            pairs = areas.pairs(&border, spacing);
        }
        let size = DVec2::new(lines.width as f64, lines.height as f64);
        let (mut seeds, mut first, mut of_seed) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (place, area) in pairs.into_iter().flatten() {
            of_seed.push(*first.entry(area).or_insert(seeds.len() as u32));
            seeds.push(place / size);
        }
        if first.len() < 2 {
            return Err("the areas of the picture are too small to be pieces; draw fewer lines".into());
        }
        Ok(Self { seeds, areas: of_seed })
    }

    /// The seeds in the plane through the middle of `bounds` that is square to the blow. The picture fills the outline of the
    /// bounds as seen along the blow, with up at its top.
    fn pattern(&self, impact: Impact, bounds: Aabb, level: u32) -> Result<Pattern, PatternError> {
        let forward = impact.direction.normalize_or(DVec3::NEG_Z);
        let above = if forward.y.abs() < 0.99 { DVec3::Y } else { DVec3::NEG_Z * -forward.y.signum() };
        let right = forward.cross(above).normalize_or(DVec3::X);
        let up = right.cross(forward);
        let [across, high] = [right, up].map(|axis| (axis.abs() * bounds.size()).element_sum());
        let place = |at: &DVec2| bounds.middle() + right * (at.x - 0.5) * across + up * (0.5 - at.y) * high;
        let points: Vec<DVec3> = self.seeds.iter().map(place).collect();
        Ok(Pattern { objects: self.areas.clone(), ..Pattern::from_points(&points, level)? })
    }
}

/// Which pixels are lines, row by row from the top.
struct Lines {
    width: usize,
    height: usize,
    is_line: Vec<bool>,
}

impl Lines {
    fn of(picture: &DynamicImage) -> Self {
        let picture = picture.to_luma_alpha8();
        let [full_width, full_height] = [picture.width() as usize, picture.height() as usize];
        let shrink = full_width.max(full_height).div_ceil(SIDE).max(1);
        let (width, height) = (full_width.div_ceil(shrink), full_height.div_ceil(shrink));
        let is_dark = |pixel: &image::LumaA<u8>| {
            let [luma, alpha] = pixel.0.map(u32::from);
            luma * alpha + 255 * (255 - alpha) < 128 * 255
        };
        let dark = picture.pixels().filter(|pixel| is_dark(pixel)).count();
        let lines_are_dark = 2 * dark <= full_width * full_height;
        // A pixel of the smaller picture is a line where any of its own is one: thin lines stay closed.
        let mut is_line = vec![false; width * height];
        for (x, y, pixel) in picture.enumerate_pixels() {
            is_line[y as usize / shrink * width + x as usize / shrink] |= is_dark(pixel) == lines_are_dark;
        }
        Self { width, height, is_line }
    }
}

/// Which area every pixel belongs to; those of lines to the nearest.
struct Areas {
    width: usize,
    height: usize,
    of: Vec<u32>,
}

/// Where two areas meet: the middle of the edge between two pixels, and the two areas.
type Border = (DVec2, [u32; 2]);

impl Areas {
    fn of(lines: &Lines) -> Self {
        let (width, height) = (lines.width, lines.height);
        let mut sets = UnionFind::new(width * height);
        for at in (0..width * height).filter(|at| !lines.is_line[*at]) {
            if at % width + 1 < width && !lines.is_line[at + 1] {
                sets.join(at as u32, at as u32 + 1);
            }
            if at + width < width * height && !lines.is_line[at + width] {
                sets.join(at as u32, (at + width) as u32);
            }
        }
        let root: Vec<u32> = (0..(width * height) as u32).map(|at| sets.find(at)).collect();
        let mut pixels = vec![0u32; width * height];
        root.iter().for_each(|root| pixels[*root as usize] += 1);
        let least = (SPECK * (width * height) as f64).max(2.0);
        let is_area = |at: usize| !lines.is_line[at] && f64::from(pixels[root[at] as usize]) >= least;
        let nearest = nearest(width, height, is_area);
        let of = nearest.into_iter().map(|at| at.map_or(u32::MAX, |at| root[at])).collect();
        Self { width, height, of }
    }

    /// Edges between pixels of two areas, row by row.
    fn border(&self) -> Vec<Border> {
        let mut found = Vec::new();
        for at in 0..self.of.len() {
            let (x, y) = ((at % self.width) as f64, (at / self.width) as f64);
            let mut look = |next: usize, middle: DVec2| {
                if self.of[at] != self.of[next] {
                    found.push((middle, [self.of[at], self.of[next]]));
                }
            };
            if at % self.width + 1 < self.width {
                look(at + 1, DVec2::new(x + 1.0, y + 0.5));
            }
            if at + self.width < self.of.len() {
                look(at + self.width, DVec2::new(x + 0.5, y + 1.0));
            }
        }
        found
    }

    fn at(&self, place: DVec2) -> Option<u32> {
        let inside =
            place.cmpge(DVec2::ZERO).all() && place.x < self.width as f64 && place.y < self.height as f64;
        inside.then(|| self.of[place.y as usize * self.width + place.x as usize])
    }

    /// Pairs of places that mirror each other in the border, each with its area; no two pairs of the same two areas are nearer
    /// to each other than `spacing`, pixels.
    fn pairs(&self, border: &[Border], spacing: f64) -> Vec<[(DVec2, u32); 2]> {
        let mut taken: BTreeMap<(i64, i64), Vec<Border>> = BTreeMap::new();
        let square = |place: DVec2| ((place.x / spacing).floor() as i64, (place.y / spacing).floor() as i64);
        let mut pairs = Vec::new();
        for (middle, [a, b]) in border {
            let areas = [*a.min(b), *a.max(b)];
            let (column, row) = square(*middle);
            let around = (-1..=1).flat_map(|i| (-1..=1).map(move |k| (column + i, row + k)));
            let is_near = |(other, of): &Border| *of == areas && other.distance(*middle) < spacing;
            if around.filter_map(|square| taken.get(&square)).flatten().any(is_near) {
                continue;
            }
            taken.entry((column, row)).or_default().push((*middle, areas));
            pairs.extend(self.pair(*middle, areas, spacing));
        }
        pairs
    }

    /// A pair for a border at `middle`; `None` where the two areas are too narrow there.
    fn pair(&self, middle: DVec2, [a, b]: [u32; 2], spacing: f64) -> Option<[(DVec2, u32); 2]> {
        // Pixels of both areas within a disc tell how the border lies: their middles lie on both sides of it, and their
        // numbers tell how far it is from the middle of the disc.
        let reach = spacing.max(3.0);
        let [low, high] = [middle - reach, middle + reach].map(|p| p.floor());
        let (mut sums, mut counts) = ([DVec2::ZERO; 2], [0.0; 2]);
        for y in low.y as i64..=high.y as i64 {
            for x in low.x as i64..=high.x as i64 {
                let place = DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
                let Some(area) = self.at(place).filter(|_| place.distance(middle) <= reach) else { continue };
                if let Some(side) = [a, b].iter().position(|own| *own == area) {
                    (sums[side], counts[side]) = (sums[side] + place, counts[side] + 1.0);
                }
            }
        }
        let normal = (sums[1] / counts[1] - sums[0] / counts[0]).try_normalize()?;
        let shift = ((counts[0] - counts[1]) / (4.0 * reach)).clamp(-1.0, 1.0);
        let middle = middle + normal * shift;
        [1.0, 0.5, 0.25].into_iter().map(|part| OFFSET * spacing * part).find_map(|offset| {
            let places = [middle - normal * offset, middle + normal * offset];
            let fits = self.at(places[0]) == Some(a) && self.at(places[1]) == Some(b);
            fits.then(|| [(places[0], a), (places[1], b)])
        })
    }
}

/// The nearest of the pixels that are sources, for every pixel; `None` if there is none. By two sweeps that hand offsets on
/// (Danielsson 1980): exact but for a fraction of a pixel.
fn nearest(width: usize, height: usize, is_source: impl Fn(usize) -> bool) -> Vec<Option<usize>> {
    let mut of: Vec<Option<usize>> = (0..width * height).map(|at| is_source(at).then_some(at)).collect();
    let distance = |at: usize, source: usize| {
        let [dx, dy] = [(at % width).abs_diff(source % width), (at / width).abs_diff(source / width)];
        dx * dx + dy * dy
    };
    let pull = |of: &mut Vec<Option<usize>>, at: usize, from: usize| {
        if let Some(source) = of[from]
            && of[at].is_none_or(|own| distance(at, source) < distance(at, own))
        {
            of[at] = Some(source);
        }
    };
    for down in [true, false] {
        for row in 0..height {
            let y = if down { row } else { height - 1 - row };
            if row > 0 {
                let before = if down { y - 1 } else { y + 1 };
                for x in 0..width {
                    for other in x.saturating_sub(1)..(x + 2).min(width) {
                        pull(&mut of, y * width + x, before * width + other);
                    }
                }
            }
            for x in 1..width {
                pull(&mut of, y * width + x, y * width + x - 1);
            }
            for x in (1..width).rev() {
                pull(&mut of, y * width + x - 1, y * width + x);
            }
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::UNIT_BITS;

    /// Whether a place (0 to 1, from the upper left) lies on a line.
    fn drawn(size: [usize; 2], is_line: impl Fn(DVec2) -> bool) -> Lines {
        let [width, height] = size;
        let place =
            |at: usize| DVec2::new((at % width) as f64 + 0.5, (at / width) as f64 + 0.5) / size_of(size);
        Lines { width, height, is_line: (0..width * height).map(|at| is_line(place(at))).collect() }
    }

    fn size_of([width, height]: [usize; 2]) -> DVec2 {
        DVec2::new(width as f64, height as f64)
    }

    /// The nearest seed's area, as the Voronoi cells of the pattern have it.
    fn area_at(picture: &CrackPicture, place: DVec2) -> u32 {
        let nearest = (0..picture.seeds.len())
            .min_by(|i, k| picture.seeds[*i].distance(place).total_cmp(&picture.seeds[*k].distance(place)));
        picture.areas[nearest.unwrap()]
    }

    #[test]
    fn a_circle_and_a_slanted_line_are_the_outlines_of_four_areas() {
        let size = [400, 400];
        let (centre, radius) = (DVec2::new(0.55, 0.45), 0.3);
        let above = |p: DVec2| p.y - 0.35 * p.x - 0.3;
        let is_line = |p: DVec2| (p.distance(centre) - radius).abs() < 0.008 || above(p).abs() < 0.008;
        let picture = CrackPicture::of(&drawn(size, is_line)).unwrap();
        assert_eq!(picture.areas(), 4);
        assert!(picture.seeds.len() <= 2 * PAIRS && picture.seeds.len() > 200, "{picture:?}");
        let side = |p: DVec2| (p.distance(centre) < radius, above(p) < 0.0);
        let mut areas: BTreeMap<(bool, bool), BTreeMap<u32, usize>> = BTreeMap::new();
        let mut near = 0;
        for k in 0..200 * 200 {
            let place = DVec2::new((k % 200) as f64 + 0.5, (k / 200) as f64 + 0.5) / 200.0;
            let off = (place.distance(centre) - radius).abs().min(above(place).abs());
            // Half a pixel and less than a tenth of the distance of pairs.
            if off < 0.004 {
                near += 1;
                continue;
            }
            *areas.entry(side(place)).or_default().entry(area_at(&picture, place)).or_default() += 1;
        }
        assert!(near < 1200);
        assert_eq!(areas.len(), 4);
        for (side, found) in &areas {
            let [all, most] = [found.values().sum::<usize>(), *found.values().max().unwrap()];
            assert!(all - most <= all / 200, "{side:?}: {found:?}");
        }
        let own: std::collections::BTreeSet<u32> =
            areas.values().map(|found| *found.iter().max_by_key(|(_, count)| **count).unwrap().0).collect();
        assert_eq!(own.len(), 4, "each side is an area of its own");
    }

    #[test]
    fn open_lines_specks_and_blank_paper_part_nothing() {
        let open = drawn([100, 100], |p| (p.x - 0.5).abs() < 0.02 && p.y < 0.6);
        assert!(CrackPicture::of(&open).unwrap_err().contains("closed lines"));
        let speck = drawn([400, 400], |p| (p.distance(DVec2::splat(0.5)) - 0.004).abs() < 0.003);
        assert!(CrackPicture::of(&speck).is_err());
        assert!(CrackPicture::of(&drawn([50, 50], |_| false)).is_err());
        assert!(CrackPicture::of(&drawn([50, 50], |_| true)).is_err());
        assert!(CrackPicture::of(&drawn([1, 1], |_| false)).is_err());
        assert!(CrackPicture::decode(b"not a picture").unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn light_lines_on_dark_and_large_pictures_are_the_same_lines() {
        let encoded = |side: u32, ground: u8, line: u8| {
            let picture = image::GrayImage::from_fn(side, side, |x, _| {
                image::Luma([if x == side / 4 { line } else { ground }])
            });
            let mut bytes = Vec::new();
            picture.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
            CrackPicture::decode(&bytes).unwrap()
        };
        let dark = encoded(200, 255, 0);
        assert_eq!(dark, encoded(200, 20, 240));
        let large = encoded(3000, 255, 0);
        for picture in [&dark, &large] {
            assert_eq!(picture.areas(), 2);
            for (place, side) in [(0.23, 0), (0.27, 1)] {
                let area = area_at(picture, DVec2::new(place, 0.5));
                assert_eq!(area, area_at(picture, DVec2::new(f64::from(side), 0.9)));
            }
        }
    }

    /// Along the blow: the picture's right is the right of somebody who looks along it, and its top is up.
    #[test]
    fn the_picture_is_seen_along_the_blow() {
        // The upper left quarter is an area of its own.
        let corner =
            |p: DVec2| (p.x < 0.5 && (p.y - 0.5).abs() < 0.01) || (p.y < 0.5 && (p.x - 0.5).abs() < 0.01);
        let picture = CrackPicture::of(&drawn([200, 200], corner)).unwrap();
        let bounds = Aabb::new(DVec3::new(8.0, 16.0, 24.0), DVec3::new(56.0, 48.0, 40.0));
        let unit = f64::from(1u32 << (UNIT_BITS - 6));
        let area_at = |direction: DVec3, place: DVec3| {
            let impact = Impact { point: bounds.middle(), direction };
            let pattern = picture.pattern(impact, bounds, 6).unwrap();
            assert!(pattern.objects_are_sound());
            let distance = |seed: &usize| {
                (DVec3::from_array(pattern.seeds[*seed].map(f64::from)) / unit).distance_squared(place)
            };
            let nearest = (0..pattern.seeds.len()).min_by(|i, k| distance(i).total_cmp(&distance(k)));
            pattern.objects[nearest.unwrap()]
        };
        let (low, high, middle) = (bounds.low, bounds.high, bounds.middle());
        // Seen along -z, x is to the right; along z, to the left. From above, -z is up.
        for (direction, upper_left, other) in [
            (DVec3::NEG_Z, DVec3::new(low.x, high.y, middle.z), DVec3::new(high.x, high.y, middle.z)),
            (DVec3::Z, DVec3::new(high.x, high.y, low.z), DVec3::new(low.x, high.y, middle.z)),
            (DVec3::NEG_Y, DVec3::new(low.x, low.y, low.z), DVec3::new(low.x, high.y, high.z)),
            (DVec3::NEG_X, DVec3::new(low.x, high.y, high.z), DVec3::new(low.x, high.y, low.z)),
        ] {
            let own = area_at(direction, upper_left);
            assert_ne!(own, area_at(direction, other), "{direction}");
            // Prisms: the depth does not matter.
            assert_eq!(own, area_at(direction, upper_left + 5.0 * direction), "{direction}");
            let lower_right = 2.0 * middle - upper_left;
            assert_eq!(area_at(direction, other), area_at(direction, lower_right), "{direction}");
        }
    }
}
