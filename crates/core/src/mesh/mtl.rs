//! Material libraries of OBJ files. In: a library. Out: its materials: colour, opacity, and all maps with their options.
//!
//! A line that cannot be read costs that line alone. Programs end lines with CR, LF or both, and write options of maps
//! in front of the file's name or behind it.

use super::{Sampler, Wrap};

/// A material of a library.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub name: String,
    /// `Kd`, fractions of sRGB,
    pub color: Option<[f32; 3]>,
    /// or linear ones, as Blender writes them.
    pub is_linear: bool,
    /// `Ke`, linear.
    pub emissive: Option<[f32; 3]>,
    /// `Pr`; of Blender's libraries also what `Ns` says.
    pub roughness: Option<f32>,
    /// `Pm`; of Blender's libraries also what `Ka` says.
    pub metallic: Option<f32>,
    /// `d`, or what `Tr` leaves of 1.
    pub opacity: Option<f32>,
    /// Other statements as they are written, each once, with the numbers of the last one; the first where there are fewer, and
    /// NaN where there are none.
    others: Vec<(String, [f32; 3])>,
    /// Every map by its statement in lower case (`map_kd`, `bump`), in the file's order.
    pub maps: Vec<(String, Map)>,
}

/// A texture of a material.
#[derive(Debug, PartialEq)]
pub(super) struct Map {
    /// Its file, with its blanks.
    pub file: String,
    /// `-s`: texture coordinates are multiplied by it,
    pub scale: [f32; 2],
    /// `-o`: and moved by it.
    pub offset: [f32; 2],
    /// `-bm`: slopes are multiplied by it.
    pub slopes: f32,
    /// `-clamp`: the texture's borders go on beyond them.
    pub is_clamped: bool,
    /// Other options that change what is seen, with their values.
    pub unread: Vec<String>,
}

impl Entry {
    /// The map of a statement in lower case; the last one counts.
    pub fn map(&self, statement: &str) -> Option<&Map> {
        self.maps.iter().rev().find(|(word, _)| word == statement).map(|(_, map)| map)
    }

    /// The numbers of another statement in lower case.
    fn other(&self, statement: &str) -> Option<[f32; 3]> {
        let found = self.others.iter().find(|(word, _)| word.eq_ignore_ascii_case(statement));
        found.map(|(_, numbers)| *numbers)
    }

    fn add_other(&mut self, word: &str, mut numbers: impl Iterator<Item = f32>) {
        let first = numbers.next().unwrap_or(f32::NAN);
        let numbers = [first, numbers.next().unwrap_or(first), numbers.next().unwrap_or(first)];
        let word: String = word.chars().take(LONGEST_WORD).collect();
        let is_read = ["ni", "pc", "pcr"].iter().any(|read| word.eq_ignore_ascii_case(read));
        let known = self.others.iter().position(|(known, _)| known.eq_ignore_ascii_case(&word));
        match known {
            Some(known) => self.others[known].1 = numbers,
            None if is_read || self.others.len() < MOST_OTHERS => self.others.push((word, numbers)),
            None => {}
        }
    }

    /// `Ni`: the index of refraction.
    pub fn refraction(&self) -> Option<f32> {
        self.other("ni").map(|[ior, ..]| ior)
    }

    /// `Pc` and `Pcr`: a clear coat and its roughness.
    pub fn coat(&self) -> Option<[f32; 2]> {
        let [roughness, ..] = self.other("pcr").unwrap_or_default();
        self.other("pc").map(|[factor, ..]| [factor, roughness])
    }

