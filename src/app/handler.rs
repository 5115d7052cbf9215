//! winit's events to frames: one handler, one window.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use winit::{
    application::ApplicationHandler,
    dpi::PhysicalSize,
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow},
    window::{Window, WindowId},
};

use super::{
    AppError, AppOptions,
    frame_log::FrameLog,
    session::Session,
    state_file::{StateFile, WindowState},
    surface::{Next, WindowSurface},
};
use crate::{
    gpu::{Gpu, GpuError},
    render::Blit,
    scene::ReadScene,
    ui::{self, Command, NoticeKind, UiInput, UiOutput, UiState},
};

/// Size of the first window, points.
const FIRST_SIZE: [u32; 2] = [1280, 800];
/// How often worker threads are asked.
const ASK_WORKERS: Duration = Duration::from_millis(33);
/// A second loss of the device within this time is final.
const LOST_AGAIN: Duration = Duration::from_secs(20);

/// The program while its window is open.
pub struct Handler {
    options: AppOptions,
    /// What opens first, until it does.
    first: ReadScene,
    session: Session,
    shown: Option<Shown>,
    state_file: Option<StateFile>,
    frame_log: Option<FrameLog>,
    ui_state: UiState,
    started: Instant,
    lost_at: Option<Instant>,
    frames: u64,
    last_out: UiOutput,
    repaint_at: Option<Instant>,
    result: Result<(), AppError>,
}

/// The window and what draws into it.
struct Shown {
    window: Arc<Window>,
    gpu: Gpu,
    surface: WindowSurface,
    egui: egui_winit::State,
    painter: egui_wgpu::Renderer,
    blit: Blit,
    adapter: String,
}

impl Handler {
    /// Nothing is open yet.
    pub fn new(options: AppOptions, first: ReadScene, frame_log: Option<FrameLog>) -> Self {
        Self {
            first,
            state_file: options.state_file.as_deref().map(StateFile::new),
            frame_log,
            options,
            session: Session::new(),
            shown: None,
            ui_state: UiState::default(),
            started: Instant::now(),
            lost_at: None,
            frames: 0,
            last_out: UiOutput::default(),
            repaint_at: None,
            result: Ok(()),
        }
    }

    /// How it ended.
    ///
    /// # Errors
    /// What closed the window before the user did.
    pub fn into_result(self) -> Result<(), AppError> {
        self.result
    }

    fn open_window(&mut self, events: &ActiveEventLoop) -> Result<Shown, AppError> {
        let attributes = Window::default_attributes().with_title("Kintsugi");
        let attributes = match self.options.size {
            Some([w, h]) => attributes.with_inner_size(PhysicalSize::new(w, h)),
            None => attributes.with_inner_size(winit::dpi::LogicalSize::new(FIRST_SIZE[0], FIRST_SIZE[1])),
        };
        let window = events.create_window(attributes).map_err(|e| AppError::Window(e.to_string()))?;
        let window = Arc::new(window);
        let display = Box::new(events.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let (gpu, surface) = WindowSurface::open(wgpu::Instance::new(descriptor), &window)?;
        Ok(Self::dress(window, gpu, surface))
    }

    fn dress(window: Arc<Window>, gpu: Gpu, surface: WindowSurface) -> Shown {
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
        // The panels are flat colours: nothing there that noise could smooth, and a software adapter pays for
        // it at every pixel.
        let options = egui_wgpu::RendererOptions { dithering: false, ..Default::default() };
        let painter = egui_wgpu::Renderer::new(&gpu.device, surface.format(), options);
        let blit = Blit::new(&gpu, surface.format());
        let adapter = gpu.describe();
        Shown { window, gpu, surface, egui, painter, blit, adapter }
    }

    fn frame(&mut self, events: &ActiveEventLoop) {
        if let Some(log) = &mut self.frame_log {
            log.begin();
        }
        self.session.poll();
        self.session.advance();
        let Some(shown) = &mut self.shown else {
            return;
        };
        if let Err(error) = shown.gpu.check() {
            if shown.gpu.is_lost() {
                self.recover(events, error);
                return;
            }
            self.session.say(NoticeKind::Error, error.to_string());
        }
        if !shown.surface.is_drawable() {
            return;
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
                size: shown.surface.size(),
                scale: shown.egui.egui_ctx().pixels_per_point(),
                frames: self.frames,
            };
            file.update(&self.session, &self.last_out, &window);
        }
    }

