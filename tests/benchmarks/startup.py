"""Start-up: ``ttt --version`` against a bare Typer program, measured in turns in one run.

    python tests/benchmarks/startup.py [ROUNDS]

Prints processor time (user and system) and wall time of each, and their ratios.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HELLO = """\
import typer

app = typer.Typer()


@app.command()
def hello() -> None:
    typer.echo("hello")


if __name__ == "__main__":
    app()
"""
TTT = "import sys\nfrom ttt_cli.app import main\nsys.exit(main())\n"  # what an installer writes for `ttt`


def run(command: list[str], variables: dict[str, str]) -> tuple[float, float]:
    """Processor and wall seconds of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=variables)
    if not hasattr(os, "wait4"):  # Windows counts no child's processor time
        assert process.wait() == 0
        return (time.perf_counter() - start,) * 2
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start


def measure(rounds: int) -> None:
    """Run each program ``rounds`` times in turns and print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        hello, ttt = Path(folder, "hello.py"), Path(folder, "ttt.py")
        hello.write_text(HELLO)
        ttt.write_text(TTT)
        programs = {
            "hello": [sys.executable, str(hello)],
            "ttt --version": [sys.executable, str(ttt), "--version"],
            "ttt show": [sys.executable, str(ttt), "show"],
        }
        variables = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        variables["PYTHONPYCACHEPREFIX"] = folder  # both start from byte code, as installed programs do
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
        for number in range(rounds + 1):
            for name, command in programs.items():
                taken = run(command, variables)
                if number:  # the first round only writes the byte code
                    times[name].append(taken)
    base: list[float] = []
    print(f"{rounds} rounds; milliseconds (ratio to hello)")
    print(f"{'':<16}{'cpu min':>16}{'cpu median':>16}{'wall min':>16}{'wall median':>16}")
    for name, taken in times.items():
        figures = [pick(column) for column in zip(*taken, strict=True) for pick in (min, median)]
        base = base or figures
        row = (f"{1000 * x:.1f} ({x / y:.2f})" for x, y in zip(figures, base, strict=True))
        print(f"{name:<16}" + "".join(f"{text:>16}" for text in row))


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
