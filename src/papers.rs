//! The method of breaking, the generator and the response of the crate kintsugi-papers. A build without the feature
//! `papers` leaves them out: scenes and commands that name them get an error that says so.

#[cfg(feature = "papers")]
pub use kintsugi_papers::{field, penalty, planes, register};

#[cfg(not(feature = "papers"))]
pub use left_out::{field, register};

#[cfg(not(feature = "papers"))]
mod left_out {
    /// Nothing is registered.
    pub fn register() {}

    /// The part of distance fields that commands need.
    pub mod field {
        use crate::bodies::World;

        /// Points of all pairs at one moment.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Colliding {
            /// Number of contacts.
            pub contacts: usize,
            /// Number of them closer than a quarter of a cell.
            pub near_contacts: usize,
            /// All points of surfaces that are near.
            pub near: usize,
            /// All points of surfaces that lie inside.
            pub inside: usize,
        }

        /// `None`: distance fields find no contacts here.
        #[must_use]
        pub fn colliding_points(_: &World) -> Option<Colliding> {
            None
        }
    }
}

/// The launcher runs these tests in a build without the papers, by their names: `without_the_papers`.
#[cfg(all(test, not(feature = "papers")))]
mod tests {
    use crate::{
        cli::{self, CliError},
        scene::{SHIPPED_SCENES, load_scene, parse_scene},
    };
    use std::ffi::OsString;

    /// Shipped scenes that name an entry of the papers, and the entry.
    const OF_PAPERS: [(&str, &str); 6] = [
        ("batches", "contact finder field"),
        ("bricks", "contact finder field"),
        ("methods", "method planes"),
        ("moneybox", "contact finder field"),
        ("plates", "contact finder field"),
        ("pointer", "contact finder field"),
    ];

    fn says_what_is_missing(message: &str, entry: &str) -> bool {
        let (missing, way) = (format!("there is no {entry} in this build"), "cargo build --release");
        [missing.as_str(), "kintsugi-papers", way].iter().all(|part| message.contains(part))
            && message.lines().count() == 1
    }

    #[test]
    fn without_the_papers_shipped_scenes_open_or_say_in_a_line_what_is_missing() {
        for scene in SHIPPED_SCENES {
            let entry = OF_PAPERS.iter().find(|(name, _)| *name == scene.name).map(|(_, entry)| *entry);
            let opened = load_scene(&scene.path().unwrap());
            match (opened, entry) {
                (Ok(_), None) => {}
                (Err(error), Some(entry)) => {
                    let message = &error.message;
                    assert!(says_what_is_missing(message, entry), "{message}");
                    assert!(message.contains(&format!("{}.toml, line ", scene.name)), "{message}");
                }
                (opened, entry) => panic!("{}: {entry:?}, {opened:?}", scene.name),
            }
        }
    }

    #[test]
    fn without_the_papers_a_command_ends_with_code_2_and_writes_nothing() {
        let out = std::env::temp_dir().join(format!("kintsugi-without-papers-{}", std::process::id()));
        let run = |words: &[&str]| {
            let words = words.iter().map(OsString::from);
            let words = [OsString::from("kintsugi")].into_iter().chain(words);
            cli::run(words.chain([OsString::from("--out"), out.clone().into()]))
        };
        let [plates, methods] = ["plates", "methods"]
            .map(|name| format!("{}/assets/scenes/{name}.toml", env!("CARGO_MANIFEST_DIR")));
        let vase = ["simulate", "assets/scenes/vase.toml", "--seconds", "1"];
        let with = |more: &[&'static str]| [&vase, more].concat();
        for (words, entry) in [
            (vec!["simulate", &plates, "--seconds", "1"], "contact finder field"),
            (with(&["--contacts", "field"]), "contact finder field"),
            (with(&["--response", "penalty"]), "response penalty"),
            (with(&["--pairs"]), "measure of it"),
            (vec!["fracture", "builtin:box", "--method", "planes"], "method planes"),
            (vec!["render", &methods, "--size", "64x48"], "method planes"),
        ] {
            let error = run(&words).unwrap_err();
            assert!(matches!(error, CliError::Input(_)) && error.exit_code() == 2, "{error:?}");
            let message = error.to_string();
            println!("{message}");
            let line = message.lines().find(|line| line.contains("there is no")).unwrap_or_default();
            assert!(says_what_is_missing(line, entry), "{message}");
            assert!(!out.exists(), "{words:?}");
        }
    }

    #[test]
    fn without_the_papers_their_constants_in_a_scene_are_kept() {
        let text = "field_level = 6\n[penalty]\nstiffness = 1e7\n";
        let scene = parse_scene(text, "s.toml").unwrap();
        assert_eq!((scene.field_level, scene.penalty.stiffness), (6, 1e7));
        let again = parse_scene(&scene.to_text(), "s.toml").unwrap();
        assert_eq!((again.field_level, again.penalty), (6, scene.penalty));
    }
}
