//! Escape closes one thing, whatever else is open.

use egui::{Event, Key, Popup, accesskit::Role};
use egui_kittest::{Harness, Node, kittest::Queryable as _};

use super::{
    Command, PathPrompt, PathPurpose, PinView, Question,
    tests::{Panels, harness, press},
};
use crate::scene::ExportOrder;

/// What can be open, the topmost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    Question,
    Prompt,
    Palette,
    Help,
    Scenes,
    List,
    Field,
    Export,
    Pin,
    Selection,
}

const THINGS: [Thing; 10] = [
    Thing::Question,
    Thing::Prompt,
    Thing::Palette,
    Thing::Help,
    Thing::Scenes,
    Thing::List,
    Thing::Field,
    Thing::Export,
    Thing::Pin,
    Thing::Selection,
];

type Window = Harness<'static, Panels>;

/// The field for the path of a mesh, which comes first in the left panel.
fn path_field(window: &Window) -> Node<'_> {
    let place = window.state().rect("path");
    let mut fields = window.get_all_by_role(Role::TextInput);
    fields.find(|field| field.rect().intersects(place.shrink(2.0))).expect("the field for a path")
}

fn open(window: &mut Window, thing: Thing) {
    match thing {
        Thing::List => {
            let place = window.state().rect("up").center();
            window.drag_at(place);
            window.drop_at(place);
        }
        Thing::Field => path_field(window).focus(),
        _ => {}
    }
    let panels = window.state_mut();
    match thing {
        Thing::Question => {
            let answers = ["Save", "Cancel"].map(str::to_owned).to_vec();
            panels.question = Some(Question { title: "Sure?".into(), text: String::new(), answers });
        }
        Thing::Prompt => {
            let asks = PathPurpose::Open;
            panels.prompt = Some(PathPrompt { asks, proposed: "/a".into(), there: None });
        }
        Thing::Palette => panels.state.palette = Some(String::new()),
        Thing::Help => panels.state.help = true,
        Thing::Scenes => panels.state.scenes.is_open = true,
        Thing::Export => panels.export = Some(ExportOrder::default()),
        Thing::Pin => panels.pin = Some(PinView { point: glam::Vec3::ZERO, longest_side: 1.0 }),
        Thing::Selection => panels.sandbox.select_all(),
        Thing::List | Thing::Field => {}
    }
    window.run_steps(3);
}

fn is_open(window: &Window, thing: Thing) -> bool {
    let panels = window.state();
    match thing {
        Thing::Question => panels.question.is_some(),
        Thing::Prompt => panels.prompt.is_some(),
        Thing::Palette => panels.state.palette.is_some(),
        Thing::Help => panels.state.help,
        Thing::Scenes => panels.state.scenes.is_open,
        Thing::List => Popup::is_any_open(&window.ctx),
        Thing::Field => path_field(window).is_focused(),
        Thing::Export => panels.export.is_some(),
        Thing::Pin => panels.pin.is_some(),
        Thing::Selection => panels.sandbox.selected().next().is_some(),
    }
}

/// Presses Escape, and does what the panels ask the session for.
fn escape(window: &mut Window) {
    window.key_press(Key::Escape);
    window.run_steps(3);
    let panels = window.state_mut();
    for command in std::mem::take(&mut panels.asked) {
        match command {
            Command::AnswerQuestion(1) => panels.question = None,
            Command::AnswerPrompt(None) => panels.prompt = None,
            Command::ToggleExport => panels.export = None,
            Command::Unpin => panels.pin = None,
            Command::Select(ids) => assert!(ids.is_empty()),
            other => panic!("Escape asks for {other:?}"),
        }
    }
    window.run_steps(2);
}

#[test]
fn of_two_open_things_escape_closes_the_topmost() {
    let mut window = harness(1280.0, 900.0);
    let mut pairs = 0;
    for upper in THINGS {
        for lower in THINGS.into_iter().filter(|lower| *lower > upper) {
            // A click on a list would take the keyboard from a field.
            let lower_first = lower != Thing::Field;
            let order = if lower_first { [lower, upper] } else { [upper, lower] };
            order.into_iter().for_each(|thing| open(&mut window, thing));
            let both = THINGS.map(|thing| is_open(&window, thing));
            if (upper, lower) == (Thing::Question, Thing::Field) && !is_open(&window, lower) {
                // A question keeps the keyboard from what is below.
                escape(&mut window);
                continue;
            }
            assert_eq!(both, THINGS.map(|thing| thing == upper || thing == lower), "{upper:?}, {lower:?}");
            escape(&mut window);
            let left = THINGS.map(|thing| is_open(&window, thing));
            assert_eq!(left, THINGS.map(|thing| thing == lower), "{lower:?} below {upper:?}");
            escape(&mut window);
            assert_eq!(THINGS.map(|thing| is_open(&window, thing)), [false; 10], "{lower:?} after {upper:?}");
            pairs += 1;
        }
    }
    assert!(pairs >= 44, "{pairs}");
    escape(&mut window);
}

#[test]
fn escape_in_a_number_drops_what_was_typed_and_nothing_else() {
    let mut window = harness(1280.0, 800.0);
    open(&mut window, Thing::Pin);
    let tuning = window.state().sandbox.tuning().clone();
    let type_in = |window: &mut Window, text: &str| {
        let row = window.state().rect("seeds");
        let is_of_row = |place: egui::Rect| (place.center().y - row.center().y).abs() < 5.0;
        let is_number = |n: &Node<'_>| is_of_row(n.rect()) && n.rect().left() > row.left();
        window.get_all_by_role(Role::SpinButton).rfind(is_number).expect("a number").click();
        window.run_steps(3);
        assert!(window.ctx.text_edit_focused());
        window.event(Event::Text(text.to_owned()));
        window.run_steps(2);
    };
    let before = tuning.fracture.seeds;
    type_in(&mut window, "37");
    escape(&mut window);
    assert!(!window.ctx.text_edit_focused() && is_open(&window, Thing::Pin));
    assert_eq!(window.state().sandbox.tuning().fracture.seeds, before);
    assert_eq!(*window.state().sandbox.tuning(), tuning);
    type_in(&mut window, "38");
    window.key_press(Key::Enter);
    window.run_steps(3);
    assert_eq!(window.state().sandbox.tuning().fracture.seeds, 38);
    escape(&mut window);
    assert!(!is_open(&window, Thing::Pin));
}

#[test]
fn the_palette_and_its_key_close_it_again() {
    let mut window = harness(1280.0, 800.0);
    press(&mut window, "Commands");
    assert!(is_open(&window, Thing::Palette));
    window.key_press_modifiers(egui::Modifiers::COMMAND, Key::P);
    window.run_steps(2);
    assert!(!is_open(&window, Thing::Palette));
}
