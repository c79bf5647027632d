"""The optimum of a block: closed forms, an interior point of our own, Clarabel behind it, and certificates for all."""
