//! The mesh of a piece as a set has it: a file of its own, crack faces last.
//!
//! In: a piece's mesh. Out: the same in float32 with a normal for each point, as OBJ or binary PLY; and the numbers of such
//! a file again. OBJ has all `v` and `vn` lines first, then the faces of the outside, then those of cracks in the group
//! `crack`. Points have one normal each, so that readers that split points by their normals keep the mesh closed.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use glam::DVec3;

use super::options::MeshFormat;
use crate::{
    export::{ArrayDigest, ExportError, NamedArray, Numbers, PieceMesh},
    files,
    geometry::Aabb,
};

/// End of a PLY file's header.
const END: &str = "end_header\n";
/// Largest file of a piece that is read, bytes.
const LARGEST: u64 = 4 << 30;
/// Bytes of a point and of a triangle in a PLY file.
const POINT: usize = 24;
const FACE: usize = 14;

/// The mesh of a piece in the order of its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The points, mesh units.
    pub vertices: Vec<[f32; 3]>,
    /// Unit normal of each point.
    pub normals: Vec<[f32; 3]>,
    /// The triangles: those of the outside, then those of cracks.
    pub triangles: Vec<[u32; 3]>,
    /// Number of triangles of the outside.
    pub outside: usize,
    /// Number in the piece's mesh of each triangle.
    pub order: Vec<u32>,
    /// Number here of each triangle of the piece's mesh.
    pub rank: Vec<u32>,
    /// Bounds of the points before they were rounded; `None` without points.
    pub bounds: Option<Aabb>,
    /// Area of all triangles, and of those of cracks, square units.
    pub area: [f64; 2],
}

impl Surface {
    /// Of a piece's mesh.
    pub fn of(mesh: &PieceMesh) -> Self {
        let is_crack = |t: &u32| mesh.faces[*t as usize].side.is_crack();
        let all = || 0..mesh.triangles.len() as u32;
        let mut order: Vec<u32> = all().filter(|t| !is_crack(t)).collect();
        let outside = order.len();
        order.extend(all().filter(is_crack));
        let mut rank = vec![0; order.len()];
        (0u32..).zip(&order).for_each(|(place, t)| rank[*t as usize] = place);
        let mut normals = vec![DVec3::ZERO; mesh.positions.len()];
        let mut area = [0.0; 2];
        for (number, t) in order.iter().enumerate() {
            let triangle = mesh.triangles[*t as usize];
            let [a, b, c] = triangle.map(|i| mesh.positions[i as usize]);
            let twice = (b - a).cross(c - a);
            triangle.iter().for_each(|i| normals[*i as usize] += twice);
            let own = 0.5 * twice.length();
            area[0] += own;
            area[1] += if number >= outside { own } else { 0.0 };
        }
        let single = |p: DVec3| (p.as_vec3() + glam::Vec3::ZERO).to_array();
        Self {
            vertices: mesh.positions.iter().map(|p| single(*p)).collect(),
            normals: normals.into_iter().map(|n| single(n.normalize_or(DVec3::Y))).collect(),
            triangles: order.iter().map(|t| mesh.triangles[*t as usize]).collect(),
            outside,
            order,
            rank,
            bounds: (!mesh.positions.is_empty()).then(|| Aabb::of(mesh.positions.iter().copied())),
            area,
        }
    }

    /// Adds points and triangles of piece `id` to the digest of its break.
    pub fn hash(&self, id: usize, digest: &mut ArrayDigest) {
        let vertices = self.vertices.as_flattened().to_vec();
        let triangles = self.triangles.as_flattened().to_vec();
        let name = |what: &str| format!("piece_{id}.{what}");
        digest.add(&NamedArray::new(name("vertices"), &[self.vertices.len(), 3], Numbers::F32(vertices)));
        digest.add(&NamedArray::new(name("triangles"), &[self.triangles.len(), 3], Numbers::U32(triangles)));
    }

