//! Who says what moves are worth: a model with a search, or the solution of a small board.

use std::sync::Arc;

use afterstate_dcnn::{DcnnPlayer, Play};
use afterstate_game::{Move, State};
use afterstate_lab::{
    model::{Loaded, LoadedDcnn},
    review::Reference,
};
use afterstate_search::{Advice, Limit, Player, PlayerSpec};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use tokio::task::spawn_blocking;

use crate::{
    app::{App, Shared},
    error::{Answer, ApiError},
    exact::{OnSide, Solutions},
    models::Model,
    searches::{self, Stop},
};

/// How moves are to be judged.
#[derive(Clone, Copy)]
pub(crate) enum Search {
    /// As is usual for the model: so many moves ahead, or for a policy by the majority vote.
    Usual(u32),
    /// By the true values.
    Exact,
    /// By the values of a model.
    Player(PlayerSpec),
    /// By a policy.
    Policy(Play),
}

/// Who judges: a model with a search that it can do, or the solution.
#[derive(Clone)]
pub(crate) enum Brain {
    Exact,
    /// An n-tuple network.
    Network(Arc<Loaded>, PlayerSpec),
    /// A convolutional network.
    Dcnn(Arc<LoadedDcnn>, Play),
}

impl Brain {
    /// Takes its time where a model must be loaded.
    pub(crate) fn new(shared: &Shared, model: Option<&str>, search: Search) -> Answer<Self> {
        let model = || shared.models.get(model);
        match search {
            Search::Exact => Ok(Brain::Exact),
            Search::Usual(plies) => match model()? {
                Model::Network(model) => Ok(Brain::network(model, PlayerSpec::new(Limit::Plies(plies)))),
                Model::Dcnn(model) => Brain::of_net(model, None),
            },
            Search::Player(search) => match model()? {
                Model::Network(model) => Ok(Brain::network(model, search)),
                Model::Dcnn(model) => Brain::of_net(model, Some(&search.to_string())),
            },
            Search::Policy(play) => match model()? {
                Model::Network(model) => Err(no_policy(&model.name, play)),
                Model::Dcnn(model) => Brain::of_net(model, Some(&play.to_string())),
            },
        }
    }

    /// The same on a thread of its own: a model that must be loaded takes nobody's turn to search.
    pub(crate) async fn load(app: &App, model: Option<String>, search: Search) -> Answer<Self> {
        let shared = app.clone();
        let load = move || Brain::new(&shared, model.as_deref(), search);
        spawn_blocking(load).await.map_err(ApiError::internal)?
    }

    /// What it expects of new games, for the chances of tiles; only networks on 4×4 have these.
    pub(crate) fn reference(&self) -> Option<Reference> {
        match self {
            Brain::Network(model, _) if model.side() == 4 => Some(Reference::of(&model.network)),
            _ => None,
        }
    }

    fn network(model: Arc<Loaded>, search: PlayerSpec) -> Self {
        let search = model.search(search);
        Brain::Network(model, search)
    }

    fn of_net(model: Arc<LoadedDcnn>, search: Option<&str>) -> Answer<Self> {
        let play = model.play(search)?;
        Ok(Brain::Dcnn(model, play))
    }

    /// The name of the model.
    pub(crate) fn model(&self) -> &str {
        match self {
            Brain::Exact => "exact",
            Brain::Network(model, _) => &model.name,
            Brain::Dcnn(model, _) => &model.name,
        }
    }

    /// The search as text.
    pub(crate) fn search(&self) -> String {
        match self {
            Brain::Exact => "exact".into(),
            Brain::Network(_, search) => search.to_string(),
            Brain::Dcnn(model, play) => model.play_name(*play),
        }
    }

    /// Whether moves are judged by how probable they are, and not by the score that is expected.
    pub(crate) fn is_policy(&self) -> bool {
        matches!(self, Brain::Dcnn(model, _) if model.net.spec().outputs() > 1)
    }

