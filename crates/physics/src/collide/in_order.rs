//! Looks up ids in a sorted list in one pass, which costs less than a bisection per id.

/// A place in a sorted list that only moves forward.
pub struct InOrder<'a, T, K> {
    list: &'a [T],
    at: usize,
    name: fn(&T) -> K,
}

impl<'a, T, K: Ord> InOrder<'a, T, K> {
    /// Begins at the start of `list`, which is in ascending order of `name`.
    pub fn new(list: &'a [T], name: fn(&T) -> K) -> Self {
        Self { list, at: 0, name }
    }

    /// The index of the item with this id, if there is one. Ids must be given in ascending order.
    pub fn find(&mut self, name: &K) -> Option<usize> {
        while self.list.get(self.at).is_some_and(|item| (self.name)(item) < *name) {
            self.at += 1;
        }
        self.list.get(self.at).filter(|item| (self.name)(item) == *name).map(|_| self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_is_there_and_nothing_else() {
        let list = [1, 3, 3, 8, 9];
        let mut at = InOrder::new(&list, |item| *item);
        let found: Vec<_> = [0, 1, 2, 3, 3, 8, 10, 10].iter().map(|name| at.find(name)).collect();
        assert_eq!(found, [None, Some(0), None, Some(1), Some(1), Some(3), None, None]);
        assert_eq!(InOrder::new(&[], |item: &u32| *item).find(&0), None);
    }
}