    /// Writes the file of piece `id` into `folder`.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write(&self, folder: &Path, id: usize, format: MeshFormat) -> Result<(), ExportError> {
        let bytes = match format {
            MeshFormat::Obj => self.obj(id).into_bytes(),
            MeshFormat::Ply => self.ply(),
        };
        let path = file_of(folder, id, format);
        fs::write(&path, bytes).map_err(|e| ExportError::write(&path, e))
    }

    fn obj(&self, id: usize) -> String {
        let mut text = String::with_capacity(64 * (self.vertices.len() + self.triangles.len()));
        // Writing to a string cannot fail, here and below. A number is read as the one that was written.
        let _ = writeln!(text, "o piece_{id}");
        for [x, y, z] in &self.vertices {
            let _ = writeln!(text, "v {x} {y} {z}");
        }
        for [x, y, z] in &self.normals {
            let _ = writeln!(text, "vn {x} {y} {z}");
        }
        for (number, triangle) in self.triangles.iter().enumerate() {
            if number == self.outside {
                text.push_str("g crack\n");
            }
            let [a, b, c] = triangle.map(|i| u64::from(i) + 1);
            let _ = writeln!(text, "f {a}//{a} {b}//{b} {c}//{c}");
        }
        text
    }

    fn ply(&self) -> Vec<u8> {
        let (points, faces) = (self.vertices.len(), self.triangles.len());
        let mut bytes = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {points}\nproperty float x\nproperty float y\n\
             property float z\nproperty float nx\nproperty float ny\nproperty float nz\nelement face {faces}\n\
             property list uchar int vertex_indices\nproperty uchar crack\n{END}"
        )
        .into_bytes();
        bytes.reserve(POINT * points + FACE * faces);
        for (point, normal) in self.vertices.iter().zip(&self.normals) {
            point.iter().chain(normal).for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        for (number, triangle) in self.triangles.iter().enumerate() {
            bytes.push(3);
            triangle.iter().for_each(|i| bytes.extend(i.to_le_bytes()));
            bytes.push(u8::from(number >= self.outside));
        }
        bytes
    }

    /// Points and triangles of the file of piece `id` in `folder`; nothing else of it.
    ///
    /// # Errors
    /// A line that says what is wrong.
    pub fn read(folder: &Path, id: usize, format: MeshFormat) -> Result<Self, String> {
        let path = file_of(folder, id, format);
        let bytes = files::read(&path, LARGEST).map_err(|why| format!("{}: {why}", path.display()))?;
        let read = match format {
            MeshFormat::Obj => std::str::from_utf8(&bytes).ok().and_then(of_obj),
            MeshFormat::Ply => of_ply(&bytes),
        };
        let (vertices, triangles) =
            read.ok_or_else(|| format!("{}: this is not the file that a set has", path.display()))?;
        Ok(Self { vertices, triangles, ..Self::default() })
    }
}

/// Points and triangles.
type Numbered = (Vec<[f32; 3]>, Vec<[u32; 3]>);

fn of_obj(text: &str) -> Option<Numbered> {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("v ") {
            let numbers: Option<Vec<f32>> = rest.split(' ').map(|x| x.parse().ok()).collect();
            vertices.push(numbers?.try_into().ok()?);
        } else if let Some(rest) = line.strip_prefix("f ") {
            let corner = |word: &str| word.split("//").next()?.parse::<u32>().ok()?.checked_sub(1);
            let numbers: Option<Vec<u32>> = rest.split(' ').map(corner).collect();
            triangles.push(numbers?.try_into().ok()?);
        }
    }
    Some((vertices, triangles))
}

fn of_ply(bytes: &[u8]) -> Option<Numbered> {
    let start = bytes.windows(END.len()).position(|part| part == END.as_bytes())? + END.len();
    let header = std::str::from_utf8(&bytes[..start]).ok()?;
    let count = |what: &str| {
        let rest = header.split_once(&format!("element {what} "))?.1;
        rest.split_once('\n')?.0.parse::<usize>().ok()
    };
    let (points, faces) = (count("vertex")?, count("face")?);
    let (body, middle) = (&bytes[start..], points.checked_mul(POINT)?);
    let (of_points, of_faces) = body.split_at_checked(middle)?;
    if of_faces.len() != faces.checked_mul(FACE)? {
        return None;
    }
    let word = |part: &[u8], k: usize| part.get(4 * k..4 * k + 4)?.first_chunk::<4>().copied();
    let point = |part: &[u8]| Some([word(part, 0)?, word(part, 1)?, word(part, 2)?].map(f32::from_le_bytes));
    let face = |part: &[u8]| {
        let numbers = part.strip_prefix(&[3])?;
        Some([word(numbers, 0)?, word(numbers, 1)?, word(numbers, 2)?].map(u32::from_le_bytes))
    };
    Some((
        of_points.chunks_exact(POINT).map(point).collect::<Option<_>>()?,
        of_faces.chunks_exact(FACE).map(face).collect::<Option<_>>()?,
    ))
}

fn file_of(folder: &Path, id: usize, format: MeshFormat) -> PathBuf {
    folder.join(format!("piece_{id}.{}", format.ending()))
}

