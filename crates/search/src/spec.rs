//! The text form of players: `3ply`, `10ms+downgrade`, `random`.

use std::{fmt, str::FromStr, time::Duration};

use afterstate_game::Rules;
use afterstate_network::{MemoryError, View, check_fits};

use crate::{
    ADAPTIVE_NODES, Downgrade, Expectimax, Limit, MAX_PLIES, Player, Random, SearchSettings, TableSize,
    TileDowngrading,
};

/// A player in text form: a limit, followed by options, each preceded by `+`.
///
/// ```
/// use afterstate_search::{Limit, PlayerSpec};
/// let spec: PlayerSpec = "4ply+shallow=5+downgrade".parse()?;
/// assert_eq!(spec.search.map(|search| search.limit), Some(Limit::Plies(4)));
/// assert_eq!(spec.to_string(), "4ply+shallow=5+downgrade=32768");
/// # Ok::<(), afterstate_search::SpecError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlayerSpec {
    /// How to search; `None` for random play.
    pub search: Option<SearchSettings>,
    /// Which states are downgraded; `None` if unspecified: the model's setting, or none.
    pub downgrade: Option<Downgrade>,
}

/// Why a text is not a player.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// An invalid limit, the part before the options.
    #[error(
        "`{0}` is not a search: write 1ply to {MAX_PLIES}ply, a time for each move such as 10ms or 1s, a number of nodes such as \
         20000nodes, adaptive or adaptive=NODES, or random"
    )]
    Limit(String),
    /// An option that does not exist, or cannot be combined with the preceding text.
    #[error(
        "`{0}` is not an option of a search: the options are shallow=CELLS, prune=PROBABILITY, fours=NUMBER, deeper, table=off, table=BITS \
         and downgrade, downgrade=TILE, downgrade=TILE..SUM, downgrade=TILE-once or downgrade=off"
    )]
    Option(String),
    /// An invalid value of an option.
    #[error("`{option}={found}` is invalid: {option} takes {right}")]
    Value {
        /// The option.
        option: &'static str,
        /// The value that was given.
        found: String,
        /// The values that are allowed.
        right: &'static str,
    },
}

impl PlayerSpec {
    /// The exact search with a limit.
    pub fn new(limit: Limit) -> Self {
        PlayerSpec { search: Some(SearchSettings::new(limit)), downgrade: None }
    }

    /// Whether the search is 1-ply, so that no spawn is considered.
    pub fn is_one_ply(&self) -> bool {
        self.search.is_some_and(|search| search.limit == Limit::Plies(1))
    }

    /// Whether this is plain greedy play.
    pub fn is_greedy(&self) -> bool {
        self.is_one_ply() && self.downgrade.is_none_or(|downgrade| downgrade == Downgrade::OFF)
    }

    /// Sets which states are downgraded, unless the text did. Random play ignores it.
    pub fn or_downgraded(self, downgrade: Option<Downgrade>) -> Self {
        let downgrade = self.downgrade.or(downgrade.filter(|_| self.search.is_some()));
        PlayerSpec { downgrade, ..self }
    }

    /// Rejects tables for this many players that do not fit into memory.
    ///
    /// # Errors
    /// If they do not fit, with the figures.
    pub fn check_fits(&self, players: usize) -> Result<(), MemoryError> {
        let bytes = self.search.map_or(0, |search| search.table_bytes().saturating_mul(players as u64));
        check_fits(&format!("the table of `{self}` for {players} threads"), bytes)
    }

    /// Creates the player, searching by the values of a network with this many threads.
    pub fn player<'a, const N: usize>(
        &self,
        view: View<'a>,
        rules: Rules,
        threads: usize,
    ) -> Box<dyn Player<N> + 'a> {
        self.player_with(view, rules, threads, |search| search)
    }

    /// The same, with a hook that configures the search first, for stopping or observing it.
    pub fn player_with<'a, const N: usize>(
        &self,
        view: View<'a>,
        rules: Rules,
        threads: usize,
        change: impl FnOnce(Expectimax<'a, N>) -> Expectimax<'a, N>,
    ) -> Box<dyn Player<N> + 'a> {
        let player: Box<dyn Player<N> + 'a> = match self.search {
            Some(settings) => Box::new(change(Expectimax::new(view, rules, settings, threads))),
            None => Box::new(Random),
        };
        match self.downgrade {
            Some(downgrade) => Box::new(TileDowngrading::new(player, downgrade)),
            None => player,
        }
    }
}

/// Serialized as text.
impl serde::Serialize for PlayerSpec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut parts = text.split('+');
        let limit = parts.next().unwrap_or_default();
        let search = match limit {
            "random" => None,
            _ => Some(SearchSettings::new(parse_limit(limit).ok_or_else(|| SpecError::Limit(limit.into()))?)),
        };
        let mut spec = PlayerSpec { search, downgrade: None };
        for option in parts {
            set_option(&mut spec, option)?;
        }
        Ok(spec)
    }
}

