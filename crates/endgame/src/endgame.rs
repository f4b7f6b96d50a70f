//! What an endgame is: the shapes of its walls, and its target.

use std::{collections::BTreeSet, fmt, str::FromStr};

/// The fewest free cells.
pub const MIN_FREE: u32 = 4;
/// The most free cells.
pub const MAX_FREE: u32 = 12;

/// The targets, as exponents: 8 to 4096.
const TARGETS: std::ops::RangeInclusive<u32> = 3..=12;

/// The most shapes in an endgame.
const MAX_SHAPES: usize = 64;

/// A shape of walls: the cells that large tiles occupy, bit `4·row + column`. As text `FFFF/FF../..../....`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Walls(pub u16);

impl Walls {
    /// The number of walls.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }
}

/// Why there is no such endgame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndgameError {
    /// A text that is no shape.
    #[error(
        "`{0}` is no shape of walls: write sixteen cells, F for a wall and . for a free cell, as FFFF/FF../..../...."
    )]
    Walls(String),
    /// No shape, or too many.
    #[error("{0} shapes of walls: an endgame has 1 to {MAX_SHAPES}")]
    Shapes(usize),
    /// Shapes with different numbers of walls.
    #[error("{first} has {} walls and {other} has {}: moves keep their number", first.count(), other.count())]
    Counts {
        /// The first shape.
        first: Walls,
        /// One with another number of walls.
        other: Walls,
    },
    /// Too many or too few free cells.
    #[error("{walls} has {} free cells: an endgame has {MIN_FREE} to {MAX_FREE}", 16 - walls.count())]
    Free {
        /// The shape.
        walls: Walls,
    },
    /// An invalid target.
    #[error("{0} is no target: it must be a tile from 8 to 4096")]
    Target(u32),
    /// Invalid cells for the target, or cells that are not free.
    #[error("the target cannot stand in {place}: mark free cells of {home}, some of them")]
    Place {
        /// The cells.
        place: Walls,
        /// Where the walls belong.
        home: Walls,
    },
}

impl FromStr for Walls {
    type Err = EndgameError;

    fn from_str(text: &str) -> Result<Self, EndgameError> {
        let wrong = || EndgameError::Walls(text.into());
        let mut cells = 0;
        let mut walls = 0;
        for c in text.chars().filter(|&c| c != '/') {
            let wall = match c {
                'F' | 'f' => 1,
                '.' | '0' => 0,
                _ => return Err(wrong()),
            };
            if cells < 16 {
                walls |= wall << cells;
            }
            cells += 1;
        }
        if cells == 16 { Ok(Walls(walls)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Walls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |r: usize| (0..4).map(|c| if self.0 >> (4 * r + c) & 1 == 1 { 'F' } else { '.' }).collect();
        let rows: [String; 4] = std::array::from_fn(row);
        f.pad(&rows.join("/"))
    }
}

/// Shapes of walls, between which moves may lead, and the tile to be made beside them.
///
/// Without a place, the goal is reached as soon as the target is made, also while walls are displaced. With a place, the target is a
/// tile like others until the walls are where they belong and it stands in the place, or until two of them merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endgame {
    shapes: Vec<Walls>,
    target: u8,
    place: Option<Walls>,
}

impl Endgame {
    /// An endgame by its shapes, the one that it is named after first, and its target, a tile.
    ///
    /// # Errors
    /// When shapes have different numbers of walls, or there are too many free cells, or the target is no tile.
    pub fn new(shapes: &[Walls], target: u32) -> Result<Self, EndgameError> {
        let mut seen = BTreeSet::new();
        let shapes: Vec<_> = shapes.iter().copied().filter(|&walls| seen.insert(walls)).collect();
        let (Some(&first), true) = (shapes.first(), shapes.len() <= MAX_SHAPES) else {
            return Err(EndgameError::Shapes(shapes.len()));
        };
        if let Some(&other) = shapes.iter().find(|other| other.count() != first.count()) {
            return Err(EndgameError::Counts { first, other });
        }
        if !(MIN_FREE..=MAX_FREE).contains(&(16 - first.count())) {
            return Err(EndgameError::Free { walls: first });
        }
        if !target.is_power_of_two() || !TARGETS.contains(&target.ilog2()) {
            return Err(EndgameError::Target(target));
        }
        Ok(Endgame { shapes, target: target.ilog2() as u8, place: None })
    }

