//! Timings of the stages of the last fracture, step and picture, with counts and the badge.

use super::{
    Command, UiInput, UiOutput, badge, chart_view, theme,
    widgets::{choice, figure, grouped},
};
use crate::{
    compute::Choice,
    gpu::StageTiming,
    scene::{BreakSummary, Chart, ChartAxis, ChartForm},
};

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
        badge::show(ui, out, summary, sandbox.is_comparing(summary));
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
        table(ui, "Fracture", &summary.timings, Some(summary.seconds * 1000.0), out);
    } else {
        ui.label(egui::RichText::new("Break something to see the stages.").color(theme::DIM));
    }
    table(ui, "Step", &sandbox.last_step().timings, None, out);
    table(ui, "Picture", input.render_timings, None, out);
}

fn pieces(summary: &BreakSummary) -> String {
    let found = grouped(summary.counts.pieces);
    summary.solved.map_or_else(|| found.clone(), |solved| format!("{found} of {} wanted", solved.wanted))
}

/// The times of stages.
fn stages_chart(of: &str, stages: &[StageTiming]) -> Chart {
    let names = stages.iter().map(|stage| stage.stage.clone()).collect();
    let (x, y) = (ChartAxis::new("Stage", ""), ChartAxis::new("Time", "ms"));
    let title = format!("Stages of a {}", of.to_lowercase());
    Chart::new(&title, x, y, ChartForm::Named(names)).with("time", stages.iter().map(|stage| stage.ms))
}

fn table(
    ui: &mut egui::Ui,
    title: &'static str,
    stages: &[StageTiming],
    wall_ms: Option<f64>,
    out: &mut UiOutput,
) {
    if stages.is_empty() && wall_ms.is_none() {
        return;
    }
    ui.add_space(4.0);
    ui.label(egui::RichText::new(title).strong());
    if !stages.is_empty() {
        chart_view::rows(ui, out, &format!("stages_{}", title.to_lowercase()), &stages_chart(title, stages));
        let total: f64 = stages.iter().map(|s| s.ms).sum();
        figure(ui, "Stages", format!("{total:.2} ms"));
    }
    if let Some(wall) = wall_ms {
        figure(ui, "From click to pieces", format!("{wall:.0} ms"));
    }
}
