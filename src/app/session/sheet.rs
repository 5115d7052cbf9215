//! The sheet of variants in the window: what is asked, the worker that makes tile after tile, and what is kept.
//!
//! In: commands of the panel, the blow of the sandbox. Out: tiles as they come, tuned values, a picture file. The
//! worker computes on the cores, beside whatever draws the window, and ends when the sheet is closed or its question
//! changes.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use super::{Session, saving::with_ending_of};
use crate::{
    app::dialogs::Purpose,
    compute::Compute,
    export::write_signed,
    facade::stills::{Still, draw_with, plain_options},
    fracture::{Cancel, CancelOnDrop, Passes},
    render::{Camera, ColorBy, Pixels, RenderOptions, Renderer},
    scene::{
        SandboxError, Tuning,
        variants::{self, Axis, Cell, LARGEST, SheetOrder, Struck, Variant, Vary, caption, variants},
    },
    svo::Arena,
    threads,
    ui::{SheetTile, SheetView},
};

/// Size of a tile, pixels.
const SIZE: [u32; 2] = [280, 240];
/// Passes accumulated in a tile.
const PASSES: u32 = 8;
/// Pieces are moved apart by this times their distance from the middle, as by the command.
const APART: f64 = 0.25;
/// Tiles are begun when nothing has changed for this long: not for every step of a slider, nor for half of a number.
const SETTLED_AFTER: Duration = Duration::from_millis(300);
/// Colour of a tile that shows nothing, in the picture file.
const BLANK: [u8; 4] = [222, 220, 216, 255];

/// A tile that was made: its picture and the number of its pieces, or why there is none.
type Made = Result<(Arc<Pixels>, usize), String>;

/// The worker. Dropping it cancels the work.
struct Job {
    receiver: mpsc::Receiver<(usize, Made)>,
    #[cfg_attr(not(test), expect(dead_code, reason = "it does its work when it is dropped"))]
    waits: CancelOnDrop,
}

/// The sheet.
#[derive(Default)]
pub(super) struct Sheet {
    open: bool,
    order: Option<SheetOrder>,
    /// What the tiles were asked for.
    asked: Option<(SheetOrder, Struck)>,
    vary: Vec<Vary>,
    variants: Vec<Variant>,
    tiles: Vec<SheetTile>,
    /// When the question of tiles that are not begun last changed.
    due: Option<Instant>,
    job: Option<Job>,
    problem: Option<String>,
    command: Option<String>,
    /// The sheet that the file dialog or the prompt is about.
    drawing: Option<SheetDrawing>,
}

/// A sheet as it is written to a file.
struct SheetDrawing {
    name: String,
    vary: Vec<Vary>,
    tiles: Vec<SheetTile>,
}

impl SheetDrawing {
    /// The rows of the picture, and its size.
    fn paper(&self) -> Result<variants::Paper, String> {
        let mut paper = variants::blank(SIZE, &self.vary)?;
        let [width, height] = paper.size();
        if width.max(height) > LARGEST {
            return Err(format!(
                "the sheet would have {width} by {height} pixels; at most {LARGEST} are written, so give fewer values"
            ));
        }
        for (number, tile) in self.tiles.iter().enumerate() {
            let cell = match &tile.made {
                Some(Ok((pixels, pieces))) => {
                    Cell { rgba: pixels.rgba.clone(), caption: caption(&self.name, *pieces) }
                }
                _ => Cell {
                    rgba: BLANK.repeat((SIZE[0] * SIZE[1]) as usize),
                    caption: "no picture".to_owned(),
                },
            };
            paper.put(number, &tile.label, &cell)?;
        }
        Ok(paper)
    }
}

impl Sheet {
    /// Whether tiles are being made, or will be.
    pub fn is_busy(&self) -> bool {
        self.job.is_some() || self.due.is_some()
    }

