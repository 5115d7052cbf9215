//! Pictures to PNG.

use std::path::Path;

use super::ExportError;

/// Writes RGBA8 rows from the top (sRGB, straight alpha). `path` need not end in `.png`; the file is a PNG
/// all the same.
///
/// # Errors
/// [`ExportError`].
pub fn write_png(path: &Path, [width, height]: [u32; 2], rgba: Vec<u8>) -> Result<(), ExportError> {
    let Some(picture) = image::RgbaImage::from_raw(width, height, rgba) else {
        return Err(ExportError::Format {
            path: path.to_owned(),
            reason: format!("a picture of {width} by {height} pixels has fewer than its bytes"),
        });
    };
    picture.save_with_format(path, image::ImageFormat::Png).map_err(|e| ExportError::write(path, e))
}
