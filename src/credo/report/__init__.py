"""What people see: text in the terminal."""
