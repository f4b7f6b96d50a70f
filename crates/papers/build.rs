//! Embeds the papers' tables and figures of `papers/`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    afterstate_embed::embed("../../papers", "papers.rs")
}
