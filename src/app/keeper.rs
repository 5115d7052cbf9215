//! The worker that keeps unsaved scenes: a slow disk does not hold the window up.
//!
//! In: scenes to keep, and documents that need no keeping. Out: what the files hold, once it is on the disk; sessions of
//! earlier windows. One worker carries out all orders one after the other, by [`Autosaves`].

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::mpsc,
    time::{Duration, Instant},
};

use super::autosaves::{Autosaves, Earlier};
use crate::{
    render::Pixels,
    scene::{DocumentId, Scene, StateId},
};

/// How long the end of the program waits for the worker to finish its orders.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Draws a small picture; `None` if that fails.
type Draw = dyn FnOnce() -> Option<Pixels> + Send;

/// What the worker is to do.
enum Order {
    /// Keep a state of a document.
    Save((DocumentId, StateId), Box<Scene>),
    /// Draw the picture of a document that is kept.
    Picture(DocumentId, Box<Draw>),
    /// Delete the file of a document, all of which is saved.
    Forget(DocumentId),
    /// Another document is on the screen.
    TurnTo(DocumentId),
    /// Look whether there is something to tell of earlier windows.
    LookForNews,
    /// The user knows of all crashes up to now.
    CrashesAreKnown,
}

/// What the worker has done.
enum Answer {
    Saved((DocumentId, StateId), Result<(), String>),
    Earlier(Vec<Earlier>),
    News(News),
}

/// What earlier windows have left that no window has told of yet.
pub struct News {
    /// Whether there is a session of unsaved changes.
    pub session: bool,
    /// Report of a crash.
    pub crash: Option<PathBuf>,
}

/// The window's end of the worker.
pub struct Keeper {
    folder: PathBuf,
    /// Dropped to end the worker.
    orders: Option<mpsc::Sender<Order>>,
    answers: mpsc::Receiver<Answer>,
    /// The state that the file of each document holds.
    holds: BTreeMap<DocumentId, StateId>,
    under_way: Option<((DocumentId, StateId), Instant)>,
    present: DocumentId,
    earlier: Vec<Earlier>,
    news: Option<News>,
}

impl Keeper {
    /// Starts the worker on a state folder.
    pub fn new(folder: PathBuf) -> Self {
        Self::with(folder, Duration::ZERO)
    }

    /// The same on a disk that takes that long for every order.
    #[cfg(test)]
    pub fn on_slow_disk(folder: PathBuf, each: Duration) -> Self {
        Self::with(folder, each)
    }

    fn with(folder: PathBuf, each: Duration) -> Self {
        let (orders, from_window) = mpsc::channel();
        let (to_window, answers) = mpsc::channel();
        let kept_in = folder.clone();
        std::thread::spawn(move || {
            let mut files = Autosaves::new(kept_in);
            let mut answer = Some(Answer::Earlier(files.earlier().to_vec()));
            loop {
                // Without a window there are no orders, either.
                answer.take().into_iter().for_each(|answer| drop(to_window.send(answer)));
                let Ok(order) = from_window.recv() else { return };
                std::thread::sleep(each);
                answer = carry_out(&mut files, order);
            }
        });
        Self {
            folder,
            orders: Some(orders),
            answers,
            holds: BTreeMap::new(),
            under_way: None,
            present: DocumentId::default(),
            earlier: Vec::new(),
            news: None,
        }
    }

