//! The cost of a checkpoint: its tables written number by number, and in the way that runs write them.
//!
//!     cargo run --release -p afterstate-network --example checkpoint -- runs/quick/checkpoint/state.safetensors
//!
//! Reads the tables first, so that the times are those of encoding and writing; a run also collects them from its memory.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use afterstate_network::file::safetensors::{Numbers, Part, Tensor, TensorFile, write};

/// The tensors of one table, with their names.
type Table<'a> = Vec<(&'a str, Numbers<'a>)>;

fn tensors<'a>(table: &'a Table<'a>) -> Vec<Tensor<'a>> {
    table.iter().map(|(name, numbers)| Tensor::copy(*name, numbers.floats())).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or("give the file of a checkpoint")?);
    let file = TensorFile::open(&path)?;
    let mut tables: Vec<Table<'_>> = Vec::new();
    for table in file.names().filter_map(|name| name.strip_prefix("V.")) {
        let kinds = ["V", "E", "A", "alpha", "h", "v"].map(|kind| format!("{kind}.{table}"));
        let names = file.names().filter(|name| kinds.iter().any(|kind| kind == name));
        let mut columns: Vec<_> = names.collect();
        columns.sort_by_key(|name| kinds.iter().position(|kind| kind == name));
        let read = columns.into_iter().map(|name| file.numbers(name).map(|numbers| (name, numbers)));
        tables.push(read.collect::<Result<_, _>>()?);
    }
    let plain = || tables.iter().flat_map(tensors).map(Part::Plain).collect::<Vec<_>>();
    let sparse = || tables.iter().map(tensors).map(Part::Sparse).collect::<Vec<_>>();
    for (name, parts) in [("plain", plain()), ("sparse", sparse())] {
        let output = path.with_extension(name);
        let start = Instant::now();
        write(&output, file.metadata(), parts)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{name:<7} {:>13} bytes on the disk, written in {seconds:.2} s", on_disk(&output)?);
        fs::remove_file(&output)?;
    }
    Ok(())
}

/// The disk space that a file takes, without its holes.
#[cfg(unix)]
fn on_disk(path: &Path) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(path)?.blocks() * 512)
}

#[cfg(not(unix))]
fn on_disk(path: &Path) -> std::io::Result<u64> {
    fs::metadata(path).map(|metadata| metadata.len())
}
