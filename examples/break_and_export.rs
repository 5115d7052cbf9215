//! Breaks a mesh, looks at its pieces, and writes them for other programs.
//!
//! `cargo run --release --example break_and_export -- [FOLDER]`

use std::path::{Path, PathBuf};

use kintsugi::{
    Error, Format, Fracture, Object,
    fracture::{Smallest, Surface},
};

fn main() -> Result<(), Error> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = given.unwrap_or_else(|| std::env::temp_dir().join("kintsugi-broken-vase"));
    print!("{}", run(&folder)?);
    Ok(())
}

/// Breaks the built-in vase along rough cracks and writes GLB, OBJ, the arrays and the report into `folder`.
pub fn run(folder: &Path) -> Result<String, Error> {
    // 2^6 voxels along the longest side. A file of your own goes here as well: `Object::open("bust.obj", 8)`.
    let vase = Object::open("builtin:vase", 6)?;
    let mut text = format!("{} triangles, {} leaves\n", vase.triangles, vase.forest.leaves.len());

    let how = Fracture::new()
        .cells(30)
        .surface(Surface::Rough)
        .random_seed(7)
        // Pieces of fewer voxels join a neighbour.
        .smallest(Smallest { voxels: 8, ..Smallest::default() });
    let pieces = vase.fracture(&how)?;
    for piece in pieces.iter().take(3) {
        text += &format!(
            "piece {}: {} voxels, volume {:.4}, {} triangles\n",
            piece.id(),
            piece.voxels(),
            piece.volume(),
            piece.mesh().triangles.len()
        );
    }

    let report = pieces.export(folder, &[Format::Glb, Format::Obj])?;
    let verdict = if report.all_checks_hold() { "all checks hold" } else { "a check failed" };
    text += &format!("{} pieces, {verdict}, written to {}\n", pieces.len(), folder.display());
    Ok(text)
}
