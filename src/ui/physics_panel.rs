//! How things fall and touch.

use super::{
    UiInput, UiOutput, tune,
    widgets::{SliderLook, figure, slider},
};
use crate::scene::Tuning;

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let mut new = tuning.clone();
    let leaf = input.sandbox.and_then(|s| s.objects().first()).map_or(7, |o| o.scene.level);
    let response = slider(
        ui,
        "Contact level",
        "Octree level at which things touch: lower is faster, higher is more exact",
        &mut new.physics_level,
        2..=leaf.max(3),
        &SliderLook::WHOLE,
    );
    out.name("physics_level", &response);
    let look = SliderLook::unit(" m/s²", 1);
    let response =
        slider(ui, "Gravity", "Downward pull; the Earth's is 9.8", &mut new.gravity, 0.0..=25.0, &look);
    out.name("gravity", &response);
    let look = SliderLook::unit("", 2);
    let response =
        slider(ui, "Friction", "0 slides like ice, 1 grips like rubber", &mut new.friction, 0.0..=1.5, &look);
    out.name("friction", &response);
    let response =
        slider(ui, "Bounce", "Share of the speed that comes back", &mut new.restitution, 0.0..=0.95, &look);
    out.name("restitution", &response);
    if new != *tuning {
        tune(out, "physics", new);
    }
    if let Some(sandbox) = input.sandbox {
        let step = sandbox.last_step();
        figure(ui, "Contacts", step.contacts.to_string());
        figure(ui, "Deepest", format!("{:.2} mm", step.deepest * 1000.0));
        figure(ui, "Energy", format!("{:.2} J moving", step.kinetic));
    }
}
