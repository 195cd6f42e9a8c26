"""Tables that other programs have learned, whatever their spelling: found by search, never guessed.

Each module gives something to the next, from the content of a file to entries of a native table:

``files``      a parsed file -> ``Candidate`` tables: keys and values, not yet understood
``keys``       keys -> ``Spelling``s: the position of each key, and whether it stands for its images
``values``     values -> ``Values``: numbers, each with its key and the name of a cell
``meanings``   a spelling and values -> ``Reading``s, one for every meaning that fits the game
``decision``   readings -> the best one and its rivals
``questions``  what to ask where there are rivals
``search``     a candidate -> the one reading that is meant, or the questions

``reading`` says what the numbers of one ``Reading`` are worth, and how much speaks for it.
``formats.position_keyed`` begins with the file and ends with the entries; ``formats.pickled`` gives it what
pickles and NumPy's files hold.
"""
