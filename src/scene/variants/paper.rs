//! Layout and drawing of the sheet.
//!
//! In: pictures of one size with captions and labels. Out: one picture.

use crate::facade::lettering::Lettering;

/// Largest side of a sheet, pixels: many programs cannot open larger pictures.
pub const LARGEST: u32 = 16_384;

/// Height of letters, margin, and height of a line, pixels.
const LETTERS: f32 = 22.0;
const GAP: u32 = 10;
const LINE: u32 = 30;
const PAPER: [u8; 4] = [250, 249, 246, 255];
const INK: [u8; 3] = [38, 36, 34];
const FAINT: [u8; 3] = [112, 108, 102];

/// A picture with its caption.
pub struct Cell {
    /// RGBA8 rows from the top.
    pub rgba: Vec<u8>,
    /// Text below the picture.
    pub caption: String,
}

/// A sheet in progress.
pub struct Paper {
    /// Size of a picture, pixels.
    tile: [u32; 2],
    columns: usize,
    /// Left and top of the first picture, pixels.
    origin: [u32; 2],
    size: [u32; 2],
    /// Whether every picture has its own label.
    labelled: bool,
    letters: Lettering,
    pixels: Vec<u8>,
}

impl Paper {
    /// A blank sheet for this many columns and rows of pictures. `labels` are written above the columns and beside the
    /// rows.
    ///
    /// # Errors
    /// A line if the font cannot be loaded.
    pub fn new(
        tile: [u32; 2],
        (columns, rows): (usize, usize),
        labels: Option<(Vec<String>, Vec<String>)>,
    ) -> Result<Self, String> {
        let letters = Lettering::new(LETTERS).map_err(|error| error.to_string())?;
        let widest = |labels: &[String]| labels.iter().map(|label| letters.width(label)).fold(0.0, f32::max);
        let origin = labels
            .as_ref()
            .map_or([GAP, GAP], |(_, rows)| [widest(rows).ceil() as u32 + 2 * GAP, LINE + GAP]);
        let labelled = labels.is_none();
        let mut paper = Self { tile, columns, origin, size: [0, 0], labelled, letters, pixels: Vec::new() };
        let [across, down] = paper.steps();
        let along = |origin: u32, step: u32, count: usize| {
            u32::try_from(count)
                .ok()
                .and_then(|n| step.checked_mul(n))
                .map_or(u32::MAX, |all| all.saturating_add(origin))
        };
        paper.size = [along(origin[0], across, columns), along(origin[1], down, rows)];
        let bytes = paper.size.iter().map(|side| *side as usize).product::<usize>();
        // The caller rejects a sheet that is too large, by its size.
        if paper.size.iter().all(|side| *side <= LARGEST) {
            paper.pixels = PAPER.repeat(bytes);
        }
        for (i, label) in labels.iter().flat_map(|(columns, _)| columns.iter().enumerate()) {
            let middle = paper.corner(i)[0] as f32 + tile[0] as f32 / 2.0;
            let left = middle - paper.letters.width(label) / 2.0;
            paper.write(label, [left, GAP as f32 / 2.0], INK);
        }
        for (i, label) in labels.iter().flat_map(|(_, rows)| rows.iter().enumerate()) {
            let top = paper.corner(i * columns)[1] as f32 + (tile[1] as f32 - LETTERS) / 2.0;
            paper.write(label, [GAP as f32, top], INK);
        }
        Ok(paper)
    }

    /// Width and height, pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// RGBA8 rows from the top.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Distance from one picture to the next.
    fn steps(&self) -> [u32; 2] {
        let lines = if self.labelled { 2 } else { 1 };
        [self.tile[0].saturating_add(GAP), self.tile[1].saturating_add(LINE * lines + GAP)]
    }

    /// Left and top of a picture.
    fn corner(&self, number: usize) -> [u32; 2] {
        let [across, down] = self.steps();
        let (column, row) = ((number % self.columns.max(1)) as u32, (number / self.columns.max(1)) as u32);
        [self.origin[0] + column * across, self.origin[1] + row * down]
    }

