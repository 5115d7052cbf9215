//! Values of bodies: each object's own, from the scene, until the panels change them.
//!
//! The panels show the values of one object, the first one unless another is in focus. A change of theirs is copied to the
//! object in focus, or to all objects; nothing else of an object changes by that.

use std::sync::Arc;

use super::Document;
use crate::{
    bodies::structure::Strength,
    fracture::{Dab, FractureParams, Interior, Volume},
    scene::{
        BodyStrength, Event, Scene, SceneBody, Tuning,
        stage::{BodyInfo, Touch},
    },
};

/// Material properties that a scene gives a body.
fn own_touch(body: &SceneBody) -> Touch {
    Touch {
        density: body.density,
        friction: body.friction,
        restitution: body.restitution,
        rolling_resistance: body.rolling_resistance,
        physics_level: body.collision_level(),
    }
}

/// Whether two sets of parameters are equal apart from their random seeds.
fn alike(a: &FractureParams, b: &FractureParams) -> bool {
    let plain = |p: &FractureParams| FractureParams {
        rng: 0,
        keep: Vec::new(),
        paint: Vec::new(),
        interior: FractureParams::default().interior,
        ..p.clone()
    };
    plain(a) == plain(b)
}

fn strength_of(body: &SceneBody) -> BodyStrength {
    body.strength.as_deref().cloned().unwrap_or_else(BodyStrength::unsaid)
}

/// The strength by which a body breaks that no bonds hold, or any more; `None` if that is decided otherwise.
fn whole_strength_of(body: &SceneBody) -> Option<Strength> {
    let breaks = |strength: &&BodyStrength| if body.hold { strength.loose } else { strength.whole };
    let strength = body.strength.as_deref().filter(breaks)?;
    body.break_threshold.is_none().then(|| strength.strength())
}

/// Copies those values that differ between two states of the panels to an object, which was `thrown` or belongs to the
/// scene. Thrown bodies are hammers: their density and threshold are those of the throw.
fn copy_changed(body: &mut SceneBody, old: &Tuning, new: &Tuning, thrown: bool) {
    let copy = |value: &mut f64, of: fn(&Tuning) -> f64| {
        if of(new) != of(old) {
            *value = of(new);
        }
    };
    copy(&mut body.friction, |tuning| tuning.friction);
    copy(&mut body.restitution, |tuning| tuning.restitution);
    copy(&mut body.rolling_resistance, |tuning| tuning.rolling_resistance);
    if !thrown {
        copy(&mut body.density, |tuning| tuning.density);
        if new.break_threshold != old.break_threshold {
            body.break_threshold = new.break_threshold;
        }
    }
    if new.physics_level != old.physics_level {
        body.physics_level = Some(new.physics_level.clamp(1, body.level.max(1)));
    }
    if new.strength != old.strength {
        // Other numbers of bonds make no body fragile that was not: the panels may show those of a body that holds.
        let breaks = |of: fn(&BodyStrength) -> bool| match thrown || of(&new.strength) == of(&old.strength) {
            true => body.strength.as_deref().is_some_and(of),
            false => of(&new.strength),
        };
        let (whole, loose) = (breaks(|strength| strength.whole), breaks(|strength| strength.loose));
        body.strength = Some(Box::new(BodyStrength { whole, loose, ..new.strength.clone() }));
    }
    let (rng, interior) = (body.fracture.rng, body.fracture.interior);
    if !alike(&new.fracture, &old.fracture) {
        body.fracture = FractureParams { rng, interior, keep: Vec::new(), ..new.fracture.clone() };
    }
    if new.fracture.interior != old.fracture.interior {
        body.fracture.interior = new.fracture.interior;
    }
}

/// Gives a body of the scene the values of another description of it.
pub(in crate::scene) fn give_values(own: &SceneBody, body: &mut SceneBody) {
    (body.density, body.friction, body.restitution) = (own.density, own.friction, own.restitution);
    body.rolling_resistance = own.rolling_resistance;
    body.break_threshold = own.break_threshold;
    body.strength.clone_from(&own.strength);
    if own.collision_level() != body.collision_level() {
        body.physics_level = Some(own.collision_level().clamp(1, body.level));
    }
    body.fracture.clone_from(&own.fracture);
}

