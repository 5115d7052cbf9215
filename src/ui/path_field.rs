//! A text field for a path. Without the keyboard it shows the end of a path that is too long, since the end tells paths
//! apart; egui shows the beginning.

use egui::{
    Align2, Color32, FontSelection, Response, TextEdit, Ui,
    text::{CCursor, CCursorRange},
};

/// Points that egui leaves free beside the text of a field, both sides together.
const MARGIN: f32 = 8.0;

/// A field of this width with a text that shows while it is empty.
pub(super) fn path_field(ui: &mut Ui, salt: &str, path: &mut String, hint: &str, width: f32) -> Response {
    let font = FontSelection::default().resolve(ui.style());
    let color = ui.visuals().text_color();
    let layout = |ui: &Ui, text: String| ui.painter().layout_no_wrap(text, font.clone(), color);
    let wide = |ui: &Ui, text: &str| layout(ui, text.to_owned()).size().x;
    let id = ui.make_persistent_id(salt);
    let is_left = !ui.memory(|m| m.has_focus(id));
    let hides = is_left && wide(ui, path) > width - MARGIN;
    let field = TextEdit::singleline(path).id(id).hint_text(hint).desired_width(width);
    // The field always holds the whole path: what is typed and what a screen reader reads is the path itself.
    let field = if hides { field.text_color(Color32::TRANSPARENT) } else { field };
    let mut shown = field.show(ui);
    let response = shown.response.response;
    if !hides {
        return response;
    }
    let room = shown.text_clip_rect;
    let end = end_of(path, |text| wide(ui, text) <= room.width());
    let galley = layout(ui, end.clone());
    if response.has_focus() {
        // A click on the end of the path puts the cursor there, not where the hidden beginning has it.
        if let Some(at) = response.interact_pointer_pos() {
            let cursor = galley.cursor_from_pos(at - room.min);
            let after = end.chars().count().saturating_sub(cursor.index.0);
            let index = path.chars().count().saturating_sub(after);
            shown.state.cursor.set_char_range(Some(CCursorRange::one(CCursor::new(index))));
            shown.state.store(ui.ctx(), id);
        }
        ui.ctx().request_repaint();
    }
    let place = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), room);
    ui.painter_at(room).galley(place.min, galley, color);
    response
}

/// The longest end of a path that begins with a whole component and fits, after "…"; of a component that does not fit, the
/// last letters.
fn end_of(path: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(path) {
        return path.to_owned();
    }
    let shortened = |at: usize| format!("…{}", &path[at..]);
    let last = path.trim_end_matches(['/', '\\']).len();
    let mut components = path[..last].match_indices(['/', '\\']).map(|(at, _)| shortened(at));
    let whole = components.find(|text| fits(text));
    let mut letters = path.char_indices().skip(1).map(|(at, _)| shortened(at));
    whole.or_else(|| letters.find(|text| fits(text))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_components_are_shown_as_fit() {
        let within = |most: usize| move |text: &str| text.chars().count() <= most;
        let end = |path: &str, most: usize| end_of(path, within(most));
        assert_eq!(end("/home/me/out", 12), "/home/me/out");
        assert_eq!(end("/home/me/out", 11), "…/me/out");
        assert_eq!(end("/home/me/out", 7), "…/out");
        assert_eq!(end("/home/me/out/", 7), "…/out/");
        assert_eq!(end("/home/me/a-long-name", 6), "…-name");
        assert_eq!(end(r"C:\werk\außen", 8), r"…\außen");
        assert_eq!(end("äöü", 2), "…ü");
        assert_eq!((end("", 0), end("ä", 0)), (String::new(), String::new()));
    }

    /// All texts that are drawn in a colour that is seen.
    fn drawn(window: &egui_kittest::Harness<'_, crate::ui::tests::Panels>) -> Vec<String> {
        let shapes = &window.output().shapes;
        let text = |shape: &egui::epaint::ClippedShape| match &shape.shape {
            egui::Shape::Text(text) if text.galley.job.sections.iter().all(|s| s.format.color.a() > 0) => {
                Some(text.galley.text().to_owned())
            }
            _ => None,
        };
        shapes.iter().filter_map(text).collect()
    }

    #[test]
    fn a_long_folder_shows_its_end_and_is_edited_whole() {
        let mut window = crate::ui::tests::harness(1280.0, 900.0);
        let folder = "/home/somebody/work/museum/sherds/2026/export-of-the-large-vase".to_owned();
        window.state_mut().export =
            Some(crate::scene::ExportOrder { folder: folder.clone(), ..Default::default() });
        window.run_steps(4);
        let end = "/export-of-the-large-vase";
        let shows = |texts: &[String]| texts.iter().find(|text| text.ends_with(end)).cloned();
        let shown = shows(&drawn(&window)).expect("the end is drawn");
        assert!(shown.starts_with('…') && shown.len() < folder.len(), "{shown}");
        // A click behind the end puts the cursor there, and what is typed goes into the whole path.
        let place = window.state().rect("export_folder");
        let at = place.right_center() - egui::vec2(6.0, 0.0);
        window.drag_at(at);
        window.drop_at(at);
        window.run_steps(3);
        assert_eq!(shows(&drawn(&window)), Some(folder.clone()), "with the keyboard it is the path itself");
        window.event(egui::Event::Text("-2".into()));
        window.run_steps(2);
        let edited = |window: &egui_kittest::Harness<'_, crate::ui::tests::Panels>| {
            window.state().export.as_ref().unwrap().folder.clone()
        };
        assert_eq!(edited(&window), format!("{folder}-2"));
        window.key_press(egui::Key::Home);
        window.event(egui::Event::Text("/mnt".into()));
        window.run_steps(2);
        assert_eq!(edited(&window), format!("/mnt{folder}-2"));
    }
}
