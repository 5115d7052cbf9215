//! A seed pattern of one's own: Voronoi seeds on a circle cut a ball into slices, as an orange.
//!
//! `cargo run --release --example own_pattern -- [FOLDER]`

use std::{
    f64::consts::FRAC_1_SQRT_2,
    iter::successors,
    path::{Path, PathBuf},
};

use kintsugi::{
    Error, Format, Fracture, Object,
    glam::{DVec2, DVec3},
};

const SLICES: usize = 8;

fn main() -> Result<(), Error> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = given.unwrap_or_else(|| std::env::temp_dir().join("kintsugi-slices"));
    print!("{}", run(&folder)?);
    Ok(())
}

/// Cuts the built-in ball into slices of equal size and writes them into `folder`.
pub fn run(folder: &Path) -> Result<String, Error> {
    let ball = Object::open("builtin:sphere", 6)?;
    let (middle, radius) = (ball.bounds.middle(), 0.25 * ball.bounds.size().max_element());
    // A point belongs to the nearest seed: between neighbours on a circle lies a plane through its axis.
    let eighth_of_a_turn = DVec2::splat(FRAC_1_SQRT_2);
    let circle = successors(Some(DVec2::X), |at| Some(at.rotate(eighth_of_a_turn)));
    let seeds = circle.take(SLICES).map(|at| middle + radius * DVec3::new(at.x, 0.0, at.y));
    let slices = ball.fracture(&Fracture::new().seeds(seeds))?;

    let whole = ball.shape.mass().volume_m3;
    let mut text = String::new();
    for slice in slices.iter() {
        let share = 100.0 * slice.volume() / whole;
        text += &format!("slice of seed {}: {share:.2} % of the ball\n", slice.cell().unwrap_or_default());
    }
    slices.export(folder, &[Format::Glb])?;
    text += &format!("{} slices, written to {}\n", slices.len(), folder.display());
    Ok(text)
}
