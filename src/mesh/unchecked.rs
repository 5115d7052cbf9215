//! A mesh while it is read: what a file says, of which nothing is trusted yet.
//!
//! In: what a reader found, with any indices and positions. Out: a [`Mesh`] that keeps its promises, and what
//! was left out.

use super::{LoadWarning, Material, Mesh, Texture};
use std::io::Cursor;

/// An index that no vertex has.
pub(super) const MISSING: u32 = u32::MAX;
/// Warnings kept; a hostile file could give one a line.
const WARNING_LIMIT: usize = 40;
/// Bytes of decoded textures in all.
const TEXTURE_BUDGET: usize = 1 << 30;
/// Largest encoded texture, bytes.
pub(super) const TEXTURE_FILE_LIMIT: u64 = 256 << 20;
const TEXTURE_SIDE_LIMIT: u32 = 16_384;

/// Why a reader gave up, and where.
#[derive(Debug)]
pub(super) struct Problem {
    what: String,
    place: PlaceInFile,
}

/// A place in a file.
#[derive(Debug, Clone, Copy)]
enum PlaceInFile {
    Whole,
    Byte(usize),
    /// A byte of a text, shown as its line.
    LineOf(usize),
}

impl Problem {
    pub fn whole(what: impl Into<String>) -> Self {
        Self { what: what.into(), place: PlaceInFile::Whole }
    }
    pub fn at_byte(byte: usize, what: impl Into<String>) -> Self {
        Self { what: what.into(), place: PlaceInFile::Byte(byte) }
    }
    pub fn at_text(byte: usize, what: impl Into<String>) -> Self {
        Self { what: what.into(), place: PlaceInFile::LineOf(byte) }
    }

    /// One line, with the place in `bytes`.
    pub fn describe(&self, bytes: &[u8]) -> String {
        match self.place {
            PlaceInFile::Whole => self.what.clone(),
            PlaceInFile::Byte(at) => format!("byte {at}: {}", self.what),
            PlaceInFile::LineOf(at) => format!("line {}: {}", line_of(bytes, at), self.what),
        }
    }
}

/// The line, from 1, that byte `at` of `bytes` is on.
pub(super) fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at.min(bytes.len())].iter().filter(|&&b| b == b'\n').count()
}

/// A direction of length 1; zero where it is none.
fn unit(direction: [f32; 3]) -> [f32; 3] {
    let direction = glam::DVec3::from_array(direction.map(f64::from));
    direction.normalize_or_zero().as_vec3().to_array()
}

/// What a reader has found so far.
#[derive(Debug, Default)]
pub(super) struct UncheckedMesh {
    /// Anything: indices may be out of range, positions not finite, normals of any length. Colours, texture
    /// coordinates and normals are per vertex or absent.
    pub mesh: Mesh,
    warnings: Vec<LoadWarning>,
    suppressed: usize,
    texture_bytes: usize,
}

impl UncheckedMesh {
    /// Notes something odd.
    pub fn warn(&mut self, text: impl Into<String>) {
        if self.warnings.len() < WARNING_LIMIT {
            let text: String = text.into();
            self.warnings
                .push(LoadWarning(text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()));
        } else {
            self.suppressed += 1;
        }
    }

    /// A polygon as a fan, with its material if the file has any.
    pub fn push_polygon(&mut self, corners: &[u32], material: Option<u32>) {
        for pair in corners.get(1..).unwrap_or_default().windows(2) {
            self.mesh.triangles.push([corners[0], pair[0], pair[1]]);
            self.mesh.triangle_material.extend(material);
        }
    }

    /// Decodes a texture within bounds; what fails becomes a warning.
    pub fn decode_texture(&mut self, name: &str, encoded: &[u8]) -> Option<Texture> {
        if self.texture_bytes > TEXTURE_BUDGET {
            return None;
        }
        let decode = || {
            let mut reader = image::ImageReader::new(Cursor::new(encoded)).with_guessed_format()?;
            if reader.format().is_none() && name.to_ascii_lowercase().ends_with(".tga") {
                reader.set_format(image::ImageFormat::Tga);
            }
            let mut limits = image::Limits::default();
            limits.max_image_width = Some(TEXTURE_SIDE_LIMIT);
            limits.max_image_height = Some(TEXTURE_SIDE_LIMIT);
            limits.max_alloc = Some(TEXTURE_BUDGET as u64);
            reader.limits(limits);
            reader.decode()
        };
        match decode() {
            Ok(picture) => {
                let picture = picture.into_rgba8();
                let (width, height) = picture.dimensions();
                self.texture_bytes = self.texture_bytes.saturating_add(picture.len());
                if self.texture_bytes > TEXTURE_BUDGET {
                    self.warn(format!("texture {name} left out: more than 1 GiB of textures"));
                    return None;
                }
                Some(Texture { width, height, rgba: picture.into_raw() })
            }
            Err(error) => {
                self.warn(format!("texture {name} left out: {error}"));
                None
            }
        }
    }

    /// Drops what cannot be used and checks that something is left.
    pub fn finish(mut self) -> Result<(Mesh, Vec<LoadWarning>), Problem> {
        let mesh = &mut self.mesh;
        let count = mesh.positions.len();
        if mesh.triangles.is_empty() {
            // What was left out on the way is the likely reason.
            let why = self.warnings.first().map(|w| format!(" ({})", w.0)).unwrap_or_default();
            return Err(Problem::whole(format!("no triangle found{why}; export it with faces")));
        }
        if count >= MISSING as usize {
            return Err(Problem::whole("more than four thousand million vertices; decimate it"));
        }
        if mesh.colors.len() != count {
            mesh.colors.clear();
        }
        if mesh.uvs.len() != count {
            mesh.uvs.clear();
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
        mesh.uvs.iter_mut().flatten().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
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
        }
        // Vertices keep their numbers; those that no triangle may use get a harmless place.
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

/// A material of one colour.
pub(super) fn plain(color: [u8; 3]) -> Material {
    Material { color, texture: None }
}

/// A fraction as a byte; NaN is 0.
pub(super) fn byte(x: f32) -> u8 {
    (x.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// A number from ASCII digits, without a detour over `String`.
pub(super) fn number(token: &[u8]) -> Option<f64> {
    std::str::from_utf8(token).ok()?.parse().ok()
}
