//! `afterstate model`.

mod compact;
mod dcnn;
mod derived;
mod info;

use std::{
    collections::BTreeMap,
    io::Write,
    path::{Path, PathBuf},
};

use afterstate_lab::{
    model::{ModelError, open_file},
    run::Directory,
};
use afterstate_network::{
    NetworkSpec,
    file::{
        FileError, FileProblem, Format, ModelInfo, jaskowski, metadata,
        safetensors::{self, TensorFile},
        tdl2048::{self, WeightFile},
    },
};
use clap::{Args, Subcommand};
use serde_json::json;

use super::target;
use crate::{error::Failure, format::thousands};

/// Look at, import, export, fold, average and compact networks
///
/// Networks are kept in model files: safetensors, which Python reads with one line, with the shape of the
/// network in the metadata and a checksum for every table.
#[derive(Args)]
pub(crate) struct Model {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Info(info::Info),
    Import(Import),
    Export(Export),
    Compact(compact::Compact),
    Expand(compact::Expand),
    Fold(derived::Fold),
    Average(derived::Average),
}

/// Make a model file from a network of TDL2048+ or of Jaśkowski
///
/// The format is detected from the content: a .w file of TDL2048+, with or without the learning state of TC, which is
/// kept; or a player file of Jaśkowski (eval-function.bin) with one stage.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate model import 4x6patt.w -o 4x6.safetensors\n  \
    afterstate model import eval-function.bin -o jaskowski.safetensors")]
struct Import {
    /// The file to read
    file: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// Write a model for another program: a .w file of TDL2048+, or a player file of Jaśkowski
///
/// For networks of afterstates on 4×4 boards with 16 tile values. TDL2048+ has no stages; the learning state of TC is written
/// too if the model file holds it. A file that ends in .bin is one of Jaśkowski's player, which has the stages 2^g-carried
/// with promotion. An initial value is spread over the weights, so that values stay the same.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    afterstate model export 4x6.safetensors -o 4x6.w\n  \
    afterstate model export runs/stages -o eval-function.bin\n  \
    2048 -n 4x6patt -e 10 -i 4x6.w          TDL2048+ plays it")]
struct Export {
    /// The model file to read, or the directory of a run
    file: PathBuf,
    /// The .w or .bin file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Model {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        match self.action {
            Action::Info(info) => info.run(out),
            Action::Import(import) => import.run(out),
            Action::Export(export) => export.run(out),
            Action::Compact(compact) => compact.run(out),
            Action::Expand(expand) => expand.run(out),
            Action::Fold(fold) => fold.run(out),
            Action::Average(average) => average.run(out),
        }
    }
}

impl Import {
    fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        target::check(&self.output, target::Kind::Model)?;
        let source = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let extra = BTreeMap::from([("imported_from".to_string(), source)]);
        let (spec, what) = match Format::detect(&self.file).map_err(failure)? {
            Format::Tdl2048 => {
                let file = WeightFile::open(&self.file).map_err(failure)?;
                let metadata = metadata(file.spec(), &extra);
                safetensors::write(&self.output, &metadata, file.tensors()).map_err(failure)?;
                let what = if file.has_coherence() { ", with the learning state of TC" } else { "" };
                (file.spec().clone(), what)
            }
            Format::Jaskowski => {
                let network = jaskowski::import(&self.file).map_err(failure)?;
                network.save(&self.output, &extra).map_err(failure)?;
                (network.spec().clone(), "")
            }
            Format::Model => {
                let message = format!("{} is a model file already", self.file.display());
                return Err(Failure::input(message, "`afterstate model info` shows what is in it"));
            }
        };
        written(&self.output, &spec, what, self.json, out)
    }
}

impl Export {
    fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let is_player = self.output.extension().is_some_and(|ending| ending == "bin");
        let kind = if is_player { target::Kind::Player } else { target::Kind::Weights };
        target::check(&self.output, kind)?;
        let (file, info) = open_full(&self.file)?;
        if is_player {
            jaskowski::export(&self.output, &file).map_err(failure)?;
            return written(&self.output, &info.spec, "", self.json, out);
        }
        let tensors: Result<Vec<_>, _> = file.names().map(|name| file.to_tensor(name)).collect();
        tdl2048::export(&self.output, &info.spec, tensors.map_err(failure)?).map_err(failure)?;
        let what = if info.has_coherence { ", with the learning state of TC" } else { "" };
        written(&self.output, &info.spec, what, self.json, out)
    }
}

/// Reports what was written: the file, its network, and additional information.
fn written(
    path: &Path,
    spec: &NetworkSpec,
    note: &str,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if json {
        let answer = json!({
            "file": path,
            "tuples": spec.tuples.as_slice().len(),
            "stages": spec.stages.count(),
            "weights": spec.weights(),
            "bytes": std::fs::metadata(path).map(|metadata| metadata.len()).ok(),
            "note": note.trim_start_matches(", "),
        });
        return Ok(writeln!(out, "{answer}")?);
    }
    Ok(writeln!(out, "{}: {}{note}", path.display(), summary(spec))?)
}

