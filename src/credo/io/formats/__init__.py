"""Network files, one format a file."""
