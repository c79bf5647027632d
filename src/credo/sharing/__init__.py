"""One page that answers for a learned network, for people who have nothing but a browser."""
