//! Queries of a sphere forest against a body (Glondu et al. 2012, algorithm 1) with contacts that select themselves
//! (sec. 5.3).
//!
//! In: a forest, the other body's [`Interior`], and the relative pose. Out: contacts, in the order of the visit: level
//! by level, so that the first ones lie well apart.
//!
//! **Once enough contacts are found**, only deeper ones are searched: a point must lie deeper than a
//! threshold, and a sphere round a point outside is descended if it touches the body even when smaller by that
//! threshold. (The paper descends where the distance is below r - tolerance; a *negative* tolerance must make it harder
//! to descend, so it is r + tolerance.) [`Beyond`] chooses the threshold.
//!
//! **Guarantees.** Contacts fewer than [`Selection::enough`] are all points of the surface
//! that collide (or lie within the tolerance). Else every surface point that is no contact lies at most as deep as the
//! threshold at the end: epsilon, or epsilon below the deepest contact. If the body's depths have an error of up to
//! [`Interior::depth_error`], this holds for the depths that it returns.
//!
//! **The last contacts** are tested first ([`SphereForest::query_again`]), and stay contacts as long as they touch.
//! Otherwise the first eight points could change in each step, and a body that rests on them would tremble.
//!
//! **Points in the interior** of their own fragment are visited, too, and are contacts only if no point
//! of the surface is: the body lies so deep that there is no other contact. Beside surface contacts they add nothing,
//! and for a thin body that pokes into this one their direction out is sideways.

use glam::DVec3;

use super::{
    crack::Planted,
    forest::{Node, SphereForest},
    interior::{Compared, Interior, Way},
    selection::{Beyond, CacheBounds, NodePart, Open, Passes, Placement, QueryCache, Selection, UNKNOWN},
};

/// A point of the forest that touches the other body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeContact {
    /// Index of the point in the forest.
    pub point: u32,
    /// Local space of the other.
    pub position: DVec3,
    /// How deep it is below the other's surface, local units of the other; negative: how far above.
    pub depth: f64,
    /// Unit vector out of the other, its local space.
    pub direction: DVec3,
    /// Input of [`Interior::direction`] for the best direction.
    pub way: Way,
}

/// A point that touches, before its direction is computed.
#[derive(Clone, Copy, Debug)]
struct Touch {
    point: u32,
    position: DVec3,
    depth: f64,
    way: Way,
}

/// Work done by a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Spheres that were visited, with the one round all points.
    pub spheres: usize,
    /// Number of points that were tested.
    pub points: usize,
    /// Contacts that were put out.
    pub contacts: usize,
}

/// Result for a point that was tested.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// Its depth, negative outside, or [`UNKNOWN`].
    depth: f64,
    /// It is no deeper than this.
    most: f64,
    /// When that bound ends.
    passes: Passes,
}

/// Buffers of a query; reused by the next, so that queries do not allocate.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// By level: what to visit.
    open: Vec<Vec<Open>>,
    touches: Vec<Touch>,
    /// Points of the interior that collide, while there are no contacts.
    interior: Vec<Touch>,
    /// Points that were tested first.
    known: Vec<(u32, Met)>,
    /// By point: its number among these and one, or 0.
    known_at: Vec<u32>,
    deepest: f64,
    contacts: Vec<TreeContact>,
    /// Skipped parts, with upper bounds of their depths.
    left: Vec<Open>,
}

impl Scratch {
    /// Contacts of the last query, in the order of the visit.
    #[must_use]
    pub fn contacts(&self) -> &[TreeContact] {
        &self.contacts
    }

    fn begin(&mut self, levels: usize, points: usize) {
        if self.open.len() < levels {
            self.open.resize_with(levels, Vec::new);
        }
        for (point, _) in &self.known {
            self.known_at[*point as usize] = 0;
        }
        if self.known_at.len() < points {
            self.known_at.resize(points, 0);
        }
        self.touches.clear();
        self.interior.clear();
        self.known.clear();
        self.contacts.clear();
        self.left.clear();
        self.deepest = f64::NEG_INFINITY;
    }

