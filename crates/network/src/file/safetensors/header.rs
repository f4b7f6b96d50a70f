//! The header of a safetensors file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::{CHECKSUM, checksum_key, hex, len};
use crate::file::{FileProblem, bytes::expect};

/// The limit of the format.
const LONGEST: u64 = 100_000_000;

/// The data begins at a cache line.
const ALIGNMENT: usize = 64;

const METADATA: &str = "__metadata__";

/// The position of a tensor. The fields are in alphabetical order, like the header that is checksummed.
#[derive(Serialize, Deserialize, Debug, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Info {
    pub(super) data_offsets: [u64; 2],
    dtype: String,
    pub(super) shape: Vec<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Header {
    /// The metadata without the header's own checksum.
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: BTreeMap<String, Info>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Metadata(&'a BTreeMap<String, String>),
    Tensor(&'a Info),
}

/// The types of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dtype {
    F32,
    /// The bytes of packed tables.
    U8,
}

impl Dtype {
    fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "F32",
            Dtype::U8 => "U8",
        }
    }

    /// The number of bytes of a number.
    fn width(self) -> u64 {
        match self {
            Dtype::F32 => 4,
            Dtype::U8 => 1,
        }
    }
}

impl Info {
    pub(super) fn new(start: u64, dtype: Dtype, shape: Vec<u64>) -> Self {
        let len: u64 = shape.iter().product();
        Info { data_offsets: [start, start + dtype.width() * len], dtype: dtype.name().into(), shape }
    }

    /// The number of numbers.
    pub(super) fn len(&self) -> u64 {
        len(&self.shape)
    }

    /// Rejects numbers of another type.
    pub(super) fn expect(&self, tensor: &str, right: Dtype) -> Result<(), FileProblem> {
        if self.dtype == right.name() {
            return Ok(());
        }
        Err(FileProblem::Dtype { tensor: tensor.into(), found: self.dtype.clone(), right: right.name() })
    }

    fn dtype(&self, tensor: &str) -> Result<Dtype, FileProblem> {
        match self.expect(tensor, Dtype::U8) {
            Ok(()) => Ok(Dtype::U8),
            Err(_) => self.expect(tensor, Dtype::F32).map(|()| Dtype::F32),
        }
    }
}

impl Header {
    /// The header as JSON: sorted keys, no spaces.
    fn json(&self, metadata: &BTreeMap<String, String>) -> Result<String, FileProblem> {
        let tensors = self.tensors.iter().map(|(name, info)| (name.as_str(), Entry::Tensor(info)));
        let mut entries: BTreeMap<&str, Entry<'_>> = tensors.collect();
        entries.insert(METADATA, Entry::Metadata(metadata));
        Ok(serde_json::to_string(&entries)?)
    }

    /// The checksum of all of the header's content.
    fn checksum(&self) -> Result<String, FileProblem> {
        Ok(hex(xxh3_64(self.json(&self.metadata)?.as_bytes())))
    }

    /// The bytes before the data: length, header, checksum included, and padding; at least `least` of them.
    pub(super) fn to_bytes(&self, least: usize) -> Result<Vec<u8>, FileProblem> {
        let mut metadata = self.metadata.clone();
        metadata.insert(CHECKSUM.into(), self.checksum()?);
        let mut bytes = vec![0; 8];
        bytes.extend(self.json(&metadata)?.as_bytes());
        bytes.resize(bytes.len().max(least).next_multiple_of(ALIGNMENT), b' ');
        let len = (bytes.len() - 8) as u64;
        bytes[..8].copy_from_slice(&len.to_le_bytes());
        Ok(bytes)
    }

    /// Reads and checks the header of a file; also returns the offset of the data.
    pub(super) fn parse(file: &[u8]) -> Result<(Self, usize), FileProblem> {
        let file_len = file.len() as u64;
        let cut_off = |what, needed, offset| FileProblem::CutOff { what, needed, offset, len: file_len };
        let len = file.first_chunk().copied().map(u64::from_le_bytes);
        let len = len.ok_or_else(|| cut_off("the length of the header", 8, 0))?;
        expect(len <= LONGEST, "the length of the header", 0, len, "100000000 at most")?;
        if len > file_len - 8 {
            return Err(cut_off("the header", len, 8));
        }
        let data_start = 8 + len as usize;
        let mut entries: BTreeMap<String, Value> = serde_json::from_slice(&file[8..data_start])?;
        let metadata = entries.remove(METADATA).ok_or(FileProblem::NoMetadata)?;
        let mut header = Header { metadata: serde_json::from_value(metadata)?, ..Header::default() };
        for (tensor, entry) in entries {
            match serde_json::from_value(entry) {
                Ok(info) => header.tensors.insert(tensor, info),
                Err(source) => return Err(FileProblem::TensorInfo { tensor, source }),
            };
        }
        header.check_checksum()?;
        header.check_tensors(file_len - data_start as u64)?;
        Ok((header, data_start))
    }

    fn check_checksum(&mut self) -> Result<(), FileProblem> {
        let what = || "the header".to_string();
        let expected = self.metadata.remove(CHECKSUM).ok_or_else(|| FileProblem::NoChecksum(what()))?;
        let found = self.checksum()?;
        if found == expected { Ok(()) } else { Err(FileProblem::Checksum { what: what(), expected, found }) }
    }

    /// Checks that the tensors have known types and checksums, and fill the data without gaps.
    fn check_tensors(&self, data_len: u64) -> Result<(), FileProblem> {
        let mut in_order: Vec<_> = self.tensors.iter().collect();
        in_order.sort_by_key(|(_, info)| info.data_offsets);
        let mut end = 0;
        for (name, info) in in_order {
            let tensor = name.clone();
            let width = info.dtype(name)?.width();
            let expected = [end, info.len().saturating_mul(width).saturating_add(end)];
            if info.data_offsets != expected {
                return Err(FileProblem::Offsets { tensor, found: info.data_offsets, expected });
            }
            if !self.metadata.contains_key(&checksum_key(name)) {
                return Err(FileProblem::NoChecksum(format!("tensor `{name}`")));
            }
            end = expected[1];
        }
        if end != data_len {
            return Err(FileProblem::DataLength { expected: end, found: data_len });
        }
        Ok(())
    }
}
