"""What pyproject.toml has no word for: line-ups and migrations stand at the top, and travel inside the package."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["app*"]), "app.lineups", "app.migrations", "app.migrations.versions"],
    package_dir={"app.lineups": "lineups", "app.migrations": "migrations"},
)
