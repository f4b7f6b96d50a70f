//! Every table and figure of the papers, and its state.

use std::{fs, io::Write, path::Path};

use afterstate_dcnn::Device;
use afterstate_papers::reproduce::{GameCounts, Options, Rates, Report, Table, TablePlan, table_names};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::failure;
use crate::{error::Failure, format::duration};

/// Lists the tables whose names have a prefix; with the time that they take here only if requested.
pub(super) fn list(
    begin: &str,
    threads: usize,
    time: bool,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut names: Vec<_> = table_names().filter(|name| name.starts_with(begin)).collect();
    if names.is_empty() {
        let message = format!("no table of a paper has a name that begins with `{begin}`");
        return Err(Failure::input(message, "`afterstate reproduce` lists all tables"));
    }
    names.sort_by_key(|name| as_people_count(name));
    let mut rates = time.then(|| Rates::new(threads));
    let mut entries = Vec::new();
    let bar = if time { ProgressBar::new(names.len() as u64) } else { ProgressBar::hidden() };
    let bar = bar.with_message("measuring how fast networks train here");
    for name in names {
        bar.inc(1);
        entries.push(Entry::new(name, threads, rates.as_mut())?);
    }
    bar.finish_and_clear();
    if json {
        let entries: Vec<Value> = entries.iter().map(Entry::json).collect();
        return Ok(writeln!(out, "{}", Value::from(entries))?);
    }
    let mut paper = "";
    for entry in &entries {
        let begin = entry.table.name.split('/').next().unwrap_or_default();
        if begin != paper {
            paper = begin;
            writeln!(out, "{}{paper}", if std::ptr::eq(entry, &entries[0]) { "" } else { "\n" })?;
        }
        entry.write(out)?;
    }
    if time {
        writeln!(
            out,
            "\nTimes are those of the training alone, at the paper's budget, with as many trainings as there:\n\
             rates were measured for a moment at the beginning, when games are short and fast."
        )?;
    }
    Ok(writeln!(out, "next: afterstate reproduce TABLE --share 0.01")?)
}

/// The sort key: the paper, then tables before figures, by number.
fn as_people_count(name: &str) -> (String, bool, u32) {
    let (paper, item) = name.split_once('/').unwrap_or((name, ""));
    let number = item.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(u32::MAX);
    (paper.to_owned(), item.starts_with("figure"), number)
}

/// Formats seconds, as days if there are many.
fn long(seconds: f64) -> String {
    match seconds / 86_400.0 {
        days @ 100.0.. => format!("{days:.0} days"),
        days @ 2.0.. => format!("{days:.1} days"),
        _ => duration(seconds),
    }
}

/// An entry of the list.
struct Entry {
    table: Table,
    trainings: usize,
    budget: String,
    /// Seconds; `None` if nothing can be run, or no rate was measured.
    seconds: Option<f64>,
    /// Whether it needs --records.
    needs_records: bool,
    /// The rows that cannot be run, and why.
    left_out: Vec<(String, String)>,
    /// The share and the number of trainings of each result in this directory.
    here: Vec<(f64, u64)>,
}

impl Entry {
    fn new(name: &str, threads: usize, rates: Option<&mut Rates>) -> Result<Entry, Failure> {
        let table = Table::find(name).map_err(failure)?;
        let (trainings, plies, games, records) = (None, None, GameCounts::default(), None);
        let options = Options { share: 1.0, trainings, games, plies, threads, records, device: Device::Cpu };
        let plan = TablePlan::new(table, options).map_err(failure)?;
        let left_out = plan.left_out().map(|(row, reason)| (row.label.clone(), reason.to_owned())).collect();
        let mut budgets: Vec<_> = plan.trainings.iter().map(|training| training.budget.clone()).collect();
        budgets.sort();
        budgets.dedup();
        let trainings = plan.trainings.len();
        let seconds = match rates.filter(|_| trainings > 0) {
            Some(rates) => rates.seconds(&plan).map_err(failure)?,
            None => None,
        };
        let (needs_records, budget) = (plan.needs_records(), budgets.join(", "));
        let here = run_here(name);
        Ok(Entry { table: plan.table, trainings, budget, seconds, needs_records, left_out, here })
    }

