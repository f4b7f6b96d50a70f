//! The chances of reaching tiles from a board under optimal play.

use std::collections::BTreeMap;

use afterstate_game::State;

use crate::{
    Solution,
    word::{LARGEST, Word},
};

impl<const N: usize> Solution<N> {
    /// For each tile, by exponent from 1, the probability that optimal play from a state reaches at least that tile.
    /// `None` if more than `most` boards can follow, and for states that no game can reach.
    pub fn tile_chances(&self, state: State<N>, most: usize) -> Option<Vec<f64>> {
        if state.board().max_exponent() > LARGEST {
            return None;
        }
        let mut at_end = [0.0; LARGEST as usize + 1];
        // By sum, so that all paths to a board have been combined when its turn comes.
        let mut boards = BTreeMap::from([((state.board().sum(), Word::pack(&state.board())), 1.0)]);
        let mut visited = 0;
        while let Some(((_, word), probability)) = boards.pop_first() {
            visited += 1;
            if visited > most {
                return None;
            }
            let state = word.state();
            if state.is_terminal() {
                at_end[usize::from(word.max_exponent())] += probability;
                continue;
            }
            let (best, _) = self.best(state)?;
            let afterstate = state.slide(best)?.afterstate;
            for (next, p) in afterstate.spawns(&self.rules()) {
                let board = next.board();
                let key = (board.sum(), Word::pack(&board).canonical());
                *boards.entry(key).or_insert(0.0) += probability * p;
            }
        }
        let mut at_least = 0.0;
        let sum = |p: &f64| {
            at_least += p;
            // Rounding may have exceeded 1.
            f64::min(at_least, 1.0)
        };
        let mut chances: Vec<f64> = at_end[1..].iter().rev().map(sum).collect();
        chances.reverse();
        Some(chances)
    }
}

#[cfg(test)]
mod tests {
    use afterstate_game::{Move, Rules, State};

    use crate::{Boards, Objective, SolverSettings, Space, evaluate};

    #[test]
    fn chances_of_a_start_are_those_of_the_whole_game() {
        let rules = Rules::default();
        let solution = Space::<2>::enumerate(&rules, 1, |_| ()).solve(Objective::Score, 1, |_| ());
        let best = |state: State<2>| solution.best(state).map_or(Move::Up, |(a, _)| a);
        let settings =
            SolverSettings { rules, boards: Boards::All, until: Objective::Score, optimum: None, threads: 1 };
        let whole = evaluate(&best, &settings, |_| ()).tiles;
        // The initial boards with their probabilities, from the rules.
        let empty = afterstate_game::Afterstate::new("00/00".parse().expect("a board"));
        let mut mean = vec![0.0; whole.len()];
        for (one, p) in empty.spawns(&rules) {
            for (start, q) in afterstate_game::Afterstate::new(one.board()).spawns(&rules) {
                let chances = solution.tile_chances(start, 1000).expect("a small board");
                mean.iter_mut().zip(chances).for_each(|(sum, chance)| *sum += p * q * chance);
            }
        }
        assert!(whole.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-9), "{whole:?} {mean:?}");
        let start: State<2> = "11/00".parse().expect("a board");
        assert_eq!(solution.tile_chances(start, 3), None, "too many boards");
        let unreachable: State<2> = "99/00".parse().expect("a board");
        assert_eq!(solution.tile_chances(unreachable, 1000), None);
    }
}
