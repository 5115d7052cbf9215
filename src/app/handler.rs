//! winit's event handler for the one window.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use winit::{
    application::ApplicationHandler,
    dpi::{LogicalSize, PhysicalSize},
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy},
    window::{Window, WindowId},
};

use super::{
    AppError, AppOptions, Call, crashes,
    frame_log::FrameLog,
    present::{Panels, Presenter},
    session::Session,
    state_file::{StateFile, WindowState},
};
use crate::{
    gpu::{Gpu, GpuError, ms_since},
    scene::ReadScene,
    ui::{self, Command, NoticeKind, UiInput, UiOutput, UiState},
};

/// Size of the first window where the screen has room for it, points.
const FIRST_SIZE: [f64; 2] = [1280.0, 800.0];
/// The panels need this much, points. In a smaller window points shrink, see [`zoom_of`].
const LEAST_SIZE: [f64; 2] = [640.0, 480.0];
/// A screen with less room than this is no screen, but a system that tells nothing useful, points.
const LEAST_ROOM: f64 = 200.0;
/// Points shrink to this share at most, and stay legible.
const LEAST_ZOOM: f64 = 0.5;
/// Share of the screen's width that the first window takes at most.
const SCREEN_WIDTH: f64 = 0.92;
/// Height of the screen that a title bar and the desktop's own bars take, points.
const BARS: f64 = 70.0;
/// Interval at which worker threads are polled.
const ASK_WORKERS: Duration = Duration::from_millis(33);
/// Shortest time between two frames that no input caused. If the cores draw the window, no display limits the frame
/// rate.
const BETWEEN_FRAMES: Duration = Duration::from_millis(16);
/// A second device loss within this time moves the stages to the cores; [`MOST_LOSSES`] close the window.
const LOST_AGAIN: Duration = Duration::from_secs(20);
const MOST_LOSSES: usize = 5;

/// Size of the first window on a screen of this size, points.
fn first_size(screen: Option<[f64; 2]>) -> [f64; 2] {
    let [width, height] = screen.unwrap_or([f64::INFINITY; 2]);
    let room = [width * SCREEN_WIDTH, height - BARS];
    std::array::from_fn(|i| if room[i] < LEAST_ROOM { LEAST_SIZE[i] } else { FIRST_SIZE[i].min(room[i]) })
}

/// Size of a point, as a share of the system's, in a window of this size in the system's points: below 1 where the
/// panels would not fit otherwise, as on a screen of 1366 x 768 pixels at twice the scale.
fn zoom_of(size: [f64; 2]) -> f32 {
    (size[0] / LEAST_SIZE[0]).min(size[1] / LEAST_SIZE[1]).clamp(LEAST_ZOOM, 1.0) as f32
}

/// The winit application.
pub struct Handler {
    options: AppOptions,
    /// The scene to open first, until it has been opened.
    first: ReadScene,
    session: Session,
    shown: Option<Shown>,
    state_file: Option<StateFile>,
    frame_log: Option<FrameLog>,
    ui_state: UiState,
    started: Instant,
    lost_at: Vec<Instant>,
    frames: u64,
    /// Start of the last frame.
    frame_at: Instant,
    last_out: UiOutput,
    repaint_at: Option<Instant>,
    result: Result<(), AppError>,
    proxy: EventLoopProxy<Call>,
}

/// The window and its surface.
struct Shown {
    window: Arc<Window>,
    gpu: Gpu,
    presenter: Presenter,
    egui: egui_winit::State,
    adapter: String,
    title: String,
    /// What [`zoom_of`] said last.
    zoom: f32,
    /// Whether this handler requested the next frame, rather than the window system.
    has_asked: bool,
}

impl Handler {
    /// Nothing is open yet.
    pub fn new(
        options: AppOptions,
        first: ReadScene,
        frame_log: Option<FrameLog>,
        proxy: EventLoopProxy<Call>,
    ) -> Self {
        Self {
            first,
            state_file: options.state_file.as_deref().map(StateFile::new),
            frame_log,
            options,
            session: Session::new(),
            shown: None,
            ui_state: UiState::default(),
            started: Instant::now(),
            lost_at: Vec::new(),
            frames: 0,
            frame_at: Instant::now(),
            last_out: UiOutput::default(),
            repaint_at: None,
            result: Ok(()),
            proxy,
        }
    }

    /// The result after the event loop has ended.
    ///
    /// # Errors
    /// The error that closed the window.
    pub fn into_result(mut self) -> Result<(), AppError> {
        // Dropping thousands of octrees and undo steps takes long; the exiting process frees them at once.
        std::mem::forget(self.session.sandbox.take());
        self.result
    }

