"""``python -m biasamp`` is the command line."""

from biasamp.cli import main

if __name__ == "__main__":
    main()