    /// The same, but the target has to stand in one of these cells, with the walls where they belong.
    ///
    /// # Errors
    /// When these are not free cells.
    pub fn with_place(self, place: Walls) -> Result<Self, EndgameError> {
        let home = self.shapes[0];
        let is_free = place.0 != 0 && place.0 & home.0 == 0;
        if is_free {
            Ok(Endgame { place: Some(place), ..self })
        } else {
            Err(EndgameError::Place { place, home })
        }
    }

    /// The same from texts.
    ///
    /// # Errors
    /// As for [`Self::new`], and when a text is no shape.
    pub fn parse(shapes: &[impl AsRef<str>], target: u32) -> Result<Self, EndgameError> {
        let shapes: Vec<Walls> = shapes.iter().map(|text| text.as_ref().parse()).collect::<Result<_, _>>()?;
        Endgame::new(&shapes, target)
    }

    /// The cells in which the target has to stand; `None` where it counts as soon as it is made.
    pub fn place(&self) -> Option<Walls> {
        self.place
    }

    /// The exponent of the tile that is never part of a position: the target, or the one above it where targets are carried.
    pub(crate) fn limit(&self) -> u8 {
        self.target + u8::from(self.place.is_some())
    }

    /// The shapes; the first one is where the walls belong, the others are displaced.
    pub fn shapes(&self) -> &[Walls] {
        &self.shapes
    }

    /// The exponent of the target.
    pub fn target(&self) -> u8 {
        self.target
    }

    /// The target's face value.
    pub fn target_tile(&self) -> u32 {
        1 << self.target
    }

    /// The number of walls.
    pub fn walls(&self) -> u32 {
        self.shapes[0].count()
    }

    /// The endgame in words: `512 beside six walls`.
    pub fn words(&self) -> String {
        const NUMBERS: [&str; 13] = [
            "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
            "twelve",
        ];
        format!("{} beside {} walls", self.target_tile(), NUMBERS[self.walls() as usize])
    }

    /// The number of free cells.
    pub fn free(&self) -> u32 {
        16 - self.walls()
    }
}

impl fmt::Display for Endgame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} beside {}", self.target_tile(), self.shapes[0])?;
        if self.shapes.len() > 1 {
            write!(f, " and {} displaced", self.shapes.len() - 1)?;
        }
        self.place.map_or(Ok(()), |place| write!(f, " in {place}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shapes() {
        let walls: Walls = "FFFF/F.F./..../...F".parse().unwrap();
        assert_eq!((walls.0, walls.count()), (0x805f, 7));
        assert_eq!(walls.to_string(), "FFFF/F.F./..../...F");
        for wrong in ["", "FFFF", "FFFF/FF../..../....F", "FFFF/FF../..../...x"] {
            assert_eq!(wrong.parse::<Walls>(), Err(EndgameError::Walls(wrong.into())));
        }
    }

    #[test]
    fn endgames_are_checked() {
        let error = |shapes: &[&str], target| Endgame::parse(shapes, target).unwrap_err();
        let six = "FFFF/FF../..../....";
        assert!(matches!(error(&[], 512), EndgameError::Shapes(0)));
        assert!(matches!(error(&[six, "FFFF/F.../..../...."], 512), EndgameError::Counts { .. }));
        assert!(matches!(error(&["FFF./..../..../...."], 512), EndgameError::Free { .. }));
        assert!(matches!(error(&["FFFF/FFFF/FFFF/F..."], 512), EndgameError::Free { .. }));
        for target in [0, 4, 100, 8192] {
            assert_eq!(error(&[six], target), EndgameError::Target(target));
        }
        let endgame = Endgame::parse(&[six, six, "FFFF/F.F./..../...."], 512).unwrap();
        assert_eq!((endgame.shapes().len(), endgame.free()), (2, 10));
        assert_eq!(endgame.to_string(), "512 beside FFFF/FF../..../.... and 1 displaced");
        let placed = |cells: &str| endgame.clone().with_place(cells.parse().unwrap());
        assert_eq!(placed("..../..F./..../....").unwrap().limit(), 10);
        for wrong in ["..../..../..../....", "..../.FF./..../...."] {
            assert!(matches!(placed(wrong), Err(EndgameError::Place { .. })));
        }
    }
}
