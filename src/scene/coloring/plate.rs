//! A drawing made of rectangles and lines of text, which any canvas can draw: the window, a raster picture, an SVG.

/// A rectangle of one colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fill {
    /// Left, top, width and height, pixels.
    pub rect: [f32; 4],
    /// sRGB with straight alpha.
    pub color: [u8; 4],
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Left end and top of the line, pixels.
    pub at: [f32; 2],
    /// What is written.
    pub text: String,
    /// Height of the line, from the top of the tallest letters to the bottom of the lowest, pixels.
    pub height: f32,
    /// sRGB.
    pub color: [u8; 3],
}

/// Rectangles and lines of text on a sheet without a ground. The origin is at the left and top; y points down. Fills
/// lie below texts, and a later fill above an earlier one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plate {
    /// Width and height that hold everything, pixels.
    pub size: [f32; 2],
    /// Rectangles.
    pub fills: Vec<Fill>,
    /// Lines of text.
    pub texts: Vec<Text>,
}

impl Plate {
    /// Puts a rectangle on the plate, which grows to hold it.
    pub(super) fn fill(&mut self, rect: [f32; 4], color: [u8; 4]) {
        self.hold(rect);
        self.fills.push(Fill { rect, color });
    }

    /// Puts a line of text of that width on the plate, which grows to hold it.
    pub(super) fn text(&mut self, text: Text, width: f32) {
        self.hold([text.at[0], text.at[1], width, text.height]);
        self.texts.push(text);
    }

    fn hold(&mut self, [left, top, width, height]: [f32; 4]) {
        self.size = [self.size[0].max((left + width).ceil()), self.size[1].max((top + height).ceil())];
    }
}

/// A colour without transparency.
pub(super) fn opaque([red, green, blue]: [u8; 3]) -> [u8; 4] {
    [red, green, blue, 255]
}

/// Helpers of tests of plates.
#[cfg(test)]
pub(super) mod testing {
    use super::Plate;

    /// A width that tells texts apart: half of the height a letter.
    pub fn width(text: &str, height: f32) -> f32 {
        0.5 * height * text.chars().count() as f32
    }

    /// The first thing of a plate that leaves its size, in words.
    pub fn outside(plate: &Plate) -> Option<String> {
        let fills = plate.fills.iter().map(|fill| (fill.rect, format!("{fill:?}")));
        let texts = plate.texts.iter().map(|text| {
            ([text.at[0], text.at[1], width(&text.text, text.height), text.height], format!("{text:?}"))
        });
        let leaves = |[left, top, width, height]: [f32; 4]| {
            !(left >= 0.0
                && top >= 0.0
                && width >= 0.0
                && height >= 0.0
                && left + width <= plate.size[0]
                && top + height <= plate.size[1])
        };
        fills.chain(texts).find(|(rect, _)| leaves(*rect)).map(|(_, what)| what)
    }
}
