//! The text of a USD layer: prims in their order, with attributes and what stands in brackets behind names.
//!
//! In: text. Out: a flat list of prims, parents first, with numbers and words of values as they stand, without their
//! brackets; `usdc` makes the same of binary files. Variants and lists of time samples are left out, but for the first
//! sample of what has no other value.

use std::{borrow::Cow, collections::BTreeMap};

use super::unchecked::{Pace, Problem};

/// Deepest nesting of prims.
pub(super) const MOST_DEPTH: usize = 256;
/// Most prims and attributes: a few bytes of text become more than a hundred in memory.
const MOST_ENTRIES: usize = 4 << 20;

/// A value, with what stands in brackets behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribute<'a> {
    /// Numbers, brackets left out.
    pub numbers: Vec<f64>,
    /// Texts, paths and names of files, as they stand.
    pub texts: Vec<Cow<'a, str>>,
    pub notes: Notes<'a>,
    /// The name of its type, without the brackets of arrays.
    pub kind: &'a str,
    /// Whether it has several samples of time, of which the first one is read.
    pub is_animated: bool,
}

impl Attribute<'_> {
    /// The first text.
    pub fn text(&self) -> Option<&str> {
        self.texts.first().map(|text| &**text)
    }
}

/// What stands in round brackets behind the name of a layer or a prim, or behind an attribute.
#[derive(Clone, Debug)]
pub(super) enum Notes<'a> {
    /// The text in the brackets.
    Text(&'a str),
    /// What a binary file has in place of it, by name.
    Fields(Vec<(&'a str, Attribute<'a>)>),
}

impl Default for Notes<'_> {
    fn default() -> Self {
        Self::Text("")
    }
}

impl<'a> Notes<'a> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<Attribute<'a>> {
        match self {
            Self::Text(text) => text.contains(name).then(|| note(text, name))?,
            Self::Fields(all) => all.iter().find(|(of, _)| *of == name).map(|(_, value)| value.clone()),
        }
    }
}

/// A prim.
#[derive(Debug)]
pub(super) struct Prim<'a> {
    /// The prim that it is in, among those before it.
    pub parent: Option<usize>,
    /// Whether it is there, and does not only change or serve others.
    pub is_defined: bool,
    /// The name of its type; may be empty.
    pub kind: &'a str,
    pub name: &'a str,
    pub notes: Notes<'a>,
    /// By name; of connections and other lists with what follows the dot.
    pub attributes: BTreeMap<Cow<'a, str>, Attribute<'a>>,
}

impl Prim<'_> {
    /// The numbers of an attribute; none where it has no such.
    pub fn numbers(&self, name: &str) -> &[f64] {
        self.attributes.get(name).map_or(&[], |attribute| &attribute.numbers)
    }

    /// The first text of an attribute.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.attributes.get(name)?.text()
    }
}

/// A layer.
#[derive(Debug, Default)]
pub(super) struct Layer<'a> {
    pub notes: Notes<'a>,
    pub prims: Vec<Prim<'a>>,
    pub has_variants: bool,
    /// What was left out of it, as warnings.
    pub left_out: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'a> {
    End,
    Mark(u8),
    Word(&'a str),
    Text(&'a str),
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    pace: Pace,
}

/// The value of a name in a text of notes.
fn note<'a>(notes: &'a str, name: &str) -> Option<Attribute<'a>> {
    let mut scanner = Scanner { text: notes, at: 0, pace: Pace::default() };
    let mut depth = 0usize;
    loop {
        match scanner.token().ok()? {
            Token::End => return None,
            Token::Mark(b'(' | b'[' | b'{') => depth += 1,
            Token::Mark(b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
            Token::Word(word) if depth == 0 && word == name => {
                scanner.expect(b'=').ok()?;
                let mut value = Attribute::default();
                scanner.value(&mut value).ok()?;
                return Some(value);
            }
            _ => {}
        }
    }
}

