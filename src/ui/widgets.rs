//! Rows that all panels share: a name on the left, a slider with a value on the right.

use std::ops::RangeInclusive;

use super::theme;

/// Width of the names, points.
const LABEL: f32 = 88.0;
/// Width of the value boxes, points.
const VALUE: f32 = 68.0;

/// How a slider behaves.
pub struct SliderLook {
    /// Shown after the value.
    pub unit: &'static str,
    /// Digits after the point.
    pub decimals: usize,
    /// Whether equal steps multiply.
    pub logarithmic: bool,
}

impl SliderLook {
    /// Whole numbers.
    pub const WHOLE: Self = Self { unit: "", decimals: 0, logarithmic: false };

    /// Numbers with a unit.
    pub const fn unit(unit: &'static str, decimals: usize) -> Self {
        Self { unit, decimals, logarithmic: false }
    }
}

/// A named slider; the response covers slider and value.
pub fn slider<N: egui::emath::Numeric>(
    ui: &mut egui::Ui,
    name: &str,
    tip: &str,
    value: &mut N,
    range: RangeInclusive<N>,
    look: &SliderLook,
) -> egui::Response {
    ui.horizontal(|ui| {
        label(ui, name, tip);
        let spacing = ui.spacing().item_spacing.x;
        // From the panel's fixed width: what is available grows with the widest row so far.
        ui.spacing_mut().slider_width = theme::ROW - LABEL - VALUE - 2.0 * spacing;
        let shown = egui::Slider::new(value, range.clone())
            .show_value(false)
            // A value that a file has beyond the slider's ends is shown, not changed.
            .clamping(egui::SliderClamping::Edits)
            .logarithmic(look.logarithmic)
            .trailing_fill(true);
        let bar = ui.add(shown).on_hover_text(tip);
        let speed = (range.end().to_f64() - range.start().to_f64()) / 400.0;
        let number = egui::DragValue::new(value)
            .range(range)
            .clamp_existing_to_range(false)
            .speed(speed)
            .min_decimals(look.decimals)
            .max_decimals(look.decimals)
            .suffix(look.unit)
            .update_while_editing(false);
        let field = ui.add_sized([VALUE, 20.0], number).on_hover_text(tip);
        bar.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, name));
        let changed = field.changed();
        let mut both = bar;
        if changed {
            both.mark_changed();
        }
        both
    })
    .inner
}

/// The name of a row.
pub fn label(ui: &mut egui::Ui, name: &str, tip: &str) {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(LABEL, 20.0), egui::Sense::hover());
    ui.painter().text(
        rect.left_center(),
        egui::Align2::LEFT_CENTER,
        name,
        egui::TextStyle::Body.resolve(ui.style()),
        theme::DIM,
    );
    response.on_hover_text(tip);
}

/// Gives a list to choose from the name of its row, for tests and for those who hear the window.
pub fn name_list(response: &egui::Response, name: &str) {
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, name));
}

/// A row of the panel's width.
pub fn row(ui: &mut egui::Ui, contents: impl FnOnce(&mut egui::Ui)) {
    let size = egui::vec2(theme::ROW, 20.0);
    ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), contents);
}

/// A row of a table: a name and a figure.
pub fn figure(ui: &mut egui::Ui, name: &str, value: impl Into<String>) {
    row(ui, |ui| {
        ui.label(egui::RichText::new(name).color(theme::DIM));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.add(egui::Label::new(value.into()).truncate());
        });
    });
}

/// A number with thin groups of thousands.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(c);
    }
    out
}

/// A row with a list to choose from: name for tests, name, tip; then value, name and tip of each entry. For tests an
/// entry that shows is called by the row's name and its own, as in `method: Voronoi cells`.
pub fn choice<T: PartialEq + Copy>(
    ui: &mut egui::Ui,
    out: &mut super::UiOutput,
    (id, name, tip): (&'static str, &str, &str),
    value: &mut T,
    entries: &[(T, &str, &str)],
) {
    ui.horizontal(|ui| {
        label(ui, name, tip);
        let chosen = entries.iter().find(|(v, ..)| v == value).map_or("", |(_, name, _)| name);
        let combo = egui::ComboBox::from_id_salt(id).selected_text(chosen).width(150.0);
        let response = combo.show_ui(ui, |ui| {
            for (entry, name, tip) in entries {
                let response = ui.selectable_value(value, *entry, *name).on_hover_text(*tip);
                out.name(format!("{id}: {name}"), &response);
            }
        });
        name_list(&response.response, name);
        out.name(id, &response.response);
    });
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands_are_grouped() {
        assert_eq!(super::grouped(7), "7");
        assert_eq!(super::grouped(1234), "1\u{2009}234");
        assert_eq!(super::grouped(1_234_567), "1\u{2009}234\u{2009}567");
    }
}
