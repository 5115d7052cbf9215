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
mod tests {
    use super::{
        super::{Alpha, MapUse, Wrap, gltf, vox},
        *,
    };

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("kintsugi-load-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn refusal(path: &Path) -> String {
        let message = load(path).unwrap_err().message;
        println!("{message}");
        assert!(
            !message.contains('\n') && message.starts_with(&path.display().to_string().replace('\n', " "))
        );
        message
    }

    /// A USD archive is mostly pictures, and text of USD mostly triangles.
    #[test]
    fn the_memory_that_is_demanded_follows_the_kind_of_file() {
        for (name, wanted) in [
            ("a.obj", MEMORY_OF_TRIANGLES),
            ("a.USDA", MEMORY_OF_TRIANGLES),
            ("a.usdz", MEMORY_OF_PARTS),
            ("a.usdc", MEMORY_OF_PARTS),
            ("a.glb", MEMORY_OF_PARTS),
        ] {
            assert_eq!(memory_of(Path::new(name)), wanted, "{name}");
        }
    }

    #[test]
    fn refusals_are_one_line_that_helps() {
        let folder = folder("refusals");
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        assert!(refusal(&folder).contains("folder"));
        assert!(refusal(&folder.join("absent.obj")).contains("not found"));
        assert!(refusal(&write("nothing.ply", b"")).contains("empty"));
        assert!(refusal(&write("blank.obj", b" \r\n\n")).contains("empty"));
        assert!(refusal(&write("model.dae", b"<COLLADA>")).contains(FORMATS));
        assert!(refusal(&write("model.fbx", b"Kaydara FBX")).contains("FBX file: "));
        assert!(refusal(&write("model", b"v 0 0 0")).contains("no extension"));
        assert!(refusal(&write("model.qq", b"v 0 0 0")).contains(".qq is not a mesh format"));
        for (name, way) in [
            ("a.DAE", "Blender and export glTF"),
            ("a.step", "CAD"),
            ("a.zip", "unpack"),
            ("a.mtl", "beside it"),
        ] {
            let said = refusal(&write(name, b"anything"));
            assert!(said.contains(way) && said.contains("OBJ, PLY, STL"), "{said}");
        }
        assert!(refusal(&write("two\nlines.obj", b"hello")).contains("no triangle"));
        assert!(refusal(Path::new("builtin:teapot")).contains("vase, column, box"));
        #[cfg(unix)]
        assert!(refusal(Path::new("/dev/zero")).contains("regular file"));
        let huge = std::fs::File::create(folder.join("huge.stl")).unwrap();
        huge.set_len(FILE_LIMIT + 1).unwrap();
        assert!(refusal(&folder.join("huge.stl")).contains("decimate"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn built_in_shapes_load_by_name() {
        let (mesh, warnings) = load(Path::new("builtin:box")).unwrap();
        assert_eq!((Some(mesh), warnings.len()), (builtin("box"), 0));
    }

    #[test]
    fn what_lies_far_from_the_origin_is_told_of() {
        let warnings = |x: f64| {
            let text = format!("v {x} 0 0\nv {} 0 0\nv {x} 1 0\nf 1 2 3\n", x + 1.0);
            load_bytes(text.as_bytes(), "obj").unwrap().1
        };
        assert!(warnings(0.0).is_empty() && warnings(1000.0).is_empty());
        let far = warnings(500_000.0);
        assert!(far.len() == 1 && far[0].0.contains("move it to the origin"), "{far:?}");
    }

    #[test]
    fn numbers_far_from_the_origin_are_rounded_there() {
        // A sliver of half a unit at coordinates of a map: in single precision its corners would be one.
        let corners = [
            [500_123.25, 120.5, 4_649_776.75],
            [500_123.35, 120.5, 4_649_776.75],
            [500_123.25, 121.0, 4_649_776.95],
        ];
        let lines = |word: &str| corners.map(|[x, y, z]| format!("{word}{x} {y} {z}\n")).concat();
        let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\nproperty double z\n\
                   element face 1\nproperty list uchar int vertex_indices\nend_header\n";
        let stl = format!("solid a\nfacet\nouter loop\n{}endloop\nendfacet\nendsolid a\n", lines("vertex "));
        for (text, extension) in [
            (lines("v ") + "vt 0 0\nvt 1 1\nf 1/1 2/2 3/1\n", "obj"),
            (format!("{ply}{}3 0 1 2\n", lines("")), "ply"),
            (format!("OFF 3 1 0\n{}3 0 1 2\n", lines("")), "off"),
            (stl, "stl"),
        ] {
            let (mesh, warnings) = load_bytes(text.as_bytes(), extension).unwrap();
            assert!(warnings.len() == 1 && warnings[0].0.contains("are counted from"), "{warnings:?}");
            for (i, exact) in mesh.triangles[0].iter().zip(&corners) {
                let there = [0, 1, 2].map(|k| f64::from(mesh.positions[*i as usize][k]) + mesh.origin[k]);
                assert!((0..3).all(|k| (there[k] - exact[k]).abs() < 1e-6), "{extension}: {there:?}");
            }
            let [a, b, c] = mesh.triangles[0].map(|i| glam::Vec3::from(mesh.positions[i as usize]));
            let area = (b - a).cross(c - a).length() / 2.0;
            let exact = 0.1 * (0.5f32 * 0.5 + 0.2 * 0.2).sqrt() / 2.0;
            assert!((area - exact).abs() < 1e-6, "{extension}: {area} for {exact}");
        }
    }

    #[test]
    fn text_in_utf_16_or_with_a_mark_is_the_same_mesh() {
        let text = "# Ä\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        let plain = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        let (mesh, _) = load_bytes(text.as_bytes(), "obj").unwrap();
        let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let mark = format!("\u{feff}{text}");
        for (bytes, warns) in [
            (mark.clone().into_bytes(), 0),
            (little(&mark), 1),
            (big(&mark), 1),
            (little(plain), 1),
            (big(plain), 1),
        ] {
            let (read, warnings) = load_bytes(&bytes, "obj").unwrap();
            assert_eq!((&read, warnings.len()), (&mesh, warns), "{warnings:?}");
        }
        let torn = little(&mark.replace("v 1 0", "v x 0"));
        assert!(load_bytes(&torn, "obj").unwrap_err().message.contains("line 3"));
    }

    #[test]
    fn colours_of_blenders_libraries_are_linear_and_a_map_without_one_is_white() {
        let folder = folder("blender");
        image::RgbImage::from_pixel(1, 1, image::Rgb([9, 8, 7])).save(folder.join("t.png")).unwrap();
        let library = "newmtl plain\nKd 0.5 0.25 0.125\nillum 2\nnewmtl shown\nillum 2\nmap_Kd t.png\n";
        let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n";
        let obj =
            format!("mtllib a.mtl\n{corners}usemtl plain\nf 1/1 2/2 3/3\nusemtl shown\nf 1/1 3/3 2/2\n");
        std::fs::write(folder.join("a.obj"), obj).unwrap();
        // The sRGB bytes of 0.5, 0.25 and 0.125, and bytes of these as they stand.
        for (head, wanted) in
            [("# Blender 3.4.1 MTL File: 'None'\n", [188, 137, 99]), ("# another\n", [128, 64, 32])]
        {
            std::fs::write(folder.join("a.mtl"), format!("{head}{library}")).unwrap();
            let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
            assert!(warnings.is_empty(), "{warnings:?}");
            let [plain, shown] = [0, 1].map(|t| &mesh.materials[mesh.triangle_material[t] as usize]);
            assert_eq!((plain.name.as_str(), plain.color), ("plain", wanted));
            let is_linear = head.contains("Blender");
            assert_eq!(plain.factor, is_linear.then_some([0.5, 0.25, 0.125, 1.0]));
            assert_eq!((shown.name.as_str(), shown.color), ("shown", [255; 3]));
            assert_eq!(shown.texture.as_ref().unwrap().rgba[..3], [9, 8, 7]);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn libraries_options_of_maps_and_line_ends_are_those_of_the_file() {
        let folder = folder("libraries");
        let picture = |file: &str, shade: u8| {
            let picture = image::RgbaImage::from_pixel(1, 1, image::Rgba([shade, 0, 0, 255]));
            picture.save(folder.join(file)).unwrap();
        };
        picture("tile.png", 1);
        picture("my brick.png", 2);
        let one = "\u{feff}newmtl Tiled\rKd 1 1 1\rd 0.5\rmap_Bump -bm 2 tile.png\rmap_Kd -s 4 2 1 -o 0.25 0 0 -clamp on -mm 0 0.5 tile.png\r";
        std::fs::write(folder.join("one.mtl"), one).unwrap();
        std::fs::write(
            folder.join("two more.mtl"),
            "newmtl Spaced\nmap_Ka my brick.png\nmap_Kd my brick.png\nmap_d my brick.png\n",
        )
        .unwrap();
        for libraries in ["mtllib one.mtl two more.mtl", "mtllib one.mtl\rmtllib two more.mtl"] {
            let text = format!(
                "{libraries}\rv 0 0 0\rv 1 0 0\rv 1 1 0\rv 0 1 0\rvt 0 0\rvt 1 0\rvt 1 1\rusemtl Tiled\rf 1/1 2/2 3/3\r\
                 usemtl Spaced\rf 1/1 3/3 4/9\r"
            );
            std::fs::write(folder.join("a.obj"), text).unwrap();
            let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
            let shade = |t: usize| {
                let material = &mesh.materials[mesh.triangle_material[t] as usize];
                material.texture.as_ref().unwrap().rgba[0]
            };
            assert_eq!((shade(0), shade(1)), (1, 2));
            let uvs = |t: usize| mesh.triangles[t].map(|i| mesh.uvs[i as usize]);
            assert_eq!(uvs(0), [[0.25, 0.0], [4.25, 0.0], [4.25, 2.0]]);
            // Of the other material as they are; a number that names nothing has none of those that were added.
            assert_eq!(uvs(1), [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]);
            let told: Vec<&str> = warnings.iter().map(|w| w.0.as_str()).collect();
            assert!(told.len() == 2 && told.iter().all(|line| line.ends_with("of Tiled")), "{told:?}");
            let tiled = &mesh.materials[mesh.triangle_material[0] as usize];
            assert_eq!(tiled.maps[&MapUse::Color].sampler.wrap, [Wrap::Clamp; 2]);
            for what in ["map_bump", "-mm 0 0.5"] {
                assert!(told.iter().any(|line| line.contains(what)), "{what}: {told:?}");
            }
            let glass = |k: usize| (mesh.materials[k].factor, mesh.materials[k].alpha);
            assert_eq!(glass(0), (Some([1.0, 1.0, 1.0, 0.5]), Alpha::Blend));
            assert_eq!(glass(1), (None, Alpha::Blend), "what is opaque is in its picture");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_wrong_extension_is_read_by_content_with_a_warning() {
        let off = b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
        let (mesh, warnings) = load_bytes(off, "obj").unwrap();
        assert_eq!((mesh.triangles.len(), warnings.len()), (1, 1));
        assert!(warnings[0].0.contains("read as OFF"));
    }

    #[test]
    fn references_are_found_beside_the_file_and_missing_ones_are_warnings() {
        let folder = folder("references");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        let obj = "mtllib sub/a.mtl\nmtllib gone.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl red\nf 1/1 2/2 3/3\n";
        std::fs::write(folder.join("a.obj"), obj).unwrap();
        std::fs::write(
            folder.join("sub/a.mtl"),
            "newmtl red\nKd 1 0 0\nmap_Kd C:\\old\\t.png\nnewmtl unused\nmap_Kd no.png\n",
        )
        .unwrap();
        image::RgbaImage::from_pixel(2, 1, image::Rgba([9, 8, 7, 255]))
            .save(folder.join("sub/t.png"))
            .unwrap();
        let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].0.contains("gone.mtl"));
        let texture = mesh.materials[mesh.triangle_material[0] as usize].texture.as_ref().unwrap();
        assert_eq!((texture.width, texture.height, &texture.rgba[..4]), (2, 1, &[9, 8, 7, 255][..]));
        std::fs::remove_file(folder.join("sub/t.png")).unwrap();
        let (mesh, warnings) = load(&folder.join("a.obj")).unwrap();
        assert_eq!((mesh.materials[0].color, mesh.materials[0].texture.is_none()), ([255, 0, 0], true));
        assert!(warnings.iter().any(|w| w.0.contains("t.png")), "{warnings:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn references_stay_in_the_folder_of_the_mesh() {
        let outer = folder("outside");
        let inner = outer.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(outer.join("secret.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
        let mut references =
            vec!["../secret.mtl".to_owned(), outer.join("secret.mtl").to_string_lossy().into_owned()];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.join("secret.mtl"), inner.join("link.mtl")).unwrap();
            references.push("link.mtl".into());
        }
        for reference in references {
            let text = format!("mtllib {reference}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n");
            std::fs::write(inner.join("a.obj"), text).unwrap();
            let (mesh, warnings) = load(&inner.join("a.obj")).unwrap();
            assert!(warnings.iter().any(|w| w.0.contains("outside the folder")), "{reference}: {warnings:?}");
            assert!(mesh.materials.iter().all(|material| material.color != [255, 0, 0]), "{reference}");
        }
        std::fs::remove_dir_all(&outer).unwrap();
    }

    /// Cancelling stops reading early, wherever a reader spends its time.
    #[test]
    fn reading_stops_when_nobody_wants_it() {
        const COUNT: usize = 400_000;
        let vertices =
            |word: &str| (0..COUNT).map(|k| format!("{word}{k} {} 1\n", k % 7)).collect::<String>();
        let faces = |word: &str| (2..COUNT).map(|k| format!("{word}0 {} {k}\n", k - 1)).collect::<String>();
        let obj_faces: String = (3..COUNT).map(|k| format!("f 1 {} {k}\n", k - 1)).collect();
        let of_ply = format!(
            "ply\nformat ascii 1.0\nelement vertex {COUNT}\nproperty float x\nproperty float y\nproperty float z\n\
             element face {}\nproperty list uchar int vertex_indices\nend_header\n",
            COUNT - 2
        );
        let facet =
            "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
        let files = [
            ("obj", vertices("v ") + &obj_faces),
            ("ply", of_ply + &vertices("") + &faces("3 ")),
            ("off", format!("OFF\n{COUNT} {} 0\n", COUNT - 2) + &vertices("") + &faces("3 ")),
            ("stl", format!("solid x\n{}endsolid x\n", facet.repeat(COUNT / 4))),
        ];
        for (extension, text) in files {
            let clock = std::time::Instant::now();
            load_bytes(text.as_bytes(), extension).unwrap();
            let whole = clock.elapsed();
            let cancelled = Progress::default();
            cancelled.cancel();
            let clock = std::time::Instant::now();
            let error = load_bytes_while(text.as_bytes(), extension, &cancelled).unwrap_err();
            let stopped = clock.elapsed();
            println!("{extension}: {whole:.1?} whole, {stopped:.1?} until it stopped");
            assert!(error.is_cancelled && 4 * stopped < whole, "{extension}: {error}");
        }
        for (extension, bytes) in [("glb", gltf::tests::binary()), ("vox", vox::tests::scene())] {
            let cancelled = Progress::default();
            cancelled.cancel();
            assert!(load_bytes_while(&bytes, extension, &cancelled).unwrap_err().is_cancelled, "{extension}");
        }
    }

    #[test]
    fn a_texture_that_many_materials_name_is_decoded_once() {
        let folder = folder("shared-texture");
        image::RgbaImage::from_pixel(4, 4, image::Rgba([9, 8, 7, 255])).save(folder.join("a.png")).unwrap();
        std::fs::write(folder.join("cut.png"), &std::fs::read(folder.join("a.png")).unwrap()[..40]).unwrap();
        let (mut library, mut faces) = (String::new(), String::new());
        for k in 0..60 {
            let file = if k < 30 { "a.png" } else { "cut.png" };
            library += &format!("newmtl m{k}\nKd 1 1 1\nmap_Kd {file}\n");
            faces += &format!("usemtl m{k}\nf 1/1 2/1 3/1\n");
        }
        std::fs::write(folder.join("a.mtl"), library).unwrap();
        let mesh = folder.join("a.obj");
        let text = format!("mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\n{faces}");
        std::fs::write(&mesh, text).unwrap();
        let (read, warnings) = load(&mesh).unwrap();
        let texture = |k: usize| read.materials[k].texture.as_ref();
        assert!((1..30).all(|k| std::sync::Arc::ptr_eq(texture(0).unwrap(), texture(k).unwrap())));
        assert!((30..60).all(|k| texture(k).is_none()));
        let told = warnings.iter().filter(|warning| warning.0.contains("cut.png")).count();
        assert_eq!(told, 1, "{warnings:?}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
