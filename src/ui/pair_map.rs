//! Contact levels of pairs as a map: bodies across, bodies down, a colour for each level.

use egui::{Align2, Color32, FontId, Rect, Sense, Stroke, vec2};

use super::{UiInput, UiOutput, theme};
use crate::scene::{ColorMap, PairLevel, Tuning};

/// Most bodies of a map: more would be too small to click.
pub(super) const MOST: usize = 24;
/// Largest and smallest side of a field, points.
const LARGEST: f32 = 26.0;
/// Octree levels from the first to the last colour.
const LEVELS: std::ops::RangeInclusive<u32> = 1..=10;
/// Fields at least this large have their level written in them, points.
const LETTERED: f32 = 14.0;

/// Level of a pair, and whether it is one of its own.
fn level_of(tuning: &Tuning, own: &[u32], a: usize, b: usize) -> (u32, bool) {
    let is_of = |pair: &&PairLevel| pair.bodies == [a, b] || pair.bodies == [b, a];
    match tuning.pairs.iter().find(is_of) {
        Some(pair) => (pair.level, true),
        // Each body collides at its own; the coarser one decides how far contacts lie apart.
        None => (own.get(a).copied().unwrap_or(1).min(own.get(b).copied().unwrap_or(1)), false),
    }
}

/// The map of all bodies of the scene. A click gives a pair a level of its own, or takes it away.
pub(super) fn show(
    ui: &mut egui::Ui,
    input: &UiInput<'_>,
    names: &[String],
    new: &mut Tuning,
    out: &mut UiOutput,
) {
    let Some(sandbox) = input.sandbox else { return };
    let count = names.len();
    let own: Vec<u32> = (0..count).map(|body| sandbox.contact_level_of(body).unwrap_or(1)).collect();
    let side = (ui.available_width().min(theme::ROW) / count as f32).min(LARGEST);
    let size = vec2(side * count as f32, side * count as f32);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    out.name("pair_map", &response);
    let painter = ui.painter_at(rect);
    let at = |p: egui::Pos2| {
        let index = |along: f32| ((along / side) as usize).min(count.saturating_sub(1));
        [index(p.y - rect.top()), index(p.x - rect.left())]
    };
    for down in 0..count {
        for across in 0..count {
            let (level, is_own) = level_of(new, &own, down, across);
            let share =
                f64::from(level - LEVELS.start().min(&level)) / f64::from(LEVELS.end() - LEVELS.start());
            let [r, g, b] = ColorMap::Viridis.color(share);
            let corner = rect.min + vec2(across as f32 * side, down as f32 * side);
            let field = Rect::from_min_size(corner, vec2(side, side)).shrink(0.5);
            painter.rect_filled(field, 2.0, Color32::from_rgb(r, g, b));
            if is_own {
                let line = Stroke::new(1.5, theme::GOLD);
                painter.rect_stroke(field.shrink(0.75), 2.0, line, egui::StrokeKind::Middle);
            }
            if side >= LETTERED {
                // Dark letters on the bright end of the map.
                let ink = if share > 0.55 { Color32::from_rgb(20, 22, 26) } else { Color32::WHITE };
                let font = FontId::proportional(10.5);
                painter.text(field.center(), Align2::CENTER_CENTER, level.to_string(), font, ink);
            }
        }
    }
    let under = response.hover_pos().map(at);
    if let (Some(place), true) = (response.interact_pointer_pos(), response.clicked()) {
        let [a, b] = at(place);
        let before = new.pairs.len();
        new.pairs.retain(|pair| pair.bodies != [a, b] && pair.bodies != [b, a]);
        if new.pairs.len() == before {
            new.pairs.push(PairLevel { bodies: [a, b], level: level_of(new, &own, a, b).0 });
        }
    }
    if let Some([a, b]) = under {
        let (level, is_own) = level_of(new, &own, a, b);
        let pair = if a == b {
            format!("{} with its pieces", names[a])
        } else {
            format!("{} with {}", names[a], names[b])
        };
        let what = if is_own {
            "which was set for this pair alone; click to give it the coarser level of the two again"
        } else {
            "the coarser one of the two; click to set a level for this pair alone in the list above"
        };
        response.on_hover_text(format!(
            "{pair}: contacts are looked for at octree level {level}, {what}. Higher is finer and slower"
        ));
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::{
        scene::{Scene, SceneBody},
        ui::tests::{Panels, harness_of, press},
    };

    /// Boxes beside each other.
    fn boxes(count: u32) -> Scene {
        let body = |number: u32| SceneBody {
            position: glam::DVec3::new(2.0 * f64::from(number), 0.0, 0.0),
            ..SceneBody::standing("builtin:box", 3)
        };
        Scene { bodies: (0..count).map(body).collect(), ..Scene::default() }
    }

    /// Fails where rows and columns of the second or of another pair are clicked.
    #[test]
    fn a_click_gives_a_pair_a_level_and_another_click_takes_it_away() {
        let mut harness = harness_of(Panels::of(boxes(3)), 1280.0, 2400.0);
        press(&mut harness, "Levels of all pairs");
        harness.run_steps(30);
        let mut click = |across: f32, down: f32| {
            // The list above may have a row more, and the map lie lower.
            let map = harness.state().rect("pair_map");
            let field = map.min + vec2(across + 0.5, down + 0.5) * (map.width() / 3.0);
            harness.hover_at(field);
            harness.run_steps(2);
            harness.drag_at(field);
            harness.run_steps(1);
            harness.drop_at(field);
            harness.run_steps(3);
            harness.state().sandbox.tuning().pairs.iter().map(|pair| pair.bodies).collect::<Vec<_>>()
        };
        assert_eq!(click(2.0, 1.0), [[1, 2]]);
        assert!(click(1.0, 2.0).is_empty(), "the same pair in the other order");
    }

    #[test]
    fn a_scene_with_too_many_bodies_for_the_map_says_so() {
        let most = MOST as u32;
        let few = harness_of(Panels::of(boxes(most)), 1280.0, 2400.0);
        assert!(few.query_by_label("Levels of all pairs").is_some());
        let many = harness_of(Panels::of(boxes(most + 1)), 1280.0, 2400.0);
        assert!(many.query_by_label("Levels of all pairs").is_none());
        assert!(many.query_by_label_contains("has room for 24 bodies, and there are 25").is_some());
    }

    #[test]
    fn a_pair_has_its_own_level_in_either_order_and_else_the_coarser_of_two() {
        let tuning = Tuning { pairs: vec![PairLevel { bodies: [2, 0], level: 4 }], ..Tuning::default() };
        let own = [7, 6, 5];
        assert_eq!(level_of(&tuning, &own, 0, 2), (4, true));
        assert_eq!(level_of(&tuning, &own, 2, 0), (4, true));
        assert_eq!(level_of(&tuning, &own, 0, 1), (6, false));
        assert_eq!(level_of(&tuning, &own, 2, 2), (5, false));
    }
}
