"""Players of other libraries as players of ours, and ours as theirs. Needs the extra ``bridges``."""
