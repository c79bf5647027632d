"""What each statement did to the result, and what the result stands on."""
