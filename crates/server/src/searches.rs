//! Searches: as many at once as there are cores, a queue of waiting ones, and none for disconnected clients.
//!
//! Long searches leave one place free, so that short ones never wait for them. Each address has a share of the waiting
//! places and of the streams, and only a few of its searches at a time are in the shared queue. Pages of other sites
//! have a single place, with tighter limits.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use afterstate_dcnn::Play;
use afterstate_search::{Limit, PlayerSpec, TableSize};
use axum::http::StatusCode;
use serde::Serialize;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    error::{Answer, ApiError},
    shares::{Gates, Share, Shares},
};

/// The default search depth.
pub(crate) const USUAL_PLIES: u32 = 3;

/// The search of a request.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    /// The model's default: this many moves ahead, or majority vote for a policy.
    Usual(u32),
    /// By the exact values.
    Exact,
    /// By the values of a model.
    Player(PlayerSpec),
    /// By a policy.
    Policy(Play),
}

/// The limits of requests.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Limits {
    /// The longest search, in milliseconds.
    pub(crate) max_search_ms: u64,
    /// The deepest search.
    pub(crate) max_plies: u32,
    /// The maximum number of moves in a watch.
    pub(crate) max_moves: u64,
    /// The maximum number of moves in a review.
    pub(crate) max_review_moves: usize,
    /// The maximum number of games in an evaluation.
    pub(crate) max_games: u64,
    /// The maximum number of waiting searches; others are asked to try again later.
    pub(crate) max_waiting: usize,
    /// The maximum number of event streams.
    pub(crate) max_streams: usize,
    /// The maximum number of waiting searches of an address.
    pub(crate) max_waiting_per_address: usize,
    /// The maximum number of long searches of an address, running or waiting.
    pub(crate) max_long_per_address: usize,
    /// The maximum number of streams of an address.
    pub(crate) max_streams_per_address: usize,
    /// The maximum number of boards in a request.
    pub(crate) max_boards: usize,
    /// The deepest search of pages of other sites, and the longest one in milliseconds.
    pub(crate) max_foreign_plies: u32,
    pub(crate) max_foreign_ms: u64,
    /// The maximum size of a body in bytes.
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
            max_waiting_per_address: 128,
            max_long_per_address: 4,
            max_streams_per_address: 16,
            max_boards: 1000,
            max_foreign_plies: 2,
            max_foreign_ms: 50,
            max_body: crate::extract::MAX_BODY,
        }
    }
}

impl Limits {
    /// Parses a search within the limits; without a text, the default.
    pub(crate) fn search(&self, text: Option<&str>) -> Answer<Asked> {
        match text {
            None => Ok(Asked::Usual(USUAL_PLIES)),
            Some("exact") => Ok(Asked::Exact),
            Some(text) => match text.parse() {
                Ok(play) => Ok(Asked::Policy(play)),
                Err(_) => self.player(text).map(Asked::Player),
            },
        }
    }

    /// The longest search.
    pub(crate) fn longest_search(&self) -> Duration {
        Duration::from_millis(self.max_search_ms)
    }

    /// The search for a page of another site: its default, or one within its limits.
    pub(crate) fn foreign_search(&self, text: Option<&str>) -> Answer<Asked> {
        let (plies, ms) = (self.max_foreign_plies, self.max_foreign_ms);
        let bounds = Limits { max_plies: plies, max_search_ms: ms, ..*self };
        match text {
            None => Ok(Asked::Usual(plies)),
            Some(_) => bounds.search(text),
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
            (Limit::Nodes(nodes) | Limit::Adaptive(nodes), _) if nodes > ms * NODES_PER_MS => {
                Err(ApiError::bad(
                    format!("{nodes} nodes are too many"),
                    format!("at most {}", ms * NODES_PER_MS),
                ))
            }
            (_, TableSize::Bits(20..)) => Err(ApiError::bad("the table is too large", "at most table=19")),
            _ => Ok(spec),
        }
    }
}

