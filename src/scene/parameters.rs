//! The tables of what users set of scenes, bodies and panels: what each value is called, its range, slider and help. The
//! checks of scene files, the rows of panels, the names of undo steps and the rows of docs/scenes.md are made from them.
//! Fracture parameters have a table of their own ([`FractureParams::rows`]).

use super::{
    MAX_FIELD_LEVEL, Scene, SceneBody, Tuning,
    strength::{
        ACROSS, BOND_STIFFNESS, COMPRESSION, DEBRIS, ENDURANCE, FATIGUE, PROPAGATION, SCATTER, SHEAR,
        TENSION, TOUGHNESS, WITHIN,
    },
};
use crate::{
    bodies::{DENSITY, DT, FRICTION, GRAVITY, PHYSICS_LEVEL, RESTITUTION, ROLLING_RESISTANCE, SUBSTEPS},
    fracture::{FractureParams, Paint},
    parameter::{Parameter, Row, parameters, rows},
    svo::MAX_LEVEL,
};

parameters! {
    /// Speed that a blow gives to pieces.
    pub BLOW_SPEED = Parameter::number("Blow", (0.0, 1e4), "Speed that the pieces at the hit point get; 0 only \
         cracks").slider(0.0, 10.0).unit(" m/s", 1).undo("blow speed");
    /// Times that a blow breaks.
    pub GENERATIONS = Parameter::whole("Generations", (1.0, 64.0), "How many times a blow breaks: in each further \
         generation the largest eighth of the pieces breaks again").slider(1.0, 5.0).undo("generations");
    /// Impact speed at which bodies break.
    BREAK_THRESHOLD = Parameter::number("Bears", (0.0, 1e9), "Change of speed in one step above which a body breaks \
         by itself: a fall from 1 m ends with 4.4 m/s").logarithmic(0.1, 100.0).unit(" m/s", 1)
        .undo("break threshold").unset("never").more("[how](physics.md#breaking-by-collision)");
    BREAK_GENERATIONS = Parameter::whole("In a row", (0.0, u32::MAX as f64), "How many times in a row something \
         breaks by itself: pieces of this generation stay whole; 0: nothing breaks").slider(0.0, 8.0)
        .undo("breaks in a row");
    FIELD_LEVEL = Parameter::whole("Field level", (1.0, MAX_FIELD_LEVEL as f64), "Octree level of the distance \
         field's cells: finer cells are exact deeper inside, coarser ones are computed faster")
        .slider(2.0, MAX_FIELD_LEVEL as f64).undo("field level")
        .more("a body that collides at a coarser level has a field of that one");
    FIELD_POINTS = Parameter::whole("Points", (0.0, 4096.0), "Contacts of a query of distance fields that are enough, \
         so that only deeper points are added; 0: every point that collides is a contact, which no later stage thins");
    FIELD_EPSILON = Parameter::number("Epsilon", (0.0, 1.0), "Depth up to which contacts of distance fields may be left \
         out, a share of the radius of the body whose points they are");
    /// Stiffness of the penalty response.
    pub STIFFNESS = Parameter::number("Stiffness 10^", (0.0, 1e15), "k of the paper's equation 3: how strongly \
         overlapping volume pushes bodies apart. A cube of 1 m and 2000 kg rests 0.2 mm deep at 10⁸").unit("N/m⁵", 0)
        .undo("constants of the penalty");
    DRAG = Parameter::number("Drag", (0.0, 1e15), "mu of the paper's equation 4: how strongly sliding is slowed. \
         2000 slows that cube by a tenth of g at 1 m/s").logarithmic(0.0, 1e6).unit("N s/m³", 0)
        .undo("constants of the penalty");
    EXPLODE = Parameter::number("Explode", (0.0, 1.0), "Draws the pieces apart, without moving the bodies")
        .undo("explode");
}

