//! The method of breaking and its own parameters, generated from the table of methods.

use super::{
    UiOutput,
    widgets::{SliderLook, choice, slider},
};
use crate::fracture::{FractureParams, Surface, methods};

/// Draws nothing if there is only one method and it has no parameters.
pub(super) fn show(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    let all = methods();
    if all.len() > 1 {
        let entries: Vec<_> = all.iter().map(|method| (method.id(), method.label, method.help)).collect();
        choice(ui, out, ("method", "Method", "How bodies are broken"), &mut params.method, &entries);
    }
    for option in params.method.entry().options {
        let mut value = params.option(option.name);
        let (least, most) = option.range;
        let base = if option.whole { SliderLook::WHOLE } else { SliderLook::unit("", 3) };
        let look = SliderLook { logarithmic: least > 0.0 && most >= 1e3 * least, ..base };
        let response = slider(ui, &shown(option.name), option.help, &mut value, least..=most, &look);
        out.name(option.name, &response);
        if response.changed() {
            params.options.insert(option.name.to_owned(), value);
        }
    }
    if !params.method.entry().of_voxels {
        // The method would reject other surfaces.
        params.surface = Surface::Planar;
    }
    // The method would reject parameters of other methods.
    let known = params.method.entry().options;
    params.options.retain(|name, _| known.iter().any(|option| option.name == name));
}

/// A parameter's name as a label: `cell-size` becomes "Cell size".
fn shown(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + &letters.as_str().replace(['-', '_'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_gets_no_parameters_of_another() {
        let mut params = FractureParams::default();
        params.options.insert("of-another-method".into(), 1.0);
        let context = egui::Context::default();
        let mut out = UiOutput::default();
        let _ = context.run_ui(egui::RawInput::default(), |ui| show(ui, &mut params, &mut out));
        assert!(params.options.is_empty());
    }
}
