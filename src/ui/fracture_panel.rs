//! Settings of the next fracture.

use super::{
    Command, UiInput, UiOutput, crack_panel, method_panel, tune,
    widgets::{figure, label, level, name_list, numbers},
};
use crate::{
    fracture::{
        CHIPS, FractureParams, MAX_SEEDS, Material, PRESETS, Preset, SURFACE, SmallRule, Smallest, Surface,
        cutter,
    },
    scene::{PreviewMode, PreviewReport, Tuning, is_cutter},
};

/// Most sphere radii that the list shows.
const MOST_RADII: usize = 8;
/// Local radius when the option is switched on: with the default radii, the two inner spheres break off.
const LOCAL: f64 = 0.3;

pub(super) fn show(ui: &mut egui::Ui, input: &UiInput<'_>, tuning: &Tuning, out: &mut UiOutput) {
    let mut new = tuning.clone();
    if let Some(sandbox) = input.sandbox.filter(|sandbox| sandbox.objects().len() > 1) {
        let all = || format!("all {}", sandbox.objects().len());
        let only = |object: usize| format!("only {}", sandbox.object_name(object));
        figure(ui, "Object", sandbox.focus().map_or_else(all, only));
    }
    // First, since the preview shows the effect of all rows below.
    preview(ui, input, &mut new, out);
    if new.fracture.method.entry().by_seeds {
        // Near the top, so that it stays in sight however many rows follow.
        super::kept_panel::show(ui, input, out);
        super::brush_panel::show(ui, input, tuning, out);
    }
    let params = &mut new.fracture;
    method_panel::show(ui, params, out);
    cutter_file(ui, params, out);
    if params.method.entry().by_seeds {
        by_seeds(ui, params, out);
    }
    random_seed(ui, &mut new, out);
    if new.fracture.method.entry().of_voxels {
        surface(ui, input, &mut new.fracture, out);
    }
    if new.fracture.method.entry().by_seeds {
        smallest(ui, &mut new.fracture, out);
    }

    numbers(ui, out, Tuning::BLOW, &mut new);

    // The row is there without a pin, too, so that pinning moves no row under the pointer.
    let pinned = new.pin.is_some();
    let mut none = glam::DVec3::ZERO;
    let way = new.pin.as_mut().map_or(&mut none, |pin| &mut pin.aim.direction_in_grid);
    ui.add_enabled_ui(pinned, |ui| direction(ui, way, out));

    inside(ui, input, &mut new.fracture, out);
    let entry = new.fracture.method.entry();
    // Where the method makes none, a number that is set can be taken back.
    if (entry.by_seeds && entry.of_voxels) || new.fracture.chips > 0 {
        let header = egui::CollapsingHeader::new("Chips along cracks").id_salt("chips along cracks");
        let section = header.show_unindented(ui, |ui| numbers(ui, out, CHIPS, &mut new.fracture));
        out.name("chips_along_cracks", &section.header_response);
    }

    if new != *tuning {
        tune(out, "fracture", new);
    }
}

/// Where the seeds lie and which of their cells break off.
fn by_seeds(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    seeds_file(ui, params);
    how_many(ui, params, out);
    pattern(ui, params, out);
    if params.preset.has_radii() {
        radii(ui, params, out);
    }
    if params.preset == Preset::Lattice && params.target_pieces.is_none() {
        lattice(ui, params, out);
    }
    if params.preset.has_axis() {
        let tip = "The axis of the object that splinters and columns run along, and along which bricks and slabs lie on each \
                   other";
        grain_axis(ui, &mut params.grain_axis, tip);
    }
    numbers(ui, out, PRESETS, params);

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
    one_of(ui, out, "local", params);
}

/// The row of a value of the table, if the value is set.
fn one_of(ui: &mut egui::Ui, out: &mut UiOutput, path: &str, params: &mut FractureParams) {
    if let Some(row) = FractureParams::rows().find(|row| row.of.path == path) {
        numbers(ui, out, std::slice::from_ref(row), params);
    }
}

fn random_seed(ui: &mut egui::Ui, new: &mut Tuning, out: &mut UiOutput) {
    let params = &mut new.fracture;
    ui.horizontal(|ui| {
        label(ui, "Random seed", "The same number gives the same cracks");
        let field = ui.add(
            egui::DragValue::new(&mut params.rng)
                .range(0..=999_999_u64)
                .clamp_existing_to_range(false)
                .speed(0.1),
        );
        let field = field.on_hover_text("The same number gives the same cracks");
        out.name("rng", &field);
        let roll = ui.button("⟲").on_hover_text("Another random seed");
        out.name("reroll", &roll);
        if roll.clicked() {
            params.rng = (params.rng.wrapping_mul(7919).wrapping_add(104_729)) % 1_000_000;
        }
        ui.checkbox(&mut new.lock_rng, "lock").on_hover_text("Keep this number for every blow");
    });
    ui.horizontal(|ui| {
        let tip = "The same blow with other values of a parameter, on a sheet to choose from; random seeds at first";
        label(ui, "Variants", tip);
        let sheet = ui.button("sheet …").on_hover_text(tip);
        out.on_click("sheet_open", &sheet, || Command::ToggleSheet);
    });
}