/// The number of nodes that take about a millisecond on a slow machine.
const NODES_PER_MS: u64 = 500;

/// Searches up to this many plies, or milliseconds, are short.
const SHORT_PLIES: u32 = 3;
const SHORT_MS: u64 = 100;

/// The duration class of a search, which determines its places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// A few milliseconds.
    Short,
    /// Up to the limit.
    Long,
    /// Requested by a page of another site.
    Foreign,
}

impl Class {
    /// The class of a search.
    pub(crate) fn of(search: Asked) -> Class {
        let limit = match search {
            Asked::Player(PlayerSpec { search: Some(settings), .. }) => settings.limit,
            _ => return Class::Short,
        };
        match limit {
            Limit::Plies(plies) if plies > SHORT_PLIES => Class::Long,
            Limit::Time(time) if time > Duration::from_millis(SHORT_MS) => Class::Long,
            Limit::Nodes(nodes) | Limit::Adaptive(nodes) if nodes > SHORT_MS * NODES_PER_MS => Class::Long,
            _ => Class::Short,
        }
    }
}

/// The running and waiting searches.
pub(crate) struct Searches {
    running: Arc<Semaphore>,
    /// The places for long searches: all but one.
    long: Arc<Semaphore>,
    foreign: Arc<Semaphore>,
    gates: Gates,
    streams: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_shares: Shares,
    long_shares: Shares,
    stream_shares: Shares,
    limits: Limits,
    cores: usize,
    places: usize,
}

/// The places that a running search holds.
struct Places {
    _shares: Vec<Share>,
    _permits: Vec<OwnedSemaphorePermit>,
}

/// A permit for an open event stream.
pub(crate) struct OpenStream {
    _share: Share,
    _permit: OwnedSemaphorePermit,
}

/// Set when the client no longer waits for the answer.
pub(crate) type Stop = Arc<AtomicBool>;

