//! Player files of Jaśkowski 2016 (`eval-function.bin`).
//!
//! Little-endian: i32 type (1 compressed, 2 plain), i32 tile values (16), i32 stage bits; for each
//! of the 2^bits stages i32 number of tuples; for each tuple i32 n, i32 m, the n cells of its m images, and
//! its table of 16^n numbers. In compressed files a block of 16 numbers that are all 0 is one −∞. The first
//! cell of a tuple is the *most* significant digit of an index.

use std::{io::Write, path::Path};

use afterstate_game::Symmetry;

use super::{
    Content, FileError, FileProblem, Floats, ModelInfo,
    atomic::write_atomically,
    bytes::{Cursor, expect},
    safetensors::TensorFile,
};
use crate::{Network, NetworkSpec, Stages, Tuple, Tuples};

const COMPRESSED: i32 = 1;
const PLAIN: i32 = 2;
const TILE_VALUES: usize = 16;
/// The size of a block.
const BLOCK: u64 = 16;

/// A tuple's table in the file.
struct Table<'a> {
    tuple: Tuple,
    symmetric: bool,
    /// The blocks of the table; `None` is a block of zeros.
    blocks: Vec<Option<Floats<'a>>>,
}

/// Reads a player file. The format has no checksum; all that can be checked is that its sizes add up, its images are those
/// of the symmetries, and its numbers are finite.
///
/// # Errors
/// If the file cannot be read, is damaged or not a player file, or holds a network that we cannot represent or that does
/// not fit into memory.
pub fn import(path: &Path) -> Result<Network, FileError> {
    let import = || -> Result<Network, FileProblem> {
        let content = Content::open(path).map_err(FileProblem::Read)?;
        let (bits, tables) = parse(&content)?;
        let network = Network::new(spec(bits, &tables)?)?;
        for (i, table) in tables.iter().enumerate() {
            network.set_table(i, table.values());
        }
        Ok(network)
    };
    import().map_err(|problem| problem.at(path))
}

/// Writes a plain player file, atomically, from the tables of a model file.
///
/// # Errors
/// If the format cannot hold the network, the model is damaged, or the file cannot be written.
pub fn export(path: &Path, file: &TensorFile) -> Result<(), FileError> {
    let network = ModelInfo::of(file)?.spec;
    let bits = network.stages.count().ilog2() as i32;
    check_exportable(&network, bits).map_err(|problem| problem.at(file.path()))?;
    let tuples = network.tuples.as_slice();
    let images = if network.symmetric { Symmetry::ALL.to_vec() } else { vec![Symmetry::ALL[0]] };
    // A board has one weight of each tuple for each image; together they add up to the initial value.
    let initial = network.initial(0) / (images.len() * tuples.len()) as f32;
    let tables: Vec<_> = (0..network.tables())
        .map(|table| file.numbers(&format!("V.{}", network.table_name(table))))
        .collect::<Result<_, _>>()?;
    write_atomically(path, |writer| -> Result<(), FileProblem> {
        let mut write = |number: i32| writer.write_all(&number.to_le_bytes());
        [PLAIN, TILE_VALUES as i32, bits].into_iter().try_for_each(&mut write)?;
        for (table, numbers) in tables.iter().enumerate() {
            let (tuple, mut write) =
                (&tuples[table % tuples.len()], |n: i32| writer.write_all(&n.to_le_bytes()));
            if table % tuples.len() == 0 {
                write(tuples.len() as i32)?;
            }
            [tuple.len() as i32, images.len() as i32].into_iter().try_for_each(&mut write)?;
            for symmetry in &images {
                tuple.image(*symmetry, 4).cells().iter().try_for_each(|&cell| write(cell.into()))?;
            }
            let (n, floats) = (tuple.len(), numbers.floats());
            for theirs in 0..BLOCK.pow(n as u32) {
                let number = floats.get(reversed(theirs, n) as usize).unwrap_or_default() + initial;
                writer.write_all(&number.to_le_bytes())?;
            }
        }
        Ok(())
    })
}

/// Rejects networks that the format cannot hold.
fn check_exportable(network: &NetworkSpec, bits: i32) -> Result<(), FileProblem> {
    let staged = network.promotion
        && network.initial.iter().all(|&value| value == 0.0)
        && network.stages.to_string() == format!("2^{bits}-carried");
    let plain = NetworkSpec {
        side: 4,
        tuples: network.tuples.clone(),
        tile_values: TILE_VALUES,
        symmetric: network.symmetric,
        stages: network.stages.clone(),
        promotion: network.promotion,
        initial: network.initial.clone(),
        ..NetworkSpec::default()
    };
    if *network == plain && (network.stages == Stages::default() || staged) {
        return Ok(());
    }
    Err(FileProblem::Unsupported(
        "player files hold networks of afterstates for 4×4 boards with 16 tile values, of one stage or of stages \
         2^g-carried with promotion and without an initial value"
            .into(),
    ))
}

/// The index with the order of the cells reversed.
fn reversed(index: u64, n: usize) -> u64 {
    (0..n).fold(0, |r, j| r << 4 | (index >> (4 * j) & 15))
}

