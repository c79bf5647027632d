"""Statements become rows over parameters, and rows are checked: what can hold, what follows, what clashes."""