/// How crack faces look, which parts form one piece, and what happens to small pieces.
fn surface(ui: &mut egui::Ui, input: &UiInput<'_>, params: &mut FractureParams, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, "Surface", "How the crack faces look");
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 6.0;
        for (surface, name, tip) in [
            (Surface::Planar, "planar", "Flat faces between the cells"),
            (Surface::Rough, "rough", "Broken faces, made at the transition level"),
            (Surface::Dusty, "dusty", "Broken faces with a gap between them: what lay there is dust"),
        ] {
            let chosen = params.surface == surface;
            let button = ui.add(egui::Button::selectable(chosen, name)).on_hover_text(tip);
            out.name(name, &button);
            if button.clicked() {
                params.surface = surface;
            }
        }
    });

    let leaf = input.sandbox.and_then(|s| s.shown_object()).map_or(7, |o| o.scene.level);
    if params.surface != Surface::Planar {
        crack_panel::show(ui, leaf, params, out);
    }
    for row in SURFACE {
        if row.of.path != "island_level" {
            numbers(ui, out, std::slice::from_ref(row), params);
            continue;
        }
        let mut island = params.island_level.unwrap_or(leaf).min(leaf);
        if level(ui, out, &row.of, &mut island, leaf) {
            params.island_level = (island < leaf).then_some(island);
        }
    }
}

/// The mesh that the method cutter cuts by. A file that another method wants goes with that method.
fn cutter_file(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    let cuts = params.method == cutter::METHOD.id();
    if params.seeds_file.as_ref().is_some_and(|file| is_cutter(file.as_ref()) != cuts) {
        params.seeds_file = None;
    }
    if !cuts {
        return;
    }
    ui.horizontal(|ui| {
        let tip =
            "A closed mesh: what of an intact object lies in it comes off; each of its bodies cuts a piece";
        label(ui, "Cutter", tip);
        let button = ui.button("choose …").on_hover_text(tip);
        out.on_click("cutter", &button, || Command::CutterDialog);
        let file = params.seeds_file.as_ref().map(std::path::Path::new);
        let name = file.and_then(std::path::Path::file_name).unwrap_or_default().to_string_lossy();
        ui.add(egui::Label::new(name.into_owned()).truncate());
    });
}

/// Seeds that a scene brought, with a button that discards them.
fn seeds_file(ui: &mut egui::Ui, params: &mut FractureParams) {
    let Some(file) = &params.seeds_file else { return };
    let name = std::path::Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut away = false;
    ui.horizontal(|ui| {
        let tip = "An intact object breaks by the seeds in this file, or along the dark lines of this picture as seen along the \
                   blow; its pieces break by the pattern below";
        label(ui, "Seeds from", tip);
        away = ui.button("×").on_hover_text("Break by the pattern below instead").clicked();
        ui.add(egui::Label::new(name).truncate());
    });
    if away {
        params.seeds_file = None;
    }
}

/// Number of seeds, or number of pieces to aim for.
fn how_many(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    if params.target_pieces.is_some() {
        one_of(ui, out, "target_pieces", params);
    } else {
        let own_counts = !params.counts.is_empty();
        let mut shown = FractureParams { seeds: params.seed_count(), ..FractureParams::default() };
        ui.add_enabled_ui(!own_counts, |ui| one_of(ui, out, "seeds", &mut shown));
        if !own_counts {
            params.seeds = shown.seeds;
        }
    }
    let mut aim = params.target_pieces.is_some();
    let tip = "Set the number of pieces instead of the number of seeds; the blow is computed several times to find it";
    let response = ui.checkbox(&mut aim, "aim at a number of pieces").on_hover_text(tip);
    out.name("aim", &response);
    if response.changed() {
        params.target_pieces = aim.then_some(params.seeds.clamp(2, MAX_SEEDS));
        if aim {
            params.counts.clear();
            params.seeds_file = None;
        }
    }
}

