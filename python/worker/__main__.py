# SPDX-License-Identifier: Apache-2.0
"""Starts the worker, or one of its children, with the interpreter of the user: `python3 -B __main__.py MODULE`."""
import importlib.util
import pathlib
import sys


def load():
    """The package under a name of its own. This folder leaves sys.path: its files must not shadow modules of the user."""
    here = pathlib.Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if not entry or pathlib.Path(entry).resolve() != here]
    spec = importlib.util.spec_from_file_location("neuron_check_worker", here / "__init__.py", submodule_search_locations=[str(here)])
    package = importlib.util.module_from_spec(spec)
    sys.modules["neuron_check_worker"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    if sys.version_info < (3, 10):
        sys.exit("neuron-check's case worker needs Python 3.10 or later")
    load()
    if sys.argv[1:2] == ["--child"] and len(sys.argv) == 5:
        from neuron_check_worker.child import main

        main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        from neuron_check_worker.serve import main

        sys.exit(main(sys.argv[1]))
    else:
        sys.exit("usage: __main__.py MODULE\n\nneuron-check starts this; messages on standard input and output: docs/worker-protocol.md")
