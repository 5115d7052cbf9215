//! Legends, scale bars, lines and other pictures in picture files.
//!
//! In: a plate and its place. Out: the pixels of a picture with the plate blended over them, or elements of an SVG.

use std::fmt::Write as _;

use super::lettering::{FontError, Lettering};
use crate::scene::{Fill, Legend, Plate, scale_bar};

/// Size of an SVG's letters, and how far their base line lies below the top of the line, as shares of the line's
/// height. Common fonts without serifs fill a line of 1.1 to 1.2 times their size.
const LETTERS: f32 = 0.88;
const BASE: f32 = 0.82;

/// Measures lines of text of a height as [`stamp`] draws them, pixels: what layouts of plates ask for.
///
/// # Errors
/// [`FontError`] where the font cannot be read.
pub fn measure() -> Result<impl Fn(&str, f32) -> f32, FontError> {
    let letters = Lettering::new(1.0)?;
    Ok(move |text: &str, height: f32| letters.at(height).width(text))
}

/// Blends a plate over a picture (RGBA8 rows from the top, sRGB, straight alpha), with its left and top at the whole
/// pixel nearest to `at`. What lies beyond the picture is left out. Bytes are blended without a conversion to linear
/// light, as in the window.
///
/// # Errors
/// [`FontError`] where the font cannot be read; the picture is unchanged then.
pub fn stamp(pixels: &mut [u8], size: [u32; 2], plate: &Plate, at: [f32; 2]) -> Result<(), FontError> {
    let letters = Lettering::new(1.0)?;
    // Fills of a colour bar overlap, and edges within a pixel would add up.
    let [left, top] = at.map(f32::round);
    let mut canvas = Canvas { pixels, size: size.map(i64::from) };
    for fill in &plate.fills {
        let [x, y, width, height] = fill.rect;
        canvas.fill([left + x, top + y, width, height], fill.color);
    }
    for text in &plate.texts {
        let place = [left + text.at[0], top + text.at[1]];
        // Far from a picture, letters have no exact places and no pixels to cover.
        if place.iter().zip(size).any(|(place, side)| !(-1e5..side as f32).contains(place)) {
            continue;
        }
        letters
            .at(text.height)
            .draw(&text.text, place, |pixel, share| canvas.blend(pixel, text.color, share));
    }
    Ok(())
}

/// Blends a picture over another one, with its left and top at `corner`, pixels. Both are RGBA8 rows from the top with
/// straight alpha. What lies beyond the lower one is left out; over transparent pixels the upper one stays as it is.
pub fn lay(pixels: &mut [u8], size: [u32; 2], (picture, width): (&[u8], u32), [left, top]: [u32; 2]) {
    let mut canvas = Canvas { pixels, size: size.map(i64::from) };
    for (y, row) in (i64::from(top)..).zip(picture.chunks_exact(4 * width.max(1) as usize)) {
        for (x, pixel) in (i64::from(left)..).zip(row.chunks_exact(4)) {
            match canvas.pixel([x, y]) {
                Some(below) if below[3] == 0 => below.copy_from_slice(pixel),
                _ => canvas.blend([x, y], [pixel[0], pixel[1], pixel[2]], f32::from(pixel[3]) / 255.0),
            }
        }
    }
}

/// Blends a straight line with soft edges over a picture, from a point to another one, pixels from its left and top.
pub fn line(pixels: &mut [u8], size: [u32; 2], [from, to]: [[f32; 2]; 2], (width, color): (f32, [u8; 3])) {
    let mut canvas = Canvas { pixels, size: size.map(i64::from) };
    let (along, reach) = ([to[0] - from[0], to[1] - from[1]], 0.5 * width + 1.0);
    let length = (along[0] * along[0] + along[1] * along[1]).max(f32::MIN_POSITIVE);
    let [across, down] = [0, 1].map(|axis| {
        let (low, high) = (from[axis].min(to[axis]), from[axis].max(to[axis]));
        reached(low - reach, high + reach, canvas.size[axis])
    });
    for y in down {
        for x in across.clone() {
            let to = [x as f32 + 0.5 - from[0], y as f32 + 0.5 - from[1]];
            let share = ((to[0] * along[0] + to[1] * along[1]) / length).clamp(0.0, 1.0);
            let off = [to[0] - share * along[0], to[1] - share * along[1]];
            let distance = (off[0] * off[0] + off[1] * off[1]).sqrt();
            canvas.blend([x, y], color, (0.5 + 0.5 * width - distance).clamp(0.0, 1.0));
        }
    }
}

