"""The studio: knowledge, data and answers on one page in the browser, served on the user's own machine.

It holds no logic of its own: what the page shows and does are calls of credo's Python interface.
"""
