//! Side-by-side comparison: layout of the views, their captions, and the rows that choose what the views change.

use egui::{Color32, Rect, Vec2};

use super::{
    Command, UiInput, UiOutput, theme, tune,
    widgets::{grouped, label},
};
use crate::scene::{Broken, ColumnState, ColumnView, MOST_BESIDE, Sandbox, Way};

/// Gap between two views, points.
const GAP: f32 = 2.0;
/// Padding round a caption's text, points.
const ROUND: f32 = 8.0;
/// Relative differences of volume up to this are rounding and not reported.
const SAME_VOLUME: f64 = 1e-6;
/// Views are laid out in columns unless rows would make each view wider or higher by this factor.
const RATHER_NEXT: f32 = 1.25;
/// Coarsest octree level of a view.
const COARSEST: u32 = 2;
/// Why a view cannot be added.
const FULL: &str = "Two at the most";

/// Lays out `count` equally sized views in `place`, the document's first, in one row or one column. Returns their
/// rectangles and the number of columns and rows.
pub(super) fn views(place: Rect, count: usize) -> (Vec<Rect>, [u32; 2]) {
    let count = count.max(1);
    let n = count as f32;
    let [width, height] = [place.width(), place.height()];
    let next = (width / n).min(height);
    let below = width.min(height / n);
    let is_next = below <= next * RATHER_NEXT;
    let gaps = GAP * (n - 1.0);
    let size = if is_next {
        Vec2::new(((width - gaps) / n).max(0.0), height)
    } else {
        Vec2::new(width, ((height - gaps) / n).max(0.0))
    };
    let step = if is_next { Vec2::new(size.x + GAP, 0.0) } else { Vec2::new(0.0, size.y + GAP) };
    let views = (0..count).map(|k| Rect::from_min_size(place.min + step * k as f32, size)).collect();
    (views, if is_next { [count as u32, 1] } else { [1, count as u32] })
}

/// Draws every view's caption. Returns the bottom of the lowest caption in the top row, points.
pub(super) fn captions(ui: &egui::Ui, columns: &[ColumnView], views: &[Rect], out: &mut UiOutput) -> f32 {
    let mut lowest = views.first().map_or(0.0, |view| view.top());
    for (number, (column, view)) in columns.iter().zip(views).enumerate() {
        let (text, color) = told(column, number == 0);
        let painter = ui.painter_at(*view);
        let width = (view.width() - 4.0 * ROUND).max(40.0);
        let part = |text: String, font: egui::TextStyle, color: Color32| {
            painter.layout(text, font.resolve(ui.style()), color, width)
        };
        let title = part(column.title.clone(), egui::TextStyle::Body, theme::GOLD);
        let figures = part(text, egui::TextStyle::Small, color);
        let size = Vec2::new(title.size().x.max(figures.size().x), title.size().y + figures.size().y + 2.0);
        let frame = Rect::from_min_size(view.min + Vec2::splat(ROUND), size + Vec2::splat(ROUND));
        painter.rect_filled(frame, 5.0, Color32::from_rgba_unmultiplied(22, 23, 26, 214));
        let at = frame.min + Vec2::splat(0.5 * ROUND);
        let below = at + Vec2::new(0.0, title.size().y + 2.0);
        painter.galley(at, title, theme::GOLD);
        painter.galley(below, figures, color);
        out.rects.push((format!("caption_{number}").into(), frame));
        if view.top() <= views[0].top() {
            lowest = lowest.max(frame.bottom());
        }
    }
    lowest
}

/// Text and colour of the caption's second line; `own` is true for the document's view.
fn told(column: &ColumnView, own: bool) -> (String, Color32) {
    match &column.state {
        ColumnState::Whole if own => ("not broken yet".into(), theme::DIM),
        ColumnState::Whole if column.way == Way::Before => ("whole".into(), theme::DIM),
        ColumnState::Whole => ("click the object to break it".into(), theme::DIM),
        ColumnState::Voxelising(level) => (format!("voxelising at level {level} …"), theme::TEXT),
        ColumnState::Breaking => ("breaking …".into(), theme::TEXT),
        ColumnState::Refused(why) => (why.clone(), theme::BAD),
        ColumnState::Broken(broken) => {
            let is_of_level = matches!(column.way, Way::Level(_));
            (figures(broken, is_of_level), theme::TEXT)
        }
    }
}

