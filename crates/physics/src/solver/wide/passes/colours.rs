//! Colours of manifolds: those of one colour share no body that moves, so they are solved at once.
//!
//! In: the bodies of each manifold that move. Out: the order of manifolds by colour. Each manifold gets the first colour that
//! neither of its bodies has, in the order of manifolds, so that colours follow from the heap alone. A body that cannot move
//! takes no colour. A body has as many colours as manifolds, which for a large shard among crumbs may be hundreds; the first
//! [`MASKED`] colours are looked for one by one, and beyond them a manifold gets the first that lies after those of its bodies.

/// Colours of which each body keeps a bit.
const MASKED: u32 = u64::BITS;

/// Colours of at most so many manifolds are solved one after the other by one workgroup, since a dispatch costs more than its
/// threads would save. No more than threads of a workgroup.
pub(super) const FEW: u32 = 256;

/// Manifolds by colour.
#[derive(Debug, Default)]
pub(super) struct Colours {
    /// Manifolds, those of the first colour first.
    pub order: Vec<usize>,
    /// Where each colour begins in `order`, and its length.
    pub starts: Vec<u32>,
}

/// Colours that a dispatch does one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub first: u32,
    /// The colour after the last one.
    pub end: u32,
    /// Threads; those of more than one workgroup do a colour alone.
    pub threads: usize,
}

impl Colours {
    /// Of manifolds with these `pairs` of moving bodies, one twice where the other cannot move; there are `bodies`.
    pub fn new(pairs: impl ExactSizeIterator<Item = [usize; 2]>, bodies: usize) -> Self {
        let (mut taken, mut beyond) = (vec![0u64; bodies], vec![MASKED; bodies]);
        let mut colours = Vec::with_capacity(pairs.len());
        for [a, b] in pairs {
            let free = (taken[a] | taken[b]).trailing_ones();
            let colour = if free < MASKED { free } else { beyond[a].max(beyond[b]) };
            for k in [a, b] {
                match free < MASKED {
                    true => taken[k] |= 1u64 << free,
                    false => beyond[k] = colour + 1,
                }
            }
            colours.push(colour);
        }
        let count = colours.iter().max().map_or(0, |last| *last as usize + 1);
        let mut starts = vec![0; count + 1];
        colours.iter().for_each(|colour| starts[*colour as usize + 1] += 1);
        for k in 0..count {
            starts[k + 1] += starts[k];
        }
        let mut order: Vec<usize> = (0..colours.len()).collect();
        // A stable sort: within a colour manifolds keep their order.
        order.sort_by_key(|k| colours[*k]);
        Self { order, starts }
    }

    /// The dispatches of a sweep over all colours.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (first, ends) in (0u32..).zip(self.starts.windows(2)) {
            let size = ends[1] - ends[0];
            match runs.last_mut().filter(|run| size <= FEW && run.threads == 1) {
                Some(run) => run.end += 1,
                None => {
                    let threads = if size <= FEW { 1 } else { size as usize };
                    runs.push(Run { first, end: first + 1, threads });
                }
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// The first thing that is wrong with an order of manifolds.
    fn wrong(colours: &Colours, pairs: &[[usize; 2]], bodies: usize) -> Option<String> {
        let mut sorted = colours.order.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..pairs.len()) {
            return Some("not every manifold is there once".into());
        }
        if colours.starts.first() != Some(&0) || colours.starts.last() != Some(&(pairs.len() as u32)) {
            return Some("colours do not begin and end where manifolds do".into());
        }
        for (colour, ends) in colours.starts.windows(2).enumerate() {
            let mut seen = vec![false; bodies];
            for k in &colours.order[ends[0] as usize..ends[1] as usize] {
                let [a, b] = pairs[*k];
                if seen[a] || seen[b] {
                    return Some(format!("manifold {k} shares a body within colour {colour}"));
                }
                (seen[a], seen[b]) = (true, true);
            }
        }
        None
    }

    /// Random pairs, a few with one body that all others touch.
    fn random(bodies: usize, count: usize, seed: u64) -> Vec<[usize; 2]> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut pair = |k: usize| {
            let a = if k.is_multiple_of(5) { 0 } else { rng.random_range(0..bodies) };
            // A third of them touch what cannot move.
            let b = rng.random_range(0..bodies);
            if k.is_multiple_of(3) { [a, a] } else { [a, b] }
        };
        (0..count).map(&mut pair).collect()
    }

    #[test]
    fn no_two_manifolds_of_a_colour_share_a_body_that_moves() {
        let mut most = 0;
        for (seed, (bodies, count)) in
            (0u64..).zip([(1, 0), (1, 1), (1, 200), (2, 3), (9, 40), (300, 1000), (5, 700), (4000, 9000)])
        {
            let pairs = random(bodies, count, seed);
            let colours = Colours::new(pairs.iter().copied(), bodies);
            assert_eq!(wrong(&colours, &pairs, bodies), None, "{bodies} bodies, {count} manifolds");
            let again = Colours::new(pairs.iter().copied(), bodies);
            assert_eq!((&colours.order, &colours.starts), (&again.order, &again.starts));
            most = most.max(colours.starts.len() - 1);
        }
        println!("up to {most} colours");
        assert!(most > MASKED as usize, "none has more colours than bits");
    }

    #[test]
    fn two_that_share_a_body_are_found() {
        let pairs = random(50, 200, 3);
        let mut colours = Colours::new(pairs.iter().copied(), 50);
        assert!(wrong(&colours, &pairs, 50).is_none());
        // The second colour as a part of the first: each of its manifolds has a body that one of the first colour has.
        colours.starts.remove(1);
        assert!(wrong(&colours, &pairs, 50).is_some_and(|what| what.contains("shares a body")));
    }

    #[test]
    fn small_colours_go_in_a_row_and_large_ones_alone() {
        let sizes = [900u32, 257, 256, 3, 1, 400, 2];
        let mut starts = vec![0u32];
        sizes.iter().for_each(|size| starts.push(starts[starts.len() - 1] + *size));
        let runs = Colours { order: Vec::new(), starts }.runs();
        let run = |first, end, threads| Run { first, end, threads };
        assert_eq!(runs, [run(0, 1, 900), run(1, 2, 257), run(2, 5, 1), run(5, 6, 400), run(6, 7, 1)]);
        assert!(Colours::new(std::iter::empty(), 0).runs().is_empty());
    }
}
