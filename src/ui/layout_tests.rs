//! Where the panels lie: nothing covers anything or leaves the window, whatever its size.

use egui_kittest::{
    Harness, Node,
    kittest::{NodeT as _, Queryable as _},
};

use super::{
    PinView,
    tests::{Panels, harness, harness_of, press},
    theme,
};
use crate::scene::Scene;

/// Widgets of the toolbar.
const TOOLBAR: [&str; 19] = [
    "open", "save", "export", "picture", "undo", "redo", "play", "step", "reset", "hammer", "impact", "keep",
    "brush", "hand", "throw", "select", "frame", "palette", "help",
];

#[test]
fn no_button_of_the_toolbar_covers_another() {
    for (width, height) in [
        (1280.0, 800.0),
        (1250.0, 800.0),
        (1100.0, 700.0),
        (1080.0, 700.0),
        (1000.0, 700.0),
        (800.0, 600.0),
        // Screens of laptops, and the first window on the smallest of them.
        (1366.0, 768.0),
        (1280.0, 720.0),
        (960.0, 540.0),
        (883.0, 480.0),
    ] {
        let harness = harness(width, height);
        let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width, height));
        let rects: Vec<_> = TOOLBAR.iter().map(|name| (name, harness.state().rect(name))).collect();
        for (i, (name, rect)) in rects.iter().enumerate() {
            assert!(window.contains_rect(*rect), "{name} is outside at {width}: {rect}");
            for (other, at) in &rects[..i] {
                assert!(!rect.shrink(0.5).intersects(at.shrink(0.5)), "{name} covers {other} at {width}");
            }
        }
        for name in ["timeline", "replay", "takes", "speed"] {
            let rect = harness.state().rect(name);
            assert!(window.contains_rect(rect), "{name} is outside at {width}: {rect}");
        }
        let viewport = harness.state().viewport();
        let least = (0.65 * height).min(350.0);
        assert!(viewport.width() > 400.0 && viewport.height() > least, "{viewport} is left at {width}");
    }
}

/// The smallest window, and the width of a screen of 1366 pixels at twice the scale.
#[test]
fn the_smallest_window_has_the_whole_toolbar() {
    for width in [640.0, 683.0, 780.0, 800.0, 815.0] {
        let harness = harness(width, 480.0);
        let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width, 480.0));
        let rects: Vec<_> = TOOLBAR.iter().map(|name| (name, harness.state().rect(name))).collect();
        for (i, (name, rect)) in rects.iter().enumerate() {
            assert!(window.contains_rect(*rect), "{name} is outside at {width}: {rect}");
            for (other, at) in &rects[..i] {
                assert!(!rect.shrink(0.5).intersects(at.shrink(0.5)), "{name} covers {other} at {width}");
            }
        }
        let timeline = harness.state().rect("timeline");
        assert!(window.contains_rect(timeline), "the timeline is outside at {width}: {timeline}");
    }
}

#[test]
fn panels_fold_away_and_come_back() {
    let mut harness = harness(1280.0, 800.0);
    let width = |harness: &Harness<'_, Panels>| harness.state().viewport().width();
    let whole = width(&harness);
    press(&mut harness, "Fold the left panel");
    assert!((width(&harness) - whole - 260.0).abs() < 1.0, "{} after {whole}", width(&harness));
    assert!(harness.query_by_label("Glass").is_none());
    harness.key_press(egui::Key::CloseBracket);
    harness.run_steps(3);
    assert!((width(&harness) - whole - 520.0).abs() < 1.0);
    press(&mut harness, "Unfold the left panel");
    press(&mut harness, "Unfold the right panel");
    assert_eq!(width(&harness), whole);
    // At least half of a window is the picture, whatever its width.
    for width in [500.0, 620.0, 640.0, 900.0, 1100.0, 1150.0, 1160.0, 1280.0] {
        let harness = super::tests::harness(width, 600.0);
        let picture = harness.state().viewport().width();
        assert!(picture >= 0.5 * width - 10.0, "{picture} of {width}");
    }
    // A narrow window begins with one panel; the other one is a click away.
    let mut narrow = super::tests::harness(800.0, 600.0);
    assert!(narrow.query_by_label("Resolution").is_none());
    press(&mut narrow, "Unfold the right panel");
    assert!(narrow.query_by_label("Resolution").is_some());
}

#[test]
fn the_button_that_breaks_is_in_sight_and_pinning_moves_nothing() {
    let mut harness = harness(1280.0, 800.0);
    let places = |harness: &Harness<'_, Panels>| {
        ["break", "seeds", "rng", "direction_x", "inside"].map(|name| harness.state().rect(name))
    };
    let before = places(&harness);
    assert!(before[0].bottom() < 700.0, "Break is at {}", before[0]);
    assert!(harness.get_by_label("Break").accesskit_node().is_disabled());
    harness.state_mut().pin = Some(PinView { point: glam::Vec3::ZERO, longest_side: 1.0 });
    harness.run_steps(3);
    assert_eq!(places(&harness), before);
}

#[test]
fn scroll_bars_cover_no_values() {
    let harness = harness(1280.0, 800.0);
    let bar = egui::Style::default().spacing.scroll.bar_width;
    let values: Vec<Node<'_>> = harness.get_all_by_role(egui::accesskit::Role::SpinButton).collect();
    let in_panel = |edge: f32| values.iter().map(|node| node.rect()).filter(move |r| r.right() < edge);
    let most = |rects: &mut dyn Iterator<Item = egui::Rect>| rects.map(|r| r.right()).fold(0.0, f32::max);
    // The bar floats on the right of what scrolls, inside the panel's margin; the harness has a margin of its own.
    let edge = harness.state().viewport().left();
    let margin = edge - theme::PANEL_WIDTH;
    let taken = f32::from(theme::panel_frame().inner_margin.right) + bar;
    let left = most(&mut in_panel(edge));
    let right = most(&mut in_panel(1280.0));
    assert!(left > 200.0 && left <= edge - taken, "{left} of {edge}");
    assert!(right > 1200.0 && right <= 1280.0 - margin - taken, "{right}");
}

/// A row that is wider than its panel would push the whole panel under the picture.
#[test]
fn however_long_a_name_is_the_panels_keep_their_width() {
    let mut scene = Scene::of_mesh("builtin:box", 4);
    scene.bodies[0].name = Some("a figurine of a bear in a boat, as it was found".into());
    let mut harness = harness_of(Panels::of(scene), 1280.0, 2400.0);
    // The harness leaves 8 points free on every side.
    let keeps = |harness: &Harness<'_, Panels>| {
        let viewport = harness.state().viewport();
        assert_eq!([viewport.left(), 1280.0 - viewport.right()], [theme::PANEL_WIDTH + 8.0; 2]);
    };
    keeps(&harness);
    for open in ["Pieces", "Figures", "Give this pair a level", "Breaks when struck", "Walls"] {
        press(&mut harness, open);
        keeps(&harness);
    }
}
