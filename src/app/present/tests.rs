//! What the cores draw against what the adapter draws, on the window's own style, and frame by frame against all at
//! once.

use std::sync::Arc;

use egui::{Color32, Pos2, Rect, Vec2, epaint::ClippedShape};

use super::{Panels, area::Area, canvas::Canvas, device::Painter};
use crate::{
    gpu::Gpu,
    render::{Pixels, View},
    ui::theme,
};

const SIZE: [u32; 2] = [420, 360];

/// Panels with all kinds of widgets at `scale` pixels a point; `k` moves some of them.
struct Form {
    context: egui::Context,
    scale: f32,
    events: Vec<egui::Event>,
}

impl Form {
    fn new(scale: f32) -> Self {
        let context = egui::Context::default();
        theme::apply(&context);
        Self { context, scale, events: Vec::new() }
    }

    fn frame(&mut self, k: u32) -> egui::FullOutput {
        let mut input = egui::RawInput {
            screen_rect: Some(Rect::from_min_size(
                Pos2::ZERO,
                Vec2::new(SIZE[0] as f32, SIZE[1] as f32) / self.scale,
            )),
            time: Some(f64::from(k) * 0.05),
            events: std::mem::take(&mut self.events),
            ..egui::RawInput::default()
        };
        let viewport = input.viewports.entry(egui::ViewportId::ROOT).or_default();
        viewport.native_pixels_per_point = Some(self.scale);
        self.context.run_ui(input, |ui| {
            egui::Panel::left("left").exact_size(150.0).frame(theme::panel_frame()).show(ui, |ui| {
                ui.label(format!("frame {k}"));
                ui.add(egui::Slider::new(&mut f64::from(k % 7), 0.0..=7.0));
                ui.checkbox(&mut k.is_multiple_of(2), "even");
                let _ = ui.button("A button");
                ui.add(egui::ProgressBar::new(0.1 * (k % 10) as f32));
                if k % 3 == 1 {
                    ui.label("comes and goes");
                }
                ui.text_edit_singleline(&mut String::from("text"));
                let _ = ui.radio(k % 5 < 2, "a circle");
            });
            egui::CentralPanel::no_frame().show(ui, |ui| {
                let painter = ui.painter();
                let middle = egui::pos2(220.0 + k as f32, 60.0);
                painter.circle(middle, 20.3, theme::GOLD.gamma_multiply(0.4), (1.5, theme::GOLD));
                painter
                    .line_segment([egui::pos2(160.0, 20.0), egui::pos2(250.0, 97.0)], (2.0, Color32::WHITE));
                painter.rect_filled(
                    Rect::from_min_size(egui::pos2(180.0, 100.0), Vec2::new(60.5, 20.25)),
                    6.0,
                    Color32::from_rgba_unmultiplied(22, 23, 26, 200),
                );
            });
        })
    }
}

fn place() -> Rect {
    Rect::from_min_max(egui::pos2(160.0, 0.0), egui::pos2(SIZE[0] as f32, SIZE[1] as f32))
}

fn picture(k: u32) -> Arc<Pixels> {
    let size = [65 + k % 2, 90];
    // Opaque, as the window's pictures are.
    let byte = |i: u32| if i % 4 == 3 { 255 } else { ((i / 4 * 3 + i % 4 * 50 + k * 11) % 256) as u8 };
    let rgba = (0..size[0] * size[1] * 4).map(byte).collect();
    Arc::new(Pixels { size, rgba })
}

/// The same by egui-wgpu.
struct Adapter {
    gpu: Gpu,
    painter: Painter,
}

impl Adapter {
    fn draw(&mut self, panels: Panels<'_>, picture: &Pixels) -> Vec<u8> {
        let texture = |size: [u32; 2], usage| {
            self.gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("test"),
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage,
                view_formats: &[],
            })
        };
        let target = texture(SIZE, wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC);
        let source =
            texture(picture.size, wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST);
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * picture.size[0]),
            rows_per_image: None,
        };
        self.gpu.queue.write_texture(source.as_image_copy(), &picture.rgba, layout, source.size());
        let [target, source] =
            [target, source].map(|t| t.create_view(&wgpu::TextureViewDescriptor::default()));
        self.painter.draw(&self.gpu, Some(&target), SIZE, panels, &[(&source, place())]);
        View::Texture(target).read(&self.gpu).unwrap().rgba.clone()
    }
}

