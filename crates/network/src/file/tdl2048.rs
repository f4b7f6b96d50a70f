//! `.w` files of TDL2048+: tables of 16^n weights, with or without the E and A of TC.
//!
//! All numbers are little-endian. A file is u8 0, u32 number of tables, and for each table u8 4, u32
//! signature (the cells of the tuple as hex digits), u16 number of digits, u16 0; then blocks of u16 bytes
//! per number, u64 length and the numbers: V, then E and A together as one block, if they are there;
//! then u16 0. The first cell of a tuple is the least significant digit of an index, as in our files. Every
//! tuple is sampled over the eight symmetries.

use std::{
    collections::BTreeMap,
    io::Write,
    ops::Range,
    path::{Path, PathBuf},
};

use super::{
    Content, FileError, FileProblem, Floats,
    atomic::write_atomically,
    bytes::{Cursor, expect},
    fill::fill_table,
    safetensors::Tensor,
};
use crate::{Network, NetworkSpec, Tuple, Tuples};

const FILE_CODE: u8 = 0;
const TABLE_CODE: u8 = 4;
/// The bytes of a number.
const F32: u16 = 4;
const TILE_VALUES: usize = 16;

/// A `.w` file, completely checked. The format has no checksum; all that can be checked is that its sizes add up and its
/// numbers are finite.
pub struct WeightFile {
    path: PathBuf,
    content: Content,
    spec: NetworkSpec,
    tables: Vec<Table>,
}

/// The position of a tuple's tables in the file.
struct Table {
    values: Range<usize>,
    coherence: Option<[Range<usize>; 2]>,
}

impl WeightFile {
    /// Opens a file and checks it completely.
    ///
    /// # Errors
    /// If the file cannot be read, is not a `.w` file, or is damaged.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let open = || -> Result<WeightFile, FileProblem> {
            let content = Content::open(path).map_err(FileProblem::Read)?;
            let (tuples, tables) = parse(&content)?.into_iter().unzip();
            let spec = spec(Tuples::new(tuples)?);
            spec.check()?;
            Ok(WeightFile { path: path.into(), content, spec, tables })
        };
        open().map_err(|problem| problem.at(path))
    }

    /// The network's specification.
    pub fn spec(&self) -> &NetworkSpec {
        &self.spec
    }

    /// Whether every table also has E and A.
    pub fn has_coherence(&self) -> bool {
        self.tables.iter().all(|table| table.coherence.is_some())
    }

    /// The weights of a tuple.
    pub fn values(&self, tuple: usize) -> Floats<'_> {
        self.floats(&self.tables[tuple].values)
    }

    /// E and A of a tuple, if they are there.
    pub fn coherence(&self, tuple: usize) -> Option<[Floats<'_>; 2]> {
        self.tables[tuple].coherence.as_ref().map(|ranges| ranges.each_ref().map(|range| self.floats(range)))
    }

    /// The network.
    ///
    /// # Errors
    /// If it does not fit into memory.
    pub fn network(&self) -> Result<Network, FileError> {
        let network =
            Network::new(self.spec.clone()).map_err(|error| FileProblem::from(error).at(&self.path))?;
        for i in 0..self.tables.len() {
            fill_table(&network, i, self.values(i));
        }
        Ok(network)
    }

    /// All tables as tensors `V.i`, and `E.i` and `A.i` if every tuple has them.
    pub fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        let with_coherence = self.has_coherence();
        (0..self.tables.len()).flat_map(move |i| {
            let mut tensors = vec![Tensor::copy(format!("V.{i}"), self.values(i))];
            if let Some([e, a]) = self.coherence(i).filter(|_| with_coherence) {
                tensors.extend([Tensor::copy(format!("E.{i}"), e), Tensor::copy(format!("A.{i}"), a)]);
            }
            tensors
        })
    }

    fn floats(&self, range: &Range<usize>) -> Floats<'_> {
        Floats::new(&self.content[range.clone()])
    }
}

/// The specification of a TDL2048+ network of these tuples.
fn spec(tuples: Tuples) -> NetworkSpec {
    NetworkSpec { side: 4, tuples, tile_values: TILE_VALUES, symmetric: true, ..NetworkSpec::default() }
}

fn parse(file: &[u8]) -> Result<Vec<(Tuple, Table)>, FileProblem> {
    let mut cursor = Cursor::new(file);
    let code = cursor.u8("the code of the file")?;
    expect(code == FILE_CODE, "the code of the file", 0, code, "0")?;
    let count = cursor.u32("the number of tables")?;
    let mut tables = Vec::new();
    for _ in 0..count {
        tables.push(parse_table(&mut cursor)?);
    }
    cursor.end()?;
    Ok(tables)
}

fn parse_table(cursor: &mut Cursor<'_>) -> Result<(Tuple, Table), FileProblem> {
    let start = cursor.offset();
    let code = cursor.u8("the code of a table")?;
    expect(code == TABLE_CODE, "the code of a table", start, code, "4")?;
    let signature = cursor.u32("the cells of a tuple")?;
    let width = cursor.u16("the number of cells")?;
    let reserved = cursor.u16("the end of the signature")?;
    expect(
        reserved == 0,
        "the end of the signature",
        start + 7,
        reserved,
        "0: only tables of plain tuples are read",
    )?;
    let (what, at) = ("the length of a table", cursor.offset());
    let size = cursor.u16("the size of a number")?;
    expect(size == F32, "the size of a number", at, size, "4: only files with 32-bit numbers are read")?;
    let len = cursor.u64(what)?;
    let n = (1..=8).find(|&n| len == 1 << (4 * n));
    expect(n.is_some(), what, at + 2, len, "a power of 16, from 16 to 16^8")?;
    let n = n.unwrap_or_default();
    // Old files do not store the number of cells.
    expect(
        [0, n].contains(&width.into()),
        "the number of cells",
        start + 5,
        width,
        "the logarithm of the length",
    )?;
    let tuple: Tuple = format!("{signature:0n$x}").parse()?;
    let values = table(cursor, "V", &tuple, len)?;
    let coherence = parse_coherence(cursor, &tuple, len)?;
    Ok((tuple, Table { values, coherence }))
}

