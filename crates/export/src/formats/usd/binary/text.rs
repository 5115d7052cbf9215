//! What the text of a layer says, as specs of a binary one.
//!
//! In: whole statements of the text that this exporter writes, in parts, and lists as values. Out: specs. It is no reader of USD:
//! what this exporter never writes is an error, which a test would show.

use std::{collections::HashMap, io, path::Path, str};

use super::{
    tables::{Spec, SpecKind, Tables},
    values::{Parts, Type},
};

/// A layer in progress.
pub(super) struct Specs {
    tables: Tables,
    specs: Vec<Spec>,
    /// The spec of each path.
    numbers: HashMap<u32, usize>,
    /// The prims around what comes next, from the root on, by their specs.
    open: Vec<usize>,
    /// The spec that metadata in brackets would be of.
    last: usize,
}

#[derive(Debug, PartialEq)]
enum Token<'a> {
    End,
    Mark(u8),
    Word(&'a str),
    /// With its quotation mark.
    Text(u8, String),
}

struct Scanner<'a> {
    text: &'a str,
}

fn wrong(what: impl std::fmt::Debug) -> io::Error {
    io::Error::other(format!("{what:?} cannot be written as binary USD; use --format usda"))
}

impl<'a> Scanner<'a> {
    fn token(&mut self) -> io::Result<Token<'a>> {
        let is_between = |c: char| c.is_ascii_whitespace() || c == ',';
        self.text = self.text.trim_start_matches(is_between);
        while self.text.starts_with('#') {
            self.text =
                self.text.split_once('\n').map_or("", |(_, rest)| rest).trim_start_matches(is_between);
        }
        let Some(first) = self.text.bytes().next() else { return Ok(Token::End) };
        let is_of_word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'+' | b'-');
        if is_of_word(first) {
            let end = self.text.bytes().position(|b| !is_of_word(b)).unwrap_or(self.text.len());
            let (word, rest) = self.text.split_at(end);
            self.text = rest;
            return Ok(Token::Word(word));
        }
        if !first.is_ascii() {
            return Err(wrong(self.text.lines().next()));
        }
        self.text = &self.text[1..];
        let closing = match first {
            b'"' => '"',
            b'@' => '@',
            b'<' => '>',
            mark => return Ok(Token::Mark(mark)),
        };
        let mut value = String::new();
        let mut rest = self.text.char_indices();
        while let Some((at, c)) = rest.next() {
            if c == closing {
                self.text = &self.text[at + 1..];
                return Ok(Token::Text(first, value));
            }
            let is_escaped = c == '\\' && closing == '"';
            value.extend(if is_escaped { rest.next().map(|(_, c)| c) } else { Some(c) });
        }
        Err(wrong("a text without an end"))
    }

    /// Whether that mark comes next, which is then passed.
    fn passes(&mut self, mark: u8) -> io::Result<bool> {
        let before = self.text;
        let is_next = self.token()? == Token::Mark(mark);
        if !is_next {
            self.text = before;
        }
        Ok(is_next)
    }

    fn expect(&mut self, mark: u8) -> io::Result<()> {
        if self.passes(mark)? { Ok(()) } else { Err(wrong(self.text.lines().next())) }
    }

    fn word(&mut self) -> io::Result<&'a str> {
        match self.token()? {
            Token::Word(word) => Ok(word),
            other => Err(wrong(other)),
        }
    }

    /// Whether the brackets of a type of lists come next, which are then passed.
    fn brackets(&mut self) -> io::Result<bool> {
        let is_list = self.passes(b'[')?;
        if is_list {
            self.expect(b']')?;
        }
        Ok(is_list)
    }

    /// A value, without its brackets.
    fn parts(&mut self) -> io::Result<Parts> {
        let (mut parts, mut depth) = (Parts::default(), 0usize);
        loop {
            match self.token()? {
                Token::Mark(b'(' | b'[') => depth += 1,
                Token::Mark(b')' | b']') if depth > 0 => depth -= 1,
                Token::Text(_, text) => parts.texts.push(text),
                Token::Word(word) => parts.numbers.push(word.parse().map_err(|_| wrong(word))?),
                other => return Err(wrong(other)),
            }
            if depth == 0 {
                return Ok(parts);
            }
        }
    }
}

