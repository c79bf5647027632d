"""The command `credo`, also as `python -m credo`: signals are watched before anything large is imported."""

import atexit
import gc

from credo.cli.signals import end_on_signals, ignore_signals

# Importing makes some hundred thousand objects that stay: to look for garbage among them every 700 takes a tenth of the
# time of a small command.
GARBAGE_FROM = 50_000


def main() -> None:
    """Run the command line."""
    gc.set_threshold(GARBAGE_FROM)
    end_on_signals()
    atexit.register(ignore_signals)  # before all others are registered, and so after them
    from credo.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
