//! The players.

use afterstate_game::{Move, State};
use afterstate_lab::model::Model;
use afterstate_search::{Limit, Player};
use rand_core::Rng;

/// A player: a percentage of its moves are random, the others follow a rule or a search.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    random: u64,
    rule: Rule,
}

impl Contestant {
    /// Scales its number of games: games at 3-ply take long.
    pub(crate) fn share(&self, games: u64) -> u64 {
        if self.rule == Rule::Plies(3) { games.div_ceil(4) } else { games }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// Left, down, right, up, the first one that is legal.
    Order,
    /// The move with the most merges, but up only if nothing else is legal.
    Merge,
    /// The built-in model with this many plies.
    Plies(u32),
}

pub(crate) const CONTESTANTS: [Contestant; 11] = [
    Contestant { name: "random", random: 100, rule: Rule::Order },
    Contestant { name: "left, down, right, up", random: 0, rule: Rule::Order },
    Contestant { name: "largest merge", random: 0, rule: Rule::Merge },
    Contestant { name: "1-ply, 50% at random", random: 50, rule: Rule::Plies(1) },
    Contestant { name: "1-ply, 20% at random", random: 20, rule: Rule::Plies(1) },
    Contestant { name: "1-ply, 10% at random", random: 10, rule: Rule::Plies(1) },
    Contestant { name: "1-ply, 5% at random", random: 5, rule: Rule::Plies(1) },
    Contestant { name: "1-ply, 2% at random", random: 2, rule: Rule::Plies(1) },
    Contestant { name: "1-ply", random: 0, rule: Rule::Plies(1) },
    Contestant { name: "2-ply", random: 0, rule: Rule::Plies(2) },
    Contestant { name: "3-ply", random: 0, rule: Rule::Plies(3) },
];

/// The searches that they use.
pub(crate) struct Contestants<'a>(Vec<Box<dyn Player<4> + 'a>>);

impl<'a> Contestants<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        let player = |plies| {
            let search = model.search(None, Limit::Plies(plies)).expect("a search");
            model.player::<4>(search, 1).expect("the built-in model can search")
        };
        Contestants((1..=3).map(player).collect())
    }

    /// The built-in model's move without lookahead.
    pub(crate) fn greedy(&mut self, state: State<4>) -> Move {
        self.0[0].advise(state).best().expect("a game that is not over")
    }

    /// The move that a player makes.
    pub(crate) fn choose(&mut self, contestant: &Contestant, state: State<4>, rng: &mut impl Rng) -> Move {
        let legal: Vec<Move> = state.legal_moves().collect();
        if rng.next_u64() % 100 < contestant.random {
            return legal[(rng.next_u64() % legal.len() as u64) as usize];
        }
        match contestant.rule {
            Rule::Order => first_of(state, [Move::Left, Move::Down, Move::Right, Move::Up]),
            Rule::Merge => {
                let merged = |a: &Move| state.slide(*a).map(|slide| slide.reward);
                let best = [Move::Right, Move::Left, Move::Down].into_iter().max_by_key(merged);
                best.filter(|a| merged(a).is_some()).unwrap_or(Move::Up)
            }
            Rule::Plies(plies) => self.0[plies as usize - 1].advise(state).best().unwrap_or(legal[0]),
        }
    }
}

fn first_of(state: State<4>, order: [Move; 4]) -> Move {
    order.into_iter().find(|a| state.slide(*a).is_some()).unwrap_or(Move::Up)
}