/// Colour of letters in pictures, and of the ground on which they stand.
const INK: [u8; 3] = [240, 240, 236];
const GROUND: [u8; 4] = [20, 22, 26, 190];
/// Height of a picture's letters as a share of its height, and at least, pixels.
const OF_HEIGHT: f32 = 1.0 / 42.0;
const SMALLEST: f32 = 11.0;

/// Explains a finished picture: legends below each other at its left, and a scale bar at its lower right if `metres_per_pixel` is
/// given.
///
/// # Errors
/// [`FontError`] where the font cannot be read; the picture is unchanged then.
pub fn explain(
    pixels: &mut [u8],
    size: [u32; 2],
    legends: &[Legend],
    metres_per_pixel: Option<f64>,
) -> Result<(), FontError> {
    if legends.is_empty() && metres_per_pixel.is_none() {
        return Ok(());
    }
    let [width, height] = size.map(|side| side as f32);
    let em = (height * OF_HEIGHT).max(SMALLEST);
    let margin = 1.2 * em;
    let measure = measure()?;
    let mut put = |plate: &Plate, at: [f32; 2]| {
        let ([wide, high], edge) = (plate.size, 0.6 * em);
        let fill = Fill { rect: [-edge, -edge, wide + 2.0 * edge, high + 2.0 * edge], color: GROUND };
        stamp(pixels, size, &Plate { fills: vec![fill], ..Plate::default() }, at)?;
        stamp(pixels, size, plate, at)
    };
    let mut top = margin;
    for legend in legends {
        let plate = legend.plate(em, INK, &measure);
        put(&plate, [margin, top])?;
        top += plate.size[1] + 2.0 * em;
    }
    if let Some(metres) = metres_per_pixel {
        let plate = scale_bar(metres, 0.25 * width, em, INK, &measure);
        put(&plate, [width - plate.size[0] - margin, height - plate.size[1] - margin])?;
    }
    Ok(())
}

/// A scale bar at the lower right of an SVG of that size, pixels, as its elements, black, in letters `em` high.
///
/// # Errors
/// [`FontError`] where the font by which the bar is laid out cannot be read.
pub fn scale_of(metres_per_pixel: f64, [width, height]: [f32; 2], em: f32) -> Result<String, FontError> {
    let plate = scale_bar(metres_per_pixel, 0.25 * width, em, [0; 3], measure()?);
    let margin = 0.02 * height;
    Ok(svg(&plate, [width - plate.size[0] - margin, height - plate.size[1] - margin]))
}

/// Legends below each other as an SVG file, black on nothing.
///
/// # Errors
/// [`FontError`] where the font by which the legends are laid out cannot be read.
pub fn svg_of(legends: &[Legend]) -> Result<String, FontError> {
    let (elements, size) = legends_of(legends, [0.0; 2], 16.0)?;
    let [width, height] = size.map(f32::ceil);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n{elements}</svg>\n"
    ))
}

/// Legends below each other as elements of an SVG, black, in letters `em` high, with their left and top at `corner`; and the
/// right and bottom of all, pixels.
///
/// # Errors
/// [`FontError`] where the font by which the legends are laid out cannot be read.
pub fn legends_of(
    legends: &[Legend],
    [left, top]: [f32; 2],
    em: f32,
) -> Result<(String, [f32; 2]), FontError> {
    let measure = measure()?;
    let (mut elements, mut end) = (String::new(), [left, top]);
    for (number, legend) in legends.iter().enumerate() {
        let plate = legend.plate(em, [0; 3], &measure);
        let below = if number == 0 { top } else { end[1] + em };
        elements += &svg(&plate, [left, below]);
        // Another font may be wider.
        end = [end[0].max(left + 1.15 * plate.size[0]), below + plate.size[1]];
    }
    Ok((elements, end))
}

