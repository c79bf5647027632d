"""What several tests share: made-up problems, and oracles that tell what is right."""
