"""credo and its rivals on the networks that others published: accuracy, coverage of intervals, time, memory, status."""
