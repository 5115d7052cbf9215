//! A mesh being read, whose data are not validated yet.
//!
//! In: a reader's data, with any indices and positions. Out: a valid [`Mesh`], and warnings about what was left out.

use super::{MapUse, Material, Mesh, Part, Picture, PictureKind, Texture, away::Doubles, left_out::LeftOut};
use crate::{geometry::polygon, voxelize::Progress};
use glam::{DVec2, DVec3};
use std::{
    borrow::Cow,
    collections::HashMap,
    io::{self, BufRead, Cursor, Read, Seek},
    sync::Arc,
};

/// Limit of the total number of triangle corners of formats in which a small file can place one part any number of times.
pub(super) const CORNER_LIMIT: usize = 48 << 20;
/// Index of no vertex.
pub(super) const MISSING: u32 = u32::MAX;
/// Most warnings kept; a hostile file could cause one per line.
const WARNING_LIMIT: usize = 40;
/// Limit of the total pixels of all textures: half a gigabyte once decoded, whatever a small file declares.
const TEXTURE_PIXELS: u64 = 1 << 27;
/// Largest encoded texture, bytes.
pub(super) const TEXTURE_FILE_LIMIT: u64 = 256 << 20;
/// Limit of the bytes of all pictures that go to the pieces as they came.
const PICTURE_LIMIT: u64 = 1 << 30;
const TEXTURE_SIDE_LIMIT: u32 = 16_384;
/// Number of lines, vertices or faces read between two checks for cancellation.
const PACE: u32 = 1024;

/// A defect that did not prevent the import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadWarning(pub String);

/// Why and where a reader failed.
#[derive(Debug)]
pub(super) struct Problem {
    what: String,
    place: PlaceInFile,
    /// Whether the user cancelled.
    pub is_cancelled: bool,
}

/// A place in a file.
#[derive(Debug, Clone, Copy)]
enum PlaceInFile {
    Whole,
    Byte(usize),
    /// A byte of a text, shown as its line number.
    LineOf(usize),
}

impl Problem {
    pub fn whole(what: impl Into<String>) -> Self {
        Self { what: what.into(), place: PlaceInFile::Whole, is_cancelled: false }
    }
    pub fn at_byte(byte: usize, what: impl Into<String>) -> Self {
        Self { what: what.into(), place: PlaceInFile::Byte(byte), is_cancelled: false }
    }
    pub fn at_text(byte: usize, what: impl Into<String>) -> Self {
        Self { what: what.into(), place: PlaceInFile::LineOf(byte), is_cancelled: false }
    }
    pub fn cancelled() -> Self {
        Self { is_cancelled: true, ..Self::whole("reading was cancelled") }
    }

    /// A one-line message with the location in `bytes`.
    pub fn describe(&self, bytes: &[u8]) -> String {
        match self.place {
            PlaceInFile::Whole => self.what.clone(),
            PlaceInFile::Byte(at) => format!("byte {at}: {}", self.what),
            PlaceInFile::LineOf(at) => format!("line {}: {}", line_of(bytes, at), self.what),
        }
    }
}

/// Line number (from 1) of byte `at`.
pub(super) fn line_of(bytes: &[u8], at: usize) -> usize {
    let end = at.min(bytes.len());
    let ends_line =
        |k: &usize| bytes[*k] == b'\n' || (bytes[*k] == b'\r' && bytes.get(k + 1) != Some(&b'\n'));
    1 + (0..end).filter(ends_line).count()
}

/// Normalises a direction; zero if it cannot be normalised.
fn unit(direction: [f32; 3]) -> [f32; 3] {
    let direction = glam::DVec3::from_array(direction.map(f64::from));
    direction.normalize_or_zero().as_vec3().to_array()
}

/// Checks for cancellation, at an interval, since files have millions of items.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    progress: Progress,
    asked: u32,
}

impl Pace {
    fn new(progress: &Progress) -> Self {
        Self { progress: progress.clone(), asked: 0 }
    }

