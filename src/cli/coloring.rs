//! What colours mean in pictures of `kintsugi render`: quantities of pieces, slices, and the legend that explains them.
//!
//! In: arguments, bodies. Out: colours of bodies, an overlay of slices, and letters on the finished picture.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use glam::DVec3;

use super::{CliError, input::Object, progress::Reporter, stress_load::StressLoadArgs};
use crate::{
    elastic::ElasticError,
    export::disk::put_listed,
    facade::{
        Matter, Pieces,
        stamp::{explain, svg_of},
        stills::world_bounds,
    },
    fracture::{Impact, Pattern, generations::Plan},
    render::{Camera, Clips, ColorBy, Overlay, RenderBody},
    scene::{
        BodyFields, BodyPlace, BodyStress, ColorMap, Coloring, LeafColors, Legend, Painter, Place, Quantity,
        Sandbox, Scale, Scene, SeedSet, Slice, SliceOrder, Sliced, draw_slices, metres_per_pixel,
    },
    shape::Shape,
    svo::Arena,
};

/// What colours mean.
#[derive(Args, Clone, Debug)]
pub struct ColoringArgs {
    #[arg(long, value_name = "NAME", default_value = "material")]
    #[arg(help = format!("What colours mean [possible values: {}]", Coloring::names().join(", ")))]
    #[arg(long_help = format!("What colours mean. `stress` and `von-mises` are of each body under its weight alone, as \
        it stands on its lowest cells, or under the blow of --stress-load; a mesh, in metres, has the density of scene \
        files, {} kg/m^3 [possible values: {}]",
        Matter::default().density, Coloring::names().join(", ")))]
    color_by: Coloring,
    #[command(flatten)]
    load: StressLoadArgs,
    /// Cut the bodies open at a plane: an axis and a place along it, m or hundredths of what there is, then perhaps
    /// what its colours mean, as in z50%, y0.3 or x50%:cell; what is nearer to the eye is taken away; may be given
    /// several times
    #[arg(long, value_name = "SLICE")]
    #[arg(long_help = format!("Cut the bodies open at a plane: an axis and a place along it, m or hundredths of what \
        there is, then perhaps what its colours mean, as in z50%, y0.3 or x50%:cell; what is nearer to the eye is \
        taken away; may be given several times. Colours: {}", Quantity::names()))]
    slice: Vec<SliceOrder>,
    /// Draw the edges of voxels and octants on slices
    #[arg(long, requires = "slice")]
    slice_lines: bool,
    /// Draw slices into whole bodies: nothing is taken away
    #[arg(long, requires = "slice")]
    uncut: bool,
    /// Draw the slices alone, those of a scene too, without the bodies
    #[arg(long, conflicts_with = "uncut")]
    slice_alone: bool,
    /// Colours of numbers
    #[arg(long, value_name = "NAME", default_value = "viridis", value_parser = parse_map)]
    color_map: ColorMap,
    /// Numbers of the first and the last colour [default: the least and the greatest shown]
    #[arg(long, value_name = "LOW,HIGH", value_parser = parse_range)]
    color_range: Option<[f64; 2]>,
    /// Colours by factors and not by differences
    #[arg(long)]
    color_log: bool,
    /// Say in the picture what its colours mean
    #[arg(long)]
    legend: bool,
    /// Write what the colours mean into an SVG file, for a figure of one's own
    #[arg(long, value_name = "SVG")]
    legend_file: Option<PathBuf>,
    /// Draw a bar whose length is said; what stands at the middle of the view has that scale, and units of a mesh are
    /// taken for metres
    #[arg(long)]
    scale_bar: bool,
}

fn parse_map(text: &str) -> Result<ColorMap, String> {
    let names = || ColorMap::ALL.map(|map| map.name()).join(", ");
    ColorMap::ALL.into_iter().find(|map| map.name() == text).ok_or_else(|| format!("there are {}", names()))
}

fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let wrong = || "two numbers are wanted, the lower first, as in 0,0.5".to_owned();
    let (low, high) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low < high => Ok([low, high]),
        _ => Err(wrong()),
    }
}

/// A picture's slices and what its colours mean.
#[derive(Default)]
pub struct Explained {
    /// Planes that cut it open.
    pub clips: Clips,
    /// Drawn over it.
    pub overlay: Option<Arc<Overlay>>,
    legends: Vec<Legend>,
    /// What is asked for and cannot be seen, a line each.
    pub notes: Vec<String>,
    /// Metres of what is drawn for a metre of the picture's world.
    units: f64,
}

