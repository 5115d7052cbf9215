//! Scene files: TOML to [`Scene`] and back, with errors that name file, line and field.
//!
//! In: a path. Out: a checked scene whose mesh paths are resolved. Writing goes through a temporary file, a
//! flush and a rename, so that a crash leaves either the old file or the new one.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{Event, Scene, SceneBody};
use crate::{
    fracture::{FractureParams, interior::SCALES},
    svo::MAX_LEVEL,
};

/// Largest scene file that is read, bytes.
const LARGEST_SCENE: u64 = 4 << 20;

/// Why a scene could not be read or written: one line that says what, where and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SceneError {
    /// The line.
    pub message: String,
}

fn error(message: impl Into<String>) -> SceneError {
    SceneError { message: message.into() }
}

/// Reads a scene file. Relative mesh paths become relative to the scene file's folder; where a mesh is
/// missing, its fallback takes its place.
///
/// # Errors
/// [`SceneError`] for files that cannot be read, are not TOML, have unknown fields, or hold values out of
/// range.
pub fn load_scene(path: &Path) -> Result<Scene, SceneError> {
    let shown = path.display();
    let meta = fs::metadata(path)
        .map_err(|e| error(format!("cannot open {shown}: {e}; check the path and its permissions")))?;
    if meta.is_dir() {
        return Err(error(format!("{shown} is a directory; name a scene file (.toml) inside it")));
    }
    if meta.len() > LARGEST_SCENE {
        return Err(error(format!(
            "{shown} is {} MiB large; a scene is text of at most {} MiB",
            meta.len() >> 20,
            LARGEST_SCENE >> 20
        )));
    }
    let bytes = fs::read(path).map_err(|e| error(format!("cannot read {shown}: {e}")))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        error(format!("{shown} is not text (byte {}); is it a mesh file?", e.utf8_error().valid_up_to()))
    })?;
    let mut scene = parse_scene(&text, &shown.to_string())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let in_folder = |file: &str| {
        if file.starts_with("builtin:") || Path::new(file).is_absolute() {
            return file.to_owned();
        }
        folder.join(file).to_string_lossy().into_owned()
    };
    let seeds_in_folder = |params: &mut FractureParams| {
        params.seeds_file = params.seeds_file.as_deref().map(in_folder);
    };
    let resolve = |body: &mut SceneBody| {
        seeds_in_folder(&mut body.fracture);
        body.file = in_folder(&body.file);
        body.fallback = body.fallback.as_deref().map(in_folder);
        let missing = !body.file.starts_with("builtin:") && !Path::new(&body.file).exists();
        if let Some(fallback) = body.fallback.take_if(|_| missing) {
            body.file = fallback;
        }
    };
    scene.bodies.iter_mut().for_each(resolve);
    for event in &mut scene.events {
        match event {
            Event::Projectile { body, .. } => resolve(body),
            Event::Impact { fracture, .. } => fracture.iter_mut().for_each(seeds_in_folder),
        }
    }
    // They happen in order of time; where that is the same, as they are written.
    scene.events.sort_by(|a, b| a.time().total_cmp(&b.time()));
    if scene.name.is_empty() {
        scene.name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    }
    Ok(scene)
}

/// Reads a scene from text; `shown` names it in errors. Mesh paths stay as they are written.
///
/// # Errors
/// [`SceneError`].
pub fn parse_scene(text: &str, shown: &str) -> Result<Scene, SceneError> {
    let scene: Scene = toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        error(format!("{shown}, line {line}: {}", e.message().replace('\n', " ")))
    })?;
    check(&scene).map_err(|problem| {
        error(format!("{shown}, line {}: {} {}", line_of(text, &problem), problem.field(), problem.what))
    })?;
    Ok(scene)
}

