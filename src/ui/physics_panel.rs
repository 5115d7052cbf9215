//! Settings of gravity, contacts and breaking on impact.

use super::{
    UiInput, UiOutput, UiState, pairs_panel, tune, walls_panel,
    widgets::{SliderLook, choice, figure, slider},
};
use crate::{
    bodies::{finders, has_measure, responses},
    scene::{MAX_FIELD_LEVEL, Missile, Touching, Tuning},
};

/// Threshold of breaking when it is first switched on, m/s: the speed after a fall of 5 cm.
const USUAL_THRESHOLD: f64 = 1.0;

/// An entry of a registry as `choice` takes it.
fn named<T: std::str::FromStr>(
    name: &str,
    label: &'static str,
    about: &'static str,
) -> Option<(T, &'static str, &'static str)> {
    Some((name.parse().ok()?, label, about))
}

/// Whether bodies break on impact, and at which speed.
fn breaking(ui: &mut egui::Ui, new: &mut Tuning, out: &mut UiOutput) {
    let mut breaks = new.break_threshold.is_some();
    let tip =
        "Bodies of the scene break by themselves where they are struck hard; what is thrown stays whole";
    let response = ui.checkbox(&mut breaks, "Breaks when struck").on_hover_text(tip);
    out.name("breaks_when_struck", &response);
    if response.changed() {
        new.break_threshold = breaks.then_some(USUAL_THRESHOLD);
    }
    if let Some(threshold) = &mut new.break_threshold {
        let tip =
            "Change of speed in one step, m/s, above which a body breaks: a fall from 1 m ends with 4.4 m/s";
        let look = SliderLook { unit: " m/s", decimals: 1, logarithmic: true };
        let response = slider(ui, "Bears", tip, threshold, 0.1..=100.0, &look);
        out.name("break_threshold", &response);
        let tip = "How many times in a row something breaks by itself: pieces of this generation stay whole";
        let generations = &mut new.break_generations;
        let response = slider(ui, "In a row", tip, generations, 0..=8, &SliderLook::WHOLE);
        out.name("break_generations", &response);
    }
}

/// Constants that only the penalty response has.
fn penalty(ui: &mut egui::Ui, new: &mut Tuning, out: &mut UiOutput) {
    if new.response.name() != "penalty" {
        return;
    }
    let look = SliderLook { unit: "", decimals: 0, logarithmic: true };
    let tip = "k of the paper's equation 3, N/m⁵: how strongly overlapping volume pushes bodies apart. A cube of 1 m \
               and 2000 kg rests 0.2 mm deep at 10⁸";
    let exponent = &mut libm::log10(new.penalty.stiffness.max(1.0));
    let before = *exponent;
    let look_log = SliderLook::unit("", 2);
    let response = slider(ui, "Stiffness 10^", tip, exponent, 4.0..=12.0, &look_log);
    out.name("penalty_stiffness", &response);
    if *exponent != before {
        new.penalty.stiffness = libm::pow(10.0, *exponent);
    }
    let tip = "mu of the paper's equation 4, N s/m³: how strongly sliding is slowed. 2000 slows that cube by a tenth \
               of g at 1 m/s";
    let response = slider(ui, "Drag", tip, &mut new.penalty.friction, 0.0..=1e6, &look);
    out.name("penalty_friction", &response);
}

