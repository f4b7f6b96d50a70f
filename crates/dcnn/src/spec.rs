//! The specification of a network.

use afterstate_game::LARGEST_EXPONENT;

/// The layers of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// A policy network of kondo-2019, section 4.1: 2×2 convolutions, four outputs.
    Dcnn {
        /// The number of convolutions, k.
        layers: usize,
        /// The number of channels of each of them, Ch(k).
        channels: usize,
    },
    /// tjwei's value network, kondo-2019, sections 3.2 and 6: 2×1 and 1×2 convolutions, one output.
    Tjwei {
        /// The number of filters of each shape in the first layer.
        first: usize,
        /// The number of filters of each shape in the second layer.
        second: usize,
    },
}

/// The specification of a network: its layers, and the tiles that it distinguishes.
///
/// ```
/// use afterstate_dcnn::DcnnSpec;
/// assert_eq!(DcnnSpec::of_table_2(5).map(|spec| spec.weights()), Some(818_074));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DcnnSpec {
    /// The layers.
    pub architecture: Architecture,
    /// The number of input channels: empty, 2, 4, … Larger tiles look like the last one.
    pub tile_values: usize,
}

/// Why a specification is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A size outside its range.
    #[error("{found} {what}: must be from {least} to {most}")]
    Size {
        /// The quantity.
        what: &'static str,
        /// The requested number.
        found: usize,
        /// The smallest allowed number.
        least: usize,
        /// The largest allowed number.
        most: usize,
    },
    /// The wrong number of weights.
    #[error("{found} weights, where the network has {expected}")]
    Weights {
        /// The number of weights given.
        found: usize,
        /// The number of weights of the network.
        expected: usize,
    },
    /// A network used for the wrong purpose.
    #[error("a network with {found} outputs, where one with {expected} is needed: {}", purpose(*expected))]
    Outputs {
        /// The number of its outputs.
        found: usize,
        /// The number of outputs needed.
        expected: usize,
    },
}

fn purpose(outputs: usize) -> &'static str {
    if outputs == 1 { "a value network" } else { "a policy network" }
}

impl DcnnSpec {
    /// The layers and channels of kondo-2019, Table 2.
    pub const TABLE_2: [(usize, usize); 8] =
        [(2, 436), (3, 312), (4, 256), (5, 222), (6, 200), (7, 182), (8, 168), (9, 158)];

    /// The paper's input channels: empty, 2, 4, … 32768.
    pub const TILE_VALUES: usize = 16;

    /// tjwei's network at half its size, kondo-2019, section 6.
    pub const HALF_TJWEI: DcnnSpec = DcnnSpec {
        architecture: Architecture::Tjwei { first: 256, second: 2048 },
        tile_values: Self::TILE_VALUES,
    };

    /// A policy network with this many convolutions and channels.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn policy(layers: usize, channels: usize) -> Result<Self, SpecError> {
        let architecture = Architecture::Dcnn { layers, channels };
        DcnnSpec { architecture, tile_values: Self::TILE_VALUES }.checked()
    }

    /// The policy network of kondo-2019, Table 2, with this many convolutions.
    pub fn of_table_2(layers: usize) -> Option<Self> {
        let (_, channels) = Self::TABLE_2.into_iter().find(|&(k, _)| k == layers)?;
        Self::policy(layers, channels).ok()
    }

    /// Returns the specification if all sizes are within their ranges.
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn checked(self) -> Result<Self, SpecError> {
        let sizes = match self.architecture {
            Architecture::Dcnn { layers, channels } => [("layers", layers, 32), ("channels", channels, 4096)],
            Architecture::Tjwei { first, second } => {
                [("filters in the first layer", first, 4096), ("filters in the second layer", second, 16384)]
            }
        };
        let wrong = sizes.into_iter().find(|&(_, found, most)| !(1..=most).contains(&found));
        if let Some((what, found, most)) = wrong {
            return Err(SpecError::Size { what, found, least: 1, most });
        }
        let most = usize::from(LARGEST_EXPONENT) + 1;
        if !(2..=most).contains(&self.tile_values) {
            return Err(SpecError::Size { what: "tile values", found: self.tile_values, least: 2, most });
        }
        Ok(self)
    }

    /// The number of outputs: 4 for a policy, 1 for a value.
    pub fn outputs(&self) -> usize {
        match self.architecture {
            Architecture::Dcnn { .. } => 4,
            Architecture::Tjwei { .. } => 1,
        }
    }

    /// The number of weights.
    pub fn weights(&self) -> usize {
        crate::graph::Graph::new(self).weights()
    }

    /// Rejects a network with another number of outputs.
    pub(crate) fn check_outputs(&self, expected: usize) -> Result<(), SpecError> {
        let found = self.outputs();
        if found == expected { Ok(()) } else { Err(SpecError::Outputs { found, expected }) }
    }
}
