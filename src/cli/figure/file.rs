//! The figure file: panels by the options of `kintsugi render`.
//!
//! In: a file as TOML. Out: what the page is like, and for each panel the arguments of `render`, its caption and
//! labels. The keys of a panel are the options in the grammar of that command, so a new option is a new key. Files are
//! named relative to the figure file and lie below its folder, as for scenes.

mod reading;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use glam::Vec3;
use serde::Deserialize;
use toml::{Table, Value};

use self::reading::{Reading, Whole, length, letter, short, whole};
use super::page::Style;
use crate::{
    cli::{self, CliError, render::RenderArgs, sweep::jobs::parse_toml},
    files,
    render::Camera,
};

/// Size limit of a figure file, bytes.
const LARGEST_FILE: u64 = 1 << 20;
/// Most panels of a figure.
const MOST: usize = 256;
/// Options whose values are files that a panel reads.
const READ: [&str; 5] = ["--seeds-file=", "--camera=", "--cutter=", "--preset=", "--backdrop="];
/// Gap between panels and height of letters, where the file does not say.
const USUAL: [&str; 2] = ["4mm", "9pt"];

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    out: Vec<String>,
    size: Option<String>,
    dpi: Option<f64>,
    columns: Option<usize>,
    gap: Option<Value>,
    text: Option<Value>,
    letters: Option<String>,
    #[serde(default)]
    transparent: bool,
    #[serde(default)]
    all: Table,
    #[serde(default)]
    panel: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLabel {
    text: String,
    at: Vec<f32>,
    offset: Option<[Value; 2]>,
}

/// A figure.
#[derive(Debug)]
pub struct Figure {
    /// Names of the pictures to write, relative to the figure file's folder.
    pub out: Vec<String>,
    /// The size of the whole; without it the panels' sizes add up to it.
    pub whole: Option<Whole>,
    /// How panels and captions are set.
    pub style: Style,
    /// Whether nothing lies below panels and captions; otherwise white.
    pub transparent: bool,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

/// A panel.
#[derive(Debug)]
pub struct Panel {
    /// Letter and caption, as they stand below the panel.
    pub caption: String,
    /// Labels in the panel.
    pub labels: Vec<Label>,
    /// The mesh or scene.
    pub file: PathBuf,
    /// Options of `render`, one word each.
    options: Vec<String>,
}

/// A text in a panel.
#[derive(Debug, PartialEq)]
pub struct Label {
    /// What it says.
    pub text: String,
    /// Two numbers: pixels from the left and the top of the panel; three: a point in the world of its camera, m.
    at: Vec<f32>,
    /// How far to the right and below its point the middle of the text lies, pixels.
    pub offset: [f32; 2],
}

impl Label {
    /// The label's point, pixels from the left and the top of a panel of that size; `None` behind the camera.
    pub fn place(&self, camera: &Camera, size: [u32; 2]) -> Option<[f32; 2]> {
        let [width, height] = size.map(|side| side as f32);
        match *self.at.as_slice() {
            [x, y] => Some([x, y]),
            [x, y, z] => {
                camera.project(Vec3::new(x, y, z), width / height).map(|[x, y]| [x * width, y * height])
            }
            _ => None,
        }
    }
}

impl Figure {
    /// Reads a figure file.
    ///
    /// # Errors
    /// [`CliError::Input`], one line with the file, the panel and the key.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let refused = |why: String| CliError::Input(format!("{}: {why}", path.display()));
        let bytes = files::read(path, LARGEST_FILE).map_err(|why| refused(why.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| refused("it is no text; a figure is TOML".into()))?;
        Self::parse(&text, path).map_err(refused)
    }

