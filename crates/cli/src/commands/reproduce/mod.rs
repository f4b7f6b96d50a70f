//! `afterstate reproduce`.

mod display;
mod list;

use std::{
    fs,
    io::{Write, stderr},
    path::{Path, PathBuf},
};

use afterstate_lab::reproduce::{Options, Plan, Report, ReproduceError, Table, work};
use afterstate_network::file::atomic::write_atomically;
use clap::Args;

use super::{
    dcnn::failure as dcnn_failure,
    model::failure as file_failure,
    thread_count,
    train::{failure as run_failure, stop_signal},
};
use crate::error::Failure;
use display::Display;

/// Run a paper's table, and put the results beside the paper's
///
/// Without --share, lists the results tables and learning curves of the papers, with the budget there and the time that
/// training would take here at that budget, by a rate that is measured for a moment for each size of network; TABLE is
/// then how the names begin that are listed.
///
/// With --share, trains every row of the table at that share of the paper's budget, evaluates it as the paper does, and
/// writes report.md and report.json: the paper's figures, ours, and for each claim of the paper whether it was seen, by
/// the 95% interval of the difference. What is done is not done again: after an interruption (Ctrl-C saves) the same
/// command goes on.
///
/// The networks of kondo-2019 are taught by the games of a strong player: `afterstate record` makes them, and --records
/// says where they are. They learn from that share of the paper's number of records; where there are fewer, they see them
/// again.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate reproduce                                        every table, and how long it takes here\n  \
    afterstate reproduce guei-2021                              those of a paper\n  \
    afterstate reproduce terauchi-2025/table-4 --share 0.02     a table at a fiftieth of its budget\n  \
    afterstate reproduce jaskowski-2016/table-7 --share 0.001 --seeds 1 --plies 1\n  \
    afterstate reproduce kondo-2019/table-4 --share 0.001 --records records")]
pub(crate) struct Reproduce {
    /// The table, such as terauchi-2025/table-4
    #[arg(default_value = "", hide_default_value = true)]
    table: String,
    /// The share of the paper's budget, above 0 and at most 1
    #[arg(long, value_name = "SHARE")]
    share: Option<f64>,
    /// The number of trainings of each row [the paper's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// The number of games of each evaluation [the paper's, at most 1000; 100 at 2- or 3-ply, 10 beyond]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Leave out searches deeper than this, and those by time
    #[arg(long, value_name = "N")]
    plies: Option<u32>,
    /// The directory of the play records, for networks that are taught by them
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// The directory of the trainings and the report [runs/reproduce/TABLE/share-SHARE]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

impl Reproduce {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let threads = thread_count(self.threads);
        let Some(share) = self.share else { return list::list(&self.table, threads, self.json, out) };
        let table = Table::find(&self.table).map_err(failure)?;
        let options = Options {
            share,
            trainings: self.seeds,
            games: self.games,
            plies: self.plies,
            threads,
            records: self.records.clone(),
        };
        let plan = Plan::new(table, options).map_err(failure)?;
        let directory = self.out.clone().unwrap_or_else(|| {
            Path::new("runs/reproduce").join(&plan.table.name).join(format!("share-{share}"))
        });
        let stop = stop_signal()?;
        let mut display = Display::new(&plan);
        let trained = work::run(&plan, &directory, &stop, &mut |job, event| display.show(job, event));
        display.finish();
        let Some(trained) = trained.map_err(failure)? else {
            let message = "stopped and saved; the same command goes on";
            return Ok(writeln!(stderr(), "{message}")?);
        };
        fs::create_dir_all(&directory)?;
        let report = Report::new(&plan, &trained);
        let markdown = report.to_markdown();
        let json = serde_json::to_string_pretty(&report).map_err(std::io::Error::from)?;
        for (name, text) in [("report.md", &markdown), ("report.json", &json)] {
            write_atomically(&directory.join(name), |file| file.write_all(text.as_bytes()))
                .map_err(file_failure)?;
        }
        write!(out, "{}", if self.json { json + "\n" } else { markdown })?;
        if !self.json {
            let place = directory.display();
            writeln!(
                out,
                "in {place}: report.md, report.json, and the runs\nnext: afterstate report {place}"
            )?;
        }
        Ok(())
    }
}

/// Says what may help.
fn failure(error: ReproduceError) -> Failure {
    match error {
        ReproduceError::Run(error) => run_failure(error),
        ReproduceError::Model(error) => file_failure(error),
        ReproduceError::Dcnn(error) => dcnn_failure(error),
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
        ReproduceError::Keep(_) => Failure::input(error, "give another directory with `--out`"),
        ReproduceError::File { .. } | ReproduceError::Log(_) => {
            Failure::other(error, "is there room on the disk, and may you write there?")
        }
        _ => Failure::other(error, "`afterstate reproduce` lists what can be run"),
    }
}
