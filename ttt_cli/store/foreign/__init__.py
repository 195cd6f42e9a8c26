"""Files of other programs: what each board is said to be worth, in spellings that are found by search.

``files`` finds keys and values in a file. ``keys`` spells boards, ``values`` collects what is said of them,
``readings`` combines both. A ``reading`` scores itself; ``search`` takes one, or asks. What authors do, and
how rare it is, stands in ``conventions``. ``position_keyed`` among the formats makes of the reading what is
imported.
"""
