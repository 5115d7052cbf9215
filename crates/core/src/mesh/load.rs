//! Loads files as [`Mesh`]: detects the format, limits what is read, and cleans up.
//!
//! In: a path, or bytes and an extension. Out: a mesh with valid indices and finite positions, with warnings about what
//! was left out, or a one-line error.

use super::{
    BUILTIN_NAMES, LoadWarning, MaterialMap, Mesh, Sampler, Texture,
    away::{measured, rounding},
    builtin, stl,
    unchecked::{TEXTURE_FILE_LIMIT, UncheckedMesh},
};
use crate::{
    files::{self, Unread},
    memory,
    voxelize::Progress,
};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// A texture, and its file as it came.
pub(super) type Shown = (Arc<Texture>, Option<MaterialMap>);

/// Size limit of a file, bytes. Larger ones are more likely mistakes than meshes.
const FILE_LIMIT: u64 = 2 << 30;
/// Memory that reading a file takes, bytes for each of its bytes. Measured with files that are mostly triangles: 10 to
/// 19. The lower part is demanded, so a file that needs more may pass, and reading it then fails or swaps.
const MEMORY_OF_TRIANGLES: u64 = 12;
/// The same for formats that hold pictures and buffers, or voxels that have a limit of their own. Binary USD says how long its
/// lists are, by which its reader looks again.
const MEMORY_OF_PARTS: u64 = 4;
/// Formats, for messages.
const FORMATS: &str = "OBJ, PLY, STL, OFF, glTF, GLB, FBX, USD and VOX";

/// Why a file was rejected: what, where, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MeshError {
    /// The message, one line.
    pub message: String,
    /// Whether the user cancelled.
    pub is_cancelled: bool,
}

impl MeshError {
    /// An error with this text; line breaks and control characters (they may come from a file's name) become spaces.
    pub fn new(message: impl AsRef<str>) -> Self {
        let message = message.as_ref().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { message, is_cancelled: false }
    }

    /// The error of a file whose reading the user cancelled.
    pub(crate) fn cancelled(file: &str) -> Self {
        Self { is_cancelled: true, ..Self::new(format!("{file}: reading was cancelled")) }
    }
}

/// A file format that holds triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY.
    Ply,
    /// Stereolithography.
    Stl,
    /// Object File Format.
    Off,
    /// glTF 2.0, JSON or binary.
    Gltf,
    /// MagicaVoxel: the voxels' faces.
    Vox,
    /// Autodesk's FBX, binary or text.
    Fbx,
    /// `OpenUSD`: text, binary or an archive.
    Usd,
}

impl Format {
    /// The format that an extension names, in any case, without the dot.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "obj" => Self::Obj,
            "ply" => Self::Ply,
            "stl" => Self::Stl,
            "off" | "coff" | "noff" => Self::Off,
            "gltf" | "glb" => Self::Gltf,
            "vox" => Self::Vox,
            "fbx" => Self::Fbx,
            "usd" | "usda" | "usdc" | "usdz" => Self::Usd,
            _ => return None,
        })
    }

    /// The format that the first bytes indicate, if any.
    fn sniff(bytes: &[u8]) -> Option<Self> {
        if let Some(format) = super::marked_as(bytes) {
            return Some(format);
        }
        let text = bytes.trim_ascii_start();
        let first_word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        match first_word {
            b"ply" => Some(Self::Ply),
            word if word.starts_with(b"glTF") => Some(Self::Gltf),
            word if word.starts_with(b"{") => Some(Self::Gltf),
            word if word.len() <= 8 && word.ends_with(b"OFF") => Some(Self::Off),
            _ if stl::is_binary(bytes) || stl::is_text(text) => Some(Self::Stl),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Obj => "OBJ",
            Self::Ply => "PLY",
            Self::Stl => "STL",
            Self::Off => "OFF",
            Self::Gltf => "glTF",
            Self::Vox => "VOX",
            Self::Fbx => "FBX",
            Self::Usd => "USD",
        }
    }
}

/// The mesh format of `path` by its extension.
#[must_use]
pub fn format_of(path: &Path) -> Option<Format> {
    Format::of_extension(path.extension()?.to_str()?)
}

/// Where the files that a mesh refers to (materials, textures, buffers) are looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    folder: Option<PathBuf>,
    /// The folder of the mesh file, within which references must stay.
    root: Option<PathBuf>,
}

