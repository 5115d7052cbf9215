//! Rows that all panels share: a label on the left, a slider with a value on the right.

use std::ops::RangeInclusive;

use super::{UiOutput, closing, theme};
use crate::parameter::{Parameter, Row};

/// Width of the labels, points.
const LABEL: f32 = 88.0;
/// Width of the value boxes, points.
const VALUE: f32 = 68.0;

/// Appearance of a slider.
pub struct SliderLook {
    /// Unit shown after the value.
    pub unit: &'static str,
    /// Digits after the decimal point.
    pub decimals: usize,
    /// Whether the scale is logarithmic.
    pub logarithmic: bool,
}

impl SliderLook {
    /// A slider for whole numbers.
    pub const WHOLE: Self = Self { unit: "", decimals: 0, logarithmic: false };

    /// A slider for numbers with a unit.
    pub const fn unit(unit: &'static str, decimals: usize) -> Self {
        Self { unit, decimals, logarithmic: false }
    }
}

/// Number of clicks on a widget in this frame: a frame that took long has several.
pub fn clicks(ui: &egui::Ui, response: &egui::Response) -> u32 {
    if !response.clicked() {
        return 0;
    }
    let ends_here = |event: &&egui::Event| match event {
        egui::Event::PointerButton { pos, button: egui::PointerButton::Primary, pressed: false, .. } => {
            response.rect.contains(*pos)
        }
        _ => false,
    };
    // A key and an assistive device click, too.
    ui.input(|input| input.events.iter().filter(ends_here).count().max(1)) as u32
}

/// A labelled slider; the response covers slider and value.
pub fn slider<N: egui::emath::Numeric>(
    ui: &mut egui::Ui,
    name: &str,
    tip: &str,
    value: &mut N,
    range: RangeInclusive<N>,
    look: &SliderLook,
) -> egui::Response {
    slider_in(ui, (name, tip), value, range.clone(), range, look)
}

/// The rows of a table whose values are numbers, are set and have an effect.
pub fn numbers<T>(ui: &mut egui::Ui, out: &mut UiOutput, rows: &[Row<T>], owner: &mut T) {
    for row in rows.iter().filter(|row| row.is_number()) {
        let shown = (row.get)(owner).filter(|_| (row.applies)(owner));
        let Some(mut value) = shown else { continue };
        let ends = [row.of.slider, row.of.range];
        if number(ui, out, &row.of, &mut value, ends).changed() {
            (row.set)(owner, Some(value));
        }
    }
}

/// The row of an octree level of an object with leaves at level `leaf`.
pub fn level(ui: &mut egui::Ui, out: &mut UiOutput, of: &Parameter, value: &mut u32, leaf: u32) -> bool {
    let most = f64::from(leaf.max(3));
    level_in(ui, out, of, value, [(2.0, most), (of.range.0, most)])
}

/// The row of an octree level with a slider between the first `ends`; levels between the second ones can be typed.
pub fn level_in(
    ui: &mut egui::Ui,
    out: &mut UiOutput,
    of: &Parameter,
    value: &mut u32,
    ends: [(f64, f64); 2],
) -> bool {
    let mut wide = f64::from(*value);
    let changed = number(ui, out, of, &mut wide, ends).changed();
    *value = wide as u32;
    changed
}

/// A row with a slider between the first `ends`; numbers between the second ones can be typed.
pub fn number(
    ui: &mut egui::Ui,
    out: &mut UiOutput,
    of: &Parameter,
    value: &mut f64,
    [slider, typed]: [(f64, f64); 2],
) -> egui::Response {
    // A unit with a space before it follows the number; there is no room for others.
    let unit = if of.unit.starts_with(' ') { of.unit } else { "" };
    let look = SliderLook { unit, decimals: of.decimals, logarithmic: of.logarithmic };
    let text = (of.label, of.help);
    let response = if of.whole {
        let whole = |(low, high): (f64, f64)| low as u32..=high as u32;
        let mut count = *value as u32;
        let response = slider_in(ui, text, &mut count, whole(slider), whole(typed), &look);
        *value = f64::from(count);
        response
    } else {
        slider_in(ui, text, value, slider.0..=slider.1, typed.0..=typed.1, &look)
    };
    out.name(of.widget(), &response);
    response
}