    /// Returns an error if the work is cancelled.
    #[inline]
    pub fn go_on(&mut self) -> Result<(), Problem> {
        self.asked = self.asked.wrapping_add(1);
        if self.asked.is_multiple_of(PACE) { self.go_on_now() } else { Ok(()) }
    }

    /// The same check at once, before something that takes long.
    pub fn go_on_now(&self) -> Result<(), Problem> {
        if self.progress.is_cancelled() { Err(Problem::cancelled()) } else { Ok(()) }
    }
}

/// Bytes that another crate decodes as long as the work is wanted: once it is cancelled, reading fails.
pub(super) struct Wanted<'a> {
    pub bytes: Cursor<&'a [u8]>,
    pub pace: Pace,
}

impl Wanted<'_> {
    fn go_on(&self) -> io::Result<()> {
        self.pace.go_on_now().map_err(|_| io::Error::other("cancelled"))
    }
}

impl Read for Wanted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.go_on()?;
        self.bytes.read(buffer)
    }
}

impl BufRead for Wanted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // Little at a time, or a decoder that takes all there is would never ask again.
        const PIECE: usize = 8 << 10;
        self.go_on()?;
        let left = self.bytes.fill_buf()?;
        Ok(&left[..left.len().min(PIECE)])
    }

    fn consume(&mut self, amount: usize) {
        self.bytes.consume(amount);
    }
}

impl Seek for Wanted<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// Most corners of a polygon that is looked at for concave ones: their cost grows with the square of the corners.
const MOST_CORNERS: usize = 1000;

/// Share of a polygon's area by which a triangle of a fan may face the other way: rounding of points that lie in a row.
const FOLDED: f64 = 1e-7;

/// The triangles of a polygon, as places in its list of corners: a fan where the outline is convex, and triangles within
/// the outline where it is not. A polygon with corners that are nowhere, or without a plane, is a fan. `place` has the
/// positions. Also whether the fan of a large polygon folds over its outline.
fn triangles_within(corners: &[u32], place: impl Fn(u32) -> Option<DVec3>) -> (Vec<[u32; 3]>, bool) {
    let count = corners.len() as u32;
    let fan = || (1..count.saturating_sub(1)).map(|k| [0, k, k + 1]).collect();
    if corners.len() < 4 {
        return (fan(), false);
    }
    let finite = |i: &u32| place(*i).filter(|p| p.is_finite());
    let Some(around) = corners.iter().map(finite).collect::<Option<Vec<DVec3>>>() else {
        return (fan(), false);
    };
    // Newell's normal: of an outline that is not quite flat, too. Its length is twice the area.
    let edges = around.iter().zip(around.iter().cycle().skip(1));
    let doubled = edges.map(|(a, b)| (*a - around[0]).cross(*b - around[0])).sum::<DVec3>();
    let Some(normal) = doubled.try_normalize() else { return (fan(), false) };
    let side = normal.any_orthonormal_vector();
    let up = normal.cross(side);
    let flat: Vec<DVec2> = around.iter().map(|p| DVec2::new(p.dot(side), p.dot(up))).collect();
    let at = |k: usize| flat[k % flat.len()];
    if corners.len() > MOST_CORNERS {
        let least = -FOLDED * doubled.length();
        let is_folded = (1..flat.len() - 1).any(|k| polygon::turn(at(0), at(k), at(k + 1)) < least);
        return (fan(), is_folded);
    }
    if (0..flat.len()).all(|k| polygon::turn(at(k), at(k + 1), at(k + 2)) >= 0.0) {
        return (fan(), false);
    }
    let outline: Vec<u32> = (0..count).collect();
    let parts = polygon::triangulate(&outline, &[], &|k| flat[k as usize], &|_, _| true);
    // An outline that crosses itself has no inside to be divided.
    (if parts.len() as u32 == count - 2 { parts } else { fan() }, false)
}

/// Colours of faces as materials, one for each colour.
#[derive(Default)]
pub(super) struct FaceColors {
    known: HashMap<Option<[u8; 3]>, u32>,
    is_full: bool,
}

/// Limit of the number of materials made of colours of faces.
const PALETTE_LIMIT: usize = 4096;

