//! How long stages took.

/// GPU time of one stage (all passes that were recorded under its name).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StageTiming {
    /// Stage name.
    pub stage: String,
    /// Milliseconds.
    pub ms: f64,
}