/// Opens a model file whose tables are not packed.
fn open_full(path: &Path) -> Result<(TensorFile, ModelInfo), Failure> {
    let file = open_file(path)?;
    let info = ModelInfo::of(&file).map_err(failure)?;
    if info.is_packed {
        let message = format!("{} is a compact model, and this needs one with full tables", path.display());
        let command = format!("`afterstate model expand {} -o FULL.safetensors` makes one", path.display());
        return Err(Failure::input(message, command));
    }
    Ok((file, info))
}

/// Adds a hint.
impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let hint = match &error {
            ModelError::Recipe(_) | ModelError::Downgrade { .. } => {
                "the model was made by another version of this program, or damaged".to_owned()
            }
            ModelError::NoSearch { .. } => {
                "n-tuple networks play by `3ply` or `100ms`, policies by `majority` (the \
                 default), `plain` or `sum`, convolutional networks of values by `1ply`, solutions by `exact`"
                    .to_owned()
            }
            ModelError::Search(_) => "`afterstate eval --help` explains searches".to_owned(),
            ModelError::Side { .. } => "give a board or a model that fits the other".to_owned(),
            ModelError::Unsolved(_) => "`afterstate solve` solves 3×3 and 2×2".to_owned(),
            ModelError::NoNetwork { .. } => "`afterstate eval MODEL` lets it play whole games".to_owned(),
            ModelError::Solution(_) => "`afterstate solve -o FILE` makes one".to_owned(),
            ModelError::Values { .. } => {
                "`afterstate eval MODEL` plays it greedily, by its own values".to_owned()
            }
            ModelError::File(_) => String::new(),
        };
        match error {
            ModelError::File(error) => failure(error),
            error => Failure::input(error, hint),
        }
    }
}

/// A bad file is bad input; an error while writing is not.
pub(super) fn failure(error: FileError) -> Failure {
    match error.problem {
        FileProblem::DiskFull(_) => Failure::other(error, "make room, or write to another disk"),
        FileProblem::Write(ref cause) if is_mendable(cause) => {
            Failure::input(error, "name a file in a directory that exists, where you may write")
        }
        FileProblem::Write(_) => Failure::other(error, "is the disk in order, and may you write there?"),
        FileProblem::Network(_) => Failure::other(error, "a machine with more memory, or a smaller network"),
        FileProblem::Read(_) => Failure::input(error, "is it the right path, and may you read it?"),
        FileProblem::NotRegular => Failure::input(error, "name a file to write to"),
        FileProblem::Unsupported(_) | FileProblem::UnknownFormat => {
            Failure::input(error, "`afterstate model --help` says which files can be read and written")
        }
        FileProblem::NoMetadata
        | FileProblem::Dtype { .. }
        | FileProblem::Shape { .. }
        | FileProblem::MissingTensor(_)
        | FileProblem::UnexpectedTensor(_)
        | FileProblem::Twice(_)
        | FileProblem::TableLength { .. }
        | FileProblem::Metadata { .. }
        | FileProblem::Tuple(_)
        | FileProblem::Spec(_) => Failure::input(
            error,
            "it is not a model of this program; docs/model-files.md describes those that are",
        ),
        FileProblem::CutOff { .. }
        | FileProblem::Field { .. }
        | FileProblem::Trailing(_)
        | FileProblem::Header(_)
        | FileProblem::TensorInfo { .. }
        | FileProblem::Offsets { .. }
        | FileProblem::DataLength { .. }
        | FileProblem::NoChecksum(_)
        | FileProblem::Checksum { .. }
        | FileProblem::Packed(_)
        | FileProblem::NotFinite { .. } => {
            let hint = how_to_mend(&error.path);
            Failure::input(error, hint)
        }
    }
}

/// How to replace a damaged file: a run can write its files again.
fn how_to_mend(path: &Path) -> String {
    let parent = path.parent().unwrap_or(Path::new(""));
    let is_checkpoint = parent.file_name().is_some_and(|name| name == "checkpoint");
    let run = Directory::new(if is_checkpoint { parent.parent().unwrap_or(parent) } else { parent });
    let place = run.path().display();
    if !run.holds_run() {
        return "the file is damaged: get it again".into();
    }
    if run.has_checkpoint() && run.model() == path {
        return format!(
            "`afterstate train {place} --resume` writes it again, from the checkpoint of that run"
        );
    }
    format!("`afterstate runs rm {place}` removes that run, and the command that made it trains it again")
}

/// Whether another path may help, which the user can choose.
fn is_mendable(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        cause.kind(),
        ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
    )
}

/// A network in a few words.
fn summary(spec: &NetworkSpec) -> String {
    let tuples = spec.tuples.as_slice().len();
    format!("{tuples} tuple{}, {} weights", if tuples == 1 { "" } else { "s" }, thousands(spec.weights()))
}
