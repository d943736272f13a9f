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

    For example:

        laserloop view
        laserloop demo --out out/demo
        laserloop view out/demo --open
    """
    import webbrowser

    from laserloop.live.server import open_server
    from laserloop.report.terminal import show

    with open_server(directory, port, host=host) as server:
        try:
            count = len(server.index.runs)
            show(f"Live bench, {count} runs of {directory}: {server.address} (Ctrl-C ends)")
            show(f"Next, in another terminal: laserloop control diagonal --json {directory / 'mine.json'}")
            if browse:
                webbrowser.open(server.address)
            server.serve_forever()
        except KeyboardInterrupt:
            show("Done.")
