"""`temper scap tailor` and `temper scap export`: import and export tailoring files."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from sqlmodel import Session

from app.cli.existing_database import open_existing_database
from app.cli.output_file import write_output
from app.config import Settings
from app.errors import BadInput
from app.runs.tailoring_export import TailoringSpec, export_tailoring
from app.runs.tailoring_import import import_tailoring
from app.scanners.openscap.tailoring import ENDING, MOST_BYTES
from app.store.clock import database_time


def add_tailoring_file(file: Path, content: str, name: str) -> None:
    try:
        with file.open("rb") as opened:
            document = opened.read(MOST_BYTES + 1)
    except OSError as exc:
        raise BadInput(f"{file} cannot be read: {exc.strerror or exc}.") from exc
    for one in import_tailoring(document, content, name or _derive_name(file)):
        apart = f"{one.left_out} not applicable by tailoring"
        said = f"rules: {one.profile.rules}, {apart}. Use it with --skill {one.skill_name}"
        Console(soft_wrap=True).print(escape(f"{one.profile.title}: {said}"))


def write_tailoring(settings: Settings, wish: TailoringSpec, out: str) -> None:
    with Session(open_existing_database(settings)) as session:
        content = export_tailoring(session, wish, database_time(session), settings.hosts_folder)
    write_output([content], out, wish.file_name)


def _derive_name(file: Path) -> str:
    return file.name.removesuffix(ENDING).removesuffix(".xml").lower()
