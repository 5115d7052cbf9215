//! Progress of long commands on stderr: a bar on a terminal, lines of JSON with `--json-progress`, otherwise nothing.
//! Also times the stages that run on the CPU.

use std::{cell::RefCell, io::IsTerminal, io::Write, sync::mpsc, time::Duration, time::Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::{facade::Observer, gpu::StageTiming, voxelize::Progress};

/// Interval at which the display is updated.
const TICK: Duration = Duration::from_millis(100);

/// Shows stages and records their times.
pub struct Reporter {
    display: Display,
    timings: RefCell<Vec<StageTiming>>,
}

enum Display {
    Nothing,
    Json,
    Bar(ProgressBar),
}

impl Display {
    fn show(&self, stage: &str, fraction: f32, ms: Option<f64>) {
        match self {
            Self::Nothing => {}
            Self::Json => {
                let mut line = serde_json::json!({ "stage": stage, "fraction": fraction });
                if let Some(ms) = ms {
                    line["ms"] = ms.into();
                }
                let _ = writeln!(std::io::stderr(), "{line}");
            }
            Self::Bar(bar) => {
                bar.set_message(stage.to_owned());
                bar.set_position((fraction * 1000.0) as u64);
            }
        }
    }
}

impl Reporter {
    /// `json` selects lines of JSON.
    #[must_use]
    pub fn new(json: bool) -> Self {
        let display = if json {
            Display::Json
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(1000);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {msg} {elapsed}") {
                bar.set_style(style);
            }
            Display::Bar(bar)
        } else {
            Display::Nothing
        };
        Self { display, timings: RefCell::default() }
    }

    /// Runs and times one stage; `work` reports its progress through [`Progress`].
    pub fn stage<T>(&self, name: &str, work: impl FnOnce(&Progress) -> T) -> T {
        let progress = Progress::default();
        let start = Instant::now();
        self.display.show(name, 0.0, None);
        let result = if matches!(self.display, Display::Nothing) {
            work(&progress)
        } else {
            let (done, watch) = mpsc::channel::<()>();
            let (display, watched) = (&self.display, progress.clone());
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let mut last = 0.0;
                    while watch.recv_timeout(TICK) == Err(mpsc::RecvTimeoutError::Timeout) {
                        let now = watched.get();
                        if now > last {
                            display.show(name, now, None);
                            last = now;
                        }
                    }
                });
                let result = work(&progress);
                drop(done);
                result
            })
        };
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        self.display.show(name, 1.0, Some(ms));
        self.timings.borrow_mut().push(StageTiming { stage: name.to_owned(), ms });
        result
    }

    /// Runs `work`, which prints, while no bar stands in the way.
    pub fn undisturbed<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.display {
            Display::Bar(bar) => bar.suspend(work),
            Display::Nothing | Display::Json => work(),
        }
    }

    /// All times recorded.
    #[must_use]
    pub fn timings(&self) -> Vec<StageTiming> {
        self.timings.borrow().clone()
    }

    /// Prints a one-line warning.
    pub fn warn(&self, message: &str) {
        self.tell("warning", message);
    }

    /// Prints one line about something other than progress; `what` is a word that says what.
    pub fn tell(&self, what: &str, message: &str) {
        let line = match &self.display {
            Display::Json => serde_json::json!({ what: message }).to_string(),
            _ => format!("{what}: {message}"),
        };
        match &self.display {
            Display::Bar(bar) => bar.suspend(|| {
                let _ = writeln!(std::io::stderr(), "{line}");
            }),
            _ => {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        }
    }
}

impl Observer for Reporter {
    fn stage<T>(&self, name: &str, work: impl FnOnce(&Progress) -> T) -> T {
        Self::stage(self, name, work)
    }

    fn timing(&self, timing: &StageTiming) {
        self.timings.borrow_mut().push(timing.clone());
    }

    fn note(&self, text: &str) {
        self.warn(text);
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}
