//! NumPy archives: a zip of arrays, each with NumPy's own header (format 1.0).
//!
//! In: slices of numbers, or arrays part by part. Out: bytes that depend only on the data: time stamps are fixed, and
//! the caller chooses the order.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{
    ExportError,
    arrays::{Arrays, Element},
};
use crate::disk::{UnderWay, beside};

#[cfg(target_endian = "big")]
compile_error!("arrays are written as they lie in memory, which must be little-endian");

/// An archive being written.
pub struct Npz {
    path: PathBuf,
    zip: ZipWriter<BufWriter<File>>,
}

impl Npz {
    /// Creates or replaces the file.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        let file = File::create(path).map_err(|e| ExportError::write(path, e))?;
        Ok(Self { path: path.to_owned(), zip: ZipWriter::new(BufWriter::new(file)) })
    }

    fn check_count(&self, name: &str, shape: &[usize], count: usize) -> Result<(), ExportError> {
        if shape.iter().product::<usize>() == count {
            return Ok(());
        }
        Err(ExportError::Format {
            path: self.path.clone(),
            reason: format!("array {name} has {count} elements for the shape {shape:?}"),
        })
    }

    fn start<T: Element>(&mut self, name: &str, shape: &[usize]) -> Result<(), ExportError> {
        let bytes = shape.iter().product::<usize>() as u64 * size_of::<T>() as u64;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(1))
            .last_modified_time(zip::DateTime::default())
            .large_file(bytes > u64::from(u32::MAX) / 2)
            .unix_permissions(0o644)
            // Otherwise this byte would name the present system, and archives from two systems would differ.
            .system(zip::System::Unix);
        let path = &self.path;
        self.zip.start_file(format!("{name}.npy"), options).map_err(|e| ExportError::write(path, e))?;
        self.put(&header(T::DESCR, shape))
    }

    fn put<T: Element>(&mut self, data: &[T]) -> Result<(), ExportError> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        self.zip.write_all(bytes).map_err(|e| ExportError::write(&self.path, e))
    }

    /// Writes the directory and flushes the file.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn finish(self) -> Result<(), ExportError> {
        let path = self.path;
        let mut file = self.zip.finish().map_err(|e| ExportError::write(&path, e))?;
        file.flush().map_err(|e| ExportError::write(&path, e))
    }
}

impl Arrays for Npz {
    fn array<T: Element>(&mut self, name: &str, shape: &[usize], data: &[T]) -> Result<(), ExportError> {
        self.check_count(name, shape, data.len())?;
        self.start::<T>(name, shape)?;
        self.put(data)
    }

    /// The array is never held in memory as a whole.
    fn array_of_parts<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        parts: impl Iterator<Item = Result<Vec<T>, ExportError>>,
    ) -> Result<(), ExportError> {
        self.start::<T>(name, shape)?;
        let mut count = 0;
        for part in parts {
            let part = part?;
            count += part.len();
            self.put(&part)?;
        }
        self.check_count(name, shape, count)
    }
}

/// Has `fill` write an archive to a temporary file, and renames that to `path`.
///
/// # Errors
/// [`ExportError`], about `path`; the previous file is kept.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let beside = beside(path);
    let _under_way = UnderWay::at(&beside);
    let written =
        fill(&beside).and_then(|()| fs::rename(&beside, path).map_err(|e| ExportError::write(path, e)));
    written.map_err(|error| {
        // The first error is the one to report.
        let _ = fs::remove_file(&beside);
        match error {
            // The hidden name says nothing to a user.
            ExportError::Write { reason, .. } => ExportError::write(path, reason),
            other => other,
        }
    })
}

/// Magic, version, length and the dictionary, padded so that the data starts at a multiple of 64 bytes.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let mut dims: String = shape.iter().map(|n| format!("{n}, ")).collect();
    if shape.len() > 1 {
        dims.truncate(dims.len() - 2);
    }
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", dims.trim_end());
    let unpadded = 10 + dict.len() + 1;
    let padding = unpadded.next_multiple_of(64) - unpadded;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend(((dict.len() + padding + 1) as u16).to_le_bytes());
    out.extend(dict.as_bytes());
    out.extend(std::iter::repeat_n(b' ', padding));
    out.push(b'\n');
    out
}