    /// Its state in a word.
    fn state(&self) -> &'static str {
        match () {
            () if self.table.is_counted() => "counted",
            () if self.table.measured_by.is_some() => "measured",
            () if self.trainings > 0 => "runnable",
            () => "not run",
        }
    }

    fn json(&self) -> Value {
        let left_out = self.left_out.iter().map(|(row, reason)| json!({ "row": row, "reason": reason }));
        let here =
            self.here.iter().map(|(share, trainings)| json!({ "share": share, "trainings": trainings }));
        json!({
            "name": self.table.name,
            "title": self.table.title,
            "place": self.table.place,
            "state": self.state(),
            "reason": self.table.left_out,
            "measured_by": self.table.measured_by,
            "shown": self.table.shown,
            "here": here.collect::<Vec<_>>(),
            "curve": self.table.curve,
            "rows": self.table.rows.len(),
            "trainings": self.trainings as u64 * self.table.trainings(),
            "budget": self.budget,
            "seconds": self.seconds,
            "needs_records": self.needs_records,
            "left_out": left_out.collect::<Vec<_>>(),
        })
    }

    fn write(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let table = &self.table;
        writeln!(out, "  {:<26} {} ({})", table.name, table.title, table.place)?;
        for line in &table.shown {
            writeln!(out, "  {:<26} run: {line}", "")?;
        }
        for (share, trainings) in &self.here {
            let s = if *trainings == 1 { "" } else { "s" };
            let share = 100.0 * share;
            writeln!(out, "  {:<26} run here: {share}% of the budget, {trainings} training{s}", "")?;
        }
        Ok(writeln!(out, "  {:<26} {}", "", self.what_can_be_run())?)
    }

    /// The time that training at the paper's budget takes, and what cannot be run.
    fn what_can_be_run(&self) -> String {
        let Entry { table, trainings, budget, seconds, needs_records, left_out, .. } = self;
        if let Some(reason) = &table.left_out {
            return format!("not run: {reason}");
        }
        if let Some(command) = &table.measured_by {
            return format!("measured: {command}");
        }
        if table.is_counted() {
            return format!("counted: afterstate reproduce {}", table.name);
        }
        let work = (*trainings > 0).then(|| {
            let time = seconds.map(|seconds| format!(": {}", long(seconds))).unwrap_or_default();
            let each = table.trainings();
            let s = if trainings * each as usize == 1 { "" } else { "s" };
            format!("runnable: {trainings} × {each} training{s} of {budget}{time}")
        });
        let missing = match (left_out.len(), left_out.first()) {
            (0, _) | (_, None) => None,
            (missing, Some((_, reason))) if missing == table.rows.len() => Some(format!("not run: {reason}")),
            (1, Some((row, reason))) => Some(format!("without {row}: {reason}")),
            (missing, Some((_, reason))) => Some(format!("without {missing} rows: {reason} and so on")),
        };
        let records = needs_records.then(|| "needs --records".to_owned());
        work.into_iter().chain(records).chain(missing).collect::<Vec<_>>().join("; ")
    }
}

/// The share and the number of trainings of each report on a table under `runs/reproduce`; unreadable reports are
/// skipped.
fn run_here(name: &str) -> Vec<(f64, u64)> {
    let folder = Path::new("runs/reproduce").join(name);
    let runs = fs::read_dir(folder).into_iter().flatten().flatten();
    let report = |path: &Path| -> Option<Report> {
        serde_json::from_slice(&fs::read(path.join("report.json")).ok()?).ok()
    };
    let mut here: Vec<_> = runs
        .filter_map(|run| report(&run.path()))
        .map(|report| (report.share, report.trainings[1]))
        .collect();
    here.sort_by(|a, b| a.0.total_cmp(&b.0));
    here
}
