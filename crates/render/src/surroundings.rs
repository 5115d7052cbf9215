//! A picture of all directions: what lies behind a scene, what is mirrored in it, and the diffuse light that comes of it.
//!
//! In: the bytes of an equirectangular picture. Out: its light as words, at most 2048 across; a coarse copy, which blurred
//! mirrors show; nine coefficients of the light on matt surfaces (Ramamoorthi & Hanrahan 2001, "An efficient
//! representation for irradiance environment maps").
//!
//! The picture's middle lies towards -z, its right half towards +x, its top row towards +y.

use std::{borrow::Cow, fmt, io::Cursor};

use image::{DynamicImage, ImageFormat, ImageReader, Limits};

use crate::geometry::srgb;

/// Most texels across; a larger picture is made smaller, so that one takes 8 MiB at most.
const WIDEST: u32 = 2048;
/// Most texels of the coarse copy, across and down.
const COARSE: [u32; 2] = [64, 32];
/// Most pixels of a file: 8192 x 4096.
const MOST_PIXELS: u64 = 1 << 25;
/// Most memory that decoding takes, bytes.
const MOST_MEMORY: u64 = 512 << 20;
/// Brightest channel: 511/512 of 2^16.
const BRIGHTEST: f32 = 65408.0;
/// Words before the texels on a device.
pub(super) const HEAD: usize = 36;

/// Light, linear.
type Rgb = [f32; 3];

/// A picture of all directions.
pub struct Surroundings {
    size: [u32; 2],
    /// Rows from the top; [`packed`].
    texels: Vec<u32>,
    coarse_size: [u32; 2],
    coarse: Vec<u32>,
    /// Of the [`products`] of a normal's coordinates.
    diffuse: [Rgb; 9],
    /// Of size and texels.
    hash: u64,
}

impl Surroundings {
    /// Decodes a Radiance, PNG or JPEG file.
    ///
    /// # Errors
    /// The end of a sentence about the file, with what to do.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        // Older writers' name of the same format.
        let bytes = match bytes.strip_prefix(b"#?RGBE") {
            Some(rest) => Cow::Owned([&b"#?RADIANCE"[..], rest].concat()),
            None => Cow::Borrowed(bytes),
        };
        let wanted = "give an equirectangular picture as .hdr, .png or .jpg";
        let open = || ImageReader::new(Cursor::new(&*bytes)).with_guessed_format();
        let sized = open().map_err(|why| format!("cannot be read ({why}); {wanted}"))?;
        if !matches!(sized.format(), Some(ImageFormat::Hdr | ImageFormat::Png | ImageFormat::Jpeg)) {
            return Err(format!("is no picture of a known kind; {wanted}"));
        }
        let damaged = |why: image::ImageError| format!("is damaged ({why}); {wanted}");
        let size: [u32; 2] = sized.into_dimensions().map_err(damaged)?.into();
        check_size(size)?;
        let mut reader = open().map_err(|why| format!("cannot be read ({why}); {wanted}"))?;
        let mut limits = Limits::default();
        limits.max_alloc = Some(MOST_MEMORY);
        reader.limits(limits);
        Ok(match reader.decode().map_err(damaged)? {
            DynamicImage::ImageRgb32F(picture) => Self::new(size, |x, y| picture.get_pixel(x, y).0),
            other => {
                let (picture, linear) = (other.into_rgb8(), srgb::linear_of_bytes());
                Self::new(size, |x, y| picture.get_pixel(x, y).0.map(|byte| linear[usize::from(byte)]))
            }
        })
    }

    /// A picture of this size, at least one texel, with the linear light of each of its pixels, the first row the top one.
    /// What is negative or no number counts as black.
    #[must_use]
    pub fn new(size: [u32; 2], light: impl Fn(u32, u32) -> Rgb) -> Self {
        let size = size.map(|side| side.max(1));
        let rows = u64::from(size[1]) * u64::from(WIDEST) / u64::from(size[0]);
        let fine = if size[0] <= WIDEST { size } else { [WIDEST, (rows as u32).max(1)] };
        let texels: Vec<u32> = reduced(size, fine, light);
        let stored = |x: u32, y: u32| unpacked(texels[(y * fine[0] + x) as usize]);
        let coarse_size = [0, 1].map(|k| fine[k].min(COARSE[k]));
        let coarse = reduced(fine, coarse_size, stored);
        let diffuse = diffuse_of(fine, stored);
        let words = fine.iter().chain(&texels);
        let hash = words.fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| {
            (hash ^ u64::from(*word)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { size: fine, texels, coarse_size, coarse, diffuse, hash }
    }

    /// Texels across and down.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The light from a direction, unit.
    pub(super) fn light(&self, direction: [f32; 3]) -> Rgb {
        mixed(&self.texels, self.size, direction)
    }

    /// The same, blurred.
    pub(super) fn blurred(&self, direction: [f32; 3]) -> Rgb {
        mixed(&self.coarse, self.coarse_size, direction)
    }

    /// What a white matt surface with this normal, unit, reflects of it.
    pub(super) fn diffuse(&self, normal: [f32; 3]) -> Rgb {
        let mut sum = [0.0f32; 3];
        for (factor, product) in self.diffuse.iter().zip(products(normal)) {
            for (sum, factor) in sum.iter_mut().zip(factor) {
                *sum += factor * product;
            }
        }
        sum.map(|channel| channel.max(0.0))
    }

    /// Number of words on a device.
    pub(super) fn words(&self) -> usize {
        HEAD + self.coarse.len() + self.texels.len()
    }

    /// The words behind the head: the coarse copy, then the picture.
    pub(super) fn lists(&self) -> [&[u32]; 2] {
        [&self.coarse, &self.texels]
    }

    /// The head: sizes, then `placed` (cosine and sine of its turn, its brightness), then coefficients.
    pub(super) fn head(&self, placed: [f32; 3]) -> [u32; HEAD] {
        let mut head = [0; HEAD];
        head[..2].copy_from_slice(&self.size);
        head[2..4].copy_from_slice(&self.coarse_size);
        let numbers = placed.iter().chain(self.diffuse.as_flattened());
        for (word, number) in head[4..].iter_mut().zip(numbers) {
            *word = number.to_bits();
        }
        head
    }
}

/// By size and hash: two pictures of the same texels are the same.
impl PartialEq for Surroundings {
    fn eq(&self, other: &Self) -> bool {
        (self.size, self.hash) == (other.size, other.hash)
    }
}

impl Eq for Surroundings {}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("size", &self.size).finish_non_exhaustive()
    }
}

