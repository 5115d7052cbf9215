//! Legends: which value, or which category, has which colour.
//!
//! In: a title, and a [`Range`] or names with their colours. Out: a [`Plate`] for a height of text: a colour bar with
//! ticks, or rows of swatches.

use super::{
    Range,
    plate::{Plate, Text, opaque},
};

/// Most rows of categories.
pub const MOST_ROWS: usize = 16;

/// Colours of a bar, from end to end: more than the eye tells apart on a bar of this size.
const STEPS: u16 = 128;
/// Most ticks of a bar.
const MOST_TICKS: usize = 7;

/// Heights and widths, in heights of the text.
const BAR_HEIGHT: f32 = 12.0;
const BAR_WIDTH: f32 = 1.2;
const LINE: f32 = 1.4;
const BELOW_TITLE: f32 = 0.5;
const TICK: f32 = 0.35;
const GAP: f32 = 0.35;
const SWATCH: f32 = 0.9;

/// What the colours mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// Colours of numbers.
    Numbers(Range),
    /// Colours of categories.
    Categories {
        /// Names and colours (sRGB), in the order of the rows.
        shown: Vec<(String, [u8; 3])>,
        /// How many more categories there are.
        more: usize,
    },
}

/// A title, and what the colours mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// What is shown.
    pub title: String,
    /// Its unit; empty for none.
    pub unit: String,
    /// What the colours mean.
    pub key: Key,
}

impl Legend {
    /// The legend for a height of text of `em` pixels, in the colour `ink` (sRGB). `width` measures a line of text of a
    /// height, in pixels, with the font that draws it. Of the categories the plate has [`MOST_ROWS`], and one row that
    /// counts the others.
    #[must_use]
    pub fn plate(&self, em: f32, ink: [u8; 3], width: impl Fn(&str, f32) -> f32) -> Plate {
        let mut page = Page { plate: Plate::default(), em, ink, width };
        let title =
            if self.unit.is_empty() { self.title.clone() } else { format!("{} ({})", self.title, self.unit) };
        page.write(title, [0.0, 0.0]);
        let top = ((LINE + BELOW_TITLE) * em).round();
        match &self.key {
            Key::Numbers(range) => page.bar(range, top),
            Key::Categories { shown, more } => page.rows(shown, *more, top),
        }
        page.plate
    }
}

/// A plate being filled.
struct Page<W> {
    plate: Plate,
    em: f32,
    ink: [u8; 3],
    width: W,
}

impl<W: Fn(&str, f32) -> f32> Page<W> {
    fn write(&mut self, text: String, at: [f32; 2]) {
        let width = (self.width)(&text, self.em);
        self.plate.text(Text { at, text, height: self.em, color: self.ink }, width);
    }

    /// A colour bar, the high end at the top, with ticks and their texts at its right.
    fn bar(&mut self, range: &Range, top: f32) {
        let em = self.em;
        // Whole pixels, so that the sides of the bar are sharp.
        let [width, height] = [BAR_WIDTH * em, BAR_HEIGHT * em].map(|side| side.round().max(1.0));
        for step in 0..STEPS {
            let from_top = f32::from(step) / f32::from(STEPS);
            let share = 1.0 - (f64::from(step) + 0.5) / f64::from(STEPS);
            let y = (from_top * height).floor();
            // Each fill reaches down to the end of the bar, and the next one covers what lies below it: fills that only
            // touch would let the ground through wherever an edge lies within a pixel.
            self.plate.fill([0.0, top + y, width, height - y], opaque(range.map.color(share)));
        }
        let thick = (em / 12.0).round().max(1.0);
        for (share, text) in range.ticks(MOST_TICKS) {
            let y = top + (1.0 - share as f32) * height;
            self.plate.fill(
                [width, (y - 0.5 * thick).round().max(0.0), (TICK * em).round(), thick],
                opaque(self.ink),
            );
            self.write(text, [width + ((TICK + GAP) * em).round(), y - 0.5 * em]);
        }
    }

