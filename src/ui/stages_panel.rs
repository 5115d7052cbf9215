//! Timings of the stages of the last fracture, step and picture, with counts and the conservation badge.

use super::{
    Command, UiInput, UiOutput, theme,
    widgets::{choice, figure, grouped, row},
};
use crate::{compute::Choice, gpu::StageTiming, scene::BreakSummary};

/// Relative difference of mass that counts as equal (a test holds the engine to it).
const SAME_MASS: f64 = 1e-6;

const COMPUTE: [(Choice, &str, &str); 3] = [
    (Choice::Auto, "best", "The graphics adapter where it is a real one, else the processor's cores"),
    (Choice::Gpu, "graphics adapter", "Compute passes of the adapter, even if it is only software"),
    (Choice::Cpu, "processor", "All cores of the processor"),
];

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(sandbox) = input.sandbox else {
        return;
    };
    let mut compute = input.compute;
    let row =
        ("compute", "Run on", "Where fractures, pictures and contacts are computed; results are the same");
    choice(ui, out, row, &mut compute, &COMPUTE);
    if compute != input.compute {
        out.push(Command::RunOn(compute));
    }
    if let Some(summary) = sandbox.last_break() {
        let ok = summary.mass_error.abs() <= SAME_MASS;
        let (text, color) = if ok {
            (format!("✔ mass kept ({:+.1e})", summary.mass_error), theme::GOOD)
        } else {
            (format!("✖ mass changed by {:+.1e}", summary.mass_error), theme::BAD)
        };
        let badge = ui.label(egui::RichText::new(text).color(color));
        out.name("badge", &badge);
        badge.on_hover_text(
            "Relative change of mass by the blow: all pieces and lost voxels, against the body before",
        );
        figure(ui, "Pieces", pieces(summary));
        if let Some(solved) = summary.solved {
            let trials = solved.preview_trials + solved.trials;
            figure(ui, "Seeds", format!("{} after {trials} tries", grouped(u64::from(solved.seeds))));
        }
        if summary.counts.merged > 0 {
            figure(ui, "Small, merged", grouped(summary.counts.merged));
        }
        if summary.counts.dropped > 0 {
            let share = format!(
                "{} ({:.2} % of mass)",
                grouped(summary.counts.dropped),
                summary.dropped_mass * 100.0
            );
            figure(ui, "Small, dropped", share);
        }
        figure(ui, "Cells / islands", format!("{} / {}", summary.counts.cells, summary.counts.islands));
        figure(ui, "Crack voxels", grouped(summary.counts.crack_voxels));
        figure(ui, "With copies", grouped(summary.counts.fbs));
        if summary.dust_share > 0.0 {
            let share = 100.0 * summary.dust_share;
            figure(
                ui,
                "Dust",
                format!("{} voxels, {share:.2} % of the mass", grouped(summary.counts.dust_voxels)),
            );
        }
        table(ui, "Fracture", &summary.timings, Some(summary.seconds * 1000.0));
    } else {
        ui.label(egui::RichText::new("Break something to see the stages.").color(theme::DIM));
    }
    table(ui, "Step", &sandbox.last_step().timings, None);
    table(ui, "Picture", input.render_timings, None);
}

fn pieces(summary: &BreakSummary) -> String {
    let found = grouped(summary.counts.pieces);
    summary.solved.map_or_else(|| found.clone(), |solved| format!("{found} of {} wanted", solved.wanted))
}

fn table(ui: &mut egui::Ui, title: &str, stages: &[StageTiming], wall_ms: Option<f64>) {
    if stages.is_empty() && wall_ms.is_none() {
        return;
    }
    ui.add_space(4.0);
    let total: f64 = stages.iter().map(|s| s.ms).sum();
    ui.label(egui::RichText::new(title).strong());
    for stage in stages {
        row(ui, |ui| {
            ui.label(egui::RichText::new(&stage.stage).small().color(theme::DIM));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(egui::RichText::new(format!("{:.2} ms", stage.ms)).small());
                let share = if total > 0.0 { (stage.ms / total) as f32 } else { 0.0 };
                let (rect, _) = ui.allocate_exact_size(egui::vec2(48.0, 6.0), egui::Sense::hover());
                let bar = egui::Rect::from_min_max(
                    egui::pos2(rect.right() - rect.width() * share, rect.top()),
                    rect.right_bottom(),
                );
                ui.painter().rect_filled(bar, 2.0, theme::GOLD.gamma_multiply(0.6));
            });
        });
    }
    if !stages.is_empty() {
        figure(ui, "Stages", format!("{total:.2} ms"));
    }
    if let Some(wall) = wall_ms {
        figure(ui, "From click to pieces", format!("{wall:.0} ms"));
    }
}