    /// The player, if there is one for such boards. It gives up when the flag is set.
    pub(crate) fn player<'a, const N: usize>(
        &'a self,
        shared: &Shared,
        stop: &Stop,
    ) -> Answer<Box<dyn Player<N> + 'a>>
    where
        Solutions: OnSide<N>,
    {
        match self {
            Brain::Exact => shared.solutions.exact(),
            Brain::Network(model, search) => {
                model.check_afterstates("a search")?;
                let side = model.side();
                if side != N {
                    let error = format!("the board is {N}×{N}, but the model plays on {side}×{side}");
                    let hint = "give a board or a model that fits the other";
                    return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint));
                }
                let (values, threads) = (model.network.view(), shared.searches.threads(search));
                let endgames = model.endgames.as_ref();
                Ok(search.player_with(values, model.rules, threads, |search| {
                    search.with_stop(stop.clone()).with_endgames(endgames)
                }))
            }
            Brain::Dcnn(model, play) => Solutions::by_net(DcnnPlayer::new(&model.net, *play)),
        }
    }

    /// Refuses an advice that is none: of a search that was stopped, or on a board that is not in the solution.
    pub(crate) fn check<const N: usize>(
        &self,
        shared: &Shared,
        state: State<N>,
        advice: &Advice,
    ) -> Answer<()> {
        match self {
            Brain::Exact if state.legal_moves().any(|a| advice.values[a as usize].is_none()) => {
                let error = format!("no game comes to {state}, so that its values are not in the solution");
                let hint = "give a board that can come about by playing";
                Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint))
            }
            Brain::Network(_, search) if falls_short(search, advice) => {
                Err(searches::too_long(shared.limits.longest_search()))
            }
            _ => Ok(()),
        }
    }

    /// The figures of an advice, as `afterstate advise --json` gives them; a policy expects no score, and tells how probable
    /// moves are.
    pub(crate) fn figures(&self, advice: &Advice) -> Map<String, Value> {
        let mut figures = Map::new();
        figures.insert("values".into(), by_move(|a| advice.values[a as usize]));
        figures.insert("best".into(), json!(advice.best().map(Move::name)));
        figures.insert("expected".into(), json!((!self.is_policy()).then(|| advice.value())));
        figures.insert("plies".into(), json!(advice.plies));
        figures.insert("evaluated".into(), json!(advice.evaluated));
        figures.insert("seconds".into(), json!(advice.time.as_secs_f64()));
        if let Brain::Dcnn(_, play) = self
            && self.is_policy()
        {
            let split = |a: Move| advice.values[a as usize].map(|value| split(*play, value));
            figures.insert("probabilities".into(), by_move(|a| split(a).map(|(_, probability)| probability)));
            if *play == Play::MajorityVote {
                figures.insert("votes".into(), by_move(|a| split(a).map(|(votes, _)| votes)));
            }
        }
        figures
    }
}

fn by_move<T: Serialize>(figure: impl Fn(Move) -> T) -> Value {
    Move::ALL.iter().map(|&a| (a.name().to_string(), json!(figure(a)))).collect::<Map<_, _>>().into()
}

/// The votes of the symmetric boards for a move, and its probability: a policy's value is the sum of both.
fn split(play: Play, value: f32) -> (u32, f32) {
    // A move that is certain has a probability of 1 with all eight votes.
    let votes = if play == Play::MajorityVote { (value as u32).min(8) } else { 0 };
    (votes, value - votes as f32)
}

fn no_policy(model: &str, play: Play) -> ApiError {
    let error = format!("`{play}` is how a policy plays, but {model} is an n-tuple network");
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, "write 3ply, 100ms, 1s or 1ply+downgrade")
}

/// Whether a search by depth has come less far than it should.
fn falls_short(search: &PlayerSpec, advice: &Advice) -> bool {
    search.search.is_some_and(|settings| match settings.limit {
        Limit::Plies(plies) => advice.plies + u32::from(settings.shallow.is_some()) < plies,
        Limit::Time(_) | Limit::Nodes(_) | Limit::Adaptive(_) => false,
    })
}
