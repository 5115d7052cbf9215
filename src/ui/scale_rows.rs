//! Rows for the scale of colours that mean numbers.

use egui::DragValue;

use super::{
    UiOutput,
    widgets::{label, name_list},
};
use crate::scene::{ColorMap, Scale};

pub(super) fn show(ui: &mut egui::Ui, scale: &mut Scale, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, "Colour map", "Colours from the least to the greatest number");
        let combo = egui::ComboBox::from_id_salt("colour map").selected_text(scale.map.label()).width(90.0);
        let response = combo.show_ui(ui, |ui| {
            for map in ColorMap::ALL {
                ui.selectable_value(&mut scale.map, map, map.label());
            }
        });
        name_list(&response.response, "Colour map");
        out.name("color_map", &response.response);
        let tip = "Equal factors have equal distances on the scale";
        let field = ui.checkbox(&mut scale.log, "logarithmic").on_hover_text(tip);
        out.name("scale_log", &field);
    });
    ui.horizontal(|ui| {
        label(
            ui,
            "Ends",
            "Numbers of the first and the last colour; automatic: the least and the greatest shown",
        );
        for (name, end, tip) in [
            ("low", &mut scale.low, "Number of the first colour"),
            ("high", &mut scale.high, "Number of the last colour"),
        ] {
            let mut given = end.is_some();
            let field = ui.checkbox(&mut given, "").on_hover_text("Give this end");
            out.name(format!("scale_has_{name}"), &field);
            if field.changed() {
                *end = given.then_some(if scale.log { 1.0 } else { 0.0 });
            }
            match end {
                Some(value) => {
                    let speed = 0.01 * value.abs().max(0.01);
                    let field = ui.add(DragValue::new(value).speed(speed).max_decimals(9));
                    out.name(format!("scale_{name}"), &field.on_hover_text(tip));
                }
                None => {
                    ui.label(egui::RichText::new(name).small().color(super::theme::DIM));
                }
            }
        }
    });
}
