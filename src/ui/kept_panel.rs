//! Which cells of the pinned impact stay with the body: their number, and buttons to change them.

use super::{Command, Tool, UiInput, UiOutput, theme, widgets::label};

const TIP: &str =
    "Cells that stay together as one body when the pinned blow falls; click them with the Keep tool";

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let pinned = input.pin.is_some();
    let counts = input.sandbox.and_then(|s| s.preview().kept).filter(|_| pinned);
    ui.horizontal(|ui| {
        label(ui, "Kept cells", TIP);
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 6.0;
        let on = input.tool == Tool::Keep;
        let tip = if pinned {
            "Click cells on the object to let them stay, and again to let them go (K)"
        } else {
            "Click the object to aim, then click the cells that stay (K)"
        };
        let choose = egui::Button::selectable(on, "choose").frame_when_inactive(true);
        let choose = ui.add(choose).on_hover_text(tip);
        out.on_click("keep_choose", &choose, || Command::Tool(if on { Tool::Impact } else { Tool::Keep }));
        let any = counts.is_some_and(|(kept, _)| kept > 0);
        let none = ui.add_enabled(any, egui::Button::new("none")).on_hover_text("Let every cell break off");
        out.on_click("keep_none", &none, || Command::KeepNone);
        let tip = "Swap: kept cells break off, all other cells stay";
        let invert = ui.add_enabled(counts.is_some(), egui::Button::new("invert")).on_hover_text(tip);
        out.on_click("keep_invert", &invert, || Command::InvertKept);
    });
    // The row is always there, so that pinning moves no row under the pointer.
    let (text, color) = match counts {
        _ if !pinned => ("no pin".to_owned(), theme::DIM),
        Some((kept, all)) if kept == all => ("all stay".to_owned(), theme::BAD),
        Some((kept, all)) => (format!("{kept} of {all}"), theme::TEXT),
        None => ("–".to_owned(), theme::DIM),
    };
    ui.horizontal(|ui| {
        label(ui, "", TIP);
        let busy = input.sandbox.is_none_or(crate::scene::Sandbox::is_breaking);
        let nothing = counts.is_none_or(|(kept, all)| kept == all);
        let shown = egui::Button::new(egui::RichText::new("Break").color(theme::GOLD));
        let tip = "Let the pinned blow fall: everything but the kept cells breaks off (Enter)";
        let why = "Ctrl+click the object, or take the tool Impact, to pin a blow first";
        let response = ui.add_enabled(pinned && !busy && !nothing, shown);
        let response = response.on_hover_text(tip).on_disabled_hover_text(why);
        out.on_click("break", &response, || Command::BreakPin);
        let shown = ui.add_enabled(pinned && !busy, egui::Button::new("Crack"));
        let tip = "Crack without breaking: bonds hold the pieces together until loads break them. Set the strength of the \
                   bonds under Physics, Bonds of what is cracked";
        let shown = shown.on_hover_text(tip).on_disabled_hover_text(why);
        out.on_click("crack", &shown, || Command::CrackPin);
        // On one line whatever it says, so that pinning moves no row.
        let text = ui.add(egui::Label::new(egui::RichText::new(text).color(color)).truncate());
        let text = text.on_hover_text("How many cells of the pinned blow stay together; if all stay, nothing breaks");
        out.name("kept_text", &text);
    });
}
