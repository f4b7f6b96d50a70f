//! From the words of a recipe to the types of the network and the trainer.

use afterstate_learning::Settings;
use afterstate_search::Downgrade;
use xxhash_rust::xxh3::xxh3_64;

use super::{Recipe, RecipeError};

impl Recipe {
    /// What the trainer is told.
    pub fn settings(&self) -> Settings {
        let downgrade = self.learning.downgrade.checked_ilog2();
        Settings {
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
        Ok(toml::to_string(&table)?)
    }

    /// A checksum of what a run never changes: the logs of a run are known by it.
    pub(crate) fn fingerprint(&self) -> String {
        let mut table = toml::Table::try_from(self).unwrap_or_default();
        table.retain(|key, _| ["seed", "game", "network", "learning", "start"].contains(&key));
        format!("{:016x}", xxh3_64(table.to_string().as_bytes()))
    }
}
