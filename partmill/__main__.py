"""`python -m partmill`: the same as the `partmill` command.

Never imported.
"""

from partmill.cli import main

main()
