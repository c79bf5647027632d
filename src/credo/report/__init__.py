"""What people read: text for the terminal, HTML pages, and what a notebook shows."""
