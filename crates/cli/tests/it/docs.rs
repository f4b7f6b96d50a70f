//! The documentation: every link leads somewhere, and the book has every page.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The Markdown files of the root, of `models` and of everything below `docs`.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { pages.push(path) }
        }
    }
    for folder in [root(), root().join("models")] {
        pages.extend(fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()));
    }
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// A page without its fenced blocks.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).expect("a text");
    let parts = text.split("```").step_by(2);
    parts.collect()
}

/// The targets of the links of a page.
fn links(page: &Path) -> Vec<String> {
    let text = prose(page);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.map(str::to_owned).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(page: &Path) -> HashSet<String> {
    let slug = |heading: &str| -> String {
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    };
    let text = prose(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| slug(line.trim_start_matches('#'))).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for link in links(&page) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name("").join(file) };
            let is_page = target.extension().is_some_and(|extension| extension == "md");
            let found =
                target.exists() && (anchor.is_empty() || !is_page || anchors(&target).contains(anchor));
            if !found {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_book_has_every_page() {
    let docs = root().join("docs");
    let listed: HashSet<_> = links(&docs.join("SUMMARY.md")).into_iter().collect();
    for page in pages() {
        if let Ok(page) = page.strip_prefix(&docs)
            && page != Path::new("SUMMARY.md")
        {
            assert!(listed.contains(&*page.to_string_lossy()), "docs/SUMMARY.md lacks {}", page.display());
        }
    }
}
