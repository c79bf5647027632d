"""The posterior of all CPTs: a hierarchical prior, statements as boundaries, and chains that draw from it."""
