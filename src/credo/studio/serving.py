"""`credo studio`: find a free port, print the address with its token, open the browser, serve until Ctrl-C."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from credo.errors import CredoError, MissingExtraError, OptionError
from credo.io.files import require_file
from credo.options import TableFormat
from credo.terminal import say

DEFAULT_PORT = 8642
LOOPBACK = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::")
ANYWHERE_WORD = "I-understand"


def serve(
    model: Path | None,
    table: Path | None,
    *,
    table_format: TableFormat | None = None,
    host: str = LOOPBACK,
    port: int | None = None,
    expose: str = "",
    browser: bool = True,
    ready: Callable[[str], None] | None = None,
    leave_by: Callable[[Callable[[], str]], None] | None = None,
) -> None:
    """Serve the studio until it is interrupted.

    Parameters
    ----------
    model
        A `.credo` file or a network; None starts from nothing.
    table
        The data.
    table_format
        How their file is written, where it is not as usual.
    host, expose
        The address to listen on. One that other machines can reach has to be confirmed.
    port
        The port; if None, 8642 or the next that is free.
    browser
        Whether to open the address in the browser.
    ready
        Is called with the address, once the studio answers.
    leave_by
        Is called with the function to call before the process is ended at once: it ends what runs, and returns what
        became of the text.
    """
    require_loopback(host, expose)
    try:
        import uvicorn

        from credo.studio.app import make_app
    except ImportError as error:
        raise MissingExtraError(str(error.name).partition(".")[0], "studio", "The studio") from None
    from credo.studio.folder import Folder
    from credo.studio.guard import new_token
    from credo.studio.session import Session

    model, table = _sorted_out(model, table)
    for path, what in ((model, "model"), (table, "table")):
        if path is not None:
            require_file(path, what)
    root = common_folder([path for path in (model, table) if path is not None])
    listening = listening_socket(host, port)
    number = listening.getsockname()[1]
    token, ticket = new_token(), new_token()
    names = own_names(host, number)
    address = f"http://{names[0]}/?token={token}"
    session = Session(Folder(root))
    if leave_by is not None:
        leave_by(session.leave)

    async def run() -> None:
        if model is not None or table is not None:
            await session.open(model, table, table_format)
        config = uvicorn.Config(
            make_app(session, token, names, ticket),
            log_level="warning",
            access_log=False,  # addresses in a log would hold the token
            timeout_graceful_shutdown=1,
            server_header=False,
            ws="none",
        )
        server = uvicorn.Server(config)
        say(f"The studio is at {address}\nIts files are in {root}. Ctrl-C ends it.")
        if ready is not None:
            ready(address)
        if browser:
            Thread(target=webbrowser.open, args=(f"http://{names[0]}/?ticket={ticket}",), daemon=True).start()
        await server.serve(sockets=[listening])

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        say("The studio has ended.", sys.stderr)
    finally:
        listening.close()


def require_loopback(host: str, expose: str) -> None:
    """Refuse an address that other machines can reach, unless the user confirms it by name."""
    if not _is_loopback(host) and expose != ANYWHERE_WORD:
        raise OptionError(
            f"On {host}, other machines could reach your data, and nothing that is sent is encrypted. If that is what "
            f"you want, add --expose {ANYWHERE_WORD}."
        )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def own_names(host: str, port: int) -> tuple[str, ...]:
    """What the Host header of a request for this studio can hold; the first is for its address.

    A studio that listens everywhere answers to the names and addresses of this machine.
    """
    hosts = [host]
    if host in EVERYWHERE:
        name = socket.gethostname()
        with suppress(OSError):
            hosts = [name, socket.getfqdn(), *(str(found[4][0]) for found in socket.getaddrinfo(name, None))]
    if host in EVERYWHERE or _is_loopback(host):
        hosts += [LOOPBACK, "localhost", "::1"]
    return tuple(dict.fromkeys(f"[{each}]:{port}" if ":" in each else f"{each}:{port}" for each in hosts))


def common_folder(paths: list[Path]) -> Path:
    """The folder that is opened: the one of the files, or the one above where they are in different folders."""
    if not paths:
        return Path.cwd().resolve()
    parents = [path.resolve().parent for path in paths]
    for folder in (parents[0], *parents[0].parents):
        if all(parent.is_relative_to(folder) for parent in parents):
            if folder == Path(folder.anchor) and len(set(parents)) > 1:
                raise OptionError(
                    "The model and the data are in folders without anything in common: put them together."
                )
            return folder
    raise OptionError("The model and the data are on different drives: put them together.")


def _sorted_out(model: Path | None, table: Path | None) -> tuple[Path | None, Path | None]:
    """`credo studio patients.csv` opens a table."""
    from credo.io.tables import is_table_file

    if model is not None and table is None and is_table_file(model):
        return None, model
    return model, table


def listening_socket(host: str, port: int | None) -> socket.socket:
    """A socket that listens on a port, or on the first one that is free."""
    wanted = range(DEFAULT_PORT, DEFAULT_PORT + 50) if port is None else [port]
    error: Exception | None = None
    for number in wanted:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # TCP by its name: only then does asyncio send the body of an answer before its head is acknowledged.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if sys.platform != "win32":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((host, number))
            found.listen(128)  # who comes before the server is ready waits for it
            return found
        except (OSError, OverflowError) as refused:
            found.close()
            error = refused
    raise CredoError(f"The studio cannot listen on {host}, port {wanted[0]}: {error}.")
