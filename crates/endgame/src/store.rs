//! The layers that the way forward found, kept for the way back: in memory, or in a file that a killed solver continues with.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

use crate::{
    bitmap::Bitmap,
    frame::{HEAD, Head, compress, decompress},
    layer::Layer,
};

/// Fast, and nearly as small as slower ones.
const LEVEL: i32 = 1;

/// The sum of the frame behind the last layer.
const END: u32 = u32::MAX;

/// Layers from the smallest sum on, without gaps.
pub(crate) struct Store {
    place: Place,
    /// The heads of all layers, and where their contents begin.
    heads: Vec<(Head, u64)>,
    /// Where the next frame begins.
    end: u64,
    is_complete: bool,
}

enum Place {
    Memory(Vec<u8>),
    File(File),
}

impl Store {
    pub(crate) fn in_memory() -> Self {
        Store { place: Place::Memory(Vec::new()), heads: Vec::new(), end: 0, is_complete: false }
    }

    /// A file that begins with a key: with the layers that it holds whole, if its key is the same, else with none.
    pub(crate) fn open(file: File, key: &[u8]) -> io::Result<Self> {
        let mut store = Store { place: Place::File(file), heads: Vec::new(), end: 0, is_complete: false };
        let length = store.length()?;
        if length < key.len() as u64 || store.read(0, key.len())? != key {
            store.truncate(0)?;
            store.append(key)?;
            return Ok(store);
        }
        store.end = key.len() as u64;
        while let Some((head, content)) = store.frame_at(store.end, length)? {
            if head.sum == END {
                store.is_complete = true;
                break;
            }
            if head.sum != store.heads.len() as u32 || !head.fits(&content) {
                break;
            }
            store.heads.push((head, store.end + HEAD as u64));
            store.end += HEAD as u64 + head.len();
        }
        store.truncate(store.end)?;
        if store.is_complete {
            store.finish()?;
        }
        Ok(store)
    }

    /// The number of layers.
    pub(crate) fn layers(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are no more layers to come.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The number of positions of each layer.
    pub(crate) fn counts(&self) -> Vec<u64> {
        self.heads.iter().map(|(head, _)| head.count.into()).collect()
    }

    /// Adds the next layer.
    pub(crate) fn push(&mut self, bitmap: &Bitmap) -> io::Result<()> {
        let content = compress(&bitmap.to_bytes(), LEVEL);
        let head = Head::new(self.heads.len() as u32, bitmap.len as u32, [&content, &[]]);
        self.heads.push((head, self.end + HEAD as u64));
        self.append(&[&head.to_bytes()[..], &content].concat())
    }

    /// There are no more layers.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.is_complete = true;
        let end = self.end;
        self.append(&Head::new(END, 0, [&[], &[]]).to_bytes())?;
        self.end = end;
        Ok(())
    }

    /// The positions of a layer.
    pub(crate) fn get(&mut self, layer: &Layer) -> io::Result<Bitmap> {
        let (head, offset) = self.heads[layer.sum];
        let content = self.read(offset, head.len() as usize)?;
        let blocks = layer.bits.div_ceil(crate::bitmap::BLOCK_BITS) as usize;
        let bytes = decompress(&content, layer.bits.div_ceil(8) as usize + 8 + 8 * blocks);
        let bitmap = bytes.and_then(|bytes| Bitmap::from_bytes(&bytes, layer.bits));
        let bitmap = bitmap.filter(|bitmap| bitmap.len == head.count as usize);
        bitmap.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("layer {} is damaged", 2 * layer.sum))
        })
    }

    /// The bytes that it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        if let Place::Memory(bytes) = &self.place { bytes.capacity() } else { 0 }
    }

    fn length(&mut self) -> io::Result<u64> {
        match &mut self.place {
            Place::Memory(bytes) => Ok(bytes.len() as u64),
            Place::File(file) => Ok(file.metadata()?.len()),
        }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        match &mut self.place {
            Place::Memory(bytes) => bytes.truncate(length as usize),
            Place::File(file) => file.set_len(length)?,
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.place {
            Place::Memory(memory) => {
                // No more than is needed: it may be most of the memory that there is.
                memory.reserve_exact(bytes.len());
                memory.extend(bytes);
            }
            Place::File(file) => {
                file.seek(SeekFrom::Start(self.end))?;
                file.write_all(bytes)?;
            }
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        match &mut self.place {
            Place::Memory(bytes) => Ok(bytes[offset as usize..offset as usize + length].to_vec()),
            Place::File(file) => {
                file.seek(SeekFrom::Start(offset))?;
                let mut bytes = vec![0; length];
                file.read_exact(&mut bytes)?;
                Ok(bytes)
            }
        }
    }

    /// The frame at an offset, unless the file ends before it does.
    fn frame_at(&mut self, offset: u64, length: u64) -> io::Result<Option<(Head, Vec<u8>)>> {
        if offset + HEAD as u64 > length {
            return Ok(None);
        }
        let head = self.read(offset, HEAD)?;
        let head = Head::of(head[..].try_into().expect("a head"));
        if offset + HEAD as u64 + head.len() > length {
            return Ok(None);
        }
        Ok(Some((head, self.read(offset + HEAD as u64, head.len() as usize)?)))
    }
}
