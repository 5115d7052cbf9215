//! Pictures at full quality, drawn by a worker: for files, and for the window at rest.
//!
//! In: a copy of what the window shows, a size. Out: pixels, some seconds later if the cores draw. Dropping a picture
//! stops its worker between two passes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

use crate::{
    compute::Compute,
    fracture::Seams,
    gpu::GpuError,
    render::{
        BodySeams, Camera, CellMarks, FrameInput, Overlay, Pixels, RenderBody, RenderOptions, Renderer,
    },
    svo::Arena,
};

/// Accumulated passes, as in the command `render`; fewer if the cores draw.
const PASSES: u32 = 32;
const PASSES_ON_CORES: u32 = 12;
const PASSES_OF_SMALL: u32 = 4;

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
    /// Draws the picture at `size` pixels; `None` if it was cancelled.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn draw(&self, size: [u32; 2], given_up: &AtomicBool) -> Result<Option<Pixels>, GpuError> {
        let passes = if self.compute.is_software() { PASSES_ON_CORES } else { PASSES };
        self.draw_by(passes, size, given_up)
    }

    /// Draws a small picture, as the scene list shows; `None` if that fails.
    pub fn draw_small(&self) -> Option<Pixels> {
        self.draw_by(PASSES_OF_SMALL, SMALL, &AtomicBool::new(false)).ok().flatten()
    }

    fn draw_by(
        &self,
        passes: u32,
        size: [u32; 2],
        given_up: &AtomicBool,
    ) -> Result<Option<Pixels>, GpuError> {
        let mut renderer = Renderer::new(&self.compute)?;
        for accumulated in 0..passes {
            if given_up.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let seams = self.seams.as_ref();
            renderer.draw(&FrameInput {
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
            })?;
            // One pass at a time, since a slow adapter's driver would otherwise get one enormous submission.
            self.compute.wait()?;
        }
        let view = renderer.view(None)?;
        Ok(view.and_then(|view| view.pixels().map(|pixels| Pixels::clone(pixels))))
    }
}

/// Pictures of all views in progress; dropping it cancels them.
pub(super) struct FinePicture {
    receiver: mpsc::Receiver<Option<Vec<Pixels>>>,
    given_up: Arc<AtomicBool>,
}

impl Drop for FinePicture {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

impl FinePicture {
    /// Starts a worker that draws all subjects, each at `size` pixels.
    pub fn start(subjects: Vec<Subject>, size: [u32; 2]) -> Self {
        let (sender, receiver) = mpsc::channel();
        let given_up = Arc::new(AtomicBool::new(false));
        let wish = Arc::clone(&given_up);
        std::thread::spawn(move || {
            let all: Result<Option<Vec<_>>, _> = subjects.iter().map(|one| one.draw(size, &wish)).collect();
            let drawn = all.unwrap_or_else(|error| {
                // The coarser picture stays on display.
                tracing::warn!("no finer picture: {error}");
                None
            });
            // The channel is closed only when the picture was dropped.
            let _ = sender.send(drawn);
        });
        Self { receiver, given_up }
    }

    /// Returns the result once; no pictures if one of them could not be drawn.
    pub fn poll(&self) -> Option<Option<Vec<Pixels>>> {
        match self.receiver.try_recv() {
            Ok(drawn) => Some(drawn),
            Err(mpsc::TryRecvError::Empty) => None,
            Err(mpsc::TryRecvError::Disconnected) => Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::app::session::{picture::next_to_each_other, testing::session};

    #[test]
    fn it_is_as_large_as_asked_for_and_shows_what_the_window_does() {
        let session = session();
        let subject = session.subject(None).unwrap();
        let drawn = subject.draw([120, 90], &AtomicBool::new(false)).unwrap().unwrap();
        assert_eq!((drawn.size, drawn.rgba.len()), ([120, 90], 120 * 90 * 4));
        let at = |x: usize, y: usize| &drawn.rgba[4 * (y * 120 + x)..][..3];
        assert_ne!(at(60, 45), at(3, 3), "the box is in the middle");
        assert_eq!(subject.draw([120, 90], &AtomicBool::new(true)).unwrap(), None);
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
        let [own, beside] =
            [&own, &all[0]].map(|s| s.draw([120, 90], &AtomicBool::new(false)).unwrap().unwrap());
        let different = own.rgba.iter().zip(&beside.rgba).filter(|(a, b)| a.abs_diff(**b) > 40).count();
        assert!(different < own.rgba.len() / 20, "{different} of {}", own.rgba.len());
        let both = next_to_each_other(&[own.clone(), beside]);
        assert_eq!(both.size, [240, 90]);
        assert_eq!(both.rgba[..480], own.rgba[..480]);
        // At rest both views sharpen to the full resolution of their rectangles.
        session.camera.orbit(0.1, 0.0);
        session.picture.slow_down([100, 80], 5000.0);
        let start = Instant::now();
        while session.picture_size() != [50, 80] {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", session.picture_size());
            session.picture.slow_down([100, 80], 5000.0);
            session.draw(None, [50, 80], [2, 1]);
            std::thread::sleep(Duration::from_millis(5));
        }
        let size = |view: &crate::render::View| view.pixels().unwrap().size;
        assert_eq!(session.views_beside().map(size).collect::<Vec<_>>(), [[50, 80]]);
        session.apply(crate::ui::Command::ShowBeside(Vec::new()));
        assert!(session.subjects_beside().is_empty());
    }

    #[test]
    fn at_rest_a_slow_machine_sharpens_to_every_pixel() {
        let mut session = session();
        // As if a picture of this size took five seconds.
        session.picture.slow_down([320, 240], 5000.0);
        let start = Instant::now();
        session.draw(None, [320, 240], [1, 1]);
        assert!(session.picture_size()[0] < 200, "{:?}", session.picture_size());
        while session.picture_size() != [320, 240] {
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", session.picture_size());
            session.picture.slow_down([320, 240], 5000.0);
            assert!(session.wants_frames() || session.is_waiting(), "nobody asks for the next frame");
            session.draw(None, [320, 240], [1, 1]);
            std::thread::sleep(Duration::from_millis(5));
        }
        let size = session.view().and_then(|view| view.pixels().map(|pixels| pixels.size));
        assert_eq!(size, Some([320, 240]));
        assert!(!session.draw(None, [320, 240], [1, 1]), "and then nothing is drawn");
        session.camera.orbit(0.3, 0.0);
        session.draw(None, [320, 240], [1, 1]);
        assert!(session.picture_size()[0] < 200, "what moves is coarse again");
    }
}
