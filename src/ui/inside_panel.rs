//! Overlays of a fracture's internals, and playback of the published labelling.

use super::{
    UiInput, UiOutput,
    chart_view::{self, Look, Shown},
    theme, tune,
    widgets::{SliderLook, clicks, figure, grouped, label, slider},
};
use crate::{
    fracture::{Labelling, Surface},
    scene::{
        Chart, ChartAxis, ChartForm, InsideView, LabelReport, LabelView, LookingReport, Subject, Tuning,
        overlays::{Maker, Reads},
    },
};

/// The largest number of a drawing before any data are read back.
const MOST: u32 = 8;

/// Axes across a slice.
const AXES: [(u8, &str, &str); 3] = [
    (0, "X", "The slice stands across x of the mesh"),
    (1, "Y", "The slice lies across y of the mesh"),
    (2, "Z", "The slice stands across z of the mesh"),
];

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let Some(sandbox) = input.sandbox else { return };
    let mut new = tuning.clone();
    let view = &mut new.view.inside;
    drawings(ui, view, sandbox.looking(), out);
    ui.horizontal(|ui| {
        let tip = "Colours show how a break finds which voxels hang together. A connected part of a cell is an island";
        label(ui, "Labels", tip);
        let all = [
            (LabelView::Off, "none", "Labels are not shown"),
            (LabelView::UnionFind, "union-find", "One colour for each connected part, as breaks find them"),
            (LabelView::Published, Maker::Labels.label, Maker::Labels.help),
            (LabelView::Flood, Maker::Flood.label, Maker::Flood.help),
        ];
        let chosen = all.iter().find(|(l, ..)| *l == view.labels).map_or("none", |(_, name, _)| name);
        let combo = egui::ComboBox::from_id_salt("labels").selected_text(chosen).width(150.0);
        let response = combo.show_ui(ui, |ui| {
            for (labels, name, tip) in all {
                let line = ui.selectable_value(&mut view.labels, labels, name).on_hover_text(tip);
                out.name(format!("labels: {name}"), &line);
            }
        });
        out.name("labels", &response.response);
    });
    let report = sandbox.looking();
    if let Some(labels) = report.labels.as_ref().filter(|_| view.labels >= LabelView::Published) {
        playback(ui, view, labels, out);
    }
    let tip = "How clearly drawings show that the object's surface hides: 0 not at all, 1 as if nothing were before them";
    let response = slider(ui, "Through", tip, &mut view.through, 0.0..=1.0, &SliderLook::unit("", 2));
    out.name("through", &response);
    let tip = "Hides the object, so that only what is chosen above is drawn";
    let field = ui.checkbox(&mut view.only, "without the object").on_hover_text(tip);
    out.name("inside_only", &field);
    ui.horizontal(|ui| {
        let tip = "How a blow finds which voxels hang together. Both ways make the same pieces, and differ in time";
        label(ui, "Labelling", tip);
        let iterative = "As Domaradzki & Martyn published it in 2016 (sec. 4.5): neighbours take over labels until none \
                         changes; much slower";
        for (labelling, name, tip) in [
            (Labelling::UnionFind, "union-find", "Joins neighbouring nodes of the octree into sets, each pair once; fast"),
            (Labelling::Iterative, "iterative", iterative),
        ] {
            let chosen = new.fracture.labelling == labelling;
            let button = ui.add(egui::Button::selectable(chosen, name)).on_hover_text(tip);
            out.name(name, &button);
            if button.clicked() {
                new.fracture.labelling = labelling;
            }
        }
    });
    about(ui, report, &new);
    if new != *tuning {
        tune(out, "inside", new);
    }
}

/// The table's drawings: first those that have neither a number nor a slice, side by side; then the others in groups.
fn drawings(ui: &mut egui::Ui, view: &mut InsideView, report: &LookingReport, out: &mut UiOutput) {
    let of_panel = Maker::ALL.into_iter().filter(|maker| maker.reads != Reads::Labels);
    let (mut plain, others): (Vec<Maker>, Vec<Maker>) =
        of_panel.partition(|maker| maker.number.is_none() && !maker.has_cut);
    // Drawings of every break come before those of some breaks.
    plain.sort_by_key(|maker| maker.reads);
    checkboxes(ui, view, &plain, out);
    for group in others.chunk_by(|a, b| a.has_cut == b.has_cut) {
        checkboxes(ui, view, group, out);
        let on = |view: &mut InsideView, maker: Maker| view.of(maker).on;
        if group.iter().any(|maker| maker.has_cut && on(view, *maker)) {
            slice(ui, view, out);
        }
        for maker in group {
            let Some(number) = maker.number.as_ref().filter(|_| on(view, *maker)) else { continue };
            let most = report.most.get(maker).copied().unwrap_or(MOST).max(number.least + 1);
            // Values beyond the largest count as the largest, and stay until the slider is moved.
            let mut shown = view.of(*maker).number.clamp(number.least, most);
            let range = number.least..=most;
            let response = slider(ui, number.label, number.help, &mut shown, range, &SliderLook::WHOLE);
            out.name(number.name, &response);
            if response.changed() {
                view.of(*maker).number = shown;
            }
        }
    }
}