    fn open_window(&mut self, events: &ActiveEventLoop) -> Result<Shown, AppError> {
        let attributes = Window::default_attributes().with_title("Kintsugi");
        let attributes = match self.options.size {
            Some([w, h]) => attributes.with_inner_size(PhysicalSize::new(w, h)),
            None => {
                let monitor = events.primary_monitor().or_else(|| events.available_monitors().next());
                let screen = monitor.map(|monitor| {
                    let LogicalSize { width, height } = monitor.size().to_logical(monitor.scale_factor());
                    [width, height]
                });
                let first = first_size(screen);
                let least: [f64; 2] = std::array::from_fn(|i| LEAST_SIZE[i].min(first[i]));
                attributes
                    .with_inner_size(LogicalSize::<f64>::from(first))
                    .with_min_inner_size(LogicalSize::<f64>::from(least))
            }
        };
        let window = events.create_window(attributes).map_err(|e| AppError::Window(e.to_string()))?;
        let window = Arc::new(window);
        let display = Box::new(events.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let (gpu, presenter) = Presenter::open(wgpu::Instance::new(descriptor), &window)?;
        Ok(Self::dress(window, gpu, presenter))
    }

    fn dress(window: Arc<Window>, gpu: Gpu, presenter: Presenter) -> Shown {
        let context = egui::Context::default();
        ui::theme::apply(&context);
        let egui = egui_winit::State::new(
            context,
            egui::ViewportId::ROOT,
            &window,
            Some(window.scale_factor() as f32),
            Some(winit::window::Theme::Dark),
            Some(gpu.limits.max_texture_dimension_2d as usize),
        );
        let adapter = gpu.describe();
        Shown { window, gpu, presenter, egui, adapter, title: String::new(), zoom: 1.0, has_asked: false }
    }

    fn frame(&mut self, events: &ActiveEventLoop) {
        if let Some(log) = &mut self.frame_log {
            log.begin();
        }
        self.frame_at = Instant::now();
        crate::gpu::stop_here("window");
        self.session.poll();
        self.session.advance();
        let Some(shown) = &mut self.shown else {
            return;
        };
        if let Err(error) = shown.gpu.check() {
            if error.is_loss() {
                self.recover(events, error);
                return;
            }
            self.session.say(NoticeKind::Error, error.to_string());
        }
        if !shown.presenter.is_drawable() {
            return;
        }
        let title = self.session.window_title();
        if title != shown.title {
            shown.window.set_title(&title);
            shown.title = title;
        }
        let out = shown.draw(&mut self.session, &mut self.ui_state, &mut self.frames, &mut self.repaint_at);
        if let Some(out) = out {
            self.last_out = out;
            if let Some(log) = &mut self.frame_log {
                log.presented(&self.session);
            }
        }
        self.publish();
    }

    fn publish(&mut self) {
        if let (Some(file), Some(shown)) = (&mut self.state_file, &self.shown) {
            let window = WindowState {
                size: shown.presenter.size(),
                scale: shown.egui.egui_ctx().pixels_per_point(),
                frames: self.frames,
            };
            file.update(&self.session, &self.last_out, &window);
        }
    }

    /// Recovers from a lost device: the window continues on another device, and the stages run on the cores if that one
    /// is lost soon, too. If no device lasts, the window saves its contents and closes.
    fn recover(&mut self, events: &ActiveEventLoop, error: GpuError) {
        self.session.autosave(true);
        self.lost_at.retain(|at| at.elapsed() < LOST_AGAIN);
        self.lost_at.push(Instant::now());
        let losses = self.lost_at.len();
        let window = self.shown.take().map(|shown| shown.window);
        let (true, Some(window)) = (losses < MOST_LOSSES, window) else {
            self.result = Err(error.into());
            events.exit();
            return;
        };
        let display = Box::new(events.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        match Presenter::open(wgpu::Instance::new(descriptor), &window) {
            Ok((gpu, presenter)) => {
                self.session.recover(&gpu, &error, losses > 1);
                self.shown = Some(Self::dress(window, gpu, presenter));
            }
            Err(error) => {
                self.result = Err(error);
                events.exit();
            }
        }
    }
}

impl Shown {
    /// Requests a frame.
    fn ask(&mut self) {
        self.has_asked = true;
        self.window.request_redraw();
    }

    /// Draws one frame: panels, picture, present. `None` if there was no surface to draw into.
    fn draw(
        &mut self,
        session: &mut Session,
        ui_state: &mut UiState,
        frames: &mut u64,
        repaint_at: &mut Option<Instant>,
    ) -> Option<UiOutput> {
        let start = Instant::now();
        let context = self.egui.egui_ctx().clone();
        self.presenter.follow(&self.window);
        let scale = self.window.scale_factor();
        let zoom = zoom_of(self.presenter.size().map(|side| f64::from(side) / scale));
        if zoom != self.zoom {
            // Before the input is taken, which is in points. A zoom of the user's own (Ctrl and +) lasts until then.
            context.options_mut(|options| options.zoom_factor = zoom);
            self.zoom = zoom;
        }
        let input = self.egui.take_egui_input(&self.window);
        let mut out = UiOutput::default();
        let timings: Vec<_> = session.renderer.as_ref().map(|r| r.timings().to_vec()).unwrap_or_default();
        let full = context.run_ui(input, |root| {
            let earlier = session.earlier_sessions();
            let shown = UiInput {
                sandbox: session.sandbox.as_ref(),
                camera: session.camera,
                playing: session.playing(),
                replay: session.replay_view(),
                keymap: session.keymap(),
                pace: session.pace(),
                has_picture: session.view().is_some(),
                picture_size: session.picture_size(),
                written_size: session.written_size(),
                picture_progress: session.picture_progress(),
                frame_ms: session.frame_ms(),
                render_timings: &timings,
                notices: session.notices(),
                hover: session.hover(),
                tool: session.tool(),
                pin: session.pin_view(),
                over_cell: session.over_cell(),
                drag: session.drag_view(),
                speed: session.speed(),
                starting: session.starting(),
                hint: session.hint,
                tour: session.shows_tour(),
                earlier_sessions: &earlier,
                export: session.export_view(),
                sheet: session.sheet_view(),
                presets: session.presets(),
                prompt: session.path_prompt(),
                question: session.question(),
                adapter: &self.adapter,
                compute: session.compute(),
            };
            // The second layout pass sees the same input and must not repeat its commands.
            let again = ui::show(root, ui_state, &shown);
            out.commands.extend(again.commands);
            (out.rects, out.viewport) = (again.rects, again.viewport);
            (out.views, out.division) = (again.views, again.division);
        });
        self.egui.handle_platform_output(&self.window, full.platform_output);
        for command in std::mem::take(&mut out.commands) {
            session.apply(command);
        }
        if !context.input(|i| i.pointer.any_down()) {
            session.apply(Command::EndGesture);
        }
        let delay = full.viewport_output.get(&egui::ViewportId::ROOT).map(|v| v.repaint_delay);
        *repaint_at = delay.and_then(|delay| Instant::now().checked_add(delay));
        let panels_ms = ms_since(start);

        let scale = full.pixels_per_point;
        if let Some(viewport) = out.viewport {
            let side = |points: f32| (points * scale).round().max(0.0) as u32;
            let pixels = [side(viewport.width()), side(viewport.height())];
            let first = session.view().is_none();
            let gpu = (!self.presenter.takes_pixels()).then_some(&self.gpu);
            if pixels[0] > 0 && pixels[1] > 0 && session.draw(gpu, pixels, out.division) && first {
                // This frame's panels were laid out before the commands were applied.
                self.ask();
            }
        }
        let presenting = Instant::now();
        let panels = Panels { context: &context, shapes: full.shapes, textures: full.textures_delta, scale };
        let views = session.view().into_iter().chain(session.views_beside());
        let pictures: Vec<_> = views.zip(out.views.iter().map(|rect| *rect * scale)).collect();
        if self.presenter.present(&self.gpu, &self.window, panels, &pictures) {
            *frames += 1;
        }
        session.frame_took(ms_since(start), panels_ms, ms_since(presenting));
        Some(out)
    }
}

impl ApplicationHandler<Call> for Handler {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.shown.is_some() {
            return;
        }
        match self.open_window(events) {
            Ok(shown) => {
                self.session.remember_settings();
                self.session.look_for_news();
                let proxy = self.proxy.clone();
                // After the event loop nobody needs to be woken.
                crashes::window_opens(&shown.adapter, move || {
                    let _ = proxy.send_event(Call::Look);
                });
                self.session.start(&shown.gpu, self.options.compute, std::mem::take(&mut self.first));
                self.shown.insert(shown).ask();
            }
            Err(error) => {
                self.result = Err(error);
                events.exit();
            }
        }
    }

    fn user_event(&mut self, events: &ActiveEventLoop, call: Call) {
        match call {
            Call::Look => self.shown.iter_mut().for_each(Shown::ask),
            Call::End(signal) => {
                self.session.end();
                self.result = Err(AppError::Ended(signal));
                events.exit();
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _window: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else {
            return;
        };
        let response = shown.egui.on_window_event(&shown.window, &event);
        // A redraw must not request another one: egui-winit requests a repaint for every event that it does not know.
        if response.repaint && !matches!(event, WindowEvent::RedrawRequested) {
            shown.ask();
        }
        match event {
            WindowEvent::CloseRequested => {
                if self.session.may_close() {
                    events.exit();
                } else {
                    shown.ask();
                }
            }
            WindowEvent::Resized(size) => {
                shown.presenter.resize(&shown.gpu, [size.width, size.height]);
                shown.ask();
            }
            WindowEvent::ScaleFactorChanged { .. } => {
                let size = shown.window.inner_size();
                shown.presenter.resize(&shown.gpu, [size.width, size.height]);
                shown.ask();
            }
            WindowEvent::Occluded(false) => {
                shown.presenter.expose();
                shown.ask();
            }
            WindowEvent::DroppedFile(path) => {
                self.session.apply(Command::Open(path));
                shown.ask();
            }
            WindowEvent::RedrawRequested => {
                if !std::mem::take(&mut shown.has_asked) {
                    shown.presenter.expose();
                }
                self.frame(events);
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        if self.options.exit_after.is_some_and(|secs| self.started.elapsed().as_secs_f64() >= secs) {
            self.session.keep_at_last();
            events.exit();
            return;
        }
        self.session.autosave(false);
        if self.session.is_to_close() {
            events.exit();
            return;
        }
        let now = Instant::now();
        let Some(shown) = &mut self.shown else {
            return;
        };
        let drawable = shown.presenter.is_drawable() && shown.window.is_minimized() != Some(true);
        let mut wake: Option<Instant> = None;
        let mut wish = |at: Instant| wake = Some(wake.map_or(at, |w: Instant| w.min(at)));
        let paces_itself = shown.presenter.takes_pixels();
        let wants = drawable && (self.session.wants_frames() || self.repaint_at.is_some_and(|t| t <= now));
        let soonest = if !wants && !self.session.waits_for_more_than_a_picture() {
            // A worker that refines the picture needs the cores that frames without news would take from it.
            self.frame_at + ASK_WORKERS
        } else if paces_itself {
            self.frame_at + BETWEEN_FRAMES
        } else {
            now
        };
        if wants || self.session.is_waiting() {
            if soonest <= now {
                shown.ask();
            }
            wish(if soonest <= now { now + ASK_WORKERS } else { soonest });
        }
        if let Some(at) = self.repaint_at.filter(|t| *t > now && *t < now + Duration::from_secs(3600)) {
            wish(at);
        }
        if let Some(at) = self.session.next_wish() {
            if at <= now {
                shown.ask();
            }
            wish(at.max(now + ASK_WORKERS));
        }
        if let Some(secs) = self.options.exit_after {
            wish(self.started + Duration::from_secs_f64(secs.clamp(0.0, 1e6)));
        }
        if let Some(due) = self.state_file.as_ref().map(StateFile::due) {
            if due <= now {
                self.publish();
            }
            wish(due.max(now + Duration::from_millis(20)));
        }
        events.set_control_flow(wake.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_window_fits_the_screen() {
        assert_eq!(first_size(None), FIRST_SIZE);
        assert_eq!(first_size(Some([2560.0, 1440.0])), FIRST_SIZE);
        // 3840 x 2160 at 200 %: as large as on a common screen, of twice as many pixels a side.
        assert_eq!(first_size(Some([3840.0, 2160.0].map(|pixels| pixels / 2.0))), FIRST_SIZE);
        for (screen, height) in [
            ([1366.0, 768.0], 698.0),
            // 1080p at 150 %.
            ([1280.0, 720.0], 650.0),
            // 1080p at 200 %.
            ([960.0, 540.0], 470.0),
            // 1366 x 768 at 200 %.
            ([683.0, 384.0], 314.0),
        ] {
            let size = first_size(Some(screen));
            assert_eq!(size[1], height, "{screen:?}");
            let share = size[0] / screen[0];
            assert!((0.9..0.95).contains(&share) && size[1] + 40.0 <= screen[1], "{size:?} of {screen:?}");
        }
        // Some systems tell nothing useful of a screen.
        assert_eq!(first_size(Some([0.0, 0.0])), LEAST_SIZE);
    }

    #[test]
    fn the_panels_have_the_points_that_they_need_in_any_window() {
        for screen in [[2560.0, 1440.0], [1920.0, 1080.0], [1366.0, 768.0], [960.0, 540.0], [683.0, 384.0]] {
            let size = first_size(Some(screen));
            let points = size.map(|side| side / f64::from(zoom_of(size)));
            assert!((0..2).all(|i| points[i] > LEAST_SIZE[i] - 0.01), "{points:?} on {screen:?}");
        }
        assert_eq!((zoom_of(FIRST_SIZE), zoom_of(LEAST_SIZE), zoom_of([1.0, 1.0])), (1.0, 1.0, 0.5));
    }
}