impl Scene {
    /// The table of numbers at the top level.
    pub const ROWS: &'static [Row<Self>] = rows! { Self;
        number meters_per_unit = Parameter::number("Unit", (1e-9, 1e9), "length of one unit of a mesh file")
            .unit("m", 3);
        number dt = DT;
        number substeps = SUBSTEPS;
        number field_level = FIELD_LEVEL;
        number field_most_points = FIELD_POINTS;
        number field_epsilon = FIELD_EPSILON;
        number floor_height = Parameter::number("Floor", (-1e6, 1e6), "height of that plane").unit("m", 2);
        number penalty.stiffness = STIFFNESS;
        number penalty.friction = DRAG;
        number break_generations = BREAK_GENERATIONS;
        number break_pieces = Parameter::whole("Pieces", (0.0, 100_000.0), "nothing breaks by itself once there are \
             this many bodies");
        number view.explode = EXPLODE;
    };
}

impl SceneBody {
    /// The table of numbers of a body.
    pub const ROWS: &'static [Row<Self>] = rows! { Self;
        number level = Parameter::whole("Detail", (1.0, MAX_LEVEL as f64), "octree leaf level: 2^level cells a side")
            .more("11 and 12 only where stages run on the processor's cores (`--compute cpu`)");
        number physics_level = PHYSICS_LEVEL;
        number size = Parameter::number("Size", (1e-4, 1e4), "length of the mesh's longest side").unit("m", 2)
            .unset("`meters_per_unit` decides");
        number density = DENSITY;
        number friction = FRICTION;
        number restitution = RESTITUTION;
        number rolling_resistance = ROLLING_RESISTANCE;
        number break_threshold = BREAK_THRESHOLD;
    };
}