    /// Statements that say something which no material carries, as they are written.
    pub fn unread(&self) -> Vec<String> {
        let is = |statement: &str, value: f32| {
            self.other(statement).is_none_or(|numbers| numbers.iter().all(|x| *x == value))
        };
        // Blender writes half of it where nobody chose.
        let shines = !(is("ks", 0.0) || self.is_linear && is("ks", 0.5));
        let is_number = |statement: &str| self.other(statement).is_some_and(|[first, ..]| !first.is_nan());
        let is_left_out = |word: &str| match word {
            "kd" => self.color.is_none(),
            "ke" => self.emissive.is_none(),
            "ni" | "pc" => !is_number(word),
            "pcr" => false,
            "ks" => shines,
            // How sharp highlights are, which a roughness says, too.
            "ns" => shines && self.roughness.is_none(),
            "anisor" => !is("aniso", 0.0) && !is(word, 0.0),
            // All light or none of it is what programs write where nobody chose.
            "tf" => !is(word, 0.0) && !is(word, 1.0),
            _ => !is(word, 0.0),
        };
        let words = self.others.iter().map(|(word, _)| word);
        words.filter(|word| is_left_out(&word.to_ascii_lowercase())).cloned().collect()
    }
}

/// Most kinds of other statements of a material.
const MOST_OTHERS: usize = 64;
/// Most characters of the word of one.
const LONGEST_WORD: usize = 40;

