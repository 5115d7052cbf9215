//! Archives of USD (`.usdz`): a layer and its pictures in a ZIP file in which nothing is packed.
//!
//! In: bytes. Out: the layer, and pictures by the names that the layer has for them. Layout: the "Usdz File Format
//! Specification" of `OpenUSD`, over PKWARE's APPNOTE.

use std::{borrow::Cow, collections::HashMap};

use super::{
    MaterialMap,
    load::{Shown, Surroundings, map_of, shown_of},
    unchecked::{Problem, UncheckedMesh},
};

/// The first bytes of a file.
pub(super) const MARK: &[u8] = b"PK\x03\x04";
/// The signatures of an entry in the list of files, and of what stands behind that list.
const ENTRY: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
/// Bytes from the latter to the end of a file without a comment, and the longest comment.
const END_SIZE: usize = 22;
const LONGEST_COMMENT: usize = 0xffff;

/// Where the files that a layer names are.
pub(super) enum Files<'a> {
    /// Beside it.
    Beside(&'a Surroundings),
    /// In the same archive.
    Within(&'a Archive<'a>),
}

impl Files<'_> {
    /// The picture in a file, and the file as it came, with a warning where it cannot be had.
    pub fn texture(&self, unchecked: &mut UncheckedMesh, file: &str) -> Option<Shown> {
        match self {
            Self::Beside(around) => around.texture(unchecked, file),
            Self::Within(archive) => {
                let bytes = archive.picture(unchecked, file)?;
                shown_of(unchecked, file, Cow::Borrowed(bytes))
            }
        }
    }

    /// The same of a map that is not looked at: the file as it came.
    pub fn map(&self, unchecked: &mut UncheckedMesh, file: &str) -> Option<MaterialMap> {
        match self {
            Self::Beside(around) => around.map(unchecked, file),
            Self::Within(archive) => {
                let bytes = archive.picture(unchecked, file)?;
                map_of(unchecked, file, Cow::Borrowed(bytes))
            }
        }
    }
}

/// The files of an archive by their names; `None` for one that is packed.
pub(super) struct Archive<'a> {
    files: HashMap<Cow<'a, str>, Option<&'a [u8]>>,
    /// The name of the layer.
    pub name: String,
    /// The layer.
    pub layer: &'a [u8],
}

impl<'a> Archive<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, Problem> {
        let wrong = || Problem::whole("is an archive without a sound list of its files; export it again");
        let from = bytes.len().saturating_sub(END_SIZE + LONGEST_COMMENT);
        let last = bytes[from..].windows(END.len()).rposition(|word| word == END).ok_or_else(wrong)?;
        let end = &bytes[from + last..];
        let number = |bytes: &[u8], at: usize, width: usize| -> Result<usize, Problem> {
            let word = at.checked_add(width).and_then(|end| bytes.get(at..end)).ok_or_else(wrong)?;
            Ok(word.iter().rev().fold(0, |word, byte| (word << 8) | usize::from(*byte)))
        };
        let (count, mut at) = (number(end, 10, 2)?, number(end, 16, 4)?);
        let mut files = HashMap::new();
        // The first layer in the file is the one that is opened.
        let mut first: Option<(usize, Cow<'_, str>)> = None;
        for _ in 0..count {
            let entry = bytes.get(at..).filter(|entry| entry.starts_with(ENTRY)).ok_or_else(wrong)?;
            let is_plain = number(entry, 8, 2)? & 1 == 0 && number(entry, 10, 2)? == 0;
            let size = number(entry, 24, 4)?;
            let [name, extra, comment] =
                [number(entry, 28, 2)?, number(entry, 30, 2)?, number(entry, 32, 2)?];
            let place = number(entry, 42, 4)?;
            let named = String::from_utf8_lossy(entry.get(46..46 + name).ok_or_else(wrong)?);
            at += 46 + name + extra + comment;
            // The lengths of name and extras at the file itself may be others.
            let file = bytes.get(place..).filter(|file| file.starts_with(MARK)).ok_or_else(wrong)?;
            let start = 30 + number(file, 26, 2)? + number(file, 28, 2)?;
            let content = start.checked_add(size).and_then(|end| file.get(start..end));
            if is_layer(&named) && first.as_ref().is_none_or(|(before, _)| place < *before) {
                first = Some((place, named.clone()));
            }
            files.insert(named, if is_plain { Some(content.ok_or_else(wrong)?) } else { None });
        }
        let (_, name) = first.ok_or_else(|| {
            Problem::whole(
                "is an archive without a layer of USD; unpack it, and open the mesh that is inside",
            )
        })?;
        let layer = files.get(&name).copied().flatten().ok_or_else(|| {
            Problem::whole(format!(
                "its layer {name} is packed, which .usdz must not be; pack it with `usdzip`"
            ))
        })?;
        Ok(Self { name: name.into_owned(), layer, files })
    }

    /// The bytes of a picture that the layer names, with a warning where there are none.
    fn picture(&self, unchecked: &mut UncheckedMesh, file: &str) -> Option<&'a [u8]> {
        let folder = self.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let file_name = file.replace('\\', "/");
        let bare = file_name.rsplit('/').next().unwrap_or_default();
        let ways = [within(folder, &file_name), within("", &file_name), within(folder, bare)];
        match ways.iter().find_map(|way| self.files.get(way.as_str())) {
            Some(Some(bytes)) => return Some(*bytes),
            Some(None) => unchecked.warn(format!("texture {file}: is packed in the archive; store it there")),
            None => unchecked.warn(format!("texture {file}: is not in the archive")),
        }
        None
    }
}

