"""Which question next: how many answers of a simulated expert halve an error, by credo's order and by others."""