/// E and A, up to the end of the table.
fn parse_coherence(
    cursor: &mut Cursor<'_>,
    tuple: &Tuple,
    len: u64,
) -> Result<Option<[Range<usize>; 2]>, FileProblem> {
    let at = cursor.offset();
    let size = cursor.u16("the size of a number")?;
    if size == 0 {
        return Ok(None);
    }
    expect(size == F32, "the size of a number", at, size, "4, or 0 at the end of a table")?;
    let both = cursor.u64("the length of E and A")?;
    expect(both == 2 * len, "the length of E and A", at + 2, both, "twice that of V")?;
    let coherence = [table(cursor, "E", tuple, len)?, table(cursor, "A", tuple, len)?];
    let at = cursor.offset();
    let end = cursor.u16("the end of a table")?;
    expect(end == 0, "the end of a table", at, end, "0")?;
    Ok(Some(coherence))
}

fn table(
    cursor: &mut Cursor<'_>,
    kind: &'static str,
    tuple: &Tuple,
    len: u64,
) -> Result<Range<usize>, FileProblem> {
    let start = cursor.offset();
    cursor.floats(kind, len)?.check_finite(format_args!("{kind} of tuple {tuple}"), 0)?;
    Ok(start..cursor.offset())
}

/// Writes a `.w` file, atomically, from the tensors `V.i` of a network, with `E.i` and `A.i` if there are any.
///
/// # Errors
/// If TDL2048+ cannot hold the network, a tensor is missing, or the file cannot be written.
pub fn export<'a>(
    path: &Path,
    network: &NetworkSpec,
    tensors: impl IntoIterator<Item = Tensor<'a>>,
) -> Result<(), FileError> {
    write_atomically(path, |writer| {
        check_exportable(network)?;
        let named = tensors.into_iter().map(|tensor| (tensor.name().to_string(), tensor));
        let mut tensors: BTreeMap<String, Tensor<'a>> = named.collect();
        let tuples = network.tuples.as_slice();
        // Every board has eight weights of each tuple; together they add up to the initial value.
        let initial = network.initial(0) / (8 * tuples.len()) as f32;
        writer.write_all(&[FILE_CODE])?;
        writer.write_all(&(tuples.len() as u32).to_le_bytes())?;
        for (i, tuple) in tuples.iter().enumerate() {
            write_table(writer, i, tuple, network.table_len(i), initial, &mut tensors)?;
        }
        Ok::<(), FileProblem>(())
    })
}

fn check_exportable(network: &NetworkSpec) -> Result<(), FileProblem> {
    if *network == (NetworkSpec { initial: network.initial.clone(), ..spec(network.tuples.clone()) }) {
        return Ok(());
    }
    let NetworkSpec { side, tile_values, symmetric, .. } = network;
    Err(FileProblem::Unsupported(format!(
        ".w files hold networks for 4×4 boards with 16 tile values and symmetric sampling, but this one has \
         side {side}, {tile_values} tile values, symmetric = {symmetric}, values of {}, {} and {}",
        network.values,
        counted(network.stages.count(), "stage"),
        counted(network.ranges.as_ref().map_or(1, |ranges| ranges.as_slice().len()), "value range"),
    )))
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn write_table(
    writer: &mut impl Write,
    i: usize,
    tuple: &Tuple,
    len: u64,
    initial: f32,
    tensors: &mut BTreeMap<String, Tensor<'_>>,
) -> Result<(), FileProblem> {
    let mut take = |kind: char| tensors.remove(&format!("{kind}.{i}"));
    let values = take('V').ok_or_else(|| FileProblem::MissingTensor(format!("V.{i}")))?.plus(initial);
    let signature = tuple.cells().iter().fold(0, |signature, &cell| signature << 4 | u32::from(cell));
    writer.write_all(&[TABLE_CODE])?;
    writer.write_all(&signature.to_le_bytes())?;
    writer.write_all(&(tuple.len() as u16).to_le_bytes())?;
    writer.write_all(&0u16.to_le_bytes())?;
    writer.write_all(&F32.to_le_bytes())?;
    writer.write_all(&len.to_le_bytes())?;
    write_numbers(writer, values, len)?;
    if let (Some(e), Some(a)) = (take('E'), take('A')) {
        writer.write_all(&F32.to_le_bytes())?;
        writer.write_all(&(2 * len).to_le_bytes())?;
        write_numbers(writer, e, len)?;
        write_numbers(writer, a, len)?;
    }
    Ok(writer.write_all(&0u16.to_le_bytes())?)
}

fn write_numbers(writer: &mut impl Write, tensor: Tensor<'_>, expected: u64) -> Result<(), FileProblem> {
    if tensor.len() != expected {
        return Err(FileProblem::TableLength { table: tensor.name().into(), expected, found: tensor.len() });
    }
    tensor.write_to(writer)
}
