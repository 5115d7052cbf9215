//! `preset = "NAME"` in a body of a scene: fills in the preset's values that the body does not set itself.
//!
//! In: a scene file as a table, and its folder. Out: the table with all values written out, so that a saved scene stays
//! the same when the preset changes.

use std::path::Path;

use toml::{Table, Value};

use super::{SceneError, error, outside};
use crate::scene::presets::preset_beside;

/// Values of a preset that are fields of the body. Its strength is not among them: bodies of scenes that name a preset and hold
/// had bonds of concrete before presets had a strength.
const OF_BODIES: [&str; 6] =
    ["density", "friction", "restitution", "rolling_resistance", "break_threshold", "fracture"];

/// Fills in the presets that bodies name; preset files are relative to `folder`, below which they lie unless
/// `may_name_outside`. Returns the number of presets.
///
/// # Errors
/// One line: which body names what there is not, or what it may not name.
pub(super) fn fill_in(scene: &mut Table, folder: &Path, may_name_outside: bool) -> Result<usize, SceneError> {
    let Some(Value::Array(bodies)) = scene.get_mut("body") else { return Ok(0) };
    let mut count = 0;
    for (i, body) in bodies.iter_mut().enumerate() {
        let Value::Table(body) = body else { continue };
        let Some(name) = body.remove("preset") else { continue };
        let Value::String(name) = name else {
            return Err(error(format!("body {}: preset must be a name or a file, in quotes", i + 1)));
        };
        if !may_name_outside && !outside::is_below(folder, &name) {
            return Err(outside::refusal("preset", &name, 0));
        }
        let preset = preset_beside(folder, &name);
        let preset = preset.map_err(|why| error(format!("body {}: {}", i + 1, why.message)))?;
        let values = Table::try_from(&preset).map_err(|why| error(why.to_string()))?;
        for (key, value) in values {
            if OF_BODIES.contains(&key.as_str()) {
                below(body, key, value);
            }
        }
        count += 1;
    }
    Ok(count)
}

/// Inserts a value unless there is one; tables are merged key by key.
fn below(table: &mut Table, key: String, value: Value) {
    match (table.get_mut(&key), value) {
        (None, value) => {
            table.insert(key, value);
        }
        (Some(Value::Table(own)), Value::Table(more)) => {
            for (key, value) in more {
                below(own, key, value);
            }
        }
        (Some(_), _) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        fracture::{Preset, Surface},
        scene::{load_scene, parse_scene},
    };

    #[test]
    fn a_body_is_of_its_preset_but_for_what_it_says_itself() {
        let text = "[[body]]\nfile = \"builtin:box\"\nlevel = 5\npreset = \"Glass\"\nfriction = 0.9\n\
                    [body.fracture]\nseeds = 12\n[body.fracture.interior]\nseed = 7\n";
        let scene = parse_scene(text, "a.toml").unwrap();
        let body = &scene.bodies[0];
        assert_eq!((body.density, body.friction), (2500.0, 0.9));
        assert_eq!((body.fracture.preset, body.fracture.seeds), (Preset::Radial, 12));
        assert_eq!((body.fracture.surface, body.fracture.interior.seed), (Surface::Planar, 7));
        assert_eq!(body.fracture.interior.color, Some([0xb9, 0xd6, 0xd0]));
        assert!(body.break_threshold == Some(3.0) && body.strength.is_none(), "{:?}", body.strength);
        let written = toml::to_string(&scene).unwrap();
        let mentions = |text: &str| written.lines().any(|line| line.starts_with(text));
        assert!(!mentions("preset = \"Glass\"") && mentions("density = 2500"), "{written}");
    }

    #[test]
    fn a_file_is_looked_for_beside_the_scene() {
        let folder = std::env::temp_dir().join(format!("kintsugi-beside-scene-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("presets")).unwrap();
        std::fs::write(folder.join("presets/marble.toml"), "name = \"Marble\"\ndensity = 2700.0\n").unwrap();
        let scene = folder.join("a.toml");
        let text = "[[body]]\nfile = \"builtin:box\"\nlevel = 5\npreset = \"presets/marble.toml\"\n";
        std::fs::write(&scene, text).unwrap();
        let loaded = load_scene(&scene);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(loaded.unwrap().bodies[0].density, 2700.0);
        assert!(parse_scene(text, "a.toml").unwrap_err().message.contains("presets/marble.toml"));
    }

    #[test]
    fn what_is_wrong_is_one_line() {
        let of = |preset: &str| {
            let text = format!("[[body]]\nfile = \"builtin:box\"\npreset = {preset}\nlevel = 5\n");
            parse_scene(&text, "a.toml").unwrap_err().message
        };
        let unknown = of("\"jelly\"");
        assert!(
            unknown.starts_with("a.toml: body 1: no preset is called \"jelly\"; there are ceramic, glass"),
            "{unknown}"
        );
        assert!(of("3").contains("in quotes"));
        assert!(of("\"glass\"\nfrictoin = 1.0").contains("frictoin"));
    }
}
