"""What pictures show, before matplotlib or SVG draws it: positions, colours, graphs."""