/// The pattern of the cracks; there is no room for a heading.
fn pattern(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding.x = 4.0;
        for preset in Preset::ALL {
            let tip = match preset {
                Preset::Spheres => "Small pieces at the blow, larger ones farther away",
                Preset::Uniform => "Pieces of about one size everywhere",
                Preset::Clustered => "Crumbs here and there between large pieces",
                Preset::Radial => "Spokes and rings round the blow, as a pane of glass breaks",
                Preset::Grain => "Long splinters along an axis, as wood breaks",
                Preset::Inward => "Between the surface and the middle, more of them near a strong blow",
                Preset::Bricks => "Bricks in courses that overlap by half; Seeds is how many fill the bounds",
                Preset::Hexagons => {
                    "Hexagonal columns along an axis, as basalt cracks; Seeds is how many fill the bounds"
                }
                Preset::Slabs => "Slabs across an axis, as thick as Thickness says, else as many as Seeds",
                Preset::Lattice => "Equal boxes along the axes of the object; Seeds is how many fill the bounds",
                Preset::Chips => "Chips where the cracks of a piece meet the outside; Seeds is how many",
            };
            let text = egui::RichText::new(preset.name()).small();
            let button = ui.add(egui::Button::selectable(params.preset == preset, text)).on_hover_text(tip);
            if preset == Preset::Grain {
                out.name("grain", &button);
            }
            if button.clicked() {
                if !(preset.has_radii() && params.preset.has_radii()) && preset != params.preset {
                    params.counts.clear();
                }
                params.preset = preset;
            }
        }
        let tip = "Choose a picture whose dark lines are the cracks, as seen along the blow; or drop it on the window";
        let button = ui.button(egui::RichText::new("picture …").small()).on_hover_text(tip);
        out.on_click("crack picture", &button, || Command::OpenDialog);
    });
}

fn radii(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        let name = if params.preset == Preset::Radial { "Ring radii" } else { "Sphere radii" };
        label(ui, name, "Cracks gather there. Fractions of the object's longest side; drag the numbers.");
        if params.target_pieces.is_none() {
            let mut each = !params.counts.is_empty();
            let box_ =
                ui.checkbox(&mut each, "seeds for each").on_hover_text("Give every radius its own number");
            if box_.changed() {
                let share = params.seed_count().div_ceil(params.radii.len().max(1) as u32).max(1);
                params.seeds = params.seed_count().max(1);
                params.counts = if each { vec![share; params.radii.len()] } else { Vec::new() };
            }
        }
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        for radius in &mut params.radii {
            let field = egui::DragValue::new(radius)
                .range(0.001..=100.0)
                .clamp_existing_to_range(false)
                .speed(0.004)
                .fixed_decimals(2);
            let field = ui.add(field).on_hover_text("Radius as a fraction of the longest side");
            out.name("radius", &field);
        }
        let many = params.radii.len();
        if many < MOST_RADII && ui.button("+").on_hover_text("Add a larger one").clicked() {
            let largest = params.radii.iter().copied().fold(0.1, f64::max);
            params.radii.push((largest * 1.5).min(3.0));
        }
        if many > 1 && ui.button("−").on_hover_text("Remove the last one").clicked() {
            params.radii.pop();
        }
    });
    if !params.counts.is_empty() {
        params.counts.resize(params.radii.len(), 10);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 5.0;
            for count in &mut params.counts {
                let field =
                    egui::DragValue::new(count).range(1..=500).clamp_existing_to_range(false).speed(0.1);
                ui.add(field).on_hover_text("Seeds at this radius");
            }
        });
    }
}

/// Cells of a lattice along each axis, instead of their number in all.
fn lattice(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    let tip = "Give the number of boxes along x, y and z of the object";
    ui.horizontal(|ui| {
        label(ui, "Cells", tip);
        ui.spacing_mut().item_spacing.x = 3.0;
        let mut each = !params.counts.is_empty();
        let response = ui.checkbox(&mut each, "along each axis").on_hover_text(tip);
        out.name("lattice_each", &response);
        if response.changed() {
            params.seeds = params.seed_count().clamp(1, MAX_SEEDS);
            params.counts = if each { vec![3; 3] } else { Vec::new() };
        }
        for (count, axis) in params.counts.iter_mut().zip(["x ", "y ", "z "]) {
            // The product of the three stays within the number of seeds that a pattern may have.
            let field = egui::DragValue::new(count).range(1..=20).clamp_existing_to_range(false).speed(0.1);
            ui.add(field.prefix(axis)).on_hover_text(tip);
        }
    });
}

/// The axis of an object that its grain runs along.
pub(super) fn grain_axis(ui: &mut egui::Ui, along: &mut glam::DVec3, tip: &str) {
    ui.horizontal(|ui| {
        label(ui, "Grain along", tip);
        ui.spacing_mut().item_spacing.x = 3.0;
        for (name, axis) in [("x", glam::DVec3::X), ("y", glam::DVec3::Y), ("z", glam::DVec3::Z)] {
            if ui.add(egui::Button::selectable(*along == axis, name)).clicked() {
                *along = axis;
            }
        }
    });
}

