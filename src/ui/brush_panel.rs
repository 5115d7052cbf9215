//! What the brush paints, while it is the tool or anything is painted.

use super::{
    Command, Tool, UiInput, UiOutput, tune,
    widgets::{choice, label, numbers},
};
use crate::{fracture::Paint, scene::Tuning};

/// Kinds of dabs: what each is called, and what it does.
const KINDS: [(Paint, &str, &str); 5] = [
    (Paint::Dense, "smaller pieces", "Each dab adds seeds, so that it breaks into smaller pieces there"),
    (Paint::Whole, "no cracks", "No crack runs through a dab: the cells that meet in it stay together"),
    (Paint::Cut, "a crack", "A crack runs along the stroke, as deep as the solid is where you look at it"),
    (Paint::Weak, "weaker bonds", "Where Crack leaves bonds, those whose crack lies in a dab are weaker"),
    (Paint::Anchor, "anchors", "Where Crack leaves bonds, pieces that a dab touches cannot move"),
];

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let dabs = tuning.fracture.paint.len();
    if input.tool != Tool::Brush && dabs == 0 {
        return;
    }
    let mut new = tuning.clone();
    let known: Vec<_> = KINDS.to_vec();
    let title = ("brush_kind", "Brush", "What a drag on the object paints with the tool Brush (P)");
    choice(ui, out, title, &mut new.brush.kind, &known);
    numbers(ui, out, Tuning::BRUSH, &mut new);
    ui.horizontal(|ui| {
        let text = if dabs == 1 { "1 dab".to_owned() } else { format!("{dabs} dabs") };
        label(ui, &text, "Dabs that are painted on all objects");
        let tip = "A drag takes dabs away, of every kind; Shift does so while it is held";
        let erases = ui.checkbox(&mut new.brush.erases, "erase").on_hover_text(tip);
        out.name("brush_erases", &erases);
        let clear = ui.add_enabled(dabs > 0, egui::Button::new("erase all"));
        let clear = clear.on_hover_text("Take all dabs away, from every object");
        out.on_click("brush_clear", &clear, || Command::EraseAll);
    });
    if tuning.fracture.seeds_file.is_some() && matches!(new.brush.kind, Paint::Dense | Paint::Cut) {
        let text = "The seeds come from a file: this paint changes nothing until they are drawn again";
        ui.add(egui::Label::new(egui::RichText::new(text).color(super::theme::DIM)).wrap());
    }
    if new != *tuning {
        tune(out, "brush", new);
    }
}
