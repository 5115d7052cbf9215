//! The prims of a binary USD file, made of its tables.
//!
//! In: tables. Out: the list of prims that `usda` makes of the text of the same layer: parents first, children in the order that
//! their parent names. Variants, and the fields that no reader asks for, are passed over.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::{
    unchecked::{CORNER_LIMIT, Pace, Problem},
    usda::{Attribute, Layer, MOST_DEPTH, Notes, Prim},
};
use super::{
    bytes::{Budget, damaged},
    tables::{Binary, NONE, Spec},
    values::Word,
};

/// Words of memory that a prim or an attribute takes, and a field with what is made of it.
const ENTRY: usize = 32;
const FIELD: usize = 16;

/// Kinds of what stands at a path.
mod kind {
    pub const ATTRIBUTE: u32 = 1;
    pub const PRIM: u32 = 6;
    pub const ROOT: u32 = 7;
    pub const RELATIONSHIP: u32 = 8;
    pub const VARIANT: u32 = 10;
}

/// The fields of a prim, an attribute or the layer that are asked for.
#[derive(Default)]
struct Fields<'a> {
    notes: Vec<(&'a str, Attribute<'a>)>,
    is_defined: bool,
    /// Name of the type.
    of: &'a str,
    /// Tokens of the prims in it.
    children: Vec<u32>,
    value: Option<Word>,
    samples: Option<Word>,
    /// What it is connected to, or has as targets.
    paths: Option<Word>,
}

/// What goes on while prims are made.
struct Making<'a> {
    binary: &'a Binary<'a>,
    budget: Budget,
    /// Names of attributes with values of an unknown kind.
    unknown: BTreeSet<&'a str>,
}

impl Binary<'_> {
    /// The prims and attributes.
    pub fn layer(&self, pace: &mut Pace) -> Result<Layer<'_>, Problem> {
        let mut making = Making { binary: self, budget: self.budget.clone(), unknown: BTreeSet::new() };
        making.budget.take(self.specs.len().saturating_mul(8))?;
        let mut layer = Layer::default();
        // Prims by the path above them and their name.
        let mut prims: HashMap<(u32, u32), &Spec> = HashMap::new();
        let mut root = None;
        for spec in &self.specs {
            pace.go_on()?;
            match spec.kind {
                kind::ROOT => root = Some(spec),
                kind::PRIM => {
                    let step = self.step(spec.path)?;
                    prims.insert((step.parent, step.token), spec);
                }
                kind::VARIANT => layer.has_variants = true,
                _ => {}
            }
        }
        let root = root.ok_or_else(|| damaged("it has no root"))?;
        let fields = making.fields(root)?;
        layer.notes = Notes::Fields(fields.notes);
        // Prims that come next, the first one last: the path above, their name, the prim above and the depth.
        let mut open: Vec<(u32, u32, Option<usize>, usize)> = Vec::new();
        open.extend(fields.children.into_iter().rev().map(|token| (root.path, token, None, 1)));
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        while let Some((above, token, parent, depth)) = open.pop() {
            pace.go_on()?;
            let Some(spec) = prims.remove(&(above, token)) else { continue };
            if depth > MOST_DEPTH {
                let what = format!("prims lie deeper than {MOST_DEPTH} in each other; flatten the hierarchy");
                return Err(Problem::whole(what));
            }
            let fields = making.fields(spec)?;
            let number = layer.prims.len();
            numbers.insert(spec.path, number);
            let below = fields.children.into_iter().rev();
            open.extend(below.map(|token| (spec.path, token, Some(number), depth + 1)));
            let (is_defined, notes, name) =
                (fields.is_defined, Notes::Fields(fields.notes), self.token(token)?);
            layer.prims.push(Prim {
                parent,
                is_defined,
                kind: fields.of,
                name,
                notes,
                attributes: BTreeMap::new(),
            });
        }
        for spec in self.specs.iter().filter(|spec| matches!(spec.kind, kind::ATTRIBUTE | kind::RELATIONSHIP))
        {
            pace.go_on()?;
            let step = self.step(spec.path)?;
            let prim = numbers.get(&step.parent).and_then(|number| layer.prims.get_mut(*number));
            if let Some(prim) = prim {
                making.attribute(spec, self.token(step.token)?, prim)?;
            }
        }
        let left_out = |name: &&str| format!("{name}: a value of a kind that is not read left out");
        layer.left_out.extend(making.unknown.iter().map(left_out));
        // Prims may share their lists, so a small file can have any number of corners.
        let corners = layer.prims.iter().map(|prim| prim.numbers("faceVertexIndices").len()).sum::<usize>();
        if corners > CORNER_LIMIT {
            let what =
                format!("its meshes have {corners} corners, and {CORNER_LIMIT} are the most; decimate it");
            return Err(Problem::whole(what));
        }
        Ok(layer)
    }
}