fn is_layer(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(ending.as_str(), "usd" | "usda" | "usdc")
}

/// The name in an archive of what a layer in `folder` calls `file`.
fn within(folder: &str, file: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in folder.split('/').chain(file.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            _ => steps.push(step),
        }
    }
    steps.join("/")
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{MapUse, load_bytes, usd, usdc};

    /// An archive of these files; `method` is 0 for stored ones.
    pub fn archive(files: &[(&str, &[u8])], method: u16) -> Vec<u8> {
        let (mut bytes, mut list) = (Vec::new(), Vec::new());
        let two = |number: usize| (number as u16).to_le_bytes();
        let four = |number: usize| (number as u32).to_le_bytes();
        for (name, content) in files {
            let place = bytes.len();
            let size = [four(content.len()), four(content.len())].concat();
            let common =
                [&[20, 0, 0, 0][..], &method.to_le_bytes(), &[0; 8], &size, &two(name.len())].concat();
            // Extras push the content to where the format wants it, and are not in the list.
            bytes.extend([super::MARK, &common, &two(5), name.as_bytes(), &[0; 5], content].concat());
            let places = [&[0; 12][..], &four(place)].concat();
            list.extend([super::ENTRY, &[20, 0], &common, &places, name.as_bytes()].concat());
        }
        let (place, count) = (bytes.len(), files.len());
        bytes.extend(&list);
        let end = [&[0; 4][..], &two(count), &two(count), &four(list.len()), &four(place), &two(9)].concat();
        bytes.extend([super::END, &end, b"a comment"].concat());
        bytes
    }

    fn picture() -> Vec<u8> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let one = image::RgbaImage::from_pixel(1, 1, image::Rgba([9, 8, 7, 255]));
        one.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    /// A triangle with pictures of these names.
    fn layer(color: &str, normal: &str) -> String {
        let texture = |name: &str, file: &str| {
            format!(
                "def Shader \"{name}\" {{ uniform token info:id = \"UsdUVTexture\"\nasset inputs:file = @{file}@ }}\n"
            )
        };
        format!(
            "#usda 1.0\n(metersPerUnit = 1)\ndef Mesh \"m\" {{ int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\n\
             point3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\nuniform token subdivisionScheme = \"none\"\n\
             rel material:binding = </M> }}\ndef Material \"M\" {{\n\
             token outputs:surface.connect = </M/s.outputs:surface>\ndef Shader \"s\" {{\n\
             uniform token info:id = \"UsdPreviewSurface\"\ncolor3f inputs:diffuseColor.connect = </M/c.outputs:rgb>\n\
             normal3f inputs:normal.connect = </M/n.outputs:rgb> }}\n{}{} }}\n",
            texture("c", color),
            texture("n", normal)
        )
    }

    #[test]
    fn a_layer_in_an_archive_finds_its_pictures_there() {
        let picture = picture();
        // Beside the layer in its folder, and by its bare name where the path is that of another machine.
        let text = layer("./maps/a.png", "C:\\work\\n.png");
        let files: [(&str, &[u8]); 4] = [
            ("in/it.usda", text.as_bytes()),
            ("in/maps/a.png", &picture),
            ("in/n.png", &picture),
            ("in/other.usda", b"#usda 1.0"),
        ];
        for ending in ["usdz", "usd"] {
            let (mesh, warnings) = load_bytes(&archive(&files, 0), ending).unwrap();
            assert_eq!(warnings, []);
            let material = &mesh.materials[0];
            assert_eq!(material.texture.as_ref().unwrap().rgba, [9, 8, 7, 255]);
            assert_eq!(material.maps[&MapUse::Normal].picture.bytes, picture);
        }
        let (mesh, warnings) = load_bytes(&archive(&files[..2], 0), "usdz").unwrap();
        assert!(mesh.materials[0].texture.is_some());
        assert!(warnings.len() == 1 && warnings[0].0.contains("n.png: is not in"), "{warnings:?}");
    }

    #[test]
    fn a_binary_layer_in_an_archive_is_that_layer() {
        let packed = archive(&[("readme.txt", b"PXR-USDC"), ("scene.usdc", usdc::tests::SCENE)], 0);
        let (mesh, warnings) = load_bytes(&packed, "usdz").unwrap();
        assert!(
            warnings.is_empty() && mesh == load_bytes(usdc::tests::SCENE, "usdc").unwrap().0,
            "{warnings:?}"
        );
    }

    #[test]
    fn archives_that_are_none_of_usd_are_refused_in_a_line() {
        let scene = usd::tests::SCENE.as_bytes();
        let whole = archive(&[("scene.usda", scene)], 0);
        let mut moved = whole.clone();
        let list = moved.windows(4).rposition(|word| word == super::ENTRY).unwrap();
        moved[list + 42] = 7;
        let mut longer = whole.clone();
        longer[list + 26] = 0xff;
        for (bytes, says) in [
            (archive(&[("model.obj", b"v 0 0 0")], 0), "unpack it"),
            (archive(&[("scene.usda", scene)], 8), "scene.usda is packed"),
            (archive(&[("scene.usda", b"#usda 1.0\ndef \"a\" {\n}\n)")], 0), "scene.usda: line 3"),
            (archive(&[("scene.usdc", &usdc::tests::SCENE[..60])], 0), "scene.usdc: "),
            (whole[..whole.len() - 40].to_vec(), "list of its files"),
            (moved, "list of its files"),
            (longer, "list of its files"),
        ] {
            let message = load_bytes(&bytes, "usdz").unwrap_err().message;
            assert!(message.contains(says) && !message.contains('\n'), "{says}: {message}");
        }
    }
}
