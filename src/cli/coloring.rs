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
        BodyPlace, BodyStress, ColorMap, Coloring, Legend, Painter, Place, Quantity, Sandbox, Scale, SeedSet,
        Slice, SliceOrder, Sliced, draw_slices, metres_per_pixel,
    },
    shape::Shape,
};

/// What colours mean.
#[derive(Args, Clone, Debug)]
pub struct ColoringArgs {
    #[arg(long, value_name = "NAME", default_value = "material")]
    #[arg(help = format!("What colours mean [possible values: {}]", Coloring::names().join(", ")))]
    #[arg(long_help = format!("What colours mean. `stress` and `von-mises` are of each body under its weight alone, as it stands \
        on its lowest cells, or under the blow of --stress-load; a mesh, in metres, has the density of scene files, {} kg/m^3 \
        [possible values: {}]",
        Matter::default().density, Coloring::names().join(", ")))]
    color_by: Coloring,
    #[command(flatten)]
    load: StressLoadArgs,
    /// Cut the bodies open at a plane: an axis and a place along it, m or hundredths of what there is, then perhaps what its
    /// colours mean, as in z50%, y0.3 or x50%:cell; what is nearer to the eye is taken away; may be given several times
    #[arg(long, value_name = "SLICE")]
    #[arg(long_help = format!("Cut the bodies open at a plane: an axis and a place along it, m or hundredths of what \
        there is, then perhaps what its colours mean, as in z50%, y0.3 or x50%:cell; what is nearer to the eye is taken \
        away; may be given several times. Colours: {}", Quantity::ALL.map(|quantity| quantity.name).join(", ")))]
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
    /// Draw a bar whose length is said; what stands at the middle of the view has that scale, and units of a mesh are taken for
    /// metres
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

    /// Whether a slice shows the seeds of a break.
    pub fn needs_seeds(&self) -> bool {
        self.slice.iter().any(|slice| slice.show.is_some_and(|show| show.of_seeds))
    }

    /// Refuses a load of a mesh whose stress nothing shows, and a blow on pieces, each of which stands by itself.
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
        Ok(())
    }

    fn shows_stress(&self) -> bool {
        shows_stress(self.color_by, self.slice.iter().filter_map(|slice| slice.show))
    }

    /// The stress of each shape of an object under the load that the options name, with the density of scene files; `None` for
    /// one that cannot be solved for. Empty if nothing shows stress. `blow` is where a blow falls, and the object's longest side.
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

    /// Refuses a picture of slices alone that has none.
    fn check_alone(&self, has_slices: bool) -> Result<(), CliError> {
        let why = "--slice-alone: there is no slice; add --slice, or [[slice]] to the scene";
        if self.slice_alone && !has_slices { Err(CliError::Input(why.into())) } else { Ok(()) }
    }

    fn slices(&self, bounds: (DVec3, DVec3), eye: DVec3) -> Vec<Slice> {
        let of = |order: &SliceOrder| Slice {
            lines: self.slice_lines,
            opens: !self.uncut,
            ..order.slice(bounds, eye)
        };
        self.slice.iter().map(of).collect()
    }

    /// Gives bodies their colours and draws the slices through them. `units` are metres of the object for a metre of the
    /// picture's world.
    ///
    /// # Errors
    /// [`CliError::Input`] for a scale that is none.
    pub fn explain(
        &self,
        cut: &[Sliced<'_>],
        bodies: &mut [RenderBody],
        (camera, units): (Camera, f64),
        below: Option<Arc<Overlay>>,
    ) -> Result<Explained, CliError> {
        let scale = self.scale()?;
        let mut legends = Vec::new();
        if let Coloring::Value(quantity) = self.color_by {
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
        self.check_alone(!self.slice.is_empty())?;
        let (low, high) = world_bounds(bodies);
        let slices = self.slices((low.as_dvec3(), high.as_dvec3()), camera.eye().as_dvec3());
        if slices.is_empty() {
            return Ok(Explained { clips: Clips::default(), overlay: below, legends, units });
        }
        let clips = Clips::new(slices.iter().filter_map(|slice| slice.clip(0.0)));
        let (overlay, of_slices) = draw_slices(cut, &slices, (scale, 0.0), below.as_deref());
        legends.extend(of_slices.into_iter().filter(|of| !legends.contains(of)).collect::<Vec<_>>());
        Ok(Explained { clips, overlay: Some(Arc::new(overlay)), legends, units })
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
        self.check_alone(!tuning.slices.is_empty())?;
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
        } else if self.load.is_given() {
            return Err(unused_load());
        }
        sandbox.update_touching()?;
        let overlay = sandbox.inside_overlay().cloned();
        Ok(Explained { clips: sandbox.clips(), overlay, legends: sandbox.legends(), units: 1.0 })
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

    /// Writes the text that [`legends_alone`](Self::legends_alone) made. The answer is a line about a file that was kept.
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
    let message = "--stress-load: nothing shows stress; add --color-by stress, or --slice with a quantity, as in z50%:von-mises";
    CliError::Input(message.into())
}

/// Whether the colours of bodies or of slices show stress.
pub fn shows_stress(colors: Coloring, slices: impl Iterator<Item = Quantity>) -> bool {
    let own = match colors {
        Coloring::Value(quantity) => Some(quantity),
        Coloring::Look(_) => None,
    };
    own.into_iter().chain(slices).any(|quantity| quantity.of_stress)
}

/// An unbroken object for slices, with the seeds of the break that is asked for, and its stress.
pub fn whole<'a>(
    object: &'a Object,
    plan: &Plan,
    (pattern, stress): (Option<&'a Pattern>, Option<&'a BodyStress>),
    bodies: &[RenderBody],
) -> Vec<Sliced<'a>> {
    let impact = Some(object.grid.from_mesh(plan.impact.point));
    let seeds = pattern.map(|pattern| SeedSet { seeds: &pattern.seeds, objects: &pattern.objects, impact });
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
    fn ranges_are_read() {
        assert_eq!(parse_range("0, 0.5"), Ok([0.0, 0.5]));
        for bad in ["", "1", "2,1", "1,1", "a,b", "0,inf"] {
            assert!(parse_range(bad).is_err(), "{bad}");
        }
    }
}