fn check_size([width, height]: [u32; 2]) -> Result<(), String> {
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(format!(
            "has {width} x {height} pixels; at most 8192 x 4096 are read, so make it smaller"
        ));
    }
    let off = u64::from(width).abs_diff(2 * u64::from(height));
    if width == 0 || height == 0 || off > 2 + u64::from(width) / 50 {
        return Err(format!(
            "has {width} x {height} pixels; a picture of all directions is equirectangular, twice as wide as high"
        ));
    }
    Ok(())
}

/// Means over blocks of a picture, as words.
fn reduced(from: [u32; 2], to: [u32; 2], light: impl Fn(u32, u32) -> Rgb) -> Vec<u32> {
    let block = |at: u32, k: usize| {
        let edge = |at: u32| (u64::from(at) * u64::from(from[k]) / u64::from(to[k])) as u32;
        edge(at)..edge(at + 1)
    };
    let mut words = Vec::with_capacity(to[0] as usize * to[1] as usize);
    for y in 0..to[1] {
        for x in 0..to[0] {
            let (mut sum, mut count) = ([0.0f64; 3], 0.0);
            for v in block(y, 1) {
                for u in block(x, 0) {
                    for (sum, channel) in sum.iter_mut().zip(light(u, v)) {
                        *sum += f64::from(sane(channel));
                    }
                    count += 1.0;
                }
            }
            words.push(packed(sum.map(|channel| (channel / count) as f32)));
        }
    }
    words
}

fn sane(channel: f32) -> f32 {
    if channel > 0.0 { channel.min(BRIGHTEST) } else { 0.0 }
}

/// Light as a word: nine bits each of red, green and blue from the lowest on, and their exponent e, a unit being 2^(e - 24).
fn packed(light: Rgb) -> u32 {
    let light = light.map(sane);
    let peak = light[0].max(light[1]).max(light[2]);
    let unit = |exponent: i32| f32::from_bits(((exponent + 103) as u32) << 23);
    let mut exponent = ((peak.to_bits() >> 23) as i32 - 127 + 16).clamp(0, 31);
    if exponent < 31 && peak / unit(exponent) >= 511.5 {
        exponent += 1;
    }
    let [r, g, b] = light.map(|channel| ((channel / unit(exponent) + 0.5) as u32).min(511));
    r | g << 9 | b << 18 | (exponent as u32) << 27
}

