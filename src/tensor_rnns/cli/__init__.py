"""The command line: `tensor-rnns` runs its command in a warm process where there is one, else in its own."""

from tensor_rnns.cli import asking


def main() -> None:
    """Run the command of sys.argv; exits with its code."""
    asking.in_a_warm_process()
    from tensor_rnns.cli import commands

    commands.main(prog_name="tensor-rnns")
