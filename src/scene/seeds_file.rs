//! Voronoi seeds from a file.
//!
//! In: text (x y z a line; `#` starts a comment), a NumPy array of shape (n, 3), a picture of cracks, or a closed mesh. Out:
//! points in mesh units, the areas of the picture, or the mesh to cut by.

use std::{path::Path, sync::Arc};

use glam::DVec3;

use super::SceneError;
use crate::{
    export, files,
    fracture::{CrackPicture, CutterMesh, MAX_SEEDS, SeedSource},
    mesh,
};

/// Size limit of a file of points, bytes: 8192 lines of three long numbers.
const LARGEST: u64 = 2 << 20;
/// Size limit of a picture, bytes.
const LARGEST_PICTURE: u64 = 64 << 20;

/// Endings of the files that are read as pictures of cracks.
pub const PICTURES: &[&str] = &["png", "jpg", "jpeg", "bmp", "webp"];

/// Whether a file of seeds is named as a mesh, which the method cutter cuts by.
#[must_use]
pub fn is_cutter(file: &Path) -> bool {
    mesh::format_of(file).is_some() || file.to_str().is_some_and(|name| name.starts_with("builtin:"))
}

/// Reads seeds in mesh units, a picture, or a closed mesh in its file's units.
///
/// # Errors
/// [`SceneError`] for a file that cannot be read, holds no points, too many points, or anything else.
pub fn read_seeds(file: &Path) -> Result<SeedSource, SceneError> {
    let fail = |what: String| SceneError::new(format!("{}: {what}", file.display()));
    if is_cutter(file) {
        let (mesh, _) = mesh::load(file).map_err(|error| SceneError::new(error.message))?;
        return CutterMesh::new(&mesh).map(|mesh| SeedSource::Cutter(Arc::new(mesh))).map_err(fail);
    }
    let ending = file.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let most = if PICTURES.contains(&ending.as_str()) { LARGEST_PICTURE } else { LARGEST };
    let bytes = files::read(file, most).map_err(|why| {
        fail(format!(
            "the seeds cannot be read: {why}; a seeds file has 1 to {MAX_SEEDS} points, or is a picture"
        ))
    })?;
    parse_seeds(&bytes, &ending).map_err(fail)
}

/// Parses a file's contents by the ending of its name: a picture ([`PICTURES`]), a NumPy array (`npy`), or text.
///
/// # Errors
/// One line that says what is wrong.
pub fn parse_seeds(bytes: &[u8], ending: &str) -> Result<SeedSource, String> {
    if PICTURES.contains(&ending) {
        return Ok(SeedSource::Picture(Arc::new(CrackPicture::decode(bytes)?)));
    }
    let points = if ending == "npy" { export::read_points(bytes) } else { numbers_of_lines(bytes) }?;
    if points.is_empty() || points.len() > MAX_SEEDS as usize {
        return Err(format!("it holds {} seeds; 1 to {MAX_SEEDS} are wanted", points.len()));
    }
    if let Some(i) = points.iter().position(|p| p.iter().any(|v| !v.is_finite())) {
        return Err(format!("seed {} is not finite; remove it", i + 1));
    }
    Ok(SeedSource::Points(points.into_iter().map(DVec3::from_array).collect()))
}

fn numbers_of_lines(bytes: &[u8]) -> Result<Vec<[f64; 3]>, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let words = line.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
        let numbers: Result<Vec<f64>, _> = words.map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[x, y, z]) => points.push([x, y, z]),
            _ => return Err(format!("line {} is not three numbers x y z", number + 1)),
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_from_text() {
        let text = b"# x y z\n1 2 3\n\n-1.5, 0, 2e1  # the last\n";
        assert_eq!(numbers_of_lines(text), Ok(vec![[1.0, 2.0, 3.0], [-1.5, 0.0, 20.0]]));
        assert!(numbers_of_lines(b"1 2 3\n4 5\n").is_err_and(|e| e.contains("line 2")));
        assert!(numbers_of_lines(b"1 2 x\n").is_err());
    }

    #[test]
    fn a_mesh_is_read_to_cut_by() {
        let ball = read_seeds(Path::new("builtin:sphere")).unwrap();
        assert!(matches!(&ball, SeedSource::Cutter(mesh) if mesh.bodies() == 1), "{ball:?}");
        let path = std::env::temp_dir().join(format!("kintsugi-cutter-{}.obj", std::process::id()));
        std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
        let message = read_seeds(&path).unwrap_err().message;
        std::fs::remove_file(&path).unwrap();
        assert!(message.contains("close its holes") && !message.contains('\n'), "{message}");
        assert!(!is_cutter(Path::new("seeds.txt")) && !is_cutter(Path::new("cracks.png")));
    }

    #[test]
    fn too_many_seeds_and_no_file_are_one_line() {
        let path = std::env::temp_dir().join(format!("kintsugi-seeds-{}.txt", std::process::id()));
        std::fs::write(&path, "0 0 0\n".repeat(8193)).unwrap();
        let message = read_seeds(&path).unwrap_err().message;
        std::fs::remove_file(&path).unwrap();
        assert!(message.contains("8193 seeds") && message.contains("8192"), "{message}");
        assert!(read_seeds(&path).unwrap_err().message.contains("cannot be read"));
        #[cfg(unix)]
        assert!(read_seeds(Path::new("/dev/zero")).unwrap_err().message.contains("not a regular file"));
    }
}
