"""Whether credible intervals hold the truth as often as they say: simulation-based calibration and coverage."""
