"""Networks and tables from and to files and objects."""