    /// The figure of this text, which is the file at `path`.
    fn parse(text: &str, path: &Path) -> Result<Self, String> {
        let written: Written = parse_toml(text)?;
        let count = written.panel.len();
        let in_mm = written.size.as_ref().is_some_and(|size| size.ends_with("mm"));
        let dpi = written.dpi.unwrap_or(if in_mm { 300.0 } else { 96.0 });
        let columns = written.columns.unwrap_or(count);
        for (key, value, from, to) in [
            ("the number of tables [[panel]]", count as f64, 1.0, MOST as f64),
            ("columns", columns as f64, 1.0, MOST as f64),
            ("dpi", dpi, 10.0, 2400.0),
        ] {
            if !(from..=to).contains(&value) {
                return Err(format!("{key} is {value}; {from} to {to} is wanted"));
            }
        }
        let whole = written.size.as_ref().map(|size| whole(size, dpi)).transpose()?;
        let pixels = |key: &str, value: Option<Value>, usual: &str| {
            let pixels = length(&value.unwrap_or_else(|| usual.into()), dpi);
            let pixels = pixels.map_err(|why| format!("{key}: {why}"))?;
            let is_fine = (0.0..=1000.0).contains(&pixels);
            is_fine.then_some(pixels).ok_or_else(|| format!("{key} is {pixels} pixels; 0 to 1000 is wanted"))
        };
        let gap = pixels("gap", written.gap, USUAL[0])?.round() as u32;
        let em = pixels("text", written.text, USUAL[1])?.max(4.0);
        let mut out = written.out;
        if out.is_empty() {
            let own = path.with_extension("png");
            out.push(own.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
        let render = cli::grammar().find_subcommand("render").cloned().ok_or("there is no `render`")?;
        let reading = Reading { path, dpi, is_sized: whole.is_some(), render };
        for name in &out {
            if !is_picture(Path::new(name)) {
                return Err(format!("out {name:?}: a name that ends in .png or .svg is wanted"));
            }
            reading.place("out", name)?;
        }
        // What is wrong with shared options is said of them, and not of the first panel.
        reading.options(&written.all).map_err(|why| format!("[all]: {why}"))?;
        let pattern = written.letters.as_deref().unwrap_or("(a)");
        let mut panels = Vec::with_capacity(count);
        for (number, own) in written.panel.into_iter().enumerate() {
            let mut table = written.all.clone();
            table.extend(own);
            let panel = reading.panel(&table, letter(pattern, number));
            panels.push(panel.map_err(|why| format!("panel {}: {why}", number + 1))?);
        }
        let style = Style { columns: columns.min(count), gap, em };
        Ok(Self { out, whole, style, transparent: written.transparent, panels })
    }
}

impl Panel {
    /// All files that the panel reads; among them values of options that are no names of files.
    pub fn reads(&self) -> impl Iterator<Item = &Path> {
        fn named(word: &str) -> Option<&Path> {
            READ.iter().find_map(|start| word.strip_prefix(start)).map(Path::new)
        }
        self.options.iter().filter_map(|word| named(word)).chain([self.file.as_path()])
    }

    /// The arguments of `render`, with a size of the panel in pixels where the page sets it.
    ///
    /// # Errors
    /// [`CliError::Input`] as the command has it.
    pub fn arguments(&self, size: Option<[u32; 2]>, compute: &str) -> Result<RenderArgs, CliError> {
        let start = ["kintsugi", "render", "--out=panel.png"].map(str::to_owned);
        let size = size.map(|[width, height]| format!("--size={width}x{height}"));
        let more = [format!("--compute={compute}"), "--".to_owned()];
        let words = start.into_iter().chain(self.options.iter().cloned()).chain(size).chain(more);
        let words = words.map(OsString::from).chain([self.file.clone().into_os_string()]);
        match cli::parse(&words.collect::<Vec<_>>())?.command {
            Some(cli::Command::Render(args)) => Ok(args),
            _ => Err(CliError::Input("these are no options of `kintsugi render`".into())),
        }
    }
}

impl Reading<'_> {
    fn panel(&self, table: &Table, letter: String) -> Result<Panel, String> {
        let text = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => short(key, text).map(|()| Some(text.clone())),
            Some(other) => Err(format!("{key} is {other}; a text is wanted")),
        };
        let file = text("file")?.ok_or_else(|| {
            "`file` is missing; name a mesh, a scene or builtin:NAME here or in [all]".to_owned()
        })?;
        let words = [text("letter")?.unwrap_or(letter), text("caption")?.unwrap_or_default()];
        let labels = match table.get("label") {
            Some(Value::Array(labels)) => labels.iter().map(|label| self.label(label)).collect(),
            one => one.into_iter().map(|label| self.label(label)).collect::<Result<Vec<_>, String>>(),
        };
        Ok(Panel {
            caption: words.join(" ").trim().to_owned(),
            labels: labels.map_err(|why| format!("label: {why}"))?,
            file: self.place("file", &file)?.into(),
            options: self.options(table)?,
        })
    }

