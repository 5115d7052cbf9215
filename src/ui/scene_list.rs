//! The shipped scenes and the kept sessions as pictures; a click opens one.

use std::sync::Arc;

use super::{Command, KeptSession, UiOutput, UiState, pictures, theme};
use crate::{
    render::Pixels,
    scene::{SHIPPED_SCENES, shipped_scenes},
};

/// Size of a picture, points.
const SIZE: egui::Vec2 = egui::vec2(120.0, 80.0);
/// Space above the list, points.
const TOP: f32 = 60.0;
/// Pictures per row.
const ACROSS: usize = 3;
/// Rows of kept sessions; the command palette has all.
const MOST_ROWS: usize = 2;

/// The open list with its pictures.
#[derive(Default)]
pub(super) struct SceneList {
    pub is_open: bool,
    pictures: Vec<Option<Arc<Pixels>>>,
    textures: pictures::Textures,
}

/// The button that opens the list.
pub(super) fn button(ui: &mut egui::Ui, state: &mut UiState, out: &mut UiOutput) {
    let tip = "Scenes that come with Kintsugi, with pictures";
    let response =
        ui.add(egui::Button::selectable(state.scenes.is_open, "Scenes …").frame_when_inactive(true));
    out.name("scenes", &response);
    if response.on_hover_text(tip).clicked() {
        state.scenes.is_open = !state.scenes.is_open;
    }
}

pub(super) fn show(ctx: &egui::Context, state: &mut UiState, kept: &[KeptSession], out: &mut UiOutput) {
    let list = &mut state.scenes;
    if !list.is_open {
        list.textures.keep(|_| false);
        return;
    }
    list.textures.keep(|pixels| {
        let of_kept = kept.iter().filter_map(|session| session.picture.as_ref());
        of_kept.chain(list.pictures.iter().flatten()).any(|shown| Arc::ptr_eq(shown, pixels))
    });
    if list.pictures.is_empty() {
        list.pictures = SHIPPED_SCENES.iter().map(|scene| scene.picture().map(Arc::new)).collect();
    }
    let highest = (ctx.content_rect().height() - 150.0).max(120.0);
    let area = egui::Area::new(egui::Id::unique("scenes")).order(egui::Order::Foreground);
    // Anchored to the top: egui would take only the window's middle half as available height.
    area.anchor(egui::Align2::CENTER_TOP, egui::vec2(0.0, TOP)).show(ctx, |ui| {
        theme::float_frame(theme::GOLD).show(ui, |ui| {
            ui.set_width((SIZE.x + 6.0) * ACROSS as f32 + 10.0);
            ui.horizontal(|ui| {
                ui.label(egui::RichText::new("Scenes").size(15.0).color(theme::GOLD));
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    if ui.button("Close").clicked() {
                        list.is_open = false;
                    }
                });
            });
            egui::ScrollArea::vertical().max_height(highest).show(ui, |ui| {
                kept_sessions(ui, list, kept, out);
                if shipped_scenes().is_none() {
                    ui.label("Their folder, assets/scenes, is not beside the program.");
                    return;
                }
                for (row, scenes) in SHIPPED_SCENES.chunks(ACROSS).enumerate() {
                    ui.horizontal(|ui| {
                        ui.spacing_mut().item_spacing.x = 6.0;
                        for (i, scene) in scenes.iter().enumerate() {
                            let picture = list.pictures.get(row * ACROSS + i).and_then(Option::as_ref);
                            let shown = (scene.name, picture);
                            let tile = pictures::tile(ui, &mut list.textures, shown, SIZE, None);
                            out.name(format!("scene: {}", scene.name), &tile);
                            if tile.on_hover_text(scene.about).clicked() {
                                out.commands.extend(scene.path().map(Command::Open));
                                list.is_open = false;
                            }
                        }
                    });
                }
            });
        });
    });
}

/// Unsaved changes of earlier windows, if there are any.
fn kept_sessions(ui: &mut egui::Ui, list: &mut SceneList, kept: &[KeptSession], out: &mut UiOutput) {
    if kept.is_empty() {
        return;
    }
    ui.label(egui::RichText::new("Kept sessions: changes that were not saved").color(theme::DIM));
    for (row, sessions) in kept.chunks(ACROSS).take(MOST_ROWS).enumerate() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            for (i, session) in sessions.iter().enumerate() {
                let shown = (session.label.as_str(), session.picture.as_ref());
                let tile = pictures::tile(ui, &mut list.textures, shown, SIZE, None);
                let number = row * ACROSS + i;
                out.name(format!("session: {number}"), &tile);
                if tile.on_hover_text(&session.label).clicked() {
                    out.commands.push(Command::Reopen(number));
                    list.is_open = false;
                }
            }
        });
    }
    ui.separator();
}
