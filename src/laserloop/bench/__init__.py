"""HOW FAST: measurements that print a row and write JSON. Ratios within one run, never seconds to trust."""
