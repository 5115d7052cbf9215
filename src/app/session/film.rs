//! Films of the window: numbered pictures of the take, or of the picture as it stands while the camera turns about it.
//!
//! In: a copy of what the window shows and the recorded states, an order. Out: `frames/00000.png` and so on, a film of them
//! where ffmpeg is installed, and a report. A worker draws, so that the window stays usable.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{Session, fine_picture::Subject};
use crate::{
    bodies::BodyId,
    compute::RanOn,
    export::{
        Aside, ExportError, Signature, Watch,
        report::write_json,
        to_nanoseconds,
        video::{self, Joined},
        write_signed,
    },
    facade::{
        stamp::explain,
        stills::{Still, draw_with},
    },
    fracture::Cancel,
    gpu::GpuError,
    provenance::{Provenance, VERSION},
    render::{BodySeams, Camera, Renderer},
    scene::{
        BodyInsides, DebrisReel, ExportKind, ExportOrder, Exported, FilmOrder, Legend, Shot, ShotLook,
        metres_per_pixel,
    },
    ui::TakeView,
    voxelize::Progress,
};

/// Folder of the pictures.
const FRAMES: &str = "frames";
/// Most frames of a film: more would be an error in an input.
pub const MOST_FRAMES: usize = 99_999;

/// The take that a film plays.
struct Played {
    shot: Shot,
    insides: BodyInsides,
    hidden: BTreeSet<BodyId>,
    debris: DebrisReel,
    look: ShotLook,
}

/// Everything that a film is drawn from.
pub(super) struct Film {
    subject: Subject,
    played: Option<Played>,
    order: FilmOrder,
    fps: f64,
    report: FilmReport,
    inputs: Vec<PathBuf>,
    /// What the colours of a film that stands still mean.
    legends: Vec<Legend>,
    /// Whether a bar shows a round length, and whether slices are drawn without the bodies.
    has_bar: bool,
    is_of_slices: bool,
}

/// `report.json` of a film.
#[derive(Clone, Debug, Serialize)]
struct FilmReport {
    version: &'static str,
    provenance: Provenance,
    #[serde(flatten)]
    ran_on: RanOn,
    kind: ExportKind,
    /// First and last recorded time that is shown, s.
    time: Option<[f64; 2]>,
    take: Option<u32>,
    fps: f64,
    frames: usize,
    size: [u32; 2],
    passes: u32,
    speed: f64,
    turn: f64,
    files: Vec<String>,
}

/// Number of frames of a film of an order that plays `span` (s), or stands still.
pub(super) fn frames(order: &ExportOrder, span: Option<[f64; 2]>) -> usize {
    let film = &order.film;
    let count = match span {
        // Both ends are shown.
        Some([from, until]) => ((until - from) / film.speed * order.fps + 1e-6).floor() + 1.0,
        None => (film.seconds * order.fps).round(),
    };
    (count.max(1.0) as usize).min(MOST_FRAMES)
}

impl Film {
    /// The recorded time that frame number `frame` of `all` shows, s.
    fn time(&self, frame: usize) -> Option<f64> {
        let [from, until] = self.played.as_ref()?.shot.span();
        Some((from + frame as f64 / self.fps * self.order.speed).min(until))
    }

    /// The camera of frame number `frame` of `all`.
    fn camera(&self, frame: usize, all: usize) -> Camera {
        let mut camera = self.subject.camera;
        // A still picture that turns can be repeated; of a take both ends are shown.
        let steps = if self.played.is_some() { all.saturating_sub(1) } else { all };
        let angle = self.order.turn.to_radians() * frame as f64 / steps.max(1) as f64;
        camera.orbit(angle as f32, 0.0);
        camera
    }

