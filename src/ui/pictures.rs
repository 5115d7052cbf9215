//! Pictures on buttons: a cache of textures, and a picture button with its name.

use std::sync::Arc;

use egui::{Sense, Stroke, StrokeKind, Vec2};

use super::theme;
use crate::render::Pixels;

/// Height of the name below a picture, points.
const NAME: f32 = 16.0;

/// Textures of pictures, by the picture's pixels.
#[derive(Default)]
pub(super) struct Textures(Vec<(Arc<Pixels>, egui::TextureHandle)>);

impl Textures {
    /// Frees the textures of pictures that are no longer shown.
    pub fn keep(&mut self, is_shown: impl Fn(&Arc<Pixels>) -> bool) {
        self.0.retain(|(pixels, _)| is_shown(pixels));
    }

    fn of(&mut self, ctx: &egui::Context, pixels: &Arc<Pixels>) -> egui::TextureId {
        if let Some((_, texture)) = self.0.iter().find(|(known, _)| Arc::ptr_eq(known, pixels)) {
            return texture.id();
        }
        let size = pixels.size.map(|side| side as usize);
        let image = egui::ColorImage::from_rgba_unmultiplied(size, &pixels.rgba);
        let texture = ctx.load_texture("picture", image, egui::TextureOptions::LINEAR);
        let id = texture.id();
        self.0.push((Arc::clone(pixels), texture));
        id
    }
}

/// A picture button of `size` points with its name below.
pub(super) fn tile(
    ui: &mut egui::Ui,
    textures: &mut Textures,
    (name, picture): (&str, Option<&Arc<Pixels>>),
    size: Vec2,
    chosen: Option<bool>,
) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(size + egui::vec2(0.0, NAME), Sense::click());
    response.widget_info(|| match chosen {
        Some(chosen) => egui::WidgetInfo::selected(egui::Role::RadioButton, true, chosen, name),
        None => egui::WidgetInfo::labeled(egui::Role::Button, true, name),
    });
    if ui.is_rect_visible(rect) {
        let frame = egui::Rect::from_min_size(rect.min, size);
        match picture {
            Some(pixels) => {
                let id = textures.of(ui.ctx(), pixels);
                egui::Image::from_texture((id, size)).corner_radius(4).paint_at(ui, frame);
            }
            None => {
                ui.painter().rect_filled(frame, 4.0, ui.visuals().widgets.inactive.bg_fill);
            }
        }
        let chosen = chosen == Some(true);
        let edge = match (chosen, response.hovered()) {
            (true, _) => Stroke::new(2.0, theme::GOLD),
            (false, true) => Stroke::new(1.0, theme::TEXT),
            (false, false) => Stroke::NONE,
        };
        ui.painter().rect_stroke(frame, 4.0, edge, StrokeKind::Inside);
        let color = if chosen { theme::GOLD } else { theme::DIM };
        let font = egui::FontId::proportional(10.5);
        let mut job = egui::text::LayoutJob::simple_singleline(name.to_owned(), font, color);
        job.wrap = egui::text::TextWrapping::truncate_at_width(size.x + 4.0);
        let galley = ui.painter().layout_job(job);
        let at = egui::pos2(rect.center().x - galley.size().x / 2.0, frame.bottom() + 1.0);
        ui.painter().galley(at, galley, color);
    }
    response
}
