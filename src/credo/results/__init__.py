"""What learning and checking found, as plain data with labelled accessors."""
