"""Where the visitor of the running page comes from, so that one visitor is no crowd.

In: the page's connection. Out: a name that its visitor cannot choose: the address, of IPv6 the
network, as one house has many addresses. It is not known on this machine, and behind a proxy that
the operator did not name in FORWARDED_ALLOW_IPS: all visitors seem to come from there. A session
can be had for nothing, so it bounds only those who mean no harm.
"""

from ipaddress import IPv6Address, ip_address, ip_network

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

NETWORK_BITS = 64
FORWARDED = "X-Forwarded-For"


def address() -> str:
    """The address of the visitor; "" where it is not known."""
    return address_of(st.context.ip_address, st.context.headers.get(FORWARDED, ""))


def address_of(peer: str | None, forwarded: str) -> str:
    """The address of a connection that comes from `peer`, with what proxies say about it.

    The server has put the visitor's own address in the place of a named proxy's. A private address
    that forwards others is a proxy which nobody named.
    """
    try:
        found = ip_address(peer or "")
    except ValueError:
        return ""
    is_named = str(peer) in (part.strip() for part in forwarded.split(","))
    if found.is_loopback or (found.is_private and forwarded and not is_named):
        return ""
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((found, NETWORK_BITS), strict=False))
    return str(found)


def name() -> str:
    """The address of the running page's visitor, or else its session; "" outside of a page."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else address() or context.session_id
