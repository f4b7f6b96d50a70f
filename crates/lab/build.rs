//! Embeds the recipes of `recipes/`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    afterstate_embed::embed("../../recipes", "embedded.rs")
}
