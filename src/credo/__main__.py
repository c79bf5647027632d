"""The command `credo`, also as `python -m credo`: signals are watched before anything large is imported."""

from credo.cli.signals import end_on_signals


def main() -> None:
    """Run the command line."""
    end_on_signals()
    from credo.cli.learning_commands import main as run

    run()


if __name__ == "__main__":
    main()