    /// Least depth of a contact; `None` while there are not enough contacts.
    fn threshold(&self, selection: &Selection) -> Option<f64> {
        selection.enough.filter(|enough| self.touches.len() >= *enough).map(|_| match selection.beyond {
            Beyond::Epsilon => selection.epsilon,
            Beyond::Deepest => self.deepest + selection.epsilon,
            Beyond::Nothing => f64::INFINITY,
        })
    }

    /// Depth above which points are searched.
    fn wanted(&self, selection: &Selection) -> f64 {
        self.threshold(selection).unwrap_or(-selection.tolerance)
    }

    fn offer(&mut self, touch: Touch, selection: &Selection) {
        // A touching point is a contact even if nothing beside it is.
        if touch.depth > self.wanted(selection) || (touch.depth == 0.0 && self.threshold(selection).is_none())
        {
            self.take(touch);
        }
    }

    fn take(&mut self, touch: Touch) {
        self.deepest = self.deepest.max(touch.depth);
        self.touches.push(touch);
    }

    /// The result of a point that was tested first.
    fn known(&self, point: u32) -> Option<Met> {
        let at = (self.known_at[point as usize] as usize).checked_sub(1)?;
        Some(self.known[at].1)
    }
}

/// One query.
struct Query<'a, I: ?Sized> {
    forest: &'a SphereForest,
    other: &'a I,
    placement: &'a Placement,
    selection: &'a Selection,
    slack: f64,
    error: f64,
    planted: Planted,
    /// Range of the bounds, if they are kept for the next query.
    bounds: Option<CacheBounds>,
}

impl SphereForest {
    /// Finds the points of this forest that touch `other`, chosen by `selection`; they are in `scratch` then.
    pub fn query<I: Interior + ?Sized>(
        &self,
        other: &I,
        placement: &Placement,
        selection: &Selection,
        scratch: &mut Scratch,
    ) -> Counts {
        self.query_with(other, placement, selection, (&[], Planted::Nothing), (None, scratch))
    }

    /// Like [`Self::query`] with the last contacts in `known`: they are tested first, and those that still touch are
    /// contacts. So a resting body keeps its contacts from step to step, and the tree is searched for the missing ones
    /// up to [`Selection::enough`], and for deeper ones.
    pub fn query_again<I: Interior + ?Sized>(
        &self,
        other: &I,
        placement: &Placement,
        selection: &Selection,
        known: &[u32],
        scratch: &mut Scratch,
    ) -> Counts {
        self.query_with(other, placement, selection, (known, Planted::Nothing), (None, scratch))
    }

    /// Like [`Self::query_again`], but faster by the data `kept` of the last query of the same two bodies. The contacts
    /// do not depend on it.
    pub fn query_kept<I: Interior + ?Sized>(
        &self,
        other: &I,
        placement: &Placement,
        selection: &Selection,
        known: &[u32],
        (kept, scratch): (&mut QueryCache, &mut Scratch),
    ) -> Counts {
        self.query_with(other, placement, selection, (known, Planted::Nothing), (Some(kept), scratch))
    }