/// Writes a scene; mesh paths inside the scene file's folder are written relative to it.
///
/// # Errors
/// [`SceneError`].
pub fn save_scene(path: &Path, scene: &Scene) -> Result<(), SceneError> {
    let mut scene = scene.clone();
    check(&scene).map_err(|problem| error(format!("cannot save: {} {}", problem.field(), problem.what)))?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let relative = |file: &mut String| {
        if !file.starts_with("builtin:")
            && let Ok(full) = Path::new(file.as_str()).canonicalize()
        {
            *file = full.strip_prefix(&folder).unwrap_or(&full).to_string_lossy().into_owned();
        }
    };
    let unresolve = |body: &mut SceneBody| {
        relative(&mut body.file);
        body.fracture.seeds_file.iter_mut().for_each(relative);
    };
    scene.bodies.iter_mut().for_each(unresolve);
    for event in &mut scene.events {
        match event {
            Event::Projectile { body, .. } => unresolve(body),
            Event::Impact { fracture, .. } => {
                let files = fracture.iter_mut().filter_map(|params| params.seeds_file.as_mut());
                files.for_each(relative);
            }
        }
    }
    let text =
        toml::to_string_pretty(&scene).map_err(|e| error(format!("cannot save {}: {e}", path.display())))?;
    write_atomically(path, text.as_bytes()).map_err(|e| error(format!("cannot save {}: {e}", path.display())))
}

/// Writes `bytes` beside `path`, flushes them to the disk, and renames.
///
/// # Errors
/// The file system's.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        // Nothing more can be done about a temporary file that will not go away.
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

/// Where the window saves what is open: the user's state folder, else the temporary folder.
#[must_use]
pub fn autosave_path() -> PathBuf {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or(home)
        .unwrap_or_else(std::env::temp_dir);
    folder.join("kintsugi").join("autosave.toml")
}

/// What the last window saved by itself, once another has started.
#[must_use]
pub fn earlier_path() -> PathBuf {
    autosave_path().with_file_name("earlier.toml")
}

/// A value out of range, and where.
struct Problem {
    table: Option<(&'static str, usize)>,
    name: &'static str,
    what: String,
}

impl Problem {
    fn field(&self) -> String {
        match self.table {
            Some((table, index)) => format!("{table} {}: {}", index + 1, self.name),
            None => self.name.to_owned(),
        }
    }
}

/// The line (from 1) on which a field stands, or its table, or the first.
fn line_of(text: &str, problem: &Problem) -> usize {
    let header = problem.table.map(|(table, _)| format!("[[{table}]]"));
    let mut tables_left = problem.table.map_or(0, |(_, index)| index + 1);
    let mut found = 1;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if header.as_deref() == Some(line) {
            if tables_left == 0 {
                break;
            }
            tables_left -= 1;
            found = if tables_left == 0 { i + 1 } else { found };
        } else if tables_left == 0 && line.split('=').next().map(str::trim) == Some(problem.name) {
            return i + 1;
        }
    }
    found
}

type Checked = Result<(), Problem>;

