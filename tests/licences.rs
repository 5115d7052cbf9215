//! Licences: every crate that a build for this platform takes in has one that `licences.toml` allows. Cargo
//! itself lists the crates, from what is downloaded already.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use serde::Deserialize;

/// `licences.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// SPDX names that any crate may have.
    allow: BTreeSet<String>,
    /// By crate, what that one may have besides.
    exceptions: BTreeMap<String, BTreeSet<String>>,
}

impl Rules {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("licences.toml");
        toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// Says why a crate is refused.
    fn check(&self, name: &str, licence: Option<&str>) -> Result<(), String> {
        let licence = licence.ok_or_else(|| format!("{name} states no licence"))?;
        let own = self.exceptions.get(name);
        let allowed = |id: &str| self.allow.contains(id) || own.is_some_and(|own| own.contains(id));
        match Expression::new(licence).allowed(&allowed) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("{name} has {licence}")),
            Err(why) => Err(format!("{name} has {licence}: {why}")),
        }
    }
}

/// An SPDX expression, read from left to right: `AND` binds closer than `OR`; `/` is how `OR` was written before.
struct Expression {
    /// What is left, the next word last.
    words: Vec<String>,
}

impl Expression {
    fn new(text: &str) -> Self {
        let spaced = text.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        Self { words: spaced.split_whitespace().rev().map(str::to_owned).collect() }
    }

    fn takes(&mut self, word: &str) -> bool {
        let next = self.words.last().is_some_and(|next| next == word);
        if next {
            self.words.pop();
        }
        next
    }

    /// Whether one may choose so that every licence that then holds is allowed.
    fn allowed(mut self, is: &dyn Fn(&str) -> bool) -> Result<bool, String> {
        let all = self.any(is)?;
        if self.words.is_empty() { Ok(all) } else { Err("it cannot be read to its end".into()) }
    }

    fn any(&mut self, is: &dyn Fn(&str) -> bool) -> Result<bool, String> {
        let mut good = self.every(is)?;
        while self.takes("OR") {
            good |= self.every(is)?;
        }
        Ok(good)
    }

    fn every(&mut self, is: &dyn Fn(&str) -> bool) -> Result<bool, String> {
        let mut good = self.one(is)?;
        while self.takes("AND") {
            good &= self.one(is)?;
        }
        Ok(good)
    }

    fn one(&mut self, is: &dyn Fn(&str) -> bool) -> Result<bool, String> {
        if self.takes("(") {
            let good = self.any(is)?;
            return if self.takes(")") { Ok(good) } else { Err("a bracket is not closed".into()) };
        }
        let mut id = self.words.pop().ok_or("a licence is missing")?;
        if ["AND", "OR", "WITH", ")"].contains(&id.as_str()) {
            return Err(format!("{id} stands where a licence should"));
        }
        // An exception makes another licence of it, which has to be allowed by its whole name.
        if self.takes("WITH") {
            id = format!("{id} WITH {}", self.words.pop().ok_or("an exception is missing")?);
        }
        Ok(is(&id))
    }
}

/// Cargo's list, and which of it a build for this platform takes.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    license: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn crates() -> Vec<Package> {
    let tool = |name: &str, other: &str| std::env::var(name).unwrap_or_else(|_| other.to_owned());
    let version = output(&tool("RUSTC", "rustc"), &["-vV"]);
    let platform = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let text = output(
        &tool("CARGO", "cargo"),
        &[
            "metadata",
            "--format-version=1",
            "--locked",
            "--offline",
            "--filter-platform",
            platform,
            "--manifest-path",
            manifest,
        ],
    );
    let metadata: Metadata = serde_json::from_str(&text).unwrap();
    let built: BTreeSet<String> = metadata.resolve.nodes.into_iter().map(|node| node.id).collect();
    metadata.packages.into_iter().filter(|package| built.contains(&package.id)).collect()
}

#[test]
fn every_crate_has_an_allowed_licence() {
    let (rules, crates) = (Rules::read(), crates());
    println!("{} crates", crates.len());
    assert!(crates.len() > 100, "wgpu and egui alone bring more than {}", crates.len());
    let refused: Vec<String> =
        crates.iter().filter_map(|c| rules.check(&c.name, c.license.as_deref()).err()).collect();
    assert!(refused.is_empty(), "licences.toml does not allow these:\n{}", refused.join("\n"));
    for name in rules.exceptions.keys() {
        assert!(crates.iter().any(|c| c.name == *name), "nothing takes {name} any more");
    }
}

#[test]
fn a_licence_that_is_not_allowed_is_refused() {
    let rules = Rules::read();
    let fonts = "(MIT OR Apache-2.0) AND OFL-1.1 AND Ubuntu-font-1.0";
    for (name, licence) in [
        ("a", "MIT"),
        ("a", "MIT OR GPL-3.0-only"),
        ("a", "GPL-3.0-only OR MIT"),
        ("a", "MIT/Apache-2.0"),
        ("a", "GPL-2.0 / Zlib"),
        ("a", "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT"),
        ("a", "MIT OR (GPL-3.0-only AND BSD-3-Clause)"),
        ("a", "GPL-3.0-only AND BSL-1.0 OR ISC"),
        ("epaint_default_fonts", fonts),
    ] {
        assert_eq!(rules.check(name, Some(licence)), Ok(()));
    }
    for licence in [
        "GPL-3.0-only",
        "AGPL-3.0-or-later OR GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "(MIT OR Apache-2.0) AND GPL-3.0-only",
        "MIT-of-my-own",
        "mit",
        "Apache-2.0 WITH LLVM-exception",
        "MIT Apache-2.0",
        "(MIT",
        "MIT)",
        "MIT OR",
        "AND",
        "",
        // What one crate may have is nobody else's.
        fonts,
    ] {
        let refused = rules.check("a", Some(licence));
        assert!(refused.is_err(), "{licence:?} is taken");
        println!("{}", refused.unwrap_err());
    }
    assert_eq!(rules.check("a", None), Err("a states no licence".into()));
}
