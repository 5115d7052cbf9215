//! Histogram of pieces' sizes: bins of equal width on a logarithmic scale.
//!
//! In: sizes. Out: counts that add up to the number of sizes, and the bin of a size.

/// Histogram of sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Number of sizes in each bin.
    pub counts: Vec<usize>,
    /// Logarithms of the smallest size and of the largest.
    ends: (f64, f64),
}

/// Sizes below this count as this, since zero has no logarithm.
const LEAST: f64 = 1e-12;

fn log(size: f64) -> f64 {
    libm::log10(if size.is_finite() { size.max(LEAST) } else { LEAST })
}

impl Histogram {
    /// The histogram of `sizes` with at least one bin. If all sizes are equal they are in the first bin.
    #[must_use]
    pub fn new(sizes: impl Iterator<Item = f64> + Clone, bins: usize) -> Self {
        let whole = (f64::INFINITY, f64::NEG_INFINITY);
        let ends = sizes.clone().map(log).fold(whole, |(low, high), size| (low.min(size), high.max(size)));
        let mut histogram = Self { counts: vec![0; bins.max(1)], ends };
        for size in sizes {
            let bin = histogram.bin(size);
            histogram.counts[bin] += 1;
        }
        histogram
    }

    /// The bin of a size; the nearest one for a size beyond the ends.
    #[must_use]
    pub fn bin(&self, size: f64) -> usize {
        let (low, high) = self.ends;
        let last = self.counts.len().saturating_sub(1);
        if high <= low {
            return 0;
        }
        let at = (log(size) - low) / (high - low) * self.counts.len() as f64;
        // Casts from floats saturate.
        (at as usize).min(last)
    }

    /// The smallest and the largest size; `None` if there are none.
    #[must_use]
    pub fn ends(&self) -> Option<(f64, f64)> {
        let (low, high) = self.ends;
        (low <= high).then(|| (libm::pow(10.0, low), libm::pow(10.0, high)))
    }

    /// The highest count.
    #[must_use]
    pub fn most(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_sum_up_to_all_pieces_and_hold_what_they_say() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64
        };
        for count in [1usize, 2, 30, 8000] {
            let sizes: Vec<f64> = (0..count).map(|_| random() % 90_000.0 + 1.0).collect();
            let histogram = Histogram::new(sizes.iter().copied(), 24);
            assert_eq!(histogram.counts.iter().sum::<usize>(), count);
            for bin in 0..24 {
                let here = sizes.iter().filter(|size| histogram.bin(**size) == bin).count();
                assert_eq!(histogram.counts[bin], here);
            }
            let (low, high) = histogram.ends().unwrap();
            assert_eq!((histogram.bin(low), sizes.iter().any(|size| *size < low * 0.999)), (0, false));
            assert!(count == 1 || histogram.bin(high * 1.001) == 23);
        }
    }

    #[test]
    fn each_bin_is_as_many_times_as_large_as_the_one_before() {
        let histogram = Histogram::new([1.0, 9.9, 10.1, 99.0, 101.0, 1000.0].into_iter(), 3);
        assert_eq!(histogram.counts, [2, 2, 2]);
    }

    #[test]
    fn one_size_and_none_have_a_bin() {
        let one = Histogram::new([5.0; 4].into_iter(), 8);
        assert_eq!((one.counts[0], one.most(), one.bin(99.0)), (4, 4, 0));
        let none = Histogram::new(std::iter::empty(), 8);
        assert_eq!((none.ends(), none.most(), none.bin(1.0)), (None, 0, 0));
        let odd = Histogram::new([0.0, f64::NAN, f64::INFINITY, 3.0].into_iter(), 4);
        assert_eq!(odd.counts.iter().sum::<usize>(), 4);
    }
}
