"""Where parts of the data are worked on: on this machine, or by the workers of a Dask cluster."""
