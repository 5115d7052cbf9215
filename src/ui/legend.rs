//! A legend or a scale bar over the picture, on a dark panel.

use egui::{FontId, Pos2, Rect, Vec2, vec2};

use super::theme;
use crate::scene::{Legend, Plate, scale_bar};

/// Height of a line of text, points, and the size of its letters as a share of that.
const LINE: f32 = 13.5;
const LETTERS: f32 = 0.86;

/// Paints a legend with the right and top of its panel at `corner`. Returns the panel's rectangle.
pub(super) fn paint(painter: &egui::Painter, corner: Pos2, legend: &Legend) -> Rect {
    let plate = legend.plate(LINE, ink(), |text, height| lay_out(painter, text, height).size().x);
    put(painter, &plate, |size| corner - vec2(size.x, 0.0))
}

/// Paints a scale bar with the right and bottom of its panel at `corner`, at most `longest` points long. Returns the panel's
/// rectangle, which is empty where there is no such bar.
pub(super) fn paint_bar(
    painter: &egui::Painter,
    corner: Pos2,
    (metres_per_point, longest): (f64, f32),
) -> Rect {
    let width = |text: &str, height: f32| lay_out(painter, text, height).size().x;
    let plate = scale_bar(metres_per_point, longest, LINE, ink(), width);
    if plate == Plate::default() {
        return Rect::from_min_size(corner, Vec2::ZERO);
    }
    put(painter, &plate, |size| corner - size)
}

fn ink() -> [u8; 3] {
    let [red, green, blue, _] = theme::TEXT.to_array();
    [red, green, blue]
}

fn lay_out(painter: &egui::Painter, text: &str, height: f32) -> std::sync::Arc<egui::Galley> {
    painter.layout_no_wrap(text.to_owned(), FontId::proportional(LETTERS * height), theme::TEXT)
}

/// Paints a plate on a panel, whose left and top `at` gives for its size. Returns the panel's rectangle.
fn put(painter: &egui::Painter, plate: &Plate, at: impl Fn(Vec2) -> Pos2) -> Rect {
    let frame = theme::float_frame(theme::DIM.gamma_multiply(0.35));
    let margin = frame.total_margin();
    let start = at(Vec2::from(plate.size) + margin.sum()) + margin.left_top();
    let content = Rect::from_min_size(start, plate.size.into());
    painter.add(frame.paint(content));
    for fill in &plate.fills {
        let [left, top, width, height] = fill.rect;
        let [red, green, blue, alpha] = fill.color;
        let rect = Rect::from_min_size(start + vec2(left, top), vec2(width, height));
        painter.rect_filled(rect, 0.0, egui::Color32::from_rgba_unmultiplied(red, green, blue, alpha));
    }
    for text in &plate.texts {
        let galley = lay_out(painter, &text.text, text.height);
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
    fn a_scale_bar_lies_on_its_panel_and_has_the_length_that_it_says() {
        let context = egui::Context::default();
        theme::apply(&context);
        let screen = Rect::from_min_size(Pos2::ZERO, vec2(500.0, 500.0));
        let (mut panel, corner) = (Rect::NOTHING, egui::pos2(440.0, 460.0));
        let input = egui::RawInput { screen_rect: Some(screen), ..egui::RawInput::default() };
        // 3 mm a point: 100 points are 300 mm, so the bar has 20 cm and 66.7 points.
        let mut full = context.run_ui(input, |ui| panel = paint_bar(ui.painter(), corner, (0.003, 100.0)));
        full.textures_delta.clear();
        assert!((panel.right_bottom() - corner).length() < 0.01, "{panel:?}");
        let shapes: Vec<&egui::Shape> = full.shapes.iter().map(|clipped| &clipped.shape).collect();
        let says =
            |shape: &&&egui::Shape| matches!(shape, egui::Shape::Text(text) if text.galley.text() == "20 cm");
        assert_eq!(shapes.iter().filter(says).count(), 1);
        let mut widths = shapes.iter().filter_map(|shape| match shape {
            egui::Shape::Rect(of) => Some(of.rect.width()),
            _ => None,
        });
        assert!(widths.any(|width| (width - 200.0 / 3.0).abs() < 0.5), "no bar of 66.7 points");
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
