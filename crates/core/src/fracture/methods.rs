//! The table of methods. Scene files (`method`), commands (`--method`), the fracture panel and docs/fracture.md are
//! made from it.
//!
//! To add one: a folder beside `voronoi/` with a [`Breaker`](super::Breaker), and a line in `BUILT_IN`. A program that
//! uses this library adds its own with [`register`] before it opens a scene.

use super::{FractureParams, MethodEntry, MethodId, ParamProblem, Surface, box_cut, cutter, parts, voronoi};
use crate::registry::{Entry, NameTaken, Table};

impl Entry for MethodEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// The methods that the program has of itself; the first is the default.
const BUILT_IN: &[MethodEntry] = &[voronoi::METHOD, box_cut::METHOD, cutter::METHOD, parts::METHOD];

/// Methods that need more than a blow: a file, or an object of several parts.
const NEEDS_MORE: [&str; 2] = [cutter::METHOD.name, parts::METHOD.name];

static METHODS: Table<MethodEntry> = Table::new("method", BUILT_IN, &["planes"]);

crate::setting!(MethodId, MethodEntry, METHODS);

/// Adds a method, which parameters can name from then on.
///
/// # Errors
/// [`NameTaken`].
pub fn register(entry: &'static MethodEntry) -> Result<(), NameTaken> {
    METHODS.add(entry)
}

/// Every method, the default first.
#[must_use]
pub fn methods() -> Vec<&'static MethodEntry> {
    METHODS.all()
}

/// The methods that break any object by a blow alone, the default first: those that are compared with each other.
#[must_use]
pub fn by_any_blow() -> Vec<&'static MethodEntry> {
    METHODS.all().into_iter().filter(|method| method.needs_only_a_blow()).collect()
}

impl MethodEntry {
    /// What parameters hold of it.
    #[must_use]
    pub fn id(&self) -> MethodId {
        MethodId(self.name)
    }

    /// Whether several of its parts become one shape again.
    fn rejoins(&self) -> bool {
        if self.of_voxels { self.by_seeds } else { self.breaker.shares_faces() }
    }

    /// Whether it breaks any object by a blow alone, without a file or parts that are there.
    #[must_use]
    pub fn needs_only_a_blow(&self) -> bool {
        !NEEDS_MORE.contains(&self.name)
    }
}

/// What parameters mean to their method.
impl FractureParams {
    /// A parameter of the method's own: as given, else the method's default; 0 for a name that the method does not
    /// have.
    #[must_use]
    pub fn option(&self, name: &str) -> f64 {
        let default = || {
            self.method.entry().options.iter().find(|option| option.name == name).map(|option| option.default)
        };
        self.options.get(name).copied().or_else(default).unwrap_or(0.0)
    }

    /// The first of the method's own parameters that it does not have or that is out of range.
    fn option_problem(&self) -> Option<ParamProblem> {
        let known = self.method.entry().options;
        self.options.iter().find_map(|(name, value)| {
            let problem = match known.iter().find(|option| option.name == name) {
                None if known.is_empty() => format!("has {name}; the method {} has no options", self.method),
                None => {
                    let names: Vec<_> = known.iter().map(|option| option.name).collect();
                    format!("has {name}; the method {} knows {}", self.method, names.join(", "))
                }
                Some(option) if (option.range.0..=option.range.1).contains(value) => return None,
                Some(option) => {
                    let (low, high) = option.range;
                    format!("sets {name} to {value:?}; it must be a number from {low} to {high}")
                }
            };
            Some(("options", problem))
        })
    }

    /// The first parameter that is out of range, contradicts another or does not suit the method, if any.
    #[must_use]
    pub fn problem(&self) -> Option<ParamProblem> {
        let of_method = || self.option_problem().or_else(|| self.method.entry().breaker.problem(self));
        self.shared_problem().or_else(of_method)
    }