/// The maximum number of nodes of a search: days of work.
const MOST_NODES: u64 = 1_000_000_000_000;

fn parse_limit(text: &str) -> Option<Limit> {
    if let Some(plies) = text.strip_suffix("ply") {
        let plies = plies.parse().ok()?;
        return (1..=MAX_PLIES).contains(&plies).then_some(Limit::Plies(plies));
    }
    let nodes = match text.strip_suffix("nodes") {
        Some(nodes) => Some((nodes, Limit::Nodes as fn(u64) -> Limit)),
        None => text.strip_prefix("adaptive=").map(|nodes| (nodes, Limit::Adaptive as fn(u64) -> Limit)),
    };
    if let Some((nodes, limit)) = nodes {
        return nodes.parse().ok().filter(|nodes| (1..=MOST_NODES).contains(nodes)).map(limit);
    }
    if text == "adaptive" {
        return Some(Limit::Adaptive(ADAPTIVE_NODES));
    }
    let milliseconds: f64 = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(milliseconds), _) => milliseconds.parse().ok()?,
        (None, Some(seconds)) => seconds.parse::<f64>().ok()? * 1000.0,
        (None, None) => return None,
    };
    let sensible = 0.01..=86_400_000.0;
    sensible.contains(&milliseconds).then(|| Limit::Time(Duration::from_secs_f64(milliseconds / 1000.0)))
}

fn set_option(spec: &mut PlayerSpec, text: &str) -> Result<(), SpecError> {
    let unknown = || SpecError::Option(text.into());
    if text == "downgrade" {
        spec.downgrade = Some(Downgrade::PAPER);
        return Ok(());
    }
    if let Some(value) = text.strip_prefix("downgrade=") {
        let right = "off, a tile from 4 to 131072, or one and the sum of large tiles until which, as 16384..28672; with \
             -once behind it for a single step";
        let wrong = |_| SpecError::Value { option: "downgrade", found: value.into(), right };
        spec.downgrade = Some(value.parse().map_err(wrong)?);
        return Ok(());
    }
    let search = spec.search.as_mut().ok_or_else(unknown)?;
    match text.split_once('=') {
        None if text == "deeper" => search.deeper = true,
        Some(("shallow", value)) => {
            let right = "a number of empty cells from 1 to 15";
            search.shallow = Some(parse("shallow", value, right, |cells| (1..=15).contains(cells))?);
        }
        Some(("prune", value)) => {
            let right = "a probability from 0 to 1";
            search.prune = parse("prune", value, right, |share| (0.0..=1.0).contains(share))?;
        }
        Some(("fours", value)) => {
            let right = "a number of 4-tiles from 0 to 6";
            search.fours = Some(parse("fours", value, right, |fours| *fours <= 6)?);
        }
        Some(("table", "off")) => search.table = TableSize::Off,
        Some(("table", value)) => {
            let right = "off, or log2 of the number of entries, from 1 to 30";
            search.table = TableSize::Bits(parse("table", value, right, |bits| (1..=30).contains(bits))?);
        }
        _ => return Err(unknown()),
    }
    Ok(())
}

fn parse<T: FromStr>(
    option: &'static str,
    found: &str,
    right: &'static str,
    is_right: impl Fn(&T) -> bool,
) -> Result<T, SpecError> {
    let value = found.parse().ok().filter(is_right);
    value.ok_or_else(|| SpecError::Value { option, found: found.into(), right })
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.search {
            None => write!(f, "random")?,
            Some(search) => {
                match search.limit {
                    Limit::Plies(plies) => write!(f, "{plies}ply")?,
                    Limit::Time(time) => write!(f, "{}ms", time.as_secs_f64() * 1000.0)?,
                    Limit::Nodes(nodes) => write!(f, "{nodes}nodes")?,
                    Limit::Adaptive(ADAPTIVE_NODES) => write!(f, "adaptive")?,
                    Limit::Adaptive(nodes) => write!(f, "adaptive={nodes}")?,
                }
                if let Some(cells) = search.shallow {
                    write!(f, "+shallow={cells}")?;
                }
                if search.prune > 0.0 {
                    write!(f, "+prune={}", search.prune)?;
                }
                if let Some(fours) = search.fours {
                    write!(f, "+fours={fours}")?;
                }
                if search.deeper {
                    write!(f, "+deeper")?;
                }
                match search.table {
                    TableSize::Auto => {}
                    TableSize::Off => write!(f, "+table=off")?,
                    TableSize::Bits(bits) => write!(f, "+table={bits}")?,
                }
            }
        }
        match self.downgrade {
            Some(downgrade) => write!(f, "+downgrade={downgrade}"),
            None => Ok(()),
        }
    }
}
