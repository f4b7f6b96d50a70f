//! A figure of learning curves.

use afterstate_papers::{
    report::svg,
    reproduce::{Curve, LearningCurves, Panel, Point},
};

/// A figure has a panel for each measure, a line with points for each row, and the paper's end points.
#[test]
fn a_figure_has_panels_lines_and_the_papers_end_points() {
    let point = |x: u32| Point { x: f64::from(x) * 1e6, mean: f64::from(x) * 5e3, half: 500.0 };
    let curve = |label: &str, paper: Option<&str>| Curve {
        label: label.to_owned(),
        points: (1..=10).map(point).collect(),
        paper: paper.map(|text| text.parse().unwrap()),
    };
    let panel = |name: &str, paper| Panel {
        name: name.to_owned(),
        curves: vec![curve("TD(0.5)", paper), curve("TC(0.5)", None)],
    };
    let curves = |paper| LearningCurves {
        name: "jaskowski-2016/figure-4".to_owned(),
        title: "Learning dynamics".to_owned(),
        unit: "actions",
        budget: "1e10 actions".to_owned(),
        share: 0.005,
        trainings: 1,
        panels: vec![panel("1-ply", paper), panel("3-ply", None)],
    };
    let text = svg(&curves(Some("141,456 ± 1,050"))).unwrap();
    for part in [
        "Learning dynamics",
        "0.5%",
        "1-ply",
        "3-ply",
        "TD(0.5)",
        "TC(0.5)",
        "one training each",
        "◇",
        "actions",
    ] {
        assert!(text.contains(part), "{part} is drawn");
    }
    assert!(text.contains("100k"), "the axis reaches the paper's figure");
    assert_eq!(text.matches("<circle").count(), 2 * 2 * 10);
    let without = svg(&curves(None)).unwrap();
    assert!(!without.contains("◇") && !without.contains("100k"));
}