impl FaceColors {
    /// The material of a face of this colour.
    pub fn material(&mut self, color: Option<[u8; 3]>, unchecked: &mut UncheckedMesh) -> u32 {
        let next = self.known.len() as u32;
        if self.known.len() >= PALETTE_LIMIT {
            let known = self.known.get(&color);
            if known.is_none() && !std::mem::replace(&mut self.is_full, true) {
                unchecked.warn(format!(
                    "its faces have more than {PALETTE_LIMIT} colours: those of the rest are left out"
                ));
            }
            return known.copied().unwrap_or(0);
        }
        *self.known.entry(color).or_insert_with(|| {
            unchecked.mesh.materials.push(plain(color.unwrap_or([255; 3])));
            next
        })
    }

    /// Whether no face had a colour.
    pub fn are_none(&self) -> bool {
        self.known.keys().all(Option::is_none)
    }
}

/// Data read so far.
#[derive(Debug, Default)]
pub(super) struct UncheckedMesh {
    /// Unvalidated: indices may be out of range, positions not finite, normals of any length. Colours, texture
    /// coordinates and normals are per vertex or absent.
    pub mesh: Mesh,
    pub pace: Pace,
    /// What single precision rounds off the positions.
    pub doubles: Doubles,
    /// What is left out by name: a warning for each kind.
    pub left_out: LeftOut,
    warnings: Vec<LoadWarning>,
    /// How often each warning was given.
    times: Vec<usize>,
    suppressed: usize,
    texture_pixels: u64,
    picture_bytes: u64,
}

impl UncheckedMesh {
    /// An empty mesh, for a file whose reading `progress` can cancel.
    pub fn while_wanted(progress: &Progress) -> Self {
        Self { pace: Pace::new(progress), ..Self::default() }
    }

    /// Adds a warning; one that is there already is counted.
    pub fn warn(&mut self, text: impl Into<String>) {
        let text: String = text.into();
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if let Some(known) = self.warnings.iter().position(|known| known.0 == text) {
            self.times[known] += 1;
        } else if self.warnings.len() < WARNING_LIMIT {
            self.warnings.push(LoadWarning(text));
            self.times.push(1);
        } else {
            self.suppressed += 1;
        }
    }

    /// Adds a position that the file has in more than single precision.
    pub fn push_position(&mut self, position: [f64; 3]) {
        let rounded = self.doubles.rounded(self.mesh.positions.len(), position);
        self.mesh.positions.push(rounded);
    }

    /// Counts the positions from an origin near them, with a warning, where they would be rounded noticeably. To be
    /// called when all positions are there, and before any is copied.
    pub fn settle_positions(&mut self) {
        let Some((origin, warning)) = self.doubles.settle(&mut self.mesh.positions) else { return };
        self.mesh.origin = origin;
        self.warn(warning);
    }

    /// The triangles of a polygon, as places in its list of corners.
    pub fn parts_of(&mut self, corners: &[u32]) -> Vec<[u32; 3]> {
        let (parts, is_folded) = triangles_within(corners, |i| {
            let position = self.mesh.positions.get(i as usize)?;
            Some(self.doubles.exact(i as usize, *position))
        });
        if is_folded {
            self.warn(format!(
                "a concave polygon of more than {MOST_CORNERS} corners is read as a fan, which folds over its outline; \
                 triangulate it before"
            ));
        }
        parts
    }

    /// Adds a polygon, with its material if the file has any.
    pub fn push_polygon(&mut self, corners: &[u32], material: Option<u32>) {
        for part in self.parts_of(corners) {
            self.mesh.triangles.push(part.map(|k| corners[k as usize]));
            self.mesh.triangle_material.extend(material);
        }
    }

    /// Says that the triangles from number `first` on are a part of the file; nothing if there are none.
    pub fn end_part(&mut self, first: usize, part: impl FnOnce() -> Part) {
        let mesh = &mut self.mesh;
        if mesh.triangles.len() > first {
            let number = mesh.parts.len() as u32;
            mesh.triangle_part.resize(mesh.triangles.len(), number);
            mesh.parts.push(part());
        }
    }

