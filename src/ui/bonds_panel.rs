//! Bonds of what is cracked: how strong they are, what they bear, and why a piece fell.

use egui::{Color32, Stroke};

use super::{
    Command, UiInput, UiOutput,
    chart_view::{self, Look, Shown},
    fracture_panel::grain_axis,
    theme,
    widgets::{choice, figure, label, numbers},
};
use crate::{
    bodies::{
        BodyId,
        structure::{Mode, StrengthMaterial},
    },
    fracture::Paint,
    scene::{
        BodyStrength, BondFailure, Chart, ChartAxis, ChartForm, MOST_LUMPS, Sandbox, StressReport, Tuning,
    },
};

/// Bonds that are listed with their loads.
const MOST_LISTED: usize = 5;
/// The greatest load that the plot shows, as a share of the strength.
const TOP: f64 = 1.25;

/// Strength of the bonds, and what they bear.
pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, new: &mut Tuning, out: &mut UiOutput) {
    let shown = egui::CollapsingHeader::new("Bonds of what is cracked").id_salt("bonds");
    let shown = shown.show_unindented(ui, |ui| {
        let known: Vec<_> = StrengthMaterial::ALL.iter().map(|m| (*m, m.name(), m.about())).collect();
        let title = ("strength_material", "Strength of", "Material whose strength the bonds have");
        choice(ui, out, title, &mut new.strength.material, &known);
        let tip = "Parts that stand on the floor when the body is cracked cannot move";
        let anchored =
            ui.checkbox(&mut new.strength.anchor_floor, "Anchored to the floor").on_hover_text(tip);
        out.name("anchor_floor", &anchored);
        let tip = "Parts that touch a fixed body when the body is cracked cannot move";
        let anchored =
            ui.checkbox(&mut new.strength.anchor_fixed, "Anchored to what is fixed").on_hover_text(tip);
        out.name("anchor_fixed", &anchored);
        lumps(ui, &mut new.strength, out);
        numbers(ui, out, Tuning::BONDS, new);
        if new.strength.strength().across < 1.0 {
            let tip = "The axis of the object that is strong: bonds across it are weaker by Across grain";
            grain_axis(ui, &mut new.strength.grain_axis, tip);
        }
        if new.strength.scatter > 0.0 || !new.strength.lumps.is_empty() {
            seed(ui, &mut new.strength.rng, out);
        }
        if let Some(sandbox) = input.sandbox {
            loads(ui, sandbox, out);
        }
    });
    out.name("bonds_header", &shown.header_response);
}

/// The random seed of scatter and lumps.
fn seed(ui: &mut egui::Ui, rng: &mut u64, out: &mut UiOutput) {
    let tip =
        "Random seed of the scatter and the lumps: the same number gives the same bonds the same strength";
    ui.horizontal(|ui| {
        label(ui, "Its seed", tip);
        let field =
            egui::DragValue::new(rng).range(0..=999_999_u64).clamp_existing_to_range(false).speed(0.1);
        let field = ui.add(field).on_hover_text(tip);
        out.name("strength_rng", &field);
    });
}

/// The number of lumps of the first level; other levels are a scene's.
fn lumps(ui: &mut egui::Ui, strength: &mut BodyStrength, out: &mut UiOutput) {
    let BodyStrength { lumps, lump_strength, .. } = strength;
    let tip = "Into how many lumps it comes apart before the lumps do: bonds within a lump are stronger. 0: no lumps";
    ui.horizontal(|ui| {
        label(ui, "Lumps", tip);
        let mut count = lumps.first().copied().unwrap_or(0);
        let field = egui::DragValue::new(&mut count).range(0..=MOST_LUMPS).speed(0.1);
        let field = ui.add(field.update_while_editing(false)).on_hover_text(tip);
        out.name("lumps", &field);
        if field.changed() {
            let levels = lumps.len();
            match (count, lumps.first_mut()) {
                (0 | 1, Some(_)) => drop(lumps.remove(0)),
                (0 | 1, None) => {}
                (_, Some(first)) => *first = count,
                (_, None) => lumps.push(count),
            }
            // A scene's factors are those of its levels: they go with these.
            if lumps.is_empty() {
                lump_strength.clear();
            } else if lumps.len() < levels && !lump_strength.is_empty() {
                lump_strength.remove(0);
            }
        }
    });
}