impl ColoringArgs {
    /// How the renderer draws bodies.
    pub fn rendered(&self) -> ColorBy {
        self.color_by.rendered()
    }

    /// Whether the bodies themselves are left out.
    pub fn is_alone(&self) -> bool {
        self.slice_alone
    }

    /// Whether a slice, or the voxels of surfaces, show the seeds of a break.
    pub fn needs_seeds(&self) -> bool {
        let of_voxels = |quantity: &Quantity| quantity.of_voxels;
        let shown = self.slice.iter().filter_map(|slice| slice.show);
        shown.chain(self.color_by.quantity().filter(of_voxels)).any(|show| show.of_seeds)
    }

    /// Refuses a load of a mesh whose stress nothing shows, a blow on pieces, each of which stands by itself, and a
    /// picture of slices alone that has none.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn check_load(&self, in_pieces: bool) -> Result<(), CliError> {
        if self.load.is_given() && !self.shows_stress() {
            return Err(unused_load());
        }
        if self.load.is_blow() && in_pieces {
            let message = "--stress-load blow strikes the whole object; leave --explode out";
            return Err(CliError::Input(message.into()));
        }
        self.check_alone(false)
    }

    fn shows_stress(&self) -> bool {
        shows_stress(self.color_by, self.slice.iter().filter_map(|slice| slice.show))
    }

    /// The stress of each shape of an object under the load that the options name, with the density of scene files;
    /// `None` for one that cannot be solved for. Empty if nothing shows stress. `blow` is where a blow falls, and the
    /// object's longest side.
    pub fn stresses<'a>(
        &self,
        shapes: impl Iterator<Item = &'a Shape>,
        blow: (Impact, f64),
        reporter: &Reporter,
    ) -> Vec<Option<BodyStress>> {
        if !self.shows_stress() {
            return Vec::new();
        }
        let solved = |shape: &Shape| self.load.stress_of(shape, blow, &BodyStress::AS_SHOWN);
        let all: Vec<Result<BodyStress, ElasticError>> =
            reporter.stage("stress", |_| shapes.map(solved).collect());
        let failed: Vec<&ElasticError> = all.iter().filter_map(|stress| stress.as_ref().err()).collect();
        if let Some(why) = failed.first() {
            reporter.warn(&format!("{} of {} bodies have no stress: {why}", failed.len(), all.len()));
        }
        all.into_iter().map(Result::ok).collect()
    }

    fn scale(&self) -> Result<Scale, CliError> {
        let [low, high] = self.color_range.map_or([None; 2], |range| range.map(Some));
        let scale = Scale { map: self.color_map, low, high, log: self.color_log };
        scale.check().map_err(|why| CliError::Input(format!("--color-range: {why}")))?;
        Ok(scale)
    }

    /// Refuses, before a scene is played, a load whose stress nothing shows, and a picture of slices alone that has
    /// none.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn check_scene(&self, scene: &Scene) -> Result<(), CliError> {
        let of_scene = self.color_by == Coloring::default();
        let colors = if of_scene { scene.view.color_by } else { self.color_by };
        let ordered = self.slice.iter().filter_map(|slice| slice.show);
        let shown = scene.slices.iter().filter_map(|slice| slice.show).chain(ordered);
        if self.load.is_given() && !shows_stress(colors, shown) {
            return Err(unused_load());
        }
        self.check_alone(!scene.slices.is_empty())
    }

    /// Refuses a picture of slices alone that has none. `has_own`: the scene has one itself.
    fn check_alone(&self, has_own: bool) -> Result<(), CliError> {
        let why = "--slice-alone: there is no slice; add --slice, or [[slice]] to the scene";
        let has_none = self.slice.is_empty() && !has_own;
        if self.slice_alone && has_none { Err(CliError::Input(why.into())) } else { Ok(()) }
    }

    fn slices(&self, bounds: (DVec3, DVec3), eye: DVec3) -> Vec<Slice> {
        let of = |order: &SliceOrder| Slice {
            lines: self.slice_lines,
            opens: !self.uncut,
            ..order.slice(bounds, eye)
        };
        self.slice.iter().map(of).collect()
    }

    /// Gives bodies their colours, for which `arena` may get copies of their octrees, and draws the slices through
    /// them. `units` are metres of the object for a metre of the picture's world.
    ///
    /// # Errors
    /// [`CliError::Input`] for a scale that is none, [`CliError::Gpu`] where copies do not fit.
    pub fn explain(
        &self,
        cut: &[Sliced<'_>],
        (bodies, arena): (&mut [RenderBody], &mut Arena),
        (camera, units): (Camera, f64),
        below: Option<Arc<Overlay>>,
    ) -> Result<Explained, CliError> {
        let scale = self.scale()?;
        let fields = BodyFields::default();
        let mut legends = Vec::new();
        if let Some(quantity) = self.color_by.quantity().filter(|quantity| quantity.of_voxels) {
            let shapes = |of: &Sliced<'_>| -> Vec<Arc<Shape>> {
                of.parts.iter().map(|(shape, _)| Arc::clone(shape)).collect()
            };
            let copies =
                LeafColors::new(quantity, scale, &fields, cut.iter().map(|of| (of.place, shapes(of))));
            copies.upload(arena)?;
            bodies.iter_mut().for_each(|body| *body = copies.dressed(body.clone()));
            legends.extend(copies.legend());
        } else if let Some(quantity) = self.color_by.quantity() {
            let value = |of: &Sliced<'_>| (quantity.of)(&Place { body: &of.place, voxel: None });
            let values: Vec<Option<f64>> = cut.iter().map(value).collect();
            let stresses = cut.iter().filter_map(|of| of.place.stress);
            let painter = Painter::new(quantity, scale, values.iter().flatten().copied())
                .under(stresses.map(BodyStress::load));
            for (body, value) in bodies.iter_mut().zip(&values) {
                body.color = Some(painter.color(value.unwrap_or(f64::NAN)));
            }
            legends.extend(painter.legend());
        }
        let (low, high) = world_bounds(bodies);
        let slices = self.slices((low.as_dvec3(), high.as_dvec3()), camera.eye().as_dvec3());
        if slices.is_empty() {
            let notes = self.notes(&legends, Some(cut));
            return Ok(Explained { clips: Clips::default(), overlay: below, legends, notes, units });
        }
        let clips = Clips::new(slices.iter().filter_map(|slice| slice.clip(0.0)));
        let (overlay, of_slices) = draw_slices(cut, &slices, (scale, 0.0), &fields, below.as_deref());
        legends.extend(of_slices.into_iter().filter(|of| !legends.contains(of)).collect::<Vec<_>>());
        let notes = self.notes(&legends, Some(cut));
        Ok(Explained { clips, overlay: Some(Arc::new(overlay)), legends, notes, units })
    }

    /// A line for each quantity that is asked for and has nothing to show, which says what to do. `cut` are the bodies
    /// of a mesh; a scene has none.
    fn notes(&self, legends: &[Legend], cut: Option<&[Sliced<'_>]>) -> Vec<String> {
        let is_whole = cut.is_some_and(|cut| cut.iter().all(|of| of.place.generation == 0));
        let has_one_value =
            |quantity: &Quantity| is_whole && [Quantity::Part, Quantity::Generation].contains(quantity);
        let is_shown = |quantity: &Quantity| legends.iter().any(|legend| legend.title == quantity.label);
        let own = self.color_by.quantity();
        let mut asked: Vec<Quantity> =
            own.into_iter().chain(self.slice.iter().filter_map(|s| s.show)).collect();
        asked.sort();
        asked.dedup();
        let silent = asked.into_iter().filter(|quantity| !is_shown(quantity) || has_one_value(quantity));
        silent.filter_map(|quantity| nothing_of(quantity, (cut.is_some(), is_whole))).collect()
    }

    /// The same for a scene, with the slices that it has itself.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn of_scene(
        &self,
        sandbox: &mut Sandbox,
        camera: Camera,
        reporter: &Reporter,
    ) -> Result<Explained, CliError> {
        let mut tuning = sandbox.tuning().clone();
        if self.color_by != Coloring::default() {
            tuning.view.color_by = self.color_by;
        }
        if let Some((low, high)) = sandbox.bounds(None) {
            let bounds = (low.as_dvec3(), high.as_dvec3());
            tuning.slices.extend(self.slices(bounds, camera.eye().as_dvec3()));
        }
        let own = self.scale()?;
        if own != Scale::default() {
            tuning.view.scale = own;
        }
        if tuning != *sandbox.tuning() {
            sandbox.tune("slices", tuning);
        }
        let tuning = sandbox.tuning();
        if shows_stress(tuning.view.color_by, tuning.slices.iter().filter_map(|slice| slice.show)) {
            let line = reporter.stage("stress", |_| self.load.solve_in(sandbox))?;
            line.iter().for_each(|line| reporter.warn(line));
        }
        sandbox.finish_colors()?;
        sandbox.update_touching()?;
        let overlay = sandbox.inside_overlay().cloned();
        let legends = sandbox.legends();
        let notes = self.notes(&legends, None);
        Ok(Explained { clips: sandbox.clips(), overlay, legends, notes, units: 1.0 })
    }

    /// Refuses a file for the legend that cannot be written, before the work starts.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn check(&self, inputs: &[&Path]) -> Result<(), CliError> {
        self.scale()?;
        self.load.check()?;
        self.legend_file.iter().try_for_each(|file| super::check_place("--legend-file", file, inputs))
    }

    /// What the colours mean as a file of its own, if one was asked for.
    ///
    /// # Errors
    /// [`CliError::Input`] if the font that egui ships cannot be read.
    pub fn legends_alone(&self, explained: &Explained) -> Result<Option<String>, CliError> {
        if self.legend_file.is_none() {
            return Ok(None);
        }
        svg_of(&explained.legends).map(Some).map_err(|error| CliError::Input(error.to_string()))
    }

    /// Writes the text that [`legends_alone`](Self::legends_alone) made. The answer is a line about a file that was
    /// kept.
    ///
    /// # Errors
    /// [`CliError::Export`].
    pub fn put_legends(&self, text: Option<&str>) -> Result<Option<String>, CliError> {
        let (Some(file), Some(text)) = (&self.legend_file, text) else { return Ok(None) };
        Ok(put_listed(file, text.as_bytes())?)
    }

    /// Legends that stand in the picture.
    pub fn legends<'a>(&self, explained: &'a Explained) -> &'a [Legend] {
        if self.legend { &explained.legends } else { &[] }
    }

    /// Metres for a pixel at the middle of the view, if a scale bar was asked for.
    pub fn metres_per_pixel(&self, explained: &Explained, (size, camera): ([u32; 2], Camera)) -> Option<f64> {
        self.scale_bar.then(|| metres_per_pixel(&camera, size[1] as f32) * explained.units)
    }

    /// Writes legends and a scale bar into a finished picture.
    ///
    /// # Errors
    /// [`CliError::Input`] if the font that egui ships cannot be read.
    pub fn letter(
        &self,
        explained: &Explained,
        pixels: &mut [u8],
        (size, camera): ([u32; 2], Camera),
    ) -> Result<(), CliError> {
        let legends = self.legends(explained);
        let metres = self.metres_per_pixel(explained, (size, camera));
        explain(pixels, size, legends, metres).map_err(|error| CliError::Input(error.to_string()))
    }
}