/// Tables of the panels' values, in the order of the panels.
impl Tuning {
    /// What bodies are made of, and gravity.
    pub const BODIES: &'static [Row<Self>] = rows! { Self;
        number density = DENSITY;
        number gravity = GRAVITY;
        number friction = FRICTION;
        number restitution = RESTITUTION;
        number rolling_resistance = ROLLING_RESISTANCE;
    };

    /// Breaking by impact, and far bodies.
    pub const BREAKING: &'static [Row<Self>] = rows! { Self;
        number break_threshold = BREAK_THRESHOLD;
        number break_generations = BREAK_GENERATIONS,
            if |tuning| tuning.break_threshold.is_some() || tuning.strength.whole || tuning.strength.loose;
        number far_levels = Parameter::whole("Far away", (0.0, MAX_LEVEL as f64), "Things far from the eye collide \
             more roughly, by up to this many levels; 0: all exact").slider(0.0, 4.0).undo("levels far away");
    };

    /// Bonds.
    pub const BONDS: &'static [Row<Self>] = rows! { Self;
        number strength.tension = TENSION;
        number strength.compression = COMPRESSION;
        number strength.shear = SHEAR;
        number strength.stiffness = BOND_STIFFNESS;
        number strength.toughness = TOUGHNESS;
        number strength.across = ACROSS;
        number strength.scatter = SCATTER;
        number strength.propagation = PROPAGATION;
        number strength.fatigue = FATIGUE;
        number strength.endurance = ENDURANCE, if |tuning| tuning.strength.fatigue > 0.0;
        number strength.within = WITHIN,
            if |tuning| !tuning.strength.lumps.is_empty() && tuning.strength.lump_strength.is_empty();
        number strength.debris = DEBRIS;
        number knock_energy = Parameter::number("Knock", (0.0, 1e15), "Energy that a click with the hammer puts into the \
             bonds near it, which weakens them for good; 0: all of these fail").slider(0.0, 100.0).unit(" J", 1)
             .undo("energy of a knock");
    };

    /// Options of contact generators and responses. The stiffness has a row of its own in the panel.
    pub const CONTACTS: &'static [Row<Self>] = rows! { Self;
        number field_level = FIELD_LEVEL, if |tuning| tuning.contacts.name() == "field";
        number penalty.friction = DRAG, if |tuning| tuning.response.name() == "penalty";
    };

    /// What is thrown.
    pub const THROW: &'static [Row<Self>] = rows! { Self;
        number throw.size = Parameter::number("  its size", (1e-4, 1e4), "Diameter or edge of what is thrown")
            .slider(0.02, 2.0).unit(" m", 2).undo("size of what is thrown");
        number throw.speed = Parameter::number("  its speed", (0.0, 1e4), "Speed at which it leaves the hand")
            .slider(0.0, 40.0).unit(" m/s", 1).undo("speed of what is thrown");
        number throw.density = Parameter::number("  its density", DENSITY.range, "Of each cubic metre of what is \
             thrown: water is 1000, stone 2600, iron 7900").logarithmic(100.0, 20_000.0).unit("kg/m³", 0)
            .undo("density of what is thrown");
    };

    /// The brush.
    pub const BRUSH: &'static [Row<Self>] = rows! { Self;
        value brush.kind = Parameter::new("Brush", "what a dab changes").undo("brush");
        value brush.erases = Parameter::new("erase", "whether the brush takes dabs away").undo("brush");
        number brush.radius = Parameter::number("  its radius", (1e-3, 1.0), "Radius of a dab as a fraction of the \
             object's longest side").logarithmic(0.01, 0.3).undo("brush radius");
        number brush.seeds = Parameter::whole("  its seeds", (0.0, 1000.0), "Seeds that each dab adds")
            .slider(1.0, 30.0).undo("seeds of the brush"), if |tuning| tuning.brush.kind == Paint::Dense;
        number brush.strength = Parameter::number("  strength left", (0.0, 1.0), "Share of their strength that a dab \
             leaves of the bonds in it").slider(0.0, 1.0).undo("strength of the brush"),
            if |tuning| tuning.brush.kind == Paint::Weak;
    };

    /// What a blow does beside the fracture's own parameters.
    pub const BLOW: &'static [Row<Self>] = rows! { Self;
        number blow_speed = BLOW_SPEED;
        number generations = GENERATIONS;
    };

    /// How far pieces are drawn apart.
    pub const EXPLODED: &'static [Row<Self>] = rows! { Self;
        number view.explode = EXPLODE;
    };

    /// Quality of the picture.
    pub const QUALITY: &'static [Row<Self>] = rows! { Self;
        number view.sharpness = Parameter::number("Resolution", (0.25, 1.0), "Highest resolution of the picture, as \
             a share of the window's width and height; less is faster").undo("resolution");
        number view.target_fps = Parameter::number("Target rate", (10.0, 60.0), "Pictures a second to keep while \
             things move; the picture gets coarser to reach it, as a rule down to half its width and height")
             .unit(" fps", 0).undo("target rate");
    };

    /// Values with a row of their own in the panels.
    const OTHERS: &'static [Row<Self>] = rows! { Self;
        number physics_level = PHYSICS_LEVEL;
        number penalty.stiffness = STIFFNESS;
        value strength.material = Parameter::named("strength");
        value strength.whole = Parameter::named("strength");
        value strength.loose = Parameter::named("strength");
        value strength.anchor_floor = Parameter::named("anchors");
        value strength.anchor_fixed = Parameter::named("anchors");
        value strength.grain_axis = Parameter::named("strength");
        value strength.rng = Parameter::named("strength");
        value strength.anchors = Parameter::named("anchors");
        value strength.bonds = Parameter::named("strength");
        value lock_rng = Parameter::named("lock of the random seed");
        value response = Parameter::named("response");
        value contacts = Parameter::named("contacts");
        value walls = Parameter::named("walls");
        value pairs = Parameter::named("levels of pairs");
        value throw.missile = Parameter::named("what is thrown");
        value view.color_by = Parameter::named("colours");
        value view.preview = Parameter::named("preview");
        value view.touching = Parameter::named("what is shown of contacts");
        value view.debris = Parameter::named("what is shown of debris");
        value view.differences = Parameter::named("differences of views");
        value view.hairlines = Parameter::named("what is shown of cracks");
        value view.scale_bar = Parameter::named("scale bar");
        value view.slices_alone = Parameter::named("slices");
        value view.floor = Parameter::named("floor");
        value view.transparent = Parameter::named("transparent pictures");
        value view.catches_shadows = Parameter::named("shadows of transparent pictures");
        value view.lighting = Parameter::named("light");
        value view.lens = Parameter::named("depth of field");
        value saved_views = Parameter::named("saved views");
        value backdrop = Parameter::named("picture behind the scene");
        value slices = Parameter::named("slices");
        value view.scale = Parameter::named("scale of colours");
        value view.inside.step = Parameter::named("iteration that is shown");
        value view.inside.drawings = Parameter::named("what is shown of the inside");
        value view.inside.labels = Parameter::named("what is shown of the inside");
        value view.inside.cut = Parameter::named("what is shown of the inside");
        value view.inside.through = Parameter::named("what is shown of the inside");
        value view.inside.only = Parameter::named("what is shown of the inside");
    };

    /// All of them but for fracture parameters and the pinned impact.
    fn rows() -> impl Iterator<Item = &'static Row<Self>> {
        let tables = [
            Self::BODIES,
            Self::BREAKING,
            Self::BONDS,
            Self::CONTACTS,
            Self::THROW,
            Self::BRUSH,
            Self::BLOW,
            Self::EXPLODED,
            Self::QUALITY,
            Self::OTHERS,
        ];
        tables.into_iter().flatten()
    }

    /// The panels' name of the only value in which `other` differs; `None` if none or several do. Commands that pin,
    /// move, remove or paint have step names of their own.
    #[must_use]
    pub fn named_difference(&self, other: &Self) -> Option<&'static str> {
        let own = Self::rows().filter(|row| row.differs(self, other)).map(|row| row.of.undo);
        let fracture = FractureParams::rows().filter(|row| row.differs(&self.fracture, &other.fracture));
        let mut names = own.chain(fracture.map(|row| row.of.undo));
        let name = names.next()?;
        (names.all(|more| more == name) && self.pin == other.pin).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fracture::{CELLS, CHIPS, CRACK, INTERIOR, PATTERN, PRESETS, SURFACE};
    use crate::scene::BodyStrength;

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
        assert_eq!(named(|t| t.fracture.crack.strength = 0.5), Some("pull of the cells"));
        assert_eq!(named(|t| t.view.inside.only = true), Some("what is shown of the inside"));
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

    /// Compares the rows of docs/scenes.md with the tables; with KINTSUGI_WRITE_DOCS=1 writes them. A row that the
    /// document lacks goes below the row that comes before it in the table.
    #[test]
    fn the_document_has_the_tables() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenes.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let fracture = FractureParams::default();
        let of = |rows: &[Row<FractureParams>]| -> Vec<String> {
            rows.iter().map(|row| row.document_row(&fracture)).collect()
        };
        let (scene, body) = (Scene::default(), SceneBody::default());
        let is_at_top = |row: &&Row<Scene>| !row.of.path.contains('.');
        let top = Scene::ROWS.iter().filter(is_at_top).map(|row| row.document_row(&scene)).collect();
        let tables: [(&str, Vec<String>); 7] = [
            ("## Top level", top),
            ("## `[view]`", vec![EXPLODE.at("explode").document_row(&crate::parameter::as_in_file(&0.0))]),
            ("## `[[body]]`", SceneBody::ROWS.iter().map(|row| row.document_row(&body)).collect()),
            ("## `[body.strength]`", {
                let usual = BodyStrength::default();
                BodyStrength::ROWS.iter().map(|row| row.document_row(&usual)).collect()
            }),
            ("## `[body.fracture]`", [PATTERN, PRESETS, CELLS, SURFACE, CHIPS].map(of).concat()),
            ("`[body.fracture.crack]`", of(CRACK)),
            ("## `[body.fracture.interior]`", of(INTERIOR)),
        ];
        let mut differing = Vec::new();
        for (heading, rows) in tables {
            let from = lines.iter().position(|line| line.starts_with(heading)).unwrap();
            let head = lines[from..].iter().position(|line| line.starts_with("|---")).unwrap();
            let mut before = from + head;
            for row in rows {
                let name = &row[..=row[2..].find('|').unwrap() + 2];
                let end = lines[from + 1..].iter().position(|line| line.starts_with("## "));
                let end = end.map_or(lines.len(), |at| from + 1 + at);
                let found =
                    lines[from..end].iter().position(|line| line.starts_with(name)).map(|at| from + at);
                if found.is_none_or(|at| lines[at] != row) {
                    differing.push(row.clone());
                }
                match found {
                    Some(at) => lines[at] = row,
                    None => lines.insert(before + 1, row),
                }
                before = found.unwrap_or(before + 1);
            }
        }
        if std::env::var_os("KINTSUGI_WRITE_DOCS").is_some() {
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        } else {
            assert_eq!(differing, Vec::<String>::new(), "run this test with KINTSUGI_WRITE_DOCS=1");
        }
    }
}
