//! A session that was kept is offered, and stands still once it is open.

use std::time::{Duration, Instant};

use super::{
    Session,
    files_tests::{Folder, closes, open, settle, tune},
};
use crate::ui::Command;

fn offers(session: &Session) -> Vec<Command> {
    session
        .notices()
        .iter()
        .flat_map(|notice| notice.actions.iter().map(|(_, command)| command.clone()))
        .collect()
}

#[test]
fn a_reopened_session_stands_at_its_beginning_until_play() {
    let folder = Folder::new("reopened");
    let scene = folder.scene("a.toml", "builtin:box");
    let mut session = folder.session();
    tune(&mut session, 0.25);
    assert!(closes(&mut session));
    drop(session);
    let mut session = folder.session();
    session.look_for_news();
    let start = Instant::now();
    while session.notices().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "the session is never offered");
        session.autosave(false);
        session.poll();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(offers(&session), [Command::Reopen(0)]);
    session.apply(Command::Reopen(0));
    assert!(offers(&session).is_empty(), "it has been taken up");
    assert!(session.playing());
    settle(&mut session);
    assert!(session.window_title().ends_with("(kept session)"), "{}", session.window_title());
    assert!(!session.playing());
    assert_eq!(offers(&session), [Command::Play(true)]);
    session.apply(Command::Play(true));
    assert!(session.playing() && session.notices().is_empty());
    // Another kept session stops it again; an ordinary scene plays, unless the user has stopped the time.
    session.apply(Command::Reopen(0));
    settle(&mut session);
    assert!(!session.playing());
    open(&mut session, &scene);
    assert!(session.playing() && offers(&session).is_empty());
    session.apply(Command::Play(false));
    session.apply(Command::Reopen(0));
    settle(&mut session);
    open(&mut session, &scene);
    assert!(!session.playing());
}
