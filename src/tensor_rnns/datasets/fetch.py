"""Fetch the files of a source: mirrors first, then public addresses; resumed, checked, never half-written."""

import fcntl
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import click

from tensor_rnns.datasets import table, unpack
from tensor_rnns.datasets.sums import Refused, check, page
from tensor_rnns.datasets.transfer import NO_SPACE, Patience, Say, transfer

Copy = table.File | table.Packed
USUAL = Patience()
TELL: Say = partial(click.echo, err=True)


class DownloadError(OSError):
    """A file could not be had; the message lists every address tried with its reason."""


def mirror_url(mirror: str, path: str) -> str:
    """The address of `path` below the mirror; ValueError if the mirror is no file:, http: or https: URL."""
    parts = urlsplit(mirror)
    local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    if not local and parts.scheme not in ("http", "https"):
        raise ValueError(
            f"mirror {mirror!r} is no URL of one; allowed are file:///folder, http://host/... and https://host/..."
        )
    return f"{mirror.rstrip('/')}/{quote(path)}"


def addresses(file: table.File, mirrors: Sequence[str]) -> Iterator[tuple[str, Copy]]:
    """Where `file` is looked for, and which copy lies there: mirrors (packed, then plain), then in public."""
    for mirror in mirrors:
        for copy in (*file.packed, file):
            if copy.mirror is not None:
                yield mirror_url(mirror, copy.mirror), copy
    for copy in (file, *file.packed):
        for url in copy.urls:
            yield url, copy


def download_all(
    names: Sequence[str],
    folder: Path | str,
    mirrors: Sequence[str] = (),
    patience: Patience = USUAL,
    say: Say = TELL,
) -> Iterator[tuple[str, list[Path]]]:
    """`download` for each source of `names`; one that fails does not keep the others from being tried.

    Yields (name, paths) of each source that is there. Errors: as of `download`; at the end one DownloadError
    names every source that failed.
    """
    sizes = {name: sum(file.size for file in table.source(name).files) for name in names}
    failed, done = [], 0
    for name in names:
        try:
            yield name, download(name, folder, mirrors, patience, say)
            done += sizes[name]
            share = 100 * done // sum(sizes.values())
            say(f"{name}: done; {done:,} of {sum(sizes.values()):,} bytes in all ({share} %)")
        except DownloadError as error:
            say(f"{name}: failed: {error}")
            failed.append(f"{name}: {error}")
    if failed:
        raise DownloadError(f"{len(failed)} of {len(names)} sources failed:\n" + "\n".join(failed))


def download(
    source: str, folder: Path | str, mirrors: Sequence[str] = (), patience: Patience = USUAL, say: Say = TELL
) -> list[Path]:
    """Bring every file of `source` to folder/source/ and return their paths.

    `mirrors` are base URLs (file:, http: or https:), tried in order before the public addresses. A file
    that is already there and right is kept. What has been received of an interrupted file stays beside it
    as NAME.part and is resumed, also by a later run. A file gets its name only when its size and sha256 are
    right. Errors: ValueError for an unknown source or a mirror that is no URL; DownloadError when every
    address failed, or the disk is full or may not be written to.
    """
    files = table.source(source).files
    tried = [list(addresses(file, mirrors)) for file in files]
    home = Path(folder) / source
    size, have = sum(file.size for file in files), 0
    with alone(home, say):
        for number, (file, choices) in enumerate(zip(files, tried, strict=True), start=1):
            label = f"{source} {number}/{len(files)}: {file.name}: "
            fetch_file(file, home, choices, patience, lambda text, to=label: say(to + text))
            have += file.size
            if len(files) > 1:
                say(f"{have:,} of {size:,} bytes of {source}")
        discard(home, "archive-*.part")
    return [home / file.name for file in files]


@contextmanager
def alone(home: Path, say: Say) -> Iterator[None]:
    """Make a source's folder and hold its lock: a second download waits, and then finds the files there.
    DownloadError where they cannot be made."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = open(home.with_name(f".{home.name}.lock"), "a")  # noqa: SIM115 - closed below
    except OSError as error:
        raise DownloadError(f"{home} cannot be made: {error}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{home.name}: another download is at it; waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch_file(
    file: table.File, home: Path, tried: Sequence[tuple[str, Copy]], patience: Patience, say: Say
) -> None:
    """Bring one file to the folder `home` from the first address of `tried` that holds it; see `download`."""
    target = home / file.name
    if target.exists():
        try:
            check(target, file.size, file.sha256)
            say("already there, size and sha256 right")
            return
        except Refused as error:
            say(f"there, but wrong ({error}); fetched again")
        except OSError as error:
            raise DownloadError(f"{target} cannot be read: {error}") from error
    reasons = []
    for url, copy in tried:
        say(f"{copy.size:,} bytes from {url}")
        try:
            obtain(url, copy, file, target, patience, say)
            say("size and sha256 right")
            return
        except Refused as error:
            say(f"refused: {error}")
            reasons.append(f"\n  {url}\n    {error}")
    if not tried:
        raise DownloadError(
            f"{file.name}: no public address is known; name a mirror that holds {file.mirror} in config.yaml"
        )
    raise DownloadError(
        f"{file.name} could not be had from any of {len(tried)} addresses "
        "(mirrors can be given in config.yaml):" + "".join(reasons)
    )


def obtain(url: str, copy: Copy, file: table.File, target: Path, patience: Patience, say: Say) -> None:
    """Bring `file` to `target` from one address; Refused or DownloadError (not written) says why not."""
    asides = (f"{target.name}.part", f"{target.name}.*.part")
    digest = copy.sha256 or copy.md5
    name = f"{target.name}.part"
    if copy is not file:
        # An archive serves several files: it is named after its sum and kept until `download` has them.
        name = f"archive-{digest[:16]}.part" if copy.member else f"{target.name}.{copy.form}.part"
    part = target.with_name(name)
    try:
        if urlsplit(url).scheme == "file":
            look(Path(unquote(urlsplit(url).path)), copy.size)
        transfer(url, part, copy.size, digest, patience, say)
        if copy is file:
            part.replace(target)
        else:
            unpack.unpack(part, target, copy.form, file.size, file.sha256, copy.member)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise DownloadError(f"{target.name} cannot be written: {error}") from error
        discard(target.parent, *asides, "archive-*.part")
        needed = copy.size + (0 if copy is file else file.size)
        free = shutil.disk_usage(target.parent).free
        raise DownloadError(
            f"no space left for {target}: {needed:,} bytes are needed, {free:,} are free; "
            "nothing half-written was kept"
        ) from error
    discard(target.parent, *asides)


def look(path: Path, size: int) -> None:
    """Refused where a file of a mirror may not be looked at, or has another size: it would be copied over
    what is held from another address."""
    try:
        if path.is_file() and (found := path.stat().st_size) != size:
            raise Refused(f"size: expected {size:,} bytes, found {found:,}{page(path)}")
    except OSError as error:
        raise Refused(str(error)) from error


def discard(folder: Path, *patterns: str) -> None:
    """Remove what was kept aside in `folder` under names of these patterns."""
    for pattern in patterns:
        for aside in folder.glob(pattern):
            aside.unlink()