/// A plate as elements of an SVG whose unit is a pixel, a line each: rectangles, and texts as text, in whichever font
/// without serifs the program that shows the SVG has.
#[must_use]
pub fn svg(plate: &Plate, [left, top]: [f32; 2]) -> String {
    let mut out = String::new();
    for fill in &plate.fills {
        let [x, y, width, height] = fill.rect;
        let [red, green, blue, alpha] = fill.color;
        let [x, y, width, height] = [left + x, top + y, width, height].map(short);
        let opacity = match alpha {
            255 => String::new(),
            _ => format!(" fill-opacity=\"{}\"", short(f32::from(alpha) / 255.0)),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             fill=\"#{red:02x}{green:02x}{blue:02x}\"{opacity}/>"
        );
    }
    for text in &plate.texts {
        let [red, green, blue] = text.color;
        let [x, y] = [left + text.at[0], top + text.at[1] + BASE * text.height].map(short);
        let size = short(LETTERS * text.height);
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\" font-family=\"sans-serif\" font-size=\"{size}\" \
             fill=\"#{red:02x}{green:02x}{blue:02x}\">{}</text>",
            escaped(&text.text)
        );
    }
    out
}

/// A number with at most three decimals, without zeros at its end.
#[must_use]
pub fn short(value: f32) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text as XML has it between two tags. Characters that XML does not allow become spaces.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

/// A picture that is drawn on.
struct Canvas<'a> {
    pixels: &'a mut [u8],
    size: [i64; 2],
}

impl Canvas<'_> {
    /// Blends a rectangle (left, top, width, height); pixels at its edges get their share of it.
    fn fill(&mut self, [left, top, width, height]: [f32; 4], [red, green, blue, alpha]: [u8; 4]) {
        let (right, bottom) = (left + width, top + height);
        let [across, down] = self.size;
        for y in reached(top, bottom, down) {
            for x in reached(left, right, across) {
                let share = overlap(x, left, right) * overlap(y, top, bottom);
                self.blend([x, y], [red, green, blue], share * f32::from(alpha) / 255.0);
            }
        }
    }

    /// A pixel, if the picture has it.
    fn pixel(&mut self, [x, y]: [i64; 2]) -> Option<&mut [u8; 4]> {
        let [width, height] = self.size;
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            return None;
        }
        self.pixels.get_mut(4 * (y * width + x) as usize..)?.first_chunk_mut()
    }

    /// Blends a colour over a pixel, if the picture has it. Alphas are straight: the pixel's colour counts by what is
    /// left of its alpha, so a transparent pixel takes the colour as it is.
    fn blend(&mut self, at: [i64; 2], color: [u8; 3], over: f32) {
        let Some(pixel) = self.pixel(at).filter(|_| over > 0.0) else { return };
        let under = f32::from(pixel[3]) / 255.0 * (1.0 - over);
        for (byte, ink) in pixel.iter_mut().zip(color) {
            let mixed = (f32::from(ink) * over + f32::from(*byte) * under) / (over + under);
            *byte = mixed.round() as u8;
        }
        pixel[3] = (255.0 * (over + under)).round() as u8;
    }
}

/// The pixels along one side of a picture that an interval reaches.
fn reached(low: f32, high: f32, side: i64) -> std::ops::Range<i64> {
    (low.floor() as i64).max(0)..(high.ceil() as i64).min(side)
}

