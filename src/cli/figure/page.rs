//! The page of a figure: where panels, captions and labels lie, and all of it as pixels or as an SVG.
//!
//! In: sizes of panels, captions, labels, the panels' pictures. Out: RGBA8 rows from the top, or the text of an SVG. Panels
//! stand in rows from the left and the top, each above its caption, and keep their pixels.

use std::fmt::Write as _;

use crate::{
    cli::{CliError, LARGEST_PICTURE, paper::svg::escaped, render::Made},
    export::png_bytes,
    facade::{
        lettering::{FontError, Lettering},
        stamp::{self, short, stamp},
    },
    scene::{Fill, Plate, PlateText},
};

/// Largest side of a figure, pixels: many programs cannot open larger pictures.
pub const LARGEST: u32 = 16_384;

/// Distance of a caption's lines, and of the first one from its panel, as shares of the letters' height.
const LINE: f32 = 1.25;
const ABOVE: f32 = 0.35;
const PAPER: [u8; 4] = [255; 4];
const INK: [u8; 3] = [38, 36, 34];
/// Ground below labels, through which a picture can be guessed.
const GROUND: [u8; 4] = [255, 255, 255, 225];

/// How panels and captions are set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Panels in a row.
    pub columns: usize,
    /// Between panels, pixels.
    pub gap: u32,
    /// Height of letters, pixels.
    pub em: f32,
}

/// A page with its captions and labels, without its pictures.
pub struct Page {
    /// Width and height, pixels.
    pub size: [u32; 2],
    letters: Lettering,
    em: f32,
    /// Left, top, width and height of each panel.
    tiles: Vec<[u32; 4]>,
    captions: Plate,
    /// Lines from labels to their points, and labels above them.
    lines: Vec<[[f32; 2]; 2]>,
    labels: Plate,
}

fn font(error: FontError) -> CliError {
    CliError::Input(error.to_string())
}

/// The size of each panel on a page of that size.
///
/// # Errors
/// [`CliError::Input`] where there is no room for panels.
pub fn tile(size: [u32; 2], captions: &[String], style: Style) -> Result<[u32; 2], CliError> {
    let letters = Lettering::new(style.em).map_err(font)?;
    let share = |side: u32, taken: u32, count: usize| {
        let count = count.max(1) as u32;
        side.checked_sub((style.gap * (count - 1)).saturating_add(taken)).map(|left| left / count)
    };
    let no_room =
        || CliError::Input("size: it leaves no room for panels; give a larger one, or a smaller gap".into());
    let width = share(size[0], 0, style.columns).filter(|width| *width > 0).ok_or_else(no_room)?;
    let rows = captions.chunks(style.columns.max(1));
    let count = rows.len();
    let below = rows.map(|row| {
        strip(row.iter().map(|caption| wrapped(caption, width as f32, &letters).len()).max(), style.em)
    });
    let below = below.fold(0, u32::saturating_add);
    let height = share(size[1], below, count).filter(|height| *height > 0).ok_or_else(no_room)?;
    if width.max(height) > LARGEST_PICTURE {
        return Err(CliError::Input(format!(
            "size: each panel would have {width} by {height} pixels; {LARGEST_PICTURE} are the most"
        )));
    }
    Ok([width, height])
}

impl Page {
    /// A page of that size, or as large as its panels need, for panels of these sizes with these captions.
    ///
    /// # Errors
    /// [`CliError::Input`] for a page that is too large, and if the font cannot be read.
    pub fn new(
        size: Option<[u32; 2]>,
        panels: &[[u32; 2]],
        captions: &[String],
        style: Style,
    ) -> Result<Self, CliError> {
        let letters = Lettering::new(style.em).map_err(font)?;
        let columns = style.columns.max(1);
        let widest = |column: usize| panels.iter().skip(column).step_by(columns).map(|size| size[0]).max();
        let widths: Vec<u32> = (0..columns).filter_map(widest).collect();
        let (mut tiles, mut texts, mut top) = (Vec::new(), Vec::new(), 0);
        for (row, captions) in panels.chunks(columns).zip(captions.chunks(columns)) {
            let highest = row.iter().map(|size| size[1]).max().unwrap_or(0);
            let (mut left, mut most) = (0, 0);
            for ((panel, caption), column) in row.iter().zip(captions).zip(&widths) {
                let [width, height] = *panel;
                tiles.push([left, top, width, height]);
                let lines = wrapped(caption, width as f32, &letters);
                most = lines.len().max(most);
                for (line, text) in lines.into_iter().enumerate() {
                    let x = left as f32 + ((width as f32 - letters.width(&text)) / 2.0).max(0.0);
                    let y = top.saturating_add(highest) as f32 + style.em * (ABOVE + LINE * line as f32);
                    let at = [x.round(), y.round()];
                    texts.push(PlateText { at, text, height: style.em, color: INK });
                }
                left += column + style.gap;
            }
            top =
                [highest, strip(Some(most), style.em), style.gap].into_iter().fold(top, u32::saturating_add);
        }
        let across = widths.iter().sum::<u32>() + style.gap * (columns as u32 - 1);
        let [width, height] = size.unwrap_or([across, top.saturating_sub(style.gap)]);
        if width.max(height) > LARGEST {
            return Err(CliError::Input(format!(
                "the figure would have {width} by {height} pixels; at most {LARGEST} are written, so give it a size"
            )));
        }
        let captions = Plate { texts, ..Plate::default() };
        let (lines, labels) = (Vec::new(), Plate::default());
        Ok(Self { size: [width, height], letters, em: style.em, tiles, captions, lines, labels })
    }

