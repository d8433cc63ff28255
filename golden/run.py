"""`python -m golden.run`: the same as `golden run`."""

import sys

from golden.__main__ import main

if __name__ == "__main__":
    main(["run", *sys.argv[1:]])
