//! What the papers say: tables and figures of results, row by row, and what is claimed of them.
//!
//! One file of `papers/PAPER/` for each table or learning curve:
//!
//! ```toml
//! title = "Vertical split encoding on 3×3"
//! place = "Table 4, section 4"
//! trainings = 10                       # behind each figure; left out where the paper does not say
//! spread = "sd of trainings"           # what the figures behind ± are
//! excerpt = ["Table 4. Config", "range as"]    # where the table begins and ends in the paper's text
//! columns = [{ name = "score", games = 1000 }] # search = "1ply", tile = 32768, measure = "highest score"
//!
//! [[row]]
//! name = "mnt4"                        # the recipe's, PAPER/TABLE/NAME, unless `recipe` names another
//! label = "mNT4, no VSE"
//! paper = ["3226.0 ± 141.4"]           # a figure for each column; "" for none
//!
//! [[claim]]
//! says = "6-tuples are better than 4-tuples"
//! place = "section 4"
//! above = ["mnt6"]                     # rows, or row@column; `alike` and `within` for "about as good"
//! below = ["mnt4"]
//! ```

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use super::ReproduceError;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/papers.rs"));
}

/// The trainings behind a figure where the paper does not say.
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
    /// Where it stands in the paper.
    pub place: String,
    /// Whether it is a learning curve.
    #[serde(default)]
    pub curve: bool,
    trainings: Option<u64>,
    /// What stands behind ± in the paper.
    #[serde(default)]
    pub spread: Spread,
    /// Which of several trainings counts.
    #[serde(default)]
    pub pick: Pick,
    /// Why nothing of it can be run.
    pub left_out: Option<String>,
    /// The first and the last words of the table in the paper's text.
    pub excerpt: Option<[String; 2]>,
    /// What was measured.
    pub columns: Vec<Column>,
    /// Of what.
    #[serde(rename = "row", default)]
    pub rows: Vec<Row>,
    /// What the paper concludes.
    #[serde(rename = "claim", default)]
    pub claims: Vec<Claim>,
}

/// What stands behind ±.
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

/// What is measured in a column.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The search that plays, as for `eval --search`.
    #[serde(default = "greedy")]
    pub search: String,
    /// The share of games that reach this tile, in percent, in place of the score.
    pub tile: Option<u64>,
    /// What is taken of the scores.
    #[serde(default)]
    pub measure: Measure,
    /// The paper's number of games.
    #[serde(default = "usual_games")]
    pub games: u64,
}

fn greedy() -> String {
    "1ply".to_owned()
}

fn usual_games() -> u64 {
    1000
}

/// What is taken of scores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub enum Measure {
    /// The mean.
    #[default]
    #[serde(rename = "mean")]
    Mean,
    /// The highest.
    #[serde(rename = "highest score")]
    Highest,
    /// The highest of the games of training.
    #[serde(rename = "highest score in training")]
    HighestInTraining,
}

/// A row of a table, or a line of a curve.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name, unique in the table.
    pub name: String,
    /// What the paper calls it.
    pub label: String,
    recipe: Option<String>,
    search: Option<String>,
    games: Option<u64>,
    /// Why it cannot be run.
    pub left_out: Option<String>,
    #[serde(default, deserialize_with = "figures")]
    paper: Vec<Option<Figure>>,
}

impl Row {
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

/// A figure as it is printed, and its numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// Such as `4610.2 ± 81.1`.
    pub text: String,
    /// The number before ±.
    pub value: f64,
    /// The number behind it.
    pub spread: Option<f64>,
}

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let digits: String = text.trim().chars().filter(|&c| c != ',').collect();
            digits.parse::<f64>().map_err(|_| format!("`{text}` is no number such as 4,610.2"))
        };
        let (value, spread) = match text.split_once('±') {
            Some((value, spread)) => (number(value)?, Some(number(spread)?)),
            None => (number(text)?, None),
        };
        Ok(Figure { text: text.to_owned(), value, spread })
    }
}

fn figures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<Figure>>, D::Error> {
    let read = |text: String| match text.as_str() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(D::Error::custom),
    };
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}

/// What a paper concludes from a table.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// In one line.
    pub says: String,
    /// Where the paper says so.
    pub place: String,
    /// The column that rows are compared in; the first one unless it is given.
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
    /// … within this share of its value; for an order, the share that the better rows may yet lack.
    #[serde(default)]
    pub within: f64,
}

impl Table {
    /// Reads a table; `name` is what it is called.
    ///
    /// # Errors
    /// When the text is no table.
    pub fn parse(name: &str, text: &str) -> Result<Table, ReproduceError> {
        let table: Table = toml::from_str(text)
            .map_err(|source| ReproduceError::Data { name: name.to_owned(), source: source.into() })?;
        Ok(Table { name: name.to_owned(), ..table })
    }

    /// The table of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(name: &str) -> Result<Table, ReproduceError> {
        match embedded::EMBEDDED.iter().find(|(other, _)| *other == name) {
            Some((name, text)) => Table::parse(name, text),
            None => Err(ReproduceError::NoTable(name.to_owned())),
        }
    }

    /// The number of trainings behind each figure.
    pub fn trainings(&self) -> u64 {
        self.trainings.unwrap_or(TRAININGS)
    }

    /// The name of the recipe of a row.
    pub fn recipe_name(&self, row: &Row) -> String {
        row.recipe.clone().unwrap_or_else(|| format!("{}/{}", self.name, row.name))
    }

    /// The place of `row` or `row@column`; the column is `default`'s unless it is given.
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