    /// Why bonds cannot hold the parts of such a break together, and what to do; `None` if they can. What holds is made one
    /// shape of again and again, which takes voxels and cells of seeds that tell them apart, or meshes that share faces.
    #[must_use]
    pub fn hold_problem(&self) -> Option<String> {
        if !self.method.entry().rejoins() {
            let able: Vec<_> =
                BUILT_IN.iter().filter(|entry| entry.rejoins()).map(|entry| entry.name).collect();
            return Some(format!(
                "needs parts that become one again, which the method {} does not make; give the fracture the method {}",
                self.method,
                able.join(" or ")
            ));
        }
        let is_dust = self.surface == Surface::Dusty;
        is_dust.then(|| "needs cracks without a gap; give the fracture the surface planar or rough".into())
    }

    /// The same blow by another method with such crack surfaces: options that the method does not know are left out, and
    /// cracks are planar where it has no others. Chips are left out where it makes none.
    #[must_use]
    pub fn by(&self, method: MethodId, surface: Surface) -> Self {
        let entry = method.entry();
        let known = |name: &String| entry.options.iter().any(|option| option.name == name);
        let options = self.options.iter().filter(|(name, _)| known(name));
        Self {
            method,
            options: options.map(|(name, value)| (name.clone(), *value)).collect(),
            surface: if entry.of_voxels { surface } else { Surface::Planar },
            chips: if entry.of_voxels && entry.by_seeds { self.chips } else { 0 },
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain_and_options_are_sound() {
        let methods = methods();
        assert_eq!(methods[0].id(), MethodId::default());
        for (i, method) in methods.iter().enumerate() {
            let plain = |name: &str| {
                !name.is_empty()
                    && name.bytes().all(|b| b.is_ascii_lowercase() || b"-_0123456789".contains(&b))
            };
            let name = method.name;
            assert!(plain(name) && !method.label.is_empty() && method.help.ends_with('.'), "{name}");
            assert!(methods[..i].iter().all(|other| other.name != name), "{name} is there twice");
            for option in method.options {
                let (low, high) = option.range;
                assert!(plain(option.name) && low <= option.default && option.default <= high, "{option:?}");
            }
        }
        static TWIN: MethodEntry = voronoi::METHOD;
        assert!(register(&TWIN).is_err(), "a name is given once");
    }

    #[test]
    fn bonds_hold_what_becomes_one_again_and_a_refusal_names_the_methods_that_make_such_parts() {
        let octree = FractureParams::default();
        assert_eq!(octree.hold_problem(), None);
        assert_eq!(octree.by(box_cut::METHOD.id(), Surface::Planar).hold_problem(), None);
        let dusty = FractureParams { surface: Surface::Dusty, ..octree.clone() };
        assert!(dusty.hold_problem().unwrap().contains("planar or rough"));
        for method in [&cutter::METHOD, &parts::METHOD] {
            let problem = octree.by(method.id(), Surface::Planar).hold_problem().unwrap();
            assert!(problem.contains(&format!("method {} does not", method.name)), "{problem}");
            assert!(problem.ends_with("method octree or box-cut"), "{problem}");
        }
    }

    #[test]
    fn a_name_is_read_and_written_and_an_unknown_one_is_refused() {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        struct Table {
            method: MethodId,
        }
        let text = toml::to_string(&Table { method: MethodId::default() }).unwrap();
        assert_eq!(text, "method = \"octree\"\n");
        assert_eq!(toml::from_str::<Table>(&text).unwrap().method, MethodId::default());
        let error = toml::from_str::<Table>("method = \"hammer\"").unwrap_err().to_string();
        assert!(error.contains("no method hammer") && error.contains("octree"), "{error}");
    }

    /// This crate never has that one's entries, as little as a build without kintsugi-papers.
    #[test]
    fn the_method_of_the_papers_is_refused_with_the_way_to_get_it() {
        let error = MethodId::named("planes").unwrap_err().to_string();
        assert!(error.starts_with("there is no method planes in this build"), "{error}");
        assert!(error.contains("kintsugi-papers") && error.contains("cargo build"), "{error}");
        assert!(error.ends_with("there are octree, box-cut, cutter, parts"), "{error}");
    }
}