/// The smallest piece in voxels; 0 sets no limit.
fn smallest(ui: &mut egui::Ui, params: &mut FractureParams, out: &mut UiOutput) {
    let mut rule = params.smallest.unwrap_or_default();
    ui.horizontal(|ui| {
        label(ui, "Smallest", "Pieces with fewer voxels are merged or dropped; 0 keeps all pieces");
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 6.0;
        let field = egui::DragValue::new(&mut rule.voxels)
            .range(0..=1_000_000_u64)
            .clamp_existing_to_range(false)
            .speed(2.0);
        let field = ui.add(field).on_hover_text("Voxels");
        out.name("smallest", &field);
        let merge = egui::Button::selectable(rule.rule == SmallRule::Merge, "merge");
        if ui
            .add(merge)
            .on_hover_text("Small pieces join the neighbour with which they share the largest crack face")
            .clicked()
        {
            rule.rule = SmallRule::Merge;
        }
        let drop = egui::Button::selectable(rule.rule == SmallRule::Drop, "drop");
        if ui.add(drop).on_hover_text("Small pieces are removed; their mass is counted as lost").clicked() {
            rule.rule = SmallRule::Drop;
        }
    });
    params.smallest = (rule != Smallest::default()).then_some(rule);
}

/// Direction of the pinned blow.
fn direction(ui: &mut egui::Ui, direction: &mut glam::DVec3, out: &mut UiOutput) {
    let tip = "Direction of the pinned blow, in the object's own axes";
    ui.horizontal(|ui| {
        label(ui, "Direction", tip);
        ui.spacing_mut().item_spacing.x = 3.0;
        let mut new = *direction;
        for (k, name) in [(0, "direction_x"), (1, "direction_y"), (2, "direction_z")] {
            let value = egui::DragValue::new(&mut new[k]).range(-1.0..=1.0).speed(0.01).max_decimals(2);
            let field = ui.add(value.update_while_editing(false)).on_hover_text(tip);
            out.name(name, &field);
        }
        if new != *direction {
            // A zero vector has no direction, so the old direction stays.
            *direction = new.normalize_or(*direction);
        }
    });
}

/// What crack faces show: material, colour, feature size and block.
fn inside(ui: &mut egui::Ui, input: &UiInput<'_>, params: &mut FractureParams, out: &mut UiOutput) {
    let interior = &mut params.interior;
    ui.horizontal(|ui| {
        label(ui, "Inside", "Material that the next break opens; crack faces that are there keep theirs");
        let combo =
            egui::ComboBox::from_id_salt("inside").selected_text(interior.material.name()).width(96.0);
        let response = combo.show_ui(ui, |ui| {
            for material in Material::ALL {
                ui.selectable_value(&mut interior.material, material, material.name())
                    .on_hover_text(about(material));
            }
        });
        name_list(&response.response, "Inside");
        out.name("inside", &response.response);
        let surface = input.sandbox.and_then(|s| s.shown_object()).map_or([140; 3], |o| o.surface_color);
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
    one_of(ui, out, "interior.relief", params);
    if params.interior.material == Material::Plain {
        return;
    }
    one_of(ui, out, "interior.scale", params);
    let interior = &mut params.interior;
    ui.horizontal(|ui| {
        let tip = "Random seed of the material's pattern";
        label(ui, "Block", tip);
        let number = egui::DragValue::new(&mut interior.seed).range(0..=999_999_u32);
        let field = ui.add(number.clamp_existing_to_range(false).speed(0.1)).on_hover_text(tip);
        out.name("inside_seed", &field);
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
        Material::Glass => "Clear, with ripples on its cracks",
        Material::Concrete => "Cement with sand and gravel that stands out or is torn away",
        Material::Plaster => "Pale and crumbly",
        Material::Brick => "Coarse red clay",
    }
}

/// How the preview is shown, and its present level of detail.
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
                "Coarse pieces, drawn slightly apart, or by the distance of the explode slider under View",
            ),
            (PreviewMode::Off, "preview_off", "off", "Nothing"),
        ];
        for (mode, name, text, tip) in modes {
            let button = egui::Button::selectable(new.view.preview == mode, text);
            let response = ui.add(button).on_hover_text(tip);
            out.name(name, &response);
            if response.clicked() {
                new.view.preview = mode;
            }
        }
    });
    let text = match input.sandbox.map(crate::scene::Sandbox::preview) {
        Some(r) if r.showing.is_some() && r.solving => "looking for the number of seeds".to_owned(),
        Some(PreviewReport { showing: Some(_), solved: Some(s), level, .. }) => {
            format!("level {level}, {} seeds for {} pieces", s.seeds, s.reached)
        }
        Some(r) if r.showing.is_some() && r.per_second > 1 => {
            format!("level {}, {:.0} ms, {} a second", r.level, r.ms, r.per_second)
        }
        Some(r) if r.showing.is_some() => format!("level {}, {:.0} ms", r.level, r.ms),
        Some(r) if r.preparing => "getting ready".to_owned(),
        _ => "point at the object".to_owned(),
    };
    figure(ui, "", text);
}
