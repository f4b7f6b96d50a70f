//! Table files: what is written is read, a killed solver goes on, and damage is found and named.

use std::{fs, path::Path};

use afterstate_endgame::{Endgame, Position, Precision, SolveError, Solver, Table, TableError, Tables};

fn endgame() -> Endgame {
    Endgame::parse(&["FFFF/FFFF/F.../....", "FFFF/.FFF/FF../....", "FFFF/FFFF/..../F..."], 64).unwrap()
}

fn write(path: &Path, precision: Precision) {
    Solver::new(&endgame()).unwrap().solve_to(path, precision, &mut |_| true).unwrap();
}

#[test]
fn a_table_holds_what_was_solved() {
    let directory = tempfile::tempdir().unwrap();
    let exact = directory.path().join("exact.endgame");
    write(&exact, Precision::F32);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
    let exact = Table::open(&exact).unwrap();
    let solved = Solver::new(&endgame()).unwrap().solve(&mut |_| true).unwrap();
    assert_eq!(exact.positions(), solved.positions);
    let mut sample = Vec::new();
    for (sum, count) in exact.layers() {
        assert_eq!(count, solved.layers[sum as usize / 2]);
        sample.extend(exact.sample(sum, 7).unwrap());
    }
    let positions: Vec<Position> = sample.iter().map(|(position, _)| *position).collect();
    let chances =
        Solver::new(&endgame()).unwrap().from(&positions).unwrap().solve(&mut |_| true).unwrap().chances;
    for precision in [Precision::U8, Precision::U16] {
        let path = directory.path().join(format!("{precision}.endgame"));
        write(&path, precision);
        let table = Table::open(&path).unwrap();
        let error = if precision == Precision::U8 { 0.0031 } else { 0.000_012_1 };
        for ((position, in_exact), &chance) in sample.iter().zip(&chances) {
            assert_eq!(f64::from(*in_exact), chance);
            let kept = table.chance(*position).unwrap().unwrap();
            assert!((f64::from(kept) - chance).abs() <= error, "{position} {kept} {chance}");
        }
        let verified = table.verify(1000).unwrap();
        assert!(verified.wrong.is_none() && verified.positions >= 1000, "{verified:?}");
        assert_eq!(table.histogram().unwrap().iter().sum::<u64>(), table.positions());
    }
    assert_eq!(Tables::open(directory.path()).unwrap().all().len(), 3);
}

#[test]
fn a_stopped_solver_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let [whole, stopped] = ["whole", "stopped"].map(|name| directory.path().join(name));
    write(&whole, Precision::U8);
    let layers = 2 * Table::open(&whole).unwrap().layers().len();
    for stop_at in [3, layers / 4, layers / 2 + 3, 3 * layers / 4] {
        let mut layers_done = 0;
        let stopped_solver = Solver::new(&endgame()).unwrap();
        let result = stopped_solver.solve_to(&stopped, Precision::U8, &mut |_| {
            layers_done += 1;
            layers_done < stop_at
        });
        assert!(result.is_err() && !stopped.exists());
        // A write that was cut short by the kill.
        let part = directory.path().join("stopped.layers");
        let mut bytes = fs::read(&part).unwrap();
        bytes.extend([1; 30]);
        fs::write(&part, bytes).unwrap();
        let mut again = 0;
        Solver::new(&endgame())
            .unwrap()
            .solve_to(&stopped, Precision::U8, &mut |_| {
                again += 1;
                true
            })
            .unwrap();
        assert!(again < layers + 6 - stop_at, "{again} of {layers} layers after {stop_at}");
        assert!(fs::read(&whole).unwrap() == fs::read(&stopped).unwrap(), "stopped after {stop_at} layers");
        fs::remove_file(&stopped).unwrap();
    }
}

#[test]
fn damage_is_found_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table");
    write(&path, Precision::U8);
    let bytes = fs::read(&path).unwrap();
    let open = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Table::open(&path).err()
    };
    assert!(open(&bytes).is_none());
    for cut in [0, 10, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(open(&bytes[..cut]).is_some(), "cut to {cut}");
    }
    let mut layers = 0;
    for at in (0..bytes.len()).step_by(61) {
        let mut altered = bytes.clone();
        altered[at] ^= 1 << (at % 8);
        match open(&altered) {
            Some(TableError::Layer { sum, .. }) => {
                assert!(sum % 2 == 0);
                layers += 1;
            }
            Some(_) => {}
            None => panic!("a bit of byte {at} of {} was altered", bytes.len()),
        }
    }
    assert!(layers > 100, "{layers}");
    let mut other = bytes.clone();
    other[8] = 2;
    let error = open(&other).unwrap();
    assert!(matches!(error, TableError::Version { found: 2, .. }));
    assert!(error.to_string().ends_with("is a table of version 2, but this program reads version 1"));
    assert!(matches!(open(b"a recipe for disaster"), Some(TableError::NoTable(_))));
}

#[test]
fn one_table_has_one_writer_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let [alone, shared] = ["alone", "shared"].map(|name| directory.path().join(name));
    write(&alone, Precision::U8);
    let second = || Solver::new(&endgame()).unwrap().solve_to(&shared, Precision::U8, &mut |_| true);
    let mut layers = 0;
    let first = Solver::new(&endgame()).unwrap().solve_to(&shared, Precision::U8, &mut |_| {
        layers += 1;
        if layers % 20 == 1 {
            let error = second().unwrap_err();
            assert!(matches!(error, SolveError::Busy(_)), "{error}");
        }
        true
    });
    first.unwrap();
    assert!(layers > 100, "{layers}");
    assert!(fs::read(&alone).unwrap() == fs::read(&shared).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "nothing is left beside it");
    second().unwrap();
    assert!(fs::read(&alone).unwrap() == fs::read(&shared).unwrap());
}

#[test]
fn what_is_no_table_is_never_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table");
    for foreign in ["table", "table.part", "table.layers", "table.live"] {
        let foreign = directory.path().join(foreign);
        fs::write(&foreign, "notes").unwrap();
        let error =
            Solver::new(&endgame()).unwrap().solve_to(&path, Precision::U8, &mut |_| true).unwrap_err();
        assert!(matches!(&error, SolveError::Foreign(found) if *found == foreign), "{error}");
        assert_eq!(fs::read_to_string(&foreign).unwrap(), "notes");
        fs::remove_file(foreign).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "and nothing is written beside it");
    }
    // Of an empty file nothing can be lost, and a table is replaced by another one.
    fs::write(&path, "").unwrap();
    write(&path, Precision::U8);
    write(&path, Precision::U16);
    assert_eq!(Table::open(&path).unwrap().precision(), Precision::U16);
}
