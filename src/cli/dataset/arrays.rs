//! The arrays of a break, their digest, and their way to a file and back.
//!
//! In: the pieces with meshes, what each face borders on, points. Out: named arrays in a fixed order, `pieces.npz`. The
//! digest is of the numbers alone and not of the archive round them.

use std::{
    fs::{self, File},
    io::Read as _,
    path::Path,
};

use glam::{DQuat, DVec3};
use kintsugi_core::memory::{self, Short};

use super::{partners::partners, surface::Surface};
use crate::{
    export::{Arrays as _, Assembly, Bond, ExportError, NamedArray, Npz, Numbers, touching::SurfacePoints},
    files::Unread,
    fracture::Impact,
};

/// The file of the arrays.
pub const FILE: &str = "pieces.npz";

/// What the arrays of a break are made of.
pub struct Contents<'a> {
    /// The pieces, prepared.
    pub what: &'a Assembly,
    /// The blow, mesh units.
    pub impact: Impact,
    /// Pieces that touch.
    pub bonds: &'a [Bond],
    /// The surface of each piece.
    pub surfaces: &'a [Surface],
    /// The piece beyond each triangle of each piece.
    pub beyond: &'a [Vec<i32>],
    /// Points on each piece; empty without points.
    pub points: &'a [SurfacePoints],
    /// Rotation of each piece at the start.
    pub poses: &'a [DQuat],
    /// SHA-256 of the arrays of voxels, hexadecimal.
    pub voxels_sha256: &'a str,
    /// Whether mesh files are written.
    pub has_meshes: bool,
    /// Whether points are.
    pub has_points: bool,
    /// Whether each point has the row of its partner.
    pub has_correspondences: bool,
}

/// All arrays, in their order.
pub fn arrays(of: &Contents<'_>) -> Vec<NamedArray> {
    let pieces = &of.what.pieces;
    let (count, figures) = (pieces.len(), pieces.iter().map(|piece| piece.figures()).collect::<Vec<_>>());
    let number = |number: Option<usize>| number.map_or(-1, |number| number as i32);
    let bounds = figures.iter().zip(of.surfaces).flat_map(|(figures, surface)| {
        let bounds = surface.bounds.unwrap_or(figures.bounds);
        [bounds.low, bounds.high]
    });
    let touching: Vec<i32> = of.bonds.iter().flat_map(|bond| bond.pieces.map(|id| id as i32)).collect();
    let bonds = of.bonds.len();
    let mut all = vec![
        whole("piece", &[count], (0..count as i32).collect()),
        real("mass", &[count], figures.iter().map(|figures| figures.mass).collect()),
        real("volume", &[count], figures.iter().map(|figures| figures.volume).collect()),
        real("centre", &[count, 3], flat(figures.iter().map(|figures| figures.centre))),
        real("bounds", &[count, 2, 3], flat(bounds)),
        whole("cell", &[count], pieces.iter().map(|piece| number(piece.cell.map(|c| c as usize))).collect()),
        whole("parent", &[count], pieces.iter().map(|piece| number(piece.parent)).collect()),
        whole("touching", &[bonds, 2], touching),
        real("touching_area", &[bonds], of.bonds.iter().map(|bond| bond.area).collect()),
        real("touching_centre", &[bonds, 3], flat(of.bonds.iter().map(|bond| bond.centre))),
        real("touching_normal", &[bonds, 3], flat(of.bonds.iter().map(|bond| bond.normal))),
        real("impact_point", &[3], flat([of.impact.point])),
        real("impact_direction", &[3], flat([of.impact.direction])),
        real("start_rotation", &[count, 4], of.poses.iter().flat_map(|pose| pose.to_array()).collect()),
        real("start_translation", &[count, 3], vec![0.0; 3 * count]),
        bytes("voxels_sha256", digits(of.voxels_sha256)),
    ];
    if of.has_meshes {
        let volume = |i: usize| of.what.figures.get(i).map_or(0.0, |figures| figures.mass.volume_m3);
        let faces = of.surfaces.iter().map(|surface| surface.order.len());
        let ordered = of.surfaces.iter().zip(of.beyond).flat_map(|(surface, beyond)| {
            surface.order.iter().map(|t| beyond.get(*t as usize).copied().unwrap_or_default())
        });
        let ordered: Vec<i32> = ordered.collect();
        all.push(real("mesh_volume", &[count], (0..count).map(volume).collect()));
        all.push(whole("face_start", &[count + 1], starts(faces)));
        all.push(whole("face_beyond", &[ordered.len()], ordered));
    }
    if of.has_points {
        all.extend(points(of));
    }
    all
}

