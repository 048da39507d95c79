"""Tests against the edgeweave controller simulator: a client without dependencies, and fixtures for pytest."""

from .http import LabError, VerificationError
from .lab import Lab
from .simulator import Network, Simulator, StartError

__all__ = ["Lab", "LabError", "Network", "Simulator", "StartError", "VerificationError"]
