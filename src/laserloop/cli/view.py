"""The verb that shows stored runs in a browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from laserloop.cli.options import take_number


def view(
    directory: Annotated[
        Path,
        Parameter(
            name="DIR",
            help="Folder with runs: of control or simulate --json, demo, reproduce. What is kept on the page "
            "goes there, too.",
        ),
    ] = Path("runs"),
    /,
    *,
    port: Annotated[int, take_number(0, 65_535, "", "Of the page; 0 takes any free one.")] = 8470,
    host: Annotated[
        str,
        Parameter(
            help="Address to listen on; elsewhere than on this machine only who has the printed token is "
            "served."
        ),
    ] = "127.0.0.1",
    browse: Annotated[
        bool, Parameter(name="--open", help="Open the page in the default browser.", negative="")
    ] = False,
) -> None:
    """The live bench: start runs in a browser, steer them, and compare them with stored ones.

    Drop a path file, pick a process and a controller, press run; change window or absorptivity on the way,
    keep what is worth it. Runs that are added to the folder while the page is open appear. Ends with Ctrl-C.
    Without the live extra, stored runs are shown and none can be started.

    For example:

        laserloop view
        laserloop demo --out out/demo
        laserloop view out/demo --open
    """
    import webbrowser

    from laserloop.report.terminal import show
    from laserloop.viewer.server import open_viewer

    with open_viewer(directory, port, host=host) as viewer:
        try:
            bench = (
                "Live bench" if viewer.live else "Stored runs only (pip install 'laserloop[live]' for more)"
            )
            show(f"{bench}, {len(viewer.shelf.runs)} runs of {directory}: {viewer.address} (Ctrl-C ends)")
            show(f"Next, in another terminal: laserloop control diagonal --json {directory / 'mine.json'}")
            if browse:
                webbrowser.open(viewer.address)
            viewer.serve_forever()
        except KeyboardInterrupt:
            show("Done.")
