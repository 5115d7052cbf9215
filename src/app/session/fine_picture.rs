//! Pictures at full quality, drawn by a worker: for files, and for the window at rest.
//!
//! In: a copy of what the window shows, a size. Out: pixels; for a file once all passes are done, for the window after
//! one pass and then ever finer. Dropping the window's picture stops its worker: on the cores within a band of rows, in
//! compute passes after the pass that was submitted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use crate::{
    app::resolution::REFINEMENTS,
    compute::Compute,
    fracture::Seams,
    gpu::GpuError,
    render::{
        BodySeams, Camera, CellMarks, FrameInput, Overlay, Pixels, RenderBody, RenderOptions, Renderer,
    },
    svo::Arena,
    threads,
};

/// Accumulated passes of a file's picture, as in the command `render`; fewer if the cores draw.
const PASSES: u32 = 32;
const PASSES_ON_CORES: u32 = 12;
const PASSES_OF_SMALL: u32 = 4;

/// Passes after which the window shows its picture. Noise falls with the root of their number, so what came between
/// would hardly show.
const SHOWN_AFTER: [u32; 7] = [1, 2, 4, 8, 16, 32, REFINEMENTS];
/// Passes that the window's picture has in any case, and the time after which no others are begun: a large picture would
/// keep all cores busy for minutes.
const LEAST_PASSES: u32 = 16;
const REFINED_FOR: Duration = Duration::from_secs(12);

/// Size of small pictures, pixels.
const SMALL: [u32; 2] = [240, 160];

/// A copy of everything that a picture shows.
pub(super) struct Subject {
    pub compute: Compute,
    pub arena: Arena,
    pub bodies: Vec<RenderBody>,
    pub camera: Camera,
    pub options: RenderOptions,
    pub seams: Option<(usize, Seams, u32, CellMarks)>,
    pub overlay: Option<Arc<Overlay>>,
}

impl Subject {
    /// Draws the picture at `size` pixels; calls `at` with the share that is done. `None` if there is no picture.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn draw(&self, size: [u32; 2], at: &mut dyn FnMut(f32)) -> Result<Option<Pixels>, GpuError> {
        let passes = if self.compute.is_software() { PASSES_ON_CORES } else { PASSES };
        self.draw_by(passes, size, at)
    }

    /// Draws a small picture, as the scene list shows; `None` if that fails.
    pub fn draw_small(&self) -> Option<Pixels> {
        self.draw_by(PASSES_OF_SMALL, SMALL, &mut |_| {}).ok().flatten()
    }

    fn draw_by(
        &self,
        passes: u32,
        size: [u32; 2],
        at: &mut dyn FnMut(f32),
    ) -> Result<Option<Pixels>, GpuError> {
        let mut renderer = Renderer::new(&self.compute)?;
        for accumulated in 0..passes {
            at(accumulated as f32 / passes as f32);
            self.accumulate(&mut renderer, accumulated, size, &AtomicBool::new(false))?;
        }
        drawn_by(&mut renderer)
    }

    /// Draws a pass on top of those that the renderer has accumulated; returns false if it was given up.
    fn accumulate(
        &self,
        renderer: &mut Renderer,
        accumulated: u32,
        size: [u32; 2],
        given_up: &AtomicBool,
    ) -> Result<bool, GpuError> {
        let seams = self.seams.as_ref();
        let input = FrameInput {
            arena: &self.arena,
            bodies: &self.bodies,
            camera: self.camera,
            options: RenderOptions { accumulated, ..self.options.clone() },
            size,
            seams: seams.map(|(body, seams, first, marks)| BodySeams {
                body: *body,
                seams,
                first: *first,
                marks: *marks,
            }),
            overlay: self.overlay.as_ref(),
        };
        let is_drawn = renderer.draw_unless(&input, given_up)?;
        // One pass at a time, since a slow adapter's driver would otherwise get one enormous submission.
        self.compute.wait()?;
        Ok(is_drawn)
    }
}