/// The figures of a break; lines wrap between figures, not within one. With `is_of_level` the level is named at which
/// voxels were counted.
fn figures(broken: &Broken, is_of_level: bool) -> String {
    let Broken { seconds, pieces, volume_error, meshes, differing, counted_at, is_pinned } = *broken;
    let ms = 1e3 * seconds;
    let time = if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") };
    let volume = if volume_error.abs() <= SAME_VOLUME {
        format!("volume kept ({volume_error:+.0e})")
    } else {
        format!("volume {:+.3} %", 1e2 * volume_error)
    };
    let mut all = vec![time, format!("{} pieces", grouped(pieces as u64)), volume];
    match meshes {
        Some(tally) => {
            all.push(format!("{} faces", grouped(tally.triangles)));
            let is_all = tally.closed == pieces as u64;
            all.push(if is_all { "all closed".into() } else { format!("{} closed", grouped(tally.closed)) });
        }
        None => all.push("counting faces".into()),
    }
    if let Some([both, document, here]) = differing {
        let [both, document, here] = [both, document, here].map(|count| grouped(count as u64));
        let level =
            counted_at.filter(|_| is_of_level).map_or(String::new(), |level| format!(" of level {level}"));
        all.push(format!("crack voxels{level}: {both} in both, {document} only left, {here} only here"));
    }
    let all: Vec<String> = all.iter().map(|item| item.replace([' ', '\u{2009}'], "\u{a0}")).collect();
    let before = if is_pinned { "before it falls: " } else { "" };
    before.to_owned() + &all.join(", ")
}

/// The rows that choose what is shown beside the document.
pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(sandbox) = input.sandbox else { return };
    let shown = sandbox.ways_beside();
    let mut on = !shown.is_empty();
    let tip = "One blow in several ways next to each other, from one eye: by other methods, with kept settings, at another \
               level, or before it fell";
    let field = ui.checkbox(&mut on, "Side by side").on_hover_text(tip);
    out.name("beside", &field);
    if field.changed() {
        out.push(Command::ToggleBeside);
    }
    if shown.is_empty() {
        return;
    }
    let mut new = sandbox.tuning().clone();
    let tip = "Dots where only one of the two breaks cracked a voxel: gold the left one, blue the first view beside it; they lie \
               where the body stood when it broke";
    let field = ui.checkbox(&mut new.view.differences, "Show where they differ").on_hover_text(tip);
    out.name("differences", &field);
    if field.changed() {
        tune(out, "differences", new);
    }
    label(ui, "Beside it", "One or two views; the left view is the open document and keeps its method");
    for way in Way::all() {
        let help = if let Way::Method(method, _) = &way { method.entry().help } else { "" };
        row(ui, out, &shown, (&way, way.name()), help);
    }
    label(ui, "Other ways", "The same blow with other settings, at another level, or without it");
    let help = "The object before its last blow, which goes on moving by itself";
    row(ui, out, &shown, (&Way::Before, Way::Before.name()), help);
    let help = "Uncheck it to take the view away";
    for (number, way) in shown.iter().enumerate() {
        match way {
            // Two kept views have the same name.
            Way::Kept(_) => row(ui, out, &shown, (way, format!("kept {}", number + 1)), help),
            Way::Level(_) => row(ui, out, &shown, (way, way.name()), help),
            Way::Method(..) | Way::Before => {}
        }
    }
    let free = shown.len() < MOST_BESIDE;
    let tip = "Keeps the values of the panels in a view. Change them afterwards: the left view breaks by the new ones";
    let button = ui.add_enabled(free, egui::Button::new("Keep these settings")).on_hover_text(tip);
    out.name("keep_beside", &button);
    if button.on_disabled_hover_text(FULL).clicked() {
        out.push(Command::KeepBeside);
    }
    add_level(ui, out, sandbox, &shown);
}

/// The checkbox of a view, under the name `beside: NAME`.
fn row(ui: &mut egui::Ui, out: &mut UiOutput, shown: &[Way], (way, name): (&Way, String), help: &str) {
    let mut chosen = shown.contains(way);
    let free = chosen || shown.len() < MOST_BESIDE;
    let field = ui.add_enabled(free, egui::Checkbox::new(&mut chosen, way.label()));
    let field = field.on_hover_text(help).on_disabled_hover_text(FULL);
    out.name(format!("beside: {name}"), &field);
    if field.changed() {
        let mut ways: Vec<Way> = shown.iter().filter(|other| *other != way).cloned().collect();
        ways.extend(chosen.then(|| way.clone()));
        out.push(Command::ShowBeside(ways));
    }
}

