"""Statements become constraints on parameters, which are checked: feasibility, conflicts, redundancy, consequences."""
