//! Light, backdrop and floor of the picture.

use glam::DVec3;

use super::{
    Command, UiOutput,
    path_field::path_field,
    tune,
    widgets::{SliderLook, label, name_list, slider},
};
use crate::{
    render::{Backdrop, Background, Checker, Lighting, Rgb, azimuth_and_height, direction_at},
    scene::Tuning,
};

/// A light to begin with.
struct Mood {
    name: &'static str,
    about: &'static str,
    light: fn() -> Lighting,
}

fn towards(azimuth: f64, height: f64) -> DVec3 {
    direction_at(azimuth.to_radians(), height.to_radians())
}

const fn rgb(color: u32) -> Rgb {
    Rgb([(color >> 16) as u8, (color >> 8) as u8, color as u8])
}

const MOODS: [Mood; 5] = [
    Mood {
        name: "studio",
        about: "A soft sun over the left shoulder before a grey backdrop",
        light: Lighting::default,
    },
    Mood {
        name: "noon",
        about: "A high, hard sun under a blue sky",
        light: || Lighting {
            sun_direction: towards(-25.0, 68.0),
            sun_strength: 1.35,
            sun_softness: 0.012,
            sky_strength: 0.8,
            sky_color: rgb(0xd4e4ff),
            background: Some(Background { horizon: rgb(0xc9d8e8), zenith: rgb(0x5d8fc9) }),
            floor_color: Some(rgb(0xb9b2a4)),
            ..Lighting::default()
        },
    },
    Mood {
        name: "evening",
        about: "A low, warm sun from the side, and long shadows",
        light: || Lighting {
            sun_direction: towards(-72.0, 17.0),
            sun_strength: 1.7,
            sun_color: rgb(0xffdcb4),
            sun_softness: 0.03,
            sky_strength: 0.55,
            sky_color: rgb(0xc0ccff),
            lamp_strength: 0.6,
            background: Some(Background { horizon: rgb(0xcfae90), zenith: rgb(0x525a78) }),
            floor_color: Some(rgb(0x97928c)),
            ..Lighting::default()
        },
    },
    Mood {
        name: "overcast",
        about: "Light from everywhere, hardly a shadow",
        light: || Lighting {
            sun_strength: 0.12,
            sun_softness: 0.4,
            sky_strength: 1.75,
            sky_color: rgb(0xfff0dc),
            lamp_strength: 0.5,
            background: Some(Background { horizon: rgb(0xc2c6ca), zenith: rgb(0x8f979f) }),
            floor_color: Some(rgb(0xb4b6b8)),
            ..Lighting::default()
        },
    },
    Mood {
        name: "night",
        about: "Blue moonlight from behind, and a warm lamp from the right",
        light: || Lighting {
            sun_direction: towards(150.0, 42.0),
            sun_strength: 0.55,
            sun_color: rgb(0xa9c0ff),
            sun_softness: 0.02,
            sky_strength: 0.3,
            sky_color: rgb(0x8fa6e8),
            lamp_strength: 5.0,
            lamp_color: rgb(0xffb46a),
            lamp_direction: Some(towards(70.0, 18.0)),
            background: Some(Background { horizon: rgb(0x1a2030), zenith: rgb(0x07090f) }),
            floor_color: Some(rgb(0x4a505c)),
            ..Lighting::default()
        },
    },
];

/// Greatest strength on the sliders, and greatest softness.
const BRIGHT: f64 = 5.0;
const SOFT: f64 = 0.4;
/// Edges of the floor's squares on the slider, m.
const SQUARES: std::ops::RangeInclusive<f64> = 0.01..=10.0;

