//! Sheets of variants: one body, broken by one blow with each of several values of one parameter or two.
//!
//! In: parameters with their values, as a command or a window names them; a blow on a body. Out: the parameters of
//! every tile, the pieces that come of them, and the sheet as one picture. `kintsugi sheet` and the window share this.

mod paper;
mod vary;

use std::sync::Arc;

use glam::{DVec3, Mat4, Vec3};

use super::{
    SandboxError,
    breaking::{part_state, seeds_in_local, world_from_local_matrix},
    file::fracture_problem,
};
use crate::{
    bodies::BodyDef,
    fracture::{
        Break, BreakContext, Cancel, FractureError, FractureParams, Impact, Insides, KeptCells, Part, Passes,
        SmallRule, Strike, Surface, break_shape,
    },
    mesh::Up,
    provenance::quoted,
    render::RenderBody,
    shape::{CLAY, Octree, Shape},
    svo::{Arena, Grid, coarsen},
};

pub use paper::{Cell, LARGEST, Paper};
pub use vary::{Variant, Vary, put, short, usual, variants, varied};

/// Finest level at which a tile of the window breaks: at finer ones a tile takes seconds.
const FINEST: u32 = 7;
/// Most tiles of a sheet in the window.
const MOST: usize = 64;
/// Points of a body's surface that a camera frames.
const FRAMED: usize = 4000;

/// A blank sheet for pictures of `tile` pixels: rows and columns for two parameters; for one a grid about as wide as a
/// page. A sheet larger than [`LARGEST`] has a size, but no pixels.
///
/// # Errors
/// A line if the font cannot be loaded.
pub fn blank(tile: [u32; 2], vary: &[Vary]) -> Result<Paper, String> {
    let labels = match vary {
        [columns, rows] => Some((columns.labels(), rows.labels())),
        _ => None,
    };
    Paper::new(tile, layout(vary), labels)
}

/// Number of columns and rows of a sheet.
#[must_use]
pub fn layout(vary: &[Vary]) -> (usize, usize) {
    match vary {
        [columns, rows] => (columns.values.len(), rows.values.len()),
        _ => {
            let count = vary.first().map_or(1, |only| only.values.len());
            let columns = if count <= 5 { count } else { (count as f64 * 1.6).sqrt().ceil() as usize };
            (columns, count.div_ceil(columns))
        }
    }
}

/// The caption of a picture of `pieces` pieces of what has this name.
#[must_use]
pub fn caption(name: &str, pieces: usize) -> String {
    if pieces == 1 { format!("{name}, whole") } else { format!("{pieces} pieces") }
}

/// A parameter of a sheet in the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its name in scene files.
    pub path: &'static str,
    /// Its values with commas between them, as typed.
    pub values: String,
}

impl Axis {
    /// With the usual values beside `params` on an object of leaf level `leaf`.
    #[must_use]
    pub fn usual(path: &'static str, params: &FractureParams, leaf: u32) -> Self {
        Self { path, values: usual(path, params, leaf) }
    }
}

/// What a sheet in the window varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetOrder {
    /// From the left to the right; alone, the tiles fill a grid.
    pub columns: Axis,
    /// From the top down.
    pub rows: Option<Axis>,
}

impl SheetOrder {
    /// Reads the values.
    ///
    /// # Errors
    /// A line: values that cannot be read, or too many tiles.
    pub fn read(&self) -> Result<Vec<Vary>, String> {
        let read = |axis: &Axis| {
            let name = short(axis.path);
            let wrong = |_| format!("{name}: give values with commas between them");
            Vary::parse(&format!("{name}={}", axis.values)).map_err(wrong)
        };
        let vary = std::iter::once(&self.columns).chain(&self.rows).map(read);
        let vary = vary.collect::<Result<Vec<Vary>, String>>()?;
        let count = vary.iter().map(|vary| vary.values.len()).fold(1usize, usize::saturating_mul);
        if count > MOST {
            return Err(format!("these are {count} tiles; the sheet holds {MOST}, so give fewer values"));
        }
        Ok(vary)
    }
}

