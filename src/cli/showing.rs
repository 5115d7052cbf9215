//! `render --show`: draws a fracture's internals over the picture.

use std::sync::Arc;

use clap::Args;
use glam::Vec3;

use crate::{
    compute::Compute,
    export::BreakStep,
    facade::{Engine, inside::look_inside, stills::Place},
    fracture::{FractureParams, Surface, VoronoiDetail, generations::Plan},
    render::{Overlay, RenderBody},
    scene::{
        FIELD_LEVEL,
        overlays::{Inside, Maker, Part, Placing, Reading, Reads, overlay},
    },
};

use super::{CliError, input::Object, progress::Reporter};

/// What to draw.
#[derive(Args, Clone, Debug, Default)]
pub struct ShowArgs {
    #[arg(id = "show", long = "show", value_name = "LIST", value_delimiter = ',')]
    #[arg(help = format!("Draw what the break does inside; a list of {}", Part::forms()))]
    parts: Vec<Part>,
    /// How visible the drawings of --show are through the object, 0 to 1
    #[arg(long, value_name = "X", default_value_t = 0.3, value_parser = parse_share, requires = "show")]
    through: f32,
    /// Leave the object out and draw only what --show says
    #[arg(long, requires = "show")]
    only: bool,
}

fn parse_share(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a number from 0 (hidden) to 1 (as if nothing were before it) is wanted".into()),
    }
}

impl ShowArgs {
    /// Whether no overlay was chosen.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether the object itself is hidden.
    pub fn only(&self) -> bool {
        self.only
    }

    /// Rejects overlays that a fracture by `params` at `level` does not have.
    pub fn check(&self, level: u32, params: &FractureParams) -> Result<(), CliError> {
        let refuse = |message: String| Err(CliError::Input(message));
        let makers: Vec<Maker> = self.parts.iter().map(|part| part.maker).collect();
        check_cracks("--show", &makers, level, params)?;
        for part in &self.parts {
            let of_octree = part.maker.number.as_ref().is_some_and(|number| number.is_octree_level);
            if let Some(at) = part.number.filter(|at| of_octree && !(1..=level).contains(at)) {
                let name = part.maker.name;
                return refuse(format!("--show {name}:{at}: the octree has levels 1 to {level}"));
            }
        }
        let labellings = makers.iter().filter(|maker| maker.reads == Reads::Labels).count();
        if labellings > 1 {
            return refuse("--show takes one labelling at a time: labels, labels:STEP or flood:STEP".into());
        }
        Ok(())
    }

    /// Breaks the object (unless `step` is its break) and reads the chosen overlays back; `None` if none was chosen.
    ///
    /// # Errors
    /// [`CliError`].
    pub fn read(
        &self,
        compute: &Compute,
        (object, plan): (&Object, &Plan),
        step: Option<&BreakStep>,
        reporter: &Reporter,
    ) -> Result<Option<Inside>, CliError> {
        if self.is_empty() {
            return Ok(None);
        }
        let own = match step {
            Some(_) => None,
            None => {
                let once = Plan { generations: 1, ..plan.clone() };
                Some(object.break_by(&Engine::from(compute.clone()), once, reporter)?)
            }
        };
        let step = step
            .or_else(|| own.as_ref()?.broken().steps.first())
            .filter(|step| VoronoiDetail::of(&step.result).is_some());
        let source = (&object.forest, 0);
        let reading = Reading::of(&self.parts, FIELD_LEVEL);
        let of = (object, plan);
        Ok(step.map(|step| look_inside(compute, of, (step, source), reading, reporter)).transpose()?)
    }

    /// The geometry to draw; `bodies` are the pieces, or the whole object.
    pub fn overlay(&self, inside: &Inside, object: &Object, bodies: &[RenderBody]) -> Arc<Overlay> {
        let world_from_grid = Place::standing(&object.mass).matrix(Vec3::ZERO);
        let apart = |body: &RenderBody| (body.world_from_local.w_axis - world_from_grid.w_axis).truncate();
        let whole = bodies.len() < 2;
        let offsets = bodies.iter().filter(|_| !whole).map(apart).collect();
        Arc::new(overlay(inside, &self.parts, &Placing { world_from_grid, offsets }, self.through))
    }
}

