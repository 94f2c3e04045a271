"""The guard that keeps tests off the network refuses what it should, and only that."""

import socket
import urllib.error
import urllib.request

import pytest

from attnviz.cli.app import PORT
from tests.support.network import NetworkGuard, NetworkRefused, is_local


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "", None])
def test_this_machine_is_local(host: str | None) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.org", b"example.org"])
def test_another_machine_is_not_local(host: str | bytes) -> None:
    assert not is_local(host)


def test_a_connection_outwards_is_refused_and_remembered(network_guard: NetworkGuard) -> None:
    with socket.socket() as sock, pytest.raises(NetworkRefused):
        sock.connect(("192.0.2.1", 80))
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen("http://example.org/", timeout=1)
    told = [each.partition(" in MainThread, ") for each in network_guard.refused]
    assert [target for target, _, _ in told] == ["('192.0.2.1', 80)", "example.org"]
    here = "test_a_connection_outwards_is_refused_and_remembered"
    assert told[0][2].startswith(here) and "create_connection" in told[1][2]
    network_guard.refused.clear()  # else this test itself would fail for what it proves


def test_bind_refuses_the_default_port_of_the_app(network_guard: NetworkGuard) -> None:
    with socket.socket() as sock, pytest.raises(NetworkRefused, match=str(PORT)):
        sock.bind(("127.0.0.1", PORT))
    assert len(network_guard.refused) == 1
    network_guard.refused.clear()


def test_a_connection_to_this_machine_goes_through() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5) as client,
    ):
        assert client.getpeername() == server.getsockname()