/// A blow on a body that has not fallen, and the parameters that hold now.
#[derive(Clone)]
pub struct Struck {
    /// The body.
    pub(super) def: BodyDef,
    /// Whether it is as imported: seeds from a file are for such bodies alone.
    pub(super) intact: bool,
    /// The blow, local space of the body's shape.
    pub(super) impact: Impact,
    /// The materials that its cracks show.
    pub(super) insides: Insides,
    /// Cells painted to stay.
    pub(super) kept: Option<Arc<KeptCells>>,
    /// The parameters that a break would have now.
    pub(super) params: FractureParams,
    /// Leaf level of the body, of which `def` may be a coarser copy.
    pub(super) level: u32,
    /// Mesh file of the object, and its axis that points up.
    pub(super) file: (String, Up),
}

impl Struck {
    /// The parameters that a break would have now.
    #[must_use]
    pub fn params(&self) -> &FractureParams {
        &self.params
    }

    /// Leaf level of the body.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Leaf level at which tiles break.
    #[must_use]
    pub fn tile_level(&self) -> u32 {
        self.level.min(FINEST)
    }

    /// Whether both are the same blow on the same shape, with whatever parameters and wherever the body is.
    #[must_use]
    pub fn is_same_blow(&self, other: &Self) -> bool {
        let of = |struck: &Self| (struck.impact, struck.intact);
        Arc::ptr_eq(&self.def.shape, &other.def.shape) && of(self) == of(other) && self.kept == other.kept
    }

    /// The same blow on a copy that is no finer than tiles are. Takes a while for a fine body.
    #[must_use]
    pub fn coarse(&self) -> Self {
        let (octree, level) = (self.def.octree(), self.tile_level());
        if octree.level() <= level {
            return self.clone();
        }
        let grid = Grid { level, h: octree.cell_size(level), ..octree.grid };
        let copy = Octree::new(&Arc::new(coarsen(&octree.forest, level)), octree.tree, grid);
        let (whole, ratio) = (&self.def.shape, f64::from(1u32 << (octree.level() - level)));
        let shape = Shape::octree(copy, whole.density(), *whole.look());
        let state = part_state(&self.def.state, whole, &shape);
        let impact = Impact { point: self.impact.point / ratio, ..self.impact };
        Self { def: BodyDef { shape: Arc::new(shape), state, ..self.def.clone() }, impact, ..self.clone() }
    }

    /// Breaks the body by the parameters of a tile; its octree and those of its pieces go into `arena`.
    ///
    /// # Errors
    /// [`SandboxError`]: parameters out of range, cancelled, or no crack.
    pub fn break_by(
        &self,
        params: &FractureParams,
        (arena, passes): (&mut Arena, &Passes),
        cancel: &Cancel,
    ) -> Result<Break, SandboxError> {
        let (octree, mut params) = (self.def.octree(), params.clone());
        params.fit(self.level);
        if let Some(problem) = fracture_problem(&params, self.level, 1) {
            return Err(FractureError::Params(problem).into());
        }
        if let Some(rule) = &mut params.smallest {
            // The number of larger voxels that fill the same space.
            rule.voxels = rule.voxels.div_ceil(1 << (3 * self.level.saturating_sub(octree.level())));
        }
        let seeds = if self.intact { seeds_in_local(&params, &self.def)? } else { None };
        let strike = Strike {
            painted: self.kept.as_deref(),
            seeds: seeds.as_ref(),
            full_level: Some(self.level),
            ..Strike::new(self.impact, &params)
        };
        arena.insert(&octree.forest)?;
        let broken = break_shape(&BreakContext { arena: &*arena, passes, cancel }, &self.def.shape, &strike)?;
        if broken.stayed_whole() {
            return Err(SandboxError::NoCrack);
        }
        for octree in broken.parts.iter().filter_map(|part| part.shape.as_octree()) {
            arena.insert(&octree.forest)?;
        }
        Ok(broken)
    }

    /// How far what is at `at` is moved, m: `apart` times its distance from the middle, and up, so that nothing sinks.
    fn moved(&self, at: DVec3, apart: f64) -> Vec3 {
        let (middle, shape) = (self.def.state.position, &self.def.shape);
        let place = world_from_local_matrix(&self.def.state, shape);
        let corners = shape.bounds().corners().map(|corner| place.transform_point3(corner.as_vec3()).y);
        let lowest = corners.into_iter().fold(f32::INFINITY, f32::min);
        ((at - middle + DVec3::Y * (middle.y - f64::from(lowest))) * apart).as_vec3()
    }

