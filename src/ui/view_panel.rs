//! Display settings and the picture's quality.

use super::{
    UiInput, UiOutput, beside_panel, keymap, scale_rows, tune,
    widgets::{label, name_list, numbers},
};
use crate::{
    render::ColorBy,
    scene::{Coloring, Kind, Quantity, Tuning},
};

const COLORS: [(Coloring, &str, &str); 5] = [
    (Coloring::Look(ColorBy::Material), "material", "The object's own colours"),
    (Coloring::Look(ColorBy::Piece), "piece", "A colour for every piece"),
    (Coloring::Look(ColorBy::Normal), "normal", "Surface directions"),
    (
        Coloring::Look(ColorBy::Crack),
        "crack",
        "Crack faces, the original surface and cut faces in three colours",
    ),
    (Coloring::Look(ColorBy::Level), "level", "Octree level at which the ray stopped"),
];

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let mut new = tuning.clone();
    numbers(ui, out, Tuning::EXPLODED, &mut new);
    let view = &mut new.view;
    ui.horizontal(|ui| {
        label(ui, "Colour by", "What decides the colours");
        let look = COLORS.iter().find(|(c, ..)| *c == view.color_by).map_or("material", |(_, name, _)| name);
        let chosen = match view.color_by {
            Coloring::Value(quantity) => quantity.label.to_lowercase(),
            Coloring::Look(_) => look.to_owned(),
        };
        let combo = egui::ComboBox::from_id_salt("color by").selected_text(chosen).width(150.0);
        let response = combo.height(560.0).show_ui(ui, |ui| {
            for (color, name, tip) in COLORS {
                ui.selectable_value(&mut view.color_by, color, name).on_hover_text(tip);
            }
            let built = Quantity::ALL.into_iter().filter(|quantity| quantity.is_built());
            // Pieces have their colours above.
            for quantity in built.filter(|quantity| *quantity != Quantity::Part) {
                let response = ui.selectable_value(
                    &mut view.color_by,
                    Coloring::Value(quantity),
                    quantity.label.to_lowercase(),
                );
                out.name(format!("color_by_{}", quantity.name), &response.on_hover_text(quantity.help));
            }
        });
        name_list(&response.response, "Colour by");
        out.name("color_by", &response.response);
    });
    if matches!(view.color_by, Coloring::Value(quantity) if quantity.kind == Kind::Number) {
        scale_rows::show(ui, &mut view.scale, out);
    }
    numbers(ui, out, Tuning::QUALITY, &mut new);
    let floor = ui.checkbox(&mut new.view.floor, "Floor").on_hover_text("Draw the floor");
    out.name("floor", &floor);
    let tip = "Draw thin dark lines where pieces of an object lie together, so that one sees what is broken";
    ui.horizontal(|ui| {
        let hairlines = ui.checkbox(&mut new.view.hairlines, "Crack lines").on_hover_text(tip);
        out.name("hairlines", &hairlines);
        let tip = "Draw a bar of a round length, in picture files and films too; it holds at the middle of the view";
        let bar = ui.checkbox(&mut new.view.scale_bar, "Scale bar").on_hover_text(tip);
        out.name("scale_bar_on", &bar);
    });
    ui.horizontal(|ui| {
        let tip = "Leave background and floor of picture files and films out";
        let response = ui.checkbox(&mut new.view.transparent, "Transparent files").on_hover_text(tip);
        out.name("transparent", &response);
        let tip = "Keep the shadows on the floor of transparent files";
        let shadows = egui::Checkbox::new(&mut new.view.catches_shadows, "with shadows");
        let response = ui.add_enabled(new.view.transparent, shadows).on_hover_text(tip);
        out.name("catches_shadows", &response);
    });
    if new != *tuning {
        tune(out, "view", new);
    }
    beside_panel::show(ui, input, out);
    picture_size(ui, input, out);
    label(
        ui,
        "Keys, mouse",
        "Mouse buttons and keys that move the eye; F1 lists them. The choice is remembered",
    );
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        keymap::choose(ui, input.keymap, out);
    });
    let [w, h] = input.picture_size;
    super::widgets::figure(ui, "Picture", format!("{w} × {h}, {:.0} ms", input.frame_ms));
}

/// Sizes for written pictures, besides the window's own.
const SIZES: [[u32; 2]; 5] = [[1280, 720], [1920, 1080], [2560, 1440], [3840, 2160], [2048, 2048]];

/// Size of the pictures that F12 writes.
fn picture_size(ui: &mut egui::Ui, input: &UiInput<'_>, out: &mut UiOutput) {
    let named = |size: Option<[u32; 2]>| match size {
        Some([w, h]) => format!("{w} × {h}"),
        None => "as the window".to_owned(),
    };
    let mut size = input.written_size;
    ui.horizontal(|ui| {
        label(
            ui,
            "Picture files",
            "Width and height in pixels of pictures that F12 writes, always fully refined. Each of several views \
             side by side has this size, in one file",
        );
        let combo = egui::ComboBox::from_id_salt("files").selected_text(named(size)).width(150.0);
        let response = combo.show_ui(ui, |ui| {
            for one in std::iter::once(None).chain(SIZES.map(Some)) {
                ui.selectable_value(&mut size, one, named(one));
            }
        });
        name_list(&response.response, "Picture files");
        out.name("written_size", &response.response);
    });
    if size != input.written_size {
        out.push(super::Command::PictureSize(size));
    }
}
