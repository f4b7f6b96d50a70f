//! A training that rows of a table need, and the players of its evaluations.

use std::fmt;

use afterstate_dcnn::Play;
use afterstate_search::PlayerSpec;

use afterstate_lab::recipe::Recipe;
use afterstate_learning::Budget;

/// A training that one or several rows need, with as many seeds as there are trainings.
#[derive(Clone, PartialEq, Debug)]
pub struct Training {
    /// The name of its recipe, or of the network that is taught.
    pub name: String,
    /// The paper's budget, in words.
    pub budget: String,
    /// How the network learns, by its own games or by play records, at the share of the budget, with the first seed.
    pub recipe: Recipe,
    /// The training whose weights it begins with.
    pub after: Option<usize>,
    /// The players of its evaluations, and the number of games of each.
    pub evaluations: Vec<(Entrant, u64)>,
}

impl Training {
    /// The number of records that teach the network; none where it learns by its own games.
    pub fn records(&self) -> Option<u64> {
        match (&self.recipe.lesson, self.recipe.budget) {
            (Some(_), Budget::Actions(records)) => Some(records),
            _ => None,
        }
    }
}

/// A player of an evaluation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Entrant {
    /// The trained network, with a search.
    Searching(PlayerSpec),
    /// The policy after this many records, by majority vote.
    Voting(u64),
    /// The value network taught by records, greedily.
    Valuing,
}

impl Entrant {
    /// How it plays, as for `eval --search`.
    pub fn search(&self) -> String {
        match self {
            Entrant::Searching(player) => player.to_string(),
            Entrant::Voting(_) => Play::MajorityVote.to_string(),
            Entrant::Valuing => "1ply".to_owned(),
        }
    }

    /// Whether it plays without lookahead.
    pub fn is_greedy(&self) -> bool {
        match self {
            Entrant::Searching(player) => player.is_greedy(),
            Entrant::Voting(_) | Entrant::Valuing => true,
        }
    }
}

impl fmt::Display for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entrant::Searching(player) => write!(f, "{player}"),
            Entrant::Voting(records) => write!(f, "{}-{records}", self.search()),
            Entrant::Valuing => f.write_str(&self.search()),
        }
    }
}
