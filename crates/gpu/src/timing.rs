//! How long stages took.

/// GPU time of one stage (all passes recorded under its name).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StageTiming {
    /// Stage name.
    pub stage: String,
    /// Time, ms.
    pub ms: f64,
}

/// Milliseconds by the clock since then.
#[must_use]
pub fn ms_since(started: std::time::Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

impl StageTiming {
    /// The time since then, of a stage that has just ended.
    #[must_use]
    pub fn since(stage: &str, started: std::time::Instant) -> Self {
        Self { stage: stage.to_owned(), ms: ms_since(started) }
    }

    /// Adds it to the time of its stage among `all`, which come in the order of first use.
    pub fn add_to(self, all: &mut Vec<Self>) {
        match all.iter_mut().find(|known| known.stage == self.stage) {
            Some(known) => known.ms += self.ms,
            None => all.push(self),
        }
    }
}
