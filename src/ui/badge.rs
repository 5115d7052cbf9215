//! The badge of the last break: whether everything that was there is there, with the figures behind it.
//!
//! In: the summary of the break. Out: a line, green or red, that unfolds to a row for each check.

use super::{
    UiOutput, theme,
    widgets::{figure, grouped},
};
use crate::{export::checks::Check, scene::BreakSummary};

/// Relative difference of mass that counts as equal (a test holds the engine to it).
const SAME_MASS: f64 = 1e-6;

/// How a check is shown: two numbers that must be equal, each a sum of figures of the check.
struct Shown {
    check: &'static str,
    label: &'static str,
    before: &'static str,
    after: &'static [&'static str],
    /// Figures that are subtracted from those after.
    less: &'static [&'static str],
    unit: &'static str,
}

const fn shown(
    check: &'static str,
    label: &'static str,
    (before, after, less): (&'static str, &'static [&'static str], &'static [&'static str]),
    unit: &'static str,
) -> Shown {
    Shown { check, label, before, after, less, unit }
}

const ALL: &[Shown] = &[
    shown("voxels_before_are_voxels_after", "Voxels", ("before", &["after", "dust"], &[]), ""),
    shown("dust_is_what_is_gone", "Voxel shares", ("mass_counted", &["mass_gone"], &[]), "m³"),
    shown("mass_before_is_mass_after", "Volume", ("before", &["after", "dropped", "dust"], &[]), "m³"),
    shown("each_piece_is_connected", "Pieces in one", ("pieces", &["pieces"], &["split"]), ""),
    shown("each_mesh_is_closed", "Closed meshes", ("meshes", &["meshes"], &["not_closed"]), ""),
    shown("octrees_are_valid", "Sound octrees", ("octrees", &["octrees"], &["findings"]), ""),
    shown("momentum_before_is_momentum_after", "Momentum", ("wanted", &["after"], &[]), "kg m/s"),
    shown(
        "angular_momentum_before_is_angular_momentum_after",
        "Spin",
        ("wanted", &["after"], &[]),
        "kg m²/s",
    ),
];

/// Figures beside the two numbers that can be why a check does not hold, and their labels. Counts, but for the last one,
/// which is a share of a voxel.
const CAUSES: &[(&str, &str)] = &[
    ("overlaps", "given twice"),
    ("outside", "outside of the body"),
    ("voxels_gone", "voxels gone"),
    ("voxels_counted", "voxels counted as dust"),
    ("worst_given_twice", "share given twice"),
];

/// Labels and figures that can be why a check does not hold; none for a check that holds.
fn causes(check: &Check) -> impl Iterator<Item = (&'static str, String)> {
    CAUSES.iter().filter(move |_| !check.ok).filter_map(move |(name, label)| {
        let value = *check.figures.get(*name)?;
        let is_share = *name == "worst_given_twice";
        Some((*label, if is_share { format!("{value:.1e}") } else { grouped(value.max(0.0) as u64) }))
    })
}

/// Label of a check.
fn label(check: &Check) -> &str {
    ALL.iter().find(|shown| shown.check == check.name).map_or(check.name.as_str(), |shown| shown.label)
}

/// A figure of a check; 0 where the method has none.
fn value(check: &Check, name: &str) -> f64 {
    check.figures.get(name).copied().unwrap_or(0.0)
}

/// The two numbers of a check and their difference, as text; `None` for a check that is not in the table.
fn numbers(check: &Check) -> Option<[String; 2]> {
    let shown = ALL.iter().find(|shown| shown.check == check.name)?;
    let sum = |names: &[&str]| names.iter().map(|name| value(check, name)).sum::<f64>();
    let (before, after) = (value(check, shown.before), sum(shown.after) - sum(shown.less));
    let unit = shown.unit;
    // Vectors differ in more than their lengths.
    let difference = check.figures.get("difference").copied().unwrap_or(after - before);
    let text = |value: f64| match value.abs() {
        _ if unit.is_empty() => grouped(value.max(0.0) as u64),
        0.0 => "0".to_owned(),
        // Five digits that count.
        size @ 1e-3..1e5 => format!("{value:.*}", (4.0 - libm::log10(size).floor()).max(0.0) as usize),
        _ => format!("{value:.1e}"),
    };
    let difference = match difference {
        0.0 => "0".to_owned(),
        _ if unit.is_empty() => format!("{difference:+}"),
        _ => format!("{difference:+.1e} {unit}"),
    };
    Some([format!("{} then {}", text(before), text(after)), difference])
}

/// Text and colour of the badge.
fn told(summary: &BreakSummary, is_comparing: bool) -> (String, egui::Color32) {
    if let Some(wrong) = summary.checks().find(|check| !check.ok) {
        return (format!("✖ not as before: {}", label(wrong).to_lowercase()), theme::BAD);
    }
    let is_same = summary.mass_error.abs() <= SAME_MASS;
    if !is_same {
        return (format!("✖ mass changed by {:+.1e}", summary.mass_error), theme::BAD);
    }
    let text = match (summary.is_checked(), is_comparing) {
        (true, _) => "✔ everything that was there is there",
        (false, true) => "✔ mass and momentum; voxels …",
        (false, false) => "✔ mass and momentum kept",
    };
    (text.to_owned(), theme::GOOD)
}

/// The tooltip.
fn help(summary: &BreakSummary) -> String {
    let mut text =
        "A break must lose nothing. Each row has what there was before the blow, what there is after it in pieces, \
         dust and dropped parts together, and the difference. Momentum before is that of the body and what the blow \
         gave to it"
            .to_owned();
    for check in summary.checks() {
        if let Some([numbers, difference]) = numbers(check) {
            text += &format!("\n{}: {numbers}, difference {difference}", label(check));
        }
        for (cause, value) in causes(check) {
            text += &format!(", {cause} {value}");
        }
    }
    text += &format!("\nMass, relative: {:+.1e}", summary.mass_error);
    if !summary.is_checked() {
        text += "\nVoxels are compared in the background. If breaks follow each other fast, only those of the last one \
                 are compared";
    }
    text
}

/// The badge, which unfolds to the figures of its checks. `is_comparing`: a worker compares the voxels of this break, or
/// will.
pub(super) fn show(ui: &mut egui::Ui, out: &mut UiOutput, summary: &BreakSummary, is_comparing: bool) {
    let (text, color) = told(summary, is_comparing);
    let header =
        egui::CollapsingHeader::new(egui::RichText::new(text).size(12.5).color(color)).id_salt("badge");
    let header = header.show_unindented(ui, |ui| {
        for check in summary.checks() {
            let Some([numbers, difference]) = numbers(check) else { continue };
            figure(ui, &format!("{} {}", if check.ok { "✔" } else { "✖" }, label(check)), numbers);
            figure(ui, "    difference", difference);
            for (cause, value) in causes(check) {
                figure(ui, &format!("    {cause}"), value);
            }
        }
    });
    out.name("badge", &header.header_response);
    header.header_response.on_hover_text(help(summary));
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use super::*;

    fn check(name: &str, ok: bool, figures: &[(&str, f64)]) -> Check {
        let figures: BTreeMap<_, _> =
            figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Check { name: name.to_owned(), ok, figures }
    }

    #[test]
    fn the_first_that_does_not_hold_is_named_with_its_numbers() {
        let motion = |ok| check(ALL[6].check, ok, &[("wanted", 2.0), ("after", 2.0), ("difference", 0.5)]);
        let mut summary = BreakSummary { motion: vec![motion(true)], ..BreakSummary::default() };
        assert_eq!(told(&summary, true), ("✔ mass and momentum; voxels …".to_owned(), theme::GOOD));
        assert_eq!(numbers(&motion(true)), Some(["2.0000 then 2.0000".into(), "+5.0e-1 kg m/s".into()]));
        let voxels = |dust: f64| {
            let figures = [("before", 1216.0), ("after", 1200.0), ("dust", dust)];
            check(ALL[0].check, dust == 16.0, &figures)
        };
        summary.solid.set(vec![voxels(16.0)]).unwrap();
        assert_eq!(told(&summary, false).1, theme::GOOD);
        assert!(told(&summary, false).0.contains("everything"));
        assert_eq!(numbers(&voxels(15.0)), Some(["1\u{2009}216 then 1\u{2009}215".into(), "-1".into()]));
        summary.mass_error = f64::NAN;
        assert_eq!(told(&summary, false).1, theme::BAD);
        summary.solid = Arc::default();
        summary.solid.set(vec![voxels(16.0), voxels(15.0)]).unwrap();
        summary.motion = vec![motion(false)];
        assert_eq!(told(&summary, false), ("✖ not as before: voxels".to_owned(), theme::BAD));
        let pieces = check(ALL[3].check, false, &[("pieces", 7.0), ("split", 2.0)]);
        assert_eq!(numbers(&pieces), Some(["7 then 5".into(), "-2".into()]));
        assert!(help(&summary).contains("difference -1"));
    }

    #[test]
    fn a_check_whose_two_numbers_agree_shows_why_it_does_not_hold() {
        let figures = [("before", 8.0), ("after", 8.0), ("overlaps", 3.0), ("outside", 1200.0)];
        let voxels = |ok| check(ALL[0].check, ok, &figures);
        let rows = |check: &Check| {
            causes(check).map(|(label, value)| format!("{label} {value}")).collect::<Vec<_>>()
        };
        assert_eq!(rows(&voxels(false)), ["given twice 3", "outside of the body 1\u{2009}200"]);
        assert!(rows(&voxels(true)).is_empty());
        let figures = [("voxels_gone", 5.0), ("voxels_counted", 4.0), ("worst_given_twice", 0.25)];
        let dust = check(ALL[1].check, false, &figures);
        assert_eq!(rows(&dust), ["voxels gone 5", "voxels counted as dust 4", "share given twice 2.5e-1"]);
        let summary = BreakSummary::default();
        summary.solid.set(vec![voxels(false)]).unwrap();
        assert!(
            help(&summary).contains("difference 0, given twice 3, outside of the body"),
            "{}",
            help(&summary)
        );
    }
}
