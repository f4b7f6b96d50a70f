//! Limits on each address's share of a common resource.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, Weak},
};

use tokio::sync::Semaphore;

use crate::models::lock;

/// Bounded counts by address.
#[derive(Clone)]
pub(crate) struct Shares {
    most: usize,
    counts: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A unit held by an address until it is dropped.
pub(crate) struct Share {
    counts: Arc<Mutex<HashMap<IpAddr, usize>>>,
    address: IpAddr,
}

impl Shares {
    /// At most this many for each address.
    pub(crate) fn new(most: usize) -> Self {
        Shares { most, counts: Arc::default() }
    }

    /// Takes one more unit for an address, if it is below its limit.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Share> {
        let address = network(address);
        let mut counts = lock(&self.counts);
        let count = counts.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Share { counts: self.counts.clone(), address })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// A gate for each address, which admits a number of its searches at a time: in the shared queue, no search waits
/// for more than a few of another address.
pub(crate) struct Gates {
    width: usize,
    gates: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

impl Gates {
    /// Gates that admit this many.
    pub(crate) fn new(width: usize) -> Self {
        Gates { width, gates: Mutex::default() }
    }

    /// The gate of an address. It exists as long as a search waits at it or has passed it.
    pub(crate) fn of(&self, address: IpAddr) -> Arc<Semaphore> {
        let mut gates = lock(&self.gates);
        let address = network(address);
        if let Some(gate) = gates.get(&address).and_then(Weak::upgrade) {
            return gate;
        }
        gates.retain(|_, gate| gate.strong_count() > 0);
        let gate = Arc::new(Semaphore::new(self.width));
        gates.insert(address, Arc::downgrade(&gate));
        gate
    }
}

/// The network of an address: the owner of an IPv6 address has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_counted_by_address() {
        let shares = Shares::new(2);
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let held: Vec<_> = (0..2).map(|_| shares.take(address("10.0.0.1")).expect("a share")).collect();
        assert!(
            shares.take(address("10.0.0.1")).is_none() && shares.take(address("::ffff:10.0.0.1")).is_none()
        );
        assert!(shares.take(address("10.0.0.2")).is_some());
        drop(held);
        assert!(shares.take(address("10.0.0.1")).is_some());
        let _one = (shares.take(address("2001:db8::1")), shares.take(address("2001:db8::2")));
        assert!(shares.take(address("2001:db8::3")).is_none(), "one network of IPv6 is one address");
        assert!(shares.take(address("2001:db8:0:1::1")).is_some());
    }
}
