//! Writes pictures as PNG with metadata. A file of the same name is replaced if it is byte for byte what the program
//! makes of its pixels and metadata, and otherwise kept under a free name.
//!
//! A picture records how it was made: `Software` for any program, and two text chunks that `kintsugi repeat` reads.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ExportError;
use crate::{
    compute::RanOn,
    disk::{put_file, put_new},
    provenance::{self, Provenance},
};

/// Keyword of the text chunk with a [`Signature`], as JSON.
pub const SIGNATURE: &str = "kintsugi:provenance";
/// Keyword of the text chunk with the scene that a picture shows, as TOML.
pub const SCENE: &str = "kintsugi:scene";

/// How a picture was made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Signature {
    /// Version of Kintsugi.
    pub version: String,
    /// `gpu` or `cpu`.
    pub compute: String,
    /// Name of the adapter, or number of threads.
    pub adapter: String,
    /// Commit, command and mesh.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The scene shown, as TOML; not part of the JSON.
    #[serde(skip)]
    pub scene: String,
}

impl Signature {
    /// Metadata of a picture of a scene (TOML) drawn on a backend.
    #[must_use]
    pub fn new(ran_on: RanOn, provenance: Provenance, scene: String) -> Self {
        Self {
            version: provenance::VERSION.into(),
            compute: ran_on.compute.into(),
            adapter: ran_on.adapter,
            provenance,
            scene,
        }
    }

    /// The same for another output file of the same command.
    #[must_use]
    pub fn of_output(&self, output: impl Into<String>) -> Self {
        let mut own = self.clone();
        own.provenance.output = Some(output.into());
        own
    }
}

/// Largest picture that is looked into before it is replaced, bytes.
const LARGEST: usize = 1 << 28;

/// Writes RGBA8 rows from the top (sRGB, straight alpha). The file is a PNG whatever the extension of `path`. The answer
/// is a line about a file of that name that was kept.
///
/// # Errors
/// [`ExportError`].
pub fn write_png(path: &Path, size: [u32; 2], rgba: &[u8]) -> Result<Option<String>, ExportError> {
    put_file(path, &encoded(path, size, rgba, None)?, &is_own)
}

/// The bytes of such a file without metadata.
///
/// # Errors
/// [`ExportError::Format`] where the bytes do not match the size.
pub fn png_bytes(size: [u32; 2], rgba: &[u8]) -> Result<Vec<u8>, ExportError> {
    encoded(Path::new("the picture"), size, rgba, None)
}

/// Writes the same with metadata.
///
/// # Errors
/// [`ExportError`].
pub fn write_signed(
    path: &Path,
    size: [u32; 2],
    rgba: &[u8],
    signature: &Signature,
) -> Result<Option<String>, ExportError> {
    put_file(path, &encoded(path, size, rgba, Some(signature))?, &is_own)
}

/// Writes the same to a new file of the first free one of some numbered names in `folder`; the answer is its path.
///
/// # Errors
/// [`ExportError`].
pub fn write_signed_new(
    folder: &Path,
    name: impl Fn(u32) -> String,
    size: [u32; 2],
    rgba: &[u8],
    signature: &Signature,
) -> Result<PathBuf, ExportError> {
    put_new(folder, name, &encoded(folder, size, rgba, Some(signature))?)
}

/// Whether a file is a signed picture that nobody has changed: the same pixels and metadata give the same bytes.
fn is_own(file: &[u8]) -> bool {
    let picture = (file.len() <= LARGEST).then(|| read_signed(file).ok()).flatten();
    let Some(SignedPicture { size, rgba, signature: Some(signature) }) = picture else { return false };
    encoded(Path::new(""), size, &rgba, Some(&signature)).is_ok_and(|bytes| bytes == file)
}