    /// Puts a label into a panel: its middle lies `offset` to the right of and below `point`, pixels of the panel, and a
    /// line leads there unless the label covers it.
    pub fn label(&mut self, panel: usize, text: &str, point: [f32; 2], [right, down]: [f32; 2]) {
        let Some([left, top, ..]) = self.tiles.get(panel) else { return };
        let point = [*left as f32 + point[0], *top as f32 + point[1]];
        let middle = [point[0] + right, point[1] + down];
        let width = self.letters.width(text);
        let half = [0.5 * width + 0.35 * self.em, 0.62 * self.em];
        let share = (half[0] / right.abs()).min(half[1] / down.abs());
        if share < 1.0 {
            self.lines.push([point, [middle[0] - share * right, middle[1] - share * down]]);
        }
        let rect = [middle[0] - half[0], middle[1] - half[1], 2.0 * half[0], 2.0 * half[1]];
        self.labels.fills.push(Fill { rect, color: GROUND });
        let at = [middle[0] - 0.5 * width, middle[1] - 0.5 * self.em];
        self.labels.texts.push(PlateText { at, text: text.to_owned(), height: self.em, color: INK });
    }

    /// Widths and colours of a line to a label: a light one below, so that it is seen on any picture.
    fn pens(&self) -> [(f32, [u8; 3]); 2] {
        let width = (0.09 * self.em).max(1.0);
        [(3.0 * width, [255; 3]), (width, INK)]
    }

    /// The page with its panels as RGBA8 rows from the top.
    ///
    /// # Errors
    /// [`CliError::Input`] if the font cannot be read.
    pub fn pixels(&self, panels: &[Made], transparent: bool) -> Result<Vec<u8>, CliError> {
        let ground = if transparent { [0; 4] } else { PAPER };
        let mut pixels = ground.repeat(self.size[0] as usize * self.size[1] as usize);
        for (panel, [left, top, width, _]) in panels.iter().zip(&self.tiles) {
            stamp::lay(&mut pixels, self.size, (&panel.pixels, *width), [*left, *top]);
        }
        stamp(&mut pixels, self.size, &self.captions, [0.0; 2]).map_err(font)?;
        for pen in self.pens() {
            self.lines.iter().for_each(|line| stamp::line(&mut pixels, self.size, *line, pen));
        }
        stamp(&mut pixels, self.size, &self.labels, [0.0; 2]).map_err(font)?;
        Ok(pixels)
    }

    /// The page as an SVG: a panel that has a drawing stays one, of the others the pixels are in it. `mm` is its size on
    /// paper, `origin` is kept in it as metadata.
    ///
    /// # Errors
    /// [`CliError::Export`] where a panel has neither.
    pub fn svg(
        &self,
        panels: &[Made],
        transparent: bool,
        mm: Option<[f64; 2]>,
        origin: &str,
    ) -> Result<String, CliError> {
        let [width, height] = self.size;
        let [wide, high] =
            mm.map_or_else(|| self.size.map(|side| side.to_string()), |mm| mm.map(|s| format!("{s}mm")));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{wide}\" \
             height=\"{high}\" viewBox=\"0 0 {width} {height}\">\n<metadata>{}</metadata>\n",
            escaped(origin)
        );
        if !transparent {
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        }
        for (panel, [x, y, width, height]) in panels.iter().zip(&self.tiles) {
            if !panel.drawing.is_empty() {
                out += &panel.drawing.replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1);
                continue;
            }
            let png = base64(&png_bytes([*width, *height], &panel.pixels)?);
            let _ = writeln!(
                out,
                "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
                 xlink:href=\"data:image/png;base64,{png}\"/>"
            );
        }
        out += &stamp::svg(&self.captions, [0.0; 2]);
        for (pen, [red, green, blue]) in self.pens() {
            for [from, to] in &self.lines {
                let [x, y, to_x, to_y] = [from[0], from[1], to[0], to[1]].map(short);
                let _ = writeln!(
                    out,
                    "<path d=\"M{x} {y}L{to_x} {to_y}\" stroke=\"#{red:02x}{green:02x}{blue:02x}\" \
                     stroke-width=\"{}\" stroke-linecap=\"round\"/>",
                    short(pen)
                );
            }
        }
        out += &stamp::svg(&self.labels, [0.0; 2]);
        out += "</svg>\n";
        Ok(out)
    }
}

/// Height of captions of that many lines, pixels.
fn strip(lines: Option<usize>, em: f32) -> u32 {
    match lines.unwrap_or(0) {
        0 => 0,
        lines => (em * (ABOVE + LINE * lines as f32)).ceil() as u32,
    }
}

