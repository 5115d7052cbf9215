//! The table of finders, and which of them looks at a pair: by the setting, and by the kinds of the two
//! shapes.

use super::{
    ContactQuery, Detail, FindContacts, FinderEntry, FinderMemory, Found, Manifold, Partner, convex, mixed,
    octree,
};
use crate::{
    Body, BodyId, ContactsId, Options,
    broad_phase::NearPair,
    context::StepContext,
    gpu::{Gpu, GpuError},
    registry::{Entry, NameTaken, Table, setting},
    shape::Kind,
};
use std::collections::BTreeSet;

const OCTREE: Partner = Partner::Shape(Kind::Octree);
const MESH: Partner = Partner::Shape(Kind::Mesh);
const CONVEX: Partner = Partner::Shape(Kind::Convex);

impl Entry for FinderEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// What every build has; the first is chosen where nobody chooses.
const BUILT_IN: &[FinderEntry] = &[mixed::ENTRY, octree::ENTRY, convex::ENTRY];

/// Who looks at a pair of kinds where the finder that was chosen does not. Pairs that are not here, and that
/// the chosen finder does not accept, pass through each other.
const BY_KINDS: &[([Partner; 2], &str)] = &[
    ([OCTREE, OCTREE], "octree"),
    ([OCTREE, MESH], "octree"),
    ([MESH, MESH], "octree"),
    ([OCTREE, Partner::Plane], "octree"),
    ([MESH, Partner::Plane], "octree"),
    ([OCTREE, CONVEX], "hull"),
    ([MESH, CONVEX], "hull"),
    ([CONVEX, CONVEX], "hull"),
    ([CONVEX, Partner::Plane], "hull"),
];

static FINDERS: Table<FinderEntry> = Table::new("contact finder", BUILT_IN, &["field"]);

/// All finders that there are.
#[must_use]
pub fn finders() -> Vec<&'static FinderEntry> {
    FINDERS.all()
}

/// Adds a finder, which settings can name from then on. To be called before scenes are read.
///
/// # Errors
/// [`NameTaken`].
pub fn register_finder(entry: &'static FinderEntry) -> Result<(), NameTaken> {
    FINDERS.add(entry)
}

setting!(ContactsId, FinderEntry, FINDERS);

impl ContactsId {
    /// Who looks at a pair of these kinds where this finder was chosen; none where nobody does.
    #[must_use]
    pub fn finder_of(self, mut partners: [Partner; 2]) -> Option<&'static FinderEntry> {
        partners.sort_unstable();
        let own = self.entry();
        if (own.accepts)(partners) {
            return Some(own);
        }
        let (_, name) = BY_KINDS.iter().find(|(known, _)| *known == partners)?;
        FINDERS.named(name).ok()
    }
}