impl Tuning {
    /// Shows the values of an object in the panels. Dabs and cells that stay belong to the scene and to the pin.
    pub(super) fn show_values(&mut self, body: &SceneBody) {
        let (paint, keep) =
            (std::mem::take(&mut self.fracture.paint), std::mem::take(&mut self.fracture.keep));
        self.fracture = FractureParams { paint, keep, ..body.fracture.clone() };
        (self.density, self.friction) = (body.density, body.friction);
        (self.restitution, self.rolling_resistance) = (body.restitution, body.rolling_resistance);
        self.break_threshold = body.break_threshold;
        self.strength = strength_of(body);
        self.physics_level = body.collision_level();
    }
}

impl Document {
    /// The present values of an object.
    pub fn values_of(&self, object: usize) -> Option<&SceneBody> {
        self.values_by(&self.tuning, object)
    }

    /// The values that these tuned values give an object.
    fn values_by<'a>(&'a self, tuning: &'a Tuning, object: usize) -> Option<&'a SceneBody> {
        let own = tuning.own.get(&object).map(|own| &**own);
        own.or_else(|| self.opened.objects.get(object).map(|object| &object.scene))
    }

    /// Whether bodies of some object touch others, or break on impact, unlike by the tuned values `before`.
    pub(super) fn objects_move_unlike(&self, before: &Tuning) -> bool {
        if Arc::ptr_eq(&before.own, &self.tuning.own) {
            return false;
        }
        let moves = |tuning: &Tuning, object: usize| {
            let body = self.values_by(tuning, object)?;
            Some((own_touch(body), body.break_threshold, whole_strength_of(body)))
        };
        (0..self.opened.objects.len()).any(|object| moves(before, object) != moves(&self.tuning, object))
    }

    /// The object whose values the panels change; `None`: those of all objects.
    pub fn focus(&self) -> Option<usize> {
        self.tuning.focus.filter(|object| *object < self.opened.objects.len())
    }

    /// The object whose values the panels show.
    pub fn shown_object(&self) -> usize {
        self.focus().unwrap_or(0)
    }

    /// The name of an object: its own, or its file's.
    pub fn object_name(&self, object: usize) -> Option<&str> {
        let own = self.values_of(object)?.name.as_deref();
        own.or_else(|| Some(self.opened.objects.get(object)?.name.as_str()))
    }

