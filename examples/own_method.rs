//! A method of one's own: it breaks what fills its bounding box, a wall say, into bricks of equal size.
//!
//! `cargo run --release --example own_method -- [FOLDER]`

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use kintsugi::{
    Error, Format, Fracture, Object,
    fracture::{
        Break, BreakContext, Breaker, FractureError, MethodEntry, MethodOption, Part, Strike, register,
    },
    glam::DVec3,
    shape::{Convex, Geometry, Shape},
};

/// A line of the table of methods: a program that registers it has it in scene files, commands and the window too.
static BRICKS: MethodEntry = MethodEntry {
    name: "bricks",
    label: "bricks",
    help: "Breaks the bounding box into bricks of equal size.",
    source: "this example",
    by_seeds: false,
    of_voxels: false,
    options: &[MethodOption {
        name: "across",
        help: "Bricks along each side.",
        default: 2.0,
        range: (1.0, 32.0),
        whole: true,
    }],
    breaker: &Bricks,
};

struct Bricks;

impl Breaker for Bricks {
    fn accepts(&self, geometry: &Geometry) -> bool {
        matches!(geometry, Geometry::Octree(_))
    }

    fn fracture(
        &self,
        _: &BreakContext<'_>,
        source: &Shape,
        strike: &Strike<'_>,
    ) -> Result<Break, FractureError> {
        // All places are in the shape's local space, here in voxels; parts are in shape space, the units of the mesh.
        let whole = strike.bounds.unwrap_or(source.bounds()).placed(|corner| source.shape_from_local(corner));
        let across = strike.params.option("across") as u32;
        let edges = whole.size() / f64::from(across);
        let part = |cell: u32| {
            let at = [cell % across, cell / across % across, cell / across.pow(2)].map(f64::from);
            let at = whole.low + edges * DVec3::from_array(at);
            let corner = |c: u32| at + edges * DVec3::from_array([c & 1, c >> 1 & 1, c >> 2].map(f64::from));
            // Counter-clockwise seen from outside.
            let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
            let brick = Convex::new((0..8).map(corner).collect(), faces.map(Vec::from).to_vec())
                .map_err(|error| FractureError::Params(error.to_string()))?;
            let shape = Arc::new(Shape::convex(brick, source.density(), *source.look()));
            // A method without voxels counts sizes in millionths of the source.
            Ok(Part { shape, cell, size: 1_000_000 / u64::from(across.pow(3)) })
        };
        let parts: Result<Vec<Part>, FractureError> = (0..across.pow(3)).map(part).collect();
        let before_m3 = Some(whole.size().element_product());
        Ok(Break { before_m3, ..Break::of_parts(parts?, strike.params) })
    }
}

fn main() -> Result<(), Error> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = given.unwrap_or_else(|| std::env::temp_dir().join("kintsugi-bricks"));
    print!("{}", run(&folder)?);
    Ok(())
}

/// Breaks the built-in box into 27 bricks and writes them into `folder`.
pub fn run(folder: &Path) -> Result<String, Error> {
    register(&BRICKS);
    let wall = Object::open("builtin:box", 5)?;
    let bricks = wall.fracture(&Fracture::by("bricks")?.option("across", 3.0))?;
    let first = bricks.get(0).map_or(0.0, |brick| brick.volume());
    let report = bricks.export(folder, &[Format::Glb])?;
    let verdict = if report.all_checks_hold() { "all checks hold" } else { "a check failed" };
    Ok(format!("{} bricks of volume {first:.5}, {verdict}, written to {}\n", bricks.len(), folder.display()))
}