/// Reads an (n, 3) array of float32 or float64 in C order, as `numpy.save` writes it.
///
/// # Errors
/// One line that says what is wrong with the bytes.
pub fn read_points(bytes: &[u8]) -> Result<Vec<[f64; 3]>, String> {
    let not_npy = || "it is not a .npy file; save it with numpy.save".to_owned();
    if bytes.get(..6) != Some(b"\x93NUMPY") {
        return Err(not_npy());
    }
    let (len, start) = match bytes.get(6) {
        Some(1) => (bytes.get(8..10).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]]))), 10),
        Some(2 | 3) => (bytes.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize), 12),
        _ => return Err(not_npy()),
    };
    let (text, data) = len.and_then(|len| bytes.get(start..)?.split_at_checked(len)).ok_or_else(not_npy)?;
    let text = String::from_utf8_lossy(text);
    if !text.contains("'fortran_order': False") {
        return Err("its array is in Fortran order; save numpy.ascontiguousarray of it".into());
    }
    let rows = text
        .split_once("'shape': (")
        .and_then(|(_, rest)| rest.split_once(')'))
        .map(|(dims, _)| dims.split(',').filter_map(|d| d.trim().parse().ok()).collect::<Vec<usize>>())
        .filter(|dims| dims.len() == 2 && dims[1] == 3)
        .map(|dims| dims[0])
        .ok_or("its shape is not (n, 3)")?;
    let numbers: Vec<f64> = if text.contains("'<f8'") {
        data.chunks_exact(8).filter_map(|b| b.try_into().ok()).map(f64::from_le_bytes).collect()
    } else if text.contains("'<f4'") {
        data.chunks_exact(4)
            .filter_map(|b| b.try_into().ok())
            .map(f32::from_le_bytes)
            .map(f64::from)
            .collect()
    } else {
        return Err("its type is neither float32 nor float64".into());
    };
    if rows.checked_mul(3) != Some(numbers.len()) {
        return Err(format!("it announces {rows} rows but holds {} numbers", numbers.len()));
    }
    Ok(numbers.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_aligned_and_names_the_shape() {
        for (shape, text) in [(vec![3], "(3,)"), (vec![4, 4], "(4, 4)"), (vec![0, 3], "(0, 3)")] {
            let h = header("<f8", &shape);
            assert_eq!(h.len() % 64, 0);
            let dict = String::from_utf8_lossy(&h[10..]);
            assert!(dict.contains(&format!("'shape': {text}, ")), "{dict}");
            assert!(dict.ends_with('\n'));
            assert_eq!(u16::from_le_bytes([h[8], h[9]]) as usize, h.len() - 10);
        }
    }

    #[test]
    fn an_array_in_parts_is_the_same_archive_and_a_missing_part_is_seen() {
        let folder = std::env::temp_dir().join(format!("kintsugi-npy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let data: Vec<i32> = (0..3000).map(|i| i * i).collect();
        let written = |name: &str, parts: Option<&[usize]>| {
            let path = folder.join(name);
            let mut npz = Npz::create(&path).unwrap();
            let done = match parts {
                None => npz.array("a", &[1000, 3], &data),
                Some(ends) => {
                    let spans = [0].iter().chain(ends).zip(ends);
                    npz.array_of_parts("a", &[1000, 3], spans.map(|(from, to)| Ok(data[*from..*to].to_vec())))
                }
            };
            npz.finish().unwrap();
            (done, zip::ZipArchive::new(File::open(&path).unwrap()).unwrap())
        };
        let content = |mut archive: zip::ZipArchive<File>| {
            let mut bytes = Vec::new();
            std::io::copy(&mut archive.by_name("a.npy").unwrap(), &mut bytes).unwrap();
            bytes
        };
        let (done, whole) = written("whole.npz", None);
        assert!(done.is_ok());
        let (done, parts) = written("parts.npz", Some(&[1, 1, 1700, 3000]));
        assert!(done.is_ok());
        assert_eq!(content(whole), content(parts));
        assert!(written("short.npz", Some(&[1, 1700])).0.is_err_and(|e| e.to_string().contains("1700")));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn points_come_back_and_damage_is_named() {
        let mut bytes = header("<f8", &[2, 3]);
        bytes.extend(bytemuck::cast_slice::<f64, u8>(&[1.0, 2.0, 3.0, -4.0, 0.5, 1e9]));
        assert_eq!(read_points(&bytes), Ok(vec![[1.0, 2.0, 3.0], [-4.0, 0.5, 1e9]]));
        bytes.truncate(bytes.len() - 8);
        assert!(read_points(&bytes).is_err_and(|e| e.contains("announces 2 rows")));
        assert!(read_points(&bytes[..20]).is_err());
        assert!(read_points(b"").is_err());
        assert!(read_points(&header("<f8", &[2, 4])).is_err_and(|e| e.contains("(n, 3)")));
        assert!(read_points(&header("<i8", &[0, 3])).is_err());
        assert_eq!(read_points(&header("<f4", &[0, 3])), Ok(vec![]));
    }
}