    /// Decodes a texture within limits; a failure becomes a warning.
    pub fn decode_texture(&mut self, name: &str, encoded: &[u8]) -> Option<Texture> {
        let pace = self.pace.clone();
        let open = || {
            let wanted = Wanted { bytes: Cursor::new(encoded), pace: pace.clone() };
            let mut reader = image::ImageReader::new(wanted).with_guessed_format()?;
            if reader.format().is_none() && name.to_ascii_lowercase().ends_with(".tga") {
                reader.set_format(image::ImageFormat::Tga);
            }
            let mut limits = image::Limits::default();
            limits.max_image_width = Some(TEXTURE_SIDE_LIMIT);
            limits.max_image_height = Some(TEXTURE_SIDE_LIMIT);
            limits.max_alloc = Some(4 * TEXTURE_PIXELS);
            reader.limits(limits);
            Ok::<_, image::ImageError>(reader)
        };
        // Checked before decoding.
        let (width, height) = match open().and_then(image::ImageReader::into_dimensions) {
            Ok(size) => size,
            Err(error) => {
                self.warn(format!("texture {name} left out: {error}"));
                return None;
            }
        };
        let pixels = u64::from(width) * u64::from(height);
        if self.texture_pixels.saturating_add(pixels) > TEXTURE_PIXELS {
            self.warn(format!(
                "texture {name} left out: {width} x {height} pixels, and all textures may have {} million; scale it down",
                TEXTURE_PIXELS / 1_000_000
            ));
            return None;
        }
        // Counted whether it can be decoded or not: the work is the same.
        self.texture_pixels += pixels;
        match open().and_then(image::ImageReader::decode) {
            Ok(picture) => {
                let picture = picture.into_rgba8();
                let (width, height) = picture.dimensions();
                Some(Texture { width, height, rgba: picture.into_raw() })
            }
            Err(error) => {
                self.warn(format!("texture {name} left out: {error}"));
                None
            }
        }
    }

    /// Keeps an image file as it came, within limits; a failure becomes a warning. `shown` is its name in messages.
    pub fn keep_picture(&mut self, name: &str, shown: &str, bytes: Cow<'_, [u8]>) -> Option<Arc<Picture>> {
        if self.picture_bytes.saturating_add(bytes.len() as u64) > PICTURE_LIMIT {
            self.warn(format!(
                "picture {shown} left out: all pictures may have {} MiB; scale them down",
                PICTURE_LIMIT >> 20
            ));
            return None;
        }
        self.picture_bytes += bytes.len() as u64;
        let kind = PictureKind::of(&bytes);
        Some(Arc::new(Picture { name: name.to_owned(), bytes: bytes.into_owned(), kind }))
    }

    /// Leaves textures out that have other than the bytes of their pixels. Those that were decoded here have them.
    pub fn check_textures(&mut self) {
        let has_pixels = |t: &Texture| {
            let pixels = u64::from(t.width) * u64::from(t.height);
            pixels > 0 && pixels.checked_mul(4) == Some(t.rgba.len() as u64)
        };
        for number in 0..self.mesh.materials.len() {
            if self.mesh.materials[number].texture.take_if(|texture| !has_pixels(texture)).is_some() {
                self.mesh.materials[number].maps.remove(&MapUse::Color);
                self.warn(format!(
                    "the texture of material {number} left out: its bytes are not those of its pixels"
                ));
            }
        }
    }

