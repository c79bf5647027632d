"""How long credo takes, by itself and against its peers: `python -m benchmarks`."""