fn bytes(canvas: &Canvas) -> Vec<u8> {
    let rgba = |pixel: &u32| {
        let [_, r, g, b] = pixel.to_be_bytes();
        [r, g, b, 255]
    };
    canvas.pixels().iter().flat_map(rgba).collect()
}

/// Share of channels that differ by more than `limit`, and the largest difference.
fn off(a: &[u8], b: &[u8], limit: u8) -> (f64, u8) {
    assert_eq!(a.len(), b.len());
    let differences: Vec<u8> = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).collect();
    let beyond = differences.iter().filter(|d| **d > limit).count();
    (beyond as f64 / a.len() as f64, differences.into_iter().max().unwrap_or(0))
}

#[test]
fn the_cores_draw_what_the_adapter_draws() {
    let Some(gpu) = Gpu::for_test() else { return };
    for scale in [1.0, 1.5, 2.0] {
        let mut form = Form::new(scale);
        let mut canvas = Canvas::default();
        canvas.resize(SIZE);
        let painter = Painter::new(&gpu, wgpu::TextureFormat::Rgba8Unorm);
        let mut adapter = Adapter { gpu: gpu.clone(), painter };
        for k in 0..4 {
            let full = form.frame(k);
            let panels = |context| Panels {
                context,
                shapes: full.shapes.clone(),
                textures: full.textures_delta.clone(),
                scale,
            };
            canvas.draw(panels(&form.context), &[(&picture(k), place())]);
            let native = bytes(&canvas);
            let wanted = adapter.draw(panels(&form.context), &picture(k));
            let (share, most) = off(&native, &wanted, 3);
            println!("scale {scale}, frame {k}: {:.3} % off by more than 3, at most {most}", share * 100.0);
            // Where a soft edge passes a pixel's middle, rasterisers differ.
            assert!(
                share < 2e-3,
                "scale {scale}, frame {k}: {share} of the channels are off, by {most} at the most"
            );
            // A pixel that was moved by one would show.
            let mut planted = native.clone();
            planted.rotate_right(4);
            assert!(off(&planted, &wanted, 3).0 > 0.01);
        }
    }
}

fn share(areas: &[Area]) -> f64 {
    let pixels = |a: &Area| f64::from(a.max[0] - a.min[0]) * f64::from(a.max[1] - a.min[1]);
    areas.iter().map(pixels).sum::<f64>() / f64::from(SIZE[0] * SIZE[1])
}

#[test]
fn what_is_kept_is_what_would_be_drawn() {
    let mut form = Form::new(1.0);
    let mut kept = Canvas::default();
    kept.resize(SIZE);
    let mut latest = picture(0);
    let mut drawn = Vec::new();
    let mut all = egui::TexturesDelta::default();
    for k in 0..24 {
        if k == 9 {
            form.events.push(egui::Event::PointerMoved(egui::pos2(40.0, 80.0)));
        }
        let full = form.frame(k);
        for (id, deltas) in full.textures_delta.set.clone() {
            all.set.entry(id).or_default().extend(deltas);
        }
        let shapes: Vec<ClippedShape> = full.shapes.clone();
        // Some frames have a new picture, and some have none at all.
        if k % 3 == 0 {
            latest = picture(k);
        }
        let shown = (k % 8 != 7).then_some(&latest);
        // And some have two, next to each other.
        let (left, right) = place().split_left_right_at_fraction(0.5);
        let places = if k > 15 { vec![left, right] } else { vec![place()] };
        let place: Vec<_> = places.into_iter().filter_map(|place| Some((shown?, place))).collect();
        let areas = kept.draw(
            Panels { context: &form.context, shapes: full.shapes, textures: full.textures_delta, scale: 1.0 },
            &place,
        );
        let mut anew = Canvas::default();
        anew.resize(SIZE);
        let textures = all.clone();
        anew.draw(Panels { context: &form.context, shapes, textures, scale: 1.0 }, &place);
        let wrong = kept.pixels().iter().zip(anew.pixels()).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "frame {k}: pixels that were kept have changed");
        drawn.push(share(&areas));
    }
    println!("shares of the window that were drawn: {drawn:.2?}");
    assert!(drawn[0] == 1.0 && drawn.iter().any(|share| *share < 0.2), "{drawn:?}");
}