/// Whether references may leave the folder of their file.
static OUTSIDE: AtomicBool = AtomicBool::new(false);

/// Allows meshes in the whole program to refer to files anywhere. Without it, an untrusted mesh cannot make the program
/// open the user's other files.
pub fn allow_references_outside() {
    OUTSIDE.store(true, Ordering::Relaxed);
}

/// Whether meshes may refer to files anywhere.
#[must_use]
pub fn references_may_lie_outside() -> bool {
    OUTSIDE.load(Ordering::Relaxed)
}

impl Surroundings {
    /// Reads the file that `reference` names: relative to the folder, and if that fails by its bare name in the folder
    /// (exporters leave absolute paths of another machine).
    pub fn read(&self, reference: &str, limit: u64) -> Result<Vec<u8>, String> {
        let Some(folder) = &self.folder else { return Err("no folder to look in".into()) };
        let reference = reference.trim().replace('\\', "/");
        let bare = reference.rsplit('/').next().unwrap_or_default();
        let named = folder.join(&reference);
        let found = if self.is_inside(&named) {
            read_file(&named, limit)
        } else {
            Err("lies outside the folder of the mesh; copy it there, or start with --outside-references"
                .into())
        };
        found.or_else(|error| {
            let beside = folder.join(bare);
            if bare == reference || !self.is_inside(&beside) {
                Err(error)
            } else {
                read_file(&beside, limit).map_err(|_| error)
            }
        })
    }

    /// Whether an existing file is inside the folder of the mesh, symbolic links resolved; a missing file does no harm.
    fn is_inside(&self, path: &Path) -> bool {
        if references_may_lie_outside() {
            return true;
        }
        let real = |path: &Path| std::fs::canonicalize(path);
        match (real(path), self.root.as_deref().map(real)) {
            (Ok(path), Some(Ok(root))) => path.starts_with(root),
            (Err(_), _) => true,
            _ => false,
        }
    }

    /// The picture in a file, and the file as it came, with a warning where it cannot be had.
    pub fn texture(&self, unchecked: &mut UncheckedMesh, file: &str) -> Option<Shown> {
        let encoded = self.encoded(unchecked, file)?;
        shown_of(unchecked, file, Cow::Owned(encoded))
    }

    /// The same of a map that is not looked at: the file as it came.
    pub fn map(&self, unchecked: &mut UncheckedMesh, file: &str) -> Option<MaterialMap> {
        let encoded = self.encoded(unchecked, file)?;
        map_of(unchecked, file, Cow::Owned(encoded))
    }

    fn encoded(&self, unchecked: &mut UncheckedMesh, file: &str) -> Option<Vec<u8>> {
        let read = self.read(file, TEXTURE_FILE_LIMIT);
        read.inspect_err(|why| unchecked.warn(format!("texture {file}: {why}"))).ok()
    }

    /// The surroundings of a file that lies at `reference` from here.
    pub fn of_file(&self, reference: &str) -> Self {
        let path = PathBuf::from(reference.trim().replace('\\', "/"));
        let folder = self.folder.as_ref().map(|folder| match path.parent() {
            Some(parent) if folder.join(parent).is_dir() => folder.join(parent),
            _ => folder.clone(),
        });
        Self { folder, root: self.root.clone() }
    }
}

/// The picture in the bytes of an image file, and the file as it came, with a warning where it cannot be had.
pub(super) fn shown_of(unchecked: &mut UncheckedMesh, file: &str, encoded: Cow<'_, [u8]>) -> Option<Shown> {
    let texture = Arc::new(unchecked.decode_texture(file, &encoded)?);
    Some((texture, map_of(unchecked, file, encoded)))
}

/// An image file as it came, as a map at the mesh's texture coordinates.
pub(super) fn map_of(
    unchecked: &mut UncheckedMesh,
    file: &str,
    encoded: Cow<'_, [u8]>,
) -> Option<MaterialMap> {
    let picture = unchecked.keep_picture(stem_of(file), file, encoded)?;
    Some(MaterialMap { picture, sampler: Sampler::default(), transform: None, is_second: false })
}

/// The name of a file at a path, without folders and ending.
pub(super) fn stem_of(path: &str) -> &str {
    let bare = path.rsplit(['/', '\\']).next().unwrap_or_default();
    bare.rsplit_once('.').map_or(bare, |(stem, _)| stem)
}

