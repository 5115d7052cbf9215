//! Tables that commands write: `steps.csv`, `contacts.csv`.
//!
//! In: text of a CSV file with a line of heads. Out: columns of numbers.

/// A table of numbers with named columns.
#[derive(Debug, Default)]
pub struct Log {
    heads: Vec<String>,
    rows: Vec<Vec<Option<f64>>>,
}

impl Log {
    /// Reads a CSV file without quoted commas; a cell that is no number is empty.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let heads = lines.next().unwrap_or_default().split(',').map(|head| head.trim().to_owned()).collect();
        let cells = |line: &str| line.split(',').map(|cell| cell.trim().parse().ok()).collect();
        Self { heads, rows: lines.map(cells).collect() }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The cells of a column, from the first row on; all are `None` where there is no such column.
    #[must_use]
    pub fn column(&self, head: &str) -> Vec<Option<f64>> {
        let at = self.heads.iter().position(|one| one == head);
        self.rows.iter().map(|row| at.and_then(|at| row.get(at).copied().flatten())).collect()
    }

    /// Average and greatest of a column; `None` where it is empty.
    #[must_use]
    pub fn range(&self, head: &str) -> Option<[f64; 2]> {
        let values: Vec<f64> = self.column(head).into_iter().flatten().collect();
        Some([mean(values.iter().copied())?, values.into_iter().fold(0.0, f64::max)])
    }

    /// Two columns as points, without rows where one of them is empty.
    #[must_use]
    pub fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        self.column(x).into_iter().zip(self.column(y)).filter_map(|(x, y)| x.zip(y)).collect()
    }
}

/// The mean; `None` of nothing.
#[must_use]
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}

/// The value that a share of the values does not exceed, 0 to 1, by rank; `None` of nothing.
#[must_use]
pub fn quantile(values: impl IntoIterator<Item = f64>, share: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    // The product lies between 0 and the length.
    let at = (share.clamp(0.0, 1.0) * last as f64).round() as usize;
    sorted.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_heads() {
        let log = Log::parse("step,ms,shared\n1,2.5,\n2,3.5,0.1\n");
        assert_eq!(log.len(), 2);
        assert_eq!(log.column("ms"), [Some(2.5), Some(3.5)]);
        assert_eq!(log.column("shared"), [None, Some(0.1)]);
        assert_eq!(log.column("other"), [None, None]);
        assert_eq!(log.points("step", "shared"), [(2.0, 0.1)]);
        assert_eq!(Log::parse("").len(), 0);
    }

    #[test]
    fn means_and_quantiles_of_nothing_are_nothing() {
        assert_eq!([mean([]), quantile([], 0.5)], [None, None]);
        assert_eq!(mean([1.0, 2.0, 6.0]), Some(3.0));
        // Planted error to see this fail: leave out the sort.
        assert_eq!(
            [0.0, 0.5, 1.0].map(|share| quantile([5.0, 1.0, 3.0], share)),
            [Some(1.0), Some(3.0), Some(5.0)]
        );
    }
}
