//! Names the difference between two sets of tuned values, so that undo can say which value it restores.

use super::{InsideView, Throw, Tuning, ViewTuning};
use crate::fracture::FractureParams;

/// The name of the only value that differs; `None` if none or several do.
fn only(differences: &[(bool, &'static str)]) -> Option<&'static str> {
    let mut names = differences.iter().filter(|(differs, _)| *differs).map(|(_, name)| *name);
    names.next().filter(|_| names.next().is_none())
}

impl Tuning {
    /// The panels' name of the only value in which `other` differs; `None` if none or several do.
    #[must_use]
    pub fn named_difference(&self, other: &Self) -> Option<&'static str> {
        let part = only(&[
            (self.fracture != other.fracture, "fracture"),
            (self.throw != other.throw, "throw"),
            (self.view != other.view, "view"),
            (self.lock_rng != other.lock_rng, "lock of the random seed"),
            (self.blow_speed != other.blow_speed, "blow speed"),
            (self.gravity != other.gravity, "gravity"),
            (self.density != other.density, "density"),
            (self.friction != other.friction, "friction"),
            (self.restitution != other.restitution, "bounce"),
            (self.rolling_resistance != other.rolling_resistance, "rolling"),
            (self.break_threshold != other.break_threshold, "break threshold"),
            (self.break_generations != other.break_generations, "breaks in a row"),
            (self.generations != other.generations, "generations"),
            (self.physics_level != other.physics_level, "contact level"),
            (self.far_levels != other.far_levels, "levels far away"),
            (self.response != other.response, "response"),
            (self.penalty != other.penalty, "constants of the penalty"),
            (self.walls != other.walls, "walls"),
            (self.pairs != other.pairs, "levels of pairs"),
            (self.contacts != other.contacts, "contacts"),
            (self.field_level != other.field_level, "field level"),
            // Commands that pin, move, remove or paint have step names of their own.
            (self.pin != other.pin, ""),
        ])?;
        match part {
            "fracture" => of_fracture(&self.fracture, &other.fracture),
            "throw" => of_throw(&self.throw, &other.throw),
            "view" => of_view(&self.view, &other.view),
            part => Some(part).filter(|part| !part.is_empty()),
        }
    }
}

fn of_fracture(a: &FractureParams, b: &FractureParams) -> Option<&'static str> {
    only(&[
        (a.method != b.method, "method"),
        (a.options != b.options, "option of the method"),
        (a.seeds != b.seeds, "seeds"),
        (a.preset != b.preset, "pattern"),
        (a.radii != b.radii, "sphere radii"),
        (a.counts != b.counts, "seeds of a sphere"),
        (a.clusters != b.clusters, "clusters"),
        (a.spread != b.spread, "spread"),
        (a.grain_axis != b.grain_axis || a.grain_ratio != b.grain_ratio, "grain"),
        (a.blow_strength != b.blow_strength, "blow strength"),
        (a.seeds_file != b.seeds_file, "seeds file"),
        (a.target_pieces != b.target_pieces, "number of pieces"),
        (a.rng != b.rng, "random seed"),
        (a.surface != b.surface, "surface"),
        (a.crack != b.crack, "shape of the crack"),
        (a.island_level != b.island_level, "island level"),
        (a.labelling != b.labelling, "labelling"),
        (a.local != b.local, "local radius"),
        (a.keep != b.keep, "kept cells"),
        (a.interior != b.interior, "inside"),
        (a.smallest != b.smallest, "smallest piece"),
    ])
}

fn of_throw(a: &Throw, b: &Throw) -> Option<&'static str> {
    only(&[
        (a.missile != b.missile, "what is thrown"),
        (a.size != b.size, "size of what is thrown"),
        (a.speed != b.speed, "speed of what is thrown"),
        (a.density != b.density, "density of what is thrown"),
    ])
}

fn of_view(a: &ViewTuning, b: &ViewTuning) -> Option<&'static str> {
    let inside = |view: &ViewTuning| InsideView { step: 0, ..view.inside };
    only(&[
        (a.explode != b.explode, "explode"),
        (a.color_by != b.color_by, "colours"),
        (a.preview != b.preview, "preview"),
        (inside(a) != inside(b), "what is shown of the inside"),
        (a.inside.step != b.inside.step, "iteration that is shown"),
        (a.touching != b.touching, "what is shown of contacts"),
        (a.floor != b.floor, "floor"),
        (a.target_fps != b.target_fps, "target rate"),
        (a.sharpness != b.sharpness, "resolution"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_its_name_and_several_have_none() {
        let usual = Tuning::default();
        let named = |change: fn(&mut Tuning)| {
            let mut other = Tuning::default();
            change(&mut other);
            usual.named_difference(&other)
        };
        assert_eq!(named(|_| {}), None);
        assert_eq!(named(|t| t.gravity = 1.0), Some("gravity"));
        assert_eq!(named(|t| t.fracture.seeds = 9), Some("seeds"));
        assert_eq!(named(|t| t.fracture.rng = 9), Some("random seed"));
        assert_eq!(named(|t| t.throw.size = 9.0), Some("size of what is thrown"));
        assert_eq!(named(|t| t.view.explode = 0.9), Some("explode"));
        assert_eq!(named(|t| t.view.inside.step = 9), Some("iteration that is shown"));
        assert_eq!(named(|t| (t.gravity, t.friction) = (1.0, 0.0)), None);
        assert_eq!(named(|t| (t.fracture.seeds, t.fracture.rng) = (9, 9)), None);
    }

    #[test]
    fn no_value_is_forgotten() {
        // Every field changed on its own, as JSON: a field without a name here would be called by its panel.
        let usual = serde_json::to_value(Tuning::default()).unwrap();
        let mut unnamed = Vec::new();
        let mut tried = 0;
        for path in leaves(&usual, String::new()) {
            let mut other = usual.clone();
            let Some(leaf) = other.pointer_mut(&path) else { continue };
            let changed = match leaf {
                serde_json::Value::Bool(on) => serde_json::json!(!*on),
                serde_json::Value::Number(n) if n.is_f64() => {
                    serde_json::json!(n.as_f64().unwrap_or(0.0) + 0.5)
                }
                serde_json::Value::Number(n) => serde_json::json!(n.as_u64().unwrap_or(0) + 1),
                _ => continue,
            };
            *leaf = changed;
            let Ok(other) = serde_json::from_value::<Tuning>(other) else { continue };
            tried += 1;
            if Tuning::default().named_difference(&other).is_none() && other != Tuning::default() {
                unnamed.push(path);
            }
        }
        assert!(tried > 30, "{tried}");
        assert_eq!(unnamed, Vec::<String>::new());
    }

    fn leaves(value: &serde_json::Value, path: String) -> Vec<String> {
        match value {
            serde_json::Value::Object(map) => {
                map.iter().flat_map(|(key, value)| leaves(value, format!("{path}/{key}"))).collect()
            }
            _ => vec![path],
        }
    }
}
