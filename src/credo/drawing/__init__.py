"""What pictures show, before matplotlib or a browser draws it: positions, colours, graphs, SVG."""
