"""Files of other programs: what each board is said to be worth, in spellings that are found by search.

``files`` finds keys and values in a file, ``keys`` spells boards, ``values`` collects numbers, ``readings``
multiplies both. A ``reading`` scores itself; ``search`` takes one, or asks what is open.
"""
