//! A binary tree of boxes over items with boxes.
//!
//! In: items, their boxes, and a function that halves a run of them. Out: the item nearest to a point, or the items in
//! all boxes that pass a test, in a fixed order.

use super::Aabb;
use glam::DVec3;

/// The tree.
#[derive(Clone, Debug)]
pub struct BoxTree<T> {
    items: Vec<T>,
    /// The root first, every node before its children.
    nodes: Vec<Node>,
}

impl<T> Default for BoxTree<T> {
    fn default() -> Self {
        Self { items: Vec::new(), nodes: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    /// The items below it: the first, and their number.
    items: [u32; 2],
    /// Index of the second child; the first follows its parent. 0 for a leaf.
    second: u32,
}

/// Nodes still to be visited. There is one for each level of the tree at most, and one more; halves of at most 2^32 items
/// give 33 levels.
struct Open<N> {
    nodes: [N; 64],
    count: usize,
}

impl<N: Copy + Default> Open<N> {
    fn of(root: N) -> Self {
        let mut open = Self { nodes: [N::default(); 64], count: 1 };
        open.nodes[0] = root;
        open
    }

    fn pop(&mut self) -> Option<N> {
        self.count = self.count.checked_sub(1)?;
        Some(self.nodes[self.count])
    }

    fn push(&mut self, node: N) {
        self.nodes[self.count] = node;
        self.count += 1;
    }
}

/// Runs of so many items are halved side by side; for shorter ones another thread costs more than it saves.
const SIDE_BY_SIDE: usize = 1 << 14;

/// Appends the nodes of a run of items, of which the first is item `first` of the tree.
fn halve<T: Send>(
    run: &mut [T],
    first: usize,
    nodes: &mut Vec<Node>,
    look: &(impl Fn(&mut [T]) -> (Aabb, bool) + Sync),
) {
    let (bounds, is_leaf) = look(run);
    let (own, count) = (nodes.len(), run.len());
    nodes.push(Node { bounds, items: [first as u32, count as u32], second: 0 });
    if is_leaf {
        return;
    }
    let half = count / 2;
    let (low, high) = run.split_at_mut(half);
    if count < SIDE_BY_SIDE {
        halve(low, first, nodes, look);
        nodes[own].second = nodes.len() as u32;
        halve(high, first + half, nodes, look);
        return;
    }
    let mut others = Vec::new();
    rayon::join(|| halve(low, first, nodes, look), || halve(high, first + half, &mut others, look));
    // A node says where its second child is; the first node of `others` comes to lie here.
    let here = nodes.len() as u32;
    nodes[own].second = here;
    nodes.extend(others.into_iter().map(|node| match node.second {
        0 => node,
        second => Node { second: here + second, ..node },
    }));
}

impl<T> BoxTree<T> {
    /// A tree over `items`, with at most `most` per leaf. `part` reorders a run of items such that each of its halves
    /// (the first is the smaller one) lies together; its argument are the edges of the run's box. Halves of many items are
    /// built side by side; the tree is the same on any number of threads.
    pub fn new(
        mut items: Vec<T>,
        most: usize,
        bounds: impl Fn(&T) -> Aabb + Sync,
        part: impl Fn(&mut [T], DVec3) + Sync,
    ) -> Self
    where
        T: Send,
    {
        let mut nodes = Vec::new();
        if !items.is_empty() {
            let look = |run: &mut [T]| {
                let whole = run.iter().map(&bounds).fold(Aabb::NOTHING, Aabb::joined);
                let is_leaf = run.len() <= most;
                if !is_leaf {
                    part(run, whole.size());
                }
                (whole, is_leaf)
            };
            halve(&mut items, 0, &mut nodes, &look);
        }
        Self { items, nodes }
    }

    /// A tree whose runs are halved along the longest edge of their box, by the middles of the items' boxes.
    pub fn by_middles(items: Vec<T>, most: usize, bounds: impl Fn(&T) -> Aabb + Sync) -> Self
    where
        T: Send,
    {
        Self::new(items, most, &bounds, |run, edges| {
            let axis = edges.max_position();
            let middle = |item: &T| bounds(item).middle()[axis];
            run.select_nth_unstable_by(run.len() / 2, |a, b| middle(a).total_cmp(&middle(b)));
        })
    }

    /// The items, by leaf.
    #[must_use]
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The box of all; `None` without items.
    #[must_use]
    pub fn bounds(&self) -> Option<Aabb> {
        self.nodes.first().map(|root| root.bounds)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.items[..]) + size_of_val(&self.nodes[..])
    }

    fn items_of(&self, node: &Node) -> impl Iterator<Item = (usize, &T)> {
        let [first, count] = node.items.map(|v| v as usize);
        (first..).zip(&self.items[first..first + count])
    }

    /// The result of `look` for the item nearest to a point, and its squared distance, which is below `within`. `look`
    /// gets the index of an item and the item, and returns its squared distance, no less than that of its box, and
    /// further data; `None` to skip it. Of equally near items the first visited wins.
    pub fn nearest<'a, R>(
        &'a self,
        p: DVec3,
        within: f64,
        look: impl FnMut(usize, &'a T) -> Option<(f64, R)>,
    ) -> Option<(f64, R)> {
        self.nearest_until(p, within, f64::NEG_INFINITY, look)
    }

    /// Like [`BoxTree::nearest`], but the search ends at the first item whose squared distance is at most `enough`. Where
    /// many boxes hold the point, a distance of nearly 0 rules none of them out.
    pub fn nearest_until<'a, R>(
        &'a self,
        p: DVec3,
        within: f64,
        enough: f64,
        mut look: impl FnMut(usize, &'a T) -> Option<(f64, R)>,
    ) -> Option<(f64, R)> {
        let to_box = |node: u32| {
            let Aabb { low, high } = self.nodes[node as usize].bounds;
            (low - p).max(p - high).max(DVec3::ZERO).length_squared()
        };
        let (mut best, mut found) = (within, None);
        if self.nodes.is_empty() {
            return None;
        }
        let mut open = Open::of((0, to_box(0)));
        while let Some((at, far)) = open.pop() {
            if best <= enough {
                break;
            }
            if far >= best {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.second == 0 {
                for (k, item) in self.items_of(node) {
                    if let Some((distance, what)) = look(k, item)
                        && distance < best
                    {
                        (best, found) = (distance, Some(what));
                        if best <= enough {
                            break;
                        }
                    }
                }
                continue;
            }
            // The nearer half is visited first.
            let [first, second] = [at + 1, node.second].map(|half| (half, to_box(half)));
            let (near, other) = if first.1 <= second.1 { (first, second) } else { (second, first) };
            open.push(other);
            open.push(near);
        }
        found.map(|what| (best, what))
    }

    /// Calls `met` with the items of all leaves if `enters` is true for the leaf's box and all boxes above it.
    pub fn visit(&self, enters: impl Fn(&Aabb) -> bool, mut met: impl FnMut(&T)) {
        let mut open = Open::of(0u32);
        while let Some(at) = open.pop() {
            let Some(node) = self.nodes.get(at as usize).filter(|node| enters(&node.bounds)) else {
                continue;
            };
            if node.second == 0 {
                self.items_of(node).for_each(|(_, item)| met(item));
            } else {
                open.push(node.second);
                open.push(at + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points that stand where numbers lead, many of them at one place.
    fn points(count: u32) -> Vec<DVec3> {
        let at = |i: u32| f64::from((i.wrapping_mul(2_654_435_761) >> 20) % 32);
        (0..count).map(|i| DVec3::new(at(3 * i), at(3 * i + 1), at(3 * i + 2) * 0.25)).collect()
    }

    fn tree_of(points: &[DVec3], most: usize) -> BoxTree<DVec3> {
        BoxTree::new(
            points.to_vec(),
            most,
            |p| Aabb::of([*p]),
            |run, edges| {
                let axis = edges.max_position();
                run.sort_by(|a, b| a[axis].total_cmp(&b[axis]));
            },
        )
    }

    #[test]
    fn the_nearest_is_that_of_all() {
        for (count, most) in [(0, 4), (1, 4), (4, 4), (5, 4), (300, 4), (300, 1), (257, 8)] {
            let (all, asked) = (points(count), points(400));
            let tree = tree_of(&all, most);
            assert_eq!(tree.items().len(), all.len());
            assert_eq!(tree.bounds(), (count > 0).then(|| Aabb::of(all.iter().copied())));
            for p in asked.iter().skip(300).map(|p| *p * 1.1 - 1.0) {
                for within in [f64::INFINITY, 9.0, 0.0] {
                    // Every third one does not count.
                    let counts = |q: &DVec3| !(q.x as u32).is_multiple_of(3);
                    let found = tree.nearest(p, within, |k, q| {
                        assert_eq!(tree.items()[k], *q);
                        counts(q).then(|| (q.distance_squared(p), *q))
                    });
                    let wanted = all.iter().filter(|q| counts(q)).map(|q| q.distance_squared(p));
                    let wanted = wanted.filter(|d| *d < within).min_by(f64::total_cmp);
                    assert_eq!(found.map(|(d, _)| d), wanted);
                    assert!(found.is_none_or(|(d, q)| q.distance_squared(p) == d));
                }
            }
        }
    }

    #[test]
    fn halves_that_are_built_side_by_side_give_the_same_tree() {
        let numbers: Vec<u32> = (0..2 * SIDE_BY_SIDE as u32 + 77).collect();
        let at = points(numbers.len() as u32);
        let tree = || BoxTree::by_middles(numbers.clone(), 4, |i| Aabb::of([at[*i as usize]]));
        let threads = |count: usize| rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        let [one, four] = [1, 4].map(|count| threads(count).install(tree));
        let named = |tree: &BoxTree<u32>| -> Vec<([u32; 2], u32)> {
            tree.nodes.iter().map(|node| (node.items, node.second)).collect()
        };
        assert_eq!((one.items(), named(&one)), (four.items(), named(&four)));
        // Every node's children lie behind it, and together they have its items.
        for (k, node) in one.nodes.iter().enumerate().filter(|(_, node)| node.second != 0) {
            let [first, second] = [k + 1, node.second as usize].map(|child| one.nodes[child].items);
            assert_eq!(
                [first[0], second[0], first[1] + second[1]],
                [node.items[0], first[0] + first[1], node.items[1]]
            );
        }
        let mut seen = Vec::new();
        one.visit(|_| true, |item| seen.push(*item));
        assert_eq!(seen, one.items());
    }

    #[test]
    fn a_search_that_has_enough_ends_there_and_else_finds_the_nearest() {
        let all = points(300);
        let tree = tree_of(&all, 4);
        for p in points(400).iter().skip(300).map(|p| *p * 1.1 - 1.0) {
            let look = |q: &DVec3| (q.distance_squared(p), *q);
            let nearest = tree.nearest(p, f64::INFINITY, |_, q| Some(look(q))).unwrap();
            for enough in [0.0, 0.5, 4.0, 100.0] {
                let mut looked_at = 0;
                let (distance, q) = tree
                    .nearest_until(p, f64::INFINITY, enough, |_, q| {
                        looked_at += 1;
                        Some(look(q))
                    })
                    .unwrap();
                assert_eq!(distance, q.distance_squared(p));
                assert!(if nearest.0 <= enough { distance <= enough } else { distance == nearest.0 });
                assert!(enough < 100.0 || looked_at <= 12, "{looked_at} of {} looked at", all.len());
            }
        }
    }

    #[test]
    fn a_tree_by_middles_finds_the_nearest_and_looks_at_few() {
        let all = points(300);
        let tree = BoxTree::by_middles(all.clone(), 4, |p| Aabb::of([*p]));
        let mut looked_at = 0;
        for p in points(400).iter().skip(300).map(|p| *p * 1.1 - 1.0) {
            let found = tree.nearest(p, f64::INFINITY, |_, q| {
                looked_at += 1;
                Some((q.distance_squared(p), ()))
            });
            let wanted = all.iter().map(|q| q.distance_squared(p)).min_by(f64::total_cmp);
            assert_eq!(found.map(|(distance, ())| distance), wanted);
        }
        assert!(looked_at < 100 * 10, "{looked_at}");
    }

    #[test]
    fn a_visit_meets_all_in_the_boxes_that_are_entered() {
        let all = points(300);
        let tree = tree_of(&all, 3);
        let window = Aabb::new(DVec3::new(3.0, 5.0, 1.0), DVec3::new(20.0, 9.0, 6.0));
        let (mut met, mut within) = (Vec::new(), 0);
        tree.visit(|bounds| bounds.meets(&window), |p| met.push(*p));
        for p in all.iter().filter(|p| window.holds(**p)) {
            within += 1;
            assert!(met.contains(p));
        }
        assert!(within > 5 && met.len() < all.len() / 2, "{within} of {}", met.len());
        // In the order of the leaves.
        let places: Vec<usize> =
            met.iter().map(|p| tree.items().iter().position(|q| q == p).unwrap()).collect();
        assert!(places.windows(2).all(|pair| pair[0] <= pair[1]));
        let mut none = 0;
        BoxTree::<DVec3>::default().visit(|_| true, |_| none += 1);
        assert_eq!(none, 0);
    }
}