/// Sets the flag when dropped: a request is dropped when its client disconnects.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Counts a waiting search.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Searches {
    pub(crate) fn new(limits: Limits) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let places = cores.max(2);
        Searches {
            running: Arc::new(Semaphore::new(places)),
            long: Arc::new(Semaphore::new(places - 1)),
            foreign: Arc::new(Semaphore::new(1)),
            // One more than can run, so that no place is idle between two searches.
            gates: Gates::new(places + 1),
            streams: Arc::new(Semaphore::new(limits.max_streams)),
            waiting: AtomicUsize::new(0),
            waiting_shares: Shares::new(limits.max_waiting_per_address),
            long_shares: Shares::new(limits.max_long_per_address),
            stream_shares: Shares::new(limits.max_streams_per_address),
            limits,
            cores,
            places,
        }
    }

    /// The number of threads for a search: shallow ones finish before threads would start.
    pub(crate) fn threads(&self, search: &PlayerSpec) -> usize {
        match search.search.map(|search| search.limit) {
            Some(Limit::Time(_) | Limit::Plies(4..)) => self.cores,
            _ => 1,
        }
    }

    /// A permit for an open event stream.
    pub(crate) fn stream(&self, peer: IpAddr) -> Answer<OpenStream> {
        let most = self.limits.max_streams_per_address;
        let own = || ApiError::busy(format!("{most} streams of this address are open"));
        let share = self.stream_shares.take(peer).ok_or_else(own)?;
        let busy = |_| ApiError::busy(format!("{} streams are open", self.limits.max_streams));
        let permit = self.streams.clone().try_acquire_owned().map_err(busy)?;
        Ok(OpenStream { _share: share, _permit: permit })
    }

    /// The numbers of running and waiting searches.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.places - self.running.available_permits(), self.waiting.load(Relaxed))
    }

    /// Runs work on another thread when its turn comes. The flag passed to it is set when the client has disconnected
    /// or the time limit is reached.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        peer: IpAddr,
        class: Class,
        work: impl FnOnce(Stop) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        self.run_for(self.limits.longest_search(), peer, class, work).await
    }

    /// The same with another time limit.
    pub(crate) async fn run_for<T: Send + 'static>(
        &self,
        time: Duration,
        peer: IpAddr,
        class: Class,
        work: impl FnOnce(Stop) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let places = self.turn(peer, class).await?;
        let stop = Stop::default();
        let guard = StopOnDrop(stop.clone());
        let mut work = spawn_blocking(move || {
            let _places = places;
            work(stop)
        });
        let answer = match timeout(time, &mut work).await {
            Ok(answer) => answer,
            Err(_) => {
                // A search that is told to stop returns its result, or an error, within a moment.
                drop(guard);
                timeout(MOMENT, work).await.map_err(|_| too_long(time))?
            }
        };
        answer.map_err(|_| ApiError::internal("the search has failed"))?
    }

    async fn turn(&self, peer: IpAddr, class: Class) -> Answer<Places> {
        let mut shares = Vec::new();
        if class == Class::Long {
            let most = self.limits.max_long_per_address;
            let busy = || ApiError::busy(format!("{most} long searches of this address are running"));
            shares.push(self.long_shares.take(peer).ok_or_else(busy)?);
        }
        let gate = self.gates.of(peer);
        let needed = match class {
            Class::Short => vec![&gate, &self.running],
            Class::Long => vec![&self.long, &gate, &self.running],
            // They come from the user's own address, and have a separate gate.
            Class::Foreign => vec![&self.foreign, &self.running],
        };
        let mut permits = Vec::new();
        for semaphore in needed {
            permits.push(match semaphore.clone().try_acquire_owned() {
                Ok(permit) => permit,
                Err(_) => self.wait(peer, semaphore).await?,
            });
        }
        Ok(Places { _shares: shares, _permits: permits })
    }

    async fn wait(&self, peer: IpAddr, semaphore: &Arc<Semaphore>) -> Answer<OwnedSemaphorePermit> {
        let own = || ApiError::busy("too many searches of this address are waiting");
        let _share = self.waiting_shares.take(peer).ok_or_else(own)?;
        if self.waiting.fetch_add(1, Relaxed) >= self.limits.max_waiting {
            self.waiting.fetch_sub(1, Relaxed);
            return Err(ApiError::busy("too many searches are waiting"));
        }
        let _waiting = Waiting(&self.waiting);
        semaphore.clone().acquire_owned().await.map_err(ApiError::internal)
    }
}

/// How long a search may take to stop.
const MOMENT: Duration = Duration::from_secs(1);

