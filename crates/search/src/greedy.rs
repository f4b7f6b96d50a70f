//! Greedy play of whole games, as fast as the network allows: a few games alternate, move by move, so that the memory
//! accesses of one overlap with the computations of the others.

use afterstate_game::{Rules, State};
use afterstate_network::{GameResult, GreedyGame, Isa, Kernel, Level, Network, Values, dispatch};

use crate::{Downgrade, Endgames};

/// The number of games that alternate.
const GAMES: usize = 2;

/// The number of moves between reports: some milliseconds.
const CHUNK: u64 = 1 << 15;

/// Plays games until there are no more numbers, by the best move; on downgraded boards if requested, and by tables near
/// endgames. `report` receives the games that have ended, sometimes none; when it returns `false`, play stops.
pub fn play_greedily(
    network: &Network,
    rules: &Rules,
    downgrade: Option<Downgrade>,
    endgames: Option<&Endgames>,
    seed: u64,
    numbers: &mut dyn Iterator<Item = u64>,
    report: &mut dyn FnMut(Vec<GameResult>) -> bool,
) {
    let spec = network.spec();
    let endgames = endgames.filter(|_| spec.side == 4 && spec.values == Values::Afterstates);
    let games = Games { network, rules, downgrade, endgames, seed, numbers };
    match spec.side {
        4 => games.play::<4>(report),
        3 => games.play::<3>(report),
        _ => games.play::<2>(report),
    }
}

/// What to play.
struct Games<'a> {
    network: &'a Network,
    rules: &'a Rules,
    downgrade: Option<Downgrade>,
    endgames: Option<&'a Endgames>,
    seed: u64,
    numbers: &'a mut dyn Iterator<Item = u64>,
}

impl Games<'_> {
    /// The returns of a state's moves near endgames, which are looked up on the downgraded board.
    #[inline(always)]
    fn by_tables<I: Isa, const N: usize>(&self, isa: I, state: State<N>) -> Option<[f32; 4]> {
        let endgames = self.endgames?;
        let concerned = self.downgrade.filter(|downgrade| downgrade.concerns(state.board().max_exponent()));
        let state = concerned.map_or(state, |downgrade| downgrade.apply(state));
        endgames.greedy_returns(isa, &self.network.view(), *self.rules, state)
    }

    fn play<const N: usize>(mut self, report: &mut dyn FnMut(Vec<GameResult>) -> bool) {
        let start = |number| GreedyGame::<N>::new(self.network, self.rules, self.seed, number);
        let mut playing: Vec<_> = self.numbers.take(GAMES).map(start).collect();
        let level = Level::best();
        while !playing.is_empty() {
            if !report(dispatch(level, Chunk { games: &mut self, playing: &mut playing })) {
                return;
            }
        }
    }
}

/// The hot loop: this many moves, by the games in turn.
struct Chunk<'a, 'b, const N: usize> {
    games: &'a mut Games<'b>,
    playing: &'a mut Vec<GreedyGame<N>>,
}

impl<const N: usize> Kernel for Chunk<'_, '_, N> {
    type Output = Vec<GameResult>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Vec<GameResult> {
        let Chunk { games, playing } = self;
        let view = games.network.view();
        let (mut finished, mut moves) = (Vec::new(), 0);
        playing.iter_mut().for_each(|game| game.look_up(isa, &view));
        while moves < CHUNK && !playing.is_empty() {
            for game in playing.iter_mut() {
                game.evaluate(isa, &view, games.rules);
                let by_tables = games.by_tables(isa, game.state);
                let returns = by_tables.or_else(|| games.downgrade?.returns(isa, &view, game.state));
                game.advance(
                    games.rules,
                    returns.map_or_else(|| game.best(), |returns| game.best_by(&returns)),
                );
                if game.is_over() {
                    finished.push(game.result());
                    if let Some(number) = games.numbers.next() {
                        game.restart(games.rules, games.seed, number);
                    }
                }
                game.look_up(isa, &view);
            }
            moves += playing.len() as u64;
            playing.retain(|game| !game.is_over());
        }
        finished
    }
}
