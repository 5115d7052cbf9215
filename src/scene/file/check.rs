//! Checks that the values of a scene are in range, and finds the line of a value that is not.

use std::collections::{BTreeSet, HashMap};

use glam::DQuat;

use crate::{
    bodies::GRAVITY,
    fracture::FractureParams,
    parameter::Row,
    render::Camera,
    scene::{
        Event, PartName, Scene, SceneBody,
        parameters::{BLOW_SPEED, GENERATIONS},
    },
    svo::MAX_LEVEL,
};

/// A value out of range, with its location.
pub(super) struct Problem {
    table: Option<(&'static str, usize)>,
    name: &'static str,
    /// What is wrong.
    pub what: String,
}

impl Problem {
    /// Name of the field.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Name of the field with its table.
    pub fn field(&self) -> String {
        match self.table {
            Some((table, index)) => format!("{table} {}: {}", index + 1, self.name),
            None => self.name.to_owned(),
        }
    }
}

/// The line number (from 1) of a field, or else of its table, or else 1.
pub(super) fn line_of(text: &str, problem: &Problem) -> usize {
    let mut found = 1;
    // The current list (empty at the top level), and the number of entries of the problem's list so far.
    let (mut list, mut tables) = ("", 0);
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        let header = header_of(line);
        if let Some((name, of_list)) = header {
            let root = name.split('.').next().unwrap_or(name).trim();
            if of_list && root == name {
                list = root;
            } else if root != list {
                list = "";
            }
            if let Some((table, index)) = problem.table
                && of_list
                && table == name
            {
                tables += 1;
                found = if tables == index + 1 { i + 1 } else { found };
            }
        }
        let inside = match problem.table {
            Some((table, index)) => list == table && tables == index + 1,
            None => list.is_empty(),
        };
        let is_it = match header {
            Some((name, _)) => name.rsplit('.').next().map(str::trim) == Some(problem.name),
            None => sets(line, problem.name),
        };
        if inside && is_it {
            return i + 1;
        }
    }
    found
}

/// Name of the table that a line starts, and whether it is an entry of a list.
fn header_of(line: &str) -> Option<(&str, bool)> {
    let inner = line.strip_prefix('[')?;
    let name = inner.trim_start_matches('[').split(']').next()?.trim();
    // A continuation line of a list of numbers starts with a bracket, too.
    name.starts_with(|first: char| first.is_ascii_alphabetic()).then_some((name, inner.starts_with('[')))
}

/// Whether a line assigns to `name`, also within an inline table or after a dot.
fn sets(line: &str, name: &str) -> bool {
    !line.starts_with('#')
        && line.match_indices(name).any(|(at, _)| {
            let (before, after) = (line[..at].trim_end(), line[at + name.len()..].trim_start());
            (before.is_empty() || before.ends_with(['{', ',', '.'])) && after.starts_with(['=', '.'])
        })
}

type Checked = Result<(), Problem>;

/// Most entries of the lists whose length a file chooses freely: far above what a machine plays, and below what fills
/// its memory.
const MOST_ENTRIES: [(&str, usize); 3] = [("body", 100_000), ("pair", 500_000), ("event", 100_000)];

