//! The shipped scenes, for a list with pictures.
//!
//! Their files are in `assets/scenes`; the pictures were drawn by `kintsugi render`, some levels coarser, with the
//! fallback shapes for meshes that users must download.

use std::path::PathBuf;

use super::shipped_scenes;
use crate::render::Pixels;

/// A scene in the list.
#[derive(Clone, Copy, Debug)]
pub struct ShippedScene {
    /// Name of its file without the extension.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    picture: &'static [u8],
}

impl ShippedScene {
    /// Path of its file; `None` if only the executable was installed.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        Some(shipped_scenes()?.join(format!("{}.toml", self.name)))
    }

    /// Its picture.
    #[must_use]
    pub fn picture(&self) -> Option<Pixels> {
        Pixels::from_png(self.picture)
    }
}

macro_rules! scene {
    ($name:literal, $about:literal) => {
        ShippedScene {
            name: $name,
            about: $about,
            picture: include_bytes!(concat!("../../assets/scenes/pictures/", $name, ".png")),
        }
    };
}

/// The list, without scenes that only test the physics.
pub const SHIPPED_SCENES: [ShippedScene; 21] = [
    scene!("vase", "A thin vase on the floor is struck after half a second"),
    scene!("materials", "One vase in five materials, struck in turn"),
    scene!("wall", "A wall of bricks holds by its bonds until an iron ball strikes it"),
    scene!("table", "A pane of glass on two trestles bears a stone, and not an owl"),
    scene!("bridge", "A ball strikes the middle pier of a bridge away, and it comes down"),
    scene!("tower", "A tower of bricks is cut like a felled tree, falls over and breaks where it lands"),
    scene!(
        "beams",
        "Ever longer beams of one shape grow out of a wall, until they snap under their own weight (Galilei 1638)"
    ),
    scene!("columns", "An iron ball breaks three columns, at level 10 (2016, fig. 5)"),
    scene!("bunny", "A bunny breaks in a box, at level 10 (2016, fig. 4); an owl stands in for its file"),
    scene!(
        "buddha",
        "A part of a statue breaks off, at level 10 (2016, fig. 6); an owl stands in for its file"
    ),
    scene!(
        "dragons",
        "Three statues fall and break where they touch (2016, fig. 7); owls stand in for its file"
    ),
    scene!("vase-rough", "The vase with rough cracks, at level 9 (2018, fig. 8)"),
    scene!("vase-dusty", "The vase with dusty cracks, whose gaps lose some of it (2018, figs. 5 and 8)"),
    scene!("bite", "A blow breaks a bite out of a statue; the rest stays one body"),
    scene!("box", "A statue falls into a box, and its pieces stay inside"),
    scene!("methods", "One blow by three methods, side by side"),
    scene!("moneybox", "A money box with twelve coins falls and breaks (2012, fig. 7)"),
    scene!("batches", "27 bunnies fall in three batches (2012, fig. 10); owls stand in for their file"),
    scene!("bricks", "32 bricks crash to the ground, eight at a time (2012, fig. 11)"),
    scene!("plates", "Balls drop on four plates on a shelf (2012, fig. 1); throw more with T"),
    scene!("pointer", "Five bunnies to break with the pointer (2012, fig. 6); owls stand in for their file"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::load_scene;

    #[test]
    fn every_scene_that_shows_something_is_listed_with_a_picture() {
        for scene in SHIPPED_SCENES {
            let path = scene.path().unwrap();
            let opened = load_scene(&path);
            let names_papers = opened.as_ref().is_err_and(|error| error.message.contains("kintsugi-papers"));
            let is_left_out = cfg!(not(feature = "papers")) && names_papers;
            assert!(opened.is_ok() || is_left_out, "{}", path.display());
            assert_eq!(scene.picture().unwrap().size, [144, 96], "{}", scene.name);
        }
        let folder = shipped_scenes().unwrap();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let checks = name.starts_with('p') && name[1..].starts_with(|c: char| c.is_ascii_digit());
            if path.extension().is_some_and(|e| e == "toml") && !checks {
                assert!(SHIPPED_SCENES.iter().any(|scene| scene.name == name), "{name} is not listed");
            }
        }
    }
}
