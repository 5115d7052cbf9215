//! `kintsugi presets`: lists the material presets and draws their pictures.

use std::path::PathBuf;

use clap::Args;

use crate::{
    export::write_png,
    scene::presets::{draw_preset, presets, presets_folder},
};

use super::{CliError, make_folder, progress::Reporter};

#[derive(Args)]
pub struct PresetsArgs {
    /// Draw a picture of each into this folder
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
}

/// Prints the list and draws the pictures.
///
/// # Errors
/// [`CliError`].
pub fn run(args: &PresetsArgs) -> Result<(), CliError> {
    let (listed, problems) = presets();
    let width = listed.iter().map(|one| one.preset.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in &listed {
        let about = match (&one.preset.about, &one.file) {
            (about, _) if !about.is_empty() => about.clone(),
            (_, Some(file)) => file.display().to_string(),
            (_, None) => String::new(),
        };
        text += &format!("{:width$}  {about}\n", one.preset.name.to_lowercase());
    }
    text += &format!("yours are kept in {}\n", presets_folder().display());
    super::print(&text);
    let reporter = Reporter::new(false);
    problems.iter().for_each(|problem| reporter.warn(problem));
    let Some(folder) = &args.pictures else { return Ok(()) };
    make_folder(folder)?;
    for one in &listed {
        let name = one.preset.name.to_lowercase();
        let picture = reporter
            .stage(&format!("draw {name}"), |_| draw_preset(&one.preset))
            .map_err(|error| CliError::Input(format!("the preset {name} cannot be drawn: {error}")))?;
        let file = one.file.as_ref().and_then(|file| file.file_stem()).map(PathBuf::from);
        let file = folder.join(file.unwrap_or_else(|| name.into())).with_extension("png");
        write_png(&file, picture.size, &picture.rgba)?.iter().for_each(|note| reporter.warn(note));
    }
    Ok(())
}
