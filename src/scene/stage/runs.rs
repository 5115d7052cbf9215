//! Persistent lists for snapshots, which share the parts that have not changed.

use std::sync::Arc;

/// Length of a run, the unit of sharing. A pointer to a run takes 16 B, a run of bodies' states 4 KB, of bodies 7 KB.
const RUN: usize = 32;

/// A list as runs of entries. A run equal to an earlier list's run at the same position is shared with it.
#[derive(Clone)]
pub(in crate::scene) struct Runs<T> {
    runs: Vec<Arc<[T]>>,
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self { runs: Vec::new() }
    }
}

impl<T: PartialEq> Runs<T> {
    /// The list of `entries`, which shares equal runs with `like`.
    pub fn of(entries: impl IntoIterator<Item = T>, like: Option<&Self>) -> Self {
        Self::shared(entries, like, T::eq)
    }
}

impl<T> Runs<Arc<T>> {
    /// The same for pointers, which are equal if they point to the same value.
    pub fn of_same(entries: &[Arc<T>], like: Option<&Self>) -> Self {
        Self::shared(entries.iter().cloned(), like, Arc::ptr_eq)
    }
}

impl<T> Runs<T> {
    fn shared(
        entries: impl IntoIterator<Item = T>,
        like: Option<&Self>,
        same: impl Fn(&T, &T) -> bool,
    ) -> Self {
        let mut entries = entries.into_iter();
        let mut runs = Vec::new();
        loop {
            let run: Vec<T> = entries.by_ref().take(RUN).collect();
            if run.is_empty() {
                return Self { runs };
            }
            let all_same = |there: &&Arc<[T]>| {
                there.len() == run.len() && there.iter().zip(&run).all(|(a, b)| same(a, b))
            };
            let there = like.and_then(|like| like.runs.get(runs.len())).filter(all_same);
            runs.push(there.map_or_else(|| run.into(), Arc::clone));
        }
    }

    /// The entries in their order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.runs.iter().flat_map(|run| run.iter())
    }

    /// Number of entries.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        let whole = self.runs.len().saturating_sub(1) * RUN;
        self.runs.last().map_or(0, |last| whole + last.len())
    }

    /// Memory not shared with `other`, bytes.
    pub fn bytes_beside(&self, other: Option<&Self>) -> usize {
        let is_shared = |at: usize, run: &Arc<[T]>| {
            other.and_then(|other| other.runs.get(at)).is_some_and(|same| Arc::ptr_eq(same, run))
        };
        let own = self.runs.iter().enumerate().filter(|(at, run)| !is_shared(*at, run));
        size_of_val(&*self.runs) + own.map(|(_, run)| size_of_val(&**run)).sum::<usize>()
    }

    /// Entries that `other` does not have at the same position.
    pub fn beside<'a>(
        &'a self,
        other: Option<&'a Self>,
        same: fn(&T, &T) -> bool,
    ) -> impl Iterator<Item = &'a T> {
        let mut others = other.into_iter().flat_map(Self::iter);
        self.iter().filter(move |entry| others.next().is_none_or(|there| !same(there, entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_shared_and_nothing_else() {
        let all = |runs: &Runs<u64>| runs.iter().copied().collect::<Vec<_>>();
        let mut entries: Vec<u64> = (0..1000).collect();
        let first = Runs::of(entries.clone(), None);
        assert_eq!((all(&first), first.len()), (entries.clone(), 1000));
        let pointers = 16 * 32;
        assert_eq!(first.bytes_beside(None), 8000 + pointers);
        assert_eq!(Runs::of(entries.clone(), Some(&first)).bytes_beside(Some(&first)), pointers);
        // One changed entry and one appended entry affect a run each.
        entries[100] = 7;
        entries.push(1000);
        let second = Runs::of(entries.clone(), Some(&first));
        assert_eq!((all(&second), second.len()), (entries.clone(), 1001));
        assert_eq!(second.bytes_beside(Some(&first)), 8 * (32 + 9) + pointers);
        // Removing an entry shifts all entries after it.
        entries.remove(500);
        let third = Runs::of(entries.clone(), Some(&second));
        assert_eq!((all(&third), third.len()), (entries, 1000));
        assert_eq!(third.bytes_beside(Some(&second)), 8 * (1000 - 15 * 32) + pointers);
        assert_eq!(third.beside(Some(&second), u64::eq).copied().collect::<Vec<_>>(), all(&third)[500..]);
        let nothing = Runs::<u64>::of([], Some(&third));
        assert_eq!((nothing.len(), nothing.bytes_beside(Some(&third))), (0, 0));
    }
}
