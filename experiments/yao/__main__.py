"""`python -m experiments.yao synthetic | clustering | topics | rivals`: section 7.1, 7.2 or 7.3, and other programs."""

from __future__ import annotations

import sys

from experiments.yao import clustering, rivals, synthetic, topics

COMMANDS = {"synthetic": synthetic.main, "clustering": clustering.main, "topics": topics.main, "rivals": rivals.main}


def main() -> None:
    """Run the experiment named by the first argument with the remaining arguments."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        raise SystemExit(f"usage: python -m experiments.yao {{{' | '.join(COMMANDS)}}} [--help]")
    COMMANDS[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