    /// Drops invalid data and checks that something remains.
    pub fn finish(mut self) -> Result<(Mesh, Vec<LoadWarning>), Problem> {
        for (warning, times) in self.warnings.iter_mut().zip(&self.times).filter(|(_, times)| **times > 1) {
            warning.0 = format!("{} ({times} times)", warning.0);
        }
        // Beside the limit of warnings: there are as many as a reader knows kinds.
        self.warnings.extend(self.left_out.warnings().map(LoadWarning));
        let mesh = &mut self.mesh;
        let count = mesh.positions.len();
        if mesh.triangles.is_empty() {
            // A warning about dropped data is the likely reason.
            let why = self.warnings.first().map(|w| format!(" ({})", w.0)).unwrap_or_default();
            return Err(Problem::whole(format!("no triangle found{why}; export it with faces")));
        }
        if count >= MISSING as usize {
            return Err(Problem::whole("more than four thousand million vertices; decimate it"));
        }
        if mesh.colors.len() != count {
            mesh.colors.clear();
        }
        for uvs in [&mut mesh.uvs, &mut mesh.uvs2] {
            if uvs.len() != count {
                uvs.clear();
            }
            uvs.iter_mut().flatten().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        }
        if mesh.normals.len() != count {
            mesh.normals.clear();
        }
        for normal in &mut mesh.normals {
            *normal = unit(*normal);
        }
        if mesh.normals.iter().all(|normal| *normal == [0.0; 3]) {
            mesh.normals.clear();
        }
        if mesh.triangle_material.len() != mesh.triangles.len() || mesh.materials.is_empty() {
            mesh.triangle_material.clear();
        }
        if mesh.triangle_part.len() != mesh.triangles.len() || mesh.parts.is_empty() {
            mesh.triangle_part.clear();
            mesh.parts.clear();
        }
        let last_part = mesh.parts.len().saturating_sub(1) as u32;
        mesh.triangle_part.iter_mut().for_each(|part| *part = (*part).min(last_part));
        let is_creased = |shading: &u32| *shading == Mesh::CREASED;
        if mesh.smoothing.len() != mesh.triangles.len() || mesh.smoothing.iter().all(is_creased) {
            mesh.smoothing.clear();
        }
        let is_painted = !mesh.colors.is_empty();
        for material in &mut mesh.materials {
            material.is_painted = is_painted;
            material.settle();
        }
        let last_material = mesh.materials.len().saturating_sub(1) as u32;
        mesh.triangle_material.iter_mut().for_each(|m| *m = (*m).min(last_material));

        let finite: Vec<bool> = mesh.positions.iter().map(|p| p.iter().all(|x| x.is_finite())).collect();
        let (mut out_of_range, mut not_finite) = (0, 0);
        let mut keep = Vec::with_capacity(mesh.triangles.len());
        for t in &mesh.triangles {
            let in_range = t.iter().all(|&i| (i as usize) < count);
            let usable = in_range && t.iter().all(|&i| finite[i as usize]);
            out_of_range += usize::from(!in_range);
            not_finite += usize::from(in_range && !usable);
            keep.push(usable);
        }
        if out_of_range + not_finite > 0 {
            let retain = |keep: &[bool]| {
                let mut next = 0;
                let keep = keep.to_vec();
                move || {
                    next += 1;
                    keep[next - 1]
                }
            };
            let mut kept = retain(&keep);
            mesh.triangles.retain(|_| kept());
            let mut kept = retain(&keep);
            mesh.triangle_material.retain(|_| kept());
            let mut kept = retain(&keep);
            mesh.smoothing.retain(|_| kept());
            let mut kept = retain(&keep);
            mesh.triangle_part.retain(|_| kept());
        }
        // Vertices keep their numbers; invalid ones get a harmless position.
        for (p, _) in mesh.positions.iter_mut().zip(&finite).filter(|(_, finite)| !**finite) {
            *p = [0.0; 3];
        }
        let has_area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| glam::Vec3::from(mesh.positions[i as usize]).as_dvec3());
            (b - a).cross(c - a).length_squared() > 0.0
        };
        if !mesh.triangles.iter().any(has_area) {
            return Err(Problem::whole(match (out_of_range, not_finite, mesh.triangles.len()) {
                (0, 0, n) => format!("none of its {n} triangles has an area; check the vertex positions"),
                (bad, nan, 0) => format!(
                    "no usable triangle: {bad} with an index out of range, {nan} with a NaN or infinite vertex; export it again"
                ),
                (bad, nan, n) => format!(
                    "no usable triangle: {bad} with an index out of range, {nan} with a NaN or infinite vertex, \
                     {n} without area; export it again"
                ),
            }));
        }
        let plural = |n: usize| if n == 1 { "triangle" } else { "triangles" };
        if out_of_range > 0 {
            self.warn(format!("{out_of_range} {} dropped: vertex index out of range", plural(out_of_range)));
        }
        if not_finite > 0 {
            self.warn(format!("{not_finite} {} dropped: NaN or infinite vertex", plural(not_finite)));
        }
        if self.suppressed > 0 {
            self.warnings.push(LoadWarning(format!("{} more warnings not shown", self.suppressed)));
        }
        Ok((self.mesh, self.warnings))
    }
}

