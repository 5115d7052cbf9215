//! Which load bodies have where a picture or a probe shows their stress.
//!
//! In: options, with the names that `kintsugi stress` has for them. Out: the stress of a mesh or of its pieces, or of the
//! bodies of a scene.

use clap::Args;
use serde::Deserialize;

use super::{CliError, options::choice, parse_positive, stress::parse_box};
use crate::{
    bodies::WorldSettings,
    elastic::{ElasticError, Settings},
    facade::Matter,
    fracture::Impact,
    geometry::Aabb,
    scene::{BodyStress, Loading, Sandbox},
    shape::Shape,
};

/// A load by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Load {
    Weight,
    Blow,
}

/// What loads bodies.
#[derive(Args, Clone, Debug)]
pub struct StressLoadArgs {
    /// What loads bodies where their stress is shown: weight, each as it stands on its lowest cells; blow, that of --impact and
    /// --direction, or of a scene the pinned one, on the whole object, which is free [default: weight, where stress is shown]
    #[arg(long, value_name = "LOAD", value_parser = choice::<Load>(), hide_possible_values = true)]
    stress_load: Option<Load>,
    /// The force of --stress-load blow, N [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_positive)]
    force: Option<f64>,
    /// How far from its point that force is spread, in the units of the mesh or the scene; at least a cell's edge is used
    /// [default: a twentieth of the longest side]
    #[arg(long, value_name = "R", value_parser = parse_positive)]
    radius: Option<f64>,
    /// With --stress-load, of a mesh: a box whose nodes cannot move, low and high corner, in the units of the mesh; may be given
    /// several times
    #[arg(long, allow_hyphen_values = true, value_name = "X,Y,Z,X,Y,Z", value_parser = parse_box)]
    held: Vec<Aabb>,
}

impl StressLoadArgs {
    /// Whether a load was named.
    pub fn is_given(&self) -> bool {
        self.stress_load.is_some()
    }

    /// Whether that is a blow.
    pub fn is_blow(&self) -> bool {
        self.stress_load == Some(Load::Blow)
    }

    /// Refuses options of a load that was not named.
    ///
    /// # Errors
    /// [`CliError::Input`].
    pub fn check(&self) -> Result<(), CliError> {
        if !self.is_blow() && self.force.or(self.radius).is_some() {
            let message = "--force and --radius belong to a blow; add --stress-load blow, or leave them out";
            return Err(CliError::Input(message.into()));
        }
        if !self.is_given() && !self.held.is_empty() {
            let message = "--held holds what a load strains; add --stress-load weight or --stress-load blow";
            return Err(CliError::Input(message.into()));
        }
        Ok(())
    }

    /// Force, N, and radius of the blow.
    fn blow(&self) -> (f64, Option<f64>) {
        (self.force.unwrap_or(1.0), self.radius)
    }

    /// The stress of a shape in the units of the mesh, which are taken for metres, with the density of scene files. `impact` is
    /// where the blow falls, `longest_side` that of the object. `settings` say how near the solution is.
    ///
    /// # Errors
    /// [`ElasticError`].
    pub fn stress_of(
        &self,
        shape: &Shape,
        (impact, longest_side): (Impact, f64),
        settings: &Settings,
    ) -> Result<BodyStress, ElasticError> {
        let loading = match self.is_blow() {
            true => Loading::blow(impact, longest_side, self.blow()),
            false => Loading::Weight(WorldSettings::default().gravity),
        };
        BodyStress::of_load(shape, Matter::default().density, (loading, &self.held), settings)
    }

    /// Solves for the stress of a scene's bodies: of all under their weight, or of the one that the pinned blow strikes. Returns a
    /// line about bodies that have none.
    ///
    /// # Errors
    /// [`CliError::Input`] without a pinned blow, or with boxes, which are a mesh's.
    pub fn solve_in(&self, sandbox: &mut Sandbox) -> Result<Option<String>, CliError> {
        if !self.held.is_empty() {
            let message = "--held is for a mesh; a scene holds its bodies by paint of the kind anchor";
            return Err(CliError::Input(message.into()));
        }
        if !self.is_blow() {
            return Ok(sandbox.weigh());
        }
        if sandbox.tuning().pin.is_none() {
            let message = "--stress-load blow: no blow is pinned; add [pinned] to the scene, and leave --seconds out, after which \
                           the pinned blow has fallen";
            return Err(CliError::Input(message.into()));
        }
        Ok(sandbox.strike_by_pin(self.blow()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        load: StressLoadArgs,
    }

    fn read(line: &str) -> StressLoadArgs {
        let words = format!("kintsugi {line}");
        <Line as clap::Parser>::try_parse_from(words.split_whitespace()).unwrap().load
    }

    #[test]
    fn options_of_a_load_that_is_not_named_are_refused_in_a_line() {
        for good in
            ["", "--stress-load weight --held 0,0,0,1,1,1", "--stress-load blow --force 50 --radius 0.1"]
        {
            assert!(read(good).check().is_ok(), "{good}");
        }
        for (bad, says) in [
            ("--force 50", "add --stress-load blow"),
            ("--stress-load weight --radius 0.1", "add --stress-load blow"),
            ("--held 0,0,0,1,1,1", "add --stress-load weight"),
        ] {
            let error = read(bad).check().unwrap_err().to_string();
            assert!(error.contains(says) && error.lines().count() == 1, "{bad}: {error}");
        }
        assert_eq!(read("--stress-load blow --force 50").blow(), (50.0, None));
        assert_eq!(read("--stress-load blow --radius 0.1").blow(), (1.0, Some(0.1)));
    }
}
