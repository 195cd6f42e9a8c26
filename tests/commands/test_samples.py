"""The samples in ``state_store/samples`` are sound, and are what the program writes today."""

from pathlib import Path

import pytest

SAMPLES = Path(__file__).parent.parent.parent / "state_store" / "samples"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix in (".json", ".csv", ".jsonl"))
EXPORTS = {"q": "q-table.json", "td": "value-table.csv", "graph": "state-action.json", "book": "moves.csv"}
ENDINGS = {"book": "csv"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_samples_are_sound(ttt, path: Path):
    result = ttt("verify", str(path))
    assert result.code == 0 and "valid" in result.out


@pytest.mark.parametrize("learner", ["q", "td", "graph", "menace", "book", "ntuple"])
def test_samples_are_what_is_written_today(ttt, tmp_path: Path, learner: str):
    name = f"{learner}.{ENDINGS.get(learner, 'json')}"
    assert ttt("train", learner, "--games", "20", "--seed", "1", "-o", name).code == 0
    assert (tmp_path / name).read_bytes() == (SAMPLES / name).read_bytes()
    if learner in EXPORTS:
        sample = EXPORTS[learner]
        assert (
            ttt(
                "export", name, "--format", Path(sample).stem.replace("moves", "moves-csv"), "-o", sample
            ).code
            == 0
        )
        assert (tmp_path / sample).read_bytes() == (SAMPLES / sample).read_bytes()