pub(super) fn show(ui: &mut egui::Ui, tuning: &Tuning, out: &mut UiOutput) {
    let mut new = tuning.clone();
    let light = &mut new.view.lighting;
    moods(ui, light, out);
    let mut towards = light.sun_direction;
    let tip =
        ["Where the sun is round the object: 0° in front of it, 90° to its right", "How high the sun is"];
    place(ui, ("Sun round", "Sun height"), tip, ["sun_azimuth", "sun_height"], &mut towards, out);
    light.sun_direction = towards;
    let of_sky = "How much light the sky gives, which fills shadows; 1 is usual";
    let of_lamp = "How strong a second lamp is, which makes no shadows; 1 is usual";
    let strengths = [
        ("Sun", "sun_strength", "How strong the sun shines; 1 is usual", &mut light.sun_strength),
        ("Sky", "sky_strength", of_sky, &mut light.sky_strength),
        ("Lamp", "lamp_strength", of_lamp, &mut light.lamp_strength),
    ];
    for (name, id, tip, value) in strengths {
        let response = slider(ui, name, tip, value, 0.0..=BRIGHT, &SliderLook::unit("", 2));
        out.name(id, &response);
    }
    let tip = "How soft the edges of shadows are: the size of the sun, as the tangent of half its angle";
    let response = slider(ui, "Softness", tip, &mut light.sun_softness, 0.0..=SOFT, &SliderLook::unit("", 3));
    out.name("sun_softness", &response);
    ui.horizontal(|ui| {
        label(ui, "Colours", "Colours of the sun, the sky and the lamp");
        let colors = [
            ("sun_color", "The sun's colour", &mut light.sun_color),
            ("sky_color", "The sky's colour", &mut light.sky_color),
            ("lamp_color", "The lamp's colour", &mut light.lamp_color),
        ];
        for (id, tip, color) in colors {
            color_button(ui, id, tip, color, out);
        }
    });
    let mut is_fixed = light.lamp_direction.is_some();
    let tip = "The lamp stays where it is when the eye moves; otherwise it is behind the right shoulder";
    let fixed = ui.checkbox(&mut is_fixed, "Lamp stays in place").on_hover_text(tip);
    out.name("lamp_fixed", &fixed);
    let mut lamp = light.lamp_direction.unwrap_or(direction_at(0.9, 0.3));
    if is_fixed {
        let tip = ["Where the lamp is round the object: 0° in front of it", "How high the lamp is"];
        place(ui, ("Lamp round", "Lamp height"), tip, ["lamp_azimuth", "lamp_height"], &mut lamp, out);
    }
    light.lamp_direction = is_fixed.then_some(lamp);
    background_and_floor(ui, light, out);
    picture_behind(ui, &mut new.backdrop, out);
    if new != *tuning {
        tune(out, "light", new);
    }
}

/// The list of lights to begin with.
fn moods(ui: &mut egui::Ui, light: &mut Lighting, out: &mut UiOutput) {
    ui.horizontal(|ui| {
        label(ui, "Begin with", "A light to begin with; everything below can be changed afterwards");
        let now = MOODS.iter().find(|mood| (mood.light)() == *light).map_or("own", |mood| mood.name);
        let combo = egui::ComboBox::from_id_salt("mood").selected_text(now).width(150.0);
        let response = combo.show_ui(ui, |ui| {
            for mood in &MOODS {
                let entry = ui.selectable_label(now == mood.name, mood.name).on_hover_text(mood.about);
                out.name(format!("light: {}", mood.name), &entry);
                if entry.clicked() {
                    *light = (mood.light)();
                }
            }
        });
        name_list(&response.response, "Begin with");
        out.name("light", &response.response);
    });
}

/// Two sliders for a direction.
fn place(
    ui: &mut egui::Ui,
    names: (&str, &str),
    tips: [&str; 2],
    ids: [&'static str; 2],
    direction: &mut DVec3,
    out: &mut UiOutput,
) {
    let shown = azimuth_and_height(*direction);
    let (mut azimuth, mut height) = (shown.0.to_degrees(), shown.1.to_degrees());
    let look = SliderLook::unit("°", 0);
    let round = slider(ui, names.0, tips[0], &mut azimuth, -180.0..=180.0, &look);
    let high = slider(ui, names.1, tips[1], &mut height, 0.0..=90.0, &look);
    out.name(ids[0], &round);
    out.name(ids[1], &high);
    // Not by the changed values: those of a direction that was opened are no round numbers.
    if round.changed() || high.changed() {
        // At the zenith every azimuth is the same, and the slider would jump.
        *direction = direction_at(azimuth.to_radians(), height.min(89.9).to_radians());
    }
}

fn color_button(ui: &mut egui::Ui, id: &'static str, tip: &str, color: &mut Rgb, out: &mut UiOutput) {
    let button = ui.color_edit_button_srgb(&mut color.0);
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, tip));
    out.name(id, &button);
    button.on_hover_text(tip);
}