/// Pushes the place into every check.
struct Place(Option<(&'static str, usize)>);

impl Place {
    fn fail(&self, name: &'static str, what: impl Into<String>) -> Checked {
        Err(Problem { table: self.0, name, what: what.into() })
    }

    fn number(&self, name: &'static str, value: f64, low: f64, high: f64) -> Checked {
        if value.is_finite() && (low..=high).contains(&value) {
            return Ok(());
        }
        self.fail(name, format!("is {value}; it must be a number from {low} to {high}"))
    }

    fn vector(&self, name: &'static str, values: impl IntoIterator<Item = f64>, most: f64) -> Checked {
        values.into_iter().try_for_each(|v| self.number(name, v, -most, most))
    }

    /// `level` is that of the leaves, where it is known.
    fn fracture(&self, params: &FractureParams, level: Option<u32>) -> Checked {
        if params.rng > i64::MAX as u64 {
            return self.fail("rng", "is too large; it must be below 2^63");
        }
        if let Some((name, what)) = params.problem() {
            return self.fail(name, what);
        }
        if let Some(radius) = params.local {
            self.number("local", radius, 1e-6, 100.0)?;
        }
        // How many seeds a file has, or a number of pieces needs, turns out when it breaks.
        let known = params.seeds_file.is_none() && params.target_pieces.is_none();
        if let Some(missing) = params.keep.iter().find(|s| known && **s >= params.seed_count()) {
            let last = params.seed_count() - 1;
            return self.fail("keep", format!("names seed {missing}; seeds are numbered 0 to {last}"));
        }
        self.number("scale", params.interior.scale, *SCALES.start(), *SCALES.end())?;
        if let Some(leaf) = level {
            if let Some(island) = params.island_level.filter(|island| !(1..=leaf).contains(island)) {
                return self
                    .fail("island_level", format!("is {island}; it must be from 1 to the level, {leaf}"));
            }
            params
                .crack
                .transition(leaf, params.surface)
                .or_else(|e| self.fail("transition_level", format!("is out of range: {e}")).map(|()| 0))?;
        }
        params.crack.check().or_else(|e| self.fail("crack", format!("is out of range: {e}")))
    }

    fn body(&self, body: &SceneBody) -> Checked {
        if body.file.is_empty() {
            return self.fail("file", "is missing; name a mesh file or builtin:vase");
        }
        if !(1..=MAX_LEVEL).contains(&body.level) {
            return self.fail("level", format!("is {}; it must be from 1 to {MAX_LEVEL}", body.level));
        }
        if body.fallback.as_ref().is_some_and(String::is_empty) {
            return self.fail("fallback", "is empty; name a mesh file or builtin:statue");
        }
        if let Some(level) = body.physics_level
            && !(1..=body.level).contains(&level)
        {
            return self.fail(
                "physics_level",
                format!("is {level}; it must be from 1 to the level, {}", body.level),
            );
        }
        if let Some(size) = body.size {
            self.number("size", size, 1e-4, 1e4)?;
        }
        self.vector("position", body.position.to_array(), 1e6)?;
        self.vector("rotation", body.rotation.to_array(), 1e3)?;
        if body.rotation.length() < 1e-6 {
            return self.fail("rotation", "is zero; no turn is [0, 0, 0, 1]");
        }
        self.vector("linear_velocity", body.linear_velocity.to_array(), 1e4)?;
        self.vector("angular_velocity", body.angular_velocity.to_array(), 1e4)?;
        self.number("density", body.density, 1e-3, 1e6)?;
        self.number("friction", body.friction, 0.0, 10.0)?;
        self.number("restitution", body.restitution, 0.0, 1.0)?;
        if let Some(threshold) = body.break_threshold {
            self.number("break_threshold", threshold, 0.0, 1e9)?;
        }
        self.fracture(&body.fracture, Some(body.level))
    }
}

fn check(scene: &Scene) -> Checked {
    let top = Place(None);
    top.number("meters_per_unit", scene.meters_per_unit, 1e-9, 1e9)?;
    top.vector("gravity", scene.gravity.to_array(), 1e4)?;
    top.number("dt", scene.dt, 1e-5, 0.1)?;
    if !(1..=64).contains(&scene.substeps) {
        return top.fail("substeps", format!("is {}; it must be from 1 to 64", scene.substeps));
    }
    top.number("floor_height", scene.floor_height, -1e6, 1e6)?;
    top.number("stiffness", scene.penalty.stiffness, 0.0, 1e15)?;
    top.number("friction", scene.penalty.friction, 0.0, 1e15)?;
    if let Some(walls) = &scene.walls {
        top.vector("walls", walls.low.to_array().into_iter().chain(walls.high.to_array()), 1e6)?;
        if !walls.is_sound() {
            return top.fail("walls", "has no room inside; `low` must be below `high` on all three axes");
        }
    }
    if let Some(adaptive) = &scene.adaptive_level {
        top.number("near", adaptive.near, 1e-3, 1e6)?;
        if adaptive.most > MAX_LEVEL {
            return top.fail("most", format!("is {}; it must be from 0 to {MAX_LEVEL}", adaptive.most));
        }
    }
    if scene.break_pieces > 100_000 {
        return top.fail("break_pieces", format!("is {}; it must be from 0 to 100000", scene.break_pieces));
    }
    top.number("explode", scene.view.explode, 0.0, 1.0)?;
    if let Some(camera) = &scene.camera {
        top.vector("target", camera.target.to_array().map(f64::from), 1e6)?;
        top.number("distance", f64::from(camera.distance), 1e-6, 1e7)?;
        top.number("yaw", f64::from(camera.yaw), -1e4, 1e4)?;
        top.number("pitch", f64::from(camera.pitch), -1.6, 1.6)?;
        top.number("fov_y", f64::from(camera.fov_y), 0.01, 3.0)?;
    }
    for (i, body) in scene.bodies.iter().enumerate() {
        Place(Some(("body", i))).body(body)?;
    }
    if let Some(pinned) = &scene.pinned {
        if pinned.body as usize >= scene.bodies.len() {
            let bodies = scene.bodies.len();
            return top.fail(
                "pinned",
                format!("names body {}; bodies are counted from 0, and there are {bodies}", pinned.body),
            );
        }
        if !pinned.point.is_finite() || pinned.point.abs().max_element() > 1e6 {
            return top.fail("pinned", "has a point that is not finite or beyond 1000000");
        }
        if !pinned.direction.is_finite() || pinned.direction.length() < 1e-9 {
            return top.fail("pinned", "has no direction; say which way the blow goes");
        }
    }
    for (i, event) in scene.events.iter().enumerate() {
        let place = Place(Some(("event", i)));
        place.number("time", event.time(), 0.0, 1e6)?;
        match event {
            Event::Impact { point, direction, speed, fracture, .. } => {
                place.vector("point", point.to_array(), 1e6)?;
                place.vector("direction", direction.to_array(), 1e6)?;
                if direction.length() < 1e-9 {
                    return place.fail("direction", "is zero; say which way the blow goes");
                }
                place.number("speed", *speed, 0.0, 1e4)?;
                fracture.iter().try_for_each(|params| place.fracture(params, None))?;
            }
            Event::Projectile { body, .. } => place.body(body)?,
        }
    }
    pairs(scene)
}

/// Names that pairs use are there once, and levels in range.
fn pairs(scene: &Scene) -> Checked {
    let thrown = scene.events.iter().filter_map(|event| match event {
        Event::Projectile { body, .. } => Some(&**body),
        Event::Impact { .. } => None,
    });
    let names: Vec<&str> = scene.bodies.iter().chain(thrown).filter_map(|b| b.name.as_deref()).collect();
    for (i, pair) in scene.pairs.iter().enumerate() {
        let place = Place(Some(("pair", i)));
        for name in &pair.bodies {
            match names.iter().filter(|n| *n == name).count() {
                0 => {
                    return place
                        .fail("bodies", format!("names \"{name}\", but no [[body]] has that `name`"));
                }
                1 => {}
                n => {
                    return place
                        .fail("bodies", format!("names \"{name}\", but {n} bodies have that `name`"));
                }
            }
        }
        if !(1..=MAX_LEVEL).contains(&pair.physics_level) {
            let level = pair.physics_level;
            return place.fail("physics_level", format!("is {level}; it must be from 1 to {MAX_LEVEL}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn sample() -> Scene {
        let mut body = SceneBody::standing("builtin:vase", 8);
        body.break_threshold = Some(3.0);
        body.linear_velocity = DVec3::new(0.0, -1.5, 0.25);
        let impact = Event::Impact {
            time: 0.5,
            point: DVec3::new(0.1, 0.2, 0.3),
            direction: DVec3::NEG_Z,
            speed: 1.0,
            fracture: Some(FractureParams {
                seeds: 12,
                local: Some(0.3),
                keep: vec![1, 5],
                ..FractureParams::default()
            }),
        };
        let ball = Event::Projectile { time: 1.0, body: Box::new(SceneBody::standing("builtin:sphere", 6)) };
        Scene { name: "try".into(), bodies: vec![body], events: vec![impact, ball], ..Scene::default() }
    }

    #[test]
    fn a_saved_scene_loads_as_it_was() {
        let folder = std::env::temp_dir().join(format!("kintsugi-scene-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("mesh.obj"), "v 0 0 0\n").unwrap();
        let mut scene = sample();
        scene.bodies.push(SceneBody {
            file: folder.join("mesh.obj").to_string_lossy().into_owned(),
            ..SceneBody::default()
        });
        let path = folder.join("a.toml");
        save_scene(&path, &scene).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("file = \"mesh.obj\""), "the path is relative to the scene: {text}");
        let loaded = load_scene(&path).unwrap();
        assert_eq!(loaded.bodies[0], scene.bodies[0]);
        assert_eq!(loaded.events, scene.events);
        assert!(Path::new(&loaded.bodies[1].file).is_file());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn errors_name_line_and_field() {
        let bad = |text: &str, wanted: &[&str]| {
            let message = parse_scene(text, "s.toml").unwrap_err().message;
            assert!(!message.contains('\n'), "{message}");
            for part in wanted {
                assert!(message.contains(part), "{part} in {message}");
            }
        };
        bad("dt = nan\n", &["line 1", "dt", "NaN"]);
        bad("gravity = [0, -9.81, inf]\n", &["line 1", "gravity"]);
        let pinned = "[pinned]\npoint = [0, 1, 0]\ndirection = [0, 0, 0]\n[[body]]\nfile = \"a\"\n";
        bad(pinned, &["line 1", "pinned", "direction"]);
        bad(&format!("[pinned]\nbody = 1\n{}", &pinned[9..]), &["pinned", "body 1", "there are 1"]);
        bad("\ngravitty = [0, 0, 0]\n", &["line 2", "gravitty"]);
        bad("name = 3\n", &["line 1"]);
        bad("[[body]]\nfile = \"a\"\n\n[[body]]\nfile = \"b\"\nlevel = 11\n", &["line 6", "body 2", "level"]);
        let fracture = "[[body]]\nfile = \"a\"\n[body.fracture]\n";
        bad(&format!("{fracture}seeds = 9000\n"), &["line 4", "body 1", "seeds", "8192"]);
        bad(&format!("{fracture}preset = \"grain\"\ngrain_ratio = 0.2\n"), &["line 5", "grain_ratio", "0.2"]);
        bad(&format!("{fracture}preset = \"marble\"\n"), &["line 4", "marble"]);
        bad(&format!("{fracture}counts = [1, 2]\n"), &["line 4", "counts", "4 radii"]);
        bad(&format!("{fracture}smallest = {{ fraction = 2.0 }}\n"), &["body 1", "fraction"]);
        bad("[[body]]\nlevel = 4\n", &["line 1", "body 1", "file"]);
        bad("[[body]]\nfile = \"a\"\nrotation = [0.0, 0.0, 0.0, 0.0]\n", &["line 3", "rotation"]);
        bad("[[body]]\nfile = \"a\"\n[body.fracture.interior]\nscale = 0.0\n", &["line 4", "scale"]);
        bad("[[body]]\nfile = \"a\"\n[body.fracture.interior]\ncolor = \"red\"\n", &["line 4", "red"]);
        bad("[walls]\nlow = [0, 0, 0]\nhigh = [1, nan, 1]\n", &["line 1", "walls", "NaN"]);
        bad("[walls]\nlow = [0, 2, 0]\nhigh = [1, 1, 1]\n", &["walls", "room"]);
        bad("[penalty]\nstiffness = inf\n", &["line 2", "stiffness"]);
        bad("response = \"hard\"\n", &["line 1", "hard"]);
        bad("[adaptive_level]\nnear = 0.0\n", &["line 2", "near"]);
        let two = "[[body]]\nname = \"a\"\nfile = \"a\"\n[[body]]\nname = \"a\"\nfile = \"b\"\n";
        let pair = |names: &str, level: u32| format!("[[pair]]\nbodies = {names}\nphysics_level = {level}\n");
        bad(&(two.to_owned() + &pair("[\"b\", \"a\"]", 4)), &["line 8", "pair 1", "\"b\"", "no [[body]]"]);
        bad(&(two.to_owned() + &pair("[\"a\", \"a\"]", 4)), &["line 8", "2 bodies"]);
        bad(&(two.to_owned() + &pair("[\"a\"]", 4)), &["line 8"]);
        let one = two.replacen("name = \"a\"\n", "", 1);
        bad(&(one + &pair("[\"a\", \"a\"]", 11)), &["physics_level", "11"]);
        bad(
            "[[event]]\nkind = \"impact\"\ntime = -1.0\npoint = [0.0, 0.0, 0.0]\ndirection = [0.0, 0.0, 1.0]\n",
            &["line 3", "event 1", "time"],
        );
    }

    #[test]
    fn no_number_of_a_scene_may_be_nan() {
        let mut scene = sample();
        scene.walls = Some(crate::bodies::Walls { low: DVec3::ZERO, high: DVec3::ONE });
        scene.adaptive_level = Some(crate::bodies::Adaptive::default());
        scene.camera = Some(crate::render::Camera::default());
        let text = toml::to_string(&scene).unwrap();
        parse_scene(&text, "s.toml").unwrap();
        let (mut tried, mut refused) = (0, 0);
        // Every number in turn, in lists as well.
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'e');
        for (i, line) in text.lines().enumerate() {
            let Some((name, value)) = line.split_once(" = ").filter(|(_, v)| !v.contains('"')) else {
                continue;
            };
            for (from, _) in value.match_indices(|c: char| c.is_ascii_digit() || c == '-') {
                if value[..from].ends_with(is_number) {
                    continue;
                }
                let end = value[from..].find(|c| !is_number(c)).map_or(value.len(), |n| from + n);
                let bad = format!("{name} = {}nan{}", &value[..from], &value[end..]);
                let changed: Vec<&str> =
                    text.lines().enumerate().map(|(k, l)| if k == i { bad.as_str() } else { l }).collect();
                tried += 1;
                match parse_scene(&changed.join("\n"), "s.toml") {
                    Err(error) => {
                        assert!(error.message.contains("line"), "{}", error.message);
                        refused += 1;
                    }
                    Ok(_) => println!("taken: {bad}"),
                }
            }
        }
        println!("{refused} of {tried} refused");
        assert!(tried > 60 && refused == tried);
    }

    #[test]
    fn a_directory_and_a_missing_file_are_one_line() {
        for path in [std::env::temp_dir(), PathBuf::from("no-such-scene.toml")] {
            let message = load_scene(&path).unwrap_err().message;
            assert!(!message.is_empty() && !message.contains('\n'));
        }
    }

    #[test]
    fn shipped_scenes_load_and_name_shapes_that_are_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/scenes");
        let mut count = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // Meshes that scenes name lie beside them.
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let scene = load_scene(&path).unwrap_or_else(|e| panic!("{e}"));
            assert!(!scene.bodies.is_empty(), "{}", path.display());
            for body in &scene.bodies {
                let name = body.file.strip_prefix("builtin:");
                let known = name.is_some_and(|n| crate::mesh::BUILTIN_NAMES.contains(&n));
                assert!(known || Path::new(&body.file).is_file(), "{}: {}", path.display(), body.file);
            }
            count += 1;
        }
        assert!(count >= 8, "{count} scenes");
    }

    #[test]
    fn every_field_is_documented() {
        let text = include_str!("../../docs/scenes.md");
        let mut scene = sample();
        scene.camera = Some(crate::render::Camera::default());
        scene.pinned = Some(crate::scene::Pinned { body: 0, point: DVec3::Y, direction: DVec3::NEG_Z });
        scene.walls = Some(crate::bodies::Walls { low: DVec3::ZERO, high: DVec3::ONE });
        scene.adaptive_level = Some(crate::bodies::Adaptive::default());
        scene.bodies[0].name = Some("vase".into());
        let bodies = ["vase".to_owned(), "vase".to_owned()];
        scene.pairs = vec![crate::scene::ScenePair { bodies, physics_level: 5 }];
        scene.bodies[0].physics_level = Some(5);
        scene.bodies[0].fallback = Some("builtin:statue".into());
        let fracture = &mut scene.bodies[0].fracture;
        fracture.island_level = Some(7);
        fracture.counts = vec![10, 10, 10, 10];
        fracture.seeds_file = Some("seeds.txt".into());
        fracture.smallest = Some(crate::fracture::Smallest::default());
        scene.bodies.push(SceneBody::standing("builtin:box", 6));
        scene.bodies[1].fracture.target_pieces = Some(30);
        scene.bodies[0].fracture.interior.color = Some([1, 2, 3]);
        let value = toml::Value::try_from(&scene).unwrap();
        fn walk(value: &toml::Value, text: &str) {
            match value {
                toml::Value::Table(table) => {
                    for (key, value) in table {
                        assert!(text.contains(&format!("`{key}`")), "docs/scenes.md lacks `{key}`");
                        walk(value, text);
                    }
                }
                toml::Value::Array(items) => items.iter().for_each(|v| walk(v, text)),
                _ => {}
            }
        }
        walk(&value, text);
    }
}
