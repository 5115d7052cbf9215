//! The table of generators, and which of them looks at a pair: by the setting, and by the kinds of the two
//! shapes.

use super::{
    ContactGenerator, ContactQuery, Found, GeneratorEntry, GeneratorMemory, LevelOfDetail, Manifold, Partner,
    convex, mixed, octree,
};
use crate::{
    Body, BodyId, ContactsId, Options,
    body::index_of,
    broad_phase::NearPair,
    context::StepContext,
    gpu::{Gpu, GpuError},
    registry::{Entry, NameTaken, Table, setting},
    shape::Kind,
};

const OCTREE: Partner = Partner::Shape(Kind::Octree);
const MESH: Partner = Partner::Shape(Kind::Mesh);
const CONVEX: Partner = Partner::Shape(Kind::Convex);

impl Entry for GeneratorEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// What every build has; the first is chosen where nobody chooses.
const BUILT_IN: &[GeneratorEntry] = &[mixed::ENTRY, octree::ENTRY, convex::ENTRY];

/// Who looks at a pair of kinds where the generator that was chosen does not. Pairs that are not here, and that
/// the chosen generator does not accept, pass through each other.
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

static GENERATORS: Table<GeneratorEntry> = Table::new("contact finder", BUILT_IN, &["field"]);

/// All generators that there are.
#[must_use]
pub fn generators() -> Vec<&'static GeneratorEntry> {
    GENERATORS.all()
}

/// Number of the generator of this name among all [`generators`], from 0; `None` if there is none of this name.
#[must_use]
pub fn generator_number(name: &str) -> Option<usize> {
    generators().iter().position(|entry| entry.name == name)
}

/// Adds a generator, which settings can name from then on. To be called before scenes are read.
///
/// # Errors
/// [`NameTaken`].
pub fn register_generator(entry: &'static GeneratorEntry) -> Result<(), NameTaken> {
    GENERATORS.add(entry)
}

setting!(ContactsId, GeneratorEntry, GENERATORS);

impl ContactsId {
    /// Who looks at a pair of these kinds where this generator was chosen; none where nobody does.
    #[must_use]
    pub fn generator_of(self, mut partners: [Partner; 2]) -> Option<&'static GeneratorEntry> {
        partners.sort_unstable();
        let own = self.entry();
        if (own.accepts)(partners) {
            return Some(own);
        }
        let (_, name) = BY_KINDS.iter().find(|(known, _)| *known == partners)?;
        GENERATORS.named(name).ok()
    }
}

