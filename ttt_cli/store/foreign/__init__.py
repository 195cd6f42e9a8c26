"""Files of other programs: what each board is said to be worth, in spellings that are found by search.

``files`` finds keys and values in a file. ``search`` tries the readings of both and takes one, or asks:
``keys`` spells boards, ``values`` what is said of them, ``readings`` are their combinations, and ``table``
holds the numbers under one reading and scores it. ``questions`` words what is open. ``position_keyed`` among
the formats makes of the reading what is imported.
"""
