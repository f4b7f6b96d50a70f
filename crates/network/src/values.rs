//! What the values of a network describe: afterstates, as in most cases, states, or actions.

use std::{fmt, str::FromStr};

/// What a network assigns values to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Values {
    /// V(s'), of an afterstate (jaskowski-2016, IV.D).
    #[default]
    Afterstates,
    /// V(s), of a state (TD-state of Szubert and Jaśkowski 2014).
    States,
    /// Q(s, a), of a move in a state: each of the four moves has its own tables (ramesh-2018, Fig. 6).
    Actions,
}

impl Values {
    /// All kinds.
    pub const ALL: [Values; 3] = [Values::Afterstates, Values::States, Values::Actions];

    /// The name in files and recipes.
    pub const fn name(self) -> &'static str {
        match self {
            Values::Afterstates => "afterstates",
            Values::States => "states",
            Values::Actions => "actions",
        }
    }

    /// The sets of tables in a stage: one for each action, or one for all.
    pub const fn sets(self) -> usize {
        if matches!(self, Values::Actions) { 4 } else { 1 }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An unknown kind of values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a kind of values: a network has values of afterstates, states or actions")]
pub struct ValuesError(String);

impl FromStr for Values {
    type Err = ValuesError;

    fn from_str(text: &str) -> Result<Self, ValuesError> {
        Values::ALL.into_iter().find(|values| values.name() == text).ok_or_else(|| ValuesError(text.into()))
    }
}
