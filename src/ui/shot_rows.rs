//! Rows of the export panel for what moves: the part of the take, the frames, and the film.

use super::{
    UiOutput,
    handover_rows::buttons,
    theme,
    view::TakeView,
    widgets::{SliderLook, choice, label, slider},
};
use crate::scene::{ExportKind, ExportOrder, FilmOrder};

/// Frame rates on offer, and the highest one that can be typed.
const RATES: [f64; 4] = [24.0, 25.0, 30.0, 60.0];
const FASTEST: f64 = 1000.0;

const PLAYS: [(bool, &str, &str, &str); 2] = [
    (true, "export_film_take", "the take", "Plays the recording that is on the timeline"),
    (false, "export_film_still", "this moment", "Time stands still as in the picture, and the camera turns"),
];

const SIZES: [([u32; 2], &str, &str); 6] = [
    ([640, 360], "640 × 360", "For a quick look"),
    ([1280, 720], "1280 × 720", "HD"),
    ([1920, 1080], "1920 × 1080", "Full HD"),
    ([3840, 2160], "3840 × 2160", "4K"),
    ([1080, 1080], "1080 × 1080", "Square"),
    ([1080, 1920], "1080 × 1920", "Upright"),
];

const QUALITIES: [(u32, &str, &str, &str); 3] = [
    (2, "export_film_draft", "draft", "2 passes a frame: quick, with some noise in shadows"),
    (8, "export_film_good", "good", "8 passes a frame"),
    (32, "export_film_best", "best", "32 passes a frame: the quality of a picture"),
];

/// The rows of motion or of a film.
pub(super) fn show(
    ui: &mut egui::Ui,
    order: &mut ExportOrder,
    take: Option<TakeView>,
    frames: usize,
    out: &mut UiOutput,
) {
    let is_film = order.kind == ExportKind::Film;
    if is_film {
        let tip = "What the film shows, from the camera of the picture";
        buttons(ui, "Film of", tip, &PLAYS, &mut order.film.plays, out);
    }
    if !is_film || order.film.plays {
        span(ui, order, take, out);
    }
    rate(ui, &mut order.fps, out);
    if is_film {
        film(ui, &mut order.film, out);
        let seconds = frames as f64 / order.fps.max(1e-9);
        let noun = if frames == 1 { "frame" } else { "frames" };
        note(ui, &format!("{frames} {noun}, {seconds:.1} s of film."));
    }
}

/// Small dim text under a row.
pub(super) fn note(ui: &mut egui::Ui, text: &str) {
    ui.horizontal(|ui| {
        label(ui, "", "");
        let text = egui::RichText::new(text).small().color(theme::DIM);
        ui.add(egui::Label::new(text).wrap());
    });
}

/// The part of the take.
fn span(ui: &mut egui::Ui, order: &mut ExportOrder, take: Option<TakeView>, out: &mut UiOutput) {
    let Some(TakeView { span: [first, last], states, number }) = take else {
        return note(ui, "Nothing is recorded yet: press Play (Space) or Step first.");
    };
    ui.horizontal(|ui| {
        label(ui, "Take", "The part of the recording that leaves, in recorded seconds");
        let mut whole = order.span.is_none();
        let tip = "From its first to its last recorded moment";
        let field = ui.checkbox(&mut whole, format!("all of take {number}")).on_hover_text(tip);
        out.name("export_whole_take", &field);
        if whole != order.span.is_none() {
            order.span = if whole { None } else { Some([first, last]) };
        }
        if let Some([from, until]) = &mut order.span {
            (*from, *until) = (from.clamp(first, last), until.clamp(first, last));
            let speed = 0.01 * (last - first).max(0.1);
            let end = |ui: &mut egui::Ui, value: &mut f64, range| {
                ui.add(egui::DragValue::new(value).range(range).speed(speed).fixed_decimals(2).suffix(" s"))
            };
            let response = end(ui, from, first..=*until).on_hover_text("First moment");
            out.name("export_from", &response);
            ui.label("to");
            let response = end(ui, until, *from..=last).on_hover_text("Last moment");
            out.name("export_until", &response);
        }
    });
    let rate = (states.max(2) - 1) as f64 / (last - first).max(1e-9);
    if rate < 0.9 * order.fps && states > 1 {
        note(
            ui,
            &format!(
                "The recording has {rate:.0} states a second, since memory for it is bounded; frames between them are \
                 interpolated."
            ),
        );
    }
}

/// The frame rate.
fn rate(ui: &mut egui::Ui, fps: &mut f64, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, "Frames", "Frames a second");
        for rate in RATES {
            let button = egui::Button::selectable(*fps == rate, format!("{rate}")).frame_when_inactive(true);
            let response = ui.add(button).on_hover_text(format!("{rate} frames a second"));
            out.name(format!("export_fps: {rate}"), &response);
            if response.clicked() {
                *fps = rate;
            }
        }
        let value = egui::DragValue::new(fps).range(1.0..=FASTEST).speed(0.2).max_decimals(3).suffix(" /s");
        let response = ui.add(value).on_hover_text("Any other rate; click to type it");
        out.name("export_fps", &response);
    });
}

/// Rows that only films have.
fn film(ui: &mut egui::Ui, film: &mut FilmOrder, out: &mut UiOutput) {
    if film.plays {
        let look = SliderLook { logarithmic: true, ..SliderLook::unit("×", 2) };
        let tip = "Slow motion: simulated seconds in a second of the film";
        let response = slider(ui, "Speed", tip, &mut film.speed, 0.02..=1.0, &look);
        out.name("export_film_speed", &response);
    } else {
        let tip = "How long the film is";
        let response = slider(ui, "Length", tip, &mut film.seconds, 0.5..=30.0, &SliderLook::unit(" s", 1));
        out.name("export_film_seconds", &response);
    }
    let tip = "How far the camera turns about its target during the film; 360 is once round";
    let response = slider(ui, "Turn", tip, &mut film.turn, -360.0..=360.0, &SliderLook::unit("°", 0));
    out.name("export_film_turn", &response);
    let title = ("export_film_size", "Size", "Size of the frames, pixels");
    choice(ui, out, title, &mut film.size, &SIZES);
    let tip = "Passes that are averaged for each frame; the time grows with them";
    buttons(ui, "Quality", tip, &QUALITIES, &mut film.passes, out);
}
