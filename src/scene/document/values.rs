//! Values of bodies: each body's own, from the scene, unless the panels override them for all bodies.
//!
//! Panels start with the first object's values. While a panel's value is unchanged, every body keeps its own; so
//! undoing a change restores each body's value.

use std::sync::Arc;

use super::Document;
use crate::{
    fracture::{Dab, FractureParams, Interior, Volume},
    scene::{
        BodyStrength, ObjectInfo, Scene, SceneBody, Tuning,
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

/// Material properties set in the panels.
pub(super) fn tuned_touch(tuning: &Tuning) -> Touch {
    Touch {
        density: tuning.density,
        friction: tuning.friction,
        restitution: tuning.restitution,
        rolling_resistance: tuning.rolling_resistance,
        physics_level: tuning.physics_level,
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

/// The tuned value if it differs from the first object's, else the body's own.
fn chosen<T: PartialEq>(tuned: T, first: &T, own: T) -> T {
    if tuned == *first { own } else { tuned }
}

impl Document {
    fn first_object(&self) -> Option<&SceneBody> {
        self.opened.objects.first().map(|object| &object.scene)
    }

    /// Material properties of a body that the scene describes as `own`.
    fn touch_of(&self, own: &SceneBody) -> Touch {
        let (tuned, own) = (tuned_touch(&self.tuning), own_touch(own));
        let first = self.first_object().map_or(tuned, own_touch);
        Touch {
            density: chosen(tuned.density, &first.density, own.density),
            friction: chosen(tuned.friction, &first.friction, own.friction),
            restitution: chosen(tuned.restitution, &first.restitution, own.restitution),
            rolling_resistance: chosen(
                tuned.rolling_resistance,
                &first.rolling_resistance,
                own.rolling_resistance,
            ),
            physics_level: chosen(tuned.physics_level, &first.physics_level, own.physics_level),
        }
    }

    /// Material properties of the bodies of each object.
    pub fn touches(&self) -> Vec<Touch> {
        let of = |(i, object): (usize, &Arc<ObjectInfo>)| {
            let mut touch = self.touch_of(&object.scene);
            // Thrown bodies keep their own density.
            if i >= self.opened.scene.bodies.len() {
                touch.density = object.scene.density;
            }
            touch
        };
        self.opened.objects.iter().enumerate().map(of).collect()
    }

    /// Default fracture parameters of an object: its own, or the panels' if they were changed, with the object's own
    /// random seed.
    fn fracture_of(&self, own: &SceneBody) -> FractureParams {
        let tuned = &self.tuning.fracture;
        match self.first_object() {
            Some(first) if !alike(&first.fracture, tuned) => {
                FractureParams { rng: own.fracture.rng, keep: Vec::new(), ..tuned.clone() }
            }
            _ => own.fracture.clone(),
        }
    }

    /// Default fracture parameters of a body; a piece has no list of kept seeds, since that refers to the whole
    /// object's pattern.
    pub fn own_params(&self, body: &BodyInfo) -> FractureParams {
        let object = self.opened.objects.get(body.object);
        let params = object.map_or_else(|| self.tuning.fracture.clone(), |o| self.fracture_of(&o.scene));
        self.for_body(params, body)
    }

    /// Whether an earlier object of the scene has the same random seed.
    pub fn shares_random_numbers(&self, object: usize) -> bool {
        let rng = |k: usize| self.opened.objects.get(k).map(|o| self.fracture_of(&o.scene).rng);
        (0..object).any(|k| rng(k) == rng(object))
    }

    /// The tuned parameters for a blow on a body; a piece has no list of kept seeds.
    pub fn tuned_params(&self, body: &BodyInfo) -> FractureParams {
        self.for_body(self.tuning.fracture.clone(), body)
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

    /// Interior material of an object: its own, unless changed in the panels. An object has one interior, so a change
    /// also affects existing cracks.
    pub fn interior_of(&self, object: usize) -> Interior {
        let tuned = self.tuning.fracture.interior;
        let own = |object: usize| self.opened.objects.get(object).map(|o| o.scene.fracture.interior);
        if own(0) == Some(tuned) { own(object).unwrap_or(tuned) } else { tuned }
    }

    /// Interior volumes of all objects; at least one.
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
        let of = |body: &SceneBody| body.strength.as_deref().cloned().unwrap_or_default();
        let own = self.opened.objects.get(object).map(|object| of(&object.scene)).unwrap_or_default();
        let tuned = self.tuning.strength.clone();
        let first = self.first_object().map_or_else(|| tuned.clone(), of);
        chosen(tuned, &first, own)
    }

    /// How much debris the bonds of an object leave where they fail, as a multiple of the usual amount.
    pub fn debris_of(&self, object: usize) -> f64 {
        let usual = BodyStrength::default().debris;
        let of = |body: &SceneBody| body.strength.as_ref().map_or(usual, |strength| strength.debris);
        let own = self.opened.objects.get(object).map_or(usual, |object| of(&object.scene));
        let tuned = self.tuning.strength.debris;
        chosen(tuned, &self.first_object().map_or(tuned, of), own)
    }

    /// Whether any body breaks on impact.
    pub fn is_fragile(&self) -> bool {
        (0..self.opened.objects.len()).any(|object| self.threshold_of(object).is_some())
    }

    /// Impact speed at which a body breaks, m/s; `None` if it does not. Sleeping bodies can break, too: a striking body
    /// gives one its full speed in the step in which it wakes.
    pub fn threshold(&self, body: &BodyInfo) -> Option<f64> {
        if body.generation >= self.tuning.break_generations {
            return None;
        }
        self.threshold_of(body.object)
    }

    /// Impact speed at which bodies of an object break. Bodies thrown later are hammers and do not break.
    fn threshold_of(&self, object: usize) -> Option<f64> {
        let own = self.opened.objects.get(object)?.scene.break_threshold;
        if object >= self.opened.scene.bodies.len() {
            return own;
        }
        let tuned = self.tuning.break_threshold;
        let first = self.first_object().map_or(tuned, |first| first.break_threshold);
        chosen(tuned, &first, own)
    }

    /// Writes the present values of the bodies into a scene.
    pub(super) fn write_values(&self, scene: &mut Scene) {
        let thresholds: Vec<_> =
            (0..self.opened.objects.len()).map(|object| self.threshold_of(object)).collect();
        for (object, body) in scene.bodies.iter_mut().enumerate() {
            let touch = self.touch_of(body);
            (body.density, body.friction, body.restitution) =
                (touch.density, touch.friction, touch.restitution);
            body.rolling_resistance = touch.rolling_resistance;
            if let Some(threshold) = thresholds.get(object) {
                body.break_threshold = *threshold;
            }
            let strength = self.strength_of(object);
            if body.strength.is_some() || strength != BodyStrength::default() {
                body.strength = Some(Box::new(strength));
            }
            if touch.physics_level != body.collision_level() {
                body.physics_level = Some(touch.physics_level.clamp(1, body.level));
            }
            // The panels show the first body's random seed.
            let params = if object == 0 { self.tuning.fracture.clone() } else { self.fracture_of(body) };
            body.fracture =
                FractureParams { interior: self.interior_of(object), paint: self.paint_on(object), ..params };
            body.fracture.fit(body.level);
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
        tune(&mut document, |tuning| tuning.friction = 0.5);
        assert_eq!(frictions(&document), [0.5, 0.1], "back to what the first one has");
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
    fn what_breaks_by_itself_does_so_for_some_generations() {
        let document = document();
        assert!(document.is_fragile());
        let bears = [of(0, 0), of(1, 0), of(1, 1), of(1, 2)].map(|info| document.threshold(&info));
        assert_eq!(bears, [None, Some(2.0), Some(2.0), None]);
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