/// A level, and the button that adds a view at it.
fn add_level(ui: &mut egui::Ui, out: &mut UiOutput, sandbox: &Sandbox, shown: &[Way]) {
    let id = egui::Id::unique("level beside");
    let own =
        sandbox.objects().get(sandbox.focus().unwrap_or(0)).map_or(COARSEST, |object| object.scene.level);
    let finest = sandbox.compute().finest_level();
    let usual = own.saturating_sub(1).clamp(COARSEST, finest);
    let mut level = ui.data(|data| data.get_temp(id)).unwrap_or(usual);
    ui.horizontal(|ui| {
        let field = egui::DragValue::new(&mut level).range(COARSEST..=finest).prefix("level ").speed(0.05);
        let tip = "The objects that blows strike are voxelised again at this level; the seeds are the same";
        let field = ui.add(field).on_hover_text(tip);
        out.name("level_beside", &field);
        if field.changed() {
            ui.data_mut(|data| data.insert_temp(id, level));
        }
        let way = Way::Level(level);
        let free = shown.len() < MOST_BESIDE && !shown.contains(&way);
        let button =
            ui.add_enabled(free, egui::Button::new("Add")).on_hover_text("Adds a view at this level");
        out.name("add_level_beside", &button);
        if button.on_disabled_hover_text("It is there already, or two views are").clicked() {
            let ways = shown.iter().cloned().chain([way]).collect();
            out.push(Command::ShowBeside(ways));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::MeshTally;

    #[test]
    fn views_are_of_one_size_and_lie_apart_in_their_place() {
        let wide = Rect::from_min_size(egui::pos2(286.0, 40.0), Vec2::new(708.0, 690.0));
        let narrow = Rect::from_min_size(egui::pos2(286.0, 40.0), Vec2::new(228.0, 490.0));
        for (place, count, division) in [
            (wide, 1, [1, 1]),
            (wide, 2, [2, 1]),
            (wide, 3, [3, 1]),
            (narrow, 2, [1, 2]),
            (narrow, 3, [1, 3]),
        ] {
            let (views, divided) = views(place, count);
            assert_eq!((views.len(), divided), (count, division));
            assert!(views.iter().all(|view| place.expand(0.01).contains_rect(*view)));
            assert!(views.iter().all(|view| (view.size() - views[0].size()).length() < 0.01));
            let apart = |a: &Rect, b: &Rect| !a.shrink(0.1).intersects(b.shrink(0.1));
            assert!(views.windows(2).all(|pair| apart(&pair[0], &pair[1])));
        }
        assert!(views(Rect::ZERO, 3).0.iter().all(|view| view.width() >= 0.0 && view.height() >= 0.0));
    }

    #[test]
    fn captions_say_what_came_of_it() {
        let mut broken = Broken {
            seconds: 0.0123,
            pieces: 43,
            volume_error: 2e-8,
            meshes: None,
            differing: None,
            counted_at: None,
            is_pinned: false,
        };
        let plain = |broken: &Broken| figures(broken, false).replace('\u{a0}', " ");
        assert_eq!(plain(&broken), "12 ms, 43 pieces, volume kept (+2e-8), counting faces");
        broken.meshes = Some(MeshTally { triangles: 12_345, closed: 43 });
        assert_eq!(plain(&broken), "12 ms, 43 pieces, volume kept (+2e-8), 12 345 faces, all closed");
        broken.meshes = Some(MeshTally { triangles: 9, closed: 40 });
        (broken.volume_error, broken.seconds, broken.is_pinned) = (-0.0123, 0.0051, true);
        let text = "before it falls: 5.1 ms, 43 pieces, volume -1.230 %, 9 faces, 40 closed";
        assert_eq!(plain(&broken), text);
        (broken.differing, broken.counted_at) = (Some([1200, 34, 5]), Some(6));
        let more = ", crack voxels: 1 200 in both, 34 only left, 5 only here";
        assert_eq!(plain(&broken), text.to_owned() + more);
        let at_level = figures(&broken, true).replace('\u{a0}', " ");
        assert_eq!(at_level, text.to_owned() + &more.replace("voxels", "voxels of level 6"));
    }
}