/// How much of a pixel an interval covers, 0 to 1.
fn overlap(pixel: i64, low: f32, high: f32) -> f32 {
    let start = pixel as f32;
    (high.min(start + 1.0) - low.max(start)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Key, Legend, Scale, scale_bar};

    const SIZE: [u32; 2] = [260, 260];

    /// One fill and no text.
    fn patch(rect: [f32; 4], color: [u8; 4]) -> Plate {
        let mut plate = scale_bar(0.001, 100.0, 10.0, [0; 3], measure().unwrap());
        plate.texts.clear();
        plate.fills.truncate(1);
        (plate.fills[0].rect, plate.fills[0].color) = (rect, color);
        plate
    }

    fn legend() -> Plate {
        let range = Scale::default().over([0.0, 10.0]).unwrap();
        let legend = Legend { title: "a < b & c".into(), unit: "m/s".into(), key: Key::Numbers(range) };
        legend.plate(14.0, [200, 10, 90], measure().unwrap())
    }

    fn picture(under: [u8; 4], plate: &Plate, at: [f32; 2]) -> Vec<u8> {
        let mut pixels = under.repeat((SIZE[0] * SIZE[1]) as usize);
        stamp(&mut pixels, SIZE, plate, at).unwrap();
        pixels
    }

    fn pixel(picture: &[u8], [x, y]: [u32; 2]) -> [u8; 4] {
        let start = 4 * (y * SIZE[0] + x) as usize;
        *picture[start..].first_chunk().unwrap()
    }

    #[test]
    fn fills_blend_by_straight_alpha() {
        let red = [255, 0, 0, 128];
        let whole = patch([2.0, 1.0, 3.0, 2.0], red);
        let half = patch([2.5, 1.0, 3.0, 2.0], [0, 0, 255, 255]);
        for (plate, under, wanted) in [
            (&whole, [0, 0, 0, 0], red),
            (&whole, [0, 255, 0, 0], red),
            (&whole, [0, 0, 0, 255], [128, 0, 0, 255]),
            // 128 of red over half of what was 128 of green: 192 altogether, two thirds of them red.
            (&whole, [0, 255, 0, 128], [170, 85, 0, 192]),
            (&half, [0, 0, 0, 0], [0, 0, 255, 128]),
            (&half, [255, 255, 255, 255], [128, 128, 255, 255]),
        ] {
            let picture = picture(under, plate, [10.0, 20.0]);
            let found = pixel(&picture, [12, 21]);
            let near = found.iter().zip(wanted).all(|(found, wanted)| found.abs_diff(wanted) <= 1);
            assert!(near, "{found:?} and not {wanted:?}; blending as if the pixel were opaque shows this");
            assert_eq!([[11, 21], [12, 20], [12, 23]].map(|at| pixel(&picture, at)), [under; 3]);
        }
    }

    #[test]
    fn letters_over_transparent_pixels_keep_their_color() {
        let mut plate = legend();
        plate.fills.clear();
        let picture = picture([0, 255, 0, 0], &plate, [3.0, 3.0]);
        let inked: Vec<&[u8]> = picture.chunks_exact(4).filter(|pixel| pixel[3] > 0).collect();
        assert!(inked.len() > 100, "{}", inked.len());
        let green = inked.iter().find(|pixel| pixel[..3] != [200, 10, 90]);
        assert_eq!(green, None, "blending as if the pixel were opaque shows this");
        assert!(inked.iter().any(|pixel| pixel[3] < 200), "edges of letters are soft");
    }

    #[test]
    fn a_legend_stays_in_its_place_and_has_the_same_bytes_each_time() {
        let (plate, at) = (legend(), [20.0, 30.0]);
        assert!(plate.size[0] > 40.0 && plate.size[1] > 160.0, "{:?}", plate.size);
        let first = picture([0; 4], &plate, at);
        assert_eq!(first, picture([0; 4], &plate, at));
        assert_eq!(first, picture([0; 4], &plate, [20.4, 29.6]), "the place is a whole pixel");
        // An edge of a letter may lie beyond its advance.
        let [left, top] = [at[0] - 2.0, at[1] - 2.0];
        let [right, bottom] = [at[0] + plate.size[0] + 2.0, at[1] + plate.size[1] + 2.0];
        for y in 0..SIZE[1] {
            for x in 0..SIZE[0] {
                let inside = (left..right).contains(&(x as f32)) && (top..bottom).contains(&(y as f32));
                assert!(inside || pixel(&first, [x, y]) == [0; 4], "{x}, {y} is beside {:?}", plate.size);
            }
        }
    }

    #[test]
    fn a_picture_keeps_its_pixels_and_shows_what_lies_below_where_it_is_transparent() {
        let [red, half, none]: [[u8; 4]; 3] = [[200, 10, 20, 255], [0, 100, 0, 51], [9, 9, 9, 0]];
        let upper: Vec<u8> = [red, half, none, red, red, red].concat();
        for (ground, blended) in [([0u8; 4], half), ([255; 4], [204, 224, 204, 255])] {
            let mut pixels = ground.repeat((SIZE[0] * SIZE[1]) as usize);
            lay(&mut pixels, SIZE, (&upper, 3), [5, 7]);
            let clear = if ground[3] == 0 { none } else { ground };
            let places = [[5, 7], [6, 7], [7, 7], [5, 8]];
            assert_eq!(places.map(|at| pixel(&pixels, at)), [red, blended, clear, red]);
            assert_eq!([[4, 7], [8, 7], [5, 6], [5, 9]].map(|at| pixel(&pixels, at)), [ground; 4]);
        }
        // Beyond the right and the bottom.
        lay(&mut [0; 16], [2, 2], (&upper, 3), [1, 1]);
    }

    #[test]
    fn a_line_has_its_width_and_ends_where_it_says() {
        let mut pixels = [255u8; 4].repeat((SIZE[0] * SIZE[1]) as usize);
        line(&mut pixels, SIZE, [[20.0, 50.0], [80.0, 50.0]], (4.0, [0; 3]));
        let dark = |[x, y]: [u32; 2]| 1.0 - f64::from(pixel(&pixels, [x, y])[0]) / 255.0;
        let across: f64 = (40..60).map(|y| dark([50, y])).sum();
        assert!((across - 4.0).abs() < 0.05, "{across}");
        assert_eq!([[50, 46], [50, 53], [16, 50], [83, 50]].map(|at| dark(at) < 0.01), [true; 4]);
        // A slanted line covers its length times its width, and a disc at its two ends together.
        let mut pixels = [255u8; 4].repeat((SIZE[0] * SIZE[1]) as usize);
        line(&mut pixels, SIZE, [[30.0, 40.0], [110.0, 100.0]], (3.0, [0; 3]));
        let all: f64 = pixels.chunks_exact(4).map(|pixel| 1.0 - f64::from(pixel[0]) / 255.0).sum();
        assert!((all - (300.0 + 2.25 * std::f64::consts::PI)).abs() < 3.0, "{all}");
        line(&mut pixels, SIZE, [[-1e9, 5.0], [1e9, 5.0]], (2.0, [9; 3]));
    }

    #[test]
    fn what_lies_beyond_a_picture_is_left_out() {
        let plate = legend();
        for at in
            [[-1e9, 0.0], [1e9, 1e9], [-30.5, -30.5], [250.0, 250.0], [f32::NAN, 0.0], [f32::INFINITY, 0.0]]
        {
            picture([1, 2, 3, 4], &plate, at);
        }
        // Fewer bytes than the size says.
        stamp(&mut [0; 41], [4, 4], &plate, [0.0, 0.0]).unwrap();
        stamp(&mut [], [0, 0], &plate, [0.0, 0.0]).unwrap();
    }

    #[test]
    fn an_svg_has_every_fill_and_every_text() {
        let plate = legend();
        let text = svg(&plate, [5.0, 6.5]);
        assert_eq!(text.matches("<rect ").count(), plate.fills.len());
        assert_eq!(text.matches("</text>").count(), plate.texts.len());
        assert!(text.contains(">a &lt; b &amp; c (m/s)</text>"), "{text}");
        assert!(text.contains("font-family=\"sans-serif\"") && text.contains("fill=\"#c80a5a\""), "{text}");
        assert_eq!(text, svg(&plate, [5.0, 6.5]));
        assert_eq!(
            svg(&patch([0.0, 1.25, 2.0, 3.0], [255, 0, 16, 51]), [5.0, 6.5]),
            "<rect x=\"5\" y=\"7.75\" width=\"2\" height=\"3\" fill=\"#ff0010\" fill-opacity=\"0.2\"/>\n"
        );
        assert_eq!([0.0, -0.0, 10.0, 100.5, -0.0001].map(short), ["0", "0", "10", "100.5", "0"]);
        assert_eq!(escaped("a\u{1}b"), "a b");
    }
}