    /// Draws a picture with its caption, and with its label if pictures are labelled.
    ///
    /// # Errors
    /// A line for a picture of another size.
    pub fn put(&mut self, number: usize, label: &str, cell: &Cell) -> Result<(), String> {
        let [left, top] = self.corner(number);
        let [width, height] = self.tile;
        let row_bytes = 4 * width as usize;
        let inside = left + width <= self.size[0] && top + height <= self.size[1];
        if !inside || cell.rgba.len() != row_bytes * height as usize {
            return Err("a picture does not fit its place on the sheet".into());
        }
        for (y, row) in cell.rgba.chunks_exact(row_bytes).enumerate() {
            let start = 4 * ((top as usize + y) * self.size[0] as usize + left as usize);
            self.pixels[start..start + row_bytes].copy_from_slice(row);
        }
        let mut lines = vec![(cell.caption.clone(), FAINT)];
        if self.labelled {
            lines.insert(0, (label.to_owned(), INK));
        }
        for (i, (text, color)) in lines.iter().enumerate() {
            let start = left as f32 + (width as f32 - self.letters.width(text)) / 2.0;
            self.write(text, [start.max(left as f32), (top + height + LINE * i as u32) as f32 + 3.0], *color);
        }
        Ok(())
    }

    fn write(&mut self, text: &str, at: [f32; 2], color: [u8; 3]) {
        let ([width, height], pixels) = (self.size.map(i64::from), &mut self.pixels);
        self.letters.draw(text, at, |[x, y], share| {
            if (0..width).contains(&x) && (0..height).contains(&y) {
                let start = 4 * (y * width + x) as usize;
                if let Some(pixel) = pixels.get_mut(start..start + 3) {
                    for (byte, ink) in pixel.iter_mut().zip(color) {
                        *byte = (f32::from(*byte) * (1.0 - share) + f32::from(ink) * share).round() as u8;
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of pixels in a rectangle (left, top, width, height) that are neither paper nor `tile`.
    fn inked(paper: &Paper, [left, top, width, height]: [u32; 4], tile: u8) -> usize {
        let at = |x: u32, y: u32| &paper.pixels[4 * (y * paper.size[0] + x) as usize..][..4];
        let all = (top..top + height).flat_map(|y| (left..left + width).map(move |x| (x, y)));
        all.filter(|(x, y)| at(*x, *y) != PAPER && at(*x, *y) != [tile; 4]).count()
    }

    fn cell(byte: u8) -> Cell {
        Cell { rgba: vec![byte; 4 * 40 * 30], caption: "3 pieces".into() }
    }

    #[test]
    fn pictures_lie_in_their_places_and_labels_beside_them() {
        let labels =
            (vec!["seeds = 4".to_owned(), "seeds = 9".into()], vec!["rough".to_owned(), "dusty".into()]);
        let mut paper = Paper::new([40, 30], (2, 2), Some(labels)).unwrap();
        for i in 0..4 {
            paper.put(i, "not written", &cell(i as u8)).unwrap();
        }
        for i in 0..4 {
            let [x, y] = paper.corner(i);
            assert_eq!(inked(&paper, [x, y, 40, 30], i as u8), 0, "picture {i} is whole");
            assert!(inked(&paper, [x, y + 30, 40, LINE], 0) > 20, "picture {i} has a caption");
        }
        let [left, top] = paper.corner(0);
        assert!(inked(&paper, [left, 0, 40, top], 0) > 20, "the column has a label");
        assert!(inked(&paper, [0, top, left, 30], 0) > 20, "the row has a label");
        assert!(
            paper.put(4, "", &cell(1)).is_err()
                && paper.put(0, "", &Cell { rgba: vec![0; 4], ..cell(1) }).is_err()
        );
    }

    #[test]
    fn a_picture_has_its_own_label_where_there_are_no_rows() {
        let mut paper = Paper::new([40, 30], (3, 1), None).unwrap();
        paper.put(1, "seeds = 4", &cell(7)).unwrap();
        let [x, y] = paper.corner(1);
        assert!(
            inked(&paper, [x, y + 30, 40, LINE], 7) > 20
                && inked(&paper, [x, y + 30 + LINE, 40, LINE], 7) > 20
        );
        assert_eq!(paper.size(), [GAP + 3 * 50, GAP + 30 + 2 * LINE + GAP]);
        let huge = Paper::new([8192, 8192], (200, 200), None).unwrap();
        assert!(huge.size()[0] > super::LARGEST && huge.pixels().is_empty());
    }
}
