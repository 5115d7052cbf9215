//! The typed table of a sweep: `table.arrow`, an uncompressed Arrow IPC file (Feather, version 2).
//!
//! In: columns of cells as in the CSV. Out: the bytes of a file that pandas, Polars, DuckDB and R can read. A column
//! has whole numbers, numbers, booleans or lists of numbers if all its non-empty cells do, otherwise strings; an empty
//! cell is a missing value. The crate polars-arrow-format (generated from Arrow's schema files) lays out the messages;
//! their arrangement in the file follows "IPC File Format" of Arrow's columnar format.

use polars_arrow_format::ipc::{
    Block, Bool, Buffer, Endianness, Field, FieldNode, FloatingPoint, Footer, Int, LargeUtf8, List, Message,
    MessageHeader, MetadataVersion, Precision, RecordBatch, Schema, Type, planus::Builder,
};

/// Marks both ends of a file.
const MAGIC: &[u8; 6] = b"ARROW1";
/// Alignment of all parts, bytes.
const ALIGNED: usize = 8;
/// Precedes every message.
const CONTINUES: [u8; 4] = [0xff; 4];

/// Cells of a column; `None` is a missing value.
enum Column {
    Whole(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Truth(Vec<Option<bool>>),
    Lists(Vec<Option<Vec<f64>>>),
    Words(Vec<Option<String>>),
}

impl Column {
    /// Infers the type from cells as in the CSV; `words` forces strings.
    fn of(cells: &[&str], words: bool) -> Self {
        fn all<T>(cells: &[&str], read: impl Fn(&str) -> Option<T>) -> Option<Vec<Option<T>>> {
            let mut any = false;
            let mut column = Vec::with_capacity(cells.len());
            for cell in cells {
                column.push(match *cell {
                    "" => None,
                    cell => Some(read(cell)?),
                });
                any |= !cell.is_empty();
            }
            any.then_some(column)
        }
        let number = |cell: &str| cell.parse::<f64>().ok();
        let list = |cell: &str| serde_json::from_str::<Vec<f64>>(cell).ok();
        let typed = || {
            all(cells, |cell| cell.parse().ok())
                .map(Self::Whole)
                .or_else(|| all(cells, number).map(Self::Numbers))
                .or_else(|| all(cells, |cell| cell.parse().ok()).map(Self::Truth))
                .or_else(|| all(cells, list).map(Self::Lists))
        };
        let plain = || cells.iter().map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned())).collect();
        if words { None } else { typed() }.unwrap_or_else(|| Self::Words(plain()))
    }

    fn field(&self, name: &str) -> Field {
        let named = |name: &str, type_, children| Field {
            name: Some(name.to_owned()),
            nullable: true,
            type_: Some(type_),
            dictionary: None,
            children,
            custom_metadata: None,
        };
        let double = || Type::FloatingPoint(Box::new(FloatingPoint { precision: Precision::Double }));
        let (type_, children) = match self {
            Self::Whole(_) => (Type::Int(Box::new(Int { bit_width: 64, is_signed: true })), vec![]),
            Self::Numbers(_) => (double(), vec![]),
            Self::Truth(_) => (Type::Bool(Box::new(Bool {})), vec![]),
            Self::Lists(_) => (Type::List(Box::new(List {})), vec![named("item", double(), Some(vec![]))]),
            Self::Words(_) => (Type::LargeUtf8(Box::new(LargeUtf8 {})), vec![]),
        };
        named(name, type_, Some(children))
    }

    fn write(&self, body: &mut Body) {
        match self {
            Self::Whole(cells) => {
                body.node(cells);
                body.buffer(cells.iter().flat_map(|cell| cell.unwrap_or(0).to_le_bytes()));
            }
            Self::Numbers(cells) => {
                body.node(cells);
                body.buffer(cells.iter().flat_map(|cell| cell.unwrap_or(0.0).to_le_bytes()));
            }
            Self::Truth(cells) => {
                body.node(cells);
                body.buffer(bits(cells.iter().map(|cell| *cell == Some(true))));
            }
            Self::Lists(cells) => {
                body.node(cells);
                let empty = Vec::new();
                let lists = || cells.iter().map(|cell| cell.as_ref().unwrap_or(&empty));
                let ends = lists().scan(0i32, |end, list| {
                    *end += list.len() as i32;
                    Some(*end)
                });
                body.buffer(std::iter::once(0).chain(ends).flat_map(i32::to_le_bytes));
                let items: Vec<Option<f64>> = lists().flatten().copied().map(Some).collect();
                Self::Numbers(items).write(body);
            }
            Self::Words(cells) => {
                body.node(cells);
                let words = || cells.iter().map(|cell| cell.as_deref().unwrap_or(""));
                let ends = words().scan(0i64, |end, word| {
                    *end += word.len() as i64;
                    Some(*end)
                });
                body.buffer(std::iter::once(0).chain(ends).flat_map(i64::to_le_bytes));
                body.buffer(words().flat_map(str::bytes));
            }
        }
    }
}

