//! Breaks objects for the commands, by `fracture::generations`, with progress on stderr.

use glam::DVec3;

use crate::{
    compute::Compute,
    fracture::{
        BrokenObject, Impact, Passes, Pattern,
        generations::{self, FirstStrike},
        voronoi::cells_of,
    },
    gpu::StageTiming,
    svo::Arena,
};

use super::{CliError, input::Object, progress::Reporter};

pub use crate::fracture::generations::Plan;

/// The default blow: from the front.
#[must_use]
pub fn default_impact(object: &Object) -> Impact {
    generations::default_impact(&object.shape, object.bounds)
}

/// The blow that the options describe, if any is given. With a point alone, the blow goes from there to the object's
/// centre.
///
/// # Errors
/// [`CliError::Input`] for a direction of no length.
pub fn aim(object: &Object, point: Option<DVec3>, direction: Option<DVec3>) -> Result<Impact, CliError> {
    let mut impact = default_impact(object);
    if let Some(point) = point {
        impact.point = point;
        let centre = object.bounds.middle();
        impact.direction = (centre - point).normalize_or(impact.direction);
    }
    if let Some(direction) = direction {
        impact.direction = unit(direction).ok_or_else(|| {
            CliError::Input("the direction of the blow is zero or not finite; say which way it goes".into())
        })?;
    }
    Ok(impact)
}

/// Normalises a direction. A unit vector is returned unchanged to the bit, so that a report's direction can be passed
/// in again.
#[must_use]
pub fn unit(direction: DVec3) -> Option<DVec3> {
    let is_unit = (direction.length_squared() - 1.0).abs() <= 4.0 * f64::EPSILON;
    if is_unit {
        return Some(direction);
    }
    // Squares of longer or shorter vectors would overflow or underflow.
    let has_square = (1e-100..1e100).contains(&direction.length());
    let scaled = if has_square { direction } else { direction / direction.abs().max_element() };
    scaled.try_normalize()
}

/// The pattern of the first break, before solving for a number of pieces; `None` for a method that does not draw a
/// pattern on octrees.
///
/// # Errors
/// [`CliError::Input`].
pub fn first_pattern(object: &Object, plan: &Plan) -> Result<Pattern, CliError> {
    let first = FirstStrike::new(&object.shape, plan);
    let Some(octree) = object.shape.as_octree() else {
        return Err(CliError::Input("only octrees have a pattern of seeds".into()));
    };
    Ok(cells_of(&object.shape, octree, &first.strike(&plan.params)).draw(&plan.params)?.0)
}

/// Number of seeds of the first break that stay together.
#[must_use]
pub fn kept_count(object: &Object, plan: &Plan, pattern: &Pattern) -> usize {
    let first = FirstStrike::new(&object.shape, plan);
    let octree = object.shape.as_octree();
    let strike = first.strike(&plan.params);
    octree.map_or(0, |octree| cells_of(&object.shape, octree, &strike).kept(pattern, &plan.params).len())
}

/// Breaks `object`, passing the times of every break to `reporter`.
///
/// # Errors
/// [`CliError`].
pub fn break_object(
    compute: &Compute,
    object: &Object,
    plan: &Plan,
    reporter: &Reporter,
) -> Result<BrokenObject, CliError> {
    let (passes, method) = (Passes::default(), plan.params.method.entry());
    let on_device = compute.gpu().is_some();
    if on_device {
        // Compiling dominates the time of a small break.
        reporter.stage("compile the passes", |_| method.breaker.prepare(&passes, compute))?;
    }
    let mut arena = reporter.stage("upload", |_| -> Result<_, CliError> {
        let mut arena = Arena::new(compute)?;
        arena.insert(&object.forest)?;
        Ok(arena)
    })?;
    reporter.stage("fracture", |progress| -> Result<_, CliError> {
        let mut watch = |done: f32, timings: &[StageTiming]| {
            timings.iter().for_each(|t| reporter.add(&measured(t, method.of_voxels && on_device)));
            progress.set(done);
        };
        Ok(generations::break_object(&mut arena, &passes, &object.shape, plan, &mut watch)?)
    })
}

/// A stage's timing, renamed to say whether the adapter's or the processor's clock measured it.
fn measured(timing: &StageTiming, by_passes: bool) -> StageTiming {
    let stage = match timing.stage.strip_suffix(" (CPU)") {
        Some(stage) => format!("cpu: {stage}"),
        None if by_passes => format!("gpu: {}", timing.stage),
        None => format!("cpu: {}", timing.stage),
    };
    StageTiming { stage, ms: timing.ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_of_any_length_become_units() {
        let aslant = DVec3::new(0.6, -0.8, 0.0);
        for length in [1e-300, 1e-160, 1.0, 7.0, 1e160, 1e300] {
            let found = unit(aslant * length).unwrap();
            assert!(found.distance(aslant) < 1e-12, "{length}: {found}");
        }
        assert_eq!(unit(DVec3::ZERO), None);
    }

    #[test]
    fn a_stage_says_whose_clock_it_was_measured_by() {
        let name = |stage: &str, by_passes| {
            let timing = StageTiming { stage: stage.into(), ms: 1.5 };
            let named = measured(&timing, by_passes);
            assert_eq!(named.ms, 1.5);
            named.stage
        };
        assert_eq!([name("islands", true), name("islands", false)], ["gpu: islands", "cpu: islands"]);
        for by_passes in [false, true] {
            assert_eq!(name("readback and masses (CPU)", by_passes), "cpu: readback and masses");
        }
    }
}
