"""What data and estimates say about statements."""