/// The network's specification: with stages, a weight of 0 is promoted at every read.
fn spec(bits: i32, tables: &[Table<'_>]) -> Result<NetworkSpec, FileProblem> {
    let per_stage = tables.len() >> bits;
    let unsupported = |message: &str| Err(FileProblem::Unsupported(message.into()));
    let symmetric = tables.first().is_some_and(|table| table.symmetric);
    if tables.iter().any(|table| table.symmetric != symmetric) {
        return unsupported("some tuples have eight images and some one, which no network of ours can have");
    }
    if tables.iter().enumerate().any(|(i, table)| table.tuple != tables[i % per_stage].tuple) {
        return unsupported(
            "has other tuples in some stages than in others, which no network of ours can have",
        );
    }
    let stages = match bits {
        0 => Ok(Stages::default()),
        bits => format!("2^{bits}-carried").parse(),
    };
    Ok(NetworkSpec {
        side: 4,
        tuples: Tuples::new(tables[..per_stage].iter().map(|table| table.tuple.clone()).collect())?,
        tile_values: TILE_VALUES,
        symmetric,
        stages: stages.map_err(|error| FileProblem::Unsupported(error.to_string()))?,
        promotion: bits > 0,
        ..NetworkSpec::default()
    })
}

impl Table<'_> {
    /// The numbers in our order: the first cell is the least significant digit.
    fn values(&self) -> impl Iterator<Item = f32> {
        let n = self.tuple.len();
        (0..BLOCK.pow(n as u32)).map(move |index| {
            let theirs = reversed(index, n);
            let block = &self.blocks[(theirs / BLOCK) as usize];
            block.and_then(|block| block.get((theirs % BLOCK) as usize)).unwrap_or(0.0)
        })
    }
}

/// Checks a whole file and returns the number of stage bits, and the tables of all stages.
fn parse(file: &[u8]) -> Result<(i32, Vec<Table<'_>>), FileProblem> {
    let mut cursor = Cursor::new(file);
    let kind = cursor.i32("the type of the file")?;
    expect([COMPRESSED, PLAIN].contains(&kind), "the type of the file", 0, kind, "1 or 2")?;
    let values = cursor.i32("the number of tile values")?;
    expect(values == TILE_VALUES as i32, "the number of tile values", 4, values, "16")?;
    let bits = cursor.i32("the number of stage bits")?;
    expect((0..=8).contains(&bits), "the number of stage bits", 8, bits, "0 to 8")?;
    let mut tables = Vec::new();
    let mut per_stage = None;
    for _ in 0..1 << bits {
        let at = cursor.offset();
        let count = cursor.i32("the number of tuples")?;
        let right = count > 0 && per_stage.is_none_or(|first| count == first);
        expect(right, "the number of tuples", at, count, "1 or more, and the same in every stage")?;
        per_stage = Some(count);
        for _ in 0..count {
            tables.push(parse_table(&mut cursor, kind)?);
        }
    }
    cursor.end()?;
    Ok((bits, tables))
}

fn parse_table<'a>(cursor: &mut Cursor<'a>, kind: i32) -> Result<Table<'a>, FileProblem> {
    let at = cursor.offset();
    let n = cursor.i32("the number of cells")?;
    expect((1..=8).contains(&n), "the number of cells", at, n, "1 to 8")?;
    let m = cursor.i32("the number of images")?;
    expect([1, 8].contains(&m), "the number of images", at + 4, m, "1 or 8")?;
    let images = (0..m).map(|_| parse_image(cursor, n)).collect::<Result<Vec<_>, _>>()?;
    let tuple = images[0].clone();
    if m == 8 && !is_orbit(&tuple, images) {
        let message =
            format!("the eight images of tuple {tuple} are not those of the symmetries of the board");
        return Err(FileProblem::Unsupported(message));
    }
    let mut blocks = Vec::new();
    for _ in 0..BLOCK.pow(n as u32 - 1) {
        blocks.push(parse_block(cursor, kind, &tuple, blocks.len() as u64)?);
    }
    Ok(Table { tuple, symmetric: m == 8, blocks })
}

fn parse_image(cursor: &mut Cursor<'_>, n: i32) -> Result<Tuple, FileProblem> {
    let mut cells = String::new();
    for _ in 0..n {
        let at = cursor.offset();
        let cell = cursor.i32("a cell")?;
        expect((0..16).contains(&cell), "a cell", at, cell, "0 to 15")?;
        cells.push_str(&format!("{cell:x}"));
    }
    Ok(cells.parse()?)
}

/// Whether these are the images of a tuple under the eight symmetries, in any order.
fn is_orbit(tuple: &Tuple, mut images: Vec<Tuple>) -> bool {
    let mut expected = Symmetry::ALL.map(|symmetry| tuple.image(symmetry, 4));
    expected.sort_by(|a, b| a.cells().cmp(b.cells()));
    images.sort_by(|a, b| a.cells().cmp(b.cells()));
    images == expected
}

fn parse_block<'a>(
    cursor: &mut Cursor<'a>,
    kind: i32,
    tuple: &Tuple,
    index: u64,
) -> Result<Option<Floats<'a>>, FileProblem> {
    if kind == COMPRESSED && cursor.peek_f32() == Some(f32::NEG_INFINITY) {
        cursor.floats("a block of zeros", 1)?;
        return Ok(None);
    }
    let block = cursor.floats("a block of weights", BLOCK)?;
    block.check_finite(format_args!("tuple {tuple}"), BLOCK * index)?;
    Ok(Some(block))
}
