//! Embeds the recipes of `recipes/`, a link to the directory at the root.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    afterstate_embed::embed("recipes", "embedded.rs")
}
