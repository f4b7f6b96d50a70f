//! `[dcnn]`: what a network is taught by play records (kondo-2019, sections 4.2, 5.1 and 6), in the place of its own games.

use std::path::PathBuf;

use afterstate_dcnn::{Architecture, DcnnSpec};
use afterstate_learning::Budget;
use afterstate_network::{NetworkSpec, Tuples};
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::document::Document;

/// What to teach, by which records, and how.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Lesson {
    /// The directory of the records.
    pub records: PathBuf,
    /// The network.
    #[serde(flatten)]
    pub network: Taught,
    /// The number of records in a batch.
    pub batch: usize,
    /// The learning rate at the beginning.
    pub rate: f64,
    /// The learning rate at the end; it changes by the same factor with each record.
    pub final_rate: f64,
    /// Whether each board is seen through a random symmetry.
    pub augment: bool,
    /// The number of records that are shuffled at a time.
    pub buffer: usize,
    /// How many files of records are used, the first ones by name; 0 stands for all, and a run says how many.
    pub shards: usize,
    /// Their checksum; empty until a run begins.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checksum: String,
}

/// The network that is taught.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Taught {
    /// A policy, which makes the moves of the records, or tjwei's network of values: the score from an afterstate to the
    /// end of the game.
    Convolutional(DcnnSpec),
    /// An n-tuple network of values, by the name of its tuples.
    Tuples(String),
}

impl Taught {
    /// Whether it is a policy.
    pub fn is_policy(&self) -> bool {
        matches!(self, Taught::Convolutional(spec) if spec.outputs() > 1)
    }
}

impl Serialize for Taught {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Taught::Tuples(name) => map.serialize_entry("network", name)?,
            Taught::Convolutional(DcnnSpec { architecture, tile_values }) => {
                match architecture {
                    Architecture::Tjwei { .. } => map.serialize_entry("network", TJWEI)?,
                    Architecture::Dcnn { layers, channels } => {
                        map.serialize_entry("network", POLICY)?;
                        map.serialize_entry("layers", layers)?;
                        map.serialize_entry("channels", channels)?;
                    }
                }
                map.serialize_entry("tile_values", tile_values)?;
            }
        }
        map.end()
    }
}

const SECTION: &str = "dcnn";
const POLICY: &str = "policy";
const TJWEI: &str = "tjwei";

/// More records than anybody has.
const MOST_RECORDS: u64 = 1_000_000_000_000;

/// What records leave without meaning.
const REFUSED: [&str; 10] = [
    "game",
    "network",
    "learning",
    "start",
    "collect",
    "parallel.mode",
    "evaluation.searches",
    "evaluation.downgrade",
    "checkpoint.best",
    "log.every_episodes",
];

impl Lesson {
    /// The learning rate at a share of the budget.
    pub fn rate_at(&self, share: f64) -> f64 {
        self.rate * (self.final_rate / self.rate).powf(share)
    }

    /// Reads the section, and drops what is of self-play alone, if there is such a section.
    pub(super) fn read(doc: &mut Document) -> Option<Self> {
        let is_given = doc.has(SECTION);
        if is_given {
            let reason = "[dcnn] teaches by records, and not by self-play";
            REFUSED.iter().for_each(|key| doc.refuse_all(key, SECTION, reason));
        }
        let any = |_: &String| true;
        let records = doc.read("dcnn.records", String::new(), "a directory of play records", any);
        let network = network(doc);
        let expected = "a number above 0, at most 10^9";
        let rate = doc.read("dcnn.rate", 0.001, expected, is_rate);
        let expected_buffer = "a whole number of records from 1 to 10^12";
        let lesson = Lesson {
            records: records.into(),
            network,
            batch: doc.read("dcnn.batch", 1000, "a whole number from 1 to 1000000", |n| {
                (1..=1_000_000).contains(n)
            }),
            rate,
            final_rate: doc.read("dcnn.final_rate", rate, expected, is_rate),
            augment: doc.read("dcnn.augment", false, "true or false", |_| true),
            buffer: doc.read("dcnn.buffer", 2_000_000, expected_buffer, |&n| {
                (1..=MOST_RECORDS).contains(&(n as u64))
            }),
            shards: doc
                .read("dcnn.shards", 0, "a number of files up to 10^9, 0 for all", |n| *n <= 1_000_000_000),
            checksum: doc.read("dcnn.checksum", String::new(), "the checksum that a run has written", any),
        };
        if is_given && lesson.records.as_os_str().is_empty() {
            doc.missing("records", &["dcnn.records"]);
        }
        is_given.then_some(lesson)
    }

    /// Refuses a budget that is not one of records.
    pub(super) fn check_budget(doc: &mut Document, budget: Budget) {
        let (key, reason) = match budget {
            Budget::Actions(records) if records <= MOST_RECORDS => return,
            Budget::Actions(_) => ("budget.actions", "10^12 records are the most that can be learned from"),
            Budget::Episodes(_) => ("budget.episodes", "records are counted by budget.actions"),
            Budget::Seconds(_) => ("budget.seconds", "records are counted by budget.actions"),
        };
        doc.impossible(key, reason);
    }
}

fn is_rate(rate: &f64) -> bool {
    // Learning has single precision.
    *rate as f32 > 0.0 && *rate <= 1e9
}

fn network(doc: &mut Document) -> Taught {
    let expected = r#""policy", "tjwei", or the name of a set of tuples, such as "4x6""#;
    let name = doc.read("dcnn.network", POLICY.to_owned(), expected, |name| {
        let tuples =
            || Tuples::named(name).ok().map(|tuples| NetworkSpec { tuples, ..NetworkSpec::default() });
        [POLICY, TJWEI].contains(&name.as_str()) || tuples().is_some_and(|spec| spec.check().is_ok())
    });
    if name != POLICY {
        for key in ["dcnn.layers", "dcnn.channels"] {
            doc.refuse(key, "dcnn.network", r#"it belongs to network = "policy""#);
        }
    }
    if ![POLICY, TJWEI].contains(&name.as_str()) {
        doc.refuse("dcnn.tile_values", "dcnn.network", "it belongs to convolutional networks");
    }
    let layers = doc.read("dcnn.layers", 5, "a whole number from 1 to 32", |n| (1..=32).contains(n));
    let usual = DcnnSpec::TABLE_2.into_iter().find(|&(k, _)| k == layers).map(|(_, channels)| channels);
    if usual.is_none() && !doc.is_given("dcnn.channels") {
        doc.impossible("dcnn.layers", "the paper's Table 2 has 2 to 9 layers; give dcnn.channels too");
    }
    let expected = "a whole number from 1 to 4096";
    let channels = doc.read("dcnn.channels", usual.unwrap_or(1), expected, |n| (1..=4096).contains(n));
    let expected = "a number from 2 to 18, the largest tile that is told apart being 2^(c-1)";
    let tile_values = doc.read("dcnn.tile_values", DcnnSpec::TILE_VALUES, expected, |c| (2..=18).contains(c));
    let architecture = match name.as_str() {
        POLICY => Architecture::Dcnn { layers, channels },
        TJWEI => DcnnSpec::HALF_TJWEI.architecture,
        _ => return Taught::Tuples(name),
    };
    Taught::Convolutional(DcnnSpec { architecture, tile_values })
}
