"""Is this table PC fit to run the daemon? Looked at from the kernel up to the configuration, told in words."""
