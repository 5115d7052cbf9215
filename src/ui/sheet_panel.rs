//! The sheet of variants over the picture: what is varied, and a grid of tiles; a click keeps a tile's values.
//!
//! In: [`SheetView`](super::SheetView). Out: the commands that change, keep, save and close.

use std::sync::Arc;

use egui::{Align, Align2, Layout, RichText, Vec2, vec2};

use super::{
    Command, SheetTile, UiInput, UiOutput, export_panel,
    pictures::{self, Textures},
    theme,
    widgets::{grouped, label, name_list},
};
use crate::scene::{
    Sandbox,
    variants::{Axis, varied},
};

/// Widest and narrowest contents of the panel, points.
const WIDEST: f32 = 640.0;
const NARROWEST: f32 = 250.0;
/// Widest and narrowest tile, points, and the height of tiles as a share of it.
const TILE: (f32, f32) = (64.0, 150.0);
const HEIGHT: f32 = 6.0 / 7.0;
/// Gap between tiles, and height of a tile's label, points.
const GAP: f32 = 6.0;
const LABEL: f32 = 16.0;
/// Height of everything but the tiles, and least height of these, points.
const REST: f32 = 250.0;
const LEAST: f32 = 90.0;
/// The list that may be left empty.
const ROWS: &str = "sheet_rows";

pub(super) fn show(ctx: &egui::Context, textures: &mut Textures, input: &UiInput<'_>, out: &mut UiOutput) {
    let shown = input.sheet.as_ref().zip(input.sandbox);
    textures.keep(|pixels| {
        let tiles = shown.iter().flat_map(|(view, _)| view.tiles);
        tiles.filter_map(picture).any(|picture| Arc::ptr_eq(picture, pixels))
    });
    let Some((view, sandbox)) = shown else { return };
    let place = out.middle.unwrap_or_else(|| ctx.content_rect());
    let width = (place.width() - 56.0).clamp(NARROWEST, WIDEST);
    let mut new = view.order.clone();
    let area = egui::Area::new(egui::Id::unique("sheet")).pivot(Align2::CENTER_BOTTOM);
    area.fixed_pos(place.center_bottom() - vec2(0.0, 8.0)).show(ctx, |ui| {
        theme::float_frame(theme::GOLD).show(ui, |ui| {
            ui.set_width(width);
            ui.horizontal(|ui| {
                ui.label(RichText::new("Variants").size(16.0).strong().color(theme::GOLD));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let close = ui.button("×").on_hover_text("Close (Esc)");
                    out.on_click("sheet_close", &close, || Command::ToggleSheet);
                });
            });
            let tip = "What differs from tile to tile";
            if let Some(columns) = axis(ui, ("sheet_columns", "Vary", tip), Some(&new.columns), sandbox, out)
            {
                new.columns = columns;
            }
            let tip = "A second parameter: its values go down, those of the first one across";
            new.rows = axis(ui, (ROWS, "And in rows", tip), new.rows.as_ref(), sandbox, out);
            if let Some([tiles, object]) = view.levels.filter(|[tiles, object]| tiles < object) {
                let text = format!("Tiles are broken at level {tiles}, the object has level {object}");
                ui.label(RichText::new(text).small().color(theme::DIM));
            }
            if let Some(problem) = view.problem {
                ui.add(egui::Label::new(RichText::new(problem).color(theme::BAD)).wrap());
            }
            let room = (place.height() - REST).max(LEAST);
            tiles(ui, textures, (input, width, room), out);
            foot(ui, input, out);
        });
    });
    if new != *view.order {
        out.push(Command::ChangeSheet(Box::new(new)));
    }
}

fn picture(tile: &SheetTile) -> Option<&Arc<crate::render::Pixels>> {
    tile.made.as_ref()?.as_ref().ok().map(|(pixels, _)| pixels)
}