/// A slider from end to end of `range`, beside a number that can be typed between the ends of `typed`.
fn slider_in<N: egui::emath::Numeric>(
    ui: &mut egui::Ui,
    (name, tip): (&str, &str),
    value: &mut N,
    range: RangeInclusive<N>,
    typed: RangeInclusive<N>,
    look: &SliderLook,
) -> egui::Response {
    ui.horizontal(|ui| {
        label(ui, name, tip);
        let spacing = ui.spacing().item_spacing.x;
        // Computed from the panel's fixed width, since the available width grows with the widest row so far.
        ui.spacing_mut().slider_width = theme::ROW - LABEL - VALUE - 2.0 * spacing;
        let shown = egui::Slider::new(value, range.clone())
            .show_value(false)
            // A value from a file that lies beyond the slider's range is shown unchanged.
            .clamping(egui::SliderClamping::Edits)
            .logarithmic(look.logarithmic)
            .trailing_fill(true);
        let mut bar = ui.add(shown).on_hover_text(tip);
        let clicked = clicked_value(ui, &bar, &range, look.logarithmic);
        if let Some(clicked) = clicked.filter(|clicked| clicked != value) {
            *value = clicked;
            bar.mark_changed();
        }
        let before = *value;
        let speed = (range.end().to_f64() - range.start().to_f64()) / 400.0;
        let number = egui::DragValue::new(value)
            .range(typed)
            .clamp_existing_to_range(false)
            .speed(speed)
            .min_decimals(look.decimals)
            .max_decimals(look.decimals)
            .suffix(look.unit)
            .update_while_editing(false);
        let field = ui.add_sized([VALUE, 20.0], number).on_hover_text(tip);
        bar.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, name));
        let is_left = closing::was_left(ui.ctx(), field.id);
        if is_left {
            *value = before;
        }
        let changed = field.changed() && !is_left;
        let mut both = bar;
        if changed {
            both.mark_changed();
        }
        both
    })
    .inner
}

/// The value chosen by a click on the slider `bar` that was just added. egui moves a slider only while the button is
/// held when a frame is made; in a slow frame, press and release arrive together and the click would be lost. Call it
/// in the `ui` that holds the slider, whose widths it reads.
pub fn clicked_value<N: egui::emath::Numeric>(
    ui: &egui::Ui,
    bar: &egui::Response,
    range: &RangeInclusive<N>,
    logarithmic: bool,
) -> Option<N> {
    // egui itself handles every other use of the pointer.
    if !bar.enabled() || bar.interact_pointer_pos().is_some() {
        return None;
    }
    let [press, release] = ui.input(|i| whole_click(&i.events))?;
    let (left, width) = (bar.rect.left(), ui.spacing().slider_width);
    let is_on_top = ui.ctx().layer_id_at(press).is_none_or(|top| top == bar.layer_id);
    if !is_on_top || !bar.interact_rect.contains(press) || press.x > left + width {
        return None;
    }
    // egui keeps the handle inside the slider, so its centre stops half a width before the ends.
    let thickness = ui.text_style_height(&egui::TextStyle::Body).max(ui.spacing().interact_size.y);
    let aspect = match ui.visuals().handle_shape {
        egui::style::HandleShape::Circle => 1.0,
        egui::style::HandleShape::Rect { aspect_ratio } => aspect_ratio,
    };
    let handle = aspect * thickness / 2.5;
    let rail = [left + handle, left + width - handle];
    let ends = [range.start().to_f64(), range.end().to_f64()];
    let smallest = if N::INTEGRAL { 1.0 } else { 1e-6 };
    let at = |x: f32| value_on_rail(x, rail, ends, logarithmic.then_some(smallest));
    let near = ui.input(egui::InputState::aim_radius);
    // The roundest number within the pixel, as egui chooses while dragging.
    let value = egui::emath::smart_aim::best_in_range_f64(at(release.x - near), at(release.x + near));
    let value = value.max(ends[0]).min(ends[1]);
    Some(N::from_f64(if N::INTEGRAL { value.round() } else { value }))
}

/// Press and release position of the last click that began and ended within this frame.
fn whole_click(events: &[egui::Event]) -> Option<[egui::Pos2; 2]> {
    let (mut down, mut click) = (None, None);
    for event in events {
        if let egui::Event::PointerButton { pos, button: egui::PointerButton::Primary, pressed, .. } = event {
            if *pressed {
                down = Some(*pos);
            } else {
                click = down.take().map(|down| [down, *pos]).or(click);
            }
        }
    }
    click
}

/// The value at position `x` on a rail whose ends have the values `ends`, computed as egui does; `logarithmic` is the
/// smallest positive value of a logarithmic scale.
fn value_on_rail(x: f32, rail: [f32; 2], ends: [f64; 2], logarithmic: Option<f64>) -> f64 {
    let along = f64::from(((x - rail[0]) / (rail[1] - rail[0]).max(1.0)).clamp(0.0, 1.0));
    let between = |from: f64, to: f64| from + along * (to - from);
    match logarithmic {
        _ if along <= 0.0 => ends[0],
        _ if along >= 1.0 => ends[1],
        Some(smallest) => {
            let [from, to] = [ends[0].max(smallest), ends[1].max(smallest)].map(libm::log10);
            libm::pow(10.0, between(from, to))
        }
        None => between(ends[0], ends[1]),
    }
}

/// The label of a row.
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

/// Names a drop-down list after its row, for tests and screen readers.
pub fn name_list(response: &egui::Response, name: &str) {
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, name));
}

