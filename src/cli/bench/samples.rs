//! Times of stages over several runs, with their medians.

use crate::gpu::StageTiming;

/// One measured stage.
#[derive(serde::Serialize)]
pub struct Row {
    /// The stage's name.
    pub stage: String,
    /// Median over the runs, ms.
    pub median_ms: f64,
    /// Time of the fastest run, ms.
    pub least_ms: f64,
    /// Time of the slowest run, ms.
    pub most_ms: f64,
    /// Number of runs.
    pub runs: usize,
}

/// Milliseconds per stage, in the order in which the stages first appeared.
#[derive(Default)]
pub struct Samples(Vec<(String, Vec<f64>)>);

impl Samples {
    /// Adds one run of a stage.
    pub fn add(&mut self, stage: &str, ms: f64) {
        match self.0.iter_mut().find(|(name, _)| name == stage) {
            Some((_, times)) => times.push(ms),
            None => self.0.push((stage.to_owned(), vec![ms])),
        }
    }

    /// Adds one run of several stages; times of equal names are summed first.
    pub fn add_all(&mut self, prefix: &str, timings: &[StageTiming]) {
        for (stage, ms) in crate::export::report::timings_ms(timings) {
            self.add(&format!("{prefix}{stage}"), ms.as_f64().unwrap_or(0.0));
        }
    }

    /// Median of a stage; 0 if it never ran.
    pub fn median(&self, stage: &str) -> f64 {
        self.0.iter().find(|(name, _)| name == stage).map_or(0.0, |(_, times)| median(times))
    }

    /// One row per stage.
    pub fn rows(&self) -> Vec<Row> {
        let row = |(stage, times): &(String, Vec<f64>)| Row {
            stage: stage.clone(),
            median_ms: median(times),
            least_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
            most_ms: times.iter().copied().fold(0.0, f64::max),
            runs: times.len(),
        };
        self.0.iter().map(row).collect()
    }
}

/// The middle value, or the mean of the two middle ones; 0 for an empty list.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => sorted[n / 2 - 1].midpoint(sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
    }
}