pub(super) fn show(
    ui: &mut egui::Ui,
    state: &mut UiState,
    input: &UiInput<'_>,
    tuning: &Tuning,
    out: &mut UiOutput,
) {
    let mut new = tuning.clone();
    let leaf = input.sandbox.and_then(|s| s.objects().first()).map_or(7, |o| o.scene.level);
    let response = slider(
        ui,
        "Contact level",
        "Physics level: the octree level at which things touch; lower is faster, higher is more exact",
        &mut new.physics_level,
        2..=leaf.max(3),
        &SliderLook::WHOLE,
    );
    out.name("physics_level", &response);
    let heavy = SliderLook { unit: "", decimals: 0, logarithmic: true };
    let tip = "kg/m³, of the scene's bodies: wood 500, plaster 1100, glass 2500";
    let response = slider(ui, "Density", tip, &mut new.density, 10.0..=20_000.0, &heavy);
    out.name("density", &response);
    let look = SliderLook::unit(" m/s²", 1);
    let response =
        slider(ui, "Gravity", "Downward pull; the Earth's is 9.8", &mut new.gravity, 0.0..=25.0, &look);
    out.name("gravity", &response);
    let look = SliderLook::unit("", 2);
    let response = slider(
        ui,
        "Friction",
        "Coulomb coefficient: 0 slides like ice, 1 grips like rubber",
        &mut new.friction,
        0.0..=1.5,
        &look,
    );
    out.name("friction", &response);
    let response = slider(
        ui,
        "Bounce",
        "Restitution: share of the speed that comes back",
        &mut new.restitution,
        0.0..=0.95,
        &look,
    );
    out.name("restitution", &response);
    let tip = "0 rolls on like a billiard ball, 1 stops soon: torque, as a share of half the thickness times the load";
    let response = slider(ui, "Rolling", tip, &mut new.rolling_resistance, 0.0..=1.0, &look);
    out.name("rolling_resistance", &response);
    breaking(ui, &mut new, out);
    let tip = "Number of octree levels by which contacts far from the eye may be coarser; 0: all are as exact as \
               near ones";
    let response = slider(ui, "Far away", tip, &mut new.far_levels, 0..=4, &SliderLook::WHOLE);
    out.name("far_levels", &response);
    // A list with one entry would be no choice.
    let known: Vec<_> = finders().iter().filter_map(|f| named(f.name, f.label, f.about)).collect();
    if known.len() > 1 {
        let title = ("contacts", "Contacts", "How contacts are found");
        choice(ui, out, title, &mut new.contacts, &known);
    }
    if new.contacts.name() == "field" {
        let tip = "Octree level of the distance field's cells: finer cells are exact deeper inside, coarser ones are \
                   computed faster";
        let response =
            slider(ui, "Field level", tip, &mut new.field_level, 2..=MAX_FIELD_LEVEL, &SliderLook::WHOLE);
        out.name("field_level", &response);
    }
    let known: Vec<_> = responses().iter().filter_map(|r| named(r.name, r.label, r.about)).collect();
    choice(ui, out, ("response", "Response", "How contacts push"), &mut new.response, &known);
    penalty(ui, &mut new, out);
    walls_panel::show(ui, input, &mut new, out);
    pairs_panel::show(ui, state, input, &mut new, out);
    let shown = [
        (Touching::Off, "nothing", "No contacts"),
        (
            Touching::Contacts,
            "contacts",
            "Contact points with their normals: green where bodies just touch, red from half a cell deep, grey where \
             they are only near",
        ),
        (
            Touching::Columns,
            "columns",
            "Collision points of both surfaces (blue, orange) and the columns between them along x, y, z, as in the \
             paper; slower",
        ),
    ];
    // Columns are what the measure finds.
    let shown = if has_measure() { &shown[..] } else { &shown[..2] };
    let title = ("touching", "Show", "Contacts that are drawn over the picture");
    choice(ui, out, title, &mut new.view.touching, shown);
    let missiles =
        [(Missile::Ball, "ball", "A ball, from the eye"), (Missile::Box, "box", "A cube, from the eye")];
    choice(
        ui,
        out,
        ("missile", "Throws", "What the throwing tool throws"),
        &mut new.throw.missile,
        &missiles,
    );
    let tip = "Diameter or edge of what is thrown";
    let response = slider(ui, "  its size", tip, &mut new.throw.size, 0.02..=2.0, &SliderLook::unit(" m", 2));
    out.name("throw_size", &response);
    let tip = "Speed at which it leaves the hand";
    let response =
        slider(ui, "  its speed", tip, &mut new.throw.speed, 0.0..=40.0, &SliderLook::unit(" m/s", 1));
    out.name("throw_speed", &response);
    let tip = "Of each cubic metre of what is thrown: water is 1000, stone 2600, iron 7900";
    let response = slider(ui, "  its density", tip, &mut new.throw.density, 100.0..=20_000.0, &heavy);
    out.name("throw_density", &response);
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
