//! `kintsugi fracture SCENE`: plays a scene and writes its pieces as the window does.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};

use crate::{
    export::{Aside, BESIDE, Format, Lying, MeshKind},
    scene::{ExportOrder, ExportPlan},
};

use super::{
    CliError,
    fracture::FractureArgs,
    input::{CoarserArgs, about, read_scene},
    playing::{break_the_rest, open, play_until},
    progress::Reporter,
};

/// Options that apply only to scenes.
#[derive(Args, Default)]
pub struct SceneArgs {
    /// A scene: play it this long before its pieces are written [default: until its last event is over]
    #[arg(long, value_name = "S", value_parser = super::parse_not_negative)]
    seconds: Option<f64>,
    /// A scene: where its pieces are: as-they-lie, in the world (m, y up), or fitted, where they were in the whole
    /// object, in its own units [default: as-they-lie]
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    placed: Option<PlacedName>,
    /// A scene: write the pieces of this object alone, by number from 0
    #[arg(long, value_name = "N")]
    object: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlacedName {
    AsTheyLie,
    Fitted,
}

impl SceneArgs {
    /// Name of the first option given.
    pub fn given(&self) -> Option<&'static str> {
        [
            ("--seconds", self.seconds.is_some()),
            ("--placed", self.placed.is_some()),
            ("--object", self.object.is_some()),
        ]
        .into_iter()
        .find_map(|(name, given)| given.then_some(name))
    }

    fn lying(&self) -> Lying {
        match self.placed {
            Some(PlacedName::Fitted) => Lying::AsTheyFittedTogether,
            Some(PlacedName::AsTheyLie) | None => Lying::AsTheyLie,
        }
    }
}

/// Plays, breaks and writes the results.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &FractureArgs, reporter: &Reporter) -> Result<(), CliError> {
    if !args.breaks_by_default() {
        return Err(about(
            &args.file,
            "a scene says itself how its bodies break; leave options of patterns and cracks out, or give a mesh",
        ));
    }
    let opened = read_scene(&args.file, 7, &CoarserArgs::default(), reporter)?;
    let objects = opened.scene.objects().count();
    if let Some(object) = args.scene.object.filter(|object| *object >= objects) {
        return Err(CliError::Input(format!(
            "--object {object}: objects are counted from 0, and the scene has {objects}"
        )));
    }
    let mut aside = Aside::begin(&args.out)?;
    let formats = args.format.iter().map(|format| format.file).chain([Format::Glb.file]);
    aside.spare([args.file.clone()], formats.chain(BESIDE))?;
    let compute = args.compute.open(reporter)?;
    let mut sandbox = open(&compute, opened, reporter)?;
    sandbox.look_for_contacts(args.compute.compute.into());
    play_until(&mut sandbox, args.scene.seconds, &compute, reporter)?;
    break_the_rest(&mut sandbox, reporter)?;
    compute.check()?;
    let formats: BTreeSet<Format> = if args.format.is_empty() {
        BTreeSet::from([Format::Glb])
    } else {
        args.format.iter().copied().collect()
    };
    let order = ExportOrder {
        folder: args.out.display().to_string(),
        formats,
        lying: args.scene.lying(),
        object: args.scene.object,
        only_selected: false,
        mesh: args.mesh.unwrap_or(MeshKind::Original),
        handover: args.handover.handover(),
        prefix: args.handover.prefix(),
        ..ExportOrder::default()
    };
    for format in &order.formats {
        if let Some(why) = order.why_not(&sandbox, *format) {
            return Err(CliError::Input(format!("--format {}: {why}", format.name)));
        }
    }
    let camera = sandbox.saved_camera().unwrap_or_default();
    let plan = ExportPlan::new(&sandbox, &order, camera, compute.ran_on());
    let exported = reporter.stage("write", |progress| plan.run_in(aside, &args.out, progress))?;
    exported.notes.iter().for_each(|note| reporter.warn(note));
    super::print(&format!("{}\n", exported.line()));
    if exported.failed_checks.is_empty() {
        return Ok(());
    }
    Err(super::checks_failed(&exported.failed_checks, &args.out.join("report.json")))
}
