//! Pictures: an object as it is, its pieces moved apart, and which of their faces are cracks.
//!
//! `cargo run --release --example picture -- [FOLDER]`

use std::path::{Path, PathBuf};

use kintsugi::{
    Error, Fracture, Object, Picture, Viewpoint,
    export::{ExportError, write_png},
    render::ColorBy,
};

fn main() -> Result<(), Error> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = given.unwrap_or_else(|| std::env::temp_dir().join("kintsugi-pictures"));
    print!("{}", run(&folder)?);
    Ok(())
}

/// Draws three pictures of the built-in statue into `folder`.
pub fn run(folder: &Path) -> Result<String, Error> {
    std::fs::create_dir_all(folder).map_err(|error| ExportError::write(folder, error))?;
    let statue = Object::open("builtin:statue", 6)?;
    let pieces = statue.fracture(&Fracture::new().cells(40).random_seed(2))?;

    let picture = Picture::new(240, 320);
    picture.save(&statue, folder.join("whole.png"))?;
    picture.apart(0.3).save(&pieces, folder.join("apart.png"))?;

    // Pixels in memory, to work on before they are written: here the share of the picture that is not background.
    let cracks = picture.apart(0.3).seen_from(Viewpoint::Front).color_by(ColorBy::Crack).transparent();
    let pixels = cracks.draw(&pieces)?;
    let opaque = pixels.rgba.chunks_exact(4).filter(|pixel| pixel[3] > 127).count();
    let share = 100.0 * opaque as f64 / f64::from(pixels.size[0] * pixels.size[1]);
    write_png(&folder.join("cracks.png"), pixels.size, &pixels.rgba)?;
    Ok(format!(
        "{} pieces cover {share:.1} % of cracks.png; whole.png, apart.png and cracks.png are in {}\n",
        pieces.len(),
        folder.display()
    ))
}