    /// Points of the body's surface, moved as pieces are that lie there; world space, m.
    #[must_use]
    pub fn outline(&self, apart: f64) -> Vec<Vec3> {
        let place = world_from_local_matrix(&self.def.state, &self.def.shape);
        let points = self.def.shape.surface_points(FRAMED).into_iter();
        points.map(|p| place.transform_point3(p)).map(|p| p + self.moved(p.as_dvec3(), apart)).collect()
    }

    /// The pieces of a break as bodies for the renderer, moved apart by `apart` times their distance from the middle.
    #[must_use]
    pub fn drawn(&self, broken: &Break, apart: f64) -> Vec<RenderBody> {
        let whole = &self.def.shape;
        let chosen = broken.params.interior.volume(whole.look().surface_color.unwrap_or(CLAY));
        let insides = if self.intact { Insides::of([chosen]) } else { self.insides.with(chosen) };
        let body = |(part, id): (&Part, u32)| {
            let state = part_state(&self.def.state, whole, &part.shape);
            let moved = Mat4::from_translation(self.moved(state.position, apart));
            RenderBody {
                shape: Arc::clone(&part.shape),
                world_from_local: moved * world_from_local_matrix(&state, &part.shape),
                id,
                object: 0,
                color: None,
                selected: false,
                mark: None,
                interior: insides.first,
                later: insides.later,
            }
        };
        broken.parts.iter().zip(0..).map(body).collect()
    }