    /// The panels' values after an object gets a name, which other objects must not have; without one it has its file's.
    pub fn named(&self, object: usize, name: &str) -> Option<Tuning> {
        let own = self.values_of(object)?;
        let others = (0..self.opened.objects.len()).filter(|other| *other != object);
        let taken: Vec<&str> = others.filter_map(|other| self.values_of(other)?.name.as_deref()).collect();
        let name = name.trim();
        let numbered = (2..).map(|number| format!("{name} {number}"));
        let free =
            std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(&name.as_str()));
        let name = free.filter(|name| !name.is_empty());
        if name == own.name {
            return None;
        }
        let mut tuning = self.tuning.clone();
        let body = SceneBody { name, ..own.clone() };
        Arc::make_mut(&mut tuning.own).insert(object, Arc::new(body));
        Some(tuning)
    }

    /// Copies what is changed in the panels to the object in focus, or to all. Where another object comes into focus, the
    /// panels show its values instead.
    pub fn spread(&self, new: &mut Tuning) {
        let old = &self.tuning;
        new.own = Arc::clone(&old.own);
        if new.focus != old.focus {
            // What random numbers come next is the panels' alone.
            let mut left = new.clone();
            let before = self.shown_object();
            if let Some(body) = self.values_of(before) {
                let body = SceneBody {
                    fracture: FractureParams { rng: old.fracture.rng, ..body.fracture.clone() },
                    ..body.clone()
                };
                Arc::make_mut(&mut left.own).insert(before, Arc::new(body));
            }
            let shown = new.focus.filter(|object| *object < self.opened.objects.len()).unwrap_or(0);
            let body = left.own.get(&shown).cloned().map(|own| SceneBody::clone(&own));
            if let Some(body) = body.or_else(|| self.values_of(shown).cloned()) {
                left.show_values(&body);
            }
            *new = left;
            return;
        }
        let changes = |body: &SceneBody, thrown: bool| {
            let mut changed = body.clone();
            copy_changed(&mut changed, old, new, thrown);
            (changed != *body).then_some(changed)
        };
        let objects = match self.focus() {
            Some(object) => object..object + 1,
            None => 0..self.opened.objects.len(),
        };
        let in_scene = self.opened.scene.bodies.len();
        let changed = objects.filter_map(|object| {
            let thrown = object >= in_scene && self.focus().is_none();
            Some((object, Arc::new(changes(self.values_of(object)?, thrown)?)))
        });
        let changed: Vec<_> = changed.collect();
        if !changed.is_empty() {
            Arc::make_mut(&mut new.own).extend(changed);
        }
    }

    /// Material properties of the bodies of each object.
    pub fn touches(&self) -> Vec<Touch> {
        (0..self.opened.objects.len()).filter_map(|object| self.values_of(object)).map(own_touch).collect()
    }

    /// Default fracture parameters of a body; a piece has no list of kept seeds, since that refers to the whole
    /// object's pattern.
    pub fn own_params(&self, body: &BodyInfo) -> FractureParams {
        let own = self.values_of(body.object);
        self.for_body(own.map_or_else(|| self.tuning.fracture.clone(), |own| own.fracture.clone()), body)
    }

    /// Whether an earlier object of the scene has the same random seed.
    pub fn shares_random_numbers(&self, object: usize) -> bool {
        let rng = |object: usize| self.values_of(object).map(|own| own.fracture.rng);
        (0..object).any(|earlier| rng(earlier) == rng(object))
    }

    /// The parameters for a blow of the user's on a body: the panels', unless they show another object's; with the
    /// panels' random seed. A piece has no list of kept seeds.
    pub fn tuned_params(&self, body: &BodyInfo) -> FractureParams {
        let tuned = &self.tuning.fracture;
        let other = self.focus().is_some_and(|object| object != body.object);
        match self.values_of(body.object).filter(|_| other) {
            Some(own) => {
                let keep = tuned.keep.clone();
                self.for_body(FractureParams { rng: tuned.rng, keep, ..own.fracture.clone() }, body)
            }
            None => self.for_body(tuned.clone(), body),
        }
    }

    /// The dabs of the brush on an object. The panels have those of all objects.
    pub fn paint_on(&self, object: usize) -> Vec<Dab> {
        let own = self.tuning.fracture.paint.iter().filter(|dab| dab.body as usize == object);
        own.map(|dab| Dab { body: 0, ..*dab }).collect()
    }

    /// Parameters with the dabs of the body's object. A piece has no list of kept seeds, since that refers to the whole
    /// object's pattern.
    fn for_body(&self, mut params: FractureParams, body: &BodyInfo) -> FractureParams {
        params.paint = self.paint_on(body.object);
        if !body.is_intact() {
            params.keep.clear();
        }
        params
    }

    /// The material that the next break of an object opens. Earlier breaks keep theirs.
    pub fn interior_of(&self, object: usize) -> Interior {
        let own = self.values_of(object).map_or(self.tuning.fracture.interior, |own| own.fracture.interior);
        Interior { is_left_out: false, ..own }
    }

    /// The volumes that the next breaks of all objects open; at least one.
    pub fn insides(&self) -> Vec<Volume> {
        let objects = self.opened.objects.iter().enumerate();
        let mut insides: Vec<Volume> =
            objects.map(|(i, object)| self.interior_of(i).volume(object.surface_color)).collect();
        if insides.is_empty() {
            insides.push(Volume::default());
        }
        insides
    }

    /// The strength of the bonds of an object.
    pub fn strength_of(&self, object: usize) -> BodyStrength {
        self.values_of(object).map_or_else(|| self.tuning.strength.clone(), strength_of)
    }

    /// How much debris the bonds of an object leave where they fail, as a multiple of the usual amount.
    pub fn debris_of(&self, object: usize) -> f64 {
        let usual = || BodyStrength::default().debris;
        let own = self.values_of(object).and_then(|own| own.strength.as_ref());
        own.map_or_else(usual, |strength| strength.debris)
    }

    /// Whether any body breaks on impact.
    pub fn is_fragile(&self) -> bool {
        let breaks = |object: usize| self.values_of(object).and_then(whole_strength_of).is_some();
        (0..self.opened.objects.len()).any(|object| self.threshold_of(object).is_some() || breaks(object))
    }

    /// Impact speed at which a body breaks, m/s; `None` if it does not. Sleeping bodies can break, too: a striking body
    /// gives one its full speed in the step in which it wakes.
    pub fn threshold(&self, body: &BodyInfo) -> Option<f64> {
        if body.generation >= self.tuning.break_generations {
            return None;
        }
        self.threshold_of(body.object)
    }

    /// The strength by which a body that no bonds hold breaks, or a part that came loose of one; `None` if it does not break,
    /// or by its threshold.
    pub fn whole_strength(&self, body: &BodyInfo) -> Option<Strength> {
        if body.generation >= self.tuning.break_generations {
            return None;
        }
        self.values_of(body.object).and_then(whole_strength_of)
    }

    /// Impact speed at which bodies of an object break. Bodies that the user throws are hammers and do not break.
    fn threshold_of(&self, object: usize) -> Option<f64> {
        self.values_of(object)?.break_threshold
    }

    /// Writes the present values of the bodies into a scene.
    pub(super) fn write_values(&self, scene: &mut Scene) {
        let in_scene = scene.bodies.len();
        let numbers = (0..in_scene).chain(scene.numbers_of_thrown());
        let thrown = scene.events.iter_mut().filter_map(|event| match event {
            Event::Projectile { body, .. } => Some(&mut **body),
            _ => None,
        });
        let mut renamed = Vec::new();
        for (object, body) in numbers.zip(scene.bodies.iter_mut().chain(thrown)) {
            // The panels have the dabs on all objects of the scene; what is thrown has those that it came with.
            let paint = match object < in_scene {
                true => self.paint_on(object),
                false => std::mem::take(&mut body.fracture.paint),
            };
            if let Some(own) = self.tuning.own.get(&object) {
                // A pair goes on knowing a body that has no name of its own any more.
                let is_paired = |name: &String| scene.pairs.iter().any(|pair| pair.bodies.contains(name));
                if own.name.is_some() || !body.name.as_ref().is_some_and(is_paired) {
                    renamed.extend(body.name.take().zip(own.name.clone()));
                    body.name.clone_from(&own.name);
                }
                give_values(own, body);
            }
            // The panels have the next random seed of the object that they show.
            if object == self.shown_object() {
                let interior = body.fracture.interior;
                body.fracture =
                    FractureParams { interior, paint: Vec::new(), ..self.tuning.fracture.clone() };
            }
            body.fracture.paint = paint;
            body.fracture.fit(body.level);
        }
        for name in scene.pairs.iter_mut().flat_map(|pair| &mut pair.bodies) {
            if let Some((_, new)) = renamed.iter().find(|(old, _)| old == name) {
                name.clone_from(new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        mesh::{HealthReport, Mesh},
        scene::ObjectInfo,
    };

    fn object(scene: SceneBody) -> ObjectInfo {
        ObjectInfo {
            scene,
            name: String::new(),
            triangles: 0,
            leaves: 0,
            nodes: 0,
            voxel_m: 1.0,
            seconds: 0.0,
            health: HealthReport::default(),
            warnings: Vec::new(),
            surface_color: [10; 3],
            mesh: Arc::new(Mesh::default()),
            known: Arc::default(),
        }
    }

    /// Two bodies with different values.
    fn document() -> Document {
        let body = |friction: f64, rng: u64, threshold: Option<f64>| SceneBody {
            friction,
            break_threshold: threshold,
            fracture: FractureParams { rng, keep: vec![2], ..FractureParams::default() },
            ..SceneBody::standing("builtin:box", 5)
        };
        let bodies = vec![body(0.5, 3, None), body(0.1, 4, Some(2.0))];
        let objects = bodies.iter().cloned().map(object).collect();
        let mut document = Document::new(Tuning::default());
        document.open(Scene { bodies, break_generations: 2, ..Scene::default() }, objects);
        document
    }

    fn tune(document: &mut Document, change: impl FnOnce(&mut Tuning)) {
        let mut tuning = document.tuning().clone();
        change(&mut tuning);
        document.spread(&mut tuning);
        document.set_tuning(tuning, |_| true);
    }

    fn of(object: usize, generation: u32) -> BodyInfo {
        BodyInfo { object, generation, ..BodyInfo::default() }
    }

    #[test]
    fn bodies_keep_their_own_until_the_panels_change_it_for_all() {
        let mut document = document();
        let frictions =
            |document: &Document| document.touches().iter().map(|t| t.friction).collect::<Vec<_>>();
        assert_eq!(frictions(&document), [0.5, 0.1]);
        tune(&mut document, |tuning| tuning.restitution = 0.7);
        assert_eq!(frictions(&document), [0.5, 0.1], "another value has changed");
        assert!(document.touches().iter().all(|touch| touch.restitution == 0.7));
        tune(&mut document, |tuning| tuning.friction = 0.9);
        assert_eq!(frictions(&document), [0.9, 0.9]);
        // The object in focus alone.
        tune(&mut document, |tuning| tuning.focus = Some(1));
        assert_eq!(document.tuning().fracture.rng, 4, "the panels show its values");
        tune(&mut document, |tuning| (tuning.friction, tuning.density) = (0.2, 900.0));
        assert_eq!(frictions(&document), [0.9, 0.2]);
        tune(&mut document, |tuning| tuning.focus = None);
        assert_eq!((document.tuning().friction, document.tuning().fracture.rng), (0.9, 3));
        let mut saved = document.to_save(crate::render::Camera::default());
        let second = saved.bodies.pop().unwrap();
        assert_eq!((second.friction, second.density, second.restitution), (0.2, 900.0, 0.7));
        assert_eq!((second.fracture.rng, second.break_threshold), (4, Some(2.0)));
    }

    #[test]
    fn a_blow_on_an_object_that_is_not_in_focus_breaks_it_as_its_own_values_say() {
        let mut document = document();
        tune(&mut document, |tuning| tuning.fracture.seeds = 77);
        tune(&mut document, |tuning| tuning.focus = Some(1));
        tune(&mut document, |tuning| tuning.fracture.seeds = 55);
        let seeds = |document: &Document, object| document.tuned_params(&of(object, 1)).seeds;
        assert_eq!([seeds(&document, 0), seeds(&document, 1)], [77, 55]);
        tune(&mut document, |tuning| tuning.focus = None);
        assert_eq!([seeds(&document, 0), seeds(&document, 1)], [77, 77], "what the panels show");
        assert_eq!(document.own_params(&of(1, 1)).seeds, 55);
    }

    #[test]
    fn how_a_body_breaks_is_its_own_or_everybodys_with_its_own_random_numbers() {
        let mut document = document();
        assert_eq!(document.own_params(&of(1, 0)).rng, 4);
        assert_eq!(
            (document.own_params(&of(1, 0)).keep, document.own_params(&of(1, 1)).keep),
            (vec![2], vec![])
        );
        tune(&mut document, |tuning| tuning.fracture.rng = 99);
        assert_eq!(document.own_params(&of(1, 0)).keep, [2], "random numbers alone change nobody's pattern");
        tune(&mut document, |tuning| tuning.fracture.seeds = 77);
        let second = document.own_params(&of(1, 0));
        assert_eq!((second.seeds, second.rng, second.keep.len()), (77, 4, 0));
        let struck = document.tuned_params(&of(1, 1));
        assert_eq!((struck.rng, struck.keep.len()), (99, 0));
    }

    #[test]
    fn bodies_move_otherwise_once_one_object_touches_or_breaks_otherwise() {
        let mut document = document();
        let moved = |document: &mut Document, change: fn(&mut Tuning)| {
            let mut tuning = document.tuning().clone();
            change(&mut tuning);
            document.spread(&mut tuning);
            document.set_tuning(tuning, |_| true)
        };
        assert!(!moved(&mut document, |_| {}));
        assert!(!moved(&mut document, |tuning| tuning.fracture.seeds = 77), "a pattern moves nothing");
        assert!(!moved(&mut document, |tuning| tuning.focus = Some(1)));
        let changes: [fn(&mut Tuning); 3] = [
            |tuning| tuning.friction = 0.3,
            |tuning| tuning.break_threshold = Some(7.0),
            |tuning| tuning.physics_level = 2,
        ];
        for (k, change) in changes.into_iter().enumerate() {
            assert!(moved(&mut document, change), "change {k}");
            assert!(!moved(&mut document, change), "change {k} again changes nothing");
        }
        assert!(moved(&mut document, |tuning| tuning.gravity = 1.0), "a value of no object");
    }

    #[test]
    fn what_breaks_by_itself_does_so_for_some_generations() {
        let document = document();
        assert!(document.is_fragile());
        let bears = [of(0, 0), of(1, 0), of(1, 1), of(1, 2)].map(|info| document.threshold(&info));
        assert_eq!(bears, [None, Some(2.0), Some(2.0), None]);
    }

    #[test]
    fn other_bonds_make_no_body_fragile_until_the_panels_say_so() {
        let held =
            SceneBody { hold: true, strength: Some(Box::default()), ..SceneBody::standing("builtin:box", 5) };
        let bodies = vec![held, SceneBody::standing("builtin:box", 5)];
        let objects = bodies.iter().cloned().map(object).collect();
        let mut document = Document::new(Tuning::default());
        document.open(Scene { bodies, ..Scene::default() }, objects);
        let breaks =
            |document: &Document| [0, 1].map(|object| document.whole_strength(&of(object, 0)).is_some());
        tune(&mut document, |tuning| tuning.strength.tension = Some(2e6));
        assert_eq!([0, 1].map(|object| document.strength_of(object).tension), [Some(2e6); 2]);
        assert_eq!((breaks(&document), document.is_fragile()), ([false; 2], false));
        tune(&mut document, |tuning| tuning.strength.whole = false);
        tune(&mut document, |tuning| tuning.strength.whole = true);
        assert_eq!(breaks(&document), [false, true], "bonds decide about the body that holds");
        tune(&mut document, |tuning| tuning.strength.loose = true);
        assert_eq!(
            breaks(&document),
            [true, true],
            "parts that come loose of it break on where that is asked for"
        );
        tune(&mut document, |tuning| tuning.strength.tension = Some(3e6));
        assert_eq!(breaks(&document), [true, true]);
        tune(&mut document, |tuning| tuning.strength.whole = false);
        assert_eq!(breaks(&document), [true, false], "what nothing holds has no loose parts");
        tune(&mut document, |tuning| tuning.break_threshold = Some(3.0));
        assert_eq!(breaks(&document), [false; 2], "by its speed");
    }

    #[test]
    fn an_inside_is_an_objects_own_until_the_panels_change_it() {
        let mut document = document();
        assert_eq!(Document::new(Tuning::default()).insides().len(), 1, "there is always one");
        assert_eq!(document.insides().len(), 2);
        let own = document.interior_of(1);
        tune(&mut document, |tuning| tuning.fracture.interior.scale = 3.0);
        assert_ne!(document.interior_of(1), own);
        assert_eq!(document.interior_of(1), document.tuning().fracture.interior);
    }
}