/// Reads a layer.
pub(super) fn parse<'a>(text: &'a str, pace: &Pace) -> Result<Layer<'a>, Problem> {
    let mut scanner = Scanner { text, at: 0, pace: pace.clone() };
    let mut layer = Layer { notes: scanner.notes()?, ..Layer::default() };
    let mut open: Vec<usize> = Vec::new();
    let mut entries = 0;
    loop {
        let start = scanner.at;
        entries += 1;
        if entries > MOST_ENTRIES {
            let what =
                format!("more than {MOST_ENTRIES} prims and attributes; split it, or export glTF 2.0 (.glb)");
            return Err(Problem::at_text(start, what));
        }
        let wrong = || Problem::at_text(start, "no prim and no attribute stands there; export it again");
        match scanner.token()? {
            Token::End if open.is_empty() => return Ok(layer),
            Token::Mark(b'}') if !open.is_empty() => {
                open.pop();
            }
            Token::Word(word @ ("def" | "over" | "class")) => {
                let (kind, name) = match scanner.token()? {
                    Token::Word(kind) => (kind, scanner.quoted()?),
                    Token::Text(name) => ("", name),
                    _ => return Err(wrong()),
                };
                let notes = scanner.notes()?;
                scanner.expect(b'{')?;
                if open.len() >= MOST_DEPTH {
                    let what =
                        format!("prims lie deeper than {MOST_DEPTH} in each other; flatten the hierarchy");
                    return Err(Problem::at_text(start, what));
                }
                let parent = open.last().copied();
                open.push(layer.prims.len());
                let (is_defined, attributes) = (word == "def", BTreeMap::new());
                layer.prims.push(Prim { parent, is_defined, kind, name, notes, attributes });
            }
            Token::Word("variantSet") => {
                layer.has_variants = true;
                scanner.quoted()?;
                scanner.expect(b'=')?;
                scanner.expect(b'{')?;
                scanner.skip(1)?;
            }
            Token::Word(word) => match open.last().and_then(|prim| layer.prims.get_mut(*prim)) {
                Some(prim) => scanner.attribute(word, prim)?,
                // A list of the layer's own, such as an order of prims.
                None if word == "reorder" => scanner.ignore()?,
                None => return Err(wrong()),
            },
            _ => return Err(wrong()),
        }
    }
}

impl<'a> Scanner<'a> {
    fn cut_short(&self) -> Problem {
        Problem::at_text(self.text.len(), "ends too early; export it again")
    }

