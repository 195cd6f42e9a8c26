"""Tables that other programs have learned, whatever their spelling.

``formats.position_keyed`` and ``formats.pickled`` (pickles, NumPy's files) call

``files``      a parsed file -> ``Candidate`` tables: keys and values, not yet understood
``search``     a candidate -> the one ``Reading`` that is meant, or the questions that would decide

A search goes through

``keys``       keys -> ``Spelling``s: the position of each key, and whether it stands for its images
``values``     values -> ``Values``: numbers, each with its key and the name of a cell
``meanings``   a spelling and values -> ``Reading``s, one for every meaning that fits the game
``reading``    what the numbers of a reading are worth, and how much speaks for it
``decision``   readings -> the best one and its rivals
``questions``  what to ask where there are rivals
"""