/// A copy of the renderer's picture.
fn drawn_by(renderer: &mut Renderer) -> Result<Option<Pixels>, GpuError> {
    let view = renderer.view(None)?;
    Ok(view.and_then(|view| view.pixels().map(|pixels| Pixels::clone(pixels))))
}

/// Pictures of all views after the same number of passes.
pub(super) struct Accumulated {
    /// The document's, then those of the comparison views.
    pub views: Vec<Pixels>,
    pub passes: u32,
}

/// Draws all subjects, each at `size` pixels, and shows them after one pass and then ever finer, until they are as fine
/// as they get or are given up.
fn refine(
    subjects: &[Subject],
    size: [u32; 2],
    given_up: &AtomicBool,
    mut show: impl FnMut(Accumulated),
) -> Result<(), GpuError> {
    let start = Instant::now();
    let renderers = subjects.iter().map(|subject| Renderer::new(&subject.compute));
    let mut renderers = renderers.collect::<Result<Vec<_>, _>>()?;
    for passes in 1..=REFINEMENTS {
        for (subject, renderer) in subjects.iter().zip(&mut renderers) {
            if !subject.accumulate(renderer, passes - 1, size, given_up)? {
                return Ok(());
            }
        }
        if !SHOWN_AFTER.contains(&passes) {
            continue;
        }
        let views = renderers.iter_mut().map(drawn_by).collect::<Result<Option<Vec<_>>, _>>()?;
        views.into_iter().for_each(|views| show(Accumulated { views, passes }));
        if passes >= LEAST_PASSES && start.elapsed() > REFINED_FOR {
            break;
        }
    }
    Ok(())
}

/// Pictures of all views in progress; dropping it cancels them.
pub(super) struct FinePicture {
    receiver: mpsc::Receiver<Accumulated>,
    given_up: Arc<AtomicBool>,
    has_ended: bool,
}

impl Drop for FinePicture {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

impl FinePicture {
    /// Starts a worker that draws all subjects, each at `size` pixels.
    pub fn start(subjects: Vec<Subject>, size: [u32; 2]) -> Self {
        Self::by(move |sender, given_up| {
            // In the threads that draw the window, its panels would wait for the stage of a pass that is under way; as
            // threads of their own, both have their share of the cores.
            let drawn = threads::alone(0, || {
                // The channel is closed only when the picture was dropped.
                refine(&subjects, size, given_up, |drawn| drop(sender.send(drawn)))
            });
            if let Err(error) = drawn {
                // The coarser picture stays on display.
                tracing::warn!("no finer picture: {error}");
            }
        })
    }

    /// A worker that sends what it draws until it is given up.
    fn by(work: impl FnOnce(&mpsc::Sender<Accumulated>, &AtomicBool) + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel();
        let given_up = Arc::new(AtomicBool::new(false));
        let wish = Arc::clone(&given_up);
        std::thread::spawn(move || work(&sender, &wish));
        Self { receiver, given_up, has_ended: false }
    }

    /// The finest pictures that have come since the last call, if any.
    pub fn poll(&mut self) -> Option<Accumulated> {
        let mut finest = None;
        loop {
            match self.receiver.try_recv() {
                Ok(drawn) => finest = Some(drawn),
                Err(mpsc::TryRecvError::Empty) => return finest,
                Err(mpsc::TryRecvError::Disconnected) => {
                    self.has_ended = true;
                    return finest;
                }
            }
        }
    }