/// The section of a scene file being checked: a table with its index, or the top level.
struct Section(Option<(&'static str, usize)>);

impl Section {
    fn fail(&self, name: &'static str, what: impl Into<String>) -> Checked {
        Err(Problem { table: self.0, name, what: what.into() })
    }

    fn number(&self, name: &'static str, value: f64, low: f64, high: f64) -> Checked {
        if value.is_finite() && (low..=high).contains(&value) {
            return Ok(());
        }
        // Debug formatting uses an exponent for large and tiny numbers.
        self.fail(name, format!("is {value:?}; it must be a number from {low} to {high}"))
    }

    fn vector(&self, name: &'static str, values: impl IntoIterator<Item = f64>, most: f64) -> Checked {
        values.into_iter().try_for_each(|v| self.number(name, v, -most, most))
    }

    fn camera(&self, camera: &Camera) -> Checked {
        self.vector("target", camera.target.to_array().map(f64::from), 1e6)?;
        self.number("distance", f64::from(camera.distance), 1e-6, 1e7)?;
        self.number("yaw", f64::from(camera.yaw), -1e4, 1e4)?;
        self.number("pitch", f64::from(camera.pitch), -1.6, 1.6)?;
        self.number("fov_y", f64::from(camera.fov_y), 0.01, 3.0)
    }

    fn rotation(&self, rotation: &DQuat) -> Checked {
        self.vector("rotation", rotation.to_array(), 1e3)?;
        if rotation.length() < 1e-6 {
            return self.fail("rotation", "is zero; no turn is [0, 0, 0, 1]");
        }
        Ok(())
    }

    /// `level` is the leaf level, if known.
    fn fracture(&self, params: &FractureParams, level: Option<u32>) -> Checked {
        if params.rng > i64::MAX as u64 {
            return self.fail("rng", "is too large; it must be below 2^63");
        }
        if let Some((name, what)) = params.problem() {
            return self.fail(name, what);
        }
        if let Some(missing) = params.keep.iter().find(|s| **s >= params.most_seeds()) {
            let last = params.most_seeds() - 1;
            return self.fail("keep", format!("names seed {missing}; seeds are numbered 0 to {last}"));
        }
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
        Ok(())
    }

    /// Numbers that are in a table.
    fn rows<T>(&self, rows: &'static [Row<T>], owner: &T) -> Checked {
        let problem = rows.iter().find_map(|row| row.problem(owner));
        problem.map_or(Ok(()), |(name, what)| self.fail(name, what))
    }

    /// What holds must break in a way that bonds can hold.
    fn hold(&self, holds: bool, params: &FractureParams) -> Checked {
        let problem = params.hold_problem().filter(|_| holds);
        problem.map_or(Ok(()), |what| self.fail("hold", what))
    }

    fn body(&self, body: &SceneBody) -> Checked {
        if body.file.is_empty() {
            return self.fail("file", "is missing; name a mesh file or builtin:vase");
        }
        self.rows(SceneBody::ROWS, body)?;
        if body.fallback.as_ref().is_some_and(String::is_empty) {
            return self.fail("fallback", "is empty; name a mesh file or builtin:statue");
        }
        if let Some(level) = body.physics_level
            && !(1..=body.finest_level()).contains(&level)
        {
            return self.fail(
                "physics_level",
                format!("is {level}; it must be from 1 to the level, {}", body.finest_level()),
            );
        }
        if let Some(edge) = body.voxel_size.filter(|edge| !(1e-9..=1e9).contains(edge)) {
            return self.fail(
                "voxel_size",
                format!("is {edge} m; it must be from 1e-9 to 1e9 m, or a text with a unit, as in \"2mm\""),
            );
        }
        self.vector("position", body.position.to_array(), 1e6)?;
        self.rotation(&body.rotation)?;
        self.vector("linear_velocity", body.linear_velocity.to_array(), 1e4)?;
        self.vector("angular_velocity", body.angular_velocity.to_array(), 1e4)?;
        if let Some((name, what)) = body.strength.as_ref().and_then(|strength| strength.problem()) {
            return self.fail(name, what);
        }
        self.hold(body.hold, &body.fracture)?;
        if let Some(what) = body.follow.and_then(|follow| follow.problem(&body.fracture)) {
            return self.fail("follow", what);
        }
        self.fracture(&body.fracture, Some(body.finest_level()))
    }
}

/// The first problem of parameters for a break over `generations` of an object with leaves at `level`: the parameter
/// and what to do, in one line.
#[must_use]
pub fn fracture_problem(params: &FractureParams, level: u32, generations: u32) -> Option<String> {
    if let Err(problem) = Section(None).fracture(params, Some(level)) {
        return Some(format!("{} {}", problem.name, problem.what));
    }
    if let Err(what) = GENERATIONS.check(f64::from(generations)) {
        return Some(format!("generations {what}"));
    }
    let smallest = params.radii.iter().copied().fold(f64::INFINITY, f64::min);
    let nothing = generations > 1 && params.local.is_some_and(|radius| radius < smallest);
    nothing.then(|| {
        format!("local is below the smallest of radii, {smallest}, so nothing breaks in later generations; give a larger one")
    })
}

/// Checks all values; the error is the first one out of range.
pub(super) fn check(scene: &Scene) -> Checked {
    let top = Section(None);
    for ((list, most), count) in
        MOST_ENTRIES.into_iter().zip([scene.bodies.len(), scene.pairs.len(), scene.events.len()])
    {
        if count > most {
            return top.fail(list, format!("has {count} entries; at most {most} are read; take some away"));
        }
    }
    top.rows(Scene::ROWS, scene)?;
    top.vector("gravity", scene.gravity.to_array(), GRAVITY.range.1)?;
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
    if let Some(camera) = &scene.camera {
        top.camera(camera)?;
    }
    for (i, body) in scene.bodies.iter().enumerate() {
        Section(Some(("body", i))).body(body)?;
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
    let lit = scene.light.check();
    lit.or_else(|what| top.fail("light", format!("has a value out of range: {what}")))?;
    let behind = scene.backdrop.as_ref().map_or(Ok(()), crate::render::Backdrop::check);
    behind.or_else(|what| top.fail("backdrop", format!("has a value out of range: {what}")))?;
    let seen = scene.lens.map_or(Ok(()), |lens| lens.check());
    seen.or_else(|what| top.fail("lens", format!("has a value out of range: {what}")))?;
    let scaled = scene.view.scale.check();
    scaled.or_else(|what| top.fail("view", format!("has a scale out of range: {what}")))?;
    for (i, slice) in scene.slices.iter().enumerate() {
        slice.check().or_else(|(name, what)| Section(Some(("slice", i))).fail(name, what))?;
    }
    for (i, view) in scene.saved_views.iter().enumerate() {
        Section(Some(("saved_view", i))).camera(&view.camera)?;
    }
    for (i, event) in scene.events.iter().enumerate() {
        let section = Section(Some(("event", i)));
        section.number("time", event.time(), 0.0, 1e6)?;
        match event {
            Event::Impact { point, direction, speed, fracture, energy, hold, .. } => {
                if let Some(energy) = energy {
                    section.number("energy", *energy, 0.0, 1e15)?;
                }
                section.vector("point", point.to_array(), 1e6)?;
                section.vector("direction", direction.to_array(), 1e6)?;
                if direction.length() < 1e-9 {
                    return section.fail("direction", "is zero; say which way the blow goes");
                }
                let what = BLOW_SPEED.check(*speed);
                what.or_else(|what| section.fail("speed", what))?;
                fracture.iter().try_for_each(|params| section.fracture(params, None))?;
                fracture.iter().try_for_each(|params| section.hold(*hold, params))?;
            }
            Event::Projectile { body, .. } => section.body(body)?,
            Event::Hand { anchor, path, .. } => {
                section.vector("anchor", anchor.to_array(), 1e6)?;
                path.iter().try_for_each(|point| section.vector("path", point.to_array(), 1e6))?;
            }
            Event::Move { position, rotation, .. } => {
                section.vector("position", position.to_array(), 1e6)?;
                section.rotation(rotation)?;
            }
        }
    }
    numbers(scene)?;
    pairs(scene)?;
    breaks(scene)
}

/// Numbers that events claim for what they bring must be those after the bodies, and each the number of one event.
fn numbers(scene: &Scene) -> Checked {
    let (first, mut claimed) = (scene.bodies.len(), BTreeSet::new());
    let numbers = first..first + scene.numbers_of_thrown().len();
    for (i, event) in scene.events.iter().enumerate() {
        let Event::Projectile { object: Some(object), .. } = event else { continue };
        let section = Section(Some(("event", i)));
        if !numbers.contains(&(*object as usize)) {
            let last = numbers.end - 1;
            let text = format!(
                "is {object}; what events bring is numbered from {first} to {last}, after the bodies"
            );
            return section
                .fail("object", format!("{text}; leave it away in all of them to number them in order"));
        }
        if !claimed.insert(*object) {
            return section
                .fail("object", format!("is {object}, as of an event before; give each its own number"));
        }
    }
    Ok(())
}

/// Breaks, poses and deletions must refer to existing bodies and earlier breaks.
fn breaks(scene: &Scene) -> Checked {
    let named = |section: &Section, what: &PartName, before: usize| {
        let bodies = scene.bodies.len();
        if what.body as usize >= bodies {
            let text = format!("is {}; bodies are counted from 0, and there are {bodies}", what.body);
            return section.fail("body", text);
        }
        let Some(of) = what.of else {
            return match what.part {
                0 => Ok(()),
                _ => section.fail("part", "is a part of a break; say `of` which, counted from 0"),
            };
        };
        let Some(earlier) = scene.breaks[..before].get(of as usize) else {
            return section.fail("of", format!("is {of}; only breaks that come before have parts, from 0"));
        };
        if earlier.body != what.body {
            return section.fail("of", format!("names break {of}, which is another body's"));
        }
        Ok(())
    };
    for (i, one) in scene.breaks.iter().enumerate() {
        let section = Section(Some(("break", i)));
        named(&section, &one.what(), i)?;
        section.vector("point", one.point.to_array(), 1e6)?;
        section.vector("direction", one.direction.to_array(), 1e6)?;
        if one.direction.length() < 1e-9 {
            return section.fail("direction", "is zero; say which way the blow goes");
        }
        joined(&section, &one.joined, if one.hold { 1 } else { 2 })?;
        for bond in &one.damaged {
            section.number("damaged", bond.damage, 0.0, 1.0)?;
        }
        section.fracture(&one.fracture, scene.bodies.get(one.body as usize).map(|body| body.level))?;
        section.hold(one.hold, &one.fracture)?;
    }
    let mut placed = BTreeSet::new();
    for (i, pose) in scene.poses.iter().enumerate() {
        let section = Section(Some(("pose", i)));
        named(&section, &pose.what(), scene.breaks.len())?;
        if !placed.insert(pose.what()) {
            return section.fail("body", "has a [[pose]] for the same part already; keep one of them");
        }
        section.vector("position", pose.position.to_array(), 1e6)?;
        section.rotation(&pose.rotation)?;
        section.vector("linear_velocity", pose.linear_velocity.to_array(), 1e4)?;
        section.vector("angular_velocity", pose.angular_velocity.to_array(), 1e4)?;
    }
    for (i, gone) in scene.deleted.iter().enumerate() {
        named(&Section(Some(("deleted", i))), gone, scene.breaks.len())?;
    }
    Ok(())
}

/// Lists of merged parts must have `least` entries, and no part twice.
fn joined(section: &Section, lists: &[Vec<u32>], least: usize) -> Checked {
    let mut seen = BTreeSet::new();
    for list in lists {
        if list.len() < least {
            let few = if least == 1 { "one part" } else { "two parts" };
            return section
                .fail("joined", format!("has a list of fewer than {few}; name those that are one again"));
        }
        if let Some(twice) = list.iter().find(|part| !seen.insert(**part)) {
            return section.fail("joined", format!("names part {twice} twice"));
        }
    }
    Ok(())
}

/// Names in pairs must be unique, and levels in range.
fn pairs(scene: &Scene) -> Checked {
    // By name: number of bodies, and leaf level of the last.
    let mut named: HashMap<&str, (usize, u32)> = HashMap::new();
    for body in scene.objects() {
        if let Some(name) = body.name.as_deref() {
            let (count, level) = named.entry(name).or_default();
            (*count, *level) = (*count + 1, body.finest_level());
        }
    }
    for (i, pair) in scene.pairs.iter().enumerate() {
        let section = Section(Some(("pair", i)));
        let mut finest = 1;
        for name in &pair.bodies {
            let (count, level) = named.get(name.as_str()).copied().unwrap_or_default();
            finest = finest.max(level);
            match count {
                0 => {
                    return section
                        .fail("bodies", format!("names \"{name}\", but no [[body]] has that `name`"));
                }
                1 => {}
                n => {
                    return section
                        .fail("bodies", format!("names \"{name}\", but {n} bodies have that `name`"));
                }
            }
        }
        if !(1..=finest).contains(&pair.physics_level) {
            let level = pair.physics_level;
            let text =
                format!("is {level}; it must be from 1 to {finest}, the finer leaf level of the two bodies");
            return section.fail("physics_level", text);
        }
    }
    Ok(())
}
