"""Random inputs for everything that reads or learns, with oracles that say what must hold. `python -m fuzz --help`."""
