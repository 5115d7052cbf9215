//! Colours and sizes: dark surfaces with gold as the accent, like the seams.

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, style::NumberFormatter};

/// Width of a side panel, points.
pub const PANEL_WIDTH: f32 = 288.0;
/// Inner margin of the panels, points.
pub const MARGIN: f32 = 12.0;
/// Width of a row inside a side panel, points; the scroll bar floats in the margin beside it.
pub const ROW: f32 = PANEL_WIDTH - 2.0 * MARGIN - 4.0;
/// Margin on the right of a side panel beyond the scroll bar, points.
const BEYOND: i8 = 2;
/// Accent colour.
pub const GOLD: Color32 = Color32::from_rgb(224, 178, 92);
/// Text colour.
pub const TEXT: Color32 = Color32::from_rgb(222, 222, 218);
/// Colour of labels and remarks.
pub const DIM: Color32 = Color32::from_rgb(158, 160, 162);
/// Colour of errors.
pub const BAD: Color32 = Color32::from_rgb(236, 118, 100);
/// Colour of success.
pub const GOOD: Color32 = Color32::from_rgb(132, 196, 132);
/// Colour of the take drawn over the one shown.
pub const GHOST: Color32 = Color32::from_rgb(120, 190, 255);
const BACK: Color32 = Color32::from_rgb(CLEAR[0], CLEAR[1], CLEAR[2]);
const BAR: Color32 = Color32::from_rgb(21, 22, 25);
const FIELD: Color32 = Color32::from_rgb(17, 18, 20);
const BUTTON: Color32 = Color32::from_rgb(46, 48, 53);
const EDGE: Color32 = Color32::from_rgb(56, 58, 63);

/// The window's clear colour, sRGB bytes. It equals the side panels' colour, so that they need not be filled, which is
/// slow on a software adapter.
pub const CLEAR: [u8; 3] = [27, 28, 31];

/// Frame of the side panels.
pub fn panel_frame() -> egui::Frame {
    egui::Frame::new().inner_margin(Margin { left: MARGIN as i8, right: BEYOND, top: 8, bottom: 8 })
}

/// Frame of the toolbar and the status line.
pub fn bar_frame() -> egui::Frame {
    egui::Frame::new().fill(BAR).inner_margin(Margin::symmetric(MARGIN as i8, 6))
}

/// Frame of messages and hints over the picture.
pub fn float_frame(edge: Color32) -> egui::Frame {
    egui::Frame::new()
        .fill(Color32::from_rgba_unmultiplied(22, 23, 26, 236))
        .stroke(Stroke::new(1.0, edge))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(14, 10))
}

/// A formatted number without the sign of what is rounded to zero: 0.000 for -0.000.
pub fn unsigned_zero(text: String) -> String {
    let is_zero = !text.contains(|c: char| c.is_ascii_digit() && c != '0') && text.contains('0');
    if is_zero { text.replacen('-', "", 1) } else { text }
}

/// Sets font sizes, colours, spacing and how fields show numbers.
pub fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    let numbers = NumberFormatter::new(|value, decimals| {
        unsigned_zero(egui::emath::format_with_decimals_in_range(value, decimals))
    });
    ctx.all_styles_mut(|style| {
        style.number_formatter = numbers.clone();
        let sizes = [
            (TextStyle::Small, 11.5),
            (TextStyle::Body, 13.5),
            (TextStyle::Button, 13.5),
            (TextStyle::Heading, 17.0),
        ];
        for (text, size) in sizes {
            style.text_styles.insert(text, FontId::new(size, FontFamily::Proportional));
        }
        style.text_styles.insert(TextStyle::Monospace, FontId::new(12.5, FontFamily::Monospace));
        style.spacing.item_spacing = egui::vec2(7.0, 6.0);
        style.spacing.button_padding = egui::vec2(9.0, 4.0);
        style.spacing.interact_size = egui::vec2(34.0, 22.0);
        style.spacing.scroll.floating = true;
        style.interaction.tooltip_delay = 0.4;
        let v = &mut style.visuals;
        *v = egui::Visuals::dark();
        v.override_text_color = None;
        v.panel_fill = BACK;
        v.window_fill = BACK;
        v.window_stroke = Stroke::new(1.0, EDGE);
        v.extreme_bg_color = FIELD;
        v.faint_bg_color = Color32::from_rgb(33, 34, 38);
        v.hyperlink_color = GOLD;
        v.warn_fg_color = GOLD;
        v.error_fg_color = BAD;
        v.weak_text_color = Some(DIM);
        v.slider_trailing_fill = true;
        v.selection.bg_fill = Color32::from_rgb(126, 97, 44);
        v.selection.stroke = Stroke::new(1.0, Color32::from_rgb(255, 236, 200));
        let radius = CornerRadius::same(5);
        let kinds = [
            (&mut v.widgets.noninteractive, BACK, EDGE, TEXT),
            (&mut v.widgets.inactive, BUTTON, Color32::TRANSPARENT, TEXT),
            (&mut v.widgets.hovered, Color32::from_rgb(60, 62, 68), GOLD, Color32::WHITE),
            (&mut v.widgets.active, Color32::from_rgb(92, 74, 40), GOLD, Color32::WHITE),
            (&mut v.widgets.open, BUTTON, EDGE, TEXT),
        ];
        for (widget, fill, edge, text) in kinds {
            widget.bg_fill = fill;
            widget.weak_bg_fill = fill;
            widget.bg_stroke = Stroke::new(1.0, edge);
            widget.fg_stroke = Stroke::new(1.2, text);
            widget.corner_radius = radius;
            widget.expansion = 0.0;
        }
    });
    ctx.options_mut(|options| options.input_options.max_click_dist = 4.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_a_negative_zero() {
        for (value, wanted) in
            [(-0.0, "0.000"), (-0.0004, "0.000"), (-0.0006, "-0.001"), (-10.0, "-10.000"), (0.0, "0.000")]
        {
            assert_eq!(unsigned_zero(format!("{value:.3}")), wanted);
        }
        for text in ["+0.000", "-inf", "NaN", "-1", "-0.5"] {
            assert_eq!(unsigned_zero(text.to_owned()), text);
        }
        let ctx = egui::Context::default();
        apply(&ctx);
        let formatter = ctx.style_of(egui::Theme::Dark).number_formatter.clone();
        assert_eq!(formatter.format(-1e-9, 3..=3), "0.000");
        assert_eq!(formatter.format(-0.25, 0..=3), "-0.25");
    }
}
