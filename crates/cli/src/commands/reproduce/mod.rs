//! `afterstate reproduce`.

mod display;
mod list;
mod ranks;

use std::{
    fs,
    io::{Write, stderr},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use afterstate_cluster::world;
use afterstate_dcnn::Device;
use afterstate_lab::{deal::Part, log::LogError};
use afterstate_network::file::atomic::write_atomically;
use afterstate_papers::{
    report::{figure_page, svg},
    reproduce::{GameCounts, LearningCurves, Options, Report, ReproduceError, Table, TablePlan, work},
};
use clap::Args;

use super::{Ranks, model::failure as file_failure, thread_count, train::failure as run_failure};
use crate::error::Failure;
use display::Display;

/// Run a paper's table, and put the results beside the paper's
///
/// Without --share, lists every table and figure of the papers with its state: what of it has been run and where the
/// results are, what can be run, and what cannot and why; TABLE is then a prefix of the names to list. With --time
/// the list also has the time that training would take here at the paper's budget, from a short measurement for each
/// size of network.
///
/// With --share, trains every row of the table at that share of the paper's budget, evaluates it as the paper does,
/// and writes report.md and report.json: the paper's figures, ours, and for each claim of the paper whether it was
/// seen, by the 95% interval of the difference. A figure is drawn as well: figure.svg and figure.html. Finished
/// work is not repeated: after an interruption (Ctrl-C saves) the same command continues. Tables that are only counted need
/// no --share.
///
/// The networks of kondo-2019 are taught by the games of a strong player: `afterstate record` makes them, and --records
/// says where they are. They learn from that share of the paper's number of records; if there are fewer, these repeat.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate reproduce                                        every table and figure, and its state\n  \
    afterstate reproduce guei-2021                              those of a paper\n  \
    afterstate reproduce terauchi-2025/table-4 --share 0.02     a table at a fiftieth of its budget\n  \
    afterstate reproduce jaskowski-2016/figure-4 --share 0.005  a figure, as SVG and HTML\n  \
    afterstate reproduce guei-2021/table-7 --share 0.01 --games 1ply=10000,3ply=300\n  \
    afterstate reproduce jaskowski-2016/table-7 --share 0.001 --seeds 1 --plies 1\n  \
    afterstate reproduce guei-2021/table-7 --share 0.01 --part 3/16     a sixteenth of the trainings\n  \
    afterstate reproduce kondo-2019/table-4 --share 0.001 --records records")]
pub(crate) struct Reproduce {
    /// The table, such as terauchi-2025/table-4
    #[arg(default_value = "", hide_default_value = true)]
    table: String,
    /// The share of the paper's budget, above 0 and at most 1
    #[arg(long, value_name = "SHARE")]
    share: Option<f64>,
    /// The number of trainings of each row [the paper's]
    #[arg(long, value_name = "N", value_parser = crate::commands::numbers::parse_count)]
    seeds: Option<u64>,
    /// The number of games of each evaluation, or of each search, such as 1ply=100000,3ply=1000 [the paper's; below the
    /// whole budget at most 1000, 100 at 2- or 3-ply, 10 beyond]
    #[arg(long, value_name = "N")]
    games: Option<GameCounts>,
    /// Do part K of N of the trainings, in a directory that all parts share; the same command without it writes the report
    #[arg(long, value_name = "K/N", requires = "share")]
    part: Option<Part>,
    /// Leave out searches deeper than this, and those by time
    #[arg(long, value_name = "N")]
    plies: Option<u32>,
    /// The directory of the play records, for networks trained on them
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
    /// Where networks learn from records: cpu, or gpu in a program built with GPU support
    #[arg(long, default_value_t)]
    device: Device,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// The directory of the trainings and the report [runs/reproduce/TABLE/share-SHARE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also list how long the tables take on this machine
    #[arg(long, conflicts_with = "share")]
    time: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

impl Reproduce {
    /// How the ranks of `mpirun` share it.
    pub(crate) fn ranks(&self) -> Ranks {
        if self.part.is_some() {
            let message =
                "the ranks of mpirun share all trainings of a table, and `--part` asks for some of them";
            return Ranks::None(message, "leave out `--part`, or start it without mpirun");
        }
        let is_run = self.share.is_some() || Table::find(&self.table).is_ok_and(|table| table.is_counted());
        if is_run { Ranks::All } else { Ranks::First }
    }

    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let threads = thread_count(self.threads);
        let counted = Table::find(&self.table).ok().filter(Table::is_counted);
        let Some(share) = self.share.or(counted.map(|_| 1.0)) else {
            return list::list(&self.table, threads, self.time, self.json, out);
        };
        let table = Table::find(&self.table).map_err(failure)?;
        if let Some(reason) = &table.left_out {
            let message = format!("{} cannot be run: {reason}", table.name);
            return Err(Failure::input(message, "`afterstate reproduce` lists what can be run"));
        }
        if let Some(command) = &table.measured_by {
            let message = format!("{} is about no training, of which there could be a share", table.name);
            return Err(Failure::input(message, format!("`{command}` measures it")));
        }
        let options = Options {
            share,
            trainings: self.seeds,
            games: self.games.clone().unwrap_or_default(),
            plies: self.plies,
            threads,
            records: self.records.clone(),
            device: self.device,
        };
        let plan = TablePlan::new(table, options).map_err(failure)?;
        let directory = self.out.clone().unwrap_or_else(|| {
            Path::new("runs/reproduce").join(&plan.table.name).join(format!("share-{share}"))
        });
        let stop = crate::signals::stop_signal()?;
        if let Some(part) = self.part {
            return reproduce_part(&plan, &directory, part, &stop, out);
        }
        if let Some(world) = world()
            && !ranks::train(world, &plan, &directory, &stop).map_err(failure)?
        {
            return Ok(());
        }
        let mut display = Display::new(&plan);
        let trained = work::run(&plan, &directory, &stop, &mut |job, event| display.show(job, event));
        display.finish();
        let Some(trained) = trained.map_err(failure)? else {
            let message = "stopped and saved; the same command continues";
            return Ok(writeln!(stderr(), "{message}")?);
        };
        fs::create_dir_all(&directory)?;
        let report = Report::new(&plan, &trained);
        let markdown = report.to_markdown();
        let json = serde_json::to_string_pretty(&report).map_err(std::io::Error::from)?;
        let mut files = vec![("report.md", markdown.clone()), ("report.json", json.clone())];
        if plan.table.curve {
            let curves = LearningCurves::read(&plan, &directory, &trained).map_err(failure)?;
            let drawn = svg(&curves).and_then(|svg| Ok((svg, figure_page(&curves, &report)?)));
            let (svg, html) = drawn.map_err(|error| Failure::other(error, "report.md has the figures"))?;
            files.extend([("figure.svg", svg), ("figure.html", html)]);
        }
        for (name, text) in &files {
            write_atomically(&directory.join(name), |file| file.write_all(text.as_bytes()))
                .map_err(file_failure)?;
        }
        write!(out, "{}", if self.json { json + "\n" } else { markdown })?;
        if !self.json {
            let place = directory.display();
            let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
            writeln!(out, "in {place}: {}, and the runs\nnext: afterstate report {place}", names.join(", "))?;
        }
        Ok(())
    }
}

/// Runs a part of a table's trainings.
fn reproduce_part(
    plan: &TablePlan,
    directory: &Path,
    part: Part,
    stop: &AtomicBool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let jobs = work::PlanPart::new(plan, part);
    let mut display = Display::new(plan);
    let done = work::run_share(plan, directory, &jobs, stop, &mut |job, event| display.show(job, event));
    display.finish();
    let Some(done) = done.map_err(failure)? else {
        return Ok(writeln!(stderr(), "stopped and saved; the same command continues")?);
    };
    let (place, all) = (directory.display(), plan.trainings.len() as u64 * plan.seeds());
    writeln!(out, "part {part}: {} of {all} trainings are done in {place}", done.len())?;
    Ok(writeln!(out, "next: when all parts are done, the same command without `--part` writes the report")?)
}

/// Adds a hint.
fn failure(error: ReproduceError) -> Failure {
    match error {
        ReproduceError::Run(error) => run_failure(error),
        ReproduceError::Model(error) => file_failure(error),
        ReproduceError::NoRecords(_) => Failure::input(
            error,
            "`afterstate record --model MODEL --search 3ply --games 500 --out records` makes some, and \
             `--records records` gives them",
        ),
        ReproduceError::OtherRecords { .. } => {
            Failure::input(error, "give those with `--records`, or another directory with `--out`")
        }
        ReproduceError::NoTable(_) => Failure::input(error, "`afterstate reproduce` lists the tables"),
        ReproduceError::Share(_) => {
            Failure::input(error, "`--share 0.01` is a hundredth of the paper's budget")
        }
        ReproduceError::OtherBudget(_) => {
            Failure::input(error, "give another directory with `--out`, or the share that it was begun with")
        }
        ReproduceError::Log(LogError::Other { .. } | LogError::Foreign { .. } | LogError::Busy(_)) => {
            Failure::input(error, "give another directory with `--out`")
        }
        ReproduceError::File { .. } | ReproduceError::Log(_) => {
            Failure::other(error, "is there room on the disk, and may you write there?")
        }
        _ => Failure::other(error, "`afterstate reproduce` lists what can be run"),
    }
}
