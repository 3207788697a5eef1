"""Which store a command means: the one it is told, the one of its environment, or the nearest in the folders above."""

from __future__ import annotations

import os
from pathlib import Path

from headway.live.store import FILE, is_server, looked_at, opened
from headway.model.errors import HeadwayError, NotFoundError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.model.messages import WorkflowId

STORE = "HEADWAY_STORE"
FOLDER = ".headway"


def found_store(option: str | None = None, to_look: bool = False) -> tuple[Home | None, Store]:
    """The store, which must be there already, and the folder around it; a server has none.

    Those who only look get one that cannot be written as well.
    """
    folder = _folder_or_server(option)
    if isinstance(folder, str):
        return None, opened(folder)
    from headway.live.home.folder import Home

    if to_look:
        return Home(folder, to_look=True), looked_at(folder / FILE)
    store = _opened(folder)
    return Home(folder), store


def store_place(option: str | None = None) -> str:
    """Where the store is, opened by nobody yet."""
    return str(_folder_or_server(option))


def opened_store(option: str | None = None) -> Store:
    """The same for services, which have no use for the folder."""
    folder = _folder_or_server(option)
    return opened(folder) if isinstance(folder, str) else _opened(folder)


def _opened(folder: Path) -> Store:
    from headway.live.home.ownership import check_folder
    from headway.live.store.sqlite_file import is_writable, unwritable

    check_folder(folder)
    if not is_writable(folder / FILE):
        raise unwritable(folder / FILE)
    return opened(folder / FILE)


def _folder_or_server(option: str | None) -> Path | str:
    place = given_store(option)
    if place and is_server(place):
        return place
    return _given(place.removeprefix("sqlite:///")) if place else _nearest(Path.cwd())


def given_store(option: str | None = None) -> str | None:
    """The store that an option, the environment or headway.toml names; None: the nearest one counts."""
    place = option or os.environ.get(STORE)
    if place:
        return place
    from headway.live.home.settings import files, settings

    if not any(files(os.getcwd())):  # noqa: PTH109 - what is above counts too
        return None
    known = settings().values.get("store")
    return None if known is None else str(known.value)


def home_of(home: Home | None, option: str | None, store: Store, workflow: WorkflowId) -> Home | None:
    """The folder of the runner that has a workflow: a store's own, or on a server that of the outermost DAG."""
    if home is not None:
        return home
    from headway.live.store.sub_dags import above

    sources = {one.id: one.source for one in store.watching.workflows()}
    while (outer := above(sources.get(workflow, ""))) in sources and outer is not None:
        workflow = outer  # a sub-DAG may lie in another folder, but has the runner of its DAG
    return server_home(option, store.leases.directory(workflow))


def server_home(option: str | None, directory: str) -> Home | None:
    """The folder of a server's store beside a workflow, if that was run on this computer."""
    from headway.live.home.folder import Home

    folder = server_folder(Path(directory, FOLDER), given_store(option) or "")
    return Home(folder, to_look=True) if os.path.isdir(folder) else None  # noqa: PTH112 - it may be private


def server_folder(folder: Path, server: str) -> Path:
    """Where the runner and logs of a server's store are: apart from other stores, which use the same numbers."""
    import re
    from zlib import crc32

    address = re.sub(r"(?<=[?&])password=[^&]*", "", server.partition("://")[2].rpartition("@")[2])
    return folder / f"server-{crc32(address.encode('utf-8', 'surrogateescape')):08x}"


def is_store(file: Path) -> bool:
    """Whether there is a store; one that is private to another user is refused with a way to see it."""
    try:
        return file.is_file()
    except PermissionError:
        from headway.live.home.ownership import owner

        try:
            whose = f"to {owner(file.parent.stat().st_uid)}"
        except PermissionError:
            whose = "to another user"
        raise HeadwayError(
            f"{file.parent} is private {whose}.", "Its owner lets others look with headway run W --share all."
        ) from None


def _given(place: str) -> Path:
    """The folder that a user means: it, the folder beside a workflow, or the one that a store's file is in."""
    path = Path(place)
    if path.name == FILE and is_store(path):
        return path.parent
    for folder in (path, path / FOLDER):
        if is_store(folder / FILE):
            return folder
    raise NotFoundError(f"there is no store at {shown(place)}.", "Run a workflow first: headway run W --store FOLDER.")


def _nearest(begin: Path) -> Path:
    for above in (begin, *begin.parents):
        if is_store(above / FOLDER / FILE):
            return above / FOLDER
    raise NotFoundError(
        f"there is no store in {shown(str(begin))} or above: no folder {FOLDER}.",
        "Go to the workflow's folder, or name it: --store FOLDER, or HEADWAY_STORE=FOLDER before the command.",
    )
