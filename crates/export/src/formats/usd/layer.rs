//! What the prims of a layer are written to: text, or the binary form.
//!
//! Both get the same text, but for lists of numbers, in which most of a layer is: the binary form would have to read them again.
//! So a list comes as values, behind the type and the name of its attribute.

use std::io::{self, BufWriter, Write};

use glam::Vec3;

/// A layer in progress. Statements are whole wherever a list or samples begin, and at the end.
pub(super) trait Layer: Write {
    /// An attribute of a mesh with a list; `head` is its type and its name. What is written next may be its metadata, in brackets.
    fn list<T: Item>(&mut self, head: &str, values: impl Iterator<Item = T>) -> io::Result<()>;

    /// An attribute with a list for each of many frames, as text; `head` is its type and its name. A frame is written before the next
    /// one is asked for.
    fn samples(&mut self, head: &str, all: impl Iterator<Item = (f64, String)>) -> io::Result<()>;
}

/// A value of a list.
pub(super) trait Item {
    /// Writes its text.
    fn text(self, out: &mut impl Write) -> io::Result<()>;
    /// Adds its bytes, low ones first.
    fn bytes(self, out: &mut Vec<u8>);
}

impl Item for u32 {
    fn text(self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{self}")
    }

    fn bytes(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

impl Item for f32 {
    fn text(self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{self}")
    }

    fn bytes(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

impl Item for [f32; 2] {
    fn text(self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "({}, {})", self[0], self[1])
    }

    fn bytes(self, out: &mut Vec<u8>) {
        self.into_iter().for_each(|value| value.bytes(out));
    }
}

impl Item for Vec3 {
    fn text(self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "({}, {}, {})", self.x, self.y, self.z)
    }

    fn bytes(self, out: &mut Vec<u8>) {
        self.to_array().into_iter().for_each(|value| value.bytes(out));
    }
}

/// Text, with a few hundred values per line, which programs and people can read.
impl<W: Write> Layer for BufWriter<W> {
    fn list<T: Item>(&mut self, head: &str, values: impl Iterator<Item = T>) -> io::Result<()> {
        write!(self, "            {head} = [")?;
        for (i, value) in values.enumerate() {
            if i > 0 {
                self.write_all(if i % 256 == 0 { b",\n                " } else { b", " })?;
            }
            value.text(self)?;
        }
        self.write_all(b"]")
    }
    fn samples(&mut self, head: &str, all: impl Iterator<Item = (f64, String)>) -> io::Result<()> {
        writeln!(self, "        {head}.timeSamples = {{")?;
        for (frame, list) in all {
            writeln!(self, "            {frame}: {list},")?;
        }
        writeln!(self, "        }}")
    }
}
