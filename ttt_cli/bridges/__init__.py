"""Players of other libraries as ours, and ours as theirs; needs the extra ``bridges``."""
