//! Stages against the papers' definitions.

use afterstate_game::{Afterstate, Board};
use afterstate_network::{Network, NetworkSpec, Stages, Tuples, ValueRanges};

fn stage(rule: &str, board: &str) -> usize {
    let board: Board<4> = board.parse().expect("a board");
    rule.parse::<Stages>().expect("a rule").of(&board.bytes())
}

/// jaskowski-2016, V.D.1, for g = 4: "stage 1 when 4096-tile is achieved, stage 2 on 8192-tile, stage 3
/// when both 8192 and 4096 are on the board, stage 4 on 16384, and so on".
#[test]
fn sixteen_stages_are_those_of_the_paper() {
    for rule in ["2^4", "2^4-carried"] {
        for (board, expected) in [
            ("bba0/0000/0000/0000", 0),
            ("c000/0000/0000/0000", 1),
            ("d000/0000/0000/0000", 2),
            ("00d0/0c00/0000/0000", 3),
            ("e000/0000/0000/0000", 4),
            ("fedc/0000/0000/0000", 15),
            ("g000/0000/0000/0000", 8),
        ] {
            assert_eq!(stage(rule, board), expected, "{rule} {board}");
        }
    }
}

/// In the author's program two 16384-tiles count as 16384 and 8192.
#[test]
fn a_second_tile_is_carried_down() {
    for (board, plain, carried) in [
        ("ee00/0000/0000/0000", 4, 6),
        ("eee0/0000/0000/0000", 4, 7),
        ("edd0/0000/0000/0000", 6, 7),
        ("ddc0/0000/0000/0000", 3, 3),
        ("cc00/0000/0000/0000", 1, 1),
    ] {
        assert_eq!(stage("2^4", board), plain, "{board}");
        assert_eq!(stage("2^4-carried", board), carried, "{board}");
    }
}

/// A board is in a stage by thresholds if its tiles, largest first, reach the threshold or exceed it.
#[test]
fn thresholds_are_passed_in_the_order_of_the_largest_tiles() {
    let rule = "16384 16384+8192 32768";
    for number in 0..20_000u64 {
        let mut cells: Vec<u8> = (0..5).map(|i| 10 + (number / 6u64.pow(i) % 6) as u8).collect();
        cells.resize(16, 0);
        let mut tiles = cells.clone();
        tiles.sort_by(|a, b| b.cmp(a));
        let expected = [&[14][..], &[14, 13], &[15]].iter().filter(|start| tiles[..] >= start[..]).count();
        let board: Board<4> = Board::from_exponents(&cells).expect("a board");
        assert_eq!(rule.parse::<Stages>().unwrap().of(&board.bytes()), expected, "{board}");
    }
}

#[test]
fn rules_are_read_and_written() {
    for text in ["1", "2^3", "2^4-carried", "16384", "16384 16384+8192 32768"] {
        let stages: Stages = text.parse().expect("a rule");
        assert_eq!(stages.to_string(), text);
    }
    assert_eq!("2^4".parse::<Stages>().unwrap().count(), 16);
    for text in ["", "2", "2^0", "2^9", "2^x", "16383", "65536", "32768 16384", "8192+16384", "16384 16384"] {
        assert!(text.parse::<Stages>().is_err(), "{text}");
    }
}

/// terauchi-2025, Tables 2, 4 and 5, and jaskowski-2016, V.D.
#[test]
fn networks_have_as_many_weights_as_the_papers_say() {
    let spec = |tuples: &str, c, ranges: &str, stages: &str, side| NetworkSpec {
        side,
        tuples: Tuples::named(tuples).expect("a set"),
        tile_values: c,
        ranges: (!ranges.is_empty()).then(|| ValueRanges::parse(ranges, c).expect("ranges")),
        stages: stages.parse().expect("stages"),
        ..NetworkSpec::default()
    };
    for (tuples, c, ranges, stages, side, weights) in [
        ("nt6-m", 18, "", "32768", 4, 544_195_584),
        ("nt6", 18, "", "32768", 4, 612_220_032),
        ("nt7", 18, "1-9 10-17", "32768", 4, 471_794_736),
        ("nt8", 18, "1-7 8-13 14-17", "32768", 4, 877_730_580),
        ("nt9", 18, "1-5 6-9 10-13 14-17", "32768", 4, 1_835_939_238),
        ("mnt6", 11, "", "1", 3, 3_543_122),
        ("mnt6", 11, "1-6 5-10", "1", 3, 1_048_576),
        ("mnt6", 11, "1-6 6-10", "1", 3, 759_586),
        ("mnt6", 11, "1-6 7-10", "1", 3, 617_600),
        ("mnt6", 11, "1-5 6-10", "1", 3, 470_596),
        ("mnt6", 11, "1-4 5-10", "1", 3, 617_600),
        ("mnt6", 11, "1-4 5-7 8-10", "1", 3, 217_874),
        ("mnt6", 11, "1-4 4-7 7-10", "1", 3, 421_922),
        ("mnt4", 11, "", "1", 3, 43_923),
        ("8x6", 18, "", "1", 4, 272_097_792),
        ("42-33", 16, "", "2^4", 4, 5 << 28),
    ] {
        assert_eq!(spec(tuples, c, ranges, stages, side).weights(), weights, "{tuples} {ranges} {stages}");
    }
    // The paper has 155 839 for its 4-VSE-A, which is odd although its two tuples have equal tables.
    assert_eq!(spec("mnt6", 11, "1-4 5-6 7-8 9-10", "1", 3).weights(), 164_004);
}