/// The greatest load over time, and the bonds that bear most.
fn loads(ui: &mut egui::Ui, sandbox: &Sandbox, out: &mut UiOutput) {
    let all = sandbox.greatest_loads();
    let most = sandbox.most_loaded_bonds(MOST_LISTED);
    if all.is_empty() && most.is_empty() {
        return;
    }
    plot(ui, sandbox, all, out);
    for bond in &most {
        let [a, b] = bond.parts;
        let percent = 100.0 * bond.load.share;
        figure(ui, &format!("{a} \u{2013} {b}"), format!("{percent:.0} %, {}", bond.load.mode.name()));
    }
    let failed = sandbox.bond_failures().len();
    if failed > 0 {
        figure(ui, "Failed", failed.to_string());
    }
}

/// The greatest load of any bond over time.
fn loads_chart(all: &[[f64; 2]]) -> Chart {
    let (x, y) = (ChartAxis::new("Time", "s"), ChartAxis::new("Load of a bond", "share of its strength"));
    let (times, loads) = (all.iter().map(|[time, _]| *time), all.iter().map(|[_, load]| *load));
    Chart::new("Greatest load", x, y, ChartForm::Lines).at(times).with("greatest", loads)
}

/// A curve of the greatest load over time, with a line where bonds fail. A click goes to that time.
fn plot(ui: &mut egui::Ui, sandbox: &Sandbox, all: &[[f64; 2]], out: &mut UiOutput) {
    let look = Look { top: Some(TOP), lit: None, sense: egui::Sense::click() };
    let shown = chart_view::show(ui, out, "bond_loads", &loads_chart(all), &look);
    let Shown { response, painter, area, ranges: Some([times, loads]) } = shown else { return };
    let down = |share: f64| area.bottom() - area.height() * share as f32;
    let across = |time: f64| area.left() + area.width() * times.share(time) as f32;
    painter.hline(area.x_range(), down(loads.share(1.0)), Stroke::new(1.0, theme::BAD.gamma_multiply(0.7)));
    let is_shown = |time: f64| time >= times.low && time <= times.high;
    for failure in sandbox.bond_failures().iter().filter(|failure| is_shown(failure.time)) {
        let x = across(failure.time);
        painter.vline(x, (area.bottom() - 4.0)..=area.bottom(), Stroke::new(1.0, theme::BAD));
    }
    if is_shown(sandbox.time()) {
        let line = Stroke::new(1.0, Color32::from_white_alpha(90));
        painter.vline(across(sandbox.time()), area.y_range(), line);
    }
    if response.clicked()
        && let Some(at) = response.interact_pointer_pos()
        // The response covers the texts beside the axis, too.
        && area.x_range().contains(at.x)
    {
        let share = f64::from((at.x - area.left()) / area.width()).clamp(0.0, 1.0);
        let time = times.low + share * (times.high - times.low);
        out.push(Command::ShowRecorded(sandbox.timeline().frame_at(time)));
    }
    response.on_hover_text(
        "The greatest load of any bond as a share of its strength: the red line is what it can bear, ticks below are \
         bonds that failed. A click goes to that time",
    );
}

/// A stress with a unit that suits it.
fn stress_text(pascal: f64) -> String {
    match pascal {
        1e9.. => format!("{:.1} GPa", pascal * 1e-9),
        1e6.. => format!("{:.1} MPa", pascal * 1e-6),
        1e3.. => format!("{:.0} kPa", pascal * 1e-3),
        _ => format!("{pascal:.0} Pa"),
    }
}

/// A failure in a sentence.
fn sentence(failure: &BondFailure) -> String {
    let [a, b] = failure.parts;
    let how = match failure.mode {
        Mode::Tension => "torn or bent open",
        Mode::Compression => "crushed",
        Mode::Shear => "sheared off",
    };
    let by =
        if failure.by_blow { format!("by a blow of {:.2} J", failure.energy) } else { "by its load".into() };
    let what = format!("bond {a} \u{2013} {b} was {how} {by}");
    // What a bond bears in shear grows with the pressure on it, which is not noted.
    if failure.mode == Mode::Shear && failure.load.is_finite() {
        return format!("{what}, {:.0} % of what it could bear", 100.0 * failure.load);
    }
    let (bore, strength) = (stress_text(failure.stress), stress_text(failure.strength));
    format!("{what}: it bore {bore} of the {strength} that it can bear")
}

