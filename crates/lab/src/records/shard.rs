//! One Parquet file: whole games, a row for each move.

use std::{
    cell::Cell,
    fs::File,
    io,
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::{Arc, Once},
};

use afterstate_game::{Board, Move, Rules, State};
use afterstate_network::file::atomic::write_atomically;
use parquet::{
    basic::Compression,
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type},
    errors::ParquetError,
    file::{
        metadata::KeyValue,
        properties::WriterProperties,
        reader::{FileReader, SerializedFileReader},
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::{Record, RecordError, verify};

const SCHEMA: &str = "message record {
    required int64 game;
    required int32 ply;
    required binary board (STRING);
    required int32 move (INTEGER(8, true));
    required int32 reward;
    required int32 spawn_cell (INTEGER(8, true));
    required int32 spawn_tile (INTEGER(8, true));
    required int32 score_to_end;
}";

/// The key of our metadata.
const METADATA: &str = "afterstate";

/// The number of rows read at a time.
const CHUNK: usize = 1 << 14;

/// Who played.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct About {
    /// The name of the model, as the user gave it.
    pub model: String,
    /// The checksum of the header of the model's file.
    pub checksum: String,
    /// The search.
    pub search: String,
    /// The seed of the games.
    pub seed: u64,
    /// The probability of a 4.
    pub four: f64,
    /// The number of tiles at the start.
    pub start_tiles: u32,
    /// The version of the program.
    pub version: String,
}

impl About {
    /// The rules.
    pub fn rules(&self) -> Rules {
        Rules { four: self.four, start_tiles: self.start_tiles }
    }

    /// Whether both play the same games, whatever the model's file is called.
    pub(super) fn plays_like(&self, other: &About) -> bool {
        let renamed = About { model: other.model.clone(), version: other.version.clone(), ..self.clone() };
        renamed == *other
    }

    pub(super) fn describe(&self) -> String {
        let About { model, checksum, search, seed, .. } = self;
        format!("{model} (checksum {checksum}) with {search} and seed {seed}")
    }
}

/// The games of a shard, and who played them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShardInfo {
    /// Who played.
    #[serde(flatten)]
    pub about: About,
    /// The number of the first game.
    pub first_game: u64,
    /// The number of games.
    pub games: u64,
    /// The checksum of all this and of the records; `None` in shards from before checksums were introduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records_checksum: Option<String>,
}

/// Writes a shard atomically. The parquet crate writes no page checksums, so the records have their own.
pub(super) fn write(path: &Path, info: &ShardInfo, records: &[Record]) -> Result<(), RecordError> {
    let write = |file: &mut io::BufWriter<File>| -> Result<(), io::Error> {
        let info = ShardInfo { records_checksum: Some(info.checksum_of(records)), ..info.clone() };
        let metadata = KeyValue::new(METADATA.into(), serde_json::to_string(&info)?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("afterstate {}", info.about.version))
            .set_key_value_metadata(Some(vec![metadata]));
        write_rows(file, properties.build(), records).map_err(io::Error::other)
    };
    Ok(write_atomically(path, write)?)
}

fn write_rows(
    file: &mut io::BufWriter<File>,
    properties: WriterProperties,
    records: &[Record],
) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    column::<Int64Type, _>(&mut group, records, |r| r.game as i64)?;
    column::<Int32Type, _>(&mut group, records, |r| r.ply as i32)?;
    column::<ByteArrayType, _>(&mut group, records, |r| ByteArray::from(text(&r.state.board())))?;
    column::<Int32Type, _>(&mut group, records, |r| r.action as i32)?;
    column::<Int32Type, _>(&mut group, records, |r| r.reward as i32)?;
    column::<Int32Type, _>(&mut group, records, |r| i32::from(r.spawn_cell))?;
    column::<Int32Type, _>(&mut group, records, |r| 1 << r.spawn_exponent)?;
    column::<Int32Type, _>(&mut group, records, |r| r.score_to_end as i32)?;
    group.close()?;
    writer.close().map(|_| ())
}

fn column<T: DataType, W: io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    records: &[Record],
    value: impl Fn(&Record) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = records.iter().map(value).collect();
    let missing = || ParquetError::General("more columns than the schema has".into());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

