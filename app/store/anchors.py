"""Chain ends and seals, stored apart from the audit log so that truncating the log leaves a trace."""

from sqlmodel import Field, Session, SQLModel

from app.events.record import Recorded


class ChainEndRow(SQLModel, table=True):
    """The last seq and hash of a chain, written in the transaction that appends the line."""

    __tablename__ = "chain_end"

    chain: str = Field(primary_key=True)
    seq: int
    hash: str


class SealRow(SQLModel, table=True):
    """An evidence pack that the audit log already names, so that each pack is recorded once."""

    __tablename__ = "seal"

    of: str = Field(primary_key=True)
    digest: str = Field(primary_key=True)


def record_chain_end(session: Session, line: Recorded) -> None:
    session.merge(ChainEndRow(chain=line.run, seq=line.seq, hash=line.hash))


def read_chain_end(session: Session, chain: str) -> tuple[int, str] | None:
    """Return seq and hash of the chain's last line, or None if none was recorded."""
    row = session.get(ChainEndRow, chain)
    return (row.seq, row.hash) if row else None


def has_seal(session: Session, of: str, digest: str) -> bool:
    return session.get(SealRow, (of, digest)) is not None


def save_seal(session: Session, of: str, digest: str) -> None:
    session.merge(SealRow(of=of, digest=digest))