/// The list of parameters, and the values of the chosen one. `None` if no parameter is chosen.
fn axis(
    ui: &mut egui::Ui,
    (name, title, tip): (&'static str, &str, &str),
    now: Option<&Axis>,
    sandbox: &Sandbox,
    out: &mut UiOutput,
) -> Option<Axis> {
    let mut new = now.cloned();
    let leaf = sandbox.shown_object().map_or(7, |object| object.scene.level);
    ui.horizontal(|ui| {
        label(ui, title, tip);
        let chosen = now.and_then(|axis| varied().find(|row| row.of.path == axis.path));
        let combo =
            egui::ComboBox::from_id_salt(name).selected_text(chosen.map_or("none", |row| row.of.label));
        let response = combo.width(150.0).show_ui(ui, |ui| {
            if name == ROWS && ui.add(egui::Button::selectable(now.is_none(), "none")).clicked() {
                new = None;
            }
            for row in varied() {
                let is_chosen = now.is_some_and(|axis| axis.path == row.of.path);
                let entry =
                    ui.add(egui::Button::selectable(is_chosen, row.of.label)).on_hover_text(row.of.help);
                out.name(format!("{name}: {}", row.of.path), &entry);
                if entry.clicked() {
                    new = Some(Axis::usual(row.of.path, &sandbox.tuning().fracture, leaf));
                }
            }
        });
        name_list(&response.response, title);
        out.name(name, &response.response);
    });
    if let Some(axis) = &mut new {
        ui.horizontal(|ui| {
            let tip = "With commas between them";
            label(ui, "Values", tip);
            let width = ui.available_width() - 8.0;
            let field = ui.add(egui::TextEdit::singleline(&mut axis.values).desired_width(width));
            out.name(format!("{name}_values"), &field.on_hover_text(tip));
        });
    }
    new
}

/// The grid.
fn tiles(
    ui: &mut egui::Ui,
    textures: &mut Textures,
    (input, width, room): (&UiInput<'_>, f32, f32),
    out: &mut UiOutput,
) {
    let Some(view) = input.sheet.as_ref().filter(|view| !view.tiles.is_empty()) else { return };
    let columns = view.columns.max(1);
    let side = ((width + GAP) / columns as f32 - GAP).clamp(TILE.0, TILE.1);
    let size = vec2(side, side * HEIGHT);
    // Without a least height egui offers the next frame no more than the area had.
    let rows = view.tiles.len().div_ceil(columns) as f32;
    let height = (rows * (size.y + LABEL + GAP)).min(room);
    let scroll = egui::ScrollArea::both().id_salt("tiles").max_height(height).min_scrolled_height(height);
    scroll.show(ui, |ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(GAP);
        for (row, tiles) in view.tiles.chunks(columns).enumerate() {
            ui.horizontal(|ui| {
                for (column, of) in tiles.iter().enumerate() {
                    let number = row * columns + column;
                    tile(ui, textures, (number, of), (size, view.kept == Some(number)), out);
                }
            });
        }
    });
}

/// A tile: a click keeps its values, a double click closes the sheet as well.
fn tile(
    ui: &mut egui::Ui,
    textures: &mut Textures,
    (number, of): (usize, &SheetTile),
    (size, is_kept): (Vec2, bool),
    out: &mut UiOutput,
) {
    let response = pictures::tile(ui, textures, (&of.label, picture(of)), size, Some(is_kept));
    let (inside, told) = match &of.made {
        None => (Some("…"), "it is being made".to_owned()),
        Some(Err(why)) => (Some(why.as_str()), why.clone()),
        Some(Ok((_, 1))) => (None, "1 piece".to_owned()),
        Some(Ok((_, pieces))) => (None, format!("{} pieces", grouped(*pieces as u64))),
    };
    if let Some(text) = inside {
        let frame = egui::Rect::from_min_size(response.rect.min, size).shrink(4.0);
        let (font, color) = (egui::TextStyle::Small.resolve(ui.style()), theme::DIM);
        let galley = ui.painter().layout(text.to_owned(), font, color, frame.width());
        ui.painter_at(frame).galley(frame.min, galley, color);
    }
    let response = response.on_hover_text(format!("{}: {told}", of.label));
    // What shows of it: the rest is scrolled out of sight.
    out.rects.push((format!("sheet_tile_{number}").into(), response.interact_rect));
    if matches!(of.made, Some(Ok(_))) && response.clicked() {
        out.push(Command::KeepVariant(number));
        if response.double_clicked() {
            out.push(Command::ToggleSheet);
        }
    }
}

/// The buttons, how far the tiles are, and the command that draws the same.
fn foot(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let Some(view) = &input.sheet else { return };
    let made = view.tiles.iter().filter(|tile| tile.made.is_some()).count();
    let is_done = made == view.tiles.len() && made > 0;
    ui.horizontal(|ui| {
        let keep = ui.add_enabled(view.kept.is_some(), egui::Button::new("Keep and close"));
        let keep = keep.on_hover_text("The panels have the values of the marked tile");
        let keep = keep.on_disabled_hover_text("Click a tile to keep its values");
        out.on_click("sheet_keep", &keep, || Command::ToggleSheet);
        let save = ui.add_enabled(is_done, egui::Button::new("Save sheet …"));
        let save = save.on_hover_text("Write the tiles with their labels to a picture file");
        out.on_click("sheet_save", &save, || Command::SaveSheet);
        if !is_done && made < view.tiles.len() {
            ui.label(RichText::new(format!("{made} of {}", view.tiles.len())).small().color(theme::DIM));
        }
    });
    if let Some(command) = view.command {
        export_panel::repeat(ui, "sheet_copy", command, out);
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::{Harness, kittest::Queryable as _};

    use super::*;
    use crate::{
        render::Pixels,
        scene::variants::SheetOrder,
        ui::tests::{Panels, harness, press},
    };

    /// A sheet of three tiles: two with pictures, one without a crack.
    fn open(width: f32, height: f32) -> Harness<'static, Panels> {
        let mut harness = harness(width, height);
        let pixels = Arc::new(Pixels { size: [7, 6], rgba: vec![200; 4 * 42] });
        let tile = |label: &str, made| SheetTile { label: label.into(), made: Some(made) };
        let tiles = vec![
            tile("seeds = 6", Ok((Arc::clone(&pixels), 5))),
            tile("seeds = 24", Ok((pixels, 1234))),
            tile("seeds = 1", Err("the blow made no crack here".into())),
        ];
        let columns = Axis { path: "seeds", values: "6, 24, 1".into() };
        harness.state_mut().sheet = Some((SheetOrder { columns, rows: None }, tiles));
        harness.run_steps(4);
        harness.state_mut().asked.clear();
        harness
    }

    #[test]
    fn the_sheet_is_asked_for_under_fracture_and_by_name() {
        let mut harness = harness(1280.0, 2400.0);
        press(&mut harness, "sheet …");
        assert_eq!(harness.state().asked.last(), Some(&Command::ToggleSheet));
        harness.state_mut().asked.clear();
        harness.state_mut().state.palette = Some("variants".into());
        harness.run_steps(3);
        press(&mut harness, "Variants: a sheet to choose from ");
        assert_eq!(harness.state().asked, [Command::ToggleSheet]);
    }

    #[test]
    fn a_click_on_a_tile_keeps_it_and_escape_closes() {
        let mut harness = open(1280.0, 800.0);
        press(&mut harness, "seeds = 24");
        assert_eq!(harness.state().asked, [Command::KeepVariant(1)]);
        harness.state_mut().asked.clear();
        press(&mut harness, "seeds = 1");
        assert_eq!(harness.state().asked, [], "there is nothing to keep");
        press(&mut harness, "Save sheet …");
        assert_eq!(harness.state().asked, [Command::SaveSheet]);
        harness.state_mut().asked.clear();
        harness.key_press(egui::Key::Escape);
        harness.run_steps(2);
        assert_eq!(harness.state().asked, [Command::ToggleSheet]);
        harness.get_by_label("seeds = 24").hover();
        harness.run_steps(60);
        assert!(harness.query_by_label("seeds = 24: 1\u{2009}234 pieces").is_some());
    }

    #[test]
    fn another_parameter_brings_its_usual_values() {
        let mut harness = open(1280.0, 800.0);
        press(&mut harness, "Vary");
        press(&mut harness, "Pattern");
        let order = |harness: &Harness<'static, Panels>| harness.state().sheet.as_ref().unwrap().0.clone();
        assert_eq!((order(&harness).columns.path, order(&harness).rows), ("preset", None));
        assert!(order(&harness).columns.values.starts_with("spheres, uniform, "));
        press(&mut harness, "And in rows");
        press(&mut harness, "Clusters");
        let clusters = Axis { path: "clusters", values: "3, 5, 10, 20".into() };
        assert_eq!(order(&harness).rows, Some(clusters));
        let field = harness.state().rect("sheet_rows_values").center();
        harness.drag_at(field);
        harness.drop_at(field);
        harness.run_steps(2);
        harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
        harness.event(egui::Event::Text("3, 4".into()));
        harness.run_steps(2);
        assert_eq!(order(&harness).rows.map(|rows| rows.values).as_deref(), Some("3, 4"));
    }

    #[test]
    fn tiles_and_buttons_lie_in_the_window_and_apart() {
        for (width, height) in [(1280.0, 800.0), (800.0, 600.0), (640.0, 480.0)] {
            let harness = open(width, height);
            let window = egui::Rect::from_min_size(egui::Pos2::ZERO, vec2(width, height));
            let names = [
                "sheet_columns",
                "sheet_columns_values",
                "sheet_tile_0",
                "sheet_tile_1",
                "sheet_keep",
                "sheet_save",
            ];
            let rects = names.map(|name| harness.state().rect(name));
            for (i, rect) in rects.iter().enumerate() {
                assert!(window.contains_rect(*rect), "{} is outside at {width}: {rect}", names[i]);
                let covered = rects[..i].iter().any(|at| at.shrink(0.5).intersects(rect.shrink(0.5)));
                assert!(!covered, "{} covers another at {width}", names[i]);
            }
        }
    }
}
