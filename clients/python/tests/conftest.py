"""Loads the fixtures from the folder; an installed package is found by itself."""

pytest_plugins = ["edgeweave.pytest_plugin"]
