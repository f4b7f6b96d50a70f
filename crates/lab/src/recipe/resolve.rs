//! From the words of a recipe to the types of the network and the trainer.

use std::collections::BTreeSet;

use afterstate_learning::TrainingSettings;
use afterstate_search::Downgrade;
use xxhash_rust::xxh3::xxh3_64;

use super::{Recipe, RecipeError};

/// What a resumed run cannot change: all of these sections.
const FIXED: [&str; 7] = ["seed", "dcnn", "game", "network", "learning", "start", PARALLEL];

/// It does not shape weights that records teach: they come of any number of threads.
const PARALLEL: &str = "parallel";

impl Recipe {
    /// The key of the learning rate at a share of the budget, the rate, and what the schedule multiplies it by there.
    pub fn rate_at(&self, share: f64) -> (&'static str, f64, f64) {
        match &self.lesson {
            Some(lesson) => ("dcnn.rate", lesson.rate, 1.0),
            None => self.learning.rate_at(share),
        }
    }

    /// Takes over which records a stored recipe was begun with, unless this one says so itself.
    pub(crate) fn keep_records_of(&mut self, stored: &Recipe) {
        if let (Some(lesson), Some(stored)) = (&mut self.lesson, &stored.lesson)
            && (lesson.shards, lesson.checksum.as_str()) == (0, "")
        {
            (lesson.shards, lesson.checksum) = (stored.shards, stored.checksum.clone());
        }
    }

    /// What the trainer is told.
    pub fn settings(&self) -> TrainingSettings {
        let downgrade = self.learning.downgrade.checked_ilog2();
        TrainingSettings {
            rules: self.game.rules(),
            seed: self.seed,
            target: self.learning.target,
            policy: self.learning.policy,
            downgrade: downgrade.map(|tile| Downgrade::from_exponent(tile as u8)),
            step_size: self.learning.step_size,
            start: self.start.spec(),
            positions: vec![],
            teacher: None,
            schedule: self.learning.schedule.clone(),
            threads: self.parallel.thread_count(),
            parallel: self.parallel.mode,
            budget: self.budget,
        }
    }

    /// The part of the recipe that shaped the weights, as TOML: all but evaluation, checkpoints and
    /// log. It is a recipe too.
    pub fn origin(&self) -> Result<String, RecipeError> {
        let mut table = toml::Table::try_from(self)?;
        for section in ["evaluation", "checkpoint", "log"] {
            table.remove(section);
        }
        if self.lesson.is_some() {
            table.remove(PARALLEL);
        }
        Ok(toml::to_string(&table)?)
    }

    /// The first key that shapes the weights and differs in another recipe, with the value here and the value there.
    pub fn first_difference(&self, other: &Recipe) -> Option<(String, String, String)> {
        let [ours, theirs] = [self, other].map(|recipe| {
            let mut recipe = recipe.clone();
            recipe.parallel.threads = recipe.parallel.thread_count();
            toml::Table::try_from(&recipe).unwrap_or_default()
        });
        let is_taught = self.lesson.is_some() && other.lesson.is_some();
        let mut fixed = FIXED.iter().filter(|key| !is_taught || **key != PARALLEL);
        fixed.find_map(|key| differing(key, ours.get(*key), theirs.get(*key)))
    }

    /// A checksum of what a run never changes: the logs of a run are known by it.
    pub(crate) fn fingerprint(&self) -> String {
        let mut table = toml::Table::try_from(self).unwrap_or_default();
        table.retain(|key, _| key != PARALLEL && FIXED.contains(&key));
        format!("{:016x}", xxh3_64(table.to_string().as_bytes()))
    }
}

/// The first dotted key in which two values differ, with both values as TOML.
fn differing(
    key: &str,
    ours: Option<&toml::Value>,
    theirs: Option<&toml::Value>,
) -> Option<(String, String, String)> {
    if ours == theirs {
        return None;
    }
    if let (Some(toml::Value::Table(ours)), Some(toml::Value::Table(theirs))) = (ours, theirs) {
        let keys: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
        return keys
            .into_iter()
            .find_map(|inner| differing(&format!("{key}.{inner}"), ours.get(inner), theirs.get(inner)));
    }
    let text = |value: Option<&toml::Value>| value.map_or("nothing".to_owned(), toml::Value::to_string);
    Some((key.to_owned(), text(ours), text(theirs)))
}