/// What all finders of a world know at one moment.
#[derive(Clone, Default)]
pub struct FinderMemories(Vec<(&'static str, FinderMemory)>);

impl std::fmt::Debug for FinderMemories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// One finder of a world.
struct Made {
    entry: &'static FinderEntry,
    finder: Box<dyn FindContacts>,
}

/// The finders of a world: the chosen one, and whoever looks at pairs that it does not accept.
#[derive(Default)]
pub struct Finders {
    chosen: ContactsId,
    made: Vec<Made>,
}

impl Finders {
    /// The chosen one, ready.
    ///
    /// # Errors
    /// [`GpuError`] where its passes cannot be made.
    pub fn new(chosen: ContactsId, gpu: Option<&Gpu>) -> Result<Self, GpuError> {
        let entry = chosen.entry();
        Ok(Self { chosen, made: vec![Made { entry, finder: (entry.make)(gpu)? }] })
    }

    /// Makes whoever is missing for these bodies. Says whether another finder was chosen since: what the
    /// others knew is gone then.
    ///
    /// # Errors
    /// [`GpuError`] where passes cannot be made; nothing has changed then.
    pub fn prepare(
        &mut self,
        chosen: ContactsId,
        gpu: Option<&Gpu>,
        bodies: &[Body],
    ) -> Result<bool, GpuError> {
        let changed = self.chosen != chosen && !self.made.is_empty();
        if changed {
            *self = Self::new(chosen, gpu)?;
        }
        self.chosen = chosen;
        for entry in entries(chosen, bodies) {
            if self.index(entry).is_none() {
                self.made.push(Made { entry, finder: (entry.make)(gpu)? });
            }
        }
        Ok(changed)
    }

    /// Makes all anew for another device, or none; they keep what they know.
    ///
    /// # Errors
    /// [`GpuError`] where passes cannot be made; nothing has changed then.
    pub fn run_on(&mut self, gpu: Option<&Gpu>) -> Result<(), GpuError> {
        let made = self.made.iter().map(|made| {
            let mut finder = (made.entry.make)(gpu)?;
            finder.recall(&made.finder.memory());
            Ok(Made { entry: made.entry, finder })
        });
        self.made = made.collect::<Result<_, GpuError>>()?;
        Ok(())
    }

    fn index(&self, entry: &'static FinderEntry) -> Option<usize> {
        self.made.iter().position(|made| made.entry.name == entry.name)
    }

    /// Who looks at a pair of these kinds, by number.
    fn of(&self, partners: [Partner; 2]) -> Option<usize> {
        self.chosen.finder_of(partners).and_then(|entry| self.index(entry))
    }

    /// By body, as [`FindContacts::reach`]: the farthest of all finders.
    #[must_use]
    pub fn reach(&self, bodies: &[Body], detail: Detail<'_>) -> Vec<f64> {
        let mut out = vec![0.0; bodies.len()];
        for made in &self.made {
            let reach = made.finder.reach(bodies, detail);
            out.iter_mut().zip(reach).for_each(|(most, own)| *most = f64::max(*most, own));
        }
        out
    }

    /// The pairs that somebody looks at, with their resolution.
    pub fn begin(&mut self, bodies: &[Body], pairs: Vec<NearPair>, detail: Detail<'_>) -> Vec<NearPair> {
        let mut out: Vec<NearPair> = Vec::with_capacity(pairs.len());
        for (k, mut own) in self.shared_out(bodies, &pairs).into_iter().enumerate() {
            self.made[k].finder.begin(bodies, &mut own, detail);
            out.extend(own);
        }
        out.sort_unstable_by_key(|pair| pair.bodies);
        out
    }

    /// As [`FindContacts::look_ahead`]: where one finder looks at all pairs.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn look_ahead(
        &mut self,
        cx: &mut StepContext<'_>,
        query: &ContactQuery<'_>,
        rounds: Option<u32>,
    ) -> Result<Option<Vec<NearPair>>, GpuError> {
        match &mut self.made[..] {
            [only] => {
                let kinds: BTreeSet<Partner> = query.bodies.iter().map(|b| Partner::of(&b.def)).collect();
                let looks = |a: Partner, b: Partner| {
                    self.chosen.finder_of([a, b]).is_some_and(|entry| entry.name == only.entry.name)
                };
                let all = kinds.iter().all(|a| kinds.iter().all(|b| looks(*a, *b)));
                if all { only.finder.look_ahead(cx, query, rounds) } else { Ok(None) }
            }
            _ => Ok(None),
        }
    }

    fn shared_out(&self, bodies: &[Body], pairs: &[NearPair]) -> Vec<Vec<NearPair>> {
        let mut out = vec![Vec::new(); self.made.len()];
        let kinds: Vec<Partner> = bodies.iter().map(|body| Partner::of(&body.def)).collect();
        // Most often all bodies are of one kind.
        let mut last = None;
        for pair in pairs {
            let asked = pair.bodies.map(|i| kinds[i]);
            let who = match last {
                Some((known, who)) if known == asked => who,
                _ => self.of(asked),
            };
            last = Some((asked, who));
            if let Some(k) = who {
                out[k].push(*pair);
            }
        }
        out
    }

    /// Manifolds of everything that is near, as [`FindContacts::find`].
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        let shares = self.shared_out(query.bodies, query.pairs);
        let mut out = Found::default();
        for (k, pairs) in shares.into_iter().enumerate() {
            let own = |i: &usize| self.of([Partner::of(&query.bodies[*i].def), Partner::Plane]) == Some(k);
            let at_planes: Vec<usize> = query.at_planes.iter().copied().filter(own).collect();
            let share = ContactQuery { pairs: &pairs, at_planes: &at_planes, ..*query };
            let found = self.made[k].finder.find(cx, &share)?;
            out.manifolds.extend(found.manifolds);
            out.carried.extend(found.carried);
        }
        Ok(out)
    }

    /// As [`FindContacts::set_options`].
    pub fn set_options(&mut self, options: &Options) {
        self.made.iter_mut().for_each(|made| made.finder.set_options(options));
    }

    /// How many collision points a manifold had before they were reduced to a few.
    #[must_use]
    pub fn collision_points(&self, manifold: &Manifold) -> usize {
        let known = self.made.iter().find_map(|made| made.finder.collision_points(manifold));
        known.unwrap_or(manifold.points.len())
    }

    /// As [`FindContacts::broke`]: whether any finder has anything to follow.
    pub fn broke(&mut self, parent: &Body, parts: &[Body]) -> bool {
        // Every finder follows the break; `any` would stop at the first.
        let mut followed = false;
        for made in &mut self.made {
            followed |= made.finder.broke(parent, parts);
        }
        followed
    }

    /// Tells all that a body is gone.
    pub fn removed(&mut self, id: BodyId, left: &[Body]) {
        self.made.iter_mut().for_each(|made| made.finder.removed(id, left));
    }

    /// Tells all that there are no bodies any more.
    pub fn cleared(&mut self) {
        self.made.iter_mut().for_each(|made| made.finder.cleared());
    }

    /// What all know now.
    #[must_use]
    pub fn memories(&self) -> FinderMemories {
        FinderMemories(self.made.iter().map(|made| (made.entry.name, made.finder.memory())).collect())
    }

    /// What the finder of this name knows now.
    #[must_use]
    pub fn memory_of(&self, name: &str) -> FinderMemory {
        self.made.iter().find(|made| made.entry.name == name).and_then(|made| made.finder.memory())
    }

    /// Gives back what they knew.
    pub fn recall(&mut self, memories: &FinderMemories) {
        for made in &mut self.made {
            let own = memories.0.iter().find(|(name, _)| *name == made.entry.name);
            made.finder.recall(&own.and_then(|(_, memory)| memory.clone()));
        }
    }
}

/// Everybody who is needed for these bodies, each once.
fn entries(chosen: ContactsId, bodies: &[Body]) -> Vec<&'static FinderEntry> {
    let mut kinds: Vec<Partner> = bodies.iter().map(|body| Partner::of(&body.def)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut out: Vec<&'static FinderEntry> = Vec::new();
    for &a in &kinds {
        for b in kinds.iter().copied().chain([Partner::Plane]) {
            if let Some(entry) = chosen.finder_of([a, b])
                && !out.iter().any(|known| known.name == entry.name)
            {
                out.push(entry);
            }
        }
    }
    out
}