/// What all generators of a world know at one moment.
#[derive(Clone, Default)]
pub struct GeneratorMemories(Vec<(&'static str, GeneratorMemory)>);

impl std::fmt::Debug for GeneratorMemories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// One generator of a world.
struct Made {
    entry: &'static GeneratorEntry,
    generator: Box<dyn ContactGenerator>,
}

/// The generators of a world: the chosen one, and whoever looks at pairs that it does not accept.
#[derive(Default)]
pub struct Generators {
    chosen: ContactsId,
    made: Vec<Made>,
}

impl Generators {
    /// The chosen one, ready.
    ///
    /// # Errors
    /// [`GpuError`] where its passes cannot be made.
    pub fn new(chosen: ContactsId, gpu: Option<&Gpu>) -> Result<Self, GpuError> {
        let entry = chosen.entry();
        Ok(Self { chosen, made: vec![Made { entry, generator: (entry.make)(gpu)? }] })
    }

    /// Makes whoever is missing for these bodies. Says whether another generator was chosen since: what the
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
                self.made.push(Made { entry, generator: (entry.make)(gpu)? });
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
            let mut generator = (made.entry.make)(gpu)?;
            generator.recall(&made.generator.memory());
            Ok(Made { entry: made.entry, generator })
        });
        self.made = made.collect::<Result<_, GpuError>>()?;
        Ok(())
    }

    fn index(&self, entry: &'static GeneratorEntry) -> Option<usize> {
        self.made.iter().position(|made| made.entry.name == entry.name)
    }

    /// Who looks at a pair of these kinds, by number.
    fn of(&self, partners: [Partner; 2]) -> Option<usize> {
        self.chosen.generator_of(partners).and_then(|entry| self.index(entry))
    }

    /// By body, as [`ContactGenerator::reach`]: the farthest of all generators.
    #[must_use]
    pub fn reach(&self, bodies: &[Body], detail: LevelOfDetail<'_>) -> Vec<f64> {
        let mut out = vec![0.0; bodies.len()];
        for made in &self.made {
            let reach = made.generator.reach(bodies, detail);
            out.iter_mut().zip(reach).for_each(|(most, own)| *most = f64::max(*most, own));
        }
        out
    }

    /// The pairs that somebody looks at, with their resolution.
    pub fn begin(
        &mut self,
        bodies: &[Body],
        mut pairs: Vec<NearPair>,
        detail: LevelOfDetail<'_>,
    ) -> Vec<NearPair> {
        if self.is_alone(bodies) {
            self.made[0].generator.begin(bodies, &mut pairs, detail);
            return pairs;
        }
        let mut out: Vec<NearPair> = Vec::with_capacity(pairs.len());
        for (k, mut own) in self.shared_out(bodies, &pairs).into_iter().enumerate() {
            self.made[k].generator.begin(bodies, &mut own, detail);
            out.extend(own);
        }
        out.sort_unstable_by_key(|pair| pair.bodies);
        out
    }

    /// As [`ContactGenerator::look_ahead`]: where one generator looks at all pairs.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn look_ahead(
        &mut self,
        cx: &mut StepContext<'_>,
        query: &ContactQuery<'_>,
        rounds: Option<u32>,
    ) -> Result<Option<Vec<NearPair>>, GpuError> {
        match self.is_alone(query.bodies) {
            true => self.made[0].generator.look_ahead(cx, query, rounds),
            false => Ok(None),
        }
    }

    /// Whether there is one generator, which looks at all pairs of bodies and at all bodies at the planes.
    fn is_alone(&self, bodies: &[Body]) -> bool {
        let [only] = &self.made[..] else { return false };
        let mut kinds: Vec<Partner> = bodies.iter().map(|body| Partner::of(&body.def)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let looks = |a: Partner, b: Partner| {
            self.chosen.generator_of([a, b]).is_some_and(|entry| entry.name == only.entry.name)
        };
        kinds.iter().all(|a| looks(*a, Partner::Plane) && kinds.iter().all(|b| looks(*a, *b)))
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

    /// Manifolds of everything that is near, as [`ContactGenerator::find`].
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn find(&mut self, cx: &mut StepContext<'_>, query: &ContactQuery<'_>) -> Result<Found, GpuError> {
        if self.is_alone(query.bodies) {
            return self.made[0].generator.find(cx, query);
        }
        let shares = self.shared_out(query.bodies, query.pairs);
        let mut out = Found::default();
        for (k, pairs) in shares.into_iter().enumerate() {
            let own = |i: &usize| self.of([Partner::of(&query.bodies[*i].def), Partner::Plane]) == Some(k);
            let at_planes: Vec<usize> = query.at_planes.iter().copied().filter(own).collect();
            let share = ContactQuery { pairs: &pairs, at_planes: &at_planes, ..*query };
            let found = self.made[k].generator.find(cx, &share)?;
            out.manifolds.extend(found.manifolds);
            out.carried.extend(found.carried);
        }
        Ok(out)
    }

    /// As [`ContactGenerator::set_options`].
    pub fn set_options(&mut self, options: &Options) {
        self.made.iter_mut().for_each(|made| made.generator.set_options(options));
    }

    /// How many collision points a manifold had before they were reduced to a few.
    #[must_use]
    pub fn collision_points(&self, manifold: &Manifold) -> usize {
        let known = self.made.iter().find_map(|made| made.generator.collision_points(manifold));
        known.unwrap_or(manifold.points.len())
    }

    /// Name of the generator that found a manifold between two of `bodies`, which are by ascending id, or of one and
    /// the planes; empty if no generator of this world finds contacts of their kinds.
    #[must_use]
    pub fn finder(&self, manifold: &Manifold, bodies: &[Body]) -> &'static str {
        let partner = |id: BodyId| index_of(bodies, id).map(|k| Partner::of(&bodies[k].def));
        let second = manifold.second.map_or(Some(Partner::Plane), partner);
        let pair = partner(manifold.first).zip(second);
        let made = pair.and_then(|(a, b)| self.of([a, b])).map(|k| &self.made[k]);
        made.map_or("", |made| made.generator.finder(manifold).unwrap_or(made.entry.name))
    }

    /// As [`ContactGenerator::broke`]: whether any generator has anything to follow.
    pub fn broke(&mut self, parent: &Body, parts: &[Body]) -> bool {
        // Every generator follows the break; `any` would stop at the first.
        let mut followed = false;
        for made in &mut self.made {
            followed |= made.generator.broke(parent, parts);
        }
        followed
    }

    /// Tells all that a body is gone.
    pub fn removed(&mut self, id: BodyId, left: &[Body]) {
        self.made.iter_mut().for_each(|made| made.generator.removed(id, left));
    }

    /// Tells all that there are no bodies any more.
    pub fn cleared(&mut self) {
        self.made.iter_mut().for_each(|made| made.generator.cleared());
    }

    /// What all know now.
    #[must_use]
    pub fn memories(&self) -> GeneratorMemories {
        GeneratorMemories(self.made.iter().map(|made| (made.entry.name, made.generator.memory())).collect())
    }

    /// What the generator of this name knows now.
    #[must_use]
    pub fn memory_of(&self, name: &str) -> GeneratorMemory {
        self.made.iter().find(|made| made.entry.name == name).and_then(|made| made.generator.memory())
    }

    /// Gives back what they knew.
    pub fn recall(&mut self, memories: &GeneratorMemories) {
        for made in &mut self.made {
            let own = memories.0.iter().find(|(name, _)| *name == made.entry.name);
            made.generator.recall(&own.and_then(|(_, memory)| memory.clone()));
        }
    }
}

/// Everybody who is needed for these bodies, each once.
fn entries(chosen: ContactsId, bodies: &[Body]) -> Vec<&'static GeneratorEntry> {
    let mut kinds: Vec<Partner> = bodies.iter().map(|body| Partner::of(&body.def)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut out: Vec<&'static GeneratorEntry> = Vec::new();
    for &a in &kinds {
        for b in kinds.iter().copied().chain([Partner::Plane]) {
            if let Some(entry) = chosen.generator_of([a, b])
                && !out.iter().any(|known| known.name == entry.name)
            {
                out.push(entry);
            }
        }
    }
    out
}
