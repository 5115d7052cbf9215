//! Reports of panics, for users who see no terminal.
//!
//! In: panics, by the hook that `main` sets. Out: `crash-TIME-PROCESS.txt` in the state folder while a window is open; for
//! a window that lives on, what its worker said and where the report is.

use std::{
    backtrace::Backtrace,
    fmt::Write as _,
    panic::{self, PanicHookInfo},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
    time::SystemTime,
};

use crate::{
    export::provenance::VERSION,
    provenance::COMMIT,
    scene::{make_own_folder, state_folder, write_atomically},
};

/// How the names of reports begin.
pub const BEGINNING: &str = "crash-";
/// Most reports of one process.
const MOST: usize = 20;

/// The open window, as reports describe it.
struct Window {
    thread: ThreadId,
    adapter: String,
    /// What is open in it.
    shows: String,
    /// Wakes the window.
    wake: Box<dyn Fn() + Send>,
    reports: usize,
}

/// A worker that has stopped.
pub struct Stopped {
    /// What it said, and where.
    pub what: String,
    /// The report.
    pub report: Option<PathBuf>,
}

static WINDOW: Mutex<Option<Window>> = Mutex::new(None);
static STOPPED: Mutex<Vec<Stopped>> = Mutex::new(Vec::new());

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has panics of this process reported while a window is open. They are printed as before.
pub fn report_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        before(panic);
        report(panic);
    }));
}

/// A window is open from now on, drawn by this thread; `wake` wakes its event loop.
pub(super) fn window_opens(adapter: &str, wake: impl Fn() + Send + 'static) {
    let (thread, wake) = (thread::current().id(), Box::new(wake));
    let (adapter, shows) = (adapter.to_owned(), String::new());
    *lock(&WINDOW) = Some(Window { thread, adapter, shows, wake, reports: 0 });
}

/// Notes what the window shows.
pub(super) fn window_shows(what: String) {
    lock(&WINDOW).iter_mut().for_each(|window| window.shows.clone_from(&what));
}

/// Workers that have stopped since the last call.
pub(super) fn stopped() -> Vec<Stopped> {
    std::mem::take(&mut lock(&STOPPED))
}

fn report(panic: &PanicHookInfo<'_>) {
    let mut window = lock(&WINDOW);
    let Some(window) = window.as_mut().filter(|window| window.reports < MOST) else { return };
    window.reports += 1;
    let said = panic.payload_as_str().unwrap_or("no reason given");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let report = write(window, said, &place);
    if thread::current().id() != window.thread {
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        lock(&STOPPED).push(Stopped { what: format!("{said} ({place})"), report });
        (window.wake)();
    }
}

/// Writes a report; `None` if that is not possible.
fn write(window: &Window, said: &str, place: &str) -> Option<PathBuf> {
    let current = thread::current();
    let thread = if current.id() == window.thread { Some("the window's") } else { current.name() };
    let mut text = String::new();
    let _ = write!(
        text,
        "Kintsugi stopped unexpectedly.\n\n\
         said:     {said}\n\
         place:    {place}\n\
         thread:   {}\n\
         version:  {VERSION} ({COMMIT}), {} {}\n\
         adapter:  {}\n\
         open:     {}\n\n\
         What was open and unsaved was kept at most ten seconds before: Ctrl+P, \"Reopen the last session\".\n\
         To report this, send this file to the makers of the program with a few words on what was done last. Nothing\n\
         but what stands here is in it.\n\n{}\n",
        thread.unwrap_or("a worker"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        window.adapter,
        if window.shows.is_empty() { "nothing yet" } else { &window.shows },
        Backtrace::force_capture(),
    );
    let folder = state_folder();
    make_own_folder(&folder).ok()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let name = |time| folder.join(format!("{BEGINNING}{time}-{}.txt", std::process::id()));
    let path = (now..now + MOST as u128).map(name).find(|path| !path.exists())?;
    write_atomically(&path, text.as_bytes()).ok()?;
    Some(path)
}
