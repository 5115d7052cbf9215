//! How the next blow breaks.

use super::{
    UiInput, UiOutput, crack_panel, theme, tune,
    widgets::{SliderLook, figure, label, slider},
};
use crate::{
    fracture::{Interior, Material, Surface},
    scene::{PreviewMode, Tuning},
};

/// Most sphere radii in the list.
const MOST_RADII: usize = 8;
/// Local radius to begin with: the default's two inner spheres break off.
const LOCAL: f64 = 0.3;

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let mut new = tuning.clone();
    let params = &mut new.fracture;
    let look = SliderLook { logarithmic: true, ..SliderLook::WHOLE };
    let response = slider(
        ui,
        "Seeds",
        "How many crack cells: more seeds, more pieces",
        &mut params.seeds,
        2..=400,
        &look,
    );
    out.name("seeds", &response);

    ui.label(egui::RichText::new("Sphere radii").color(theme::DIM)).on_hover_text(
        "Cracks gather on spheres round the blow. Fractions of the object's longest side; drag the numbers.",
    );
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        for radius in &mut params.radii {
            let field = egui::DragValue::new(radius).range(0.005..=3.0).speed(0.004).fixed_decimals(2);
            let field = ui.add(field).on_hover_text("Radius as a fraction of the longest side");
            out.name("radius", &field);
        }
        if params.radii.len() < MOST_RADII && ui.button("+").on_hover_text("Add a larger sphere").clicked() {
            let largest = params.radii.iter().copied().fold(0.1, f64::max);
            params.radii.push((largest * 1.5).min(3.0));
        }
        if params.radii.len() > 1 && ui.button("−").on_hover_text("Remove the last sphere").clicked() {
            params.radii.pop();
        }
    });

    ui.horizontal(|ui| {
        label(ui, "Local", "Breaks off only what is near the blow; the rest stays one body");
        let mut on = params.local.is_some();
        let field = ui.checkbox(&mut on, "only near the blow");
        let field = field.on_hover_text("Breaks off only what is near the blow; the rest stays one body");
        out.name("local", &field);
        if field.changed() {
            params.local = on.then_some(LOCAL);
        }
    });
    if let Some(radius) = &mut params.local {
        let look = SliderLook { logarithmic: true, ..SliderLook::unit("", 2) };
        let tip =
            "Cells whose seed is farther from the blow stay; a fraction of the longest side, as the radii";
        let response = slider(ui, "Local radius", tip, radius, 0.02..=1.5, &look);
        out.name("local radius", &response);
    }

    ui.horizontal(|ui| {
        label(ui, "Random seed", "The same number gives the same cracks");
        let field = ui.add(egui::DragValue::new(&mut params.rng).range(0..=999_999_u64).speed(0.1));
        out.name("rng", &field);
        let roll = ui.button("⟲").on_hover_text("Another random seed");
        out.name("reroll", &roll);
        if roll.clicked() {
            params.rng = (params.rng.wrapping_mul(7919).wrapping_add(104_729)) % 1_000_000;
        }
        ui.checkbox(&mut new.lock_rng, "lock").on_hover_text("Keep this number for every blow");
    });

    ui.horizontal(|ui| {
        label(ui, "Surface", "How the crack faces look");
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 6.0;
        for (surface, name, tip) in [
            (Surface::Planar, "planar", "Flat faces between the cells"),
            (Surface::Rough, "rough", "Broken faces, made at the transition level"),
            (Surface::Dusty, "dusty", "Broken faces with a gap between them: what lay there is dust"),
        ] {
            let chosen = new.fracture.surface == surface;
            let button = ui.add(egui::Button::selectable(chosen, name)).on_hover_text(tip);
            out.name(name, &button);
            if button.clicked() {
                new.fracture.surface = surface;
            }
        }
    });

    let leaf = input.sandbox.and_then(|s| s.objects().first()).map_or(7, |o| o.scene.level);
    if new.fracture.surface != Surface::Planar {
        crack_panel::show(ui, leaf, &mut new.fracture, out);
    }
    let mut island = new.fracture.island_level.unwrap_or(leaf).min(leaf);
    let tip = "Parts that touch only finer than this count as one piece; the full detail keeps every loose part apart";
    let response = slider(ui, "Island level", tip, &mut island, 2..=leaf.max(3), &SliderLook::WHOLE);
    out.name("island", &response);
    if response.changed() {
        new.fracture.island_level = (island < leaf).then_some(island);
    }

    let tip = "Speed that the pieces at the hit point get; 0 only cracks";
    let response = slider(ui, "Blow", tip, &mut new.blow_speed, 0.0..=10.0, &SliderLook::unit(" m/s", 1));
    out.name("blow", &response);

    inside(ui, input, &mut new.fracture.interior, out);
    preview(ui, input, &mut new, out);

    if new != *tuning {
        tune(out, "fracture", new);
    }
}