/// Reads a whole file, or says why that fails (without the path).
fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    files::read(path, limit).map_err(|why| match why {
        Unread::TooLarge { .. } => format!("{why}; decimate or split it"),
        _ => why.to_string(),
    })
}

/// Whether the triangles of a file of `path` fit into the memory that is free. What cannot be asked about is tried.
fn fits(path: &Path) -> Result<(), memory::Short> {
    let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
    // A file that is too large for reading is refused by its size.
    if bytes > FILE_LIMIT {
        return Ok(());
    }
    memory::check(bytes * memory_of(path))
}

/// Memory for each byte of a file of this name.
fn memory_of(path: &Path) -> u64 {
    let is_text = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("usda"));
    match format_of(path) {
        Some(Format::Gltf | Format::Vox | Format::Fbx | Format::Usd) if !is_text => MEMORY_OF_PARTS,
        _ => MEMORY_OF_TRIANGLES,
    }
}

/// Reads a mesh file or `builtin:NAME`. Materials, textures and buffers that it refers to are looked up beside it.
///
/// # Errors
/// [`MeshError`], one clear line that starts with the path.
pub fn load(path: &Path) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    load_while(path, &Progress::default())
}

/// Like [`load`], unless `progress` is cancelled.
///
/// # Errors
/// [`MeshError`].
pub fn load_while(path: &Path, progress: &Progress) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    let shown = path.display();
    if let Some(name) = path.to_str().and_then(|p| p.strip_prefix("builtin:")) {
        return builtin(name).map(|mesh| (mesh, Vec::new())).ok_or_else(|| {
            MeshError::new(format!("{shown}: no such built-in shape; there are {}", BUILTIN_NAMES.join(", ")))
        });
    }
    fits(path).map_err(|short| {
        MeshError::new(format!("{shown}: {short}; decimate the mesh, or close other programs"))
    })?;
    let bytes = read_file(path, FILE_LIMIT).map_err(|why| MeshError::new(format!("{shown}: {why}")))?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let folder = path.parent().map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p });
    let folder = folder.map(Path::to_path_buf);
    let around = Surroundings { root: folder.clone(), folder };
    parse(&bytes, extension, &around, progress).map_err(|error| MeshError {
        is_cancelled: error.is_cancelled,
        ..MeshError::new(format!("{shown}: {}", error.message))
    })
}

/// Reads bytes in the format that `extension` names (lower case, no dot); for tests and fuzzing. References
/// to other files become warnings.
///
/// # Errors
/// [`MeshError`].
pub fn load_bytes(bytes: &[u8], extension: &str) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    load_bytes_while(bytes, extension, &Progress::default())
}

/// Like [`load_bytes`], unless `progress` is cancelled.
///
/// # Errors
/// [`MeshError`].
pub fn load_bytes_while(
    bytes: &[u8],
    extension: &str,
    progress: &Progress,
) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    parse(bytes, extension, &Surroundings::default(), progress)
}

/// Checks triangles that a program made as those of a file are: what cannot be used is left out. `name` begins
/// messages.
///
/// # Errors
/// [`MeshError`] where no triangle can be used.
pub fn checked(name: &str, mesh: Mesh) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    let mut unchecked = UncheckedMesh::while_wanted(&Progress::default());
    unchecked.mesh = mesh;
    unchecked.check_textures();
    let (mesh, mut warnings) =
        unchecked.finish().map_err(|problem| MeshError::new(format!("{name}: {}", problem.describe(&[]))))?;
    warnings.extend(far_from_origin(&mesh));
    Ok((mesh, warnings))
}

