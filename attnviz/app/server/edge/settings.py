"""The operator's settings, checked before the server starts.

In: the environment, and Streamlit's list of hosts. Out: a sentence for each setting that cannot be
meant. Without this a wrong number would be told to visitors, who cannot change it, and a wrong name
to nobody. Device and type of numbers are checked where a visitor's model is loaded.
"""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from streamlit import config

from attnviz.app.server import class_socket, peak, sources
from attnviz.app.server.edge import health, shield
from attnviz.errors import AttnVizError
from attnviz.models import files

BAD_SETTING = 2  # exit status of the start
LIMITS = {
    files.LIMIT_VARIABLE: files.DEFAULT_LIMIT_MIB,
    peak.VARIABLE: files.DEFAULT_LIMIT_MIB,
    files.CACHE_VARIABLE: files.DEFAULT_CACHE_MIB,
    shield.UPLOADS_VARIABLE: shield.MAX_UPLOADS_MIB,
}
HOSTS_VARIABLE = "STREAMLIT_SERVER_ALLOWED_HOSTS"
HOST = re.compile(r"\*|(\*\.)?[\w.-]+|[\da-fA-F:]+")
HOSTS = "give names without https:// and without a port, with spaces between them"
SITE = re.compile(
    r"'self'|'none'|\*|https?:|(https?://)?(?!(self|none)$)(\*\.)?[\w.-]+(:(\d+|\*))?"
)
SITES = (
    "give sites without a path, with spaces between them, for example 'self' https://lms.example"
)
PUBLIC_VARIABLE = "ATTNVIZ_PUBLIC_URL"
PUBLIC = re.compile(r"https?://[\w.-]+(:\d+)?(/[\w./~-]*)?")
KEY = re.compile(r"[!-~]*")  # what a header can carry as it is
DIRECTORIES = f"give whole paths of directories that exist, with {os.pathsep!r} between them"


def require_sound() -> None:
    """Say what is wrong with the settings, a line for each, and end the start if anything is."""
    found = list(problems())
    sys.stderr.writelines(f"attnviz: {problem}\n" for problem in found)
    if found:
        raise SystemExit(BAD_SETTING)


def problems() -> Iterator[str]:
    """A sentence for each wrong setting."""
    yield from _wrong_limits()
    yield from _wrong_models()
    for site in os.environ.get(shield.FRAMES_VARIABLE, "").split():
        if not SITE.fullmatch(site):
            yield f"{shield.FRAMES_VARIABLE} names {site!r}: {SITES}"
    for host in config.get_option("server.allowedHosts") or ():
        if not HOST.fullmatch(host.strip()):
            yield f"{HOSTS_VARIABLE} names {host!r}: {HOSTS}"
    public = os.environ.get(PUBLIC_VARIABLE, "")
    if public and not PUBLIC.fullmatch(public):
        yield f"{PUBLIC_VARIABLE} is {public!r}: give the whole address, https://…"
    if not KEY.fullmatch(os.environ.get(health.KEY_VARIABLE, "")):
        yield f"{health.KEY_VARIABLE} has a space or a letter beyond ASCII: give letters and digits"
    try:
        class_socket.rooms()
    except AttnVizError as error:
        yield f"{class_socket.REDIS_VARIABLE}: {error}"


def _wrong_models() -> Iterator[str]:
    for part in sources.allowed_directories():
        if not (Path(part).is_absolute() and Path(part).is_dir()):
            yield f"{sources.VARIABLE} names {part!r}: {DIRECTORIES}"
    for name in sources.offered():
        try:
            sources.source(name)
        except AttnVizError as error:
            yield f"{sources.MODELS_VARIABLE} names {name!r}: {error}"


def _wrong_limits() -> Iterator[str]:
    for variable, default in LIMITS.items():
        try:
            if (limit := files.setting(variable, default)) < 1:
                yield f"{variable} is {limit}, which would refuse everything: give 1 MiB or more"
        except AttnVizError as error:
            yield str(error)
