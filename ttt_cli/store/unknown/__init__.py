"""Files of unknown origin: what their keys and values may mean, and what of it is meant."""
