//! `kintsugi figure`: a figure of several panels for a paper, made again by a small file.
//!
//! In: a figure file, whose panels say what `kintsugi render` is to draw. Out: one picture with all panels, as PNG or SVG.
//! A panel has the pixels that `kintsugi render` writes for the same options.

mod file;
mod page;

use std::path::{Path, PathBuf};

use clap::Args;

use self::{
    file::{Figure, Panel, is_picture},
    page::{Page, tile},
};
use super::{
    CliError,
    progress::Reporter,
    render::{RenderArgs, Wanted, make},
};
use crate::{
    compute::Choice,
    export::{Signature, disk::put_listed, write_signed},
};

#[derive(Args)]
pub struct FigureArgs {
    #[command(flatten)]
    compute: super::ComputeArgs,
    /// Figure file (.toml): a page and its panels, with the options of `kintsugi render`; see docs/files.md
    file: PathBuf,
    /// Picture to write, .png or .svg, or a folder for those that the file names [default: beside the file]
    #[arg(long, value_name = "FILE_OR_DIR")]
    out: Option<PathBuf>,
    /// Print progress as lines of JSON on stderr
    #[arg(long)]
    json_progress: bool,
}

/// Draws the panels and writes the figure.
///
/// # Errors
/// [`CliError`], with the file, the panel and the key where the figure file is wrong.
pub fn run(args: &FigureArgs) -> Result<(), CliError> {
    let figure = Figure::read(&args.file)?;
    let compute = match args.compute.compute {
        Choice::Auto => "auto",
        Choice::Gpu => "gpu",
        Choice::Cpu => "cpu",
    };
    let said = |what: &str| format!("{}: {what}", args.file.display());
    let in_panel = |number: usize, error: CliError| match error {
        CliError::Input(why) => CliError::Input(said(&format!("panel {}: {why}", number + 1))),
        other => other,
    };
    let in_file = |error: CliError| CliError::Input(said(&error.to_string()));
    let captions: Vec<String> = figure.panels.iter().map(|panel| panel.caption.clone()).collect();
    let size = figure.whole.map(|whole| whole.pixels);
    let each = size.map(|size| tile(size, &captions, figure.style)).transpose().map_err(in_file)?;
    let arguments = |(number, panel): (usize, &Panel)| {
        panel.arguments(each, compute).map_err(|error| in_panel(number, error))
    };
    let panels = figure.panels.iter().enumerate().map(arguments).collect::<Result<Vec<_>, _>>()?;
    let sizes: Vec<[u32; 2]> = panels.iter().map(RenderArgs::size).collect();
    let mut page = Page::new(size, &sizes, &captions, figure.style).map_err(in_file)?;
    let places = places(args, &figure)?;

    let has = |end: &str| places.iter().any(|place| ends(place, end));
    let (as_png, as_svg) = (has("png"), has("svg"));
    let reporter = Reporter::new(args.json_progress);
    let (mut open, mut made) = (None, Vec::with_capacity(panels.len()));
    for (number, (args, panel)) in panels.iter().zip(&figure.panels).enumerate() {
        let drawing = as_svg && args.is_flat();
        let wanted = Wanted { pixels: as_png || !drawing, drawing };
        let picture = make(args, wanted, &mut open, &reporter).map_err(|error| in_panel(number, error))?;
        for label in &panel.labels {
            let point = label.place(&picture.camera, args.size()).ok_or_else(|| {
                in_panel(
                    number,
                    CliError::Input(format!("label {:?}: its point is not before the camera", label.text)),
                )
            })?;
            page.label(number, &label.text, point, label.offset);
        }
        made.push(picture);
    }
    // The scene of one panel is not that of the figure.
    let signature = made.first().map(|first| first.signature.clone()).unwrap_or_default();
    let signature = Signature { provenance: crate::provenance::here(), scene: String::new(), ..signature };
    for place in &places {
        let kept = if ends(place, "svg") {
            let origin = serde_json::to_string(&signature).unwrap_or_default();
            let mm = figure.whole.and_then(|whole| whole.mm);
            put_listed(place, page.svg(&made, figure.transparent, mm, &origin)?.as_bytes())?
        } else {
            write_signed(place, page.size, &page.pixels(&made, figure.transparent)?, &signature)?
        };
        kept.iter().for_each(|note| reporter.warn(note));
        super::print(&format!("{}\n", place.display()));
    }
    Ok(())
}

fn ends(place: &Path, with: &str) -> bool {
    place.extension().is_some_and(|end| end.eq_ignore_ascii_case(with))
}

/// The pictures to write, none of which the run reads.
fn places(args: &FigureArgs, figure: &Figure) -> Result<Vec<PathBuf>, CliError> {
    let beside = args.file.parent().unwrap_or(Path::new(""));
    let places: Vec<PathBuf> = match &args.out {
        None => figure.out.iter().map(|name| beside.join(name)).collect(),
        Some(out) if is_picture(out) => vec![out.clone()],
        Some(out) if out.extension().is_some() && !out.is_dir() => {
            let out = out.display();
            return Err(CliError::Input(format!(
                "--out {out}: give a name that ends in .png or .svg, or a folder"
            )));
        }
        Some(out) => {
            super::make_folder(out)?;
            figure.out.iter().filter_map(|name| Some(out.join(Path::new(name).file_name()?))).collect()
        }
    };
    let files = figure.panels.iter().flat_map(Panel::reads);
    let read: Vec<&Path> = files.chain([args.file.as_path()]).collect();
    let option = if args.out.is_some() { "--out" } else { "out" };
    places.iter().try_for_each(|place| super::check_place(option, place, &read))?;
    Ok(places)
}
