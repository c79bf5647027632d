"""Pictures for notebooks and papers, drawn with matplotlib, which comes with `credo[plots]`."""
