"""What becomes of wrong statements: how well they are found, and how much harm they do."""
