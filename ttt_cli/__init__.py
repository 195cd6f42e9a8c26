"""Learned tic-tac-toe players: play, train, evaluate exactly, export and merge."""

__version__ = "0.1.0"
