"""The verb that shows stored runs in a browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from laserloop.cli.options import take_number


def view(
    directory: Annotated[
        Path, Parameter(name="DIR", help="Folder with runs: of control or simulate --json, demo, reproduce.")
    ],
    /,
    *,
    port: Annotated[int, take_number(0, 65_535, "", "Of the page; 0 takes any free one.")] = 8470,
    browse: Annotated[
        bool, Parameter(name="--open", help="Open the page in the default browser.", negative="")
    ] = False,
) -> None:
    """Look at stored runs in a browser: replay them tick by tick, lay up to four over each other.

    Serves one page to this machine only, reads the folder and changes nothing; runs that are added while it
    is open appear. Ends with Ctrl-C.

    For example:

        laserloop demo --out out/demo
        laserloop view out/demo
    """
    import webbrowser

    from laserloop.report.terminal import show
    from laserloop.viewer.server import open_viewer

    with open_viewer(directory, port) as viewer:
        try:
            show(f"{len(viewer.shelf.runs)} runs of {directory}: {viewer.address} (Ctrl-C ends)")
            if browse:
                webbrowser.open(viewer.address)
            viewer.serve_forever()
        except KeyboardInterrupt:
            show("Done.")
