//! `/api/review`: how good a game was.
//!
//! A move loses what it is worth less than the best one. It is judged by its share of the best one's value, the score to come:
//! a loss of half of that is bad early and late.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use afterstate_game::{Game, Move, Rules};
use afterstate_search::{Advice, Limit, PlayerSpec};
use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::game;
use crate::{
    app::{App, Shared},
    brain::Brain,
    error::{Answer, ApiError},
    exact::{OnSide, Solutions},
    extract::Body,
    review::{self, Format, Played},
    searches::{self, Stop},
};

/// The longest review.
const LONGEST: Duration = Duration::from_secs(60);

/// Shares of the best value: what loses less is good, an inaccuracy, a mistake; what loses more is a blunder.
const GRADES: [f32; 3] = [0.01, 0.03, 0.1];

/// The number of worst moves that are listed.
const WORST: usize = 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reviewed {
    text: String,
    model: Option<String>,
    search: Option<String>,
}

/// Judges the moves of a game.
pub(crate) async fn review(State(app): State<App>, Body(wanted): Body<Reviewed>) -> Answer<Json<Value>> {
    let search = app.limits.search(wanted.search.as_deref())?;
    let (side, format) = review::form(&wanted.text)?;
    let shared = app.clone();
    let work = move |stop: Stop| {
        let most = shared.limits.max_review_moves;
        let brain = Brain::new(&shared, wanted.model.as_deref(), search)?;
        let judge = Judge { shared: &shared, brain: &brain, stop: &stop, format };
        match side {
            2 => judge.judge(&review::moves::<2>(&wanted.text, format, most)?),
            3 => judge.judge(&review::moves::<3>(&wanted.text, format, most)?),
            _ => judge.judge(&review::moves::<4>(&wanted.text, format, most)?),
        }
    };
    Ok(Json(app.searches.run_for(LONGEST + Duration::from_secs(5), work).await?))
}

/// How many moves of each grade there were.
#[derive(Default, Serialize)]
struct Grades {
    best: u64,
    good: u64,
    inaccuracy: u64,
    mistake: u64,
    blunder: u64,
}

/// What a review goes by.
struct Judge<'a> {
    shared: &'a Shared,
    brain: &'a Brain,
    stop: &'a Stop,
    format: Format,
}

impl Judge<'_> {
    /// The moves of a game with their grades, and the game as a whole.
    fn judge<const N: usize>(&self, played: &[Played<N>]) -> Answer<Value>
    where
        Solutions: OnSide<N>,
    {
        let Judge { shared, brain, stop, format } = *self;
        check_values(brain)?;
        check_time(brain, played.len())?;
        let mut player = brain.player::<N>(shared, stop)?;
        let (mut moves, mut grades, mut shares) = (Vec::new(), Grades::default(), Vec::new());
        let (mut accuracy, mut choices, mut score) = (0.0, 0u32, 0);
        for Played { state, a, next } in played {
            if stop.load(Relaxed) {
                return Err(searches::too_long());
            }
            let advice = player.advise(*state);
            brain.check(*state, &advice)?;
            let Some(slide) = state.slide(*a) else { continue };
            let (loss, share) = loss(&advice, *a);
            let (grade, count) = grades.grade(share);
            *count += 1;
            if state.legal_moves().count() > 1 {
                accuracy += 1.0 - (share / GRADES[2]).min(1.0);
                choices += 1;
            }
            score += u64::from(slide.reward);
            shares.push(share);
            let mut entry = brain.figures(&advice);
            entry.insert("board".into(), json!(state.to_string()));
            entry.insert("played".into(), json!(a.name()));
            entry.insert("loss".into(), json!(loss));
            entry.insert("grade".into(), json!(grade));
            let spawn = next.map(|next| game::spawn(slide.afterstate.board(), next.board()));
            entry.insert("spawn".into(), json!(spawn));
            moves.push(Value::Object(entry));
        }
        Ok(json!({
            "side": N,
            "format": format.name(),
            "model": brain.model(),
            "search": brain.search(),
            "moves": moves,
            "accuracy": if choices > 0 { 100.0 * accuracy / choices as f32 } else { 100.0 },
            "grades": grades,
            "worst": worst(&shares),
            "score": score,
        }))
    }
}

impl Grades {
    /// The name of a grade, and its count.
    fn grade(&mut self, share: f32) -> (&'static str, &mut u64) {
        match share {
            share if share <= 0.0 => ("best", &mut self.best),
            share if share < GRADES[0] => ("good", &mut self.good),
            share if share < GRADES[1] => ("inaccuracy", &mut self.inaccuracy),
            share if share < GRADES[2] => ("mistake", &mut self.mistake),
            _ => ("blunder", &mut self.blunder),
        }
    }
}

/// What a move loses against the best one, and its share of the best one's value.
fn loss(advice: &Advice, a: Move) -> (f32, f32) {
    let (best, value) = (advice.value(), advice.values[a as usize].unwrap_or_default());
    let loss = (best - value).max(0.0);
    // Where hardly anything is to come, hardly anything is lost.
    (loss, loss / best.abs().max(16.0))
}

/// The numbers of the moves that lose most, the worst one first.
fn worst(shares: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shares.len()).filter(|&i| shares[i] > 0.0).collect();
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    order.truncate(WORST);
    order
}

/// Refuses a policy, whose probabilities do not say what a move loses.
fn check_values(brain: &Brain) -> Answer<()> {
    if !brain.is_policy() {
        return Ok(());
    }
    let error = format!("a review needs the values of moves, but {} has their probabilities", brain.model());
    let hint = "choose a model whose `network` is not `policy`; /api/models lists them";
    Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint))
}

/// Refuses what would take too long before it begins.
fn check_time(brain: &Brain, moves: usize) -> Answer<()> {
    let Brain::Network(_, PlayerSpec { search: Some(settings), .. }) = brain else { return Ok(()) };
    match settings.limit {
        Limit::Time(time) if time.mul_f64(moves as f64) > LONGEST => {
            let error = format!("{moves} moves would take {:.0} s", time.as_secs_f64() * moves as f64);
            let hint =
                format!("take 2ply or 3ply, or less time for each move: {} s in all", LONGEST.as_secs());
            Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error, hint))
        }
        _ => Ok(()),
    }
}

/// A game to try it with: played by going left, down, right, up, whatever is possible first.
pub(crate) async fn example() -> Json<Value> {
    let mut game = Game::<4>::new(Rules::default(), 1, 2048);
    let mut text = String::from("afterstate game 1 2048 4\n");
    let order = [Move::Left, Move::Down, Move::Right, Move::Up];
    while let Some(a) = order.into_iter().find(|a| game.play(*a).is_some()) {
        text.push_str(&a.name()[..1]);
    }
    Json(json!({ "text": text + "\n" }))
}