    /// Where sessions are kept.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // A worker that has stopped is told of at the next save.
            let _ = orders.send(order);
        }
    }

    /// Begins to keep a state of a document; one save at a time is under way.
    pub fn save(&mut self, of: (DocumentId, StateId), scene: Scene) {
        self.under_way = Some((of, Instant::now()));
        self.order(Order::Save(of, Box::new(scene)));
    }

    /// Has a picture of a document drawn once its save is done, by which the user tells sessions apart.
    pub fn add_picture(&self, of: DocumentId, draw: impl FnOnce() -> Option<Pixels> + Send + 'static) {
        self.order(Order::Picture(of, Box::new(draw)));
    }

    /// Takes in what the worker has done: how the save that was under way ended, once.
    pub fn poll(&mut self) -> Option<Result<(), String>> {
        loop {
            let (of, saved) = match self.answers.try_recv() {
                Ok(Answer::Saved(of, saved)) => (of, saved),
                Ok(Answer::Earlier(earlier)) => {
                    self.earlier = earlier;
                    continue;
                }
                Ok(Answer::News(news)) => {
                    self.news = Some(news);
                    continue;
                }
                Err(mpsc::TryRecvError::Empty) => return None,
                Err(mpsc::TryRecvError::Disconnected) => {
                    (self.under_way?.0, Err("its worker has stopped".to_owned()))
                }
            };
            // The file of a document that was forgotten meanwhile is deleted by now.
            if self.under_way.take_if(|(awaited, _)| *awaited == of).is_none() {
                continue;
            }
            if saved.is_ok() {
                self.holds.insert(of.0, of.1);
            }
            return Some(saved);
        }
    }

    /// Since when a save has been under way.
    pub fn busy_since(&self) -> Option<Instant> {
        self.under_way.map(|(_, since)| since)
    }

    /// Whether the file of a document holds this state and is not about to hold another.
    pub fn keeps(&self, document: DocumentId, state: StateId) -> bool {
        self.holds.get(&document) == Some(&state) && self.under_way.is_none_or(|(of, _)| of.0 != document)
    }

    /// Has the file of a document deleted, because all of it is saved.
    pub fn forget(&mut self, document: DocumentId) {
        let comes = self.under_way.take_if(|(of, _)| of.0 == document).is_some();
        if self.holds.remove(&document).is_some() || comes {
            self.order(Order::Forget(document));
        }
    }

    /// Notes which document is on the screen; whether it is another one than before.
    pub fn turn_to(&mut self, present: DocumentId) -> bool {
        let is_another = std::mem::replace(&mut self.present, present) != present;
        if is_another {
            self.order(Order::TurnTo(present));
        }
        is_another
    }

    /// Sessions that earlier windows left unsaved, the newest first.
    pub fn earlier(&self) -> &[Earlier] {
        &self.earlier
    }

    /// Has the worker look for what earlier windows have left; [`Keeper::take_news`] gives it.
    pub fn look_for_news(&self) {
        self.order(Order::LookForNews);
    }

    /// What earlier windows have left, once.
    pub fn take_news(&mut self) -> Option<News> {
        self.news.take()
    }

    /// Notes that the user knows of all crashes up to now.
    pub fn crashes_are_known(&self) {
        self.order(Order::CrashesAreKnown);
    }
}

fn carry_out(files: &mut Autosaves, order: Order) -> Option<Answer> {
    match order {
        Order::Save(of, scene) => {
            // The scene comes from the user, and the next one may be kept.
            let saved = catch_unwind(AssertUnwindSafe(|| files.save(of, &scene)));
            let stopped = |_| Err("writing it stopped unexpectedly".to_owned());
            Some(Answer::Saved(
                of,
                saved.map_or_else(stopped, |saved| saved.map_err(|error| error.to_string())),
            ))
        }
        Order::Picture(of, draw) => {
            if let Ok(Some(picture)) = catch_unwind(AssertUnwindSafe(draw)) {
                files.picture(of, &picture);
            }
            None
        }
        Order::Forget(document) => {
            files.forget(document);
            None
        }
        Order::TurnTo(document) => {
            files.turn_to(document);
            Some(Answer::Earlier(files.earlier().to_vec()))
        }
        Order::LookForNews => {
            Some(Answer::News(News { session: files.has_news(), crash: files.crash_news() }))
        }
        Order::CrashesAreKnown => {
            files.crash_news();
            None
        }
    }
}

