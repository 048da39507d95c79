"""Fixtures for pytest. Each test gets the simulator as it was after its start: entities, clock, faults, journal."""

from __future__ import annotations

from typing import Iterator

import pytest

from .simulator import Network, Simulator


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("edgeweave_routers", "routers of edgeweave_network: how many, or their names (a,b)", default="2")
    parser.addini("edgeweave_options", "further options of the simulator, as on its command line", "args", default=[])


@pytest.fixture(scope="session")
def edgeweave_simulator_process(pytestconfig: pytest.Config) -> Iterator[Simulator]:
    """The simulator of the session. Tests use edgeweave_simulator, which is reset."""
    with Simulator(*pytestconfig.getini("edgeweave_options")) as simulator:
        yield simulator


@pytest.fixture
def edgeweave_simulator(edgeweave_simulator_process: Simulator) -> Simulator:
    """A controller without routers."""
    edgeweave_simulator_process.lab.reset()
    return edgeweave_simulator_process


@pytest.fixture(scope="session")
def edgeweave_network_process(pytestconfig: pytest.Config) -> Iterator[Network]:
    """The network of the session. Tests use edgeweave_network, which is reset."""
    routers: str = pytestconfig.getini("edgeweave_routers")
    names = int(routers) if routers.isdigit() else routers.split(",")
    with Network(*pytestconfig.getini("edgeweave_options"), routers=names) as network:
        yield network


@pytest.fixture
def edgeweave_network(edgeweave_network_process: Network) -> Network:
    """A controller with linked routers, which stay connected from test to test."""
    edgeweave_network_process.lab.reset()
    return edgeweave_network_process