    pub(super) fn query_with<I: Interior + ?Sized>(
        &self,
        other: &I,
        placement: &Placement,
        selection: &Selection,
        (known, planted): (&[u32], Planted),
        (mut kept, scratch): (Option<&mut QueryCache>, &mut Scratch),
    ) -> Counts {
        let levels = usize::from(self.last_level) + 1;
        scratch.begin(levels, self.points.len());
        let (slack, error) = (placement.slack(self), other.depth_error());
        let bounds = kept.as_deref_mut().map(|kept| kept.moved(self, other, placement, selection));
        debug_assert!(
            bounds.is_none() || selection.below.is_none(),
            "a query of selected depths has no cached bounds"
        );
        let query = Query { forest: self, other, placement, selection, slack, error, planted, bounds };
        let mut counts = Counts { spheres: 1, ..Counts::default() };
        let (centre, radius) = self.bound;
        let reach = radius * placement.scale() + selection.tolerance + slack;
        if self.is_empty() || !other.sphere_meets(placement.place(centre), reach) {
            return counts;
        }
        for &point in known.iter().filter(|_| !planted.forgets_known()) {
            query.meet_known(point, scratch, &mut counts);
        }
        match kept.as_deref() {
            Some(kept) if !kept.is_empty() => {
                let wanted = scratch.wanted(selection);
                for open in kept.all() {
                    if query.said(open.most) > wanted {
                        query.open(open, scratch);
                    } else {
                        scratch.left.push(open);
                    }
                }
            }
            _ => {
                let (depth, most, passes) = (UNKNOWN, f64::INFINITY, Passes::NEVER);
                let open = |&node: &u32| Open { node, part: NodePart::All, depth, most, passes };
                self.roots.iter().for_each(|root| query.open(open(root), scratch));
            }
        }
        for level in 0..levels {
            // Levels do not grow while they are visited: children are added to levels below.
            let mut open = std::mem::take(&mut scratch.open[level]);
            // So the order of the visit does not depend on the kept data.
            open.sort_by_key(|open| (open.node, open.part));
            for open in open.drain(..) {
                query.visit(open, scratch, &mut counts);
            }
            scratch.open[level] = open;
        }
        if let Some(kept) = kept {
            kept.replace(&scratch.left);
        }
        if scratch.touches.is_empty() {
            let interior = std::mem::take(&mut scratch.interior);
            interior.iter().for_each(|touch| scratch.offer(*touch, selection));
            scratch.interior = interior;
        }
        let contact = |&Touch { point, position, depth, way }: &Touch| {
            let direction = match selection.quick {
                true => other.quick_direction(position, &way),
                false => other.direction(position, &way),
            };
            TreeContact { point, position, depth, direction, way }
        };
        scratch.contacts.extend(scratch.touches.iter().map(contact));
        counts.contacts = scratch.contacts.len();
        counts
    }
}

