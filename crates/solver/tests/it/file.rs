//! Solutions on disk: complete and unaltered, or rejected.

use std::fs;

use afterstate_game::Rules;
use afterstate_solver::{Objective, Solution, SolutionError, Space};

fn solution(objective: Objective) -> Solution<2> {
    Space::enumerate(&Rules::default(), 1, |_| ()).solve(objective, 1, |_| ())
}

#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("solution");
    for objective in [Objective::Score, Objective::Goal(4)] {
        let solution = solution(objective);
        solution.save(&path).expect("a written file");
        let read = Solution::<2>::open(&path).expect("a solution");
        assert_eq!((read.objective(), read.rules()), (objective, Rules::default()));
        assert_eq!(read.expected(), solution.expected());
        assert_eq!((read.states(), read.afterstates()), (110, 67));
        for text in ["0001", "0011", "0123", "0012"] {
            let afterstate = text.parse().expect("a board");
            assert_eq!(read.value(afterstate), solution.value(afterstate), "{text}");
        }
    }
}

#[test]
fn a_file_that_is_cut_short_or_altered_by_one_byte_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("solution");
    solution(Objective::Score).save(&path).expect("a written file");
    let whole = fs::read(&path).expect("the bytes");
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).expect("a shorter file");
        let error = Solution::<2>::open(&path).err().expect("a refusal");
        let clear = match len {
            0..8 => matches!(error, SolutionError::Read { .. } | SolutionError::NotASolution(_)),
            _ => matches!(error, SolutionError::Length { found, .. } if found == len as u64),
        };
        assert!(clear, "{len} bytes: {error}");
    }
    fs::write(&path, [&whole[..], &[0]].concat()).expect("a longer file");
    assert!(matches!(Solution::<2>::open(&path), Err(SolutionError::Length { .. })));
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 1 << (at % 8);
        fs::write(&path, &altered).expect("an altered file");
        assert!(Solution::<2>::open(&path).is_err(), "byte {at} changed, and nobody noticed");
    }
    fs::write(&path, &whole).expect("the first file");
    assert!(Solution::<2>::open(&path).is_ok());
    let error = Solution::<3>::open(&path).err().expect("a refusal").to_string();
    assert!(error.ends_with("is a solution for boards of side 2, not 3"), "{error}");
}

#[test]
fn a_solution_survives_what_happens_to_its_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("solution");
    solution(Objective::Score).save(&path).expect("a written file");
    let read = Solution::<2>::open(&path).expect("a solution");
    // Like `cp`, which kills a process that has the file mapped.
    fs::File::create(&path).expect("an empty file");
    let afterstate = "0012".parse().expect("a board");
    assert_eq!(read.value(afterstate), solution(Objective::Score).value(afterstate));
}
