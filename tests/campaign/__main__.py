"""Starts the campaign as a command."""

import sys

from tests.campaign.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
