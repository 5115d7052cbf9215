//! What happens to the user's files: a scene is saved to its own file and to no other, whatever was opened, taken back or
//! failed before; and nothing goes without a question.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{Session, testing::session};
use crate::{
    app::{
        dialogs::{Answer, Purpose},
        keeper::Keeper,
    },
    scene::{Tuning, load_scene, parse_scene},
    ui::{Command, NoticeKind},
};

/// A folder that is deleted at the end.
pub(super) struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("kintsugi-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder.canonicalize().unwrap())
    }

    /// A scene file of one mesh.
    pub fn scene(&self, file: &str, mesh: &str) -> PathBuf {
        let path = self.0.join(file);
        fs::write(&path, format!("name = \"{file}\"\n[[body]]\nfile = \"{mesh}\"\nlevel = 3\n")).unwrap();
        path
    }

    /// A session with a box that no file belongs to; it keeps what is unsaved in this folder.
    pub fn session(&self) -> Session {
        let mut session = session();
        session.saving.keep_in(Keeper::new(self.0.join("state")));
        session.answered(Purpose::Open, Answer::Missing);
        session.apply(Command::AnswerPrompt(None));
        session
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Polls until nothing is on its way any more.
pub(super) fn settle(session: &mut Session) {
    let start = Instant::now();
    while {
        session.poll();
        let is_leaving = session.saving.leaving.is_some() || session.is_reading();
        is_leaving
            || session.saving.writing.is_busy()
            || session.sandbox.as_ref().is_some_and(|s| s.opening().is_some() || s.is_busy())
    } {
        assert!(start.elapsed() < Duration::from_secs(120), "it never ends");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until what is being saved is written; nothing else goes on meanwhile.
pub(super) fn written(session: &mut Session) {
    let start = Instant::now();
    while session.saving.writing.is_busy() {
        assert!(start.elapsed() < Duration::from_secs(60), "it is never written");
        session.poll_writing();
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(super) fn save(session: &mut Session) {
    session.apply(Command::SaveDialog);
    written(session);
}

pub(super) fn answer(session: &mut Session, number: usize) {
    session.apply(Command::AnswerQuestion(number));
    written(session);
}

pub(super) fn save_to(session: &mut Session, purpose: Purpose, file: &Path) {
    session.answered(purpose, Answer::Chosen(file.to_owned()));
    written(session);
}

pub(super) fn open(session: &mut Session, path: &Path) {
    session.open(path, 3);
    settle(session);
}

/// Asks the window to close: whether it does, at once or when what is unsaved is kept.
pub(super) fn closes(session: &mut Session) -> bool {
    session.saving.closes = session.may_close();
    settle(session);
    session.is_to_close()
}

pub(super) fn tune(session: &mut Session, friction: f64) {
    let tuning = Tuning { friction, ..session.sandbox.as_ref().unwrap().tuning().clone() };
    session.apply(Command::Tune { gesture: "friction", tuning: Box::new(tuning) });
    session.apply(Command::EndGesture);
}

fn mesh_of(path: &Path) -> String {
    load_scene(path).unwrap().bodies[0].file.clone()
}

pub(super) fn title(session: &Session) -> Option<&str> {
    session.question().map(|question| question.title.as_str())
}

fn is_unsaved(session: &Session) -> bool {
    session.sandbox.as_ref().unwrap().is_unsaved()
}

#[test]
fn a_scene_with_files_elsewhere_is_opened_once_the_user_allows_it() {
    let folder = Folder::new("elsewhere");
    let mesh = folder.0.join("mesh.obj");
    fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n").unwrap();
    fs::create_dir(folder.0.join("scenes")).unwrap();
    let file = folder.scene("scenes/a.toml", "../mesh.obj");
    let mut session = folder.session();
    let before = session.window_title();
    open(&mut session, &file);
    assert_eq!(title(&session), Some("Files elsewhere"));
    assert!(session.question().unwrap().text.contains("../mesh.obj"));
    session.answer_question(1);
    settle(&mut session);
    assert_eq!((session.window_title(), session.errors().len()), (before, 0), "Cancel leaves what is open");
    open(&mut session, &file);
    session.answer_question(0);
    settle(&mut session);
    assert_eq!(session.window_title(), "Kintsugi – a.toml");
    tune(&mut session, 0.25);
    assert_eq!(session.window_title(), "Kintsugi – a.toml (unsaved)");
    // The file that the program has written names the same mesh and opens without a question.
    save(&mut session);
    open(&mut session, &file);
    assert_eq!((title(&session), session.window_title().as_str()), (None, "Kintsugi – a.toml"));
}

#[test]
fn what_comes_back_by_undo_is_not_saved_over_another_scene() {
    let folder = Folder::new("undo-open");
    let [a, b] = [folder.scene("a.toml", "builtin:box"), folder.scene("b.toml", "builtin:sphere")];
    let mut session = folder.session();
    for scene in [&a, &b] {
        open(&mut session, scene);
    }
    session.apply(Command::Undo);
    settle(&mut session);
    tune(&mut session, 0.25);
    save(&mut session);
    assert_eq!((mesh_of(&a).as_str(), mesh_of(&b).as_str()), ("builtin:box", "builtin:sphere"));
    assert_eq!(load_scene(&a).unwrap().bodies[0].friction, 0.25, "{:?}", session.errors());
}

#[test]
fn a_scene_that_could_not_be_opened_is_not_saved_over() {
    let folder = Folder::new("failed-open");
    let [a, b] = [folder.scene("a.toml", "builtin:box"), folder.scene("b.toml", "not-here.obj")];
    let before = fs::read_to_string(&b).unwrap();
    let mut session = folder.session();
    for scene in [&a, &b] {
        open(&mut session, scene);
    }
    assert!(!session.errors().is_empty());
    tune(&mut session, 0.25);
    save(&mut session);
    assert_eq!(fs::read_to_string(&b).unwrap(), before);
    assert_eq!(load_scene(&a).unwrap().bodies[0].friction, 0.25);
}

#[test]
fn a_scene_that_is_on_its_way_is_not_saved_over_with_the_one_before() {
    let folder = Folder::new("early-save");
    let [a, b] = [folder.scene("a.toml", "builtin:box"), folder.scene("b.toml", "builtin:sphere")];
    let mut session = folder.session();
    open(&mut session, &a);
    tune(&mut session, 0.25);
    session.open(&b, 3);
    save(&mut session);
    assert_eq!(load_scene(&a).unwrap().bodies[0].friction, 0.25, "what is on the screen goes to its file");
    session.apply(Command::CancelImport);
    save(&mut session);
    assert_eq!((mesh_of(&a).as_str(), mesh_of(&b).as_str()), ("builtin:box", "builtin:sphere"));
}

#[test]
fn nothing_goes_unasked_where_what_is_unsaved_cannot_be_kept() {
    let folder = Folder::new("leave");
    let [a, b] = [folder.scene("a.toml", "builtin:box"), folder.scene("b.toml", "builtin:sphere")];
    let mut session = folder.session();
    open(&mut session, &a);
    session.saving.keep_in(Keeper::new("/dev/null/nowhere".into()));
    assert!(closes(&mut session), "nothing is unsaved");
    session.saving.closes = false;
    tune(&mut session, 0.25);
    let shown = |session: &Session| session.sandbox.as_ref().unwrap().objects()[0].scene.file.clone();

    open(&mut session, &b);
    assert_eq!((title(&session), shown(&session).as_str()), (Some("Unsaved changes"), "builtin:box"));
    assert!(session.question().unwrap().text.contains("/dev/null/nowhere"));
    answer(&mut session, 2);
    settle(&mut session);
    assert_eq!((title(&session), shown(&session).as_str()), (None, "builtin:box"), "cancelled");
    assert!(!closes(&mut session));
    answer(&mut session, 0);
    settle(&mut session);
    assert!(session.is_to_close(), "saved, and then closed");
    assert_eq!(load_scene(&a).unwrap().bodies[0].friction, 0.25);

    tune(&mut session, 0.5);
    session.saving.closes = false;
    open(&mut session, &b);
    answer(&mut session, 1);
    settle(&mut session);
    assert_eq!(shown(&session), "builtin:sphere", "discarded");
    assert_eq!(load_scene(&a).unwrap().bodies[0].friction, 0.25);
    // The changes came while the other was on its way.
    session.open(&a, 3);
    tune(&mut session, 0.75);
    settle(&mut session);
    assert_eq!((title(&session), shown(&session).as_str()), (Some("Unsaved changes"), "builtin:sphere"));
}

#[test]
fn an_export_that_runs_is_asked_about_before_the_window_closes() {
    let folder = Folder::new("running");
    let mut session = folder.session();
    let order = crate::scene::ExportOrder {
        folder: folder.0.join("out").display().to_string(),
        ..session.exporting.order.clone()
    };
    session.apply(Command::ChangeExport(Box::new(order)));
    session.apply(Command::Export);
    assert!(!closes(&mut session));
    assert_eq!(title(&session), Some("Not yet written"));
    answer(&mut session, 0);
    let start = Instant::now();
    while !session.is_to_close() {
        assert!(start.elapsed() < Duration::from_secs(120), "{:?}", session.errors());
        session.poll();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(folder.0.join("out/report.json").is_file(), "it was written to its end");
}

#[test]
fn a_name_without_ending_does_not_overwrite_unasked() {
    let folder = Folder::new("ending");
    let mine = folder.0.join("mine.toml");
    fs::write(&mine, "keep me").unwrap();
    let mut session = folder.session();
    save_to(&mut session, Purpose::Save, &folder.0.join("mine"));
    assert_eq!(title(&session), Some("There is such a file"));
    answer(&mut session, 2);
    assert_eq!(fs::read_to_string(&mine).unwrap(), "keep me");
    assert_eq!(session.remarks(), ["Nothing was saved"]);
    save_to(&mut session, Purpose::Save, &folder.0.join("mine"));
    answer(&mut session, 1);
    assert_eq!(mesh_of(&mine), "builtin:box");
    // The dialog asked about this very name.
    let other = folder.0.join("other.toml");
    fs::write(&other, "replace me").unwrap();
    save_to(&mut session, Purpose::Save, &other);
    assert!(session.question().is_none());
    assert_eq!(mesh_of(&other), "builtin:box");
}

#[test]
fn a_file_that_changed_on_the_disk_is_not_saved_over_unasked() {
    let folder = Folder::new("changed");
    let a = folder.scene("a.toml", "builtin:box");
    let mut session = folder.session();
    open(&mut session, &a);
    tune(&mut session, 0.25);
    let theirs = "name = \"of the other window\"\n[[body]]\nfile = \"builtin:vase\"\n";
    fs::write(&a, theirs).unwrap();
    save(&mut session);
    assert_eq!(title(&session), Some("The file has changed"));
    assert_eq!(fs::read_to_string(&a).unwrap(), theirs);
    answer(&mut session, 2);
    assert!(is_unsaved(&session) && fs::read_to_string(&a).unwrap() == theirs);
    save(&mut session);
    answer(&mut session, 1);
    assert_eq!(mesh_of(&a), "builtin:box");
    tune(&mut session, 0.5);
    save(&mut session);
    assert!(session.question().is_none() && !is_unsaved(&session), "the file is this window's again");
}

#[test]
fn a_save_that_does_not_take_place_says_so() {
    let folder = Folder::new("not-saved");
    let mut session = folder.session();
    for purpose in [Purpose::Save, Purpose::SaveStanding] {
        session.answered(purpose, Answer::Cancelled);
        assert_eq!(session.remarks(), ["Nothing was saved"]);
        session.answered(purpose, Answer::Failed("no portal".into()));
        assert!(session.errors()[0].contains("no portal") && session.path_prompt().is_some());
        session.apply(Command::AnswerPrompt(None));
    }
    save_to(&mut session, Purpose::Save, "/dev/null/a.toml".as_ref());
    assert!(session.errors().last().unwrap().starts_with("cannot save /dev/null/a.toml"));
    let mut empty = Session::new();
    empty.saving.keep_in(Keeper::new(folder.0.join("state")));
    empty.apply(Command::SaveDialog);
    assert_eq!(empty.errors(), ["nothing was saved: nothing is open yet"]);
}

#[test]
fn a_scene_saved_as_it_stands_leaves_the_scene_itself_unsaved() {
    let folder = Folder::new("standing");
    let mut session = folder.session();
    tune(&mut session, 0.25);
    let standing = folder.0.join("standing.toml");
    save_to(&mut session, Purpose::SaveStanding, &standing);
    assert!(standing.is_file() && is_unsaved(&session));
    assert!(closes(&mut session));
    let kept = fs::read_dir(folder.0.join("state")).unwrap().flatten();
    let kept = kept.filter(|entry| entry.path().extension().is_some_and(|e| e == "toml")).count();
    assert_eq!(kept, 1, "the next window brings it back");
}

#[test]
fn a_broken_scene_that_is_only_looked_at_is_not_unsaved_and_is_saved_whole_at_any_moment() {
    let folder = Folder::new("broken");
    let mut session = folder.session();
    // The box, and then some of its pieces.
    for piece in 0..4 {
        let sandbox = session.sandbox.as_mut().unwrap();
        let body = &sandbox.bodies()[piece % sandbox.bodies().len()];
        let (body, at) = (body.id, body.state.position);
        sandbox.break_at(body, at, glam::DVec3::NEG_Z);
        settle(&mut session);
    }
    let broken = folder.0.join("broken.toml");
    save_to(&mut session, Purpose::SaveStanding, &broken);
    let wanted = load_scene(&broken).unwrap();
    assert!(wanted.breaks.len() > 1 && !wanted.poses.is_empty(), "{}", wanted.breaks.len());

    session.open(&broken, 3);
    let mut saves = 0;
    let start = Instant::now();
    while saves == 0 || session.sandbox.as_ref().unwrap().is_busy() {
        assert!(start.elapsed() < Duration::from_secs(120));
        session.poll();
        let sandbox = session.sandbox.as_ref().unwrap();
        if sandbox.file().is_some() && sandbox.is_busy() {
            assert!(saves > 0 || !sandbox.is_unsaved(), "it was only opened");
            save(&mut session);
            let saved = load_scene(&broken).unwrap();
            assert_eq!((saved.breaks.len(), saved.poses.len()), (wanted.breaks.len(), wanted.poses.len()));
            saves += 1;
        }
    }
    assert!(saves > 0 && !is_unsaved(&session), "{saves}");
    // One of its breaks cannot be made again: what is there is not saved over what the file holds.
    let mut text = fs::read_to_string(&broken).unwrap();
    text.push_str("\n[[deleted]]\nbody = 0\nof = 0\npart = 4000\n");
    fs::write(&broken, &text).unwrap();
    parse_scene(&text, "test").unwrap();
    open(&mut session, &broken);
    assert!(session.errors().iter().any(|error| error.contains("deleted")), "{:?}", session.errors());
    save(&mut session);
    assert!(session.path_prompt().is_some(), "it asks for another file");
    assert_eq!(fs::read_to_string(&broken).unwrap(), text);
}

#[test]
fn a_shipped_scene_and_another_object_are_saved_under_a_name_that_is_asked_for() {
    let folder = Folder::new("spare");
    let mut session = folder.session();
    let a = folder.scene("a.toml", "builtin:box");
    let shipped = crate::scene::shipped_scenes().unwrap().join("p08-drop.toml");
    for (file, has_own) in
        [(a.as_path(), true), (shipped.as_path(), false), (Path::new("builtin:sphere"), false)]
    {
        let before = fs::read(file).ok();
        open(&mut session, file);
        save(&mut session);
        assert_eq!(session.path_prompt().is_none(), has_own, "{}", file.display());
        session.apply(Command::AnswerPrompt(None));
        assert!(has_own || fs::read(file).ok() == before);
    }
}

/// What the walk expects.
struct Model {
    /// What each file must hold.
    files: BTreeMap<PathBuf, String>,
    /// File of each document, and what was in it when it was read or saved.
    documents: Vec<Option<(PathBuf, String)>>,
    /// The state of each document that its file holds.
    saved: Vec<usize>,
    /// Document, friction and number of each state; and the present one.
    states: Vec<(usize, f64, usize)>,
    at: usize,
    given: usize,
}

impl Model {
    fn push(&mut self, document: usize, friction: f64) {
        self.given += 1;
        self.states.truncate(self.at + 1);
        self.states.push((document, friction, self.given));
        self.at += 1;
    }

    fn opened(&mut self, file: &Path) {
        let text = self.files[file].clone();
        let friction = parse_scene(&text, "model").unwrap().bodies[0].friction;
        self.documents.push(Some((file.to_owned(), text)));
        self.push(self.documents.len() - 1, friction);
        self.saved.push(self.given);
    }

    /// Notes that the present document was saved to a file; what the file holds now is read.
    fn saved(&mut self, file: &Path) {
        let (document, friction, number) = self.states[self.at];
        let text = fs::read_to_string(file).unwrap();
        assert_eq!(parse_scene(&text, "saved").unwrap().bodies[0].friction, friction, "{}", file.display());
        self.documents[document] = Some((file.to_owned(), text.clone()));
        self.saved[document] = number;
        self.files.insert(file.to_owned(), text);
    }

    fn check(&self, session: &Session, done: &str) {
        let (document, friction, number) = self.states[self.at];
        for (file, text) in &self.files {
            assert_eq!(&fs::read_to_string(file).unwrap(), text, "{done}: {}", file.display());
        }
        let sandbox = session.sandbox.as_ref().unwrap();
        assert_eq!(sandbox.tuning().friction, friction, "{done}");
        assert_eq!(sandbox.is_unsaved(), self.saved[document] != number, "{done}");
        let own = self.documents[document].as_ref().map(|(file, _)| file.as_path());
        assert_eq!(sandbox.file().map(|file| file.path()), own, "{done}");
        assert!(session.question().is_none() && session.path_prompt().is_none(), "{done}");
    }
}

/// Opens, fails, cancels, changes, takes back, does again, saves, saves under other names, and lets another program write
/// into the files; after each step every file holds what it must.
#[test]
fn a_random_walk_over_three_files_writes_into_the_right_one_and_asks() {
    let folder = Folder::new("walk");
    let files = ["a.toml", "b.toml", "c.toml"].map(|file| folder.scene(file, "builtin:box"));
    let bad = folder.scene("bad.toml", "not-here.obj");
    let text = |file: &PathBuf| (file.clone(), fs::read_to_string(file).unwrap());
    let mut session = folder.session();
    let mut model = Model {
        files: files.iter().chain([&bad]).map(text).collect(),
        documents: vec![None],
        saved: vec![0],
        states: vec![(0, session.sandbox.as_ref().unwrap().tuning().friction, 0)],
        at: 0,
        given: 0,
    };
    let mut random = ChaCha8Rng::seed_from_u64(47);
    let (mut asked, mut written) = (0, 0);
    for step in 0..600 {
        let file = &files[random.random_range(0..3)];
        let unique = 0.1 + f64::from(step) * 1e-3;
        // A person cannot take back more than the window keeps.
        let action = random.random_range(0..if model.at > 60 { 5 } else { 12 });
        match action {
            0..3 if model.at > 0 => {
                session.apply(Command::Undo);
                model.at -= 1;
            }
            3 | 4 if model.at + 1 < model.states.len() => {
                session.apply(Command::Redo);
                model.at += 1;
            }
            0..5 => {}
            5 | 6 => {
                tune(&mut session, unique);
                model.push(model.states[model.at].0, unique);
            }
            7 => {
                open(&mut session, file);
                model.opened(file);
            }
            8 => {
                session.open(if step % 2 == 0 { &bad } else { file }, 3);
                session.apply(Command::CancelImport);
                open(&mut session, &bad);
                assert!(!session.errors().is_empty());
            }
            9 => {
                let theirs = format!("[[body]]\nfile = \"builtin:sphere\"\nlevel = 3\nfriction = {unique}\n");
                fs::write(file, &theirs).unwrap();
                model.files.insert(file.clone(), theirs);
            }
            10 => {
                save_to(&mut session, Purpose::Save, file);
                model.saved(file);
            }
            _ => {
                let on_its_way = step % 3 == 0;
                if on_its_way {
                    session.open(file, 3);
                }
                save(&mut session);
                match model.documents[model.states[model.at].0].clone() {
                    None => {
                        assert!(session.path_prompt().is_some(), "step {step}");
                        session.apply(Command::AnswerPrompt(None));
                    }
                    Some((own, seen)) if model.files[&own] != seen => {
                        assert_eq!(title(&session), Some("The file has changed"), "step {step}");
                        asked += 1;
                        let over = step % 2 == 0;
                        answer(&mut session, if over { 1 } else { 2 });
                        if over {
                            model.saved(&own);
                        }
                    }
                    Some((own, _)) => {
                        model.saved(&own);
                        written += 1;
                    }
                }
                if on_its_way {
                    session.apply(Command::CancelImport);
                }
            }
        }
        settle(&mut session);
        model.check(&session, &format!("step {step}, action {action}"));
        let shown: Vec<u64> = session.notices().iter().map(|notice| notice.id).collect();
        shown.into_iter().for_each(|id| session.apply(Command::Dismiss(id)));
    }
    assert!(asked > 2 && written > 10, "{asked} questions, {written} saves");
    session.say(NoticeKind::Remark, "done");
}
