//! Prepares a network for packing: with small tuples, without weight promotion, and with a precision for every weight.

use afterstate_network::{
    Network, NetworkError, NetworkSpec,
    file::packed::{self, StageCoding},
};

use super::{
    redundant::{self, Moved},
    visits::Visits,
};

/// A network prepared for packing.
pub(super) struct Rearranged {
    pub(super) network: Network,
    /// How to code its stages: those related by weight promotion as differences.
    pub(super) stages: StageCoding,
    /// The precisions of its weights, by index.
    pub(super) precisions: Vec<u8>,
}

/// The tables of a network during the pass over the stages.
struct Rearranging<'a> {
    old: &'a Network,
    visits: &'a Visits,
    new: Rearranged,
    /// The tables of the old network in the previous stage, with weight promotion resolved.
    before: Vec<Vec<f32>>,
    /// The tables of the new network.
    tables: Vec<Vec<f32>>,
}

/// Converts to a network of the same values with small tuples and without weight promotion.
pub(super) fn rearrange(old: &Network, visits: &Visits) -> Result<Rearranged, NetworkError> {
    let spec = old.spec();
    let tuples = redundant::with_small(spec);
    let network = Network::new(NetworkSpec { tuples, promotion: false, ..spec.clone() })?;
    let zeros = |spec: &NetworkSpec, table| vec![0.0; spec.table_len(table) as usize];
    let before = (0..spec.tables_per_set()).map(|table| zeros(spec, table)).collect();
    let tables = (0..network.spec().tables_per_set()).map(|table| zeros(network.spec(), table)).collect();
    let precisions = vec![0; network.weights().len()];
    let stages = if spec.promotion { StageCoding::Differences } else { StageCoding::Apart };
    let mut work =
        Rearranging { old, visits, new: Rearranged { network, stages, precisions }, before, tables };
    for stage in 0..spec.stages.count() {
        if stages == StageCoding::Apart {
            let all = work.before.iter_mut().chain(&mut work.tables);
            all.for_each(|table| table.fill(0.0));
        }
        work.stage(stage);
    }
    Ok(work.new)
}

impl Rearranging<'_> {
    /// Processes a stage: moves its differences from the previous stage into small tables as far as possible.
    fn stage(&mut self, stage: usize) {
        let spec = self.new.network.spec().clone();
        let mut order: Vec<usize> = (0..spec.tables_per_set()).collect();
        order.sort_by_key(|&table| std::cmp::Reverse(spec.tuple(table).len()));
        let mut gained: Vec<Option<Moved>> = order.iter().map(|_| None).collect();
        for table in order {
            let (mut change, mut visits) = self.change(stage, table);
            if let Some(gained) = gained[table].take() {
                change.iter_mut().zip(gained.weights).for_each(|(change, gained)| *change += gained);
                visits
                    .iter_mut()
                    .zip(gained.visits)
                    .for_each(|(visits, gained)| *visits = gained.max(*visits));
            }
            let inside = redundant::all_inside(&spec, table);
            for moved in redundant::move_out(spec.labels(table), &inside, &mut change, &visits) {
                match &mut gained[moved.small] {
                    Some(gained) => gained.add(&moved),
                    none => *none = Some(moved),
                }
            }
            self.take(stage, table, &change, &visits);
        }
    }

    /// The change of a table of the old network from the previous stage, and its visits; zeros for a tuple that it
    /// lacks.
    fn change(&mut self, stage: usize, table: usize) -> (Vec<f32>, Vec<u32>) {
        let spec = self.old.spec();
        let Some(before) = self.before.get_mut(table) else {
            let len = self.tables[table].len();
            return (vec![0.0; len], vec![0; len]);
        };
        let number = stage * spec.tables_per_set() + table;
        let is_promoted = |weight: f32| spec.promotion && stage > 0 && weight == 0.0;
        let change = self.old.table(number).zip(before).map(|(weight, before)| {
            let weight = if is_promoted(weight) { *before } else { weight };
            weight - std::mem::replace(before, weight)
        });
        (change.collect(), self.old.indices(number).map(|index| self.visits.get(index)).collect())
    }

    /// Applies changes where there are visits; other weights are those of the previous stage, or 0.
    fn take(&mut self, stage: usize, table: usize, change: &[f32], visits: &[u32]) {
        let Rearranged { network, precisions, .. } = &mut self.new;
        let number = stage * network.spec().tables_per_set() + table;
        let weights = &mut self.tables[table];
        let visited = weights.iter_mut().zip(change).zip(visits).filter(|(_, visits)| **visits > 0);
        visited.for_each(|((weight, change), _)| *weight += change);
        network.set_table(number, weights.iter().copied());
        for (index, &visits) in network.indices(number).zip(visits) {
            precisions[index] = precision(visits);
        }
    }
}

/// The precision of a weight with this many visits: one more for four times the visits.
fn precision(visits: u32) -> u8 {
    let half_log = |visits: u32| (f64::from(visits).log2() / 2.0).round() as u8 + 1;
    if visits == 0 { 0 } else { half_log(visits).min(packed::FINEST) }
}
