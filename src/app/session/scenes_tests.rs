//! What an opened scene says, what it leaves to the next one, and what a break shows while time stands still.

use std::{
    fs,
    time::{Duration, Instant},
};

use glam::DVec3;

use super::{
    Session,
    files_tests::{Folder, open},
    testing::session,
};
use crate::ui::Command;

#[test]
fn a_scene_whose_mesh_is_missing_says_what_it_shows_instead() {
    let folder = Folder::new("stand-in");
    let mut session = folder.session();
    let plain = folder.scene("plain.toml", "builtin:box");
    let lacking = folder.0.join("lacking.toml");
    let body = "[[body]]\nfile = \"vase.obj\"\nfallback = \"builtin:vase\"\nlevel = 3\n";
    fs::write(&lacking, body).unwrap();
    let said = |session: &Session| {
        let all: Vec<&str> = session.notices().iter().map(|notice| notice.text.as_str()).collect();
        all.iter()
            .filter(|text| text.contains("vase.obj is not there") && text.contains("builtin:vase"))
            .count()
    };
    open(&mut session, &plain);
    assert_eq!(said(&session), 0);
    open(&mut session, &lacking);
    assert_eq!(said(&session), 1, "{:?}", session.errors());
}

#[test]
fn settings_of_a_scene_do_not_stay_for_the_next() {
    let folder = Folder::new("settings");
    let plain = folder.scene("plain.toml", "builtin:box");
    let other = folder.scene("other.toml", "builtin:box");
    let own = "gravity = [0, -1.5, 0]\ndt = 0.02\nsubsteps = 3\nfloor = false\nsleeping = false\nbreak_generations = 1\n";
    fs::write(&other, own.to_owned() + &fs::read_to_string(&other).unwrap()).unwrap();
    let settings = |session: &Session| format!("{:?}", session.sandbox.as_ref().unwrap().settings());
    let mut first = folder.session();
    open(&mut first, &plain);
    let wanted = settings(&first);
    let mut second = folder.session();
    open(&mut second, &other);
    assert_ne!(settings(&second), wanted);
    open(&mut second, &plain);
    assert_eq!(settings(&second), wanted);
}

#[test]
fn a_break_while_time_stands_still_shows_its_pieces() {
    let mut session = session();
    session.apply(Command::Play(false));
    let size = [64, 48];
    session.draw(None, size, [1, 1]);
    let sandbox = session.sandbox.as_mut().unwrap();
    let (id, place, time) = (sandbox.bodies()[0].id, sandbox.bodies()[0].state.position, sandbox.time());
    sandbox.break_at(id, place, DVec3::NEG_Y);
    let start = Instant::now();
    let mut is_drawn = false;
    // As the event loop does.
    while !is_drawn {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", session.errors());
        session.poll();
        session.advance();
        let broke = session.sandbox.as_ref().unwrap().bodies().len() > 1;
        is_drawn = session.draw(None, size, [1, 1]) && broke;
        std::thread::sleep(Duration::from_millis(1));
    }
    let sandbox = session.sandbox.as_ref().unwrap();
    assert_eq!(sandbox.shown_bodies(None).len(), sandbox.bodies().len());
    assert!(!session.playing() && sandbox.time() == time);
}