impl Drop for Keeper {
    /// Ends the worker after its last order, so that what is under way is on the disk and no lock file stays.
    fn drop(&mut self) {
        self.orders = None;
        let end = Instant::now() + LAST_WAIT;
        while self.answers.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{load_scene, parse_scene, testing_homes};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("kintsugi-keeper-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    fn scene(friction: f64) -> Scene {
        parse_scene(&format!("[[body]]\nfile = \"builtin:box\"\nfriction = {friction}\n"), "test").unwrap()
    }

    fn frictions(folder: &std::path::Path) -> Vec<f64> {
        let all = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let scenes = all.filter(|path| path.extension().is_some_and(|e| e == "toml"));
        scenes.map(|path| load_scene(&path).unwrap().bodies[0].friction).collect()
    }

    fn wait(keeper: &mut Keeper) -> Result<(), String> {
        let start = Instant::now();
        loop {
            if let Some(saved) = keeper.poll() {
                return saved;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "it never answers");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_state_is_kept_only_once_it_is_on_the_disk_and_a_slow_disk_holds_nobody_up() {
        let folder = folder("slow");
        let mut home = testing_homes();
        let (one, other) = (home(), home());
        let mut keeper = Keeper::on_slow_disk(folder.clone(), Duration::from_millis(300));
        let start = Instant::now();
        keeper.save(one, scene(0.25));
        assert!(keeper.poll().is_none() && !keeper.keeps(one.0, one.1) && keeper.busy_since().is_some());
        assert!(start.elapsed() < Duration::from_millis(150), "it waited for the disk");
        wait(&mut keeper).unwrap();
        assert!(keeper.keeps(one.0, one.1) && keeper.busy_since().is_none());
        assert_eq!(frictions(&folder), [0.25]);
        // While another state of the same document is on its way nobody knows which one the file holds.
        keeper.save((one.0, other.1), scene(0.5));
        assert!(!keeper.keeps(one.0, one.1) && !keeper.keeps(one.0, other.1));
        // What the user saved meanwhile needs no file, and what comes next is not mistaken for it.
        keeper.forget(one.0);
        keeper.save(other, scene(0.75));
        wait(&mut keeper).unwrap();
        assert!(keeper.keeps(other.0, other.1) && !keeper.keeps(one.0, other.1));
        assert_eq!(frictions(&folder), [0.75]);
        // What is under way at the end is written, and no lock stays.
        keeper.save(one, scene(1.0));
        drop(keeper);
        let mut found = frictions(&folder);
        found.sort_by(f64::total_cmp);
        assert_eq!(found, [0.75, 1.0]);
        assert!(
            std::fs::read_dir(&folder).unwrap().all(|e| e.unwrap().path().extension().unwrap() == "toml")
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_crash_is_told_once_by_the_next_window_and_not_where_it_is_known() {
        let folder = folder("crash");
        std::fs::create_dir_all(&folder).unwrap();
        let report = folder.join("crash-1-1.txt");
        std::fs::write(&report, "said").unwrap();
        let news = |known: bool| {
            let mut keeper = Keeper::new(folder.clone());
            if known {
                keeper.crashes_are_known();
            }
            keeper.look_for_news();
            let start = Instant::now();
            loop {
                keeper.poll();
                if let Some(news) = keeper.take_news() {
                    return (news.crash, news.session);
                }
                assert!(start.elapsed() < Duration::from_secs(60));
            }
        };
        assert_eq!(news(false), (Some(report.clone()), false));
        assert_eq!(news(false), (None, false));
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(folder.join("crash-2-1.txt"), "said again").unwrap();
        assert_eq!(news(true), (None, false), "the window that lives on has told of it");
        // Old reports go as old sessions do.
        let old = std::time::SystemTime::now() - Duration::from_secs(31 * 24 * 3600);
        std::fs::File::options().write(true).open(&report).unwrap().set_modified(old).unwrap();
        drop(Keeper::new(folder.clone()));
        assert!(!report.exists() && folder.join("crash-2-1.txt").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
