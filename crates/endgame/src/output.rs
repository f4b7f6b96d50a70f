//! The way back, written to a table, with what is needed to continue after a kill.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use xxhash_rust::xxh3::xxh3_64;

use crate::{
    code::{Code, take},
    file::{Header, Writer},
    pass::Live,
};

/// How often the chances of the last layers are kept: a table holds them rounded, and going on needs them as they were.
const INTERVAL: Duration = Duration::from_secs(20);

/// What a killed solver left.
pub(crate) struct Kept<C> {
    /// The last layer that is done.
    pub(crate) sum: usize,
    /// the requested chances.
    pub(crate) asked: Vec<f64>,
    /// The chances of that layer and of the one after it.
    pub(crate) chances: [Vec<C>; 2],
    /// The length of the table so far.
    length: u64,
}

/// A table in the making.
pub(crate) struct Output<C> {
    writer: Writer,
    path: PathBuf,
    /// What the file that is kept must belong to.
    key: Vec<u8>,
    last: Instant,
    pub(crate) resumed: Option<Kept<C>>,
}

impl<C: Code> Output<C> {
    /// A table that continues where a killed solver stopped, if that was already on the way back.
    pub(crate) fn open(
        path: &Path,
        header: &Header,
        key: Vec<u8>,
        was_on_the_way_back: bool,
    ) -> io::Result<Self> {
        let live = Writer::part(path, "live");
        let kept =
            fs::read(&live).ok().filter(|_| was_on_the_way_back).and_then(|bytes| Kept::of(&bytes, &key));
        let is_there = |kept: &Kept<C>| {
            fs::metadata(Writer::part(path, "part")).is_ok_and(|part| part.len() >= kept.length)
        };
        let resumed = kept.filter(is_there);
        let writer = Writer::open(path, header, resumed.as_ref().map(|kept| kept.length))?;
        Ok(Output { writer, path: live, key, last: Instant::now(), resumed })
    }

    /// Adds a layer: the first of those that are live.
    pub(crate) fn push(&mut self, Done { sum, live, asked }: Done<C>) -> io::Result<()> {
        self.writer.push(sum, &live[0])?;
        if self.last.elapsed() >= INTERVAL {
            self.keep(sum, &live, &asked)?;
            self.last = Instant::now();
        }
        Ok(())
    }

    /// Completes the table.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.writer.finish()
    }

    /// Keeps what is needed to continue from here.
    pub(crate) fn keep(&self, sum: usize, live: &[Arc<Live<C>>; 2], asked: &[f64]) -> io::Result<()> {
        let mut bytes = self.key.clone();
        let lengths = [
            sum as u64,
            self.writer.length(),
            asked.len() as u64,
            live[0].chances.len() as u64,
            live[1].chances.len() as u64,
        ];
        lengths.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        asked.iter().for_each(|chance| bytes.extend(chance.to_le_bytes()));
        live.iter().flat_map(|live| &live.chances).for_each(|chance| chance.put(&mut bytes));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        let temporary = Writer::part(&self.path, "new");
        let mut file = File::create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)
    }
}

/// A layer whose chances are known, and the one after it.
pub(crate) struct Done<C> {
    pub(crate) sum: usize,
    pub(crate) live: [Arc<Live<C>>; 2],
    pub(crate) asked: Vec<f64>,
}

impl<C: Code> Kept<C> {
    /// What was kept, if it is whole and belongs to the same work.
    fn of(bytes: &[u8], key: &[u8]) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk::<8>()?;
        let mut rest = content.strip_prefix(key)?;
        if xxh3_64(content).to_le_bytes() != *checksum {
            return None;
        }
        let mut numbers = [0; 5];
        for number in &mut numbers {
            *number = u64::from_le_bytes(*take(&mut rest)?);
        }
        let [sum, length, asked, first, second] = numbers;
        let asked = (0..asked).map(|_| Some(f64::from_le_bytes(*take(&mut rest)?))).collect::<Option<_>>()?;
        let mut chances = |count| (0..count).map(|_| C::get(&mut rest)).collect::<Option<_>>();
        let chances = [chances(first)?, chances(second)?];
        rest.is_empty().then_some(Kept { sum: sum as usize, asked, chances, length })
    }
}
