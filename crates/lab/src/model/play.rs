//! How models play: parsing searches, creating players, playing games.

use std::{
    any::Any,
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use afterstate_dcnn::{Dcnn, DcnnPlayer, Play, Work};
use afterstate_game::State;
use afterstate_search::{Advice, Endgames, Limit, LineMove, Player, PlayerSpec, Probing, best_line};

use super::{Kind, Model, ModelError};
use crate::{
    evaluate::{Contest, Games, PlayOutcome, Steps, evaluate_players},
    review::Reference,
};

/// A way for a model to play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Search {
    /// A search by the values of an n-tuple network.
    Player(PlayerSpec),
    /// By the probabilities of a policy.
    Policy(Play),
    /// Greedily, by the values of a convolutional network.
    Value,
    /// By the exact values.
    Exact,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Search::Player(spec) => spec.fmt(f),
            Search::Policy(play) => play.fmt(f),
            Search::Value => f.pad("1ply"),
            Search::Exact => f.pad("exact"),
        }
    }
}

impl Search {
    /// The search of an n-tuple network, if it is one.
    pub fn spec(&self) -> Option<PlayerSpec> {
        match self {
            Search::Player(spec) => Some(*spec),
            _ => None,
        }
    }
}

impl Model {
    /// Parses a search for this model. Without a text, an n-tuple network searches to the given limit, and a policy
    /// plays by majority vote. Downgrading defaults to the model's setting.
    ///
    /// # Errors
    /// If the text is not a search, or the model does not support it.
    pub fn search(&self, text: Option<&str>, default: Limit) -> Result<Search, ModelError> {
        match (&self.kind, text) {
            (Kind::Network(_), Some(text)) if text.parse::<Play>().is_ok() => Err(self.cannot_play(text)),
            (Kind::Network(_), text) => {
                let spec = text.map_or(Ok(PlayerSpec::new(default)), str::parse)?;
                Ok(Search::Player(spec.or_downgraded(self.downgrade)))
            }
            (Kind::Dcnn(..), None) if self.is_policy() => Ok(Search::Policy(Play::default())),
            (Kind::Dcnn(..), Some(text)) if self.is_policy() => {
                text.parse().map(Search::Policy).map_err(|_| self.cannot_play(text))
            }
            (Kind::Dcnn(..), None | Some("1ply")) => Ok(Search::Value),
            (Kind::Exact(_), None | Some("exact")) => Ok(Search::Exact),
            (_, Some(text)) => Err(self.cannot_play(text)),
        }
    }

    fn cannot_play(&self, search: impl ToString) -> ModelError {
        let (model, search) = (self.name.clone(), search.to_string());
        ModelError::NoSearch { model, kind: self.kind.words(), search }
    }

    /// The search as text, with the tables that it probes.
    pub fn search_name(&self, search: Search) -> String {
        match self.endgames.as_ref().map(Endgames::probing) {
            None => search.to_string(),
            Some(Probing::Leaves) => format!("{search}+endgames"),
            Some(Probing::Root) => format!("{search}+endgames=root"),
        }
    }

