"""The start of ``ttt``, and of ``python -m ttt_cli``, which is the same program."""

import signal


def main() -> None:
    """Load the program and run it. A signal meanwhile ends the process without a word: nothing has begun."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ttt_cli.app import main as program

    program()


if __name__ == "__main__":
    main()
