//! Searches: as many at once as there are cores, some that wait, and none for a client who has gone.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use afterstate_search::{Limit, PlayerSpec, TableSize};
use axum::http::StatusCode;
use serde::Serialize;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    brain::Search,
    error::{Answer, ApiError},
};

/// The depth of a search that is not named.
pub(crate) const USUAL_PLIES: u32 = 3;

/// What a request may ask for.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Limits {
    /// The longest search, in milliseconds.
    pub(crate) max_search_ms: u64,
    /// The deepest search.
    pub(crate) max_plies: u32,
    /// The most moves in one watch.
    pub(crate) max_moves: u64,
    /// The longest game that is reviewed.
    pub(crate) max_review_moves: usize,
    /// The most games in one evaluation.
    pub(crate) max_games: u64,
    /// Searches that wait for their turn; more are told to come back.
    pub(crate) max_waiting: usize,
    /// Streams of events at once.
    pub(crate) max_streams: usize,
    /// The largest body, in bytes.
    pub(crate) max_body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_search_ms: 10_000,
            max_plies: 8,
            max_moves: 100_000,
            max_review_moves: 20_000,
            max_games: 10_000,
            max_waiting: 256,
            max_streams: 64,
            max_body: crate::extract::MAX_BODY,
        }
    }
}

impl Limits {
    /// A search by its text, if it is one that a request may ask for; without a text, what is usual.
    pub(crate) fn search(&self, text: Option<&str>) -> Answer<Search> {
        match text {
            None => Ok(Search::Usual(USUAL_PLIES)),
            Some("exact") => Ok(Search::Exact),
            Some(text) => match text.parse() {
                Ok(play) => Ok(Search::Policy(play)),
                Err(_) => self.player(text).map(Search::Player),
            },
        }
    }

    fn player(&self, text: &str) -> Answer<PlayerSpec> {
        let hint = "write 3ply, 100ms, 1s or 1ply+downgrade, and majority, sum or plain for a policy; `afterstate eval \
                    --help` explains searches";
        let spec: PlayerSpec = text.parse().map_err(|error| ApiError::bad(error, hint))?;
        let Some(search) = spec.search else { return Ok(spec) };
        let (plies, ms) = (self.max_plies, self.max_search_ms);
        match (search.limit, search.table) {
            (Limit::Plies(found), _) if found > plies => {
                Err(ApiError::bad(format!("{found}ply is too deep"), format!("at most {plies}ply")))
            }
            (Limit::Time(time), _) if time > Duration::from_millis(ms) => {
                Err(ApiError::bad(format!("{} s is too long", time.as_secs_f64()), format!("at most {ms}ms")))
            }
            (_, TableSize::Bits(20..)) => Err(ApiError::bad("the table is too large", "at most table=19")),
            _ => Ok(spec),
        }
    }
}

/// The searches that are under way or wait.
pub(crate) struct Searches {
    running: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    waiting: AtomicUsize,
    limits: Limits,
    cores: usize,
}

/// Set when nobody waits for the answer any more.
pub(crate) type Stop = Arc<AtomicBool>;

/// Sets the flag when it goes: a request is dropped when its client has closed the connection.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Counts one who waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Searches {
    pub(crate) fn new(limits: Limits) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Searches {
            running: Arc::new(Semaphore::new(cores)),
            streams: Arc::new(Semaphore::new(limits.max_streams)),
            waiting: AtomicUsize::new(0),
            limits,
            cores,
        }
    }

    /// The threads for a search: few moves ahead are found sooner than threads are started.
    pub(crate) fn threads(&self, search: &PlayerSpec) -> usize {
        match search.search.map(|search| search.limit) {
            Some(Limit::Time(_) | Limit::Plies(4..)) => self.cores,
            _ => 1,
        }
    }

    /// The right to keep a stream of events open.
    pub(crate) fn stream(&self) -> Answer<OwnedSemaphorePermit> {
        let busy = |_| ApiError::busy(format!("{} streams are open", self.limits.max_streams));
        self.streams.clone().try_acquire_owned().map_err(busy)
    }

    /// Searches under way, and such that wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.cores - self.running.available_permits(), self.waiting.load(Relaxed))
    }

    /// Works on another thread when it is its turn. The flag that the work is given is set when the client has gone or
    /// the time is over.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Stop) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        // Loading a model and the best line take their time too.
        let time = Duration::from_millis(2 * self.limits.max_search_ms + 1000);
        self.run_for(time, work).await
    }

    /// The same with another limit on the time.
    pub(crate) async fn run_for<T: Send + 'static>(
        &self,
        time: Duration,
        work: impl FnOnce(Stop) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let permit = self.turn().await?;
        let stop = Stop::default();
        let _guard = StopOnDrop(stop.clone());
        let work = spawn_blocking(move || {
            let _permit = permit;
            work(stop)
        });
        match timeout(time, work).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(ApiError::internal("the search has failed")),
            Err(_) => Err(too_long()),
        }
    }

    async fn turn(&self) -> Answer<OwnedSemaphorePermit> {
        if let Ok(permit) = self.running.clone().try_acquire_owned() {
            return Ok(permit);
        }
        if self.waiting.fetch_add(1, Relaxed) >= self.limits.max_waiting {
            self.waiting.fetch_sub(1, Relaxed);
            return Err(ApiError::busy("too many searches wait"));
        }
        let _waiting = Waiting(&self.waiting);
        self.running.clone().acquire_owned().await.map_err(ApiError::internal)
    }
}

/// A search by depth that would take longer than searches may.
pub(crate) fn too_long() -> ApiError {
    let hint = "look less far ahead, or give a time, such as 1s";
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "the search takes too long", hint)
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    /// Work that only ends when it is stopped.
    fn endless(stop: Stop) -> Answer<()> {
        while !stop.load(Relaxed) {
            sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    #[tokio::test]
    async fn more_than_may_wait_are_told_to_come_back() {
        let limits = Limits { max_waiting: 3, ..Limits::default() };
        let searches = Arc::new(Searches::new(limits));
        let cores = searches.cores;
        let clients: Vec<_> = (0..cores + 3)
            .map(|_| {
                let searches = searches.clone();
                tokio::spawn(async move { searches.run(endless).await })
            })
            .collect();
        while searches.load() != (cores, 3) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let refused = searches.run(|_| Ok(())).await.expect_err("too many");
        assert_eq!(refused.error, "too many searches wait");
        clients.iter().for_each(|client| client.abort());
        while searches.load() != (0, 0) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        searches.run(|_| Ok(())).await.expect("room again");
    }

    #[tokio::test]
    async fn a_search_that_panics_or_takes_too_long_gives_its_place_back() {
        let searches = Searches::new(Limits::default());
        assert!(searches.run(|_| -> Answer<()> { panic!("a mistake") }).await.is_err());
        let late = searches.run_for(Duration::from_millis(5), endless).await;
        assert_eq!(late.expect_err("too long").error, "the search takes too long");
        while searches.load() != (0, 0) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
