"""What pyproject.toml has no word for: migrations and docs stand at the top, and travel inside the package."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["app*", "temper_client"]),
        "app.docs",
        "app.migrations",
        "app.migrations.versions",
    ],
    package_dir={"app.docs": "docs", "app.migrations": "migrations"},
)