/// Refuses the drawings of cracks in `option` if a fracture by `params` at `level` keeps no cracks.
///
/// # Errors
/// [`CliError::Input`].
pub fn check_cracks(
    option: &str,
    makers: &[Maker],
    level: u32,
    params: &FractureParams,
) -> Result<(), CliError> {
    let Some(name) = makers.iter().find(|maker| maker.reads == Reads::Cracks).map(|maker| maker.name) else {
        return Ok(());
    };
    if params.surface == Surface::Planar {
        let message = format!("{option} {name} belongs to --surface rough or dusty; add one of them");
        return Err(CliError::Input(message));
    }
    if params.crack.transition(level, params.surface)? == level {
        return Err(CliError::Input(format!(
            "{option} {name}: the transition level is the leaf level, so that no transition voxels are kept; give a \
             --transition-level below {level}"
        )));
    }
    Ok(())
}

/// One line about the labels shown.
pub fn about_labels(inside: &Inside) -> Option<String> {
    let steps = inside.steps.as_ref()?;
    let (at, all) = (steps.at(), steps.steps().len());
    let (changed, resting) = steps.changed_and_resting();
    Some(format!(
        "labels after iteration {at} of {all}: {changed} of {} voxels changed, {resting} of {} cells at rest, {} different labels\n",
        steps.voxels.len(),
        steps.voxels.cells.len(),
        steps.distinct()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::crack::CrackShape;

    fn parts(list: &str) -> Result<Vec<Part>, String> {
        list.split(',').map(str::parse).collect()
    }

    fn refused(list: &str, params: &FractureParams) -> String {
        let args = ShowArgs { parts: parts(list).unwrap(), ..ShowArgs::default() };
        args.check(7, params).unwrap_err().to_string()
    }

    #[test]
    fn names_are_read_and_wrong_ones_get_the_list() {
        let all = parts("transition,triangles,points,seeds,faces,fbs,labels,labels:0,flood:12,wireframe:4")
            .unwrap();
        assert_eq!(all.len(), 10);
        assert_eq!(
            all[7..],
            [(Maker::Labels, 0), (Maker::Flood, 12), (Maker::Wireframe, 4)]
                .map(|(maker, n)| Part::from(maker).at(n))
        );
        for (bad, says) in [
            ("cracks", "transition, triangles, points, seeds, faces, fbs, labels[:STEP]"),
            ("", "wireframe[:LEVEL]"),
            ("labels:x", "whole number"),
            ("labels:-1", "whole number"),
            ("seeds:3", "takes no number"),
        ] {
            let error = parts(bad).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{bad}: {error}");
        }
    }

    #[test]
    fn what_a_fracture_has_not_got_is_refused() {
        let planar = FractureParams::default();
        assert!(refused("seeds,points", &planar).contains("--show points belongs to --surface rough"));
        assert!(refused("wireframe:8", &planar).contains("levels 1 to 7"));
        assert!(refused("wireframe:0", &planar).contains("levels 1 to 7"));
        assert!(refused("labels:1,flood", &planar).contains("one labelling"));
        let crack = CrackShape { transition_level: Some(7), ..CrackShape::default() };
        let finest = FractureParams { surface: Surface::Rough, crack, ..planar.clone() };
        assert!(refused("triangles", &finest).contains("below 7"));
        let rough = FractureParams { surface: Surface::Rough, ..planar };
        let args = ShowArgs { parts: parts("transition,labels:3,wireframe").unwrap(), ..ShowArgs::default() };
        assert!(args.check(7, &rough).is_ok());
        assert!(parse_share("1.2").is_err() && parse_share("0.25") == Ok(0.25));
    }
}
