"""Speed and memory of credo, alone and compared with other programs: `python -m benchmarks`."""