fn unpacked(word: u32) -> Rgb {
    let unit = f32::from_bits(((word >> 27) + 103) << 23);
    [0, 9, 18].map(|shift| (word >> shift & 511) as f32 * unit)
}

/// Polynomials of second degree of a direction, on which diffuse light depends.
fn products<T>([x, y, z]: [T; 3]) -> [T; 9]
where
    T: Copy + From<u8> + std::ops::Mul<Output = T> + std::ops::Sub<Output = T>,
{
    let (one, three) = (T::from(1u8), T::from(3u8));
    [one, y, z, x, x * y, y * z, three * z * z - one, x * z, x * x - y * y]
}

/// Share of each product in the light that a white matt surface reflects: pi times the cosine's factor (1, 2/3, 1/4 by degree) times
/// the square of what makes the product a spherical harmonic of norm 1.
const SHARES: [f64; 9] = [
    1.0 / 4.0,
    1.0 / 2.0,
    1.0 / 2.0,
    1.0 / 2.0,
    15.0 / 16.0,
    15.0 / 16.0,
    5.0 / 64.0,
    15.0 / 16.0,
    15.0 / 64.0,
];

/// Coefficients of the diffuse light of a picture.
fn diffuse_of([width, height]: [u32; 2], light: impl Fn(u32, u32) -> Rgb) -> [Rgb; 9] {
    use std::f64::consts::{PI, TAU};
    let columns: Vec<(f64, f64)> =
        (0..width).map(|x| libm::sincos(TAU * ((f64::from(x) + 0.5) / f64::from(width) - 0.5))).collect();
    let mut sums = [[0.0f64; 3]; 9];
    for y in 0..height {
        let edge = |y: u32| libm::cos(PI * f64::from(y) / f64::from(height));
        let (round, up) = libm::sincos(PI * (f64::from(y) + 0.5) / f64::from(height));
        // Solid angle of a texel of this row.
        let angle = (edge(y) - edge(y + 1)) * TAU / f64::from(width);
        for (x, (sin, cos)) in (0..width).zip(&columns) {
            let light = light(x, y).map(|channel| f64::from(channel) * angle);
            for (sum, product) in sums.iter_mut().zip(products([round * sin, up, -round * cos])) {
                for (sum, light) in sum.iter_mut().zip(light) {
                    *sum += light * product;
                }
            }
        }
    }
    std::array::from_fn(|k| sums[k].map(|sum| (sum * SHARES[k] / PI) as f32))
}

/// Mixes the four texels nearest to a direction, unit.
fn mixed(texels: &[u32], [width, height]: [u32; 2], [x, y, z]: [f32; 3]) -> Rgb {
    let across = (0.5 + turns(x, -z)) * width as f32 - 0.5;
    let down = (0.5 - 2.0 * turns(y, (x * x + z * z).sqrt())) * height as f32 - 0.5;
    let down = down.clamp(0.0, height as f32 - 1.0);
    let (left, top) = (across.floor(), down.floor());
    let (share, share_below) = (across - left, down - top);
    let columns = [0, 1].map(|k| (left as i32 + k).rem_euclid(width as i32) as usize);
    let rows = [0, 1].map(|k| (top as usize + k).min(height as usize - 1) * width as usize);
    let [above, below] = rows.map(|row| {
        let [a, b] = columns.map(|column| unpacked(texels[row + column]));
        std::array::from_fn::<f32, 3, _>(|k| a[k] + (b[k] - a[k]) * share)
    });
    std::array::from_fn(|k| above[k] + (below[k] - above[k]) * share_below)
}

/// The angle whose tangent is t, as a share of a turn, is t times a polynomial of t^2, up to t = 1 and to 1e-7.
const TURNS: [f32; 7] = [
    0.159_154_82,
    -0.053_039_465,
    0.031_627_335,
    -0.021_402_94,
    0.013_229_986,
    -0.005_786_942_3,
    0.001_217_273_3,
];