    fn label(&self, value: &Value) -> Result<Label, String> {
        let written = WrittenLabel::deserialize(value.clone());
        let WrittenLabel { text, at, offset: given } = written.map_err(|e| e.message().replace('\n', " "))?;
        if !(2..=3).contains(&at.len()) || !at.iter().all(|value| value.is_finite()) {
            return Err("`at` is two numbers, pixels, or three, a point of the world".into());
        }
        short("text", &text)?;
        let mut offset = [0.0; 2];
        for (pixels, value) in offset.iter_mut().zip(given.iter().flatten()) {
            *pixels = length(value, self.dpi).map_err(|why| format!("offset: {why}"))?;
        }
        Ok(Label { text, at, offset })
    }
}

/// Whether a name ends as pictures do that a figure is written to.
pub fn is_picture(name: &Path) -> bool {
    name.extension().is_some_and(|end| end.eq_ignore_ascii_case("png") || end.eq_ignore_ascii_case("svg"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Figure, String> {
        Figure::parse(text, Path::new("figures/one.toml"))
    }

    /// The options of a panel in the order of the alphabet.
    fn words(text: &str, number: usize) -> Vec<String> {
        let mut options = read(text).unwrap().panels.remove(number).options;
        options.sort();
        options
    }

    fn captions(text: &str) -> Vec<String> {
        read(text).unwrap().panels.into_iter().map(|panel| panel.caption).collect()
    }

    #[test]
    fn keys_are_options_of_render_and_panels_change_what_is_shared() {
        let text = "[all]\nfile = 'builtin:vase'\nlevel = 5\nlegend = true\nseeds = 9\n\
                    [[panel]]\nseeds = 12\nlegend = false\nimpact = [0, 0.5, -1e-3]\nslice = ['x50%:cell', 'z0.1']\n\
                    show = 'seeds,faces'\nonly = true\n\
                    [panel.camera]\ndistance = 2.5\ntarget = [0, 0.5, 0]\n[[panel]]\nfile = 'a/b.obj'\n";
        let first = [
            r#"--camera={"distance":2.5,"target":[0,0.5,0]}"#,
            "--impact=0,0.5,-0.001",
            "--level=5",
            "--only",
            "--seeds=12",
            "--show=seeds,faces",
            "--slice=x50%:cell",
            "--slice=z0.1",
        ];
        // Planted error to see this fail: let what is shared win.
        assert_eq!(words(text, 0), first);
        assert_eq!(words(text, 1), ["--legend", "--level=5", "--seeds=9"]);
        let figure = read(text).unwrap();
        let files = [0, 1].map(|number| figure.panels[number].file.to_string_lossy());
        assert_eq!(files, ["builtin:vase", "figures/a/b.obj"]);
        assert_eq!(captions(text), ["(a)", "(b)"]);
        assert_eq!(figure.out, ["one.png"]);
        let args = figure.panels[1].arguments(Some([160, 120]), "cpu").unwrap();
        assert_eq!((args.size(), args.is_flat()), ([160, 120], false));
    }

    #[test]
    fn the_example_is_read_and_the_document_has_it() {
        let home = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = home.join("examples/figure.toml");
        let figure = Figure::read(&file).unwrap();
        let flat =
            figure.panels.iter().map(|panel| panel.arguments(Some([90, 90]), "cpu").unwrap().is_flat());
        assert_eq!(flat.collect::<Vec<_>>(), [false, false, true]);
        let [example, document] =
            [file, home.join("docs/files.md")].map(|path| std::fs::read_to_string(path).unwrap());
        let (_, keys) = example.split_once('\n').unwrap();
        assert!(document.contains(keys.trim()), "docs/files.md has another example");
    }

    #[test]
    fn a_figure_of_the_window_is_read_with_its_camera_and_slices_and_drawn() {
        use crate::{
            cli::{
                progress::Reporter,
                render::{Wanted, make, parse_camera},
            },
            compute::{Choice, Compute},
            scene::{Arrived, Sandbox, Scene, Slice, Swing, WindowFigure, load_scene},
        };
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh("builtin:box", 4));
        while sandbox.poll().unwrap() != Some(Arrived::Opened) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut tuning = sandbox.tuning().clone();
        (tuning.view.scale_bar, tuning.view.slices_alone) = (true, true);
        tuning.view.color_by = "volume".parse().unwrap();
        let normal = glam::DVec3::new(0.2, 0.3, 1.0);
        let slice = Slice { normal, at: 0.05, show: Some("node-level".parse().unwrap()), ..Slice::default() };
        tuning.slices.push(Slice { swing: Some(Swing { to: 0.4, period: 2.0 }), ..slice });
        sandbox.tune("slice", tuning);
        let camera = Camera { target: Vec3::new(0.1, 0.5, 1e-7), yaw: 1.1, ..Camera::default() };
        let folder = std::env::temp_dir().join(format!("kintsugi-window-figure-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("fig.toml");
        WindowFigure::of(&sandbox, camera, [320, 200]).write(&file).unwrap();
        let figure = Figure::read(&file).unwrap();
        assert_eq!(figure.whole, Some(Whole { pixels: [320, 200], mm: None }));
        let panel = &figure.panels[0];
        let word = |start: &str| panel.options.iter().find_map(|word| word.strip_prefix(start));
        assert_eq!(parse_camera(word("--camera=").unwrap()).unwrap(), camera);
        assert_eq!((word("--color-by="), panel.caption.as_str()), (Some("volume"), ""));
        // The scene has the slice where it stands now.
        assert_eq!(load_scene(&panel.file).unwrap().slices, [slice]);
        let args = panel.arguments(Some([320, 200]), "cpu").unwrap();
        let wanted = Wanted { pixels: true, drawing: args.is_flat() };
        let made = make(&args, wanted, &mut None, &Reporter::new(false)).unwrap();
        assert_eq!((made.camera, made.pixels.len()), (camera, 4 * 320 * 200));
        // 2 x 3 m x tan 0.3 on 200 pixels: a quarter of the width is 0.74 m.
        assert!(made.drawing.contains("<path") && made.drawing.contains(">50 cm</text>"), "{}", made.drawing);
        // Where the figure file cannot be written, its scene does not stay behind.
        let taken = folder.join("taken.toml");
        std::fs::create_dir(&taken).unwrap();
        let error = WindowFigure::of(&sandbox, camera, [320, 200]).write(&taken).unwrap_err();
        assert!(error.contains("taken.toml") && !folder.join("taken-scene.toml").exists(), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Where the window shows the stress of the pinned blow, the figure does, too; of a blow that is not pinned a line
    /// says that the figure has none.
    #[test]
    fn a_figure_of_the_window_has_the_stress_of_the_blow_that_it_shows() {
        use crate::{
            cli::{
                progress::Reporter,
                render::{Wanted, make},
            },
            compute::{Choice, Compute},
            scene::{Arrived, Sandbox, Scene, Touching, WindowFigure},
        };
        let mut sandbox = Sandbox::new(Compute::open(Choice::Cpu).unwrap()).unwrap();
        sandbox.open_scene(Scene::of_mesh("builtin:box", 4));
        while sandbox.poll().unwrap() != Some(Arrived::Opened) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let (low, high) = sandbox.bounds(None).unwrap();
        let from = low.midpoint(high).with_y(high.y + 2.0);
        let pick = sandbox.pick(from, Vec3::NEG_Y).unwrap();
        let aim = sandbox.aim_at(&pick, Vec3::NEG_Y).unwrap();
        let mut tuning = sandbox.tuning().clone();
        tuning.view.touching = Touching::Stress;
        tuning.view.color_by = "von-mises".parse().unwrap();
        sandbox.tune("stress", tuning);
        sandbox.set_aim(Some(aim));
        let start = std::time::Instant::now();
        while !sandbox.stress().is_some_and(|stress| stress.of_blow) {
            assert!(start.elapsed().as_secs() < 120, "no stress comes");
            sandbox.update_touching().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let folder = std::env::temp_dir().join(format!("kintsugi-blow-figure-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("fig.toml");
        let write = |sandbox: &Sandbox| {
            let said = WindowFigure::of(sandbox, Camera::default(), [96, 64]).write(&file).unwrap();
            (said, Figure::read(&file).unwrap().panels.remove(0))
        };
        let of_blow = |panel: &Panel| panel.options.iter().any(|word| word == "--stress-load=blow");
        let (said, panel) = write(&sandbox);
        assert!(said.contains("pin the impact") && !of_blow(&panel), "{said}");
        sandbox.pin(aim);
        let (said, panel) = write(&sandbox);
        assert!(!said.contains("pin the impact") && of_blow(&panel), "{said}");
        let args = panel.arguments(Some([96, 64]), "cpu").unwrap();
        let wanted = Wanted { pixels: true, drawing: args.is_flat() };
        assert_eq!(make(&args, wanted, &mut None, &Reporter::new(false)).unwrap().pixels.len(), 4 * 96 * 64);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn files_of_options_lie_beside_the_figure_file() {
        let of = |line: &str| words(&format!("[[panel]]\nfile = 'builtin:box'\n{line}"), 0);
        assert_eq!(of("camera = 'eye.json'"), ["--camera=figures/eye.json"]);
        assert_eq!(of("camera = '{\"yaw\":1}'"), ["--camera={\"yaw\":1}"]);
        assert_eq!(of("preset = 'glass'"), ["--preset=glass"]);
        assert_eq!(of("seeds-file = 'a.csv'"), ["--seeds-file=figures/a.csv"]);
    }

    #[test]
    fn sizes_are_pixels_or_millimetres_and_lengths_follow() {
        let of = |head: &str| read(&format!("{head}\n[[panel]]\nfile = 'a.obj'")).unwrap();
        let mm = of("size = '254x127mm'\ndpi = 100\ngap = '5.08mm'\ntext = '18pt'");
        assert_eq!(mm.whole, Some(Whole { pixels: [1000, 500], mm: Some([254.0, 127.0]) }));
        assert_eq!((mm.style.gap, mm.style.em), (20, 25.0));
        let pixels = of("size = '640x480'\ncolumns = 2\n[[panel]]\nfile = 'b.obj'");
        assert_eq!(pixels.whole, Some(Whole { pixels: [640, 480], mm: None }));
        assert_eq!((pixels.style.gap, pixels.style.em, pixels.style.columns), (15, 12.0, 2));
    }

    #[test]
    fn letters_count_and_own_ones_replace_them() {
        let of = |pattern: &str| [0, 1, 25, 26, 53].map(|number| letter(pattern, number));
        assert_eq!(of("(a)"), ["(a)", "(b)", "(z)", "(aa)", "(bbb)"]);
        assert_eq!([letter("A", 2), letter("", 2)], ["C", ""]);
        assert_eq!(
            ["Panel a", "Fig. A:", "Panel"].map(|text| letter(text, 1)),
            ["Panel b", "Fig. B:", "Panel"]
        );
        let shared = "letters = 'A'\n[all]\nfile = 'a.obj'\n";
        let text = format!("{shared}[[panel]]\ncaption = 'Before'\n[[panel]]\nletter = ''\n");
        assert_eq!(captions(&text), ["A Before", ""]);
    }

    #[test]
    fn labels_are_in_pixels_or_in_the_world() {
        let text = "[[panel]]\nfile = 'a.obj'\nlabel = [{ text = 'x', at = [3, 4.5], offset = [10, '-25.4mm'] }, \
                    { text = 'y', at = [0, 1, 0] }]\n";
        let labels = read(text).unwrap().panels.remove(0).labels;
        let camera = Camera { target: Vec3::Y, ..Camera::default() };
        assert_eq!(
            (labels[0].place(&camera, [320, 200]), labels[0].offset),
            (Some([3.0, 4.5]), [10.0, -96.0])
        );
        // The target of a camera is in the middle of its picture.
        let [x, y] = labels[1].place(&camera, [320, 200]).unwrap();
        assert!((x - 160.0).abs() < 0.1 && (y - 100.0).abs() < 0.1, "{x}, {y}");
        let behind =
            Label { at: (2.0 * camera.eye()).to_array().to_vec(), text: String::new(), offset: [0.0; 2] };
        let from_origin = Camera { target: Vec3::ZERO, ..camera };
        assert!(behind.place(&from_origin, [320, 200]).is_none());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_panel_and_key() {
        let one = "[[panel]]\nfile = 'a'\n";
        for (text, says) in [
            (String::new(), "the number of tables [[panel]] is 0; 1 to 256"),
            ("sise = 3\n[[panel]]".into(), "line 1: unknown field `sise`"),
            ("[[panel]]\nseeds = 3".into(), "panel 1: `file` is missing"),
            (format!("[all]\nsedes = 3\n{one}"), "[all]: unknown key `sedes`; panels have file, caption"),
            (
                format!("{one}{one}color_by = 'mass'"),
                "panel 2: unknown key `color_by`; it is spelt `color-by`",
            ),
            (format!("{one}out = 'x.png'"), "panel 1: `out` is no key of a panel"),
            (format!("size = '9x9'\n{one}size = '9x9'"), "panel 1: size: the `size` of the whole"),
            (format!("{one}transparent = 3"), "panel 1: transparent is 3; true or false"),
            (format!("{one}seeds = true"), "panel 1: seeds is true, which is no value"),
            ("[[panel]]\nfile = '../a.obj'".into(), "panel 1: file \"../a.obj\" lies outside"),
            (format!("{one}seeds-file = '/etc/passwd'"), "panel 1: seeds-file \"/etc/passwd\" lies outside"),
            (format!("out = ['../a.png']\n{one}"), "out \"../a.png\" lies outside"),
            (format!("out = ['a.jpg']\n{one}"), "out \"a.jpg\": a name that ends in .png or .svg"),
            (format!("size = '0x9'\n{one}"), "size \"0x9\": WIDTHxHEIGHT"),
            (format!("gap = '3in'\n{one}"), "gap: \"3in\" is no length"),
            (format!("gap = -3\n{one}"), "gap is -3 pixels"),
            (format!("{one}label = {{ text = 'x', at = [1] }}"), "panel 1: label: `at` is two numbers"),
            (format!("{one}label = {{ text = 'x' }}"), "panel 1: label: missing field `at`"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.starts_with(says) && !error.contains('\n'), "{text}: {error}");
        }
        let error =
            read(&format!("{one}level = 13\n")).unwrap().panels[0].arguments(None, "cpu").err().unwrap();
        assert!(error.to_string().contains("13' for '--level"), "{error}");
    }
}