impl Specs {
    pub fn create(path: &Path) -> io::Result<Self> {
        let root = Spec { path: 0, kind: SpecKind::Root, fields: Vec::new(), children: Default::default() };
        let tables = Tables::create(path)?;
        Ok(Self { tables, specs: vec![root], numbers: HashMap::from([(0, 0)]), open: vec![0], last: 0 })
    }

    /// The spec below the open prim, which becomes the last one.
    fn spec(&mut self, name: &str, kind: SpecKind) -> io::Result<&mut Spec> {
        let token = self.tables.token(name)?;
        let above = *self.open.last().ok_or_else(|| wrong(name))?;
        let is_property = kind != SpecKind::Prim;
        let path = self.tables.step(self.specs[above].path, token, is_property)?;
        self.last = *self.numbers.entry(path).or_insert(self.specs.len());
        if self.last == self.specs.len() {
            self.specs.push(Spec { path, kind, fields: Vec::new(), children: Default::default() });
            self.specs[above].children[usize::from(is_property)].push(token);
        }
        Ok(&mut self.specs[self.last])
    }

    /// Adds a field to the last spec.
    fn field(&mut self, name: &str, word: u64) -> io::Result<()> {
        let token = self.tables.token(name)?;
        let fields = &mut self.specs[self.last].fields;
        if fields.iter().all(|(of, _)| *of != token) {
            fields.push((token, word));
        }
        Ok(())
    }

    fn named(&mut self, name: &str, value: &str) -> io::Result<()> {
        let parts = Parts { texts: vec![value.to_owned()], ..Parts::default() };
        let word = self.tables.value(Type::TOKEN, false, &parts)?;
        self.field(name, word)
    }

    /// Begins an attribute of a type as it stands in text.
    fn attribute(&mut self, of: (&str, bool), name: &str, is_uniform: bool) -> io::Result<()> {
        self.spec(name, SpecKind::Attribute)?;
        self.named("typeName", &if of.1 { format!("{}[]", of.0) } else { of.0.to_owned() })?;
        if is_uniform { self.field("variability", Tables::UNIFORM) } else { Ok(()) }
    }

    /// An attribute with a list of values.
    pub fn list(&mut self, head: &str, bytes: &[u8]) -> io::Result<()> {
        let (of, name) = head.split_once("[] ").ok_or_else(|| wrong(head))?;
        self.attribute((of, true), name, false)?;
        let word = self.tables.list(Type::named(of).ok_or_else(|| wrong(of))?, bytes)?;
        self.field("default", word)
    }

    /// An attribute with a list, as text, for each frame, in their order.
    pub fn samples(&mut self, head: &str, all: impl Iterator<Item = (f64, String)>) -> io::Result<()> {
        let (of, name) = head.split_once("[] ").ok_or_else(|| wrong(head))?;
        self.attribute((of, true), name, false)?;
        let of = Type::named(of).ok_or_else(|| wrong(of))?;
        let mut samples = Vec::new();
        for (frame, list) in all {
            samples.push((frame, self.tables.value(of, true, &Scanner { text: &list }.parts()?)?));
        }
        let word = self.tables.samples(&samples)?;
        self.field("timeSamples", word)
    }

    /// Reads whole statements.
    pub fn read(&mut self, text: &[u8]) -> io::Result<()> {
        let mut scanner = Scanner { text: str::from_utf8(text).map_err(io::Error::other)? };
        loop {
            match scanner.token()? {
                Token::End => return Ok(()),
                Token::Mark(b'(') => self.metadata(&mut scanner)?,
                Token::Mark(b'{') => {}
                Token::Mark(b'}') if self.open.len() > 1 => self.open.truncate(self.open.len() - 1),
                Token::Word("def") => {
                    let of = scanner.word()?;
                    let Token::Text(_, name) = scanner.token()? else { return Err(wrong(of)) };
                    self.spec(&name, SpecKind::Prim)?;
                    self.open.push(self.last);
                    self.field("specifier", Tables::DEFINED)?;
                    self.named("typeName", of)?;
                }
                Token::Word(word) => self.property(word, &mut scanner)?,
                other => return Err(wrong(other)),
            }
        }
    }

