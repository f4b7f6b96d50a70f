//! Records in random order, from shards of any size, with a bounded buffer.

use std::{collections::BTreeMap, path::PathBuf};

use afterstate_game::{GameRng, game_rng};
use rand_core::Rng;

use super::{Record, RecordError, Shard, shard::rows};

/// An endless stream of records: each epoch has every record once. Shards come in random order, and each record is
/// drawn at random from a buffer and replaced by the next one read. The stream is a function of the shards, the size of
/// the buffer and the seed.
pub struct Shuffled {
    shards: Vec<PathBuf>,
    order: Order,
    capacity: usize,
    buffer: Vec<Record>,
    /// The current shard, with its number and records.
    read: Option<(u32, Vec<Record>)>,
}

/// The position of a record: the number of its shard, and its row.
type Place = (u32, u32);

impl Shuffled {
    /// The records of these shards, with a buffer for this many of them.
    ///
    /// # Errors
    /// If a shard cannot be read, or there are no records at all.
    pub fn new(shards: Vec<PathBuf>, capacity: usize, seed: u64) -> Result<Self, RecordError> {
        let rows = shards.iter().map(|shard| rows(shard)).collect::<Result<Vec<_>, _>>()?;
        if rows.iter().all(|&rows| rows == 0) {
            return Err(RecordError::Empty(shards.first().cloned().unwrap_or_else(|| ".".into())));
        }
        let order = Order { rng: game_rng(seed, 1), rows, left: Vec::new(), next: None };
        Ok(Shuffled { shards, order, capacity: capacity.max(1), buffer: Vec::new(), read: None })
    }

    /// Skips this many records at the beginning, reading only those shards whose records are in the buffer
    /// afterwards.
    ///
    /// # Errors
    /// If a shard cannot be read.
    pub fn skip(&mut self, drawn: u64) -> Result<(), RecordError> {
        if drawn == 0 {
            return Ok(());
        }
        let mut places: Vec<Place> = (0..self.capacity).map(|_| self.order.read()).collect();
        for _ in 0..drawn {
            let left = self.order.below(self.capacity);
            places[left] = self.order.read();
        }
        let mut by_shard: BTreeMap<u32, Vec<(usize, u32)>> = BTreeMap::new();
        for (i, (shard, row)) in places.iter().enumerate() {
            by_shard.entry(*shard).or_default().push((i, *row));
        }
        let mut buffer = vec![None; self.capacity];
        for (shard, wanted) in by_shard {
            for (i, row) in wanted {
                buffer[i] = Some(self.load((shard, row))?);
            }
        }
        self.buffer = buffer.into_iter().flatten().collect();
        Ok(())
    }

    /// The next record.
    ///
    /// # Errors
    /// If a shard cannot be read.
    pub fn draw(&mut self) -> Result<Record, RecordError> {
        while self.buffer.len() < self.capacity {
            let place = self.order.read();
            let record = self.load(place)?;
            self.buffer.push(record);
        }
        let left = self.order.below(self.capacity);
        let place = self.order.read();
        let record = self.load(place)?;
        Ok(std::mem::replace(&mut self.buffer[left], record))
    }

    /// The record at a position; reads its shard unless it was the last one read.
    fn load(&mut self, (shard, row): Place) -> Result<Record, RecordError> {
        let path = &self.shards[shard as usize];
        if self.read.as_ref().is_none_or(|(read, _)| *read != shard) {
            self.read = Some((shard, Shard::read(path)?.records));
        }
        let record = self.read.as_ref().and_then(|(_, records)| records.get(row as usize));
        record.copied().ok_or_else(|| RecordError::Empty(path.clone()))
    }
}

/// The order in which records are read, and random numbers in between.
struct Order {
    rng: GameRng,
    /// The number of records in each shard; there is at least one shard.
    rows: Vec<u32>,
    /// The shards left in this epoch, the next one last.
    left: Vec<u32>,
    /// The next record of the current shard, if there is one.
    next: Option<Place>,
}

impl Order {
    /// The position of the next record.
    #[inline]
    fn read(&mut self) -> Place {
        loop {
            if let Some((shard, row)) = self.next.filter(|(shard, row)| *row < self.rows[*shard as usize]) {
                self.next = Some((shard, row + 1));
                return (shard, row);
            }
            if self.left.is_empty() {
                self.begin_epoch();
            }
            self.next = self.left.pop().map(|shard| (shard, 0));
        }
    }

    /// Fisher–Yates.
    fn begin_epoch(&mut self) {
        self.left = (0..self.rows.len() as u32).collect();
        for i in (1..self.left.len()).rev() {
            let other = self.below(i + 1);
            self.left.swap(i, other);
        }
    }

    /// A random number below `n`.
    #[inline]
    fn below(&mut self, n: usize) -> usize {
        (((self.rng.next_u64() >> 32) * n as u64) >> 32) as usize
    }
}
