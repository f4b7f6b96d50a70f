//! Solutions on disk.
//!
//! All numbers are little-endian. The header: eight bytes `2048sol1`; u32 side, u32 objective (0 is the
//! score, otherwise the exponent of the goal), u32 tiles at the start, u32 number of layers; f64
//! probability of a 4, f64 value of the start; u64 number of states; for each layer, from the
//! largest sum of tiles down, u32 sum and u32 number of afterstates; u64 checksum of all of this. Then, for
//! each layer, its sorted keys and their values, u32 each, and finally a u64 checksum of these.
//! Checksums are XXH3. See `keys.rs` for keys, [`Objective`] for the unit of values.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use afterstate_game::Rules;
use afterstate_network::file::{Content, FileError, atomic::write_atomically};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Objective, Solution,
    solution::{Data, Header, WIDTH},
};

const MAGIC: [u8; 8] = *b"2048sol1";
/// The bytes of the header before the layers, and of each layer in it.
const FIXED: usize = 48;
const PER_LAYER: usize = 8;
const CHECKSUM: usize = 8;

/// Why a file could not be read or written as a solution.
#[derive(Debug, thiserror::Error)]
pub enum SolutionError {
    /// The system does not allow reading it.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] FileError),
    /// It is not a solution.
    #[error("{}: is not a solution: `afterstate solve --output FILE` writes one", .0.display())]
    NotASolution(PathBuf),
    /// It is for another board size.
    #[error("{}: is a solution for boards of side {found}, not {expected}", path.display())]
    Side {
        /// The file.
        path: PathBuf,
        /// The side in the file.
        found: u32,
        /// The expected side.
        expected: usize,
    },
    /// It is too short or too long.
    #[error("{}: is cut short or has grown: it has {found} bytes, but should have {expected}", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// The actual length.
        found: u64,
        /// The expected length.
        expected: u64,
    },
    /// A checksum is wrong.
    #[error("{}: is damaged: the checksum of its {part} is wrong; `afterstate solve` makes it again", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The damaged part.
        part: &'static str,
    },
}

/// The number of bytes written at a time.
const PART: usize = 4 << 20;

/// Whether a file is a solution, judging by its first bytes.
pub fn is_solution(path: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == MAGIC
}

impl<const N: usize> Solution<N> {
    /// Writes the solution atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), SolutionError> {
        self.save_watched(path, || {})
    }

    /// The same, calling a function before every few megabytes; if it unwinds, an existing file is unchanged.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save_watched(&self, path: &Path, mut watch: impl FnMut()) -> Result<(), SolutionError> {
        let header = self.header.to_bytes::<N>();
        let data = self.data.bytes();
        write_atomically(path, |file| -> io::Result<()> {
            file.write_all(&header)?;
            file.write_all(&xxh3_64(&header).to_le_bytes())?;
            for part in data.chunks(PART) {
                watch();
                file.write_all(part)?;
            }
            watch();
            file.write_all(&xxh3_64(data).to_le_bytes())
        })?;
        Ok(())
    }

    /// Opens a solution and checks every byte.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is for another board size.
    pub fn open(path: &Path) -> Result<Self, SolutionError> {
        let file = Content::open(path).map_err(|source| SolutionError::Read { path: path.into(), source })?;
        let header = Header::parse::<N>(&file, path)?;
        let start = FIXED + PER_LAYER * header.layers.len() + CHECKSUM;
        let afterstates: u64 = header.layers.iter().map(|&(_, len)| u64::from(len)).sum();
        let len = 2 * WIDTH as u64 * afterstates;
        let (found, expected) = (file.len() as u64, (start + CHECKSUM) as u64 + len);
        if found != expected {
            return Err(SolutionError::Length { path: path.into(), found, expected });
        }
        let end = file.len() - CHECKSUM;
        if xxh3_64(&file[start..end]).to_le_bytes() != file[end..] {
            return Err(SolutionError::Checksum { path: path.into(), part: "values" });
        }
        Ok(Solution::new(header, Data::File { content: file, range: start..end }))
    }
}

impl Header {
    fn to_bytes<const N: usize>(&self) -> Vec<u8> {
        let objective = match self.objective {
            Objective::Score => 0,
            Objective::Goal(exponent) => u32::from(exponent),
        };
        let mut bytes = MAGIC.to_vec();
        for number in [N as u32, objective, self.rules.start_tiles, self.layers.len() as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(self.rules.four.to_le_bytes());
        bytes.extend(self.expected.to_le_bytes());
        bytes.extend(self.states.to_le_bytes());
        for (sum, len) in &self.layers {
            bytes.extend(sum.to_le_bytes());
            bytes.extend(len.to_le_bytes());
        }
        bytes
    }

    /// Parses the header of a file after checking its checksum.
    fn parse<const N: usize>(file: &[u8], path: &Path) -> Result<Self, SolutionError> {
        let not_a_solution = || SolutionError::NotASolution(path.into());
        if file.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(not_a_solution());
        }
        let (found, needed) = (file.len() as u64, (FIXED + CHECKSUM) as u64);
        let length = |expected| SolutionError::Length { path: path.into(), found, expected };
        if found < needed {
            return Err(length(needed));
        }
        let layers = u32::from_le_bytes(array(file, 20)) as usize;
        let end = FIXED + PER_LAYER * layers;
        if file.len() < end + CHECKSUM {
            return Err(length((end + CHECKSUM) as u64));
        }
        if xxh3_64(&file[..end]) != u64::from_le_bytes(array(file, end)) {
            return Err(SolutionError::Checksum { path: path.into(), part: "header" });
        }
        let side = u32::from_le_bytes(array(file, 8));
        if side as usize != N {
            return Err(SolutionError::Side { path: path.into(), found: side, expected: N });
        }
        let objective = match u32::from_le_bytes(array(file, 12)) {
            0 => Objective::Score,
            exponent => Objective::Goal(u8::try_from(exponent).map_err(|_| not_a_solution())?),
        };
        let layer = |i| {
            let at = FIXED + PER_LAYER * i;
            (u32::from_le_bytes(array(file, at)), u32::from_le_bytes(array(file, at + 4)))
        };
        Ok(Header {
            objective,
            rules: Rules {
                start_tiles: u32::from_le_bytes(array(file, 16)),
                four: f64::from_le_bytes(array(file, 24)),
            },
            expected: f64::from_le_bytes(array(file, 32)),
            states: u64::from_le_bytes(array(file, 40)),
            layers: (0..layers).map(layer).collect(),
        })
    }
}

/// The bytes at an offset, which must exist.
fn array<const LEN: usize>(bytes: &[u8], at: usize) -> [u8; LEN] {
    std::array::from_fn(|i| bytes[at + i])
}