/// A board as sixteen characters.
fn text(board: &Board<4>) -> Vec<u8> {
    board.exponents().map(|exponent| b"0123456789abcdefgh"[usize::from(exponent)]).collect()
}

fn parse(text: &[u8]) -> Option<Board<4>> {
    let mut exponents = [0; 16];
    if text.len() != exponents.len() {
        return None;
    }
    for (exponent, &character) in exponents.iter_mut().zip(text) {
        *exponent = char::from(character).to_digit(18)? as u8;
    }
    Board::from_exponents(&exponents).ok()
}

/// A shard, completely read and checked.
pub struct Shard {
    /// The description of its games.
    pub info: ShardInfo,
    /// Their moves.
    pub records: Vec<Record>,
}

struct Columns {
    game: ColumnReaderImpl<Int64Type>,
    board: ColumnReaderImpl<ByteArrayType>,
    /// ply, move, reward, spawn_cell, spawn_tile, score_to_end.
    numbers: [ColumnReaderImpl<Int32Type>; 6],
}

impl Shard {
    /// Reads a shard. Returns nothing from a damaged one: its checksum must be correct, and a shard without one, from
    /// before checksums were introduced, must follow the rules.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is not one of our shards.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let (info, rows) = guarded(path, || {
            let (file, info) = open(path)?;
            Ok((info, all_rows(&file).map_err(|source| RecordError::Read { path: path.to_owned(), source })?))
        })?;
        let records: Vec<_> = rows.into_iter().map(|row| row.check(path)).collect::<Result<_, _>>()?;
        match &info.records_checksum {
            None => {
                verify::replay(&info, &records).map_err(|(record, problem)| record.wrong(path, problem))?;
            }
            Some(expected) => {
                let found = info.checksum_of(&records);
                if found != *expected {
                    let (path, expected) = (path.to_owned(), expected.clone());
                    return Err(RecordError::Checksum { path, expected, found });
                }
            }
        }
        Ok(Shard { info, records })
    }
}

impl ShardInfo {
    /// The description of a shard's games, without reading the games.
    ///
    /// # Errors
    /// If it cannot be read, or is not one of our shards.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        guarded(path, || Ok(open(path)?.1))
    }

    /// The checksum of these games with these records.
    fn checksum_of(&self, records: &[Record]) -> String {
        let mut hash = Xxh3Default::new();
        let info = ShardInfo { records_checksum: None, ..self.clone() };
        hash.update(serde_json::to_string(&info).unwrap_or_default().as_bytes());
        for record in records {
            hash.update(&record.game.to_le_bytes());
            hash.update(&record.state.board().bytes());
            hash.update(&[record.action as u8, record.spawn_cell, record.spawn_exponent]);
            [record.ply, record.reward, record.score_to_end]
                .iter()
                .for_each(|number| hash.update(&number.to_le_bytes()));
        }
        format!("{:016x}", hash.digest())
    }
}

/// The number of records in a shard, without reading the records.
pub(super) fn rows(path: &Path) -> Result<u32, RecordError> {
    guarded(path, || {
        let rows = open(path)?.0.metadata().file_metadata().num_rows();
        // No shard of twenty games comes near that.
        u32::try_from(rows).map_err(|_| RecordError::NoMetadata(path.to_owned()))
    })
}

/// Opens the file of a shard and reads the description of its games.
fn open(path: &Path) -> Result<(SerializedFileReader<File>, ShardInfo), RecordError> {
    let read = |source| RecordError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(|error| read(ParquetError::from(error)))?;
    let file = SerializedFileReader::new(file).map_err(read)?;
    let schema = Arc::new(parse_message_type(SCHEMA).map_err(read)?);
    let metadata = file.metadata().file_metadata();
    let entries = metadata.key_value_metadata().into_iter().flatten();
    let value = entries.filter(|entry| entry.key == METADATA).find_map(|entry| entry.value.as_deref());
    let info = value.and_then(|text| serde_json::from_str(text).ok());
    let info = info.filter(|_| metadata.schema() == &*schema);
    Ok((file, info.ok_or_else(|| RecordError::NoMetadata(path.to_owned()))?))
}