    /// The player with a search, on this many threads.
    ///
    /// # Errors
    /// If it plays on other boards, or does not support the search.
    pub fn player<const N: usize>(
        &self,
        search: Search,
        threads: usize,
    ) -> Result<Box<dyn Player<N> + '_>, ModelError> {
        self.player_until(search, threads, None)
    }

    /// The same, but searches stop when the flag is set.
    ///
    /// # Errors
    /// The same as [`Self::player`].
    pub fn player_until<const N: usize>(
        &self,
        search: Search,
        threads: usize,
        stop: Option<Arc<AtomicBool>>,
    ) -> Result<Box<dyn Player<N> + '_>, ModelError> {
        match (&self.kind, search) {
            (Kind::Exact(exact), Search::Exact) => exact.player(),
            _ if self.side() != N => Err(ModelError::Side { board: N, side: self.side() }),
            (Kind::Network(_), Search::Player(spec)) => {
                let view = self.afterstates("a search")?.view();
                Ok(spec.player_with(view, self.rules, threads, |search| {
                    let search = search.with_endgames(self.endgames.as_ref());
                    if let Some(stop) = stop { search.with_stop(stop) } else { search }
                }))
            }
            (Kind::Dcnn(dcnn, work), Search::Policy(_) | Search::Value) => {
                Ok(Box::new(OnSide::<_, 4>(dcnn_player(dcnn, work, search))))
            }
            _ => Err(self.cannot_play(search)),
        }
    }

    /// Plays games. `watch` receives them as they end; when it returns `false`, play stops and
    /// there is no result. Only n-tuple networks collect positions.
    ///
    /// # Errors
    /// If it does not support the search.
    pub fn play(
        &self,
        search: Search,
        games: Games<'_>,
        threads: usize,
        collect: Option<Steps>,
        watch: impl FnMut(&PlayOutcome) -> bool,
    ) -> Result<Option<PlayOutcome>, ModelError> {
        self.play_games(search, games, threads, collect, false, watch)
    }

    /// Like [`play`](Self::play), with the course of each game, which is slower for greedy play.
    ///
    /// # Errors
    /// If it does not support the search.
    pub fn play_with_courses(
        &self,
        search: Search,
        games: Games<'_>,
        threads: usize,
        collect: Option<Steps>,
        watch: impl FnMut(&PlayOutcome) -> bool,
    ) -> Result<Option<PlayOutcome>, ModelError> {
        self.play_games(search, games, threads, collect, true, watch)
    }

    fn play_games(
        &self,
        search: Search,
        games: Games<'_>,
        threads: usize,
        collect: Option<Steps>,
        courses: bool,
        watch: impl FnMut(&PlayOutcome) -> bool,
    ) -> Result<Option<PlayOutcome>, ModelError> {
        Ok(match (&self.kind, search) {
            (Kind::Network(network), Search::Player(player)) => {
                let endgames = self.endgames.as_ref();
                let contest = Contest { network, player, endgames, games, threads, collect };
                if courses { contest.play_with_courses(watch) } else { contest.play(watch) }
            }
            (Kind::Dcnn(dcnn, work), Search::Policy(_) | Search::Value) => {
                evaluate_players(games, threads, || dcnn_player(dcnn, work, search), watch)
            }
            (Kind::Exact(exact), Search::Exact) => exact.play(games, threads, watch),
            _ => return Err(self.cannot_play(search)),
        })
    }

    /// How the game continues with typical tiles; empty for models that do not look ahead.
    pub fn line<const N: usize>(&self, search: Search, state: State<N>, advice: &Advice) -> Vec<LineMove<N>> {
        match (&self.kind, search) {
            (Kind::Network(network), Search::Player(spec)) => {
                best_line(network.view(), self.rules, spec.downgrade, state, advice)
            }
            _ => Vec::new(),
        }
    }

    /// Its expectation for new games, for the chances of tiles; only for n-tuple networks on 4×4.
    pub fn reference(&self) -> Option<Reference> {
        match &self.kind {
            Kind::Network(network) if self.side() == 4 => Some(Reference::of(network)),
            _ => None,
        }
    }
}

fn dcnn_player<'a>(dcnn: &'a Dcnn, work: &Work, search: Search) -> DcnnPlayer<'a> {
    let play = if let Search::Policy(play) = search { play } else { Play::default() };
    DcnnPlayer::new(dcnn, play).with(work.clone())
}

/// Adapts a player for boards of one side to boards of any side. On others it gives no advice.
pub(super) struct OnSide<P, const M: usize>(pub(super) P);

/// The state, if its board has this side.
fn on_side<const N: usize, const M: usize>(state: &State<N>) -> Option<State<M>> {
    (state as &dyn Any).downcast_ref().copied()
}

impl<P: Player<M>, const M: usize, const N: usize> Player<N> for OnSide<P, M> {
    fn advise(&mut self, state: State<N>) -> Advice {
        on_side(&state).map_or_else(Advice::default, |state| self.0.advise(state))
    }

    fn games_in_step(&self) -> usize {
        self.0.games_in_step()
    }

    fn advise_all(&mut self, states: &[State<N>]) -> Vec<Advice> {
        self.0.advise_all(&states.iter().filter_map(on_side).collect::<Vec<_>>())
    }
}
