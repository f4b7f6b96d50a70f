//! What the papers say: tables and figures of results, row by row, and the claims based on them.
//!
//! There is one file in `papers/PAPER/` for each table or learning curve:
//!
//! ```toml
//! title = "Vertical split encoding on 3×3"
//! place = "Table 4, section 4"
//! trainings = 10                       # behind each figure; left out where the paper does not say
//! spread = "sd of trainings"           # what the figures behind ± are
//! excerpt = ["Table 4. Config", "range as"]    # where the table begins and ends in the paper's text
//! columns = [{ name = "score", games = 1000 }] # search = "1ply", tile = 32768, largest = [2, 256],
//!                                      # measure = "highest score", samples = 200_000_000
//! curve = true                         # for a learning curve, with as many `points` in the paper
//! shown = ["2% with ten trainings: docs/results.md"]    # where the documentation has results of ours
//! left_out = "an illustration"         # why nothing of it can be run
//! measured_by = "afterstate eval …"    # the command that measures it, if it is about no training
//!
//! [[row]]
//! name = "mnt4"                        # the recipe's, PAPER/TABLE/NAME, unless `recipe` names another
//! label = "mNT4, no VSE"               # dcnn = { layers, channels, samples } instead of a recipe, or
//!                                      # values = { network = "tjwei" or a set of tuples, samples }
//! paper = ["3226.0 ± 141.4"]           # a figure for each column; "" for none
//!
//! [[claim]]
//! says = "6-tuples are better than 4-tuples"
//! place = "section 4"
//! above = ["mnt6"]                     # rows, or row@column; `alike` and `within` for "about as good", and
//!                                      # `per = [5, 10]` for figures that are proportional to these numbers
//! below = ["mnt4"]
//! ```

mod column;
mod figure;

use serde::{Deserialize, Serialize};

use super::ReproduceError;

pub use column::{Column, Measure};
pub use figure::Figure;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/papers.rs"));
}

/// The number of trainings behind a figure if the paper does not say.
const TRAININGS: u64 = 10;

/// A table of results, or a learning curve.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// PAPER/TABLE, such as `terauchi-2025/table-4`.
    #[serde(skip)]
    pub name: String,
    /// What it is about.
    pub title: String,
    /// Where it is in the paper.
    pub place: String,
    /// Whether it is a learning curve.
    #[serde(default)]
    pub curve: bool,
    trainings: Option<u64>,
    /// The number of points of each line of a learning curve.
    pub points: Option<u64>,
    /// Where the documentation has our results, and at what share of the budget.
    #[serde(default)]
    pub shown: Vec<String>,
    /// The meaning of ± in the paper.
    #[serde(default)]
    pub spread: Spread,
    /// Which of several trainings counts.
    #[serde(default)]
    pub pick: Pick,
    /// Why none of it can be run.
    pub left_out: Option<String>,
    /// The command that measures it, if it needs no training.
    pub measured_by: Option<String>,
    /// The first and the last words of the table in the paper's text.
    pub excerpt: Option<[String; 2]>,
    /// The columns.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The rows.
    #[serde(rename = "row", default)]
    pub rows: Vec<Row>,
    /// What the paper concludes.
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
}

/// The meaning of ±.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Spread {
    /// Half the 95% confidence interval of the mean of several trainings.
    #[default]
    #[serde(rename = "ci95 of trainings")]
    TrainingsCi95,
    /// The standard deviation of several trainings.
    #[serde(rename = "sd of trainings")]
    TrainingsSd,
    /// Half the 95% confidence interval of the mean of one network's games.
    #[serde(rename = "ci95 of games")]
    GamesCi95,
    /// The standard deviation of several evaluations of one network.
    #[serde(rename = "sd of evaluations")]
    EvaluationsSd,
}

impl Spread {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Spread::TrainingsCi95 => "the 95% interval over trainings",
            Spread::TrainingsSd => "the standard deviation of trainings",
            Spread::GamesCi95 => "the 95% interval over one network's games",
            Spread::EvaluationsSd => "the standard deviation of evaluations of one network",
        }
    }
}

/// Which of several trainings counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// All: their mean.
    #[default]
    All,
    /// The one with the best greedy play.
    Best,
}

/// A row of a table, or a line of a curve.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name, unique in the table.
    pub name: String,
    /// Its name in the paper.
    pub label: String,
    recipe: Option<String>,
    /// The network that is taught by play records, instead of a recipe.
    pub dcnn: Option<Dcnn>,
    /// The network of values that is taught by play records, instead of a recipe.
    values: Option<TaughtValues>,
    /// Tuples that are only counted, instead of a recipe.
    pub tuples: Option<TupleCount>,
    search: Option<String>,
    games: Option<u64>,
    /// Why it cannot be run.
    pub left_out: Option<String>,
    #[serde(default, deserialize_with = "figure::figures")]
    paper: Vec<Option<Figure>>,
}