fn parse(
    bytes: &[u8],
    extension: &str,
    around: &Surroundings,
    progress: &Progress,
) -> Result<(Mesh, Vec<LoadWarning>), MeshError> {
    let Some(named) = Format::of_extension(extension) else {
        return Err(MeshError::new(match (extension, way_round(extension)) {
            ("", _) => format!("the name has no extension; use {FORMATS}, with the matching extension"),
            (_, Some(way)) => format!(".{extension} is not read: {way}; {FORMATS} are read"),
            _ => format!(
                ".{extension} is not a mesh format that is read; use {FORMATS}, with the matching extension"
            ),
        }));
    };
    let (text, is_utf16) = as_utf8(bytes);
    let bytes: &[u8] = &text;
    if bytes.trim_ascii().is_empty() {
        return Err(MeshError::new("the file is empty; export the mesh again"));
    }
    let mut unchecked = UncheckedMesh::while_wanted(progress);
    if is_utf16 {
        unchecked
            .warn("its text is UTF-16, and was read as such; few other programs do, so save it as UTF-8");
    }
    let format = match Format::sniff(bytes) {
        Some(seen) if seen != named => {
            let (seen_name, name) = (seen.name(), named.name());
            unchecked
                .warn(format!("the extension says {name}, the content {seen_name}: read as {seen_name}"));
            seen
        }
        _ => named,
    };
    let read = super::read_as(format, bytes, around, &mut unchecked);
    let read = read.and_then(|()| unchecked.pace.go_on_now()).and_then(|()| unchecked.finish());
    let (mesh, mut warnings) = read.map_err(|problem| {
        let message = format!("{} file: {}", format.name(), problem.describe(bytes));
        MeshError { is_cancelled: problem.is_cancelled, ..MeshError::new(message) }
    })?;
    warnings.extend(far_from_origin(&mesh));
    Ok((mesh, warnings))
}

/// How to get a mesh out of a file with an extension that people have and no reader is for.
fn way_round(extension: &str) -> Option<&'static str> {
    Some(match extension.to_ascii_lowercase().as_str() {
        "dae" | "3ds" | "abc" | "x3d" | "wrl" | "lwo" | "dxf" => {
            "import it into Blender and export glTF 2.0 (.glb) there"
        }
        "blend" | "max" | "ma" | "mb" | "c4d" | "hip" | "hipnc" | "skp" | "uasset" | "prefab" => {
            "open it in its own program and export glTF 2.0 (.glb), or OBJ, there"
        }
        "bgeo" | "sc" | "geo" | "vdb" => {
            "convert it to polygons in Houdini or Blender and export glTF 2.0 (.glb)"
        }
        "3mf" | "amf" => "open it in a slicer, Blender or MeshLab and export STL or OBJ there",
        "step" | "stp" | "iges" | "igs" | "brep" | "sldprt" | "f3d" | "ipt" => {
            "it has surfaces, no triangles; export STL or OBJ from the CAD program or FreeCAD"
        }
        "las" | "laz" | "e57" | "pcd" | "xyz" | "pts" => {
            "it has points, no triangles; make a surface of them in MeshLab or CloudCompare and export PLY"
        }
        "zip" | "rar" | "7z" | "gz" | "tar" => "unpack it, and open the mesh that is inside",
        "mtl" | "bin" | "png" | "jpg" | "jpeg" => "it belongs to a mesh; open the .obj or .gltf beside it",
        _ => return None,
    })
}

/// Text as UTF-8 without a byte order mark, and whether it was UTF-16: by its mark, or since its first letters are ASCII
/// with zeros between. Other bytes stay as they are.
pub(super) fn as_utf8(bytes: &[u8]) -> (Cow<'_, [u8]>, bool) {
    const LOOKED_AT: usize = 16;
    let is_letter = |b: u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
    let pairs = || bytes.as_chunks::<2>().0.iter();
    let starts_with =
        |holds: &dyn Fn(&[u8; 2]) -> bool| bytes.len() >= LOOKED_AT && pairs().take(LOOKED_AT / 2).all(holds);
    let (is_little, mark) = match bytes {
        [0xef, 0xbb, 0xbf, text @ ..] => return (Cow::Borrowed(text), false),
        _ if stl::is_binary(bytes) => return (Cow::Borrowed(bytes), false),
        [0xff, 0xfe, ..] => (true, 1),
        [0xfe, 0xff, ..] => (false, 1),
        _ if starts_with(&|&[a, b]| is_letter(a) && b == 0) => (true, 0),
        _ if starts_with(&|&[a, b]| a == 0 && is_letter(b)) => (false, 0),
        _ => return (Cow::Borrowed(bytes), false),
    };
    let unit = |pair: &[u8; 2]| if is_little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) };
    let letters = char::decode_utf16(pairs().skip(mark).map(unit));
    let text: String = letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    (Cow::Owned(text.into_bytes()), true)
}

/// A warning if a mesh is so far from the origin that its vertices are rounded noticeably.
fn far_from_origin(mesh: &Mesh) -> Option<LoadWarning> {
    rounding(measured(&mesh.positions)).map(LoadWarning)
}

#[cfg(test)]
mod tests;