    /// Draws a frame as RGBA8 rows.
    fn draw(&mut self, renderer: &mut Renderer, frame: usize, all: usize) -> Result<Vec<u8>, GpuError> {
        let (camera, time) = (self.camera(frame, all), self.time(frame));
        let subject = &self.subject;
        let mut options = subject.options.clone();
        let (bodies, overlay, legends) = match (&mut self.played, time) {
            (Some(played), Some(time)) => {
                let Played { shot, insides, hidden, debris, look } = played;
                let bodies = match self.is_of_slices {
                    true => Vec::new(),
                    false => {
                        look.stand_at(shot, time, &subject.compute);
                        shot.render_bodies(time, (&*insides, &*look), hidden)
                    }
                };
                let debris = debris.overlay(time);
                let (overlay, legends) = look.overlay((&*shot, time), hidden, debris);
                options.clips = look.clips(time);
                (Some(bodies), overlay, legends)
            }
            _ => (None, subject.overlay.clone(), self.legends.clone()),
        };
        let seams = subject.seams.as_ref().filter(|_| bodies.is_none());
        let copies = self.played.as_ref().and_then(|played| played.look.arena());
        let still = Still {
            arena: copies.unwrap_or(&subject.arena),
            bodies: bodies.as_ref().unwrap_or(&subject.bodies),
            camera,
            options,
            size: self.order.size,
            seams: seams.map(|(body, seams, first, marks)| BodySeams {
                body: *body,
                seams,
                first: *first,
                marks: *marks,
            }),
            overlay: overlay.as_ref(),
        };
        let mut pixels = draw_with(&subject.compute, renderer, &still, self.order.passes)?;
        // The font comes with the program.
        let bar = self.has_bar.then(|| metres_per_pixel(&camera, self.order.size[1] as f32));
        let _ = explain(&mut pixels, self.order.size, &legends, bar);
        Ok(pixels)
    }

    /// What it is called while it is drawn.
    pub fn label(&self) -> String {
        let [width, height] = self.order.size;
        format!("Drawing {} frames of {width} × {height}", self.report.frames)
    }

    /// Draws all frames and joins them.
    ///
    /// # Errors
    /// [`ExportError`]; `folder` is then as it was.
    pub fn run(
        mut self,
        folder: &Path,
        signature: impl FnOnce() -> Signature,
        progress: &Progress,
    ) -> Result<Exported, ExportError> {
        let mut aside = Aside::begin(folder)?;
        let names = video::film_names().chain([FRAMES, "report.json"]);
        aside.spare(std::mem::take(&mut self.inputs), names)?;
        let (signature, all) = (signature(), self.report.frames);
        let failed = |error: GpuError| ExportError::Draw(error.to_string());
        let pictures = aside.path().join(FRAMES);
        std::fs::create_dir_all(&pictures).map_err(|e| aside.moved(ExportError::write(&pictures, e)))?;
        let mut renderer = Renderer::new(&self.subject.compute).map_err(failed)?;
        let watch = Watch::whole(progress);
        if let Some(Played { shot, look, .. }) = &mut self.played {
            look.prepare(shot, &Cancel::with(progress));
        }
        for frame in 0..all {
            watch.at(frame, all + 1)?;
            let pixels = self.draw(&mut renderer, frame, all).map_err(failed)?;
            let name = format!("{frame:05}.png");
            let signature = signature.of_output(format!("{FRAMES}/{name}"));
            write_signed(&pictures.join(name), self.order.size, &pixels, &signature)
                .map_err(|e| aside.moved(e))?;
        }
        watch.at(all, all + 1)?;
        let mut files = vec![FRAMES.to_owned()];
        let mut notes = Vec::new();
        let by_hand = format!("ffmpeg -framerate {} -i {FRAMES}/%05d.png film.mp4", self.fps);
        let joined = match self.subject.options.transparent {
            // A film has no alpha: what is transparent would be black.
            true => None,
            false => Some(video::join(aside.path(), FRAMES, self.fps, &watch)?),
        };
        match joined {
            None => notes.push(format!(
                "the pictures in {FRAMES} are transparent, which films are not, so they were not joined"
            )),
            Some(Joined::Film(name)) => files.insert(0, name.to_owned()),
            Some(Joined::NotInstalled) => notes.push(format!(
                "ffmpeg is not installed, so the film is the numbered pictures in {FRAMES}; any editor of films reads them, \
                 and so does {by_hand}"
            )),
            Some(Joined::Failed) => notes.push(format!(
                "ffmpeg could not join the pictures; try it by hand in the folder of the film: {by_hand}"
            )),
        }
        self.report.files = aside.files()?;
        write_json(&aside.path().join("report.json"), &self.report).map_err(|e| aside.moved(e))?;
        notes.extend(aside.finish()?);
        progress.set(1.0);
        let (folder, kind, command) = (folder.to_owned(), ExportKind::Film, None);
        Ok(Exported { folder, kind, count: all, files, failed_checks: Vec::new(), command, notes })
    }
}