    fn property(&mut self, word: &str, scanner: &mut Scanner<'_>) -> io::Result<()> {
        let is_uniform = word == "uniform";
        let word = if is_uniform { scanner.word()? } else { word };
        if word == "rel" {
            let name = scanner.word()?;
            self.spec(name, SpecKind::Relationship)?;
            self.field("variability", Tables::UNIFORM)?;
            scanner.expect(b'=')?;
            let targets = self.tables.targets(&scanner.parts()?.texts)?;
            return self.field("targetPaths", targets);
        }
        let is_list = scanner.brackets()?;
        let of = Type::named(word).ok_or_else(|| wrong(word))?;
        let name = scanner.word()?;
        let (name, what) = name.split_once('.').unwrap_or((name, "default"));
        self.attribute((word, is_list), name, is_uniform)?;
        if !scanner.passes(b'=')? {
            return Ok(());
        }
        match what {
            "default" => {
                let word = self.tables.value(of, is_list, &scanner.parts()?)?;
                self.field("default", word)
            }
            "connect" => {
                let targets = self.tables.targets(&scanner.parts()?.texts)?;
                self.field("connectionPaths", targets)
            }
            "timeSamples" => {
                scanner.expect(b'{')?;
                let mut samples: Vec<(f64, u64)> = Vec::new();
                while !scanner.passes(b'}')? {
                    let time = scanner.word()?;
                    let time = time.trim_end_matches(':').parse().map_err(|_| wrong(time))?;
                    samples.push((time, self.tables.value(of, is_list, &scanner.parts()?)?));
                }
                // Of two at one time, the later one in the text counts.
                samples.reverse();
                samples.sort_by(|(a, _), (b, _)| a.total_cmp(b));
                samples.dedup_by_key(|(time, _)| *time);
                let word = self.tables.samples(&samples)?;
                self.field("timeSamples", word)
            }
            _ => Err(wrong(what)),
        }
    }

    /// Reads what stands in brackets behind the last spec.
    fn metadata(&mut self, scanner: &mut Scanner<'_>) -> io::Result<()> {
        while !scanner.passes(b')')? {
            let mut name = scanner.word()?;
            if name == "prepend" {
                name = scanner.word()?;
            }
            scanner.expect(b'=')?;
            if name == "customData" {
                let word = self.dictionary(scanner)?;
                self.field(name, word)?;
                continue;
            }
            let parts = scanner.parts()?;
            let (name, word) = match name {
                "apiSchemas" => (name, self.tables.prepended(&parts.texts)?),
                "doc" => ("documentation", self.tables.value(Type::STRING, false, &parts)?),
                "displayName" => (name, self.tables.value(Type::STRING, false, &parts)?),
                _ if parts.texts.is_empty() => (name, self.tables.value(Type::DOUBLE, false, &parts)?),
                _ => (name, self.tables.value(Type::TOKEN, false, &parts)?),
            };
            self.field(name, word)?;
        }
        Ok(())
    }

    fn dictionary(&mut self, scanner: &mut Scanner<'_>) -> io::Result<u64> {
        scanner.expect(b'{')?;
        let mut entries = Vec::new();
        while !scanner.passes(b'}')? {
            let word = scanner.word()?;
            let is_list = scanner.brackets()?;
            let name = scanner.word()?;
            scanner.expect(b'=')?;
            let of = Type::named(word).ok_or_else(|| wrong(word))?;
            entries.push((name.to_owned(), self.tables.value(of, is_list, &scanner.parts()?)?));
        }
        self.tables.dictionary(&entries)
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<()> {
        for spec in &mut self.specs {
            for (name, tokens) in ["primChildren", "properties"].into_iter().zip(&spec.children) {
                if !tokens.is_empty() {
                    spec.fields.push((self.tables.token(name)?, self.tables.tokens(tokens)?));
                }
            }
        }
        self.tables.finish(&self.specs)
    }
}
