"""Reading play records with polars.

    afterstate record --search 2ply --games 100 --out records
    python records.py records
"""

import sys

import polars as pl

import afterstate_2048 as a2


def main() -> None:
    records = a2.records(sys.argv[1] if len(sys.argv) > 1 else "records")

    games = records.group_by("game").agg(score=pl.col("reward").sum(), moves=pl.len()).collect()
    print(games.select(pl.len().alias("games"), pl.col("score").mean(), pl.col("moves").mean()))

    names = pl.DataFrame({"move": range(4), "name": a2.MOVES}, schema_overrides={"move": pl.Int8})
    shares = records.group_by("move").len().collect().join(names, on="move").sort("move")
    print(shares.with_columns(share=pl.col("len") / pl.col("len").sum()).select("name", "share"))

    # The boards as an array: how good are the built-in model's values as predictions of what was to come?
    sample = records.select("board", "move", "score_to_end", "reward").collect().sample(5000, seed=1, with_replacement=True)
    boards = a2.record_boards(sample["board"])
    afterstates, rewards, _ = a2.slide(boards, sample["move"].to_numpy())
    predicted = a2.load().values(afterstates) + rewards
    table = pl.DataFrame({"predicted": predicted, "came": sample["score_to_end"]})
    print(table.select(pl.corr("predicted", "came").alias("correlation"), pl.all().mean().name.prefix("mean_")))


if __name__ == "__main__":
    main()
