"""What is counted beside the record of what people did, so that its end cannot be cut off without a trace."""

from sqlmodel import Field, Session, SQLModel

from app.events.record import Recorded


class ChainEndRow(SQLModel, table=True):
    """How far a chain has come, by another hand than its lines: written in the transaction that adds one."""

    __tablename__ = "chain_end"

    chain: str = Field(primary_key=True)
    seq: int
    hash: str


class SealRow(SQLModel, table=True):
    """What the record holds already: the same pack is written down once, however often it is taken away."""

    __tablename__ = "seal"

    of: str = Field(primary_key=True)
    digest: str = Field(primary_key=True)


def counted(session: Session, line: Recorded) -> None:
    session.merge(ChainEndRow(chain=line.run, seq=line.seq, hash=line.hash))


def end(session: Session, chain: str) -> tuple[int, str] | None:
    """Seq and hash of the last line; None where nobody has counted yet."""
    row = session.get(ChainEndRow, chain)
    return (row.seq, row.hash) if row else None


def sealed(session: Session, of: str, digest: str) -> bool:
    return session.get(SealRow, (of, digest)) is not None


def keep(session: Session, of: str, digest: str) -> None:
    session.merge(SealRow(of=of, digest=digest))