impl<'a> Making<'a> {
    fn fields(&mut self, spec: &Spec) -> Result<Fields<'a>, Problem> {
        let mut fields = Fields::default();
        let binary = self.binary;
        for number in binary.sets.get(spec.fields as usize..).into_iter().flatten() {
            if *number == NONE {
                return Ok(fields);
            }
            self.budget.take(FIELD)?;
            let field = binary.fields.get(*number as usize).copied();
            let (token, word) = field.ok_or_else(|| damaged("a field that it does not have is named"))?;
            let word = Word(word);
            let name = binary.token(token)?;
            match name {
                "specifier" => fields.is_defined = word.inside() == 0,
                "typeName" => fields.of = binary.token(word.inside())?,
                "primChildren" => fields.children = binary.children(word, &mut self.budget)?,
                "default" if !word.is_blocked() => fields.value = Some(word),
                "timeSamples" => fields.samples = Some(word),
                "connectionPaths" | "targetPaths" => fields.paths = Some(word),
                "metersPerUnit" | "upAxis" | "active" | "displayName" | "interpolation" => {
                    let mut value = Attribute::default();
                    self.value(name, word, &mut value)?;
                    fields.notes.push((name, value));
                }
                // That they are there is all that is asked.
                "subLayers" | "references" | "payload" | "specializes" => {
                    fields.notes.push((name, Attribute::default()));
                }
                "inheritPaths" => fields.notes.push(("inherits", Attribute::default())),
                _ => {}
            }
        }
        Err(damaged("a set of fields has no end"))
    }

    fn value(&mut self, name: &'a str, word: Word, into: &mut Attribute<'a>) -> Result<(), Problem> {
        if !self.binary.value(word, &mut self.budget, into)? {
            self.unknown.insert(name);
        }
        Ok(())
    }

    fn attribute(&mut self, spec: &Spec, name: &'a str, prim: &mut Prim<'a>) -> Result<(), Problem> {
        self.budget.take(2 * ENTRY)?;
        let fields = self.fields(spec)?;
        let is_relationship = spec.kind == kind::RELATIONSHIP;
        let kind = if is_relationship { "rel" } else { fields.of.strip_suffix("[]").unwrap_or(fields.of) };
        let mut attribute = Attribute { kind, notes: Notes::Fields(fields.notes), ..Attribute::default() };
        let (value, is_animated) = match fields.samples {
            Some(samples) => {
                let (first, is_animated) = self.binary.first_sample(samples)?;
                (fields.value.or(first), is_animated)
            }
            None => (fields.value, false),
        };
        attribute.is_animated = is_animated;
        if let Some(word) = value {
            self.value(name, word, &mut attribute)?;
        }
        if let Some(word) = fields.paths {
            if is_relationship {
                self.value(name, word, &mut attribute)?;
            } else {
                let mut linked = Attribute { kind, ..Attribute::default() };
                self.value(name, word, &mut linked)?;
                prim.attributes.insert(format!("{name}.connect").into(), linked);
                if value.is_none() {
                    return Ok(());
                }
            }
        }
        prim.attributes.insert(name.into(), attribute);
        Ok(())
    }
}
