//! Settings of gravity, contacts and breaking on impact.

use super::{
    UiInput, UiOutput, UiState, bonds_panel,
    chart_view::{self, Look},
    pairs_panel, theme, tune, walls_panel,
    widgets::{SliderLook, choice, figure, level, numbers, slider},
};
use crate::{
    bodies::{PHYSICS_LEVEL, generators, has_measure, solvers, structure::StrengthMaterial},
    scene::{
        Chart, ChartAxis, ChartForm, Missile, Sandbox, StepFigures, Touching, Tuning, parameters::STIFFNESS,
    },
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

/// Whether bodies break on impact, and by what that is judged.
fn breaking(ui: &mut egui::Ui, input: &UiInput<'_>, new: &mut Tuning, out: &mut UiOutput) {
    // Bonds decide about what they hold; what came loose of it breaks on only where that is asked for.
    let held = input.sandbox.is_some_and(Sandbox::panels_change_what_holds);
    let by_strength = if held { new.strength.loose } else { new.strength.whole };
    let mut breaks = new.break_threshold.is_some() || by_strength;
    let tip = if held {
        "Single parts that came loose break on by themselves where they are struck hard, so crumbs may become many; what \
         holds comes apart by its bonds"
    } else {
        "Bodies of the scene break by themselves where they are struck hard; what is thrown stays whole"
    };
    let response = ui.checkbox(&mut breaks, "Breaks when struck").on_hover_text(tip);
    out.name("breaks_when_struck", &response);
    if response.changed() {
        new.break_threshold = None;
        *by_energy(new, held) = breaks;
    }
    if held {
        let text = egui::RichText::new("Comes apart by its bonds").small().color(theme::DIM);
        let tip = "The scene holds its parts together. A blow and lasting loads break it bond by bond; how strong bonds \
                   are, Bonds of what is cracked says";
        let label = ui.label(text).on_hover_text(tip);
        out.name("held_by_bonds", &label);
    }
    if breaks {
        judging(ui, new, held, out);
    }
    numbers(ui, out, Tuning::BREAKING, new);
    let dim = |text: String| egui::RichText::new(text).small().color(theme::DIM);
    if let Some(threshold) = new.break_threshold {
        let text = format!("Breaks after {} onto something hard", fall(threshold));
        let label = ui.label(dim(text)).on_hover_text("The height from which it reaches this speed");
        out.name("threshold_in_words", &label);
    }
    // A body at rest is pushed by as much as it would fall in a step.
    let push = input.sandbox.and_then(|sandbox| Some((sandbox, sandbox.hardest_push()?)));
    if let Some((sandbox, push)) = push.filter(|(_, push)| push.speed > LEAST_PUSH) {
        let name = sandbox.object_name(push.object);
        let text = format!("Hardest push just now: {:.1} m/s, {name}", push.speed);
        let tip = "The greatest change of speed within a step in the last second: set the speed that it bears above or below it";
        let label = ui.label(dim(text)).on_hover_text(tip);
        out.name("hardest_push", &label);
    }
}

/// Whether bodies break by the energy of a blow: loose parts of what bonds `held`, or else what nothing holds.
fn by_energy(new: &mut Tuning, held: bool) -> &mut bool {
    if held { &mut new.strength.loose } else { &mut new.strength.whole }
}

/// What decides whether a body breaks: the strength of a material, or a change of speed.
fn judging(ui: &mut egui::Ui, new: &mut Tuning, held: bool, out: &mut UiOutput) {
    let mut material = new.break_threshold.is_none().then_some(new.strength.material);
    let before = material;
    let mut known: Vec<_> = StrengthMaterial::ALL.iter().map(|m| (Some(*m), m.name(), m.about())).collect();
    known.push((None, "a change of speed", "By the change of speed in a step, whatever the body is made of"));
    let tip = "Breaks from the energy of a blow that the strength of this material says; Bonds of what is cracked has \
               its numbers";
    choice(ui, out, ("breaks_as", "  as strong as", tip), &mut material, &known);
    if material == before {
        return;
    }
    new.break_threshold = material.is_none().then_some(USUAL_THRESHOLD);
    *by_energy(new, held) = material.is_some();
    if let Some(material) = material {
        new.strength.material = material;
    }
}

/// Pushes that are told, m/s.
const LEAST_PUSH: f64 = 0.3;

/// The fall in which a body reaches a speed (m/s), in words.
fn fall(speed: f64) -> String {
    let height = speed * speed / (2.0 * 9.81);
    match height {
        ..0.001 => "the slightest touch, or a fall of less than 1 mm".to_owned(),
        ..0.02 => format!("a fall of {:.0} mm", height * 1e3),
        ..1.0 => format!("a fall of {:.0} cm", height * 1e2),
        ..20.0 => format!("a fall of {height:.1} m"),
        ..200.0 => format!("a fall of {height:.0} m"),
        _ => "a hit by something as fast as a bullet".to_owned(),
    }
}

/// Constants that only the penalty response has.
fn penalty(ui: &mut egui::Ui, new: &mut Tuning, out: &mut UiOutput) {
    if new.response.name() != "penalty" {
        return;
    }
    let exponent = &mut libm::log10(new.penalty.stiffness.max(1.0));
    let before = *exponent;
    let look_log = SliderLook::unit("", 2);
    let response = slider(ui, STIFFNESS.label, STIFFNESS.help, exponent, 4.0..=12.0, &look_log);
    out.name("penalty_stiffness", &response);
    if *exponent != before {
        new.penalty.stiffness = libm::pow(10.0, *exponent);
    }
}

pub(super) fn show(
    ui: &mut egui::Ui,
    state: &mut UiState,
    input: &UiInput<'_>,
    tuning: &Tuning,
    out: &mut UiOutput,
) {
    let mut new = tuning.clone();
    let leaf = input.sandbox.and_then(|s| s.shown_object()).map_or(7, |o| o.scene.level);
    level(ui, out, &PHYSICS_LEVEL, &mut new.physics_level, leaf);
    numbers(ui, out, Tuning::BODIES, &mut new);
    breaking(ui, input, &mut new, out);
    bonds_panel::show(ui, input, &mut new, out);
    // A list with one entry would be no choice.
    let known: Vec<_> = generators().iter().filter_map(|f| named(f.name, f.label, f.about)).collect();
    if known.len() > 1 {
        let title = ("contacts", "Contacts", "How contacts are found");
        choice(ui, out, title, &mut new.contacts, &known);
    }
    let known: Vec<_> = solvers().iter().filter_map(|r| named(r.name, r.label, r.about)).collect();
    choice(ui, out, ("response", "Response", "How contacts push"), &mut new.response, &known);
    penalty(ui, &mut new, out);
    numbers(ui, out, Tuning::CONTACTS, &mut new);
    walls_panel::show(ui, input, &mut new, out);
    pairs_panel::show(ui, state, input, &mut new, out);
    let of_contacts = "Contact points with their normals: blue where bodies just touch, orange from half a cell deep, grey where \
                       they are only near";
    let of_columns = "Collision points of both surfaces (blue, orange) and the columns between them along x, y, z, as in the \
                      paper, and in white the gradient of the shared volume; slower";
    let of_bonds = "What holds cracked bodies together: grey without load, gold at half of its \
                    strength, red where it is about to fail";
    let of_stress = "How much the aimed blow, or the weight where nothing is aimed, pulls the surface apart: gold, the brighter the \
                     more; elastic, on octree cells of level 5";
    let of_weakness = "Where the body is weak whatever loads it: the cracks by which it comes apart most easily, the brighter the \
                       weaker";
    let mut shown = vec![
        (Touching::Off, "nothing", "No contacts"),
        (Touching::Contacts, "contacts", of_contacts),
        (Touching::Columns, "columns", of_columns),
        (Touching::Bonds, "bonds", of_bonds),
        (Touching::Stress, "stress", of_stress),
        (Touching::Weakness, "weakness", of_weakness),
    ];
    // Columns are what the measure finds.
    shown.retain(|(kind, ..)| *kind != Touching::Columns || has_measure());
    let title = ("touching", "Show", "What is drawn over the picture: contacts, loads of bonds, or stress");
    choice(ui, out, title, &mut new.view.touching, &shown);
    let tip = "Crumbs and dust that bonds leave where they fail: they fall and settle, and push nothing";
    let debris = ui.checkbox(&mut new.view.debris, "Show debris").on_hover_text(tip);
    out.name("show_debris", &debris);
    let missiles =
        [(Missile::Ball, "ball", "A ball, from the eye"), (Missile::Box, "box", "A cube, from the eye")];
    choice(
        ui,
        out,
        ("missile", "Throws", "What the throwing tool throws"),
        &mut new.throw.missile,
        &missiles,
    );
    numbers(ui, out, Tuning::THROW, &mut new);
    if new != *tuning {
        tune(out, "physics", new);
    }
    if let Some(report) = input.sandbox.and_then(crate::scene::Sandbox::stress) {
        bonds_panel::stress(ui, &report, out);
    }
    if let Some(sandbox) = input.sandbox {
        let step = sandbox.last_step();
        let asleep = if step.resting > 0 { format!(", {} asleep", step.resting) } else { String::new() };
        figure(ui, "Contacts", format!("{}{asleep}", step.contacts));
        figure(ui, "Deepest", format!("{:.2} mm", step.deepest * 1000.0));
        figure(ui, "Energy", format!("{:.2} J moving", step.kinetic));
        over_time(ui, sandbox.step_figures(), out);
    }
}

/// Energies and contacts of the steps so far.
fn steps_charts(steps: &[StepFigures]) -> [Chart; 2] {
    let of = |title: &str, y| {
        let chart = Chart::new(title, ChartAxis::new("Time", "s"), y, ChartForm::Lines);
        chart.at(steps.iter().map(|step| step.time))
    };
    let energy = of("Energy", ChartAxis::new("Energy", "J"))
        .with("kinetic", steps.iter().map(|step| step.kinetic))
        .with("potential", steps.iter().map(|step| step.potential));
    let contacts = of("Contacts", ChartAxis::new("Contact points", ""));
    let contacts = contacts
        .with("solved", steps.iter().map(|step| step.contacts as f64))
        .with("asleep", steps.iter().map(|step| step.resting as f64));
    [energy, contacts]
}

fn over_time(ui: &mut egui::Ui, steps: &[StepFigures], out: &mut UiOutput) {
    let shown = egui::CollapsingHeader::new("Energy and contacts over time").id_salt("over_time");
    let shown = shown.show_unindented(ui, |ui| {
        if steps.is_empty() {
            ui.label(egui::RichText::new("No step was taken yet.").color(theme::DIM));
            return;
        }
        let look = Look { top: None, lit: None, sense: egui::Sense::hover() };
        let tips = [
            "Energy of all bodies after each step; the potential one is counted from height 0",
            "Contact points after each step. Solved: the response pushes there. Asleep: the points between bodies that have come to \
             rest, which are kept until one of these is touched",
        ];
        let charts = steps_charts(steps);
        for ((chart, name), tip) in charts.iter().zip(["energy_chart", "contacts_chart"]).zip(tips) {
            chart_view::show(ui, out, name, chart, &look).response.on_hover_text(tip);
        }
    });
    out.name("over_time_header", &shown.header_response);
}
