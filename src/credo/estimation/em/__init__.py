"""EM: steps, starts, acceleration and checkpoints, for any exact M-step."""