    /// Whether the last poll was told that nothing more will come, also because of a failure.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// A worker that has failed.
    #[cfg(test)]
    pub fn failed() -> Self {
        let given_up = Arc::new(AtomicBool::new(false));
        Self { receiver: mpsc::channel().1, given_up, has_ended: false }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::app::session::{Session, picture::next_to_each_other, testing::session};

    #[test]
    fn it_is_as_large_as_asked_for_and_shows_what_the_window_does() {
        let session = session();
        let subject = session.subject(None).unwrap();
        let mut shares = Vec::new();
        let drawn = subject.draw([120, 90], &mut |share| shares.push(share)).unwrap().unwrap();
        assert!(
            shares.len() > 4 && shares[0] == 0.0 && shares.is_sorted() && shares.iter().all(|s| *s < 1.0)
        );
        assert_eq!((drawn.size, drawn.rgba.len()), ([120, 90], 120 * 90 * 4));
        let at = |x: usize, y: usize| &drawn.rgba[4 * (y * 120 + x)..][..3];
        assert_ne!(at(60, 45), at(3, 3), "the box is in the middle");
    }

    #[test]
    fn views_side_by_side_are_written_as_fine_as_one() {
        let mut session = session();
        session.draw(None, [100, 80], [1, 1]);
        let other = crate::scene::Way::other_than(&session.sandbox.as_ref().unwrap().tuning().fracture);
        session.apply(crate::ui::Command::ShowBeside(other.into_iter().collect()));
        session.draw(None, [50, 80], [2, 1]);
        let all = session.subjects_beside();
        assert_eq!(all.len(), 1);
        // At the chosen size, however coarse the window is, with the whole object in both views.
        let own = session.subject(None).unwrap();
        let [own, beside] = [&own, &all[0]].map(|s| s.draw([120, 90], &mut |_| {}).unwrap().unwrap());
        let different = own.rgba.iter().zip(&beside.rgba).filter(|(a, b)| a.abs_diff(**b) > 40).count();
        assert!(different < own.rgba.len() / 20, "{different} of {}", own.rgba.len());
        let both = next_to_each_other(&[own.clone(), beside]);
        assert_eq!(both.size, [240, 90]);
        assert_eq!(both.rgba[..480], own.rgba[..480]);
        // At rest both views have the full resolution of their rectangles.
        session.camera.orbit(0.1, 0.0);
        session.picture.slow_down([100, 80], 5000.0);
        let all = shown(&mut session, [50, 80], [2, 1]);
        assert!(all[1..].iter().all(|(size, _)| *size == [50, 80]), "{all:?}");
        let size = |view: &crate::render::View| view.pixels().unwrap().size;
        assert_eq!(session.views_beside().map(size).collect::<Vec<_>>(), [[50, 80]]);
        session.apply(crate::ui::Command::ShowBeside(Vec::new()));
        assert!(session.subjects_beside().is_empty());
    }

    /// Calls the session as the event loop does until its picture is as fine as it gets. Gives size and passes of every
    /// picture.
    fn shown(session: &mut Session, full: [u32; 2], division: [u32; 2]) -> Vec<([u32; 2], u32)> {
        let start = Instant::now();
        let mut all = Vec::new();
        loop {
            if session.draw(None, full, division) {
                all.push((session.picture_size(), session.refined()));
            }
            if session.is_finest() {
                return all;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{all:?}");
            assert!(session.wants_frames() || session.is_waiting(), "nobody asks for the next frame");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    const FULL: [u32; 2] = [320, 240];
    /// What a machine shows of it during motion on which it takes five seconds.
    const COARSE: [u32; 2] = [96, 72];

    /// A session on such a machine, whose camera has just moved.
    fn moved_session() -> Session {
        let mut session = session();
        session.draw(None, FULL, [1, 1]);
        // The first pictures hurry as if a preview were tuned.
        std::thread::sleep(Duration::from_millis(300));
        session.picture.slow_down(FULL, 5000.0);
        session.camera.orbit(0.1, 0.0);
        session
    }

    /// The same after a while, with a worker at work.
    fn slow_session() -> Session {
        let mut session = moved_session();
        let start = Instant::now();
        while !session.picture.is_sharpening() {
            assert!(start.elapsed() < Duration::from_secs(60));
            session.draw(None, FULL, [1, 1]);
            assert_eq!((session.picture_size(), session.refined()), (COARSE, 1));
            std::thread::sleep(Duration::from_millis(1));
        }
        session
    }

    /// Whether passes only become more.
    fn ascend(all: &[([u32; 2], u32)]) -> bool {
        all.windows(2).all(|pair| pair[0].1 < pair[1].1)
    }

    #[test]
    fn at_rest_a_slow_machine_draws_the_full_size_at_once_and_then_refines_it() {
        let mut session = moved_session();
        let all = shown(&mut session, FULL, [1, 1]);
        // The moving picture, and then none of that size.
        assert_eq!(all[0], (COARSE, 1));
        let fine = &all[1..];
        assert!(fine.iter().all(|(size, _)| *size == FULL) && ascend(fine), "{all:?}");
        assert!(fine.len() <= SHOWN_AFTER.len() && fine[fine.len() - 1].1 >= LEAST_PASSES, "{all:?}");
        let size = session.view().and_then(|view| view.pixels().map(|pixels| pixels.size));
        assert_eq!(size, Some(FULL));
        assert!(!session.draw(None, FULL, [1, 1]), "and then nothing is drawn");
        assert!(!session.wants_frames() && !session.is_waiting(), "and nobody asks for a frame");
        session.camera.orbit(0.3, 0.0);
        session.draw(None, FULL, [1, 1]);
        assert_eq!((session.picture_size(), session.refined()), (COARSE, 1), "what moves is coarse again");
        assert!(!session.is_finest());
    }

    #[test]
    fn a_fast_machine_refines_the_full_size_without_a_worker() {
        let mut session = session();
        session.draw(None, [64, 48], [1, 1]);
        assert_eq!(session.picture_size(), [32, 24], "before anything was measured");
        session.picture.slow_down([64, 48], 1.0);
        session.camera.orbit(0.1, 0.0);
        let wanted: Vec<_> = (1..=REFINEMENTS).map(|passes| ([64, 48], passes)).collect();
        assert_eq!(shown(&mut session, [64, 48], [1, 1]), wanted);
    }

    #[test]
    fn a_refinement_that_the_window_has_begun_is_finished_there() {
        let mut session = session();
        session.picture.slow_down([64, 48], 1.0);
        let start = Instant::now();
        while session.refined() < 3 {
            assert!(start.elapsed() < Duration::from_secs(60));
            session.draw(None, [64, 48], [1, 1]);
            std::thread::sleep(Duration::from_millis(1));
        }
        let begun = session.refined();
        // A worker, and pictures of another size, would begin with the first pass again.
        session.picture.slow_down([64, 48], 5000.0);
        session.draw(None, [64, 48], [1, 1]);
        assert!(!session.picture.is_sharpening());
        assert_eq!((session.picture_size(), session.refined()), ([64, 48], begun + 1));
    }

    #[test]
    fn the_first_picture_comes_long_before_the_last_and_each_is_finer() {
        let subject = session().subject(None).unwrap();
        let never = AtomicBool::new(false);
        let (start, mut all) = (Instant::now(), Vec::new());
        refine(&[subject], FULL, &never, |drawn| all.push((start.elapsed(), drawn))).unwrap();
        let passes: Vec<u32> = all.iter().map(|(_, drawn)| drawn.passes).collect();
        assert!(passes.len() >= 5 && SHOWN_AFTER.starts_with(&passes), "{passes:?}");
        let (first, last) = (&all[0], &all[all.len() - 1]);
        // One pass of at least sixteen.
        assert!(first.0 * 3 < last.0, "{:?} of {:?}", first.0, last.0);
        let off = |drawn: &Accumulated| -> u64 {
            let pairs = drawn.views[0].rgba.iter().zip(&last.1.views[0].rgba);
            pairs.map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
        };
        let off: Vec<u64> = all.iter().map(|(_, drawn)| off(drawn)).collect();
        println!("differences of all bytes from the last picture: {off:?}");
        assert!(off[0] > off[2] && off[2] > off[4], "{off:?}");
    }

    #[test]
    fn motion_cancels_the_worker_and_the_next_one_draws_what_is_there_then() {
        let mut session = slow_session();
        session.camera.orbit(0.3, 0.0);
        assert!(session.draw(None, FULL, [1, 1]));
        assert!(!session.picture.is_sharpening());
        let all = shown(&mut session, FULL, [1, 1]);
        assert!(all.iter().all(|(size, _)| *size == FULL) && ascend(&all), "{all:?}");
        let mut wanted = Vec::new();
        let subject = session.subject(None).unwrap();
        refine(&[subject], FULL, &AtomicBool::new(false), |drawn| wanted.push(drawn)).unwrap();
        let wanted = wanted.iter().find(|drawn| drawn.passes == session.refined()).unwrap();
        let pixels = session.view().unwrap().pixels().unwrap();
        assert!(**pixels == wanted.views[0], "the same bytes");
    }

    #[test]
    fn a_worker_that_begins_anew_shows_nothing_coarser() {
        let mut session = slow_session();
        let start = Instant::now();
        let mut all = Vec::new();
        while session.refined() < 4 || session.picture_size() != FULL {
            assert!(start.elapsed() < Duration::from_secs(60));
            if session.draw(None, FULL, [1, 1]) {
                all.push((session.picture_size(), session.refined()));
            }
        }
        if !session.is_finest() {
            let subject = session.subject(None).unwrap();
            session.picture.draw_by(FinePicture::start(vec![subject], FULL));
            all.extend(shown(&mut session, FULL, [1, 1]));
        }
        assert!(ascend(&all), "{all:?}");
    }

    #[test]
    fn a_worker_that_fails_leaves_the_coarse_picture() {
        let mut session = slow_session();
        session.picture.draw_by(FinePicture::failed());
        assert!(!session.draw(None, FULL, [1, 1]));
        assert!(session.is_finest() && !session.wants_frames() && !session.is_waiting());
        let size = session.view().and_then(|view| view.pixels().map(|pixels| pixels.size));
        assert_eq!((size, session.picture_size(), session.refined()), (Some(COARSE), COARSE, 1));
        let draws = session.draw(None, FULL, [1, 1]);
        assert!(!draws && !session.picture.is_sharpening(), "it is not tried again");
        session.camera.orbit(0.3, 0.0);
        assert_eq!(shown(&mut session, FULL, [1, 1]).last().unwrap().0, FULL, "but the next one is");
    }

    #[test]
    fn a_worker_that_panics_leaves_the_window_alive() {
        let mut session = slow_session();
        session.picture.draw_by(FinePicture::by(|_, _| panic!("a test asked for it")));
        assert!(shown(&mut session, FULL, [1, 1]).is_empty(), "the coarse picture stays");
        assert!(!session.wants_frames() && !session.is_waiting());
        session.poll();
        session.camera.orbit(0.3, 0.0);
        assert_eq!(shown(&mut session, FULL, [1, 1]).last().unwrap().0, FULL, "the next one is drawn");
    }

    #[test]
    fn what_is_given_up_ends_within_a_part_of_a_pass_and_leaves_no_trace() {
        let subject = session().subject(None).unwrap();
        let mut renderer = Renderer::new(&subject.compute).unwrap();
        let size = [2000, 1400];
        let never = AtomicBool::new(false);
        let mut draw = |accumulated, given_up: &AtomicBool| {
            let start = Instant::now();
            let is_drawn = subject.accumulate(&mut renderer, accumulated, size, given_up).unwrap();
            (is_drawn, start.elapsed(), drawn_by(&mut renderer).unwrap())
        };
        let (is_drawn, _, first) = draw(0, &never);
        assert!(is_drawn);
        let (is_drawn, whole, second) = draw(1, &never);
        assert!(is_drawn && first != second);
        let given_up = AtomicBool::new(false);
        let (is_drawn, part, _) = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(whole / 20);
                given_up.store(true, Ordering::Relaxed);
            });
            draw(2, &given_up)
        });
        println!("a pass takes {whole:?}, one that was given up after a twentieth {part:?}");
        assert!(!is_drawn && part * 2 < whole, "{part:?} of {whole:?}");
        let (is_drawn, _, third) = draw(3, &never);
        assert!(is_drawn && third == first, "the refinement restarts");
    }
}