    /// The device is gone: once, everything is made anew and the scene opened again; twice, the scene is
    /// saved and that is it.
    fn recover(&mut self, events: &ActiveEventLoop, error: GpuError) {
        self.session.save_now();
        let again = self.lost_at.replace(Instant::now()).is_some_and(|t| t.elapsed() < LOST_AGAIN);
        let scene = self.session.scene_to_keep();
        let window = self.shown.take().map(|shown| shown.window);
        let (false, Some(window)) = (again, window) else {
            self.result = Err(error.into());
            events.exit();
            return;
        };
        let display = Box::new(events.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        match WindowSurface::open(wgpu::Instance::new(descriptor), &window) {
            Ok((gpu, surface)) => {
                self.session.say(NoticeKind::Error, format!("{error}; the scene was opened again"));
                self.session.start(&gpu, self.options.compute, scene);
                self.shown = Some(Self::dress(window, gpu, surface));
            }
            Err(error) => {
                self.result = Err(error);
                events.exit();
            }
        }
    }
}

impl Shown {
    /// One frame: panels, picture, present. `None` when there was nothing to draw into.
    fn draw(
        &mut self,
        session: &mut Session,
        ui_state: &mut UiState,
        frames: &mut u64,
        repaint_at: &mut Option<Instant>,
    ) -> Option<UiOutput> {
        let start = Instant::now();
        let context = self.egui.egui_ctx().clone();
        let input = self.egui.take_egui_input(&self.window);
        let mut out = UiOutput::default();
        let timings: Vec<_> = session.renderer.as_ref().map(|r| r.timings().to_vec()).unwrap_or_default();
        let full = context.run_ui(input, |root| {
            let shown = UiInput {
                sandbox: session.sandbox.as_ref(),
                camera: session.camera,
                playing: session.playing(),
                pace: session.pace(),
                has_picture: session.view().is_some(),
                picture_size: session.picture_size(),
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
                export: session.export_view(),
                adapter: &self.adapter,
                compute: session.compute(),
            };
            // A second pass over one input must not repeat its commands.
            let again = ui::show(root, ui_state, &shown);
            out.commands.extend(again.commands);
            (out.rects, out.viewport) = (again.rects, again.viewport);
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
            if pixels[0] > 0 && pixels[1] > 0 && session.draw(&self.gpu, pixels) && first {
                // The panels of this frame did not know it yet.
                self.window.request_redraw();
            }
        }
        let presenting = Instant::now();
        for (id, deltas) in &full.textures_delta.set {
            for delta in deltas {
                self.painter.update_texture(&self.gpu.device, &self.gpu.queue, *id, delta);
            }
        }
        let jobs = context.tessellate(full.shapes, scale);
        let place = out.viewport.map(|rect| rect * scale);
        let presented = self.present(&jobs, scale, session.view().zip(place));
        for id in &full.textures_delta.free {
            self.painter.free_texture(id);
        }
        if presented {
            *frames += 1;
        }
        session.frame_took(ms_since(start), panels_ms, ms_since(presenting));
        Some(out)
    }

    /// Puts the picture where it belongs, in pixels, and the panels over it.
    fn present(
        &mut self,
        jobs: &[egui::ClippedPrimitive],
        scale: f32,
        picture: Option<(&wgpu::TextureView, egui::Rect)>,
    ) -> bool {
        let Next::Draw(texture) = self.surface.next(&self.gpu, &self.window) else {
            return false;
        };
        let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let screen =
            egui_wgpu::ScreenDescriptor { size_in_pixels: self.surface.size(), pixels_per_point: scale };
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("window") };
        let mut encoder = self.gpu.device.create_command_encoder(&descriptor);
        let mut buffers =
            self.painter.update_buffers(&self.gpu.device, &self.gpu.queue, &mut encoder, jobs, &screen);
        {
            let mut pass = encoder
                .begin_render_pass(&wgpu::RenderPassDescriptor {
                    label: Some("window"),
                    color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                        view: &view,
                        depth_slice: None,
                        resolve_target: None,
                        ops: wgpu::Operations {
                            load: wgpu::LoadOp::Clear(clear_color(self.surface.format())),
                            store: wgpu::StoreOp::Store,
                        },
                    })],
                    ..wgpu::RenderPassDescriptor::default()
                })
                .forget_lifetime();
            let [width, height] = self.surface.size().map(|side| side as f32);
            let window = egui::Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(width, height));
            if let Some((picture, place)) = picture
                && let place = place.round().intersect(window)
                && place.is_positive()
            {
                pass.set_viewport(place.left(), place.top(), place.width(), place.height(), 0.0, 1.0);
                if let Err(error) = self.blit.draw(&self.gpu, &mut pass, picture, true) {
                    tracing::error!("the picture is not shown: {error}");
                }
            }
            self.painter.render(&mut pass, jobs, &screen);
        }
        buffers.push(encoder.finish());
        self.gpu.queue.submit(buffers);
        self.window.pre_present_notify();
        self.gpu.queue.present(texture);
        true
    }
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// [`ui::theme::CLEAR`] as a surface of `format` takes it.
fn clear_color(format: wgpu::TextureFormat) -> wgpu::Color {
    let channel = |byte: u8| {
        let c = f64::from(byte) / 255.0;
        if format.is_srgb() { ((c + 0.055) / 1.055).powf(2.4) } else { c }
    };
    let [r, g, b] = ui::theme::CLEAR.map(channel);
    wgpu::Color { r, g, b, a: 1.0 }
}