/// A stage that begins with weights for halved tiles has half the value of the board with halved tiles, if that is the
/// factor; other stages are unchanged.
#[test]
fn a_stage_begins_with_weights_for_tiles_halved() {
    let stages = "2048+1024 4096".parse().expect("stages");
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), stages, ..NetworkSpec::default() };
    let network = Network::new(spec.clone()).expect("a network");
    let weight = |index: usize| (index.wrapping_mul(2_654_435_761) % 1000) as f32;
    (0..2).for_each(|table| network.set_table(table, (table * 7..).map(weight)));
    network.begin_halved(1, 0.5).expect("weights");
    let value = |board: &str| network.value(board.parse::<Afterstate<4>>().expect("a board"));
    for (board, halved) in [
        ("ba12/3045/6789/0000", "a912/3045/6789/0000"),
        ("b000/00a0/0000/b001", "a000/0090/0000/a001"),
        ("0ba9/0000/9990/1000", "0a99/0000/9990/1000"),
    ] {
        assert_eq!(value(board), value(halved) / 2.0, "{board}");
        assert!(value(board) > 0.0);
    }
    assert!(
        (4..6).all(|table| network.table(table).all(|weight| weight == 0.0)),
        "the last stage is as it was"
    );
    let whole = NetworkSpec { stages: "2^4".parse().expect("stages"), ..spec.clone() };
    let promoted = NetworkSpec { promotion: true, ..spec.clone() };
    assert_eq!(spec.halved_from(2), Ok(12));
    for (spec, stage) in [(&spec, 0), (&spec, 3), (&whole, 1), (&promoted, 1)] {
        assert!(spec.halved_from(stage).is_err());
    }
}

/// The same with value ranges, on whichever side of their ends the halved tiles are; but not if a range would have to
/// distinguish labels that it merges.
#[test]
fn a_stage_with_value_ranges_begins_with_weights_for_tiles_halved() {
    let split = |ranges: &str| NetworkSpec {
        tuples: Tuples::new(["0123", "4567", "04"].map(|tuple| tuple.parse().expect("a tuple")).into())
            .expect("tuples"),
        ranges: Some(ValueRanges::parse(ranges, 16).expect("ranges")),
        stages: "2048+1024 4096".parse().expect("stages"),
        ..NetworkSpec::default()
    };
    let weight = |index: usize| (index.wrapping_mul(2_654_435_761) % 1000) as f32;
    for ranges in ["1-8 9-15", "1-7 6-8 9-15", "1-8 9-15 from 4", "1-15"] {
        let spec = split(ranges);
        let network = Network::new(spec.clone()).expect("a network");
        (0..spec.tables_per_set()).for_each(|table| network.set_table(table, (table * 7..).map(weight)));
        network.begin_halved(1, 0.5).expect("weights");
        for board in crate::naive::boards::<4>(2000) {
            let exponents: Vec<u8> = board.exponents().collect();
            if spec.stages.of(&board.bytes()) != 1 || exponents.iter().any(|&tile| tile > 15) {
                continue;
            }
            let halved: Vec<u8> = exponents.iter().map(|&tile| tile - u8::from(tile >= 10)).collect();
            let halved =
                Afterstate::<4>::new(afterstate_game::Board::from_exponents(&halved).expect("a board"));
            if spec.stages.of(&halved.board().bytes()) != 0 {
                continue;
            }
            let value = network.value(Afterstate::new(board));
            assert_eq!(value, network.value(halved) / 2.0, "{ranges} {board}");
        }
        assert!(network.table(spec.tables_per_set()).any(|weight| weight > 0.0));
    }
    for ranges in ["1-9 10-15", "1-12 13-15", "1-8 9-11 12-15"] {
        let error = split(ranges).halved_from(1).expect_err(ranges).to_string();
        assert!(error.contains("end two tiles below 1024"), "{error}");
    }
}

#[test]
fn impossible_shapes_are_refused() {
    let good = NetworkSpec { stages: "16384".parse().unwrap(), ..NetworkSpec::default() };
    assert_eq!(good.check(), Ok(()));
    let refused = |spec: NetworkSpec, reason: &str| {
        let error = spec.check().expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused(NetworkSpec { promotion: true, ..NetworkSpec::default() }, "two stages");
    refused(NetworkSpec { initial: vec![1.0, 2.0], promotion: true, ..good.clone() }, "one initial value");
    refused(NetworkSpec { initial: vec![1.0; 3], ..good.clone() }, "3 initial values for 2 stages");
    refused(NetworkSpec { initial: vec![f32::NAN], ..good }, "finite");
    let split = ValueRanges::parse("1-8 9-15 from 7", 16).expect("ranges");
    refused(NetworkSpec { ranges: Some(split), ..NetworkSpec::default() }, "none would be split");
    for ranges in [
        "1-8 9-17 from",
        "1-8 9-17 from 0",
        "from 7",
        "1-8 9-17 from 7 8",
        "",
        "1-8",
        "2-8 9-17",
        "1-7 9-17",
        "1-8 9-18",
        "9-17 1-8",
        "1-8 8-8 9-17",
        "1-8,9-17",
    ] {
        let error = ValueRanges::parse(ranges, 18).expect_err(ranges).to_string();
        assert!(error.contains("1-8 9-17"), "{error}");
    }
}