/// The bytes of a picture; `path` is for messages.
fn encoded(
    path: &Path,
    [width, height]: [u32; 2],
    rgba: &[u8],
    signature: Option<&Signature>,
) -> Result<Vec<u8>, ExportError> {
    if rgba.len() as u64 != u64::from(width) * u64::from(height) * 4 {
        return Err(ExportError::Format {
            path: path.to_owned(),
            reason: format!("the bytes of a picture do not match {width} by {height} pixels"),
        });
    }
    let (mut software, mut json, mut scene) = (String::new(), String::new(), "");
    if let Some(signature) = signature {
        software = format!("Kintsugi {} ({})", signature.version, signature.provenance.commit);
        json = serde_json::to_string(signature).map_err(|e| ExportError::write(path, e))?;
        scene = &signature.scene;
    }
    let texts = [("Software", software.as_str()), (SIGNATURE, &json), (SCENE, scene)];
    let mut bytes = Vec::new();
    let mut encode = || -> Result<(), png::EncodingError> {
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        for (keyword, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            encoder.add_itxt_chunk((*keyword).to_owned(), (*text).to_owned())?;
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(rgba)?;
        writer.finish()
    };
    encode().map_err(|e| ExportError::write(path, e))?;
    Ok(bytes)
}

/// A picture that was read: its size, pixels, and metadata if it has any.
pub struct SignedPicture {
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// RGBA8 rows from the top.
    pub rgba: Vec<u8>,
    /// Metadata; missing texts are empty.
    pub signature: Option<Signature>,
}

/// Reads a PNG file's bytes.
///
/// # Errors
/// What is wrong with them.
pub fn read_signed(bytes: &[u8]) -> Result<SignedPicture, String> {
    let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    // Text chunks may follow the pixels if another program saved the file.
    let picture =
        image::load_from_memory_with_format(bytes, image::ImageFormat::Png).map_err(|e| e.to_string())?;
    reader.finish().map_err(|e| e.to_string())?;
    let text = |keyword: &str| {
        let texts = &reader.info().utf8_text;
        texts.iter().find(|chunk| chunk.keyword == keyword).and_then(|chunk| chunk.get_text().ok())
    };
    let signature = text(SIGNATURE).and_then(|json| serde_json::from_str::<Signature>(&json).ok());
    let scene = text(SCENE).unwrap_or_default();
    let picture = picture.into_rgba8();
    Ok(SignedPicture {
        size: [picture.width(), picture.height()],
        rgba: picture.into_raw(),
        signature: signature.map(|signature| Signature { scene, ..signature }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_what_made_it_and_other_pictures_nothing() {
        let path = std::env::temp_dir().join(format!("kintsugi-signed-{}.png", std::process::id()));
        let rgba: Vec<u8> = (0..3 * 2 * 4).collect();
        let scene = "name = \"vase\"\n[[body]]\nfile = \"ä.obj\"\n";
        let provenance = Provenance {
            command: vec!["kintsugi".into(), "render".into(), "a \"b\" ä.obj".into()],
            mesh_sha256: Some("00ff".into()),
            ..Provenance::default()
        };
        let ran_on = RanOn { compute: "cpu", adapter: "CPU, 2 threads".into() };
        let signature =
            Signature::new(ran_on, provenance.clone(), scene.to_owned()).of_output("frames/00001.png");
        write_signed(&path, [3, 2], &rgba, &signature).unwrap();
        let read = read_signed(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((read.size, &read.rgba), ([3, 2], &rgba));
        let said = read.signature.unwrap();
        assert_eq!(said.provenance, Provenance { output: Some("frames/00001.png".into()), ..provenance });
        assert_eq!(said.scene, scene);
        assert_eq!((said.version.as_str(), said.compute.as_str()), (provenance::VERSION, "cpu"));
        // The program's own picture makes room; another one is kept.
        assert_eq!(write_png(&path, [3, 2], &rgba).unwrap(), None);
        let unsigned = std::fs::read(&path).unwrap();
        assert!(read_signed(&unsigned).unwrap().signature.is_none());
        let note = write_signed(&path, [3, 2], &rgba, &signature).unwrap().unwrap();
        let kept = path.with_extension("before.png");
        assert!(note.contains("is kept as kintsugi-signed-") && note.ends_with(".before.png"), "{note}");
        assert_eq!(std::fs::read(&kept).unwrap(), unsigned);
        // A signed one that somebody changed is no longer the program's.
        let mut changed = std::fs::read(&path).unwrap();
        changed.extend(b"\n");
        std::fs::write(&path, &changed).unwrap();
        assert!(write_signed(&path, [3, 2], &rgba, &signature).unwrap().is_some());
        let second = path.with_extension("before-2.png");
        assert_eq!(std::fs::read(&second).unwrap(), changed);
        assert_eq!(png_bytes([3, 2], &rgba).unwrap(), unsigned);
        assert!(write_png(&path, [3, 3], &[0; 24]).is_err() && png_bytes([3, 3], &[0; 24]).is_err());
        assert!(read_signed(b"no picture").is_err());
        [path, kept, second].iter().for_each(|path| std::fs::remove_file(path).unwrap());
    }
}
