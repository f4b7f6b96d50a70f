//! Table files: a header, a frame for each layer from the largest sum down, and an index.
//!
//! Everything is little-endian. The header is the magic, the version, the length of a JSON text, the text, and the checksum of all that. A frame is
//! a [`Head`] and two zstd parts, the layer's bitmap and its chances. The index has for each frame its offset and head; the last 32
//! bytes are the number of frames, the index's offset, its checksum and the magic again.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Endgame, GoalValues, Precision,
    bitmap::{BLOCK_BITS, Bitmap},
    code::Code,
    frame::{HEAD, Head, compress, decompress},
    layer::Layer,
    pass::Live,
    precision::Encoder,
};

pub(crate) const MAGIC: [u8; 8] = *b"a2048eg\n";
/// The version that this program writes and reads.
pub(crate) const VERSION: u32 = 1;
/// Smaller, and fast enough beside the solver.
const LEVEL: i32 = 3;
const FOOTER: usize = 32;
const ENTRY: usize = 8 + HEAD;

/// Why a file is no table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// It is something else.
    #[error("{} is no endgame table", .0.display())]
    NoTable(PathBuf),
    /// It is of another version.
    #[error("{} is a table of version {found}, but this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// It ends too early, or its header or index is damaged.
    #[error("{}: the {part} is damaged or cut short", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which part.
        part: &'static str,
    },
    /// A layer is damaged.
    #[error("{}: the layer of sum {sum} is damaged", path.display())]
    Layer {
        /// The file.
        path: PathBuf,
        /// The sum of the free tiles.
        sum: u32,
    },
}

/// What a table says of itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) shapes: Vec<String>,
    pub(crate) target: u32,
    pub(crate) precision: Precision,
    /// The cells in which the target has to stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
    /// What a reached goal counts: 1, or the value of a network named here.
    pub(crate) goal: String,
    /// The walls that goals are valued beside, bit `e` for the tile of exponent `e`; 0 where all goals count 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) tiles: u32,
}

fn is_zero(tiles: &u32) -> bool {
    *tiles == 0
}

impl Header {
    pub(crate) fn new(endgame: &Endgame, precision: Precision, goals: Option<&GoalValues<'_>>) -> Self {
        let shapes = endgame.shapes().iter().map(ToString::to_string).collect();
        let place = endgame.place().map(|place| place.to_string());
        let (goal, tiles) = goals.map_or(("1", 0), |goals| (goals.name, goals.tiles));
        Header { shapes, target: endgame.target_tile(), precision, place, goal: goal.into(), tiles }
    }

    /// The endgame; `None` when there is no such one.
    pub(crate) fn endgame(&self) -> Option<Endgame> {
        let endgame = Endgame::parse(&self.shapes, self.target).ok()?;
        match &self.place {
            None => Some(endgame),
            Some(place) => endgame.with_place(place.parse().ok()?).ok(),
        }
    }

    /// The first bytes of a file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let text = serde_json::to_vec(self).expect("texts and numbers are JSON");
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }
}

/// A table that is being written, beside its place.
pub(crate) struct Writer {
    path: PathBuf,
    file: File,
    entries: Vec<(u64, Head)>,
    end: u64,
    encoder: Encoder,
}

impl Writer {
    /// The file beside a table's place.
    pub(crate) fn part(path: &Path, what: &str) -> PathBuf {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{what}"));
        path.with_file_name(name)
    }

    /// A new table, or one that continues after the frames that were written until a certain length.
    pub(crate) fn open(path: &Path, header: &Header, until: Option<u64>) -> io::Result<Self> {
        let part = Self::part(path, "part");
        let bytes = header.to_bytes();
        let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&part)?;
        let mut writer = Writer {
            path: path.to_owned(),
            file: file.try_clone()?,
            entries: Vec::new(),
            end: 0,
            encoder: Encoder::new(header.precision),
        };
        let Some(until) = until else {
            file.set_len(0)?;
            writer.append(&bytes)?;
            return Ok(writer);
        };
        writer.end = bytes.len() as u64;
        while writer.end < until {
            let mut head = [0; HEAD];
            file.seek(SeekFrom::Start(writer.end))?;
            file.read_exact(&mut head)?;
            let head = Head::of(&head);
            writer.entries.push((writer.end, head));
            writer.end += HEAD as u64 + head.len();
        }
        file.set_len(until)?;
        Ok(writer)
    }

    /// The number of bytes written.
    pub(crate) fn length(&self) -> u64 {
        self.end
    }

    /// Adds a layer; `live` holds its chances.
    pub(crate) fn push<C: Code>(&mut self, sum: usize, live: &Live<C>) -> io::Result<()> {
        // One after the other, so that no more than one of them is in memory.
        let parts = [
            compress(&live.bitmap.to_bytes(), LEVEL),
            compress(&C::to_table(&live.chances, &self.encoder), LEVEL),
        ];
        let head = Head::new(sum as u32, live.bitmap.len as u32, [&parts[0], &parts[1]]);
        self.entries.push((self.end, head));
        self.append(&[&head.to_bytes()[..], &parts[0], &parts[1]].concat())
    }

    /// Writes the index and puts the table in its place.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let offset = self.end;
        let mut index = Vec::new();
        for (offset, head) in &self.entries {
            index.extend(offset.to_le_bytes());
            index.extend(head.to_bytes());
        }
        let mut footer = (self.entries.len() as u64).to_le_bytes().to_vec();
        footer.extend(offset.to_le_bytes());
        let checksum = xxh3_64(&[&index[..], &footer].concat());
        footer.extend(checksum.to_le_bytes());
        footer.extend(MAGIC);
        self.append(&index)?;
        self.append(&footer)?;
        self.file.sync_all()?;
        fs::rename(Self::part(&self.path, "part"), &self.path)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// A table file, checked but for the layers' contents.