/// What crack faces show: material and colour.
fn inside(ui: &mut egui::Ui, input: &UiInput<'_>, interior: &mut Interior, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(
            ui,
            "Inside",
            "What the object is made of: shown by its crack faces, also by those that are there",
        );
        let combo =
            egui::ComboBox::from_id_salt("inside").selected_text(interior.material.name()).width(96.0);
        let response = combo.show_ui(ui, |ui| {
            for material in Material::ALL {
                ui.selectable_value(&mut interior.material, material, material.name())
                    .on_hover_text(about(material));
            }
        });
        out.name("inside", &response.response);
        let surface = input.sandbox.and_then(|s| s.objects().first()).map_or([140; 3], |o| o.surface_color);
        let mut color = interior.volume(surface).base();
        let button = ui.color_edit_button_srgb(&mut color).on_hover_text("Its colour");
        out.name("inside_color", &button);
        if button.changed() {
            interior.color = Some(color);
        }
        if interior.color.is_some() {
            let follow = ui.button("⟲").on_hover_text("Take the colour from the object's surface again");
            out.name("inside_follow", &follow);
            if follow.clicked() {
                interior.color = None;
            }
        }
    });
}

fn about(material: Material) -> &'static str {
    match material {
        Material::Plain => "One even colour: the surface's own",
        Material::Clay => "Fired clay with grit and pores",
        Material::Stone => "Granite",
        Material::Marble => "White with dark veins",
        Material::Wood => "Rings round an upright axis",
        Material::Porcelain => "Dense and nearly white",
    }
}

/// Pieces that are not drawn apart look like the whole: choosing "exploded" parts them by this.
const APART: f64 = 0.2;

/// How the aimed blow is shown, and how finely it is computed just now.
fn preview(ui: &mut egui::Ui, input: &UiInput<'_>, new: &mut Tuning, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, "Preview", "What the aimed blow would do, before it falls");
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 6.0;
        let modes = [
            (PreviewMode::Seams, "preview_seams", "seams", "Its cracks in gold on the whole object"),
            (
                PreviewMode::Exploded,
                "preview_exploded",
                "exploded",
                "Coarse pieces, apart by the explode slider under View",
            ),
            (PreviewMode::Off, "preview_off", "off", "Nothing"),
        ];
        for (mode, name, text, tip) in modes {
            let button = egui::Button::selectable(new.view.preview == mode, text);
            let response = ui.add(button).on_hover_text(tip);
            out.name(name, &response);
            if response.clicked() {
                new.view.preview = mode;
                if mode == PreviewMode::Exploded && new.view.explode == 0.0 {
                    new.view.explode = APART;
                }
            }
        }
    });
    let report = input.sandbox.map(crate::scene::Sandbox::preview).filter(|r| r.showing.is_some());
    let text =
        report.map_or_else(|| "–".to_owned(), |r| format!("preview level {}, {:.0} ms", r.level, r.ms));
    figure(ui, "", text);
}
