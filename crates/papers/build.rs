//! Embeds the papers' tables and figures of `papers/`, a link to the directory at the root.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    afterstate_embed::embed("papers", "papers.rs")
}
