//! Embeds a folder of TOML files from build scripts: a new file there needs no new code.

use std::{
    error::Error,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// Writes a source file to `OUT_DIR` with the contents of a folder's TOML files: the constant `EMBEDDED`, of (name,
/// text). The folder's path is relative to the crate.
///
/// # Errors
/// If the folder cannot be read, or this is not a build script.
pub fn embed(folder: &str, output: &str) -> Result<(), Box<dyn Error>> {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join(folder).canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    // Shorter names first, so that table-10 follows table-8.
    files.sort_by_key(|file| (file.parent().map(Path::to_owned), file.as_os_str().len(), file.clone()));

    let mut code = format!("/// The files of `{folder}` as (name, text), folder by folder.\n");
    writeln!(code, "pub(super) const EMBEDDED: &[(&str, &str)] = &[")?;
    for file in files {
        let name = file.strip_prefix(&root)?.with_extension("").to_string_lossy().replace('\\', "/");
        writeln!(code, "    ({name:?}, include_str!({file:?})),")?;
    }
    writeln!(code, "];")?;
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join(output), code)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