    /// Asks for other tiles, unless these are the same: keeping a tile changes the present values and no tile.
    fn ask(&mut self, order: SheetOrder, struck: Struck) {
        let read = order.read().and_then(|vary| {
            let all = variants(struck.params(), struck.level(), &vary);
            Ok((all.map_err(|(label, why)| format!("{label}: {why}"))?, vary))
        });
        match read {
            Ok((all, vary)) => {
                let same_blow = self.asked.as_ref().is_some_and(|(_, asked)| asked.is_same_blow(&struck));
                if !same_blow || self.problem.is_some() || self.variants != all {
                    let tile = |variant: &Variant| SheetTile { label: variant.label.clone(), made: None };
                    self.tiles = all.iter().map(tile).collect();
                    (self.job, self.due) = (None, Some(Instant::now()));
                }
                self.command = struck.command(&vary);
                (self.variants, self.vary, self.problem) = (all, vary, None);
            }
            Err(problem) => self.refuse(problem),
        }
        self.asked = Some((order, struck));
    }

    /// Says why there are no tiles.
    fn refuse(&mut self, problem: String) {
        self.empty();
        self.problem = Some(problem);
    }

    /// Drops tiles and worker. What is varied stays, and what is being saved.
    fn empty(&mut self) {
        let (open, order, drawing) = (self.open, self.order.take(), self.drawing.take());
        *self = Self { open, order, drawing, ..Self::default() };
    }

    /// Takes tiles that the worker has made.
    fn take_in(&mut self) {
        let Some(job) = &self.job else { return };
        loop {
            match job.receiver.try_recv() {
                Ok((number, made)) => {
                    if let Some(tile) = self.tiles.get_mut(number) {
                        tile.made = Some(made);
                    }
                }
                Err(mpsc::TryRecvError::Empty) => return,
                Err(mpsc::TryRecvError::Disconnected) => break,
            }
        }
        self.job = None;
        let left = self.tiles.iter_mut().filter(|tile| tile.made.is_none());
        left.for_each(|tile| tile.made = Some(Err("drawing this tile stopped unexpectedly".to_owned())));
    }
}

/// How tiles are looked at.
struct Look {
    /// Its direction and angle; every sheet is framed anew.
    camera: Camera,
    options: RenderOptions,
}

impl Job {
    fn start(struck: Struck, variants: Vec<Variant>, look: Look) -> Self {
        let (sender, receiver) = mpsc::channel();
        let cancel = Cancel::possible();
        let waits = CancelOnDrop(cancel.clone());
        std::thread::spawn(move || {
            // As threads of their own they share the cores with those that draw the window.
            threads::alone(0, || {
                // The channel is closed only when the sheet was closed, or its question has changed.
                draw_all(&struck, &variants, look, &cancel, |number, made| drop(sender.send((number, made))));
            });
        });
        Self { receiver, waits }
    }
}

/// Makes one tile after the other until there are no more, or the work is cancelled.
fn draw_all(
    struck: &Struck,
    variants: &[Variant],
    mut look: Look,
    cancel: &Cancel,
    mut show: impl FnMut(usize, Made),
) {
    let (coarse, passes) = (struck.coarse(), Passes::default());
    look.camera.frame_points(&coarse.outline(APART), SIZE[0] as f32 / SIZE[1] as f32);
    for (number, variant) in variants.iter().enumerate() {
        // What cuts the mesh itself has no coarser copy.
        let struck = if variant.params.method.entry().of_voxels { &coarse } else { struck };
        let made = draw_tile(struck, variant, &look, &passes, cancel);
        if cancel.check().is_err() {
            return;
        }
        show(number, made.map_err(|error| error.to_string()));
    }
}

fn draw_tile(
    struck: &Struck,
    variant: &Variant,
    look: &Look,
    passes: &Passes,
    cancel: &Cancel,
) -> Result<(Arc<Pixels>, usize), SandboxError> {
    let compute = Compute::Cpu;
    let mut arena = Arena::new(&compute)?;
    let broken = struck.break_by(&variant.params, (&mut arena, passes), cancel)?;
    let bodies = struck.drawn(&broken, APART);
    let still = Still {
        arena: &arena,
        bodies: &bodies,
        camera: look.camera,
        options: look.options.clone(),
        size: SIZE,
        seams: None,
        overlay: None,
    };
    let rgba = draw_with(&compute, &mut Renderer::new(&compute)?, &still, PASSES)?;
    Ok((Arc::new(Pixels { size: SIZE, rgba }), broken.parts.len()))
}

impl Session {
    /// Opens or closes the sheet.
    pub(super) fn toggle_sheet(&mut self) {
        let is_there = self.sandbox.as_ref().is_some_and(|sandbox| !sandbox.objects().is_empty());
        self.sheet.open = !self.sheet.open && is_there;
        self.sheet.empty();
    }