fn checkboxes(ui: &mut egui::Ui, view: &mut InsideView, makers: &[Maker], out: &mut UiOutput) {
    let Some(first) = makers.first() else { return };
    egui::Grid::new(first.name).num_columns(2).min_col_width(0.5 * theme::ROW - 8.0).show(ui, |ui| {
        for (i, maker) in makers.iter().enumerate() {
            let field = ui.checkbox(&mut view.of(*maker).on, maker.label).on_hover_text(maker.help);
            out.name(format!("show_{}", maker.name.replace('-', "_")), &field);
            if i % 2 == 1 {
                ui.end_row();
            }
        }
    });
}

/// The controls for the position of slices.
fn slice(ui: &mut egui::Ui, view: &mut InsideView, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, "Slice", "Which way the slice lies");
        for (axis, name, tip) in AXES {
            let button =
                ui.add(egui::Button::selectable(view.cut.axis == axis, name).frame_when_inactive(true));
            out.name(format!("slice_{}", name.to_lowercase()), &button);
            if button.on_hover_text(tip).clicked() {
                view.cut.axis = axis;
            }
        }
    });
    let tip = "Where the slice lies along that axis: 0 % is one end of the object, 100 % the other";
    let response = slider(ui, "Slice at", tip, &mut view.cut.percent, 0..=100, &SliderLook::unit(" %", 0));
    out.name("slice_at", &response);
}

/// The step slider, the plot of changes and the figures of the iteration shown.
fn playback(ui: &mut egui::Ui, view: &mut InsideView, labels: &LabelReport, out: &mut UiOutput) {
    let last = labels.changes.len() as u32;
    view.step = view.step.min(last);
    ui.horizontal(|ui| {
        let back = ui.button("◀").on_hover_text("The iteration before");
        out.name("step_back", &back);
        let on = ui.button("▶").on_hover_text("The next iteration");
        out.name("step_on", &on);
        view.step = view.step.saturating_sub(clicks(ui, &back));
        view.step = (view.step + clicks(ui, &on)).min(last);
        // `labels.at`, not the slider's value, which is one frame ahead: all figures must belong to one iteration.
        let shown = ui.label(format!("iteration {} of {last}", labels.at));
        out.name("label_iteration", &shown);
    });
    let tip = "The iteration that is shown; 0 is before the first, where every voxel has a label of its own";
    let response = slider(ui, "Iteration", tip, &mut view.step, 0..=last.max(1), &SliderLook::WHOLE);
    out.name("label_step", &response);
    plot(ui, view, labels, out);
    let changed = labels.at.checked_sub(1).and_then(|i| labels.changes.get(i)).copied().unwrap_or(0);
    figure(ui, "Labels changed", format!("{} of {}", grouped(changed), grouped(labels.voxels as u64)));
    let [resting, cells] = labels.resting;
    figure(ui, "Cells at rest", format!("{resting} of {cells}"));
    figure(ui, "Different labels", grouped(labels.distinct as u64));
    let same = if labels.agrees { "✔ the same" } else { "not yet the same" };
    figure(ui, "Union-find", format!("{} islands, {same}", grouped(labels.islands as u64)));
}

/// The changes per iteration.
fn changes_chart(labels: &LabelReport) -> Chart {
    let (x, y) = (ChartAxis::new("Iteration", ""), ChartAxis::new("Labels changed", ""));
    let at = (1..=labels.changes.len()).map(|iteration| iteration as f64);
    let changes = labels.changes.iter().map(|changes| *changes as f64);
    Chart::new("Changes per iteration", x, y, ChartForm::Bars(1.0)).at(at).with("labels changed", changes)
}

/// Bars of the changes per iteration; a click selects an iteration.
fn plot(ui: &mut egui::Ui, view: &mut InsideView, labels: &LabelReport, out: &mut UiOutput) {
    let chart = changes_chart(labels);
    let look = Look { lit: labels.at.checked_sub(1), top: None, sense: egui::Sense::click() };
    let Shown { response, area, .. } = chart_view::show(ui, out, "label_plot", &chart, &look);
    let count = labels.changes.len().max(1);
    let at = |x: f32| (((x - area.left()) / area.width() * count as f32) as usize).min(count - 1);
    // The response covers the texts beside the axis, too.
    let on_bars = |pointer: &egui::Pos2| area.x_range().contains(pointer.x);
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.clicked()).filter(on_bars) {
        view.step = at(pointer.x) as u32 + 1;
    }
    let under = response.hover_pos().filter(on_bars).map(|p| at(p.x));
    if let Some((i, changes)) = under.and_then(|i| Some((i, labels.changes.get(i)?))) {
        let text = format!("iteration {}: {} labels changed; click to show it", i + 1, grouped(*changes));
        response.on_hover_text(text);
    }
}