    /// The command that draws the same sheet, from its own camera and at the level of the object. `None` where no
    /// option says what breaks: a piece, painted or kept cells, two limits of small pieces at once.
    #[must_use]
    pub fn command(&self, vary: &[Vary]) -> Option<String> {
        let (params, usual) = (&self.params, FractureParams::default());
        let smallest = params.smallest.unwrap_or_default();
        let is_said = self.intact && self.kept.is_none() && params.paint.is_empty();
        if !is_said || (smallest.voxels > 0 && smallest.fraction > 0.0) {
            return None;
        }
        let list = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let counts = |counts: &[u32]| list(&counts.iter().map(|n| f64::from(*n)).collect::<Vec<_>>());
        let shape = &self.def.shape;
        let at = shape.shape_from_local(self.impact.point) / self.def.meters_per_unit;
        let mut all: Vec<(&str, String)> = vec![("level", self.level.to_string())];
        all.extend(vary.iter().map(|vary| ("vary", vary.text())));
        let mut say = |is_other: bool, option: &'static str, value: String| {
            all.extend(is_other.then_some((option, value)));
        };
        let (file, up) = &self.file;
        say(!up.is_y(), "up", up.name().replace('-', "minus-"));
        say(true, "impact", list(&at.to_array()));
        say(true, "direction", list(&self.impact.direction.to_array()));
        say(params.method != usual.method, "method", params.method.to_string());
        params.options.iter().for_each(|(name, value)| say(true, "option", format!("{name}={value}")));
        say(params.preset != usual.preset, "pattern", params.preset.name().to_owned());
        let seeds = params.counts.is_empty() && params.seeds != usual.seeds && params.seeds_file.is_none();
        say(seeds && params.target_pieces.is_none(), "seeds", params.seeds.to_string());
        say(params.target_pieces.is_some(), "pieces", params.target_pieces.unwrap_or_default().to_string());
        say(!params.counts.is_empty(), "counts", counts(&params.counts));
        say(params.radii != usual.radii, "radii", list(&params.radii));
        for row in FractureParams::rows().filter(|row| !row.of.option.is_empty()) {
            let value = (row.get)(params).filter(|_| row.differs(params, &usual) && (row.applies)(params));
            say(value.is_some(), row.of.option, value.unwrap_or_default().to_string());
        }
        say(params.grain_axis != usual.grain_axis, "grain-axis", list(&params.grain_axis.to_array()));
        say(params.seeds_file.is_some(), "seeds-file", params.seeds_file.clone().unwrap_or_default());
        let rule = if smallest.rule == SmallRule::Merge { "merge" } else { "drop" };
        say(smallest.voxels > 0, "smallest", format!("{},{rule}", smallest.voxels));
        say(smallest.fraction > 0.0, "smallest", format!("{}%,{rule}", 100.0 * smallest.fraction));
        say(params.rng != usual.rng, "rng", params.rng.to_string());
        say(!params.keep.is_empty(), "keep", counts(&params.keep));
        let color =
            params.interior.color.map_or_else(String::new, |[r, g, b]| format!(":#{r:02x}{g:02x}{b:02x}"));
        let inside = format!("{}{color}", params.interior.material.name());
        say(params.interior.material != usual.interior.material || !color.is_empty(), "interior", inside);
        let (crack, plain, surface) = (params.crack, usual.crack, params.surface);
        let is_cracked = surface != Surface::Planar;
        say(is_cracked, "surface", if surface == Surface::Rough { "rough" } else { "dusty" }.to_owned());
        say(is_cracked && crack.offset != plain.offset, "offset", "balance".to_owned());
        let noise = [crack.noise.amplitude, f64::from(crack.noise.frequency), f64::from(crack.noise.octaves)];
        say(is_cracked && crack.noise != plain.noise, "noise", list(&noise));
        let displaced = surface == Surface::Rough && crack.displacement != plain.displacement;
        say(displaced, "displacement", list(&[crack.displacement.face, crack.displacement.voxel]));
        let votes = surface == Surface::Rough && crack.sides != plain.sides;
        say(votes, "sides", "votes".to_owned());
        let dust = surface == Surface::Dusty && crack.dusty != plain.dusty;
        say(dust, "dust", list(&[crack.dusty.width, crack.dusty.irregularity]));
        let options: Vec<String> =
            all.iter().map(|(option, value)| format!("--{option} {}", quoted(value))).collect();
        Some(format!("kintsugi sheet {} {} --out sheet.png", quoted(file), options.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        compute::{Choice, Compute},
        scene::{Arrived, Pin, Sandbox, Scene, Tuning},
    };

    fn until(sandbox: &mut Sandbox, what: Arrived) {
        while sandbox.poll().unwrap() != Some(what) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn opened(file: &str, level: u32) -> Sandbox {
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh(file, level));
        until(&mut sandbox, Arrived::Opened);
        sandbox
    }

    fn pinned(sandbox: &mut Sandbox) {
        let (low, high) = sandbox.bounds(None).unwrap();
        let pick = sandbox.pick(low.midpoint(high) + Vec3::Z * 5.0, Vec3::NEG_Z).expect("the ray hits it");
        let aim = sandbox.aim_at(&pick, Vec3::NEG_Z).unwrap();
        sandbox.pin(aim);
        sandbox.end_gesture();
    }

    fn vary(texts: &[&str]) -> Vec<Vary> {
        texts.iter().map(|text| Vary::parse(text).unwrap()).collect()
    }

    /// Volumes of the pieces of a tile, m^3, the largest first.
    fn tile(struck: &Struck, params: &FractureParams) -> Result<Vec<f64>, SandboxError> {
        let mut arena = Arena::new(&Compute::Cpu).unwrap();
        let broken = struck.break_by(params, (&mut arena, &Passes::default()), Cancel::never())?;
        assert_eq!(struck.drawn(&broken, 0.25).len(), broken.parts.len());
        let mut volumes: Vec<f64> = broken.parts.iter().map(|part| part.shape.mass().volume_m3).collect();
        volumes.sort_by(|a, b| b.total_cmp(a));
        Ok(volumes)
    }

    /// Volumes of a sandbox's bodies, m^3, the largest first.
    fn volumes(sandbox: &Sandbox) -> Vec<f64> {
        let mut all: Vec<f64> = sandbox.bodies().iter().map(|b| b.def.shape.mass().volume_m3).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        all
    }

    fn assert_same(a: &[f64], b: &[f64]) {
        assert_eq!(a.len(), b.len(), "{a:?}\n{b:?}");
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * b), "{a:?}\n{b:?}");
    }

    #[test]
    fn one_parameter_fills_a_grid_and_two_make_rows_and_columns() {
        let of = |texts: &[&str]| layout(&vary(texts));
        assert_eq!(of(&["seeds=1,2,3"]), (3, 1));
        assert_eq!(of(&["rng=1,2,3,4,5,6,7,8,9"]), (4, 3));
        assert_eq!(of(&["rng=1,2,3", "surface=planar,rough"]), (3, 2));
    }

    #[test]
    fn values_that_were_typed_are_read_or_refused_in_a_line() {
        let params = FractureParams::default();
        let mut order = SheetOrder { columns: Axis::usual("rng", &params, 5), rows: None };
        assert_eq!(order.read().unwrap()[0].values.len(), 9);
        order.rows = Some(Axis { path: "crack.transition_level", values: "2, 3,4".into() });
        let labels: Vec<_> = order.read().unwrap().iter().map(Vary::labels).collect();
        assert_eq!((labels[0].len(), labels[1][1].as_str()), (9, "transition_level = 3"));
        order.columns.values = " ".into();
        assert!(order.read().is_err_and(|why| why.contains("commas") && !why.contains('\n')));
        order.columns.values = vec!["1"; 65].join(",");
        order.rows = None;
        assert!(order.read().is_err_and(|why| why.contains("65 tiles")));
    }

    /// Every tile has the pieces of the blow that falls with its values. Planted error to see this fail: another seed.
    #[test]
    fn tiles_are_what_the_blow_makes_with_their_values() {
        let mut sandbox = opened("builtin:vase", 5);
        pinned(&mut sandbox);
        let struck = sandbox.struck().unwrap();
        assert_eq!((struck.level(), struck.tile_level()), (5, 5));
        let vary = vary(&["seeds=8,30", "surface=planar,rough"]);
        let all = variants(struck.params(), struck.level(), &vary).unwrap();
        let mut seen = Vec::new();
        for Variant { params, .. } in all {
            let made = tile(&struck, &params).unwrap();
            let fracture = FractureParams { rng: sandbox.tuning().fracture.rng, ..params };
            let tuning = Tuning { fracture, lock_rng: true, blow_speed: 0.0, ..sandbox.tuning().clone() };
            sandbox.tune("variant", tuning);
            assert!(sandbox.break_pin());
            until(&mut sandbox, Arrived::Broke);
            assert_same(&made, &volumes(&sandbox));
            assert!(!seen.contains(&made), "another tile has the same pieces");
            seen.push(made);
            sandbox.undo();
        }
    }

    #[test]
    fn without_a_pin_it_is_the_last_blow_or_one_from_the_front() {
        let mut sandbox = opened("builtin:box", 4);
        let front = sandbox.struck().unwrap();
        assert!(front.impact.direction.z < -0.9, "from the front: {}", front.impact.direction);
        let params = front.params().clone();
        let body = sandbox.bodies()[0].clone();
        let point = body.state.position + DVec3::new(0.2, 0.1, 0.0);
        sandbox.break_at(body.id, point, DVec3::NEG_X);
        until(&mut sandbox, Arrived::Broke);
        let last = sandbox.struck().unwrap();
        assert!(last.impact.direction.distance(DVec3::NEG_X) < 1e-9 && last.intact);
        // Its blow has used a random seed up; with that one the tile is what fell.
        assert_same(&tile(&last, &params).unwrap(), &volumes(&sandbox));
        sandbox.undo();
        pinned(&mut sandbox);
        let pin: &Pin = sandbox.tuning().pin.as_ref().unwrap();
        assert_eq!(sandbox.struck().unwrap().impact, pin.aim.impact());
    }

    #[test]
    fn a_fine_body_is_broken_as_a_coarser_copy() {
        let mut sandbox = opened("builtin:box", 8);
        pinned(&mut sandbox);
        let fine = sandbox.struck().unwrap();
        let coarse = fine.coarse();
        assert_eq!((coarse.def.octree().level(), coarse.level()), (7, 8));
        let [a, b] = [&fine, &coarse].map(|struck| {
            world_from_local_matrix(&struck.def.state, &struck.def.shape)
                .transform_point3(struck.impact.point.as_vec3())
        });
        assert!(a.distance(b) < 1e-5, "the blow is at the same place: {a}, {b}");
        let [fine, coarse] = [&fine, &coarse].map(|struck| tile(struck, fine.params()).unwrap());
        let whole = |all: &[f64]| all.iter().sum::<f64>();
        // Islands of a few voxels may differ; the pieces that are seen do not.
        assert!((whole(&fine) / whole(&coarse) - 1.0).abs() < 0.06);
        for (fine, coarse) in fine.iter().zip(&coarse).take(8) {
            assert!((fine / coarse - 1.0).abs() < 0.15, "{fine} and {coarse}");
        }
    }

    #[test]
    fn what_makes_no_crack_says_so() {
        let sandbox = opened("builtin:box", 4);
        let struck = sandbox.struck().unwrap();
        let one = FractureParams { seeds: 1, ..struck.params().clone() };
        assert!(matches!(tile(&struck, &one), Err(SandboxError::NoCrack)));
        let none = FractureParams { seeds: 0, ..one };
        assert!(tile(&struck, &none).is_err_and(|why| why.to_string().starts_with("seeds")));
    }
}
