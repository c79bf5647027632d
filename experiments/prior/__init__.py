"""The prior of `posterior` against knowing nothing, simple methods and two published models, on published networks."""
