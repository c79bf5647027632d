"""Several sites: how much is gained by learning each from the others, by how alike they are."""
