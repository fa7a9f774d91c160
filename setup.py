"""What pyproject.toml has no word for: migrations stand at the top, and travel inside the package."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["app*"]), "app.migrations", "app.migrations.versions"],
    package_dir={"app.migrations": "migrations"},
)