/// Figures of the stress that is shown, and the button that paints by it.
pub(super) fn stress(ui: &mut egui::Ui, report: &StressReport, out: &mut UiOutput) {
    if let Some(problem) = &report.problem {
        ui.add(egui::Label::new(egui::RichText::new(problem).color(theme::BAD)).wrap());
        return;
    }
    match (report.is_weakness, report.of_blow) {
        (true, _) => figure(ui, "Weakness", format!("{} cells, level {}", report.cells, report.level)),
        (_, true) => figure(ui, "Tension", format!("{} for each newton", stress_text(report.greatest))),
        (_, false) => figure(ui, "Tension", stress_text(report.greatest)),
    }
    ui.horizontal_wrapped(|ui| {
        let (label, tip) = if report.is_weakness {
            (
                "Seeds where it is weak",
                "Paint the weak places for smaller pieces and weaker bonds: as many seeds as the pattern has are added there. \
                 The brush erases both",
            )
        } else {
            (
                "Seeds where it pulls",
                "Paint the places of greatest tension for smaller pieces: as many seeds as the pattern has are added there. \
                 The brush erases them",
            )
        };
        let paint = ui.button(label).on_hover_text(tip);
        out.on_click("paint_by_stress", &paint, || Command::PaintByStress(Paint::Dense));
        if !report.is_weakness {
            let tip = "Paint the same places for weaker bonds: where it pulls most they keep the share that the brush leaves. \
                       The brush erases them";
            let weaken = ui.button("Weaker there").on_hover_text(tip);
            out.on_click("weaken_by_stress", &weaken, || Command::PaintByStress(Paint::Weak));
        }
    });
    let tip = "At the pinned impact: cells where little pulls stay with the body, so that the break ends where the stress does";
    let ends = ui.button("Break only where it pulls").on_hover_text(tip);
    out.on_click("break_where_it_pulls", &ends, || Command::BreakWhereItPulls);
}

/// Why a selected piece fell, if a load freed it.
pub(super) fn why(ui: &mut egui::Ui, sandbox: &Sandbox, id: BodyId, out: &mut UiOutput) {
    let Some(why) = sandbox.why_it_fell(id) else { return };
    let rows = [
        ("why_freed", format!("Came loose at {:.2} s", why.freed.time), why.freed),
        ("why_began", format!("It began at {:.2} s", why.began.time), why.began),
    ];
    for (name, title, failure) in rows {
        ui.horizontal(|ui| {
            ui.label(egui::RichText::new(title).color(theme::GOLD));
            let tip =
                "Go to the last recorded moment before that; Show: bonds under Physics draws what bonds bear";
            let go = ui.small_button("go there").on_hover_text(tip);
            out.on_click(name, &go, || Command::ShowRecorded(sandbox.frame_before(failure.time)));
        });
        ui.add(
            egui::Label::new(egui::RichText::new(sentence(&failure)).color(theme::TEXT).size(12.0)).wrap(),
        );
    }
    let text = match why.bonds {
        1 => "1 bond held it, and has failed".to_owned(),
        n => format!("{n} bonds held it, and all have failed"),
    };
    ui.label(egui::RichText::new(text).color(theme::DIM));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_with_its_load_and_what_it_bears() {
        let mut failure = BondFailure {
            parts: [3, 7],
            load: 1.5,
            whole_load: 1.5,
            stress: 4.5e6,
            strength: 3e6,
            ..BondFailure::example()
        };
        assert_eq!(
            sentence(&failure),
            "bond 3 \u{2013} 7 was torn or bent open by its load: it bore 4.5 MPa of the 3.0 MPa that it can bear"
        );
        (failure.mode, failure.by_blow, failure.energy) = (Mode::Shear, true, 2.345);
        assert!(sentence(&failure).contains("sheared off by a blow of 2.35 J"));
        (failure.load, failure.strength, failure.stress) = (f64::INFINITY, 0.0, 1.2e4);
        assert!(
            sentence(&failure).ends_with("it bore 12 kPa of the 0 Pa that it can bear"),
            "{}",
            sentence(&failure)
        );
        assert_eq!([stress_text(2e9), stress_text(999.0), stress_text(1e4)], ["2.0 GPa", "999 Pa", "10 kPa"]);
    }
}