/// The drawn fracture, or why nothing can be drawn.
fn about(ui: &mut egui::Ui, report: &LookingReport, tuning: &Tuning) {
    let view = &tuning.view.inside;
    let note = |ui: &mut egui::Ui, text: &str, color| {
        ui.label(egui::RichText::new(text).small().color(color));
    };
    if view.parts().is_empty() {
        return;
    }
    if let Some(problem) = &report.problem {
        note(ui, problem, theme::BAD);
    } else if report.is_reading {
        note(ui, "Reading it back", theme::DIM);
    } else if let Some(subject) = report.subject {
        let of = match subject {
            Subject::Pin => "The pinned impact",
            Subject::LastBreak => "The last break, where the body stood",
            Subject::Hover => "The blow aimed at last; pin one with Ctrl+click to keep it",
        };
        note(ui, &format!("{of}. Level {}, {:.0} ms", report.level, report.ms), theme::DIM);
        let [lines, points, triangles] = report.drawn.map(|n| grouped(n as u64));
        note(ui, &format!("{lines} lines, {points} points, {triangles} triangles"), theme::DIM);
    } else {
        note(ui, "Point at an object, pin an impact or break something.", theme::DIM);
    }
    let of_cracks = view.shown().any(|part| part.maker.reads == Reads::Cracks);
    if of_cracks && tuning.fracture.surface == Surface::Planar && report.transition.is_none() {
        let text = "Planar cracks have no transition voxels; choose rough or dusty under Fracture.";
        note(ui, text, theme::DIM);
    } else if of_cracks && report.transition.is_some_and(|level| level == report.level) {
        let text = "The transition level is the leaf level here, so that no transition voxels are kept; choose a lower \
             transition level.";
        note(ui, text, theme::DIM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All texts that a panel draws.
    fn words(show: impl FnMut(&mut egui::Ui)) -> Vec<String> {
        fn of(shape: &egui::Shape, out: &mut Vec<String>) {
            match shape {
                egui::Shape::Text(text) => out.push(text.galley.text().to_owned()),
                egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| of(shape, out)),
                _ => {}
            }
        }
        let mut out = Vec::new();
        let full = egui::Context::default().run_ui(egui::RawInput::default(), show);
        full.shapes.iter().for_each(|clipped| of(&clipped.shape, &mut out));
        out
    }

    /// Fails where frames with a click are counted: three clicks that come in one frame were one step.
    #[test]
    fn clicks_of_one_frame_are_a_step_each() {
        let labels = LabelReport { at: 0, changes: vec![9; 8], voxels: 900, ..LabelReport::default() };
        let mut view = InsideView { step: 0, ..InsideView::default() };
        let context = egui::Context::default();
        let mut frame = |events: Vec<egui::Event>| {
            let mut out = UiOutput::default();
            let input = egui::RawInput { events, ..egui::RawInput::default() };
            let mut full = context.run_ui(input, |ui| playback(ui, &mut view, &labels, &mut out));
            full.textures_delta.clear();
            let rect = out.rects.iter().find(|(name, _)| name == "step_on").unwrap().1;
            (rect.center(), view.step)
        };
        frame(Vec::new());
        let (pos, _) = frame(Vec::new());
        frame(vec![egui::Event::PointerMoved(pos)]);
        let button = |pressed| egui::Event::PointerButton {
            pos,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        };
        let click = || [button(true), button(false)];
        assert_eq!(frame(click().to_vec()).1, 1);
        assert_eq!(frame([click(), click(), click()].concat()).1, 4);
        assert_eq!(frame(Vec::new()).1, 4);
    }

    /// The slider's value is one frame ahead of the computed labels; all figures must belong to the iteration drawn.
    #[test]
    fn the_figures_are_those_of_the_iteration_that_is_named() {
        let labels = LabelReport { at: 1, changes: vec![700, 30, 0], voxels: 900, ..LabelReport::default() };
        let mut view = InsideView { step: 2, ..InsideView::default() };
        let said = words(|ui| playback(ui, &mut view, &labels, &mut UiOutput::default()));
        let says = |text: &str| said.iter().any(|word| word == text);
        assert!(says("iteration 1 of 3") && says("700 of 900"), "{said:?}");
        assert_eq!(view.step, 2, "what is asked for stays");
    }
}
