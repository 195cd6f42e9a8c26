"""Names that are ours: nobody is told to install a package that belongs to somebody else."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = re.compile(r"pip install (?:-\S+ )*['\"]?([\w.\[\]-]+)")


def test_hints_name_the_dependency_itself():
    extras = PROJECT["optional-dependencies"]
    parts = (PROJECT["dependencies"], *extras.values())
    declared = {re.split(r"[><=\[ ]", one)[0] for part in parts for one in part}
    sources = [*(ROOT / "ttt_cli").rglob("*.py"), ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {name for path in sources for name in INSTALL.findall(path.read_text(encoding="utf-8"))}
    assert {"matplotlib", "distributed"} <= named
    assert named <= {*declared, ".", *(f".[{extra}]" for extra in extras)}
    assert not [path for path in sources if "ttt-cli" in path.read_text(encoding="utf-8")]  # another project
