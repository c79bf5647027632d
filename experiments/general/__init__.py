"""What prevalences and diagnostic values are worth, beside statements about CPTs and instead of half of them."""