/// The materials of a library.
pub(super) fn parse(library: &[u8]) -> Vec<Entry> {
    let text = String::from_utf8_lossy(library);
    let mut all: Vec<Entry> = Vec::new();
    // The first line of its exporter. Such a library has the metal in `Ka` where `illum` says that there is one.
    let is_blenders = text.trim_start_matches('\u{feff}').starts_with("# Blender");
    let mut ambient = 0.0;
    for line in text.split(['\n', '\r']) {
        let line = line.trim();
        let (written, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.split(" #").next().unwrap_or_default().trim();
        let word = written.to_ascii_lowercase();
        if word == "newmtl" {
            ambient = 0.0;
            if !rest.is_empty() {
                all.push(Entry { name: rest.to_owned(), is_linear: is_blenders, ..Entry::default() });
            }
            continue;
        }
        let Some(entry) = all.last_mut() else { continue };
        let mut numbers = rest.split_whitespace().map_while(|word| word.parse::<f32>().ok());
        match word.as_str() {
            "kd" | "ke" => {
                if let (Some(r), Some(g), Some(b)) = (numbers.next(), numbers.next(), numbers.next()) {
                    let color = if word == "kd" { &mut entry.color } else { &mut entry.emissive };
                    *color = Some([r, g, b]);
                } else {
                    entry.add_other(written, std::iter::empty());
                }
            }
            "pr" => entry.roughness = numbers.next().or(entry.roughness),
            "pm" => entry.metallic = numbers.next().or(entry.metallic),
            "ns" if is_blenders => {
                let rough = numbers.next().map(|shine| 1.0 - (shine.max(0.0) / 1000.0).min(1.0).sqrt());
                entry.roughness = entry.roughness.or(rough);
            }
            "ka" if is_blenders => ambient = numbers.next().unwrap_or(0.0),
            "illum" if is_blenders => {
                let is_metal = numbers.next().is_some_and(|model| model == 3.0 || model == 6.0);
                entry.metallic = entry.metallic.or(Some(if is_metal { ambient } else { 0.0 }));
            }
            "d" => {
                // Behind `-halo`.
                let last = rest.rsplit(char::is_whitespace).next().and_then(|word| word.parse().ok());
                entry.opacity = last.or(entry.opacity);
            }
            // A material that nobody sees is none: some programs write Tr 1 for what is opaque.
            "tr" => {
                let left = numbers.next().map(|x| 1.0 - x).filter(|left| *left > 0.0);
                entry.opacity = entry.opacity.or(left);
            }
            "bump" | "disp" | "decal" | "refl" | "norm" => {
                entry.maps.extend(Map::of(rest).map(|map| (word, map)))
            }
            _ if word.starts_with("map_") => entry.maps.extend(Map::of(rest).map(|map| (word, map))),
            // Light of the surroundings, and which terms of an older model of light count.
            "" | "ka" | "illum" => {}
            _ if word.starts_with('#') => {}
            _ => entry.add_other(written, numbers),
        }
    }
    all
}

/// Most values of an option of maps, and whether they are numbers.
fn values_of(option: &str) -> Option<(usize, bool)> {
    Some(match option {
        "-o" | "-s" | "-t" => (3, true),
        "-mm" => (2, true),
        "-boost" | "-bm" | "-texres" => (1, true),
        "-blendu" | "-blendv" | "-cc" | "-clamp" | "-imfchan" | "-type" => (1, false),
        _ => return None,
    })
}

impl Map {
    /// How its texture is sampled.
    pub fn sampler(&self) -> Sampler {
        let wrap = if self.is_clamped { Wrap::Clamp } else { Wrap::Repeat };
        Sampler { wrap: [wrap; 2], ..Sampler::default() }
    }

    /// A map statement without its first word; `None` where it names no file.
    fn of(statement: &str) -> Option<Self> {
        let (file, unread) = Default::default();
        let mut map =
            Self { file, scale: [1.0; 2], offset: [0.0; 2], slopes: 1.0, is_clamped: false, unread };
        let first_word = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
        let mut left = statement.trim();
        while !left.is_empty() {
            let word = first_word(left);
            let Some((most, are_numbers)) = values_of(&word) else {
                let mut dashes = left.match_indices(" -").map(|(at, _)| at);
                let end = dashes.find(|at| values_of(&first_word(&left[at + 1..])).is_some());
                let (name, behind) = left.split_at(end.unwrap_or(left.len()));
                if map.file.is_empty() {
                    name.trim().trim_matches('"').clone_into(&mut map.file);
                }
                left = behind.trim_start();
                continue;
            };
            left = left[word.len()..].trim_start();
            let mut values = Vec::new();
            while values.len() < most {
                let value = first_word(left);
                if value.is_empty() || (are_numbers && value.parse::<f32>().is_err()) {
                    break;
                }
                left = left[value.len()..].trim_start();
                values.push(value);
            }
            map.set(&word, &values);
        }
        Some(map).filter(|map| !map.file.is_empty())
    }

    fn set(&mut self, option: &str, values: &[String]) {
        let of_uv = |target: &mut [f32; 2]| {
            for (target, value) in target.iter_mut().zip(values) {
                *target = value.parse().unwrap_or(*target);
            }
        };
        let first = values.first().map_or("", String::as_str);
        match (option, first) {
            ("-s", _) => of_uv(&mut self.scale),
            ("-o", _) => of_uv(&mut self.offset),
            ("-bm", factor) => self.slopes = factor.parse().unwrap_or(self.slopes),
            ("-clamp", "on" | "off") => self.is_clamped = first == "on",
            // As without them.
            ("-cc", "off") | ("-blendu" | "-blendv", "on") => {}
            _ => self.unread.push(format!("{option} {}", values.join(" "))),
        }
    }
}

/// The names in the rest of a `mtllib` line: a name may have blanks, and ends with `.mtl`.
pub(super) fn library_names(rest: &str) -> Vec<String> {
    let (mut names, mut name) = (Vec::new(), String::new());
    for word in rest.split_whitespace() {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
        if word.trim_end_matches('"').to_ascii_lowercase().ends_with(".mtl") {
            names.push(std::mem::take(&mut name));
        }
    }
    names.extend(Some(name).filter(|name| !name.is_empty()));
    names.iter().map(|name| name.trim_matches('"').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_read_costs_a_library_that_line_alone() {
        let library =
            b"newmtl a\nKd 0.5\nKd\nKd x 0 0\nKd spectral s.rfl\nillum\nNs\nmap_Kd\nd\nd x\n# \xff\nKd 1 0.5 0 1\r\n\
            newmtl\nnewmtl b c\r  map_Kd -s 1 1 1 a b.png\rTr 0.25\r";
        let materials = parse(library);
        let [a, b] = &materials[..] else { panic!("{materials:?}") };
        assert_eq!((a.name.as_str(), a.color, a.opacity), ("a", Some([1.0, 0.5, 0.0]), None));
        assert_eq!((b.name.as_str(), b.color, b.opacity), ("b c", None, Some(0.75)));
        assert_eq!(b.map("map_kd").unwrap().file, "a b.png");
        assert!(a.maps.is_empty());
    }

    #[test]
    fn statements_that_say_something_else_are_named_once_as_they_are_written() {
        let unread = |lines: &str| parse(format!("newmtl a\n{lines}").as_bytes())[0].unread();
        let named =
            unread("Ks 0.5 0.5 0.5\nNs 30\nTf 0.5 1 1\nPs 0.25\naniso 0.5\nanisor 0\nglow x\nKs 1 0 0\n");
        assert_eq!(named, ["Ks", "Ns", "Tf", "Ps", "aniso", "glow"]);
        // What programs write where nobody chose, and what is carried.
        let none = "# c\n#c\nKa 1 1 1\nKs 0 0 0\nNs 30\nillum 2\nTf 1 1 1\nPs 0\nPc 0.5\nPcr 0.03\naniso 0\nanisor 1\nNi 1\n";
        assert_eq!(unread(none), [""; 0]);
        assert_eq!(unread("Ks 1 1 1\nNs 30\nPr 0.5\n"), ["Ks"]);
        assert_eq!(unread("Kd spectral a.rfl\nKd 1 1 1\nKe xyz 1\nNi x\n"), ["Ke", "Ni"]);
        let blenders = parse(b"# Blender 4.2\nnewmtl a\nNs 250\nKs 0.5 0.5 0.5\nNi 1.45\nillum 2\n");
        assert_eq!((blenders[0].unread(), blenders[0].refraction()), (Vec::new(), Some(1.45)));
        let many: String = (0..1000).map(|k| format!("{} 1\n", format!("k{k}").repeat(60))).collect();
        let named = unread(&many);
        assert!(named.len() == MOST_OTHERS && named.iter().all(|word| word.len() == LONGEST_WORD));
    }

    #[test]
    fn options_of_maps_stand_before_or_behind_a_name_with_blanks() {
        let of = |statement: &str| Map::of(statement).unwrap();
        let plain = |file: &str| Map {
            file: file.into(),
            scale: [1.0; 2],
            offset: [0.0; 2],
            slopes: 1.0,
            is_clamped: false,
            unread: Vec::new(),
        };
        assert_eq!(of("a - b  c.png"), plain("a - b  c.png"));
        assert_eq!(of("\"my wall.png\""), plain("my wall.png"));
        assert_eq!(of("-clamp off -blendu on 4.png"), plain("4.png"));
        let tiled = Map { scale: [4.0, 2.0], offset: [0.25, 0.0], ..plain("my tile.png") };
        assert_eq!(of("-s 4 2 1 -o 0.25 my tile.png"), tiled);
        assert_eq!(of("my tile.png -s 4 2 1  -o 0.25"), tiled);
        let bent = Map { slopes: 0.5, is_clamped: true, unread: vec!["-cc on".into()], ..plain("b.png") };
        assert_eq!(of("-bm 0.5 b.png -clamp on -cc on"), bent);
        assert_eq!((bent.sampler().wrap, of("b.png").sampler()), ([Wrap::Clamp; 2], Sampler::default()));
        assert!(Map::of("-s 1 1 1").is_none() && Map::of("").is_none());
    }

    #[test]
    fn libraries_of_a_line_are_told_from_a_name_with_blanks() {
        assert_eq!(library_names("one.mtl  two.MTL"), ["one.mtl", "two.MTL"]);
        assert_eq!(library_names("my lib.mtl \"the other.mtl\""), ["my lib.mtl", "the other.mtl"]);
        assert_eq!(library_names("materials"), ["materials"]);
    }
}
