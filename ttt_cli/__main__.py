"""``python -m ttt_cli`` is the same program as ``ttt``."""

from ttt_cli.app import main

if __name__ == "__main__":
    main()
