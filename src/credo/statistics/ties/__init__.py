"""Rows that are tied together: equal or different values, as soft evidence passed between rows [yao, section 5]."""
