"""Whether credible intervals hold the truth as often as they say, with and without missing values."""
