"""Reading a file of any kind to report every fault in it, with its place; nothing is changed."""

from pathlib import Path

from ttt_cli.errors import TttError
from ttt_cli.learners import LEARNERS
from ttt_cli.store.formats import recognise
from ttt_cli.store.formats.format import Verification
from ttt_cli.store.formats.imported import Rejected, fault_of
from ttt_cli.store.source import Source


def verify(path: Path) -> Verification:
    """Read a file and report every fault in it."""
    try:
        source = Source(path)
        if not source.size and (learner := path.name.partition(".")[0]) in LEARNERS:
            lost = f"is empty, where training keeps what {learner} has learned (take it from a backup)"
            return Verification("", faults=[Rejected("the whole file", lost)], unfit=True)
        return recognise(source).check(source)
    except TttError as error:
        return Verification("", faults=[fault_of(error, str(path))], unfit=True)