/// A row as wide as the panel.
pub fn row(ui: &mut egui::Ui, contents: impl FnOnce(&mut egui::Ui)) {
    let size = egui::vec2(theme::ROW, 20.0);
    ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), contents);
}

/// An empty row of a list, `height` points high, which is lit while it is chosen or under the pointer: its place, its response, and
/// the colour of text on it.
pub fn list_row(
    ui: &mut egui::Ui,
    height: f32,
    (name, is_chosen): (&str, bool),
) -> (egui::Rect, egui::Response, egui::Color32) {
    let size = egui::vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click());
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_chosen, name));
    let visuals = ui.visuals();
    if is_chosen {
        ui.painter().rect_filled(rect, 2.0, visuals.selection.bg_fill);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 2.0, visuals.widgets.hovered.bg_fill);
    }
    let color = if is_chosen { visuals.selection.stroke.color } else { theme::TEXT };
    (rect, response, color)
}

/// A table row: a label and a figure.
pub fn figure(ui: &mut egui::Ui, name: &str, value: impl Into<String>) {
    row(ui, |ui| {
        ui.label(egui::RichText::new(name).color(theme::DIM));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.add(egui::Label::new(value.into()).truncate());
        });
    });
}

/// A number with thin spaces between groups of three digits.
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

/// A row with a drop-down list: widget name, label and tooltip, then value, label and tooltip of each entry. The widget
/// of an open entry is named after row and entry, as in `method: Voronoi cells`.
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
    use egui::{Event, Modifiers, PointerButton, Pos2};

    use super::*;

    fn button(pos: Pos2, pressed: bool) -> Event {
        Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE }
    }

    /// Clicks along the whole slider, within one frame and over several (which egui handles by itself).
    fn click_along<N: egui::emath::Numeric>(range: &RangeInclusive<N>, look: &SliderLook) {
        let context = egui::Context::default();
        theme::apply(&context);
        let frame = |value: &mut N, events: Vec<Event>| {
            let screen = egui::Rect::from_min_size(Pos2::ZERO, egui::vec2(400.0, 200.0));
            let input = egui::RawInput { events, screen_rect: Some(screen), ..egui::RawInput::default() };
            let mut rect = egui::Rect::NOTHING;
            let mut full = context.run_ui(input, |ui| {
                let before = value.to_f64();
                let response = slider(ui, "Name", "What it is", value, range.clone(), look);
                assert_eq!(response.changed(), value.to_f64() != before);
                rect = response.rect;
            });
            full.textures_delta.clear();
            rect
        };
        let mut value = *range.start();
        frame(&mut value, Vec::new());
        let rect = frame(&mut value, Vec::new());
        assert!(rect.width() > 60.0, "{rect}");
        for i in 0..=20 {
            let at = egui::pos2(rect.left() + rect.width() * i as f32 / 20.0 - 0.3, rect.center().y);
            let (mut slow, mut quick) = (*range.start(), *range.start());
            frame(&mut slow, vec![Event::PointerMoved(at), button(at, true)]);
            frame(&mut slow, vec![button(at, false)]);
            frame(&mut quick, vec![Event::PointerMoved(at), button(at, true), button(at, false)]);
            frame(&mut quick, Vec::new());
            let (slow, quick) = (slow.to_f64(), quick.to_f64());
            assert!((slow - quick).abs() <= 1e-6 * slow.abs(), "{quick} and not {slow} at {i}");
            assert!(i < 20 || quick == range.end().to_f64(), "{quick} at the end");
        }
        // A click beside the slider changes nothing.
        let mut value = *range.start();
        let beside = rect.right_center() + egui::vec2(3.0, 0.0);
        frame(&mut value, vec![button(beside, true), button(beside, false)]);
        assert_eq!(value.to_f64(), range.start().to_f64());
    }

    #[test]
    fn a_click_within_one_frame_sets_what_a_slow_one_sets() {
        click_along(&(0.0..=25.0), &SliderLook::unit(" m/s²", 1));
        click_along(&(2..=9_u32), &SliderLook::WHOLE);
        click_along(&(1..=512_u32), &SliderLook { logarithmic: true, ..SliderLook::WHOLE });
        click_along(&(0.1..=100.0), &SliderLook { logarithmic: true, ..SliderLook::unit("", 1) });
        click_along(&(0.0..=1e6), &SliderLook { logarithmic: true, ..SliderLook::WHOLE });
    }

    #[test]
    fn only_what_went_down_and_up_is_a_click() {
        let [a, b] = [Pos2::ZERO, egui::pos2(5.0, 1.0)];
        assert_eq!(whole_click(&[button(a, false), button(a, true)]), None);
        assert_eq!(whole_click(&[button(a, true), button(b, false), button(b, true)]), Some([a, b]));
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(super::grouped(7), "7");
        assert_eq!(super::grouped(1234), "1\u{2009}234");
        assert_eq!(super::grouped(1_234_567), "1\u{2009}234\u{2009}567");
    }
}
