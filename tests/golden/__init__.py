"""What the program writes, recorded once and held since: see ``scenes.py`` for the command lines."""