impl ApplicationHandler for Handler {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.shown.is_some() {
            return;
        }
        match self.open_window(events) {
            Ok(shown) => {
                self.session.set_earlier_aside();
                self.session.start(&shown.gpu, self.options.compute, std::mem::take(&mut self.first));
                shown.window.request_redraw();
                self.shown = Some(shown);
            }
            Err(error) => {
                self.result = Err(error);
                events.exit();
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _window: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else {
            return;
        };
        let response = shown.egui.on_window_event(&shown.window, &event);
        if response.repaint {
            shown.window.request_redraw();
        }
        match event {
            WindowEvent::CloseRequested => {
                self.session.autosave(true);
                events.exit();
            }
            WindowEvent::Resized(size) => {
                shown.surface.resize(&shown.gpu, size.width, size.height);
                shown.window.request_redraw();
            }
            WindowEvent::ScaleFactorChanged { .. } => {
                let size = shown.window.inner_size();
                shown.surface.resize(&shown.gpu, size.width, size.height);
                shown.window.request_redraw();
            }
            WindowEvent::Occluded(false) => shown.window.request_redraw(),
            WindowEvent::DroppedFile(path) => {
                self.session.apply(Command::Open(path));
                shown.window.request_redraw();
            }
            WindowEvent::RedrawRequested => self.frame(events),
            _ => {}
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        if self.options.exit_after.is_some_and(|secs| self.started.elapsed().as_secs_f64() >= secs) {
            self.session.autosave(true);
            events.exit();
            return;
        }
        self.session.autosave(false);
        let now = Instant::now();
        let Some(shown) = &self.shown else {
            return;
        };
        let drawable = shown.surface.is_drawable() && shown.window.is_minimized() != Some(true);
        let mut wake: Option<Instant> = None;
        let mut wish = |at: Instant| wake = Some(wake.map_or(at, |w: Instant| w.min(at)));
        if drawable && (self.session.wants_frames() || self.repaint_at.is_some_and(|t| t <= now)) {
            shown.window.request_redraw();
        }
        if let Some(at) = self.repaint_at.filter(|t| *t > now && *t < now + Duration::from_secs(3600)) {
            wish(at);
        }
        if let Some(at) = self.session.next_wish() {
            if at <= now {
                shown.window.request_redraw();
            }
            wish(at.max(now + ASK_WORKERS));
        }
        if self.session.is_waiting() {
            shown.window.request_redraw();
            wish(now + ASK_WORKERS);
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