impl<I: Interior + ?Sized> Query<'_, I> {
    fn open(&self, open: Open, scratch: &mut Scratch) {
        scratch.open[usize::from(self.forest.nodes[open.node as usize].level)].push(open);
    }

    /// Records for the next query a part that is no deeper than `most`.
    fn leave(&self, open: Open, most: f64, scratch: &mut Scratch) {
        let known = if most < open.most { Open { most, passes: Passes::NEVER, ..open } } else { open };
        self.leave_as(known, scratch);
    }

    fn leave_as(&self, open: Open, scratch: &mut Scratch) {
        if self.bounds.is_some() {
            scratch.left.push(open);
        }
    }

    /// Tests the point of a sphere if this is its first node, and opens its children.
    fn visit(&self, open: Open, scratch: &mut Scratch, counts: &mut Counts) {
        if self.said(open.most) <= scratch.wanted(self.selection) {
            self.leave(open, open.most, scratch);
            return;
        }
        let node = &self.forest.nodes[open.node as usize];
        counts.spheres += 1;
        let position = self.placement.place(node.centre);
        let over = self.over(position);
        if over > node.radius * self.placement.scale() {
            return;
        }
        let open = match self.passed_by(open, node, position, scratch) {
            Some(open) => open,
            None => return,
        };
        let mut depth = open.depth;
        if over > 0.0 {
            // It is outside, and so far away that it is no contact.
            depth = -1.0;
        } else if (open.part != NodePart::Below && node.is_first) || self.planted.meets_again() {
            let met = match scratch.known(node.point) {
                Some(known) => known,
                None => {
                    counts.points += 1;
                    self.meet(node, position, scratch)
                }
            };
            depth = met.depth;
            let Met { most, passes, .. } = met;
            self.leave_as(Open { part: NodePart::Point, most, passes, ..open }, scratch);
        }
        if open.part == NodePart::Point || (node.is_last && node.children.0 == node.children.1) {
            return;
        }
        let most = match self.descends(node, position, depth, scratch) {
            Ok(most) => most.min(open.most),
            Err(most) => {
                self.leave(Open { part: NodePart::Below, depth: -1.0, ..open }, most, scratch);
                return;
            }
        };
        let below = Open { part: NodePart::All, depth: UNKNOWN, most, passes: Passes::NEVER, ..open };
        for &child in &self.forest.children[node.children.0 as usize..node.children.1 as usize] {
            self.open(Open { node: child, ..below }, scratch);
        }
        if !node.is_last {
            let next = Open { node: open.node + 1, part: NodePart::Below, depth, ..below };
            self.open(next, scratch);
        }
    }

    /// Height of a point over the half-space of all points that may touch.
    fn over(&self, position: DVec3) -> f64 {
        self.selection.below.map_or(f64::NEG_INFINITY, |below| below.height(position) - self.slack)
    }

    /// The part that still has to be visited after a lower bound of the node's distance is known.
    fn passed_by(&self, open: Open, node: &Node, position: DVec3, scratch: &mut Scratch) -> Option<Open> {
        let most = self.slack - self.other.apart(position);
        if most >= 0.0 {
            return Some(open);
        }
        let wanted = scratch.wanted(self.selection);
        let below = most + node.radius * self.placement.scale();
        let is_leaf = node.is_last && node.children.0 == node.children.1;
        let goes_down = open.part != NodePart::Point && !is_leaf && below > wanted;
        let is_met = open.part != NodePart::Below && node.is_first && most > wanted;
        let part = match (goes_down, is_met) {
            (true, true) => return Some(open),
            (true, false) => NodePart::Below,
            (false, true) => NodePart::Point,
            (false, false) => {
                let all = if open.part == NodePart::Point { most } else { most.max(below) };
                self.leave(open, all, scratch);
                return None;
            }
        };
        // The other half is skipped.
        match (open.part, part) {
            (NodePart::All, NodePart::Below) if node.is_first => {
                self.leave(Open { part: NodePart::Point, ..open }, most, scratch);
            }
            (NodePart::All, NodePart::Point) if !is_leaf => {
                self.leave(Open { part: NodePart::Below, depth: -1.0, ..open }, below, scratch);
            }
            _ => {}
        }
        // It is outside.
        Some(Open { part, depth: -1.0, ..open })
    }

    /// The result of a point, which is added to the contacts if it is one.
    fn meet(&self, node: &Node, position: DVec3, scratch: &mut Scratch) -> Met {
        if !node.on_surface && !scratch.touches.is_empty() {
            return Met { depth: UNKNOWN, most: f64::INFINITY, passes: Passes::NEVER };
        }
        // Bounds for the next query reach a little farther out.
        let beyond = self.bounds.map_or(0.0, |bounds| bounds.slack);
        let within = if node.on_surface { self.outside(scratch) + beyond } else { 0.0 };
        // Points no deeper than the threshold are no contacts.
        let threshold = scratch.threshold(self.selection).filter(|_| node.on_surface);
        let compared = self.other.reach_beyond(position, within, threshold.unwrap_or(f64::NEG_INFINITY));
        let reached = match compared {
            Compared::Deeper(reached) => reached,
            Compared::AtMost(depth) => return Met { depth, most: depth, passes: Passes::NEVER },
            Compared::Away => return self.met_away(position, within),
        };
        let touch = Touch { point: node.point, position, depth: reached.depth, way: reached.way };
        if node.on_surface {
            scratch.offer(touch, self.selection);
        } else if scratch.touches.is_empty() {
            scratch.interior.push(touch);
        }
        // For a point outside, its sphere decides whether there is anything below.
        self.met_at(position, reached.depth)
    }

    /// A point of this depth.
    fn met_at(&self, position: DVec3, depth: f64) -> Met {
        if depth >= 0.0 {
            return Met { depth, most: depth, passes: Passes::NEVER };
        }
        // A point that passes through a step is as deep as it was high.
        Met { depth: -1.0, most: depth, passes: self.passes(position, -depth, -depth) }
    }

    /// Result of a point no nearer than `within`.
    fn met_away(&self, position: DVec3, within: f64) -> Met {
        let within = within.max(f64::MIN_POSITIVE);
        Met { depth: -1.0, most: -within, passes: self.passes(position, within, f64::INFINITY) }
    }

    /// The end of the bound of a point whose height over the surface lies between `least` and `most`.
    fn passes(&self, position: DVec3, least: f64, most: f64) -> Passes {
        let Some(bounds) = self.bounds.filter(|_| !self.planted.forgets_steps()) else {
            return Passes::NEVER;
        };
        let (way, step) = self.other.step(position);
        // A point farther away has to come near first.
        Passes { way: bounds.way + way.max(least - step), most: most.min(step) }
    }

    /// Tests a point of the last contacts, and adds it to the contacts if it still touches.
    fn meet_known(&self, point: u32, scratch: &mut Scratch, counts: &mut Counts) {
        let Some(own) = self.forest.points.get(point as usize).filter(|own| own.on_surface) else { return };
        if scratch.known(point).is_some() {
            return;
        }
        let position = self.placement.place(own.position);
        if self.over(position) > 0.0 {
            return;
        }
        counts.points += 1;
        let reached = self.other.reach(position, self.selection.tolerance);
        let met = match reached {
            Some(reached) => self.met_at(position, reached.depth),
            None => self.met_away(position, self.selection.tolerance),
        };
        scratch.known.push((point, met));
        scratch.known_at[point as usize] = scratch.known.len() as u32;
        if let Some(reached) = reached {
            scratch.take(Touch { point, position, depth: reached.depth, way: reached.way });
        }
    }

    /// Largest distance outside at which points are searched; 0 if only points inside count.
    fn outside(&self, scratch: &Scratch) -> f64 {
        match scratch.threshold(self.selection) {
            None => self.selection.tolerance,
            Some(least) => (-least).clamp(0.0, self.selection.tolerance),
        }
    }

    /// Upper bound of the depth of all points below the sphere; an error if none of them can be a contact.
    fn descends(&self, node: &Node, position: DVec3, depth: f64, scratch: &Scratch) -> Result<f64, f64> {
        let radius = node.radius * self.placement.scale() + self.slack;
        let wanted = scratch.wanted(self.selection);
        if depth >= 0.0 {
            // A point this far from a point of known depth is deeper by no more than that distance.
            let most = self.said(depth + radius);
            return if most > wanted { Ok(most) } else { Err(most) };
        }
        if wanted == f64::INFINITY {
            return Err(wanted);
        }
        // A point of that depth has a ball of that radius round it inside the body; the middle must be outside.
        let most = match wanted > 0.0 {
            true if depth == UNKNOWN => 0.0,
            true => self.held(wanted),
            false => wanted,
        };
        let misses = |most: f64| radius <= most || !self.other.sphere_meets(position, radius - most);
        if let Some(bounds) = self.bounds {
            let far = (most - bounds.slack).max(-bounds.farthest);
            if far < most && misses(far) {
                return Err(if far > 0.0 { wanted } else { far });
            }
        }
        if misses(most) { Err(wanted) } else { Ok(f64::INFINITY) }
    }

    /// The largest depth that the body may return for a depth of at most `depth`.
    fn said(&self, depth: f64) -> f64 {
        if depth <= self.other.exact_to() { depth } else { depth + 2.0 * self.error }
    }

    /// The smallest true depth of a point for which the body returns more than `depth`.
    fn held(&self, depth: f64) -> f64 {
        if depth <= self.other.exact_to() { depth } else { (depth - self.error).max(0.0) }
    }
}