/// The arrays of the points of all pieces, one after the other.
fn points(of: &Contents<'_>) -> Vec<NamedArray> {
    let count: usize = of.points.iter().map(|points| points.positions.len()).sum();
    let (mut crack, mut beyond, mut triangle) = (Vec::new(), Vec::new(), Vec::new());
    for (piece, points) in of.points.iter().enumerate() {
        let (mesh, surface) = (of.what.mesh(piece), &of.surfaces[piece]);
        for t in points.triangles.iter().map(|t| *t as usize) {
            crack.push(u8::from(mesh.faces.get(t).is_some_and(|face| face.side.is_crack())));
            beyond.push(of.beyond[piece].get(t).copied().unwrap_or_default());
            triangle.push(surface.rank.get(t).map_or(-1, |rank| *rank as i32));
        }
    }
    let rows = |list: fn(&SurfacePoints) -> &Vec<[f32; 3]>| {
        let numbers = of.points.iter().flat_map(|points| list(points).as_flattened().iter().copied());
        Numbers::F32(numbers.collect())
    };
    // After all others, which have the same digest with and without these.
    let matched = if of.has_correspondences {
        let pieces: Vec<&[[f32; 3]]> = of.points.iter().map(|points| &points.positions[..]).collect();
        let (partner, distance) = partners(&pieces, &beyond);
        vec![
            whole("partner", &[count], partner),
            NamedArray::new("partner_distance", &[count], Numbers::F32(distance)),
        ]
    } else {
        Vec::new()
    };
    let mut all = vec![
        whole("point_start", &[of.points.len() + 1], starts(of.points.iter().map(|p| p.positions.len()))),
        NamedArray::new("points", &[count, 3], rows(|points| &points.positions)),
        NamedArray::new("normals", &[count, 3], rows(|points| &points.normals)),
        bytes("crack", crack),
        whole("beyond", &[count], beyond),
        whole("triangle", &[count], triangle),
    ];
    all.extend(matched);
    all
}

/// Where each run begins, and where the last one ends.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<i32> {
    let mut all = vec![0];
    let mut end = 0;
    for length in lengths {
        end += length as i32;
        all.push(end);
    }
    all
}

fn whole(name: &str, shape: &[usize], numbers: Vec<i32>) -> NamedArray {
    NamedArray::new(name, shape, Numbers::I32(numbers))
}

/// Zeros have no sign.
fn real(name: &str, shape: &[usize], numbers: Vec<f64>) -> NamedArray {
    NamedArray::new(name, shape, Numbers::F64(numbers.into_iter().map(|number| number + 0.0).collect()))
}

fn bytes(name: &str, numbers: Vec<u8>) -> NamedArray {
    NamedArray::new(name, &[numbers.len()], Numbers::U8(numbers))
}

fn flat(points: impl IntoIterator<Item = DVec3>) -> Vec<f64> {
    points.into_iter().flat_map(|point| point.to_array()).collect()
}

/// The bytes of hexadecimal digits.
fn digits(text: &str) -> Vec<u8> {
    let byte = |k: usize| u8::from_str_radix(text.get(2 * k..2 * k + 2)?, 16).ok();
    (0..text.len() / 2).filter_map(byte).collect()
}

/// Writes arrays to an archive.
///
/// # Errors
/// [`ExportError`].
pub fn write(path: &Path, arrays: &[NamedArray]) -> Result<(), ExportError> {
    let mut npz = Npz::create(path)?;
    for NamedArray { name, shape, numbers } in arrays {
        match numbers {
            Numbers::U8(numbers) => npz.array(name, shape, numbers),
            Numbers::I32(numbers) => npz.array(name, shape, numbers),
            Numbers::U32(numbers) => npz.array(name, shape, numbers),
            Numbers::F32(numbers) => npz.array(name, shape, numbers),
            Numbers::F64(numbers) => npz.array(name, shape, numbers),
        }?;
    }
    npz.finish()
}

