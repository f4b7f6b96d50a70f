//! The evaluator of moves: a model with a search that it supports.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use afterstate_endgame::Match;
use afterstate_game::State;
use afterstate_lab::model::{Model, ModelError, Search};
use afterstate_search::{Advice, Limit, Player, PlayerSpec};
use axum::http::StatusCode;
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    app::{App, Shared},
    error::{Answer, ApiError},
    searches::{self, Asked, Stop},
};

/// A model with a search.
#[derive(Clone)]
pub(crate) struct Brain {
    pub(crate) model: Arc<Model>,
    pub(crate) search: Search,
    /// How much of the time for a search went into loading the model.
    loading: Duration,
}

/// A request that waited longer than this for a model is told so, rather than that its search is too long.
const NOTICED: Duration = Duration::from_secs(1);

impl Brain {
    /// Blocks while the model is loaded.
    pub(crate) fn new(shared: &Shared, model: Option<&str>, asked: Asked) -> Answer<Self> {
        let (model, plies, text) = match asked {
            Asked::Exact => (Arc::new(shared.solutions.model()), 1, None),
            Asked::Usual(plies) => (shared.models.get(model)?, plies, None),
            Asked::Player(spec) => (shared.models.get(model)?, 1, Some(spec.to_string())),
            Asked::Policy(play) => (shared.models.get(model)?, 1, Some(play.to_string())),
        };
        let search = model.search(text.as_deref(), Limit::Plies(plies))?;
        Ok(Brain { model, search, loading: Duration::ZERO })
    }

    /// The same on a separate thread: loading a model takes no place of a search.
    pub(crate) async fn load(app: &App, model: Option<String>, asked: Asked) -> Answer<Self> {
        let shared = app.clone();
        let load = move || Brain::new(&shared, model.as_deref(), asked);
        spawn_blocking(load).await.map_err(ApiError::internal)?
    }

    /// The same within the time of the longest search, for requests that are answered at once. Loading time counts as
    /// search time. A model that takes longer continues loading, for later requests.
    pub(crate) async fn load_in_time(app: &App, model: Option<String>, asked: Asked) -> Answer<Self> {
        let (start, longest) = (Instant::now(), app.limits.longest_search());
        let brain = timeout(longest, Brain::load(app, model, asked)).await;
        let brain = brain.map_err(|_| ApiError::busy("the model is still loading"))??;
        Ok(Brain { loading: start.elapsed(), ..brain })
    }

    /// The remaining time for a search.
    pub(crate) fn time_left(&self, shared: &Shared) -> Duration {
        shared.limits.longest_search().saturating_sub(self.loading)
    }

    /// The entries for a state in its endgame tables. A table that is damaged after it was opened is ignored.
    pub(crate) fn endgames<const N: usize>(&self, state: State<N>) -> Vec<Match<'_>> {
        self.model.endgames(state).unwrap_or_default()
    }

    /// The player for such boards, if there is one. It stops when the flag is set.
    pub(crate) fn player<const N: usize>(
        &self,
        shared: &Shared,
        stop: &Stop,
    ) -> Answer<Box<dyn Player<N> + '_>> {
        let threads = self.search.spec().map_or(1, |spec| shared.searches.threads(&spec));
        self.model.player_until(self.search, threads, Some(stop.clone())).map_err(|error| match error {
            ModelError::Unsolved(3) => shared.solutions.missing(),
            error => error.into(),
        })
    }

    /// Rejects incomplete advice: of a search that was stopped, or on a board that is not in the solution.
    pub(crate) fn check<const N: usize>(
        &self,
        shared: &Shared,
        state: State<N>,
        advice: &Advice,
    ) -> Answer<()> {
        match &self.search {
            Search::Exact if state.legal_moves().any(|a| advice.values[a as usize].is_none()) => {
                let error = format!("no game reaches {state}, so its values are not in the solution");
                let hint = "give a board that a game can reach";
                Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint))
            }
            Search::Player(spec) if falls_short(spec, advice) && self.loading > NOTICED => {
                Err(ApiError::busy("loading the model left no time to search"))
            }
            Search::Player(spec) if falls_short(spec, advice) => {
                Err(searches::too_long(shared.limits.longest_search()))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a search by depth has stopped short of its depth.
fn falls_short(search: &PlayerSpec, advice: &Advice) -> bool {
    search.search.is_some_and(|settings| match settings.limit {
        Limit::Plies(plies) => advice.plies + u32::from(settings.shallow.is_some()) < plies,
        Limit::Time(_) | Limit::Nodes(_) | Limit::Adaptive(_) => false,
    })
}
