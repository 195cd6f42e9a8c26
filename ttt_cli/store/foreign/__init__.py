"""Tables that other programs have learned, whatever their spelling: found by search, never guessed.

``files`` finds keys and values in a file, ``keys`` spells boards, ``values`` collects numbers, ``reading``
combines both in every way, and each reading scores itself; ``search`` takes the best one, or asks the user.
"""