pub(crate) struct Reader {
    pub(crate) path: PathBuf,
    file: Mutex<File>,
    pub(crate) header: Header,
    /// The frames by half the sum of the free tiles.
    pub(crate) entries: Vec<Option<(u64, Head)>>,
    pub(crate) length: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, TableError> {
        let io = |source| TableError::Io { path: path.to_owned(), source };
        let damaged = |part| TableError::Damaged { path: path.to_owned(), part };
        let mut file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut start = [0; 16];
        if length < 16 || file.read_exact(&mut start).is_err() || start[..8] != MAGIC {
            return Err(TableError::NoTable(path.to_owned()));
        }
        let number = |at: usize| u32::from_le_bytes(start[at..at + 4].try_into().expect("four bytes"));
        if number(8) != VERSION {
            return Err(TableError::Version { path: path.to_owned(), found: number(8) });
        }
        let text = number(12) as usize;
        if 16 + text as u64 + 8 + FOOTER as u64 > length {
            return Err(damaged("header"));
        }
        let rest = read_at(&mut file, 16, text + 8).map_err(io)?;
        let checksum = xxh3_64(&[&start[..], &rest[..text]].concat());
        if rest[text..] != checksum.to_le_bytes() {
            return Err(damaged("header"));
        }
        let header = serde_json::from_slice(&rest[..text]).map_err(|_| damaged("header"))?;
        let entries = read_index(&mut file, length).ok_or_else(|| damaged("index"))?;
        Ok(Reader { path: path.to_owned(), file: Mutex::new(file), header, entries, length })
    }

    /// The number of positions.
    pub(crate) fn positions(&self) -> u64 {
        self.entries.iter().flatten().map(|(_, head)| u64::from(head.count)).sum()
    }

    /// The content of a layer, checked; `None` where there is no such layer.
    fn content(&self, sum: usize) -> Result<Option<(Head, Vec<u8>)>, TableError> {
        let Some(Some((offset, head))) = self.entries.get(sum) else { return Ok(None) };
        let damaged = || TableError::Layer { path: self.path.clone(), sum: 2 * sum as u32 };
        let mut file = self.file.lock().unwrap_or_else(|poison| poison.into_inner());
        let bytes = read_at(&mut file, *offset, HEAD + head.len() as usize).map_err(|_| damaged())?;
        drop(file);
        if bytes[..HEAD] != head.to_bytes() || !head.fits(&bytes[HEAD..]) {
            return Err(damaged());
        }
        Ok(Some((*head, bytes[HEAD..].to_vec())))
    }

    /// Checks the contents of all layers.
    pub(crate) fn check(&self) -> Result<(), TableError> {
        (0..self.entries.len()).try_for_each(|sum| self.content(sum).map(drop))
    }

    /// The positions of a layer and the codes of their chances.
    pub(crate) fn layer(&self, layer: &Layer) -> Result<Option<(Bitmap, Vec<u8>)>, TableError> {
        let Some((head, content)) = self.content(layer.sum)? else { return Ok(None) };
        if u64::from(head.count) > layer.bits {
            return Err(TableError::Layer { path: self.path.clone(), sum: 2 * layer.sum as u32 });
        }
        let (bitmap, codes) = content.split_at(head.parts[0] as usize);
        let blocks = layer.bits.div_ceil(BLOCK_BITS) as usize;
        let longest = layer.bits.div_ceil(64) as usize * 8 + 8 * blocks;
        let bitmap = decompress(bitmap, longest).and_then(|bytes| Bitmap::from_bytes(&bytes, layer.bits));
        let size = self.header.precision.bytes() * head.count as usize;
        let codes = decompress(codes, size).filter(|codes| codes.len() == size);
        match (bitmap.filter(|bitmap| bitmap.len == head.count as usize), codes) {
            (Some(bitmap), Some(codes)) => Ok(Some((bitmap, codes))),
            _ => Err(TableError::Layer { path: self.path.clone(), sum: 2 * layer.sum as u32 }),
        }
    }
}

/// The frames by their sums.
fn read_index(file: &mut File, length: u64) -> Option<Vec<Option<(u64, Head)>>> {
    let footer = read_at(file, length.checked_sub(FOOTER as u64)?, FOOTER).ok()?;
    let number = |at: usize| u64::from_le_bytes(footer[at..at + 8].try_into().expect("eight bytes"));
    let (count, offset) = (number(0), number(8));
    let size = count.checked_mul(ENTRY as u64)?;
    if footer[24..] != MAGIC || offset.checked_add(size)? != length - FOOTER as u64 {
        return None;
    }
    let index = read_at(file, offset, size as usize).ok()?;
    if xxh3_64(&[&index[..], &footer[..16]].concat()) != number(16) {
        return None;
    }
    let mut entries = Vec::new();
    for entry in index.chunks_exact(ENTRY) {
        let at = u64::from_le_bytes(entry[..8].try_into().expect("eight bytes"));
        let head = Head::of(entry[8..].try_into().expect("a head"));
        if at.checked_add(HEAD as u64 + head.len())? > offset || head.sum > 1 << 16 {
            return None;
        }
        if entries.len() <= head.sum as usize {
            entries.resize(head.sum as usize + 1, None);
        }
        entries[head.sum as usize] = Some((at, head));
    }
    Some(entries)
}

fn read_at(file: &mut File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