/// Whether a file of this name is a piece's mesh.
pub fn is_piece(name: &str) -> bool {
    let number = name.strip_prefix("piece_").and_then(|rest| {
        let endings = [MeshFormat::Obj, MeshFormat::Ply].map(|format| format!(".{}", format.ending()));
        endings.iter().find_map(|ending| rest.strip_suffix(ending.as_str()))
    });
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Corner, Face, Side};

    /// A tetrahedron whose first and third faces are cracks.
    fn mesh() -> PieceMesh {
        let corner = Corner { normal: glam::Vec3::Y, color: [0; 3], uv: [0.0; 2], uv2: [0.0; 2] };
        let side = |crack| if crack { Side::Inside } else { Side::Outside { material: 0 } };
        PieceMesh {
            positions: vec![
                DVec3::new(-0.0, 0.1, 1.0 / 3.0),
                DVec3::new(1.0, 0.1, 0.25),
                DVec3::new(0.0, 1.5, 1e-7),
                DVec3::new(0.0, 0.0, 2e9),
            ],
            triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
            faces: [true, false, true, false].map(|crack| Face { side: side(crack), beyond: None }).to_vec(),
            corners: vec![[corner; 3]; 4],
        }
    }

    #[test]
    fn crack_faces_are_last_and_areas_are_those_of_the_mesh() {
        let surface = Surface::of(&mesh());
        assert_eq!((&surface.order[..], surface.outside), (&[1, 3, 0, 2][..], 2));
        assert_eq!(surface.rank, [2, 0, 3, 1]);
        assert_eq!(surface.triangles[0], [0, 1, 3]);
        let area = |t: usize| {
            let [a, b, c] = mesh().triangles[t].map(|i| mesh().positions[i as usize]);
            (b - a).cross(c - a).length() / 2.0
        };
        assert!((surface.area[0] / (area(0) + area(1) + area(2) + area(3)) - 1.0).abs() < 1e-12);
        assert!((surface.area[1] / (area(0) + area(2)) - 1.0).abs() < 1e-12);
        assert!(surface.normals.iter().all(|n| (glam::Vec3::from(*n).length() - 1.0).abs() < 1e-6));
        assert_eq!(surface.bounds.unwrap().high, DVec3::new(1.0, 1.5, 2e9));
        assert_eq!(Surface::of(&PieceMesh::default()).bounds, None);
    }

    #[test]
    fn what_is_written_is_read_to_the_last_bit_and_tobj_reads_it_too() {
        let folder = std::env::temp_dir().join(format!("kintsugi-surface-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let surface = Surface::of(&mesh());
        let digest = |surface: &Surface| {
            let mut digest = ArrayDigest::default();
            surface.hash(3, &mut digest);
            digest.finish()
        };
        for format in [MeshFormat::Obj, MeshFormat::Ply] {
            surface.write(&folder, 3, format).unwrap();
            let read = Surface::read(&folder, 3, format).unwrap();
            assert_eq!((&read.vertices, &read.triangles), (&surface.vertices, &surface.triangles));
            assert_eq!(digest(&read), digest(&surface));
            let path = file_of(&folder, 3, format);
            let whole = fs::read(&path).unwrap();
            // Planted error: a digit or a byte of a coordinate.
            let mut other = whole.clone();
            let place =
                other.windows(3).position(|part| part == b"v 0").map_or(other.len() - 80, |at| at + 4);
            other[place] ^= 1;
            fs::write(&path, &other).unwrap();
            let damaged = Surface::read(&folder, 3, format);
            assert!(damaged.is_err() || digest(&damaged.unwrap()) != digest(&surface), "{format:?}");
            fs::write(&path, &whole[..whole.len() / 2]).unwrap();
            let cut = Surface::read(&folder, 3, format);
            assert!(cut.is_err() || digest(&cut.unwrap()) != digest(&surface), "{format:?}");
            fs::write(&path, &whole).unwrap();
        }
        let options = tobj::LoadOptions::default();
        let (models, _) = tobj::load_obj(folder.join("piece_3.obj"), &options).unwrap();
        let counts: Vec<usize> = models.iter().map(|model| model.mesh.indices.len() / 3).collect();
        assert_eq!(counts, [2, 2], "the outside and the crack");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_pieces_have_names_of_pieces() {
        assert!(is_piece("piece_0.obj") && is_piece("piece_120.ply"));
        for other in
            ["piece_.obj", "piece_1.glb", "piece_1a.obj", "notes.txt", "piece_1.obj.bak", "piece_-1.obj"]
        {
            assert!(!is_piece(other), "{other}");
        }
    }
}
