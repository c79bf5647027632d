"""`python -m experiments.yao NAME`: section 7.1, 7.2 or 7.3, a second look at them, and other programs."""

from __future__ import annotations

import sys

from experiments.yao import clustering, figure5, rivals, synthetic, topic_rivals, topics

COMMANDS = {
    "synthetic": synthetic.main,
    "figure5": figure5.main,
    "clustering": clustering.main,
    "topics": topics.main,
    "rivals": rivals.main,
    "topic_rivals": topic_rivals.main,
}


def main() -> None:
    """Run the experiment named by the first argument with the remaining arguments."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        raise SystemExit(f"usage: python -m experiments.yao {{{' | '.join(COMMANDS)}}} [--help]")
    COMMANDS[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
