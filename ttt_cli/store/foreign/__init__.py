"""Files of other programs: boards to what was learned of them, in spellings that are found by search."""