/// Reads an archive that [`write()`] wrote.
///
/// # Errors
/// A line that says what is wrong with it, or that it does not fit into the free memory.
pub fn read(path: &Path) -> Result<Vec<NamedArray>, String> {
    read_within(path, memory::free())
}

/// The same with so much free memory, bytes; `None` if that is not known.
fn read_within(path: &Path, free: Option<u64>) -> Result<Vec<NamedArray>, String> {
    let told = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let fits = |needed: u64| match free {
        Some(free) if needed > free => Err(told(&format!(
            "{}; close other programs, or look whether this is the data set's file",
            Short { needed, free }
        ))),
        _ => Ok(()),
    };
    // Opening a pipe would wait for a writer.
    let about = fs::metadata(path).map_err(|e| told(&e))?;
    if !about.is_file() {
        return Err(told(&Unread::NotRegular));
    }
    // Packed numbers take no less.
    fits(about.len())?;
    let file = File::open(path).map_err(|e| told(&e))?;
    let mut archive = zip::ZipArchive::new(file).map_err(|e| told(&e))?;
    let size = archive.decompressed_size().and_then(|size| u64::try_from(size).ok());
    let size =
        size.ok_or_else(|| told(&"it does not say how long its arrays are, as a set's archive does"))?;
    // An array is there as bytes and as numbers for a moment.
    fits(size.saturating_mul(2))?;
    let mut all = Vec::with_capacity(archive.len().min(64));
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).map_err(|e| told(&e))?;
        let name = entry.name().map_err(|e| told(&e))?.into_owned();
        let (size, mut content) = (entry.size(), Vec::new());
        entry.by_ref().take(size.saturating_add(1)).read_to_end(&mut content).map_err(|e| told(&e))?;
        let name = name.strip_suffix(".npy").unwrap_or(&name);
        let array =
            parse(name, &content).ok_or_else(|| told(&format!("{name} is no array that a set has")))?;
        all.push(array);
    }
    Ok(all)
}

/// An array of NumPy's format 1.0 in C order, as long as its header says.
fn parse(name: &str, content: &[u8]) -> Option<NamedArray> {
    let length = content.strip_prefix(b"\x93NUMPY\x01\x00")?.first_chunk::<2>()?;
    let (header, data) = content.get(10..)?.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let header = std::str::from_utf8(header).ok()?;
    let between = |from: &str, to: &str| Some(header.split_once(from)?.1.split_once(to)?.0);
    let shape: Vec<usize> =
        between("'shape': (", ")")?.split(',').filter_map(|length| length.trim().parse().ok()).collect();
    let descr = between("'descr': '", "'")?;
    let width = match descr {
        "|u1" => 1,
        "<f8" => 8,
        _ => 4,
    };
    if shape.iter().try_fold(width, |bytes: usize, length| bytes.checked_mul(*length))? != data.len() {
        return None;
    }
    let numbers = match descr {
        "|u1" => Numbers::U8(data.to_vec()),
        "<i4" => Numbers::I32(elements(data, i32::from_le_bytes)),
        "<u4" => Numbers::U32(elements(data, u32::from_le_bytes)),
        "<f4" => Numbers::F32(elements(data, f32::from_le_bytes)),
        "<f8" => Numbers::F64(elements(data, f64::from_le_bytes)),
        _ => return None,
    };
    Some(NamedArray { name: name.to_owned(), shape, numbers })
}

