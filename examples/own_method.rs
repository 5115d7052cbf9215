//! A method of one's own: it cuts what fills its bounding box, a wall say, into bricks of equal size.
//!
//! `cargo run --release --example own_method -- [FOLDER]`

use std::path::{Path, PathBuf};

use kintsugi::{
    Error, Format, Fracture, Object,
    fracture::{
        Breaker, CutSource, Cutter, FractureError, FractureParams, MethodEntry, MethodOption, Pattern,
        Pieces, register,
        solid::{CutMesh, CutPiece, SourceMesh},
    },
    glam::DVec3,
    shape::{Geometry, PieceMesh},
};

/// A line of the table of methods: scene files, commands and the window of a program that registers it have it too.
static BRICKS: MethodEntry = MethodEntry {
    name: "bricks",
    label: "bricks",
    help: "Cuts the bounding box into bricks of equal size.",
    source: "this example",
    by_seeds: false,
    of_voxels: false,
    options: &[MethodOption {
        name: "across",
        help: "Bricks along each side.",
        default: 2.0,
        range: (1.0, 16.0),
        whole: true,
    }],
    breaker: &Bricks,
};

struct Bricks;
/// Corners of the faces of a box, counter-clockwise seen from outside; bit k of a number says which end of axis k.
const FACES: [[u32; 4]; 6] =
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

impl Breaker for Bricks {
    fn accepts(&self, _: &Geometry) -> bool {
        true
    }

    fn cutter<'a>(&'a self, source: &'a CutSource<'a>) -> Result<Box<dyn Cutter + 'a>, FractureError> {
        let mesh = SourceMesh::of(source.shape)?;
        Ok(Box::new(move |_: &Pattern, params: &FractureParams| {
            let ((low, high), across) = (mesh.bounds(), params.option("across") as u32);
            let piece = |cell: u32| {
                let at = [cell % across, cell / across % across, cell / across / across];
                let corner = |c: u32| {
                    let steps = [0, 1, 2].map(|k| f64::from(at[k] + (c >> k & 1)));
                    low + (high - low) / f64::from(across) * DVec3::from_array(steps)
                };
                let triangles = FACES.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
                let surface = PieceMesh::flat((0..8).map(corner).collect(), triangles, |_| [178, 102, 79]);
                CutPiece { cell, surface }
            };
            let (source, pieces) = (mesh.clone(), (0..across.pow(3)).map(piece).collect());
            Ok(Pieces::Meshes(CutMesh { source, pieces, voxel_level: 5, timings: Vec::new(), detail: None }))
        }))
    }
}

fn main() -> Result<(), Error> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    print!("{}", run(&given.unwrap_or_else(|| std::env::temp_dir().join("kintsugi-bricks")))?);
    Ok(())
}

/// Cuts the built-in box into 27 bricks and writes them into `folder`.
pub fn run(folder: &Path) -> Result<String, Error> {
    register(&BRICKS).map_err(|taken| Error::Parameter(taken.to_string()))?;
    let bricks = Object::open("builtin:box", 5)?.fracture(&Fracture::by("bricks")?.option("across", 3.0))?;
    let holds = bricks.export(folder, &[Format::Glb])?.all_checks_hold();
    let (count, volume) = (bricks.len(), bricks.iter().map(|brick| brick.volume()).sum::<f64>());
    Ok(format!("{count} bricks of {volume:.4} cubic units; checks hold: {holds}; in {}\n", folder.display()))
}
