"""``python -m tessiq.demo``."""

import argparse
import sys

from tessiq.demo.run import run

if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tessiq.demo", description=__doc__).parse_args()
    sys.exit(run("./dev demo"))