fn elements<T, const N: usize>(data: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    data.as_chunks::<N>().0.iter().map(|bytes| of(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::ArrayDigest;

    fn some() -> Vec<NamedArray> {
        vec![
            whole("a", &[2, 1], vec![-1, 7]),
            real("b", &[1], vec![-0.0]),
            bytes("c", digits("00ff7f")),
            NamedArray::new("d", &[0, 3], Numbers::F32(Vec::new())),
            NamedArray::new("e", &[1], Numbers::U32(vec![u32::MAX])),
        ]
    }

    fn digest(arrays: &[NamedArray]) -> String {
        let mut digest = ArrayDigest::default();
        arrays.iter().for_each(|array| digest.add(array));
        digest.finish()
    }

    #[test]
    fn what_is_written_is_read_with_the_same_digest() {
        let path = std::env::temp_dir().join(format!("kintsugi-set-arrays-{}.npz", std::process::id()));
        write(&path, &some()).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read, some());
        assert_eq!(digest(&read), digest(&some()));
        std::fs::write(&path, b"PK").unwrap();
        assert!(super::read(&path).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(write(&path, &[whole("a", &[3], vec![1])]).is_err(), "an array that does not fill its shape");
        let _ = std::fs::remove_file(&path);
    }

    #[test]
    fn an_archive_that_is_longer_than_it_says_or_than_memory_is_refused() {
        let path = std::env::temp_dir().join(format!("kintsugi-set-long-{}.npz", std::process::id()));
        let zeros = || whole("a", &[250_000], vec![0; 250_000]);
        write(&path, &[zeros()]).unwrap();
        let packed = std::fs::metadata(&path).unwrap().len();
        assert!(packed < 100_000, "{packed}");
        let refused = |free| read_within(&path, Some(free)).map(|all| all.len()).unwrap_err();
        for free in [packed, 1_999_999] {
            assert!(refused(free).contains("close other programs"), "{}", refused(free));
        }
        assert_eq!(read_within(&path, Some(3_000_000)).unwrap(), [zeros()]);
        // The unpacked length stands 24 bytes after the mark of the archive's list of contents. It tells of less than is there.
        let mut bytes = std::fs::read(&path).unwrap();
        let list = bytes.windows(4).rposition(|mark| mark == b"PK\x01\x02").unwrap();
        bytes[list + 24..list + 28].copy_from_slice(&1000u32.to_le_bytes());
        std::fs::write(&path, &bytes).unwrap();
        assert!(!refused(100_000).contains("memory"), "{}", refused(100_000));
        // What is no archive is not looked through for one.
        std::fs::write(&path, [0; 1000]).unwrap();
        assert!(refused(999).contains("memory") && !refused(1000).contains("memory"), "{}", refused(999));
        std::fs::remove_file(&path).unwrap();
        // A header that tells of more numbers than follow it, or of fewer.
        let array = |shape: &str, data: usize| {
            let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({shape}), }}");
            let length = (header.len() as u16).to_le_bytes();
            let (begins, zeros) = (b"\x93NUMPY\x01\x00", vec![0u8; data]);
            let parts: [&[u8]; 4] = [begins, &length, header.as_bytes(), &zeros];
            parts.concat()
        };
        assert_eq!(parse("a", &array("2,", 8)), Some(whole("a", &[2], vec![0; 2])));
        for (shape, data) in [("3,", 8), ("1,", 8), ("2,", 7), ("4294967296, 4294967296, 4", 0)] {
            assert_eq!(parse("a", &array(shape, data)), None, "{shape}");
        }
        #[cfg(unix)]
        assert!(read(Path::new("/dev/zero")).unwrap_err().contains("regular file"));
    }

    #[test]
    fn a_digest_is_of_names_types_shapes_and_bytes() {
        let mut bytes = b"a\0<i4\0".to_vec();
        for axis in [2u64, 2, 1] {
            bytes.extend(axis.to_le_bytes());
        }
        bytes.extend([-1i32, 7].into_iter().flat_map(i32::to_le_bytes));
        assert_eq!(digest(&some()[..1]), crate::mesh::digest::sha256(&bytes));
        let others = [whole("a", &[1, 2], vec![-1, 7]), whole("b", &[2, 1], vec![-1, 7])];
        assert!(others.iter().all(|other| digest(std::slice::from_ref(other)) != digest(&some()[..1])));
        assert_eq!(starts([3, 0, 4].into_iter()), [0, 3, 3, 7]);
        assert_eq!(digits("00ff7f"), [0, 255, 127]);
    }
}