    fn token(&mut self) -> Result<Token<'a>, Problem> {
        self.pace.go_on()?;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                None => return Ok(Token::End),
                Some(b'#') => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
                }
                Some(b',' | b';') => self.at += 1,
                Some(b) if b.is_ascii_whitespace() => self.at += 1,
                Some(_) => break,
            }
        }
        let start = self.at;
        let rest = &self.text[start..];
        let closing = match bytes[start] {
            b'"' if rest.starts_with("\"\"\"") => "\"\"\"",
            b'"' => "\"",
            b'\'' if rest.starts_with("'''") => "'''",
            b'\'' => "'",
            b'@' if rest.starts_with("@@@") => "@@@",
            b'@' => "@",
            b'<' => ">",
            b if is_of_word(b) => {
                self.at += rest.bytes().position(|b| !is_of_word(b)).unwrap_or(rest.len());
                return Ok(Token::Word(&self.text[start..self.at]));
            }
            mark => {
                self.at += 1;
                return Ok(Token::Mark(mark));
            }
        };
        let begin = start + closing.len();
        let mut from = begin;
        loop {
            let end = self.text[from..].find(closing).map(|at| from + at).ok_or_else(|| self.cut_short())?;
            // A quotation mark behind an odd number of backslashes is part of the text.
            let slashes = self.text[begin..end].bytes().rev().take_while(|b| *b == b'\\').count();
            if slashes % 2 == 1 && closing.starts_with(['"', '\'']) {
                from = end + 1;
                continue;
            }
            self.at = end + closing.len();
            return Ok(Token::Text(&self.text[begin..end]));
        }
    }

    fn expect(&mut self, mark: u8) -> Result<(), Problem> {
        let start = self.at;
        match self.token()? {
            Token::Mark(found) if found == mark => Ok(()),
            Token::End => Err(self.cut_short()),
            _ => Err(Problem::at_text(start, format!("{:?} is missing; export it again", char::from(mark)))),
        }
    }

    fn quoted(&mut self) -> Result<&'a str, Problem> {
        let start = self.at;
        match self.token()? {
            Token::Text(text) => Ok(text),
            _ => Err(Problem::at_text(start, "a name is missing; export it again")),
        }
    }

    /// Whether the next token is that mark, which is then passed.
    fn passes(&mut self, mark: u8) -> Result<bool, Problem> {
        let start = self.at;
        let is_next = self.token()? == Token::Mark(mark);
        if !is_next {
            self.at = start;
        }
        Ok(is_next)
    }

    /// What stands in round brackets, if any do.
    fn notes(&mut self) -> Result<Notes<'a>, Problem> {
        if !self.passes(b'(')? {
            return Ok(Notes::default());
        }
        let start = self.at;
        self.skip(1)?;
        Ok(Notes::Text(&self.text[start..self.at - 1]))
    }

    /// Passes all up to the end of `depth` open brackets.
    fn skip(&mut self, mut depth: usize) -> Result<(), Problem> {
        while depth > 0 {
            match self.token()? {
                Token::End => return Err(self.cut_short()),
                Token::Mark(b'(' | b'[' | b'{') => depth += 1,
                Token::Mark(b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// Passes a name and its value.
    fn ignore(&mut self) -> Result<(), Problem> {
        self.token()?;
        if self.passes(b'=')? { self.value(&mut Attribute::default()) } else { Ok(()) }
    }

    /// An attribute whose first word is `word`.
    fn attribute(&mut self, mut word: &'a str, prim: &mut Prim<'a>) -> Result<(), Problem> {
        let mut is_taken = true;
        while matches!(
            word,
            "custom" | "uniform" | "varying" | "config" | "prepend" | "append" | "add" | "delete" | "reorder"
        ) {
            is_taken &= !matches!(word, "delete" | "reorder");
            word = self.word()?;
        }
        // An order of children or of properties has no type.
        if matches!(word, "nameChildren" | "properties") && self.passes(b'=')? {
            return self.value(&mut Attribute::default());
        }
        let mut attribute = Attribute { kind: word, ..Attribute::default() };
        if self.passes(b'[')? {
            self.expect(b']')?;
        }
        let name = self.word()?;
        let mut key = name;
        if self.passes(b'=')? {
            match name.strip_suffix(".timeSamples") {
                None => self.value(&mut attribute)?,
                Some(sampled) => {
                    key = sampled;
                    self.expect(b'{')?;
                    if !self.passes(b'}')? {
                        while !self.word()?.ends_with(':') {}
                        self.value(&mut attribute)?;
                        attribute.is_animated = !self.passes(b'}')?;
                        self.skip(usize::from(attribute.is_animated))?;
                    }
                    if let Some(known) = prim.attributes.get_mut(sampled) {
                        known.is_animated |= attribute.is_animated;
                        is_taken = false;
                    }
                }
            }
        }
        attribute.notes = self.notes()?;
        if is_taken {
            attribute.is_animated |= prim.attributes.get(key).is_some_and(|known| known.is_animated);
            prim.attributes.insert(key.into(), attribute);
        }
        Ok(())
    }

    fn word(&mut self) -> Result<&'a str, Problem> {
        let start = self.at;
        match self.token()? {
            Token::Word(word) => Ok(word),
            Token::End => Err(self.cut_short()),
            _ => Err(Problem::at_text(start, "a name is missing; export it again")),
        }
    }

    /// A value of any type; of dictionaries nothing is kept.
    fn value(&mut self, into: &mut Attribute<'a>) -> Result<(), Problem> {
        let mut depth = 0usize;
        loop {
            let start = self.at;
            let wrong = || Problem::at_text(start, "a value is missing; export it again");
            match self.token()? {
                Token::End => return Err(self.cut_short()),
                Token::Mark(b'[' | b'(') => depth += 1,
                Token::Mark(b']' | b')') => depth = depth.checked_sub(1).ok_or_else(wrong)?,
                Token::Mark(b'{') => self.skip(1)?,
                Token::Mark(_) => return Err(wrong()),
                Token::Word("true") => into.numbers.push(1.0),
                Token::Word("false") => into.numbers.push(0.0),
                Token::Word(word) => into.numbers.extend(word.parse::<f64>().ok()),
                Token::Text(text) => into.texts.push(text.into()),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

fn is_of_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'+' | b'-' | b'!' | b'|') || b >= 0x80
}