/// The error for a search by depth that exceeds the time limit.
pub(crate) fn too_long(time: Duration) -> ApiError {
    let error = format!("the search takes longer than {} s", time.as_secs_f64());
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, "look less far ahead, or give a time, such as 1s")
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

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

    fn begin(searches: &Arc<Searches>, peer: IpAddr, class: Class) -> tokio::task::JoinHandle<Answer<()>> {
        let searches = searches.clone();
        tokio::spawn(async move { searches.run(peer, class, endless).await })
    }

    async fn until(searches: &Searches, load: (usize, usize)) {
        while searches.load() != load {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn more_than_may_wait_are_told_to_come_back() {
        let limits = Limits { max_waiting: 3, ..Limits::default() };
        let searches = Arc::new(Searches::new(limits));
        let places = searches.places;
        let clients: Vec<_> = (0..places + 3).map(|_| begin(&searches, PEER, Class::Short)).collect();
        until(&searches, (places, 3)).await;
        let refused = searches.run(PEER, Class::Short, |_| Ok(())).await.expect_err("too many");
        assert_eq!(refused.error, "too many searches are waiting");
        clients.iter().for_each(|client| client.abort());
        until(&searches, (0, 0)).await;
        searches.run(PEER, Class::Short, |_| Ok(())).await.expect("room again");
    }

    #[tokio::test]
    async fn long_searches_and_other_sites_leave_a_place() {
        let limits = Limits { max_long_per_address: 2 * searches_cores(), ..Limits::default() };
        let searches = Arc::new(Searches::new(limits));
        let long: Vec<_> = (0..searches.places + 1).map(|_| begin(&searches, PEER, Class::Long)).collect();
        until(&searches, (searches.places - 1, 2)).await;
        searches.run(OTHER, Class::Short, |_| Ok(())).await.expect("a place is free");
        long.iter().for_each(|client| client.abort());
        until(&searches, (0, 0)).await;
        let foreign: Vec<_> = (0..3).map(|_| begin(&searches, PEER, Class::Foreign)).collect();
        until(&searches, (1, 2)).await;
        searches.run(PEER, Class::Short, |_| Ok(())).await.expect("a place is free");
        foreign.iter().for_each(|client| client.abort());
    }

    fn searches_cores() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from).max(2)
    }

    #[tokio::test]
    async fn one_address_has_its_share() {
        let limits = Limits {
            max_waiting_per_address: 2,
            max_long_per_address: 1,
            max_streams_per_address: 1,
            ..Limits::default()
        };
        let searches = Arc::new(Searches::new(limits));
        let clients: Vec<_> =
            (0..searches.places + 2).map(|_| begin(&searches, PEER, Class::Short)).collect();
        until(&searches, (searches.places, 2)).await;
        let refused = searches.run(PEER, Class::Short, |_| Ok(())).await.expect_err("too many of one");
        assert_eq!(refused.error, "too many searches of this address are waiting");
        let other = begin(&searches, OTHER, Class::Short);
        until(&searches, (searches.places, 3)).await;
        clients.iter().chain([&other]).for_each(|client| client.abort());
        until(&searches, (0, 0)).await;
        let long = begin(&searches, PEER, Class::Long);
        until(&searches, (1, 0)).await;
        assert!(searches.run(PEER, Class::Long, |_| Ok(())).await.is_err(), "one long search at a time");
        long.abort();
        let stream = searches.stream(PEER).expect("a stream");
        assert!(searches.stream(PEER).is_err() && searches.stream(OTHER).is_ok());
        drop(stream);
        assert!(searches.stream(PEER).is_ok());
    }

    /// An address with many searches, as with open streams, does not hold up another one.
    #[tokio::test]
    async fn one_address_waits_for_few_of_another() {
        let searches = Arc::new(Searches::new(Limits::default()));
        let (places, ended) = (searches.places, Arc::new(AtomicUsize::new(0)));
        let many = 20 * places;
        for _ in 0..many {
            let (searches, ended) = (searches.clone(), ended.clone());
            let work = move |_| {
                sleep(Duration::from_millis(5));
                ended.fetch_add(1, Relaxed);
                Ok(())
            };
            tokio::spawn(async move { searches.run(OTHER, Class::Short, work).await });
        }
        while searches.load().0 < places {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let before = ended.load(Relaxed);
        searches.run(PEER, Class::Short, |_| Ok(())).await.expect("its turn");
        let waited_for = ended.load(Relaxed) - before;
        assert!(waited_for <= 3 * places + 3, "{waited_for} of {many}");
    }

    #[tokio::test]
    async fn a_search_that_panics_or_takes_too_long_gives_its_place_back() {
        let searches = Searches::new(Limits::default());
        assert!(searches.run(PEER, Class::Short, |_| -> Answer<()> { panic!("a mistake") }).await.is_err());
        // It is told to stop, and its result is used; one that does not stop is abandoned.
        searches.run_for(Duration::from_millis(5), PEER, Class::Short, endless).await.expect("it stops");
        let deaf = |_| {
            sleep(MOMENT + Duration::from_millis(300));
            Ok(())
        };
        let late = searches.run_for(Duration::from_millis(5), PEER, Class::Short, deaf).await;
        assert_eq!(late.expect_err("too long").error, "the search takes longer than 0.005 s");
        until(&searches, (0, 0)).await;
    }
}