fn unused_load() -> CliError {
    let message = "--stress-load: nothing shows stress; add --color-by stress, or --slice with a quantity, as in \
                   z50%:von-mises";
    CliError::Input(message.into())
}

/// Whether the colours of bodies or of slices show stress.
pub fn shows_stress(colors: Coloring, slices: impl Iterator<Item = Quantity>) -> bool {
    colors.quantity().into_iter().chain(slices).any(|quantity| quantity.of_stress)
}

/// Why a quantity has nothing to show, and what to do, in a line; nothing of stress, for which a warning stands
/// already.
fn nothing_of(quantity: Quantity, (is_mesh, is_whole): (bool, bool)) -> Option<String> {
    let name = quantity.name;
    let of_motion = [
        Quantity::Speed,
        Quantity::Spin,
        Quantity::ContactDepth,
        Quantity::ContactImpulse,
        Quantity::PhysicsLevel,
        Quantity::PairLevel,
    ];
    let of_breaks = [
        Quantity::Part,
        Quantity::Generation,
        Quantity::Cell,
        Quantity::Label,
        Quantity::ImpactDistance,
        Quantity::SeedDistance,
        Quantity::CrackDistance,
    ];
    if quantity.of_stress {
        return None;
    }
    Some(match (is_mesh, is_whole) {
        (true, _) if of_motion.contains(&quantity) => {
            format!("`{name}` is of bodies that move: render a scene (.toml) with --seconds")
        }
        (true, true) if of_breaks.contains(&quantity) => {
            format!(
                "`{name}` has nothing to tell apart, because nothing broke: add --explode 0 to break the mesh"
            )
        }
        (true, false) if quantity == Quantity::Label => {
            format!("`{name}` is of pieces made of voxels: choose another --method, such as voronoi")
        }
        (false, _) if of_motion.contains(&quantity) || of_breaks.contains(&quantity) => {
            format!(
                "`{name}` has no value in this scene yet: let bodies break or touch, with a later --seconds"
            )
        }
        _ if quantity.of_voxels => {
            format!("`{name}` is of voxels: show it on a slice through a body, as in --slice z50%:{name}")
        }
        _ => format!(
            "`{name}` has no value where the picture shows it: move the slice, or colour by another quantity"
        ),
    })
}