    /// Applies a change made in the panel.
    pub(super) fn change_sheet(&mut self, order: SheetOrder) {
        self.sheet.order = Some(order);
    }

    /// Takes tiles in, and asks for others where the blow or the values have changed.
    pub(super) fn poll_sheet(&mut self) {
        let (sheet, Some(sandbox)) = (&mut self.sheet, &self.sandbox) else { return };
        if !sheet.open {
            return;
        }
        sheet.take_in();
        let Some(struck) = sandbox.struck() else {
            return sheet
                .refuse("there is no whole object to break; undo, or pin a blow on a piece".to_owned());
        };
        let usual = || {
            let columns = Axis::usual("rng", struck.params(), struck.level());
            SheetOrder { columns, rows: None }
        };
        let order = sheet.order.get_or_insert_with(usual).clone();
        let is_asked = sheet.asked.as_ref().is_some_and(|(asked, of)| {
            *asked == order && of.is_same_blow(&struck) && of.params() == struck.params()
        });
        if !is_asked {
            sheet.ask(order, struck.clone());
        }
        // A break needs the cores more.
        let is_due = sheet.due.is_some_and(|since| since.elapsed() >= SETTLED_AFTER);
        if is_due && !sandbox.is_breaking() {
            let floor = sandbox.settings().floor.map(|height| height as f32);
            let tuning = sandbox.tuning();
            let (lighting, backdrop) = (tuning.view.lighting, tuning.backdrop.clone());
            let options = RenderOptions { floor, lighting, backdrop, ..plain_options(ColorBy::Material) };
            let look = Look { camera: self.camera, options };
            sheet.due = None;
            sheet.job = Some(Job::start(struck, sheet.variants.clone(), look));
        }
    }

    /// Gives the tuned fracture the values of a tile, as one undo step.
    pub(super) fn keep_variant(&mut self, number: usize) {
        let (Some(sandbox), Some((_, struck))) = (&mut self.sandbox, &self.sheet.asked) else { return };
        let all = variants(&sandbox.tuning().fracture, struck.level(), &self.sheet.vary);
        let Some(variant) = all.ok().and_then(|all| all.into_iter().nth(number)) else { return };
        let tuning = Tuning { fracture: variant.params, ..sandbox.tuning().clone() };
        sandbox.end_gesture();
        sandbox.tune("values of a variant", tuning);
        sandbox.end_gesture();
    }