/// A material of a single colour.
pub(super) fn plain(color: [u8; 3]) -> Material {
    Material { color, ..Material::default() }
}

/// Converts a fraction to a byte; NaN gives 0.
pub(super) fn byte(x: f32) -> u8 {
    (x.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// Parses a number from ASCII digits without a `String`.
pub(super) fn number(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checksum of a PNG chunk (PNG, annex D).
    fn crc(bytes: &[u8]) -> u32 {
        let bit = |c: u32| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 };
        !bytes.iter().fold(!0, |c, &b| (0..8).fold(c ^ u32::from(b), |c, _| bit(c)))
    }

    #[test]
    fn a_texture_that_cannot_be_decoded_counts_and_one_that_nobody_wants_is_not_decoded() {
        let mut whole = Vec::new();
        let picture =
            image::RgbaImage::from_fn(64, 64, |x, y| image::Rgba([x as u8, y as u8, (x * y) as u8, 255]));
        picture.write_to(&mut Cursor::new(&mut whole), image::ImageFormat::Png).unwrap();
        let mut mesh = UncheckedMesh::default();
        assert!(mesh.decode_texture("cut.png", &whole[..whole.len() / 2]).is_none());
        assert_eq!(mesh.texture_pixels, 64 * 64, "its work was that of a whole one");
        assert!(mesh.decode_texture("whole.png", &whole).is_some());
        let progress = Progress::default();
        let mut mesh = UncheckedMesh::while_wanted(&progress);
        progress.cancel();
        assert!(mesh.decode_texture("whole.png", &whole).is_none());
    }

    #[test]
    fn a_warning_that_repeats_is_said_once_with_a_count() {
        let mut unchecked = UncheckedMesh::default();
        unchecked.mesh.positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        unchecked.mesh.triangles.push([0, 1, 2]);
        for text in ["lines left out", "a picture is gone", "lines left out", "lines\nleft out"] {
            unchecked.warn(text);
        }
        let said: Vec<String> = unchecked.finish().unwrap().1.into_iter().map(|warning| warning.0).collect();
        assert_eq!(said, ["lines left out (3 times)", "a picture is gone"]);
    }

    #[test]
    fn textures_are_counted_before_they_are_decoded() {
        let mut small = Vec::new();
        let picture = image::RgbaImage::from_pixel(2, 2, image::Rgba([1, 2, 3, 255]));
        picture.write_to(&mut Cursor::new(&mut small), image::ImageFormat::Png).unwrap();
        // A few bytes that declare 16384 x 16384 pixels.
        let mut huge = small.clone();
        huge[16..24].copy_from_slice(&[0, 0, 0x40, 0, 0, 0, 0x40, 0]);
        let sum = crc(&huge[12..29]);
        huge[29..33].copy_from_slice(&sum.to_be_bytes());
        let mut mesh = UncheckedMesh::default();
        assert!(mesh.decode_texture("a.png", &huge).is_none());
        let said = &mesh.warnings[0].0;
        assert!(said.contains("16384 x 16384 pixels") && said.contains("scale it down"), "{said}");
        assert!(mesh.decode_texture("b.png", &small).is_some(), "one that fits still does");
        mesh.texture_pixels = TEXTURE_PIXELS - 3;
        assert!(mesh.decode_texture("c.png", &small).is_none(), "all of them count");
        assert!(mesh.warnings[1].0.contains("134 million"), "{}", mesh.warnings[1].0);
    }
}
