"""The address of a visitor: known where nobody else can be meant, and never one of its choosing."""

import pytest

from attnviz.app.server.visitors import address_of

CONNECTIONS = {
    "a visitor on the internet": ("20.30.40.50", "", "20.30.40.50"),
    "a visitor who claims another address": ("20.30.40.50", "60.70.80.90", "20.30.40.50"),
    "behind a named proxy": ("20.30.40.50", "20.30.40.50", "20.30.40.50"),
    "behind two proxies, one named": (
        "20.30.40.50",
        "10.1.1.1, 20.30.40.50",
        "20.30.40.50",
    ),
    "behind a proxy that nobody named": ("172.18.0.4", "20.30.40.50", ""),
    "in a school, behind a named proxy": ("192.168.1.20", "192.168.1.20", "192.168.1.20"),
    "in a school, without a proxy": ("192.168.1.20", "", "192.168.1.20"),
    "on this machine": ("127.0.0.1", "", ""),
    "on this machine, as Streamlit says it": (None, "", ""),
    "a house with many addresses": ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
    "no address": ("testclient", "", ""),
}


@pytest.mark.parametrize("name", CONNECTIONS)
def test_address_of_a_connection(name: str) -> None:
    peer, forwarded, address = CONNECTIONS[name]
    assert address_of(peer, forwarded) == address