impl Session {
    /// The take that is on the timeline; `None` if nothing was recorded.
    pub(super) fn take_view(&self) -> Option<TakeView> {
        let timeline = self.sandbox.as_ref()?.timeline();
        let states = timeline.len();
        let span = [timeline.time(0)?, timeline.time(states - 1)?];
        Some(TakeView { number: timeline.take(), span, states })
    }

    /// Number of frames of the film that the export panel describes.
    pub(super) fn film_frames(&self) -> usize {
        let order = &self.exporting.order;
        let played = self.take_view().filter(|_| order.film.plays);
        frames(order, played.map(|take| order.span.unwrap_or(take.span)))
    }

    /// The film that an order describes, of what the window shows; `None` while nothing is open, or if the take is to be
    /// played and nothing was recorded.
    pub(super) fn film(&self, order: &ExportOrder) -> Option<Film> {
        let sandbox = self.sandbox.as_ref()?;
        let film = FilmOrder { size: order.film.size.map(|side| side.max(1)), ..order.film };
        let played = match film.plays {
            true => Some({
                let shot = order.shot(sandbox)?;
                let debris = sandbox.debris_reel(shot.span()[1]);
                let look = sandbox.shot_look();
                Played { shot, insides: sandbox.insides(), hidden: sandbox.hidden_bodies(), debris, look }
            }),
            false => None,
        };
        let mut subject = self.subject(None)?;
        subject.options.transparent = self.is_transparent_in_files();
        let span = played.as_ref().map(|played| played.shot.span());
        let report = FilmReport {
            version: VERSION,
            provenance: crate::provenance::here(),
            ran_on: sandbox.compute().ran_on(),
            kind: ExportKind::Film,
            time: span.map(|span| span.map(to_nanoseconds)),
            take: span.map(|_| sandbox.timeline().take()),
            fps: order.fps,
            frames: frames(order, span),
            size: film.size,
            passes: film.passes,
            speed: film.speed,
            turn: film.turn,
            files: Vec::new(),
        };
        let inputs = sandbox.objects().iter().map(|object| PathBuf::from(&object.scene.file));
        let inputs = inputs.chain(sandbox.file().map(|file| file.path().to_owned())).collect();
        Some(Film {
            subject,
            played,
            order: film,
            fps: order.fps,
            report,
            inputs,
            legends: sandbox.legends(),
            has_bar: sandbox.tuning().view.scale_bar,
            is_of_slices: sandbox.shows_slices_alone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{app::session::testing::session, scene::Arrived};

    fn order(plays: bool) -> ExportOrder {
        let film = FilmOrder { plays, seconds: 0.5, size: [96, 64], passes: 1, ..FilmOrder::default() };
        ExportOrder { kind: ExportKind::Film, fps: 20.0, film, ..ExportOrder::default() }
    }

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("kintsugi-film-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        path
    }

    fn picture(folder: &Path, frame: usize) -> Vec<u8> {
        image::open(folder.join(format!("{FRAMES}/{frame:05}.png"))).unwrap().into_rgba8().into_raw()
    }

    /// A session in which the box falls for a while and breaks.
    fn played() -> Session {
        let mut session = session();
        let sandbox = session.sandbox.as_mut().unwrap();
        (0..10).for_each(|_| sandbox.step().unwrap());
        let (body, at) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position);
        sandbox.break_at(body, at, glam::DVec3::NEG_Y);
        while sandbox.poll().unwrap() != Some(Arrived::Broke) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        (0..30).for_each(|_| sandbox.step().unwrap());
        session
    }

    /// What the window shows, as a frame of a film has it.
    fn drawn(session: &Session) -> Vec<u8> {
        let subject = session.subject(None).unwrap();
        let mut renderer = Renderer::new(&subject.compute).unwrap();
        let still = Still {
            arena: &subject.arena,
            bodies: &subject.bodies,
            camera: subject.camera,
            options: subject.options.clone(),
            size: [96, 64],
            seams: None,
            overlay: None,
        };
        let mut pixels = draw_with(&subject.compute, &mut renderer, &still, 1).unwrap();
        explain(&mut pixels, [96, 64], &session.sandbox.as_ref().unwrap().legends(), None).unwrap();
        pixels
    }

    /// The worker colours the voxels of each moment: those of the box, and those of its pieces.
    #[test]
    fn a_film_has_the_colours_of_voxels_at_each_of_its_moments() {
        let mut session = played();
        let plain = drawn(&session);
        let sandbox = session.sandbox.as_mut().unwrap();
        let mut tuning = sandbox.tuning().clone();
        tuning.view.color_by = "coverage".parse().unwrap();
        // The scale of the moments is that of the whole take.
        (tuning.view.scale.low, tuning.view.scale.high) = (Some(0.0), Some(1.0));
        sandbox.tune("colours", tuning);
        let film = session.film(&order(true)).unwrap();
        let last = session.sandbox.as_ref().unwrap().timeline().len() - 1;
        let [first, end] = [0, last].map(|state| {
            let sandbox = session.sandbox.as_mut().unwrap();
            sandbox.show_recorded(state);
            sandbox.finish_colors().unwrap();
            drawn(&session)
        });
        let folder = folder("voxels");
        let told = film.run(&folder, Signature::default, &Progress::default()).unwrap();
        assert!(picture(&folder, 0) == first && picture(&folder, told.count - 1) == end);
        assert!(end != plain && first != end);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn frames_stand_at_both_ends_of_a_take_and_slow_motion_has_more_of_them() {
        let mut take = order(true);
        assert_eq!(frames(&take, Some([1.0, 2.0])), 21);
        take.film.speed = 0.25;
        assert_eq!(frames(&take, Some([1.0, 2.0])), 81);
        assert_eq!((frames(&take, Some([1.0, 1.0])), frames(&order(false), None)), (1, 10));
        take.film.speed = 1e-9;
        assert_eq!(frames(&take, Some([0.0, 1e3])), MOST_FRAMES);
    }

    /// Fails where a frame shows another moment, where the first is not the first, or where the film follows what happens in
    /// the window after it was begun.
    #[test]
    fn a_film_of_the_take_shows_its_moments_whatever_the_window_does_meanwhile() {
        let mut session = played();
        let film = session.film(&order(true)).unwrap();
        let sandbox = session.sandbox.as_mut().unwrap();
        let last = sandbox.timeline().len() - 1;
        let span = [0, last].map(|frame| sandbox.timeline().time(frame).unwrap());
        let count = frames(&order(true), Some(span));
        sandbox.show_recorded(0);
        let first = drawn(&session);
        session.sandbox.as_mut().unwrap().show_recorded(last);
        let end = drawn(&session);
        session.sandbox.as_mut().unwrap().reset();
        let folder = folder("take");
        let told = film.run(&folder, Signature::default, &Progress::default()).unwrap();
        assert_eq!((told.kind, told.count), (ExportKind::Film, count));
        assert_eq!(std::fs::read_dir(folder.join(FRAMES)).unwrap().count(), count);
        assert!(picture(&folder, 0) == first, "the whole box");
        // The last frame is the last state if that lies on a frame, as it does here.
        assert!((span[1] - span[0] - (count - 1) as f64 / 20.0).abs() < 1e-6, "{span:?}");
        assert!(picture(&folder, count - 1) == end, "the broken box");
        assert!(first != end);
        let report: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap();
        assert_eq!((&report["kind"], &report["frames"]), (&"film".into(), &count.into()));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_turn_goes_once_round_and_a_film_that_is_cancelled_leaves_nothing() {
        let session = played();
        let mut order = order(false);
        order.film.turn = 360.0;
        let film = session.film(&order).unwrap();
        let yaw = |frame: usize| film.camera(frame, 10).yaw - session.camera.yaw;
        let turn = |a: f32| (a.rem_euclid(std::f32::consts::TAU)).to_degrees();
        assert!((turn(yaw(1)) - 36.0).abs() < 0.01 && (turn(yaw(9)) - 324.0).abs() < 0.01, "{}", yaw(9));
        let folder = folder("turn");
        let progress = Progress::default();
        progress.cancel();
        let error = film.run(&folder, Signature::default, &progress).unwrap_err();
        assert!(matches!(error, ExportError::Cancelled) && !folder.exists(), "{error}");
        let told = session.film(&order).unwrap().run(&folder, Signature::default, &Progress::default());
        assert_eq!(told.unwrap().count, 10);
        let apart = |a: usize, b: usize| {
            let (a, b) = (picture(&folder, a), picture(&folder, b));
            a.iter().zip(&b).filter(|(a, b)| a.abs_diff(**b) > 30).count()
        };
        assert!(apart(0, 3) > 200, "the camera has turned: {}", apart(0, 3));
        std::fs::remove_dir_all(folder).unwrap();
        // Nothing was recorded: there is no take to play.
        assert!(crate::app::session::testing::session().film(&self::order(true)).is_none());
    }
}
