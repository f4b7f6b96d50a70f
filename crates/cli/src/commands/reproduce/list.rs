//! The tables of the papers, and how long they would take here.

use std::io::Write;

use afterstate_lab::reproduce::{Options, Plan, Rates, Table, table_names};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::failure;
use crate::{commands::train::duration, error::Failure};

/// Lists the tables whose names begin so.
pub(super) fn list(begin: &str, threads: usize, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let names: Vec<_> = table_names().filter(|name| name.starts_with(begin)).collect();
    if names.is_empty() {
        let message = format!("no table of a paper has a name that begins with `{begin}`");
        return Err(Failure::input(message, "`afterstate reproduce` lists all tables"));
    }
    let mut rates = Rates::new(threads);
    let mut entries = Vec::new();
    let bar = ProgressBar::new(names.len() as u64).with_message("measuring how fast networks train here");
    for name in names {
        bar.inc(1);
        entries.push(Entry::new(name, threads, &mut rates)?);
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
    let rate =
        "Times are those of the training alone, at the paper's budget, with as many trainings as there:";
    writeln!(
        out,
        "\n{rate}\nrates were measured for a moment at the beginning, when games are short and fast."
    )?;
    Ok(writeln!(out, "next: afterstate reproduce TABLE --share 0.01")?)
}

/// Seconds as days where they are many.
fn long(seconds: f64) -> String {
    match seconds / 86_400.0 {
        days @ 100.0.. => format!("{days:.0} days"),
        days @ 2.0.. => format!("{days:.1} days"),
        _ => duration(seconds),
    }
}

/// A table in the list.
struct Entry {
    table: Table,
    trainings: usize,
    budget: String,
    /// Seconds; none when nothing can be run, or no rate could be measured.
    seconds: Option<f64>,
    /// Whether it needs --records.
    needs_records: bool,
    /// The rows that cannot be run, and why.
    left_out: Vec<(String, String)>,
}

impl Entry {
    fn new(name: &str, threads: usize, rates: &mut Rates) -> Result<Entry, Failure> {
        let table = Table::find(name).map_err(failure)?;
        let options =
            Options { share: 1.0, trainings: None, games: None, plies: None, threads, records: None };
        let plan = Plan::new(table, options).map_err(failure)?;
        let left_out = plan.left_out().map(|(row, reason)| (row.label.clone(), reason.to_owned())).collect();
        let mut budgets: Vec<_> = plan.trainings.iter().map(|training| training.budget.clone()).collect();
        budgets.sort();
        budgets.dedup();
        let trainings = plan.trainings.len();
        let seconds = if trainings > 0 { rates.seconds(&plan).map_err(failure)? } else { None };
        let (needs_records, budget) = (plan.needs_records(), budgets.join(", "));
        Ok(Entry { table: plan.table, trainings, budget, seconds, needs_records, left_out })
    }

    fn json(&self) -> Value {
        let left_out = self.left_out.iter().map(|(row, reason)| json!({ "row": row, "reason": reason }));
        json!({
            "name": self.table.name,
            "title": self.table.title,
            "place": self.table.place,
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
        let Entry { table, trainings, budget, seconds, needs_records, left_out } = self;
        let name = &table.name;
        writeln!(out, "  {name:<26} {} ({})", table.title, table.place)?;
        let work = (*trainings > 0).then(|| {
            let time = seconds.map_or("how long could not be measured".to_owned(), long);
            let each = table.trainings();
            let s = if trainings * each as usize == 1 { "" } else { "s" };
            format!("{trainings} × {each} training{s} of {budget}: {time}")
        });
        let missing = match (left_out.len(), left_out.first()) {
            (0, _) | (_, None) => None,
            (missing, Some((_, reason))) if missing == table.rows.len() => Some(reason.clone()),
            (1, Some((row, reason))) => Some(format!("without {row}: {reason}")),
            (missing, Some((_, reason))) => Some(format!("without {missing} rows: {reason} and so on")),
        };
        let records = needs_records.then(|| "needs --records".to_owned());
        let words: Vec<_> = work.into_iter().chain(records).chain(missing).collect();
        Ok(writeln!(out, "  {:<26} {}", "", words.join("; "))?)
    }
}