fn all_rows(file: &SerializedFileReader<File>) -> Result<Vec<Row>, ParquetError> {
    let mut rows = Vec::new();
    for group in 0..file.num_row_groups() {
        let mut columns = Columns::open(file, group)?;
        loop {
            let chunk = columns.chunk()?;
            if chunk.is_empty() {
                break;
            }
            rows.extend(chunk);
        }
    }
    Ok(rows)
}

thread_local! {
    /// Whether this thread is reading with the parquet crate.
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Lets the parquet crate read a file. On some damaged files it panics, which becomes an error of the file.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, RecordError>) -> Result<T, RecordError> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !READING.get() {
                usual(info);
            }
        }));
    });
    READING.set(true);
    // Nothing that was read is used after a panic.
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    READING.set(false);
    let damaged = |_| ParquetError::General("it is damaged in a way that cannot be read".into());
    result.map_err(damaged).map_err(|source| RecordError::Read { path: path.to_owned(), source })?
}

/// A row as stored in the file.
struct Row {
    game: i64,
    board: ByteArray,
    numbers: [i32; 6],
}

impl Columns {
    fn open(file: &SerializedFileReader<File>, group: usize) -> Result<Self, ParquetError> {
        fn typed<T: DataType>(column: ColumnReader) -> Result<ColumnReaderImpl<T>, ParquetError> {
            let other = || ParquetError::General("a column of another type than the schema says".into());
            T::get_column_reader(column).ok_or_else(other)
        }
        let group = file.get_row_group(group)?;
        let number = |i| group.get_column_reader(i).and_then(typed);
        Ok(Columns {
            game: typed(group.get_column_reader(0)?)?,
            board: typed(group.get_column_reader(2)?)?,
            numbers: [number(1)?, number(3)?, number(4)?, number(5)?, number(6)?, number(7)?],
        })
    }

    fn chunk(&mut self) -> Result<Vec<Row>, ParquetError> {
        fn read<T: DataType>(column: &mut ColumnReaderImpl<T>) -> Result<Vec<T::T>, ParquetError> {
            let mut values = Vec::with_capacity(CHUNK);
            column.read_records(CHUNK, None, None, &mut values)?;
            Ok(values)
        }
        let (games, boards) = (read(&mut self.game)?, read(&mut self.board)?);
        let mut numbers = Vec::new();
        for column in &mut self.numbers {
            numbers.push(read(column)?);
        }
        if boards.len() != games.len() || numbers.iter().any(|column| column.len() != games.len()) {
            return Err(ParquetError::General("columns of different lengths".into()));
        }
        let row = |(i, (game, board))| Row { game, board, numbers: std::array::from_fn(|c| numbers[c][i]) };
        Ok(games.into_iter().zip(boards).enumerate().map(row).collect())
    }
}

impl Row {
    /// Checks that each number is in range.
    fn check(self, path: &Path) -> Result<Record, RecordError> {
        let [ply, action, reward, spawn_cell, spawn_tile, score_to_end] = self.numbers;
        let record = || -> Result<Record, String> {
            let board = parse(self.board.data());
            let text = || String::from_utf8_lossy(self.board.data()).into_owned();
            let number = |name: &str, n: i32| u32::try_from(n).map_err(|_| format!("{name} is {n}"));
            let cell = u8::try_from(spawn_cell).ok().filter(|cell| *cell < 16);
            let tile = [1, 2].into_iter().find(|exponent| 1 << exponent == spawn_tile);
            Ok(Record {
                game: self.game as u64,
                ply: number("ply", ply)?,
                state: State::new(board.ok_or_else(|| format!("`{}` is no board", text()))?),
                action: *Move::ALL
                    .get(action as usize)
                    .ok_or_else(|| format!("move {action}, not 0 to 3"))?,
                reward: number("reward", reward)?,
                spawn_cell: cell.ok_or_else(|| format!("spawn_cell {spawn_cell}, not 0 to 15"))?,
                spawn_exponent: tile.ok_or_else(|| format!("spawn_tile {spawn_tile}, not 2 or 4"))?,
                score_to_end: number("score_to_end", score_to_end)?,
            })
        };
        let wrong = |problem| {
            let (path, game, ply) = (path.to_owned(), self.game as u64, ply as u32);
            RecordError::Wrong { path, game, ply, problem }
        };
        record().map_err(wrong)
    }
}