    /// What the panel shows; `None` while it is closed.
    pub fn sheet_view(&self) -> Option<SheetView<'_>> {
        let sheet = &self.sheet;
        let order = sheet.order.as_ref().filter(|_| sheet.open)?;
        let struck = sheet.asked.as_ref().map(|(_, struck)| struck);
        let is_now = |variant: &Variant| struck.is_some_and(|struck| variant.params == *struck.params());
        Some(SheetView {
            order,
            columns: variants::layout(&sheet.vary).0,
            tiles: &sheet.tiles,
            kept: sheet.variants.iter().position(is_now),
            levels: struck.map(|struck| [struck.tile_level(), struck.level()]),
            problem: sheet.problem.as_deref(),
            command: sheet.command.as_deref(),
        })
    }

    /// Asks where the sheet is written, as it is now. One dialog is open at a time.
    pub(super) fn save_sheet(&mut self) {
        if !self.saving.is_asking() && !self.sheet.tiles.is_empty() {
            let (vary, tiles) = (self.sheet.vary.clone(), self.sheet.tiles.clone());
            self.sheet.drawing = Some(SheetDrawing { name: self.scene_name(), vary, tiles });
            self.ask(Purpose::Sheet);
        }
    }

    /// Has a worker write the sheet to a file that the user has named. The dialog asked about that name and no other,
    /// so a file of the name with an added ending is never written over.
    pub(super) fn write_sheet(&mut self, path: &Path) {
        let Some(drawing) = self.sheet.drawing.take() else { return };
        let ended: PathBuf = with_ending_of(path, &["png"]);
        if self.is_taken(path, &ended) {
            return;
        }
        let signature = self.picture_signature();
        self.picture_files.write(move || {
            let paper = drawing.paper()?;
            let note = write_signed(&ended, paper.size(), paper.pixels(), &signature());
            let note = note.map_err(|error| error.to_string())?;
            let note = note.map_or_else(String::new, |note| format!("; {note}"));
            Ok(format!("Sheet: {}{note}", ended.display()))
        });
    }

    /// The name that is proposed for the file of a sheet, without its ending.
    pub(super) fn sheet_stem(&self) -> String {
        format!("{}-variants", self.scene_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::{dialogs::Answer, session::testing::session},
        export::read_signed,
        fracture::FractureParams,
        scene::Arrived,
        ui::{Command, PathPurpose},
    };

    /// Polls until `is_done`.
    fn until(session: &mut Session, is_done: impl Fn(&Session) -> bool) {
        let start = Instant::now();
        while !is_done(session) {
            assert!(start.elapsed() < Duration::from_secs(120), "it never ends: {:?}", session.errors());
            std::thread::sleep(Duration::from_millis(2));
            session.poll();
        }
    }

    /// A session whose sheet varies `columns`, with its tiles.
    fn opened(path: &'static str, values: &str) -> Session {
        let mut session = session();
        let sandbox = session.sandbox.as_mut().unwrap();
        let (low, high) = sandbox.bounds(None).unwrap();
        let pick = sandbox.pick(low.midpoint(high) + glam::Vec3::Z * 5.0, glam::Vec3::NEG_Z).unwrap();
        let aim = sandbox.aim_at(&pick, glam::Vec3::NEG_Z).unwrap();
        sandbox.pin(aim);
        sandbox.end_gesture();
        session.apply(Command::ToggleSheet);
        let order = SheetOrder { columns: Axis { path, values: values.to_owned() }, rows: None };
        session.apply(Command::ChangeSheet(Box::new(order)));
        session.poll();
        session
    }

    fn pieces(session: &Session) -> Vec<Option<usize>> {
        let tiles = session.sheet.tiles.iter();
        tiles.map(|tile| tile.made.as_ref()?.as_ref().ok().map(|(_, pieces)| *pieces)).collect()
    }

    fn seeds(session: &Session) -> u32 {
        session.sandbox.as_ref().unwrap().tuning().fracture.seeds
    }

    #[test]
    fn a_tile_is_kept_as_one_step_and_its_blow_makes_its_pieces() {
        let mut session = opened("seeds", "6, 24, 60");
        until(&mut session, |session| !session.sheet.is_busy());
        let made = pieces(&session);
        assert!(made.iter().all(Option::is_some) && made[0] < made[2], "{made:?}");
        let view = session.sheet_view().unwrap();
        assert_eq!((view.kept, view.columns, view.levels), (None, 3, Some([5, 5])));
        assert!(view.command.is_some_and(|command| command.contains("seeds=6,24,60")), "{:?}", view.command);
        let before = seeds(&session);
        session.apply(Command::KeepVariant(1));
        session.poll();
        assert_eq!((seeds(&session), session.sheet_view().unwrap().kept), (24, Some(1)));
        assert_eq!(pieces(&session), made, "the sheet stays as it is");
        assert!(!session.sheet.is_busy());
        let undo =
            |session: &Session| session.sandbox.as_ref().unwrap().history().undo_label().map(str::to_owned);
        assert_eq!(undo(&session).as_deref(), Some("seeds"));
        session.apply(Command::Undo);
        session.poll();
        assert_eq!((seeds(&session), session.sheet_view().unwrap().kept), (before, None));
        session.apply(Command::Redo);
        assert_eq!(seeds(&session), 24);
        let sandbox = session.sandbox.as_mut().unwrap();
        assert!(sandbox.break_pin());
        while sandbox.poll().unwrap() != Some(Arrived::Broke) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(Some(sandbox.bodies().len()), made[1]);
    }

    #[test]
    fn closing_and_another_question_cancel_what_is_being_made() {
        let mut session = opened("rng", "1, 2, 3, 4, 5, 6, 7, 8");
        until(&mut session, |session| session.sheet.job.is_some());
        let first = session.sheet.job.as_ref().unwrap().waits.0.clone();
        let order = SheetOrder { columns: Axis { path: "rng", values: "5, 6".into() }, rows: None };
        session.apply(Command::ChangeSheet(Box::new(order)));
        session.poll();
        assert!(first.check().is_err() && session.sheet.job.is_none() && session.sheet.due.is_some());
        assert_eq!(pieces(&session), [None, None]);
        until(&mut session, |session| session.sheet.job.is_some());
        let second = session.sheet.job.as_ref().unwrap().waits.0.clone();
        session.apply(Command::ToggleSheet);
        assert!(second.check().is_err() && !session.sheet.is_busy() && session.sheet_view().is_none());
        // What was varied is there again, and its tiles are made anew.
        session.apply(Command::ToggleSheet);
        session.poll();
        assert_eq!(session.sheet_view().unwrap().tiles.len(), 2);
    }

    #[test]
    fn what_cannot_be_is_said_in_the_tile_or_above_all() {
        let mut session = opened("seeds", "1, 12");
        until(&mut session, |session| !session.sheet.is_busy());
        let [Some(Err(why)), Some(Ok(_))] = [0, 1].map(|tile| session.sheet.tiles[tile].made.clone()) else {
            panic!("{:?}", pieces(&session))
        };
        assert!(why.contains("no crack"), "{why}");
        let order = SheetOrder { columns: Axis { path: "seeds", values: "many".into() }, rows: None };
        session.apply(Command::ChangeSheet(Box::new(order)));
        session.poll();
        let view = session.sheet_view().unwrap();
        assert!(view.problem.is_some_and(|why| why.starts_with("seeds = many")) && view.tiles.is_empty());
    }

    #[test]
    fn a_sheet_is_written_as_the_command_draws_it_and_over_nothing_of_the_users() {
        let folder = std::env::temp_dir().join(format!("kintsugi-sheet-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut session = opened("seeds", "6, 24");
        until(&mut session, |session| !session.sheet.is_busy());
        session.answered(Purpose::Open, Answer::Missing);
        session.apply(Command::AnswerPrompt(None));
        let answer = |session: &mut Session, name: &str| {
            session.apply(Command::SaveSheet);
            let proposed =
                session.path_prompt().map(|prompt| (prompt.asks, prompt.proposed.clone())).unwrap();
            assert!(
                proposed.0 == PathPurpose::Sheet && proposed.1.ends_with("-variants.png"),
                "{proposed:?}"
            );
            session.apply(Command::AnswerPrompt(Some(folder.join(name))));
        };
        answer(&mut session, "a");
        until(&mut session, |session| !session.picture_files.is_busy());
        let written = read_signed(&std::fs::read(folder.join("a.png")).unwrap()).unwrap();
        let vary = [Vary::parse("seeds=6,24").unwrap()];
        let mut paper = variants::blank(SIZE, &vary).unwrap();
        for (number, tile) in session.sheet.tiles.iter().enumerate() {
            let (pixels, pieces) = tile.made.clone().unwrap().unwrap();
            let cell = Cell { rgba: pixels.rgba.clone(), caption: format!("{pieces} pieces") };
            paper.put(number, ["seeds = 6", "seeds = 24"][number], &cell).unwrap();
        }
        assert!(written.size == paper.size() && written.rgba == paper.pixels());
        std::fs::write(folder.join("mine.png"), "keep me").unwrap();
        answer(&mut session, "mine");
        assert_eq!(session.path_prompt().and_then(|p| p.there.clone()), Some(folder.join("mine.png")));
        assert_eq!(std::fs::read_to_string(folder.join("mine.png")).unwrap(), "keep me");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn tiles_differ_and_show_what_their_values_make() {
        let mut session = opened("seeds", "6, 24");
        until(&mut session, |session| !session.sheet.is_busy());
        let pictures = session.sheet.tiles.iter().map(|tile| tile.made.clone().unwrap().unwrap().0);
        let pictures: Vec<Arc<Pixels>> = pictures.collect();
        assert!(pictures[0] != pictures[1] && pictures.iter().all(|picture| picture.size == SIZE));
        let struck = session.sandbox.as_ref().unwrap().struck().unwrap();
        let params = FractureParams { seeds: 6, ..struck.params().clone() };
        let mut arena = Arena::new(&Compute::Cpu).unwrap();
        let broken = struck.break_by(&params, (&mut arena, &Passes::default()), Cancel::never()).unwrap();
        assert_eq!(pieces(&session)[0], Some(broken.parts.len()));
    }
}
