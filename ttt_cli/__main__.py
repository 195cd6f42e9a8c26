"""The entry point of ``ttt`` and of ``python -m ttt_cli``."""

import os
import signal


def main() -> None:
    """Load and run the program; until it is loaded, Ctrl-C ends the process silently."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.putenv("OPENBLAS_NUM_THREADS", "1")  # for this process alone: NumPy would start threads, all idle
    from ttt_cli.app import main as program

    program()


if __name__ == "__main__":
    main()
