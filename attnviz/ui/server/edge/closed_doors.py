"""Closes two doors of Streamlit that no setting closes.

Any visitor can ask for all caches of the server to be emptied, for everybody. And a websocket with
a foreign `Origin` makes the server ask an outside host for its own address, twice, each time.
"""

from streamlit import net_util
from streamlit.runtime.app_session import AppSession

CLEAR = "_handle_clear_cache_request"


def close() -> None:
    """Have both do nothing."""
    setattr(AppSession, CLEAR, _ignore)
    net_util.get_external_ip = _unknown


def _ignore(_session: object) -> None:
    """Leave the caches as they are."""


def _unknown() -> None:
    """The address of this server as others see it: not asked for."""