/// A text in lines that are not wider than a panel, but for single words.
fn wrapped(text: &str, width: f32, letters: &Lettering) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        if let Some(longer) = longer.filter(|longer| letters.width(longer) <= width) {
            lines.pop();
            lines.push(longer);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Bytes as text, as a `data:` address has them.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let all =
            three.iter().zip([16, 8, 0]).fold(0_u32, |all, (byte, shift)| all | (u32::from(*byte) << shift));
        for (number, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = DIGITS[((all >> shift) & 63) as usize];
            text.push(if number <= three.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{export::Signature, render::Camera};

    const STYLE: Style = Style { columns: 2, gap: 10, em: 12.0 };

    fn captions(list: &[&str]) -> Vec<String> {
        list.iter().map(|caption| (*caption).to_owned()).collect()
    }

    #[test]
    fn rows_are_as_high_as_their_panels_and_captions() {
        let sizes = [[40, 30], [60, 20], [50, 10]];
        let page = Page::new(None, &sizes, &captions(&["a", "b", ""]), STYLE).unwrap();
        // 12 pixels times 0.35 + 1.25 is 19.2.
        assert_eq!(page.tiles, [[0, 0, 40, 30], [60, 0, 60, 20], [0, 60, 50, 10]]);
        assert_eq!((page.size, page.captions.texts.len()), ([120, 70], 2));
        let huge = Page::new(None, &[[8192, 9]; 3], &captions(&["", "", ""]), Style { columns: 3, ..STYLE });
        assert!(huge.err().unwrap().to_string().contains("24596 by 9 pixels"));
    }

    #[test]
    fn panels_fill_a_page_of_a_given_size() {
        let named = captions(&["a", "b", "c"]);
        let tile = tile([210, 258], &named, STYLE).unwrap();
        // Two captions of 20 pixels and a gap of 10 leave 104 for each row.
        assert_eq!(tile, [100, 104]);
        let page = Page::new(Some([210, 258]), &[tile; 3], &named, STYLE).unwrap();
        assert_eq!((page.size, page.tiles[2]), ([210, 258], [0, 134, 100, 104]));
        assert!(
            super::tile([210, 50], &named, STYLE).is_err() && super::tile([10, 500], &named, STYLE).is_err()
        );
    }

    #[test]
    fn captions_are_wrapped_between_words() {
        let letters = Lettering::new(12.0).unwrap();
        let width = letters.width("one two") + 1.0;
        let lines = wrapped("one two three four-hundred-and-twenty", width, &letters);
        assert_eq!(lines, ["one two", "three", "four-hundred-and-twenty"]);
        assert!(wrapped(" ", width, &letters).is_empty());
    }

    #[test]
    fn a_label_has_a_line_to_its_point_unless_it_covers_it() {
        let mut page = Page::new(None, &[[200, 100]; 2], &captions(&["", ""]), STYLE).unwrap();
        page.label(1, "here", [50.0, 60.0], [0.0, -40.0]);
        page.label(1, "there", [50.0, 60.0], [0.0; 2]);
        // Half of the label's height, 0.62 times 12 pixels, is not drawn.
        let [[start, end]] = *page.lines.as_slice() else { panic!("{:?}", page.lines) };
        assert!(start == [260.0, 60.0] && end[0] == 260.0 && (end[1] - 27.44).abs() < 1e-3, "{end:?}");
        assert_eq!(page.labels.texts.len(), 2);
    }

    #[test]
    fn an_svg_has_drawings_as_drawings_and_pictures_as_pictures() {
        let made = |drawing: &str, pixels: Vec<u8>| Made {
            drawing: drawing.to_owned(),
            pixels,
            camera: Camera::default(),
            signature: Signature::default(),
            legends: None,
            labelling: String::new(),
        };
        let panels = [made("<svg width=\"2\"/>\n", Vec::new()), made("", vec![7; 16])];
        let page = Page::new(None, &[[2, 2]; 2], &captions(&["a < b", ""]), STYLE).unwrap();
        let text = page.svg(&panels, true, Some([50.0, 20.5]), "{\"a\":1}").unwrap();
        assert!(text.contains("width=\"50mm\" height=\"20.5mm\" viewBox=\"0 0 14 "), "{text}");
        assert!(
            text.contains("<svg x=\"0\" y=\"0\" width=\"2\"/>") && text.contains("<image x=\"12\" "),
            "{text}"
        );
        assert!(text.contains(">a</text>") && text.contains("&lt;") && !text.contains("<rect"), "{text}");
        assert!(page.svg(&panels, false, None, "").unwrap().contains("<rect width=\"14\""));
        assert!(page.svg(&[made("", Vec::new())], true, None, "").is_err());
    }

    #[test]
    fn base64_is_that_of_its_standard() {
        let of = |text: &str| base64(text.as_bytes());
        // The examples of RFC 4648.
        assert_eq!(["", "f", "fo", "foo", "foob"].map(of), ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
        assert_eq!(base64(&[255, 239, 190]), "/+++");
    }
}
