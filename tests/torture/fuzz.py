"""Coverage-guided fuzzing of one reader, by hand: ``python -m tests.torture.fuzz q-table [atheris options]``.

Needs ``pip install atheris``. What breaks a reader is left in ``tests/torture/corpus/<reader>``, which
``test_fuzz.py`` replays. ``-runs=100000`` ends after so many files, ``-max_total_time=60`` after a minute.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import process_time

import atheris

os.environ["NUMBA_DISABLE_JIT"] = "1"  # what is instrumented cannot be compiled

with atheris.instrument_imports(include=["ttt_cli.store", "zipfile"]):
    from tests.torture.readers import samples
    from tests.torture.test_fuzz import SECONDS, again, fuzzed, keep


def main() -> None:
    """Fuzz the reader that the first argument names."""
    name = sys.argv.pop(1)

    def one(data: bytes) -> None:
        began = process_time()
        try:
            fuzzed(name, data)
            assert process_time() - began < SECONDS or again(name, data) < SECONDS, "too slow"
        except BaseException:
            keep(name, data)
            raise

    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(samples()[name][1]):
            (Path(folder) / str(number)).write_bytes(data)
        atheris.Setup([*sys.argv, "-rss_limit_mb=0", "-max_len=20000", folder], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