/// Packs bits into bytes, the lowest first.
fn bits(all: impl Iterator<Item = bool>) -> Vec<u8> {
    let all: Vec<bool> = all.collect();
    all.chunks(8).map(|some| some.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
}

/// Body of a message: the columns' buffers one after the other.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    nodes: Vec<FieldNode>,
    buffers: Vec<Buffer>,
}

impl Body {
    /// Starts a column with its length and its validity bitmap.
    fn node<T>(&mut self, cells: &[Option<T>]) {
        let missing = cells.iter().filter(|cell| cell.is_none()).count();
        self.nodes.push(FieldNode { length: cells.len() as i64, null_count: missing as i64 });
        let there = if missing == 0 { Vec::new() } else { bits(cells.iter().map(Option::is_some)) };
        self.buffer(there);
    }

    fn buffer(&mut self, bytes: impl IntoIterator<Item = u8>) {
        let offset = self.bytes.len();
        self.bytes.extend(bytes);
        self.buffers.push(Buffer { offset: offset as i64, length: (self.bytes.len() - offset) as i64 });
        pad(&mut self.bytes);
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
}

/// Appends a message and its body; returns its position.
fn message(file: &mut Vec<u8>, header: MessageHeader, body: &[u8]) -> Block {
    let body_length = body.len() as i64;
    let message =
        Message { version: MetadataVersion::V5, header: Some(header), body_length, custom_metadata: None };
    let mut metadata = Builder::new().finish(message, None).to_vec();
    pad(&mut metadata);
    let offset = file.len();
    file.extend(CONTINUES);
    file.extend((metadata.len() as i32).to_le_bytes());
    file.extend(&metadata);
    let meta_data_length = (file.len() - offset) as i32;
    file.extend(body);
    Block { offset: offset as i64, meta_data_length, body_length }
}

/// Encodes a table of named columns and rows of cells. Columns for which `is_words` holds are strings.
pub fn encode(columns: &[&str], rows: &[Vec<&str>], is_words: impl Fn(&str) -> bool) -> Vec<u8> {
    let of = |(i, name): (usize, &&str)| {
        let cells: Vec<&str> = rows.iter().map(|row| row.get(i).copied().unwrap_or("")).collect();
        Column::of(&cells, is_words(name))
    };
    let typed: Vec<Column> = columns.iter().enumerate().map(of).collect();
    let schema = Schema {
        endianness: Endianness::Little,
        fields: Some(columns.iter().zip(&typed).map(|(name, column)| column.field(name)).collect()),
        custom_metadata: None,
        features: None,
    };
    let mut body = Body::default();
    typed.iter().for_each(|column| column.write(&mut body));
    let batch = RecordBatch {
        length: rows.len() as i64,
        nodes: Some(body.nodes),
        buffers: Some(body.buffers),
        compression: None,
        variadic_buffer_counts: None,
    };

    let mut file = MAGIC.to_vec();
    pad(&mut file);
    message(&mut file, MessageHeader::Schema(Box::new(schema.clone())), &[]);
    let block = message(&mut file, MessageHeader::RecordBatch(Box::new(batch)), &body.bytes);
    file.extend(CONTINUES);
    file.extend([0; 4]);
    let footer = Footer {
        version: MetadataVersion::V5,
        schema: Some(Box::new(schema)),
        dictionaries: Some(Vec::new()),
        record_batches: Some(vec![block]),
        custom_metadata: None,
    };
    let mut builder = Builder::new();
    let footer = builder.finish(footer, None);
    file.extend(footer);
    file.extend((footer.len() as i32).to_le_bytes());
    file.extend(MAGIC);
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use polars_arrow_format::ipc::{FooterRef, MessageRef, planus::ReadAsRoot};

    fn file() -> Vec<u8> {
        let columns = ["job", "mass", "all_hold", "radii", "sha", "none"];
        let rows = [
            vec!["0", "1.5", "true", "[0.1,0.5]", "123", ""],
            vec!["1", "2", "", "", "é", ""],
            vec!["2", "", "false", "[]", "", ""],
        ];
        encode(&columns, &rows, |name| name == "sha")
    }

    /// Metadata and body of the record batch that the footer refers to.
    fn batch(file: &[u8]) -> (MessageRef<'_>, &[u8]) {
        let end = file.len() - MAGIC.len();
        let length = i32::from_le_bytes(file[end - 4..end].try_into().unwrap()) as usize;
        let footer = FooterRef::read_as_root(&file[end - 4 - length..end - 4]).unwrap();
        let blocks = footer.record_batches().unwrap().unwrap();
        let block = blocks.iter().next().unwrap();
        let offset = block.offset() as usize;
        let body = offset + block.meta_data_length() as usize;
        assert!(offset.is_multiple_of(ALIGNED) && body.is_multiple_of(ALIGNED));
        let message = MessageRef::read_as_root(&file[offset + 8..body]).unwrap();
        (message, &file[body..body + block.body_length() as usize])
    }

    /// Types, missing values and cells, as Arrow's specification describes them: pyarrow and Polars read this file
    /// (docs/lab/sweep.md).
    #[test]
    fn a_column_has_the_type_of_all_its_cells_and_what_is_empty_is_missing() {
        let file = file();
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
        let schema = MessageRef::read_as_root(&file[16..]).unwrap().header().unwrap().unwrap();
        let polars_arrow_format::ipc::MessageHeaderRef::Schema(schema) = schema else { panic!("no schema") };
        let fields = schema.fields().unwrap().unwrap();
        let types: Vec<String> = fields
            .iter()
            .map(|field| {
                let field = field.unwrap();
                let kind = format!("{:?}", field.type_().unwrap().unwrap());
                format!("{} {}", field.name().unwrap().unwrap(), kind.split([' ', '(']).next().unwrap())
            })
            .collect();
        let wanted = [
            "job Int",
            "mass FloatingPoint",
            "all_hold Bool",
            "radii List",
            "sha LargeUtf8",
            "none LargeUtf8",
        ];
        assert_eq!(types, wanted);

        let (message, body) = batch(&file);
        let Some(polars_arrow_format::ipc::MessageHeaderRef::RecordBatch(batch)) = message.header().unwrap()
        else {
            panic!("no batch")
        };
        assert_eq!(batch.length().unwrap(), 3);
        let nodes = batch.nodes().unwrap().unwrap();
        let counts: Vec<_> = nodes.iter().map(|node| (node.length(), node.null_count())).collect();
        assert_eq!(counts, [(3, 0), (3, 1), (3, 1), (3, 1), (2, 0), (3, 1), (3, 3)]);
        let buffers: Vec<&[u8]> = batch
            .buffers()
            .unwrap()
            .unwrap()
            .iter()
            .map(|buffer| &body[buffer.offset() as usize..][..buffer.length() as usize])
            .collect();
        let doubles = |bytes: &[u8]| -> Vec<f64> {
            bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
        };
        // Job: no bits, three numbers; mass: 011, numbers; truth: 101 and 001; lists: 101, ends, items; words.
        assert_eq!((buffers[0].len(), buffers[1].len()), (0, 24));
        assert_eq!((buffers[2], doubles(buffers[3])), (&[0b011][..], vec![1.5, 2.0, 0.0]));
        assert_eq!((buffers[4], buffers[5]), (&[0b101][..], &[0b001][..]));
        assert_eq!(
            (buffers[6], buffers[7]),
            (&[0b101][..], [0i32, 2, 2, 2].map(i32::to_le_bytes).as_flattened())
        );
        assert_eq!(doubles(buffers[9]), [0.1, 0.5]);
        assert_eq!((buffers[10], buffers[12]), (&[0b011][..], "123é".as_bytes()));
        assert_eq!(buffers[11], [0i64, 3, 5, 5].map(i64::to_le_bytes).as_flattened());
    }

    #[test]
    fn tables_without_rows_and_columns_are_files_too() {
        for columns in [&["a", "b"][..], &[]] {
            let file = encode(columns, &[], |_| false);
            let (message, body) = batch(&file);
            // Of words there is where the first would begin.
            assert!(message.header().unwrap().is_some() && body.len() == 8 * columns.len());
        }
    }
}
