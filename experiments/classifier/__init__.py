"""The classifier beside what people would use instead."""
