//! A model and how it plays.

use std::{collections::HashSet, path::Path};

use afterstate_dcnn::{DcnnPlayer, Device, Play, Work};
use afterstate_game::Rules;
use afterstate_lab::{
    evaluate::{Contest, Games, Outcome, Steps, evaluate_players},
    model::{Loaded, LoadedDcnn},
    stats::GameResult,
};
use afterstate_search::{Downgrade, Limit, PlayerSpec};

use super::{check_search, parse_search};
use crate::{
    commands::{dcnn::no_device, endgame::open_tables},
    error::Failure,
};

/// Who plays the games of an evaluation.
pub(super) enum Contestant {
    /// An n-tuple network with a search.
    Network(Box<Loaded>, PlayerSpec),
    /// A convolutional network, with room on the device where it plays.
    Dcnn(Box<LoadedDcnn>, Play, Work),
}

impl Contestant {
    /// Loads a model that is to play so; tiles are downgraded if nothing else is said, and the tables of a directory asked.
    pub(super) fn open(
        model: Option<&Path>,
        search: Option<&str>,
        downgrade: Option<Downgrade>,
        device: Device,
        endgame: Option<&Path>,
    ) -> Result<Self, Failure> {
        if let Some(net) = model.map(LoadedDcnn::open).transpose()?.flatten() {
            if endgame.is_some() {
                let message = format!("{} is a convolutional network, which asks no tables", net.name);
                return Err(Failure::input(message, "leave out `--endgame`"));
            }
            let play = net.play(search)?;
            return Ok(Contestant::Dcnn(Box::new(net), play, Work::on(device).map_err(no_device)?));
        }
        if device != Device::Cpu {
            return Err(Failure::input("an n-tuple network plays on the CPU alone", "leave out `--device`"));
        }
        let mut spec = search.map_or(Ok(PlayerSpec::new(Limit::Plies(1))), parse_search)?;
        spec.downgrade = spec.downgrade.or(downgrade);
        let model = Loaded::open(model)?.with_endgames(endgame.map(open_tables).transpose()?.flatten());
        let spec = model.search(spec);
        Ok(Contestant::Network(Box::new(model), spec))
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Contestant::Network(model, _) => &model.name,
            Contestant::Dcnn(model, ..) => &model.name,
        }
    }

    /// The checksum of its file's header.
    pub(super) fn checksum(&self) -> &str {
        match self {
            Contestant::Network(model, _) => &model.checksum,
            Contestant::Dcnn(model, ..) => &model.checksum,
        }
    }

    pub(super) fn side(&self) -> usize {
        match self {
            Contestant::Network(model, _) => model.side(),
            Contestant::Dcnn(..) => 4,
        }
    }

    pub(super) fn rules(&self) -> Rules {
        match self {
            Contestant::Network(model, _) => model.rules,
            Contestant::Dcnn(..) => Rules::default(),
        }
    }

    /// How it plays, as text.
    pub(super) fn search(&self) -> String {
        match self {
            Contestant::Network(model, search) => model.search_name(*search),
            Contestant::Dcnn(model, play, _) => model.play_name(*play),
        }
    }

    /// The network and its search, for what only values can do; `what` is the subject of the sentence.
    pub(super) fn network(&self, what: &str) -> Result<(&Loaded, PlayerSpec), Failure> {
        match self {
            Contestant::Network(model, search) => Ok((model, *search)),
            Contestant::Dcnn(model, ..) => {
                let message =
                    format!("{what} needs an n-tuple network, but {} is a convolutional one", model.name);
                Err(Failure::input(message, "`afterstate eval MODEL` lets it play whole games"))
            }
        }
    }

    /// Refuses what the model cannot do.
    pub(super) fn check(&self, collect: Option<Steps>, threads: usize) -> Result<(), Failure> {
        if let Contestant::Network(_, search) = self {
            check_search(search, threads)?;
        }
        if collect.is_some() {
            self.network("`--collect`")?.0.check_afterstates("`--collect`")?;
        }
        match self {
            Contestant::Network(model, search) if !search.is_greedy() && search.search.is_some() => {
                Ok(model.check_afterstates("a search")?)
            }
            _ => Ok(()),
        }
    }

    /// Plays the games that have not been played.
    pub(super) fn play(
        &self,
        games: Games,
        played: &HashSet<u64>,
        threads: usize,
        collect: Option<Steps>,
        watch: impl FnMut(&[GameResult]) -> bool,
    ) -> Option<Outcome> {
        match self {
            Contestant::Network(model, player) => {
                let (network, player, endgames) = (&model.network, *player, model.endgames.as_ref());
                Contest { network, player, endgames, games, played, threads, collect }.play(watch)
            }
            Contestant::Dcnn(model, play, work) => {
                let player = || DcnnPlayer::new(&model.net, *play).with(work.clone());
                evaluate_players(games, played, threads, player, watch)
            }
        }
    }
}
