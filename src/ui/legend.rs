//! A legend over the picture, on a dark panel.

use egui::{FontId, Pos2, Rect, vec2};

use super::theme;
use crate::scene::Legend;

/// Height of a line of text, points, and the size of its letters as a share of that.
const LINE: f32 = 13.5;
const LETTERS: f32 = 0.86;

/// Paints a legend with the right and top of its panel at `corner`. Returns the panel's rectangle.
pub(super) fn paint(painter: &egui::Painter, corner: Pos2, legend: &Legend) -> Rect {
    let lay_out = |text: &str, height: f32| {
        painter.layout_no_wrap(text.to_owned(), FontId::proportional(LETTERS * height), theme::TEXT)
    };
    let [red, green, blue, _] = theme::TEXT.to_array();
    let plate = legend.plate(LINE, [red, green, blue], |text, height| lay_out(text, height).size().x);
    let frame = theme::float_frame(theme::DIM.gamma_multiply(0.35));
    let margin = frame.total_margin();
    let start = corner + vec2(-margin.right - plate.size[0], margin.top);
    let content = Rect::from_min_size(start, plate.size.into());
    painter.add(frame.paint(content));
    for fill in &plate.fills {
        let [left, top, width, height] = fill.rect;
        let [red, green, blue, alpha] = fill.color;
        let rect = Rect::from_min_size(start + vec2(left, top), vec2(width, height));
        painter.rect_filled(rect, 0.0, egui::Color32::from_rgba_unmultiplied(red, green, blue, alpha));
    }
    for text in &plate.texts {
        let galley = lay_out(&text.text, text.height);
        // A line of egui's is not as high as a line of the plate.
        let lower = 0.5 * (text.height - galley.size().y);
        painter.galley(start + vec2(text.at[0], text.at[1] + lower), galley, theme::TEXT);
    }
    frame.outer_rect(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Key, Scale};

    /// Paints a legend in a window, and returns the panel and the bounds of every shape.
    fn painted(legend: &Legend, corner: Pos2) -> (Rect, Vec<Rect>) {
        let context = egui::Context::default();
        theme::apply(&context);
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(500.0, 500.0));
        let mut panel = Rect::NOTHING;
        let input = egui::RawInput { screen_rect: Some(screen), ..egui::RawInput::default() };
        let mut full = context.run_ui(input, |ui| panel = paint(ui.painter(), corner, legend));
        full.textures_delta.clear();
        (panel, full.shapes.iter().map(|clipped| clipped.shape.visual_bounding_rect()).collect())
    }

    #[test]
    fn all_of_a_legend_lies_on_its_panel() {
        let range = Scale::default().over([0.0, 123_456.0]).unwrap();
        let shown = vec![("whole".to_owned(), [9, 9, 9]), ("a piece with a long name".to_owned(), [1, 2, 3])];
        for key in [Key::Numbers(range), Key::Categories { shown, more: 12 }] {
            let legend = Legend { title: "Distance to the impact".into(), unit: "m".into(), key };
            let corner = egui::pos2(440.0, 60.0);
            let (panel, shapes) = painted(&legend, corner);
            assert!((panel.right_top() - corner).length() < 0.01, "{panel:?}");
            let on_panel: Vec<&Rect> = shapes.iter().filter(|rect| rect.intersects(panel)).collect();
            assert!(on_panel.len() > 5, "{} shapes", on_panel.len());
            let room = panel.expand(0.5);
            // A window's own background lies below all.
            let beyond =
                on_panel.iter().find(|rect| !room.contains_rect(***rect) && !rect.contains_rect(panel));
            assert_eq!(beyond, None, "{legend:?}; a panel without margins shows this");
        }
    }
}
