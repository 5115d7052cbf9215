//! Physics without a window: a broken column falls on a floor and comes to rest.
//!
//! `cargo run --release --example physics_without_window -- [FOLDER]`

use std::path::{Path, PathBuf};

use kintsugi::{Error, Fracture, Matter, Object, Picture, World, WorldSettings};

fn main() -> Result<(), Error> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = given.unwrap_or_else(|| std::env::temp_dir().join("kintsugi-fallen"));
    print!("{}", run(&folder)?);
    Ok(())
}

/// Drops the pieces of the built-in column from 0.3 m, plays 4 s, and writes heights and a picture into `folder`.
pub fn run(folder: &Path) -> Result<String, Error> {
    let column = Object::open("builtin:column", 5)?;
    let pieces = column.fracture(&Fracture::new().cells(8).random_seed(3))?;

    // A floor at height 0, gravity 9.81 m/s^2, steps of 0.01 s. One unit of the mesh is a metre.
    let mut world = World::on_cpu(WorldSettings::default());
    let stone = Matter { density: 2400.0, friction: 0.7, ..Matter::default() };
    for body in pieces.bodies(&stone, column.on_floor(0.3)) {
        world.add(body);
    }

    let (mut text, mut table) = (String::new(), String::from("time_s,kinetic_J,highest_m\n"));
    for step in 1..=400 {
        let report = world.step_on_cpu();
        let highest = world.bodies.iter().map(|body| body.state.position.y).fold(0.0, f64::max);
        table += &format!("{:.2},{:.3},{highest:.4}\n", report.time, report.kinetic);
        if step % 100 == 0 {
            text += &format!(
                "{:.0} s: {} contacts, {:.1} J, {} of {} bodies awake, highest centre at {highest:.2} m\n",
                report.time,
                report.contacts,
                report.kinetic,
                report.awake,
                world.bodies.len()
            );
        }
    }

    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join("heights.csv"), table))
        .map_err(|error| kintsugi::export::ExportError::write(folder, error))?;
    Picture::new(320, 240).save(&world, folder.join("fallen.png"))?;
    text += &format!("heights.csv and fallen.png are in {}\n", folder.display());
    Ok(text)
}