/// Background and floor.
fn background_and_floor(ui: &mut egui::Ui, light: &mut Lighting, out: &mut UiOutput) {
    let mut own = light.background.is_some();
    let mut colors = light.background.unwrap_or_default();
    ui.horizontal(|ui| {
        let tip = "Colours behind the scene instead of the studio's: at the horizon, and overhead. They light nothing";
        let response = ui.checkbox(&mut own, "Background").on_hover_text(tip);
        out.name("background", &response);
        if own {
            color_button(ui, "background_horizon", "At the horizon and below", &mut colors.horizon, out);
            color_button(ui, "background_zenith", "Overhead; the same colour for an even background", &mut colors.zenith, out);
        }
    });
    light.background = own.then_some(colors);
    let mut painted = light.floor_color.is_some();
    let mut floor = light.floor_color.unwrap_or(colors.horizon);
    ui.horizontal(|ui| {
        let tip = "A colour of the floor; without, it has the backdrop's at the horizon";
        let response = ui.checkbox(&mut painted, "Floor colour").on_hover_text(tip);
        out.name("floor_painted", &response);
        if painted {
            color_button(ui, "floor_color", "Colour of the floor", &mut floor, out);
        }
    });
    light.floor_color = painted.then_some(floor);
    if painted {
        squares(ui, &mut light.floor_checker, out);
    }
}

/// Squares on the floor.
fn squares(ui: &mut egui::Ui, squares: &mut Option<Checker>, out: &mut UiOutput) {
    let mut has_any = squares.is_some();
    let mut checker = squares.unwrap_or_default();
    ui.horizontal(|ui| {
        let tip = "Squares of a second colour on the floor, by which one sees how large things are";
        let response = ui.checkbox(&mut has_any, "Squares").on_hover_text(tip);
        out.name("floor_checker", &response);
        if has_any {
            color_button(ui, "checker_color", "Colour of every other square", &mut checker.color, out);
        }
    });
    if has_any {
        let look = SliderLook { logarithmic: true, ..SliderLook::unit(" m", 3) };
        let response = slider(ui, "Square", "Edge of a square", &mut checker.size, SQUARES, &look);
        out.name("checker_size", &response);
    }
    *squares = has_any.then_some(checker);
}

/// The picture behind the scene: its file, turn and brightness.
fn picture_behind(ui: &mut egui::Ui, behind: &mut Option<Backdrop>, out: &mut UiOutput) {
    let kept = egui::Id::unique("file of the picture behind the scene");
    ui.horizontal(|ui| {
        let tip = "A picture of all directions (equirectangular, .hdr, .png or .jpg) behind the scene, which lights it and is \
                   mirrored in it. Type its path and press Enter, or drop a .hdr file on the window";
        label(ui, "Surroundings", tip);
        let present = behind.as_ref().map(|behind| behind.file.clone()).unwrap_or_default();
        // What is typed belongs to the picture that is there now.
        let typed = ui.data(|data| data.get_temp::<(String, String)>(kept)).filter(|(of, _)| *of == present);
        let mut path = typed.map_or_else(|| present.clone(), |(_, path)| path);
        let field = path_field(ui, "backdrop_file", &mut path, "path", 112.0);
        out.name("backdrop_file", &field);
        if field.changed() {
            ui.data_mut(|data| data.insert_temp(kept, (present, path.clone())));
        }
        let enter = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        if enter && !path.trim().is_empty() {
            out.push(Command::Backdrop(path.trim().into()));
        }
        let away = ui.add_enabled(behind.is_some(), egui::Button::new("×"));
        away.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Take the picture away"));
        out.name("backdrop_away", &away);
        if away.on_hover_text("Take the picture away").clicked() {
            *behind = None;
        }
    });
    let Some(behind) = behind else { return };
    let tip = "How far the picture is turned about the vertical; the sun under Sun round stays where it is";
    let look = SliderLook::unit("°", 0);
    let response = slider(ui, "Turned", tip, &mut behind.turn, Backdrop::TURNS, &look);
    out.name("backdrop_turn", &response);
    let tip = "Factor of the picture's light, and of how bright it is seen";
    let response =
        slider(ui, "Brightness", tip, &mut behind.brightness, 0.0..=BRIGHT, &SliderLook::unit("", 2));
    out.name("backdrop_brightness", &response);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_to_begin_with_can_be_saved_and_differ() {
        for mood in &MOODS {
            let light = (mood.light)();
            assert_eq!((light.check(), light.sane()), (Ok(()), light), "{}", mood.name);
            let same = MOODS.iter().filter(|other| (other.light)() == light).count();
            assert_eq!(same, 1, "{}", mood.name);
        }
    }
}