    /// Rows of swatches with names.
    fn rows(&mut self, shown: &[(String, [u8; 3])], more: usize, top: f32) {
        let em = self.em;
        let side = (SWATCH * em).round().max(1.0);
        let left = side + (GAP * em).round();
        let row = |i: usize| top + i as f32 * (LINE * em).round();
        for (i, (name, color)) in shown.iter().take(MOST_ROWS).enumerate() {
            let inset = (0.5 * (em - side)).round().max(0.0);
            self.plate.fill([0.0, row(i) + inset, side, side], opaque(*color));
            self.write(name.clone(), [left, row(i)]);
        }
        let listed = shown.len().min(MOST_ROWS);
        let more = more.saturating_add(shown.len() - listed);
        if more > 0 {
            self.write(format!("and {more} more"), [left, row(listed)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        ColorMap, Scale,
        plate::testing::{outside, width},
    };
    use super::*;

    const INK: [u8; 3] = [10, 20, 30];

    fn numbers(low: f64, high: f64, log: bool) -> Legend {
        let scale = Scale { map: ColorMap::Batlow, low: Some(low), high: Some(high), log };
        let key = Key::Numbers(scale.over([]).unwrap());
        Legend { title: "Speed".into(), unit: "m/s".into(), key }
    }

    fn categories(count: usize, more: usize) -> Legend {
        let shown = (0..count).map(|i| (format!("piece {i}"), [i as u8, 0, 0])).collect();
        Legend { title: "Piece".into(), unit: String::new(), key: Key::Categories { shown, more } }
    }

    #[test]
    fn a_plate_holds_all_that_is_on_it() {
        let mut legends: Vec<Legend> = [0, 1, 15, 16, 17, 40].map(|count| categories(count, 3)).into();
        legends.extend([numbers(0.0, 1.0, false), numbers(-1e300, 1e300, false), numbers(1e-6, 1e3, true)]);
        legends.push(Legend { title: String::new(), ..numbers(2.0, 3.0, true) });
        for legend in &legends {
            for em in [0.0, 1.0, 7.3, 12.0, 64.0] {
                let plate = legend.plate(em, INK, width);
                assert_eq!(
                    outside(&plate),
                    None,
                    "{em} pixels, {legend:?}; a bar without room for half a line at its ends shows this"
                );
                assert_eq!(plate, legend.plate(em, INK, width), "the same plate each time");
            }
        }
    }

    #[test]
    fn a_bar_goes_from_the_high_end_down_and_its_ticks_lie_at_their_values() {
        let legend = numbers(0.0, 10.0, false);
        let plate = legend.plate(12.0, INK, width);
        assert_eq!(plate.texts[0].text, "Speed (m/s)");
        let (bar, ticks) = plate.fills.split_at(usize::from(STEPS));
        let wanted = |share: f64| opaque(ColorMap::Batlow.color(share));
        assert_eq!(bar[0].color, wanted(1.0 - 0.5 / f64::from(STEPS)));
        assert_eq!(bar[usize::from(STEPS) - 1].color, wanted(0.5 / f64::from(STEPS)));
        let bottom = |rect: [f32; 4]| rect[1] + rect[3];
        assert!(
            bar.iter().all(|fill| bottom(fill.rect) == bottom(bar[0].rect)),
            "each reaches the end of the bar"
        );
        assert!(
            bar.windows(2).all(|pair| pair[0].rect[1] < pair[1].rect[1]),
            "144 pixels show all 128 colours"
        );
        assert_eq!(bar[0].rect[3], 144.0);
        let texts: Vec<&str> = plate.texts[1..].iter().map(|text| text.text.as_str()).collect();
        assert_eq!(texts, ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(ticks.len(), texts.len());
        for (i, (tick, text)) in ticks.iter().zip(&plate.texts[1..]).enumerate() {
            let y = bottom(bar[0].rect) - 144.0 * i as f32 / 5.0;
            assert!((tick.rect[1] + 0.5 * tick.rect[3] - y).abs() <= 1.0, "tick {i} is at {:?}", tick.rect);
            assert!((text.at[1] + 6.0 - y).abs() < 0.01 && text.at[0] > bar[0].rect[2], "{text:?}");
        }
    }

    #[test]
    fn categories_beyond_sixteen_are_counted() {
        for (count, more, rows, last) in [
            (3, 0, 3, "piece 2"),
            (16, 0, 16, "piece 15"),
            (16, 1, 16, "and 1 more"),
            (20, 5, 16, "and 9 more"),
        ] {
            let plate = categories(count, more).plate(10.0, INK, width);
            assert_eq!(plate.fills.len(), rows);
            assert_eq!(plate.texts.last().map(|text| text.text.as_str()), Some(last));
            assert_eq!(plate.texts[0].text, "Piece", "no unit, no brackets");
            let rising = plate.texts.windows(2).all(|pair| pair[0].at[1] + pair[0].height <= pair[1].at[1]);
            assert!(rising, "rows do not overlap");
        }
    }
}