/// The angle with this sine and cosine, times any length, as a share of a turn: -0.5 to 0.5. A device's own function may be off by
/// more, and the cores could not do the same.
fn turns(sin: f32, cos: f32) -> f32 {
    let (s, c) = (sin.abs(), cos.abs());
    let t = s.min(c) / s.max(c).max(1e-20);
    let angle = t * TURNS.iter().rev().fold(0.0f32, |sum, factor| sum * (t * t) + factor);
    let angle = if s > c { 0.25 - angle } else { angle };
    let angle = if cos < 0.0 { 0.5 - angle } else { angle };
    if sin < 0.0 { -angle } else { angle }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn light_comes_back_from_its_word() {
        for light in
            [[0.0; 3], [1.0, 0.5, 0.0], [0.9999, 1e-3, 2e-3], [65408.0, 1.0, 300.0], [1e-4, 2e-5, 0.0]]
        {
            let (back, peak) = (unpacked(packed(light)), light[0].max(light[1]).max(light[2]));
            let is_near = back.iter().zip(light).all(|(back, light)| (back - light).abs() <= peak / 500.0);
            assert!(is_near, "{light:?} came back as {back:?}");
        }
        assert_eq!(unpacked(packed([f32::NAN, -1.0, f32::INFINITY])), [0.0, 0.0, BRIGHTEST]);
    }

    #[test]
    fn angles_are_the_library_s() {
        for i in 0..=4000 {
            let (sin, cos) = libm::sincos((f64::from(i) / 4000.0 - 0.5) * std::f64::consts::TAU * 0.999_999);
            let wanted = libm::atan2(sin, cos) / std::f64::consts::TAU;
            let off = (f64::from(turns(sin as f32 * 3.0, cos as f32 * 3.0)) - wanted).abs();
            assert!(off < 4e-7, "{wanted}: off by {off}");
        }
        assert_eq!(turns(0.0, 0.0), 0.0);
    }

    /// Sums the light over the half of all directions above a surface, each times its cosine, texel by texel.
    fn brute_force(of: &Surroundings, normal: DVec3) -> [f64; 3] {
        use std::f64::consts::{PI, TAU};
        let [width, height] = of.size;
        let mut sum = [0.0f64; 3];
        for y in 0..height {
            let polar = PI * (f64::from(y) + 0.5) / f64::from(height);
            for x in 0..width {
                let azimuth = TAU * (f64::from(x) + 0.5) / f64::from(width);
                // The left edge lies at +z, and azimuths here go from there to -x.
                let to = DVec3::new(
                    -libm::sin(azimuth) * libm::sin(polar),
                    libm::cos(polar),
                    libm::cos(azimuth) * libm::sin(polar),
                );
                let angle = libm::sin(polar) * PI / f64::from(height) * TAU / f64::from(width);
                let light = unpacked(of.texels[(y * width + x) as usize]);
                for (sum, light) in sum.iter_mut().zip(light) {
                    *sum += f64::from(light) * to.dot(normal).max(0.0) * angle / PI;
                }
            }
        }
        sum
    }

    /// Red from above, green from the right, a blue window behind.
    fn room() -> Surroundings {
        Surroundings::new([96, 48], |x, y| {
            let is_window = (30..66).contains(&x) && (12..30).contains(&y);
            let right = libm::sinf((x as f32 + 0.5) / 96.0 * std::f32::consts::TAU);
            [if y < 24 { 2.0 } else { 0.1 }, (-right).max(0.0), if is_window { 3.0 } else { 0.2 }]
        })
    }

    #[test]
    fn nine_coefficients_give_the_diffuse_light_of_brute_force() {
        let even = Surroundings::new([32, 16], |_, _| [0.5, 1.0, 2.0]);
        let room = room();
        for [x, y, z] in
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-0.48, -0.6, 0.64], [0.6, 0.64, 0.48]]
        {
            let normal = [x as f32, y as f32, z as f32];
            for (channel, wanted) in even.diffuse(normal).iter().zip([0.5, 1.0, 2.0]) {
                assert!((channel - wanted).abs() < 0.01 * wanted, "{normal:?}: {channel} for {wanted}");
            }
            let (got, wanted) = (room.diffuse(normal), brute_force(&room, DVec3::new(x, y, z)));
            // The rest is what nine coefficients leave out of a window with sharp edges.
            let is_near = got.iter().zip(wanted).all(|(got, wanted)| (f64::from(*got) - wanted).abs() < 0.03);
            assert!(is_near, "{normal:?}: {got:?} for {wanted:?}");
        }
        let (up, down) = (room.diffuse([0.0, 1.0, 0.0])[0], room.diffuse([0.0, -1.0, 0.0])[0]);
        assert!(up > 1.8 && down < 0.25, "red from above: {up}, {down}");
    }

    #[test]
    fn a_direction_shows_its_place_in_the_picture() {
        // The middle's two columns are the brightest; the top row is green.
        let of = Surroundings::new([8, 4], |x, y| [x as f32, if y == 0 { 1.0 } else { 0.0 }, y as f32]);
        assert!((of.light([0.0, 0.0, -1.0])[0] - 3.5).abs() < 0.02, "the middle lies towards -z");
        assert!((of.light([1.0, 0.0, 0.0])[0] - 5.5).abs() < 0.02, "the right half lies towards +x");
        assert!((of.light([-1.0, 0.0, 0.0])[0] - 1.5).abs() < 0.02);
        assert!((of.light([0.0, 0.0, 1.0])[0] - 3.5).abs() < 0.02, "the first and the last column meet");
        assert_eq!(of.light([0.0, 1.0, 0.0])[1], 1.0, "the top row lies above");
        assert_eq!(of.light([0.0, -1.0, 0.0])[2], 3.0);
    }

    #[test]
    fn large_pictures_become_smaller_and_keep_their_light() {
        let of = Surroundings::new([4096, 2048], |x, _| [if x % 2 == 0 { 2.0 } else { 0.0 }, 1.0, 0.0]);
        assert_eq!((of.size(), of.coarse_size), ([2048, 1024], COARSE));
        assert_eq!(of.light([0.3, 0.2, -0.9]), [1.0, 1.0, 0.0]);
        assert_eq!(of.words(), HEAD + 64 * 32 + 2048 * 1024);
    }

    /// A Radiance file of four pixels by two, each of light (1, 0.5, 0), times 2^`up`.
    fn radiance(magic: &str, up: u8) -> Vec<u8> {
        let head = format!("{magic}\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 4\n").into_bytes();
        [head, [128, 64, 0, 129 + up].repeat(8)].concat()
    }

    #[test]
    fn damaged_files_end_in_an_error_or_a_picture() {
        let whole = radiance("#?RADIANCE", 0);
        for at in 0..whole.len() {
            assert!(Surroundings::decode(&whole[..at]).is_err(), "cut at byte {at}");
            for byte in [0, 2, 255, whole[at] ^ 1] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                if let Ok(read) = Surroundings::decode(&damaged) {
                    assert!(read.light([0.0, 0.0, 1.0]).iter().all(|channel| channel.is_finite()));
                }
            }
        }
    }

    #[test]
    fn radiance_and_png_are_read_and_others_are_refused_with_what_to_do() {
        for magic in ["#?RADIANCE", "#?RGBE"] {
            let light = Surroundings::decode(&radiance(magic, 3)).expect(magic).light([0.0, 0.0, 1.0]);
            assert!((light[0] - 8.0).abs() < 0.1 && (light[1] - 4.0).abs() < 0.1, "{light:?}");
        }
        let png = |width, height| {
            let mut bytes = Vec::new();
            let picture = image::RgbImage::from_pixel(width, height, image::Rgb([255, 188, 0]));
            picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
            bytes
        };
        let light = Surroundings::decode(&png(8, 4)).unwrap().light([1.0, 0.0, 0.0]);
        assert!((light[0] - 1.0).abs() < 0.01 && (light[1] - 0.503).abs() < 0.01, "{light:?}");
        let huge = radiance("#?RADIANCE", 0);
        let huge = String::from_utf8_lossy(&huge[..45]).replace("-Y 2 +X 4", "-Y 50000 +X 99999");
        for (bytes, says) in [
            (png(8, 8), "twice as wide"),
            (radiance("#?RADIANCE", 0)[..60].to_vec(), "damaged"),
            (huge.into_bytes(), "8192 x 4096"),
            (b"hello".to_vec(), ".hdr"),
            (Vec::new(), ".hdr"),
        ] {
            let refused = Surroundings::decode(&bytes).expect_err(says);
            assert!(refused.contains(says) && !refused.contains('\n'), "{refused}");
        }
    }
}