/// A policy network, and how long it is taught.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dcnn {
    /// The number of convolutions.
    pub layers: usize,
    /// The number of channels.
    pub channels: usize,
    /// The number of records, which the paper calls actions.
    pub samples: u64,
}

/// A network of values, and how long it is taught.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaughtValues {
    /// `tjwei` for the convolutional one, or the name of tuples.
    network: String,
    /// The number of records.
    samples: u64,
}

/// A number of tuples of one length, with 18 tile values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TupleCount {
    /// The number of tuples.
    pub count: u64,
    /// The number of cells of each.
    pub cells: u32,
}

impl Row {
    /// The network that is taught by play records, as keys of a recipe, and the number of records; `None` for a recipe.
    pub fn lesson(&self) -> Option<(Vec<String>, u64)> {
        match (self.dcnn, &self.values) {
            (Some(Dcnn { layers, channels, samples }), _) => {
                let keys = [("layers", layers), ("channels", channels)];
                Some((keys.map(|(key, size)| format!("dcnn.{key}={size}")).into(), samples))
            }
            (None, Some(TaughtValues { network, samples })) => {
                Some((vec![format!("dcnn.network=\"{network}\"")], *samples))
            }
            (None, None) => None,
        }
    }

    /// The paper's figure in a column.
    pub fn figure(&self, column: usize) -> Option<&Figure> {
        self.paper.get(column)?.as_ref()
    }

    /// The search that plays in a column: the row's, or the column's with the row's options.
    pub fn search(&self, column: &Column) -> String {
        match self.search.as_deref() {
            Some(options) if options.starts_with('+') => format!("{}{options}", column.search),
            Some(search) => search.to_owned(),
            None => column.search.clone(),
        }
    }

    /// The paper's number of games in a column.
    pub fn games(&self, column: &Column) -> u64 {
        self.games.unwrap_or(column.games)
    }
}

/// What a paper concludes from a table.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim, in one line.
    pub says: String,
    /// Where the paper makes it.
    pub place: String,
    /// The column in which rows are compared; the first one by default.
    pub column: Option<String>,
    /// The rows, or row@column, that are better …
    #[serde(default)]
    pub above: Vec<String>,
    /// … than these.
    #[serde(default)]
    pub below: Vec<String>,
    /// The rows that are about as good as the first of them …
    #[serde(default)]
    pub alike: Vec<String>,
    /// … after division by these numbers, one for each row, if figures are claimed to be proportional to something;
    /// empty for plain figures …
    #[serde(default)]
    pub per: Vec<f64>,
    /// … within this share of its value; for an order, the share by which the better rows may still fall short.
    #[serde(default)]
    pub within: f64,
}

impl Table {
    /// Parses a table with the given name.
    ///
    /// # Errors
    /// If the text is not a valid table.
    pub fn parse(name: &str, text: &str) -> Result<Table, ReproduceError> {
        let table: Table = toml::from_str(text)
            .map_err(|source| ReproduceError::Data { name: name.to_owned(), source: source.into() })?;
        Ok(Table { name: name.to_owned(), ..table })
    }

    /// Finds the table with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str) -> Result<Table, ReproduceError> {
        match embedded::EMBEDDED.iter().find(|(other, _)| *other == name) {
            Some((name, text)) => Table::parse(name, text),
            None => Err(ReproduceError::NoTable(name.to_owned())),
        }
    }

    /// Whether its figures are computed without training.
    pub fn is_counted(&self) -> bool {
        !self.columns.is_empty() && self.columns.iter().all(|column| column.measure.is_counted())
    }

    /// The number of trainings behind each figure.
    pub fn trainings(&self) -> u64 {
        self.trainings.unwrap_or(TRAININGS)
    }

    /// The name of a row's training: that of its recipe, or of the network that is taught.
    pub fn training_name(&self, row: &Row) -> String {
        let own = match row.dcnn {
            Some(Dcnn { layers, channels, .. }) => format!("{layers}-layers-{channels}-channels"),
            None => row.name.clone(),
        };
        row.recipe.clone().unwrap_or_else(|| format!("{}/{own}", self.name))
    }

    /// The indices of `row` or `row@column`; the column defaults to `default`.
    pub fn cell(&self, reference: &str, default: Option<&str>) -> Option<(usize, usize)> {
        let (row, column) = match reference.split_once('@') {
            Some((row, column)) => (row, Some(column)),
            None => (reference, default),
        };
        let row = self.rows.iter().position(|other| other.name == row)?;
        let column = match column {
            Some(column) => self.columns.iter().position(|other| other.name == column)?,
            None => 0,
        };
        Some((row, column))
    }
}

/// The names of all tables, paper by paper.
pub fn table_names() -> impl Iterator<Item = &'static str> {
    embedded::EMBEDDED.iter().map(|(name, _)| *name)
}
