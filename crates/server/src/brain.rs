//! Who says what moves are worth: a model with a search, or the solution of a small board.

use std::sync::Arc;

use afterstate_game::{Move, State};
use afterstate_lab::model::Loaded;
use afterstate_search::{Advice, Limit, Player, PlayerSpec};
use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use crate::{
    app::Shared,
    error::{Answer, ApiError},
    exact::{Solutions, Solved},
    searches::Stop,
};

/// How moves are to be judged.
#[derive(Clone, Copy)]
pub(crate) enum Search {
    /// By the true values.
    Exact,
    /// By a model.
    Player(PlayerSpec),
}

/// Who judges.
pub(crate) enum Brain<'a> {
    Exact(&'a Solutions),
    Player { model: Arc<Loaded>, search: PlayerSpec, threads: usize, stop: Stop },
}

impl<'a> Brain<'a> {
    /// Takes its time where a model must be loaded.
    pub(crate) fn new(shared: &'a Shared, model: Option<&str>, search: Search, stop: Stop) -> Answer<Self> {
        match search {
            Search::Exact => Ok(Brain::Exact(&shared.solutions)),
            Search::Player(search) => Ok(Brain::of(shared, shared.models.get(model)?, search, stop)),
        }
    }

    /// A model that is in memory.
    pub(crate) fn of(shared: &'a Shared, model: Arc<Loaded>, search: PlayerSpec, stop: Stop) -> Self {
        Brain::Player { model, search, threads: shared.searches.threads(&search), stop }
    }

    /// The name of the model.
    pub(crate) fn model(&self) -> &str {
        match self {
            Brain::Exact(_) => "exact",
            Brain::Player { model, .. } => &model.name,
        }
    }

    /// The search as text.
    pub(crate) fn search(&self) -> String {
        match self {
            Brain::Exact(_) => "exact".into(),
            Brain::Player { search, .. } => search.to_string(),
        }
    }

    /// The player, if there is one for such boards.
    pub(crate) fn player<'p, const N: usize>(&'p self) -> Answer<Box<dyn Player<N> + 'p>>
    where
        Solutions: Solved<N>,
    {
        let (model, search, threads, stop) = match self {
            Brain::Exact(solutions) => return solutions.player(),
            Brain::Player { model, search, threads, stop } => (model, search, *threads, stop),
        };
        model.check_afterstates("a search")?;
        let side = model.side();
        if side != N {
            let error = format!("the board is {N}×{N}, but the model plays on {side}×{side}");
            let hint = "give a board or a model that fits the other";
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint));
        }
        Ok(search.stoppable_player(model.network.view(), model.rules, threads, stop.clone()))
    }

    /// Refuses an advice that is none: of a search that was stopped, or on a board that is not in the solution.
    pub(crate) fn check<const N: usize>(&self, state: State<N>, advice: &Advice) -> Answer<()> {
        let refused = |error: &str, hint| Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint));
        match self {
            Brain::Exact(_) if state.legal_moves().any(|a| advice.values[a as usize].is_none()) => {
                let error = format!("no game comes to {state}, so that its values are not in the solution");
                refused(&error, "give a board that can come about by playing")
            }
            Brain::Player { search, .. } if falls_short(search, advice) => {
                refused("the search takes too long", "look less far ahead, or give a time, such as 1s")
            }
            _ => Ok(()),
        }
    }
}

/// Whether a search by depth has come less far than it should.
fn falls_short(search: &PlayerSpec, advice: &Advice) -> bool {
    search.search.is_some_and(|settings| match settings.limit {
        Limit::Plies(plies) => advice.plies + u32::from(settings.shallow.is_some()) < plies,
        Limit::Time(_) => false,
    })
}

/// The figures of an advice, as `afterstate advise --json` gives them.
pub(crate) fn figures(advice: &Advice) -> Map<String, Value> {
    let mut figures = Map::new();
    let values: Map<_, _> =
        Move::ALL.iter().map(|a| (a.name().to_string(), json!(advice.values[*a as usize]))).collect();
    figures.insert("values".into(), values.into());
    figures.insert("best".into(), json!(advice.best().map(Move::name)));
    figures.insert("expected".into(), json!(advice.value()));
    figures.insert("plies".into(), json!(advice.plies));
    figures.insert("evaluated".into(), json!(advice.evaluated));
    figures.insert("seconds".into(), json!(advice.time.as_secs_f64()));
    figures
}
