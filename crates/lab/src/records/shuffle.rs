//! Records in random order, from shards of any size, with a buffer of limited size.

use std::{path::PathBuf, vec};

use afterstate_game::{GameRng, game_rng};
use rand_core::Rng;

use super::{Record, RecordError, Shard};

/// An endless stream of records: each epoch has all of them once. Shards come in random order, and each record that leaves is picked
/// at random from a buffer, whose place the next record read takes. What comes is a function of the shards, the size
/// of the buffer and the seed.
pub struct Shuffled {
    shards: Vec<PathBuf>,
    rng: GameRng,
    capacity: usize,
    buffer: Vec<Record>,
    /// The shards left in this epoch, the next one last.
    left: Vec<PathBuf>,
    /// What is left of the shard that is being read.
    records: vec::IntoIter<Record>,
}

impl Shuffled {
    /// The records of these shards, with a buffer for so many of them.
    pub fn new(shards: Vec<PathBuf>, capacity: usize, seed: u64) -> Self {
        let (rng, capacity) = (game_rng(seed, 1), capacity.max(1));
        Shuffled { shards, rng, capacity, buffer: Vec::new(), left: Vec::new(), records: vec![].into_iter() }
    }

    /// The next record.
    ///
    /// # Errors
    /// When a shard cannot be read, or there are no records at all.
    pub fn draw(&mut self) -> Result<Record, RecordError> {
        while self.buffer.len() < self.capacity {
            let record = self.read()?;
            self.buffer.push(record);
        }
        let place = self.below(self.buffer.len());
        let record = self.read()?;
        Ok(std::mem::replace(&mut self.buffer[place], record))
    }

    /// The next record in the order of the files.
    fn read(&mut self) -> Result<Record, RecordError> {
        let mut empty = 0;
        loop {
            if let Some(record) = self.records.next() {
                return Ok(record);
            }
            if self.left.is_empty() {
                self.begin_epoch();
            }
            let Some(shard) = self.left.pop() else { return Err(RecordError::Empty(PathBuf::from("."))) };
            if empty > self.shards.len() {
                return Err(RecordError::Empty(shard));
            }
            empty += 1;
            self.records = Shard::read(&shard)?.records.into_iter();
        }
    }

    /// Fisher–Yates.
    fn begin_epoch(&mut self) {
        self.left = self.shards.clone();
        for i in (1..self.left.len()).rev() {
            let other = self.below(i + 1);
            self.left.swap(i, other);
        }
    }

    /// A random number below `n`.
    fn below(&mut self, n: usize) -> usize {
        (((self.rng.next_u64() >> 32) * n as u64) >> 32) as usize
    }
}