/// An unbroken object for slices, with the seeds of the break that is asked for, and its stress.
pub fn whole<'a>(
    object: &'a Object,
    plan: &Plan,
    (pattern, stress): (Option<&'a Pattern>, Option<&'a BodyStress>),
    bodies: &[RenderBody],
) -> Vec<Sliced<'a>> {
    let impact = Some(object.grid.from_mesh(plan.impact.point));
    let grid = Some(object.grid);
    let seeds =
        pattern.map(|pattern| SeedSet { seeds: &pattern.seeds, objects: &pattern.objects, impact, grid });
    let place = BodyPlace { unit_m: object.grid.h, seeds, stress, ..BodyPlace::of(&object.shape) };
    let parts = bodies.iter().map(|body| (Arc::clone(&body.shape), body.world_from_local)).collect();
    vec![Sliced { place, parts }]
}

/// The pieces of a break for slices, in the order of the bodies that show them, with their stresses, if there are any.
pub fn sliced<'a>(
    pieces: &'a Pieces,
    stresses: &'a [Option<BodyStress>],
    bodies: &[RenderBody],
) -> Vec<Sliced<'a>> {
    let Some(step) = pieces.broken().steps.first() else { return Vec::new() };
    let object = pieces.object();
    let point = pieces.plan().impact.point;
    let seeds = step.result.pattern.as_ref().map(|pattern| SeedSet {
        seeds: &pattern.seeds,
        objects: &pattern.objects,
        impact: Some(object.grid.from_mesh(point)),
        grid: Some(object.grid),
    });
    let sliced = step.result.parts.iter().zip(bodies).zip(0u32..).map(|((part, body), number)| Sliced {
        place: BodyPlace {
            number,
            generation: 1,
            cell: Some(part.cell),
            impact: Some(point),
            unit_m: object.grid.h,
            seeds,
            stress: stresses.get(number as usize).and_then(Option::as_ref),
            label: part
                .shape
                .as_octree()
                .filter(|_| part.shape.as_mesh().is_none())
                .map(|octree| octree.tree),
            ..BodyPlace::of(&part.shape)
        },
        parts: vec![(Arc::clone(&body.shape), body.world_from_local)],
    });
    sliced.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_nothing_to_show_says_what_to_do() {
        for (quantity, of, says) in [
            (Quantity::ContactImpulse, (true, true), "render a scene (.toml) with --seconds"),
            (Quantity::ContactDepth, (true, false), "render a scene (.toml) with --seconds"),
            (Quantity::Cell, (true, true), "nothing broke: add --explode 0"),
            (Quantity::Label, (true, true), "nothing broke: add --explode 0"),
            (Quantity::Label, (true, false), "another --method"),
            (Quantity::Label, (false, false), "later --seconds"),
            (Quantity::Coverage, (true, false), "--slice z50%:coverage"),
        ] {
            let line = nothing_of(quantity, of).unwrap();
            assert!(line.contains(says) && line.contains(quantity.name) && !line.contains('\n'), "{line}");
        }
        assert_eq!(nothing_of(Quantity::Stress, (true, true)), None);
    }

    #[test]
    fn ranges_are_read() {
        assert_eq!(parse_range("0, 0.5"), Ok([0.0, 0.5]));
        for bad in ["", "1", "2,1", "1,1", "a,b", "0,inf"] {
            assert!(parse_range(bad).is_err(), "{bad}");
        }
    }
}
