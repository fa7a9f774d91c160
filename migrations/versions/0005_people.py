"""People, and what they sign in with."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "person",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("right", sa.String, nullable=False),
        sa.Column("password", sa.String, nullable=False),
        sa.Column("made_at", sa.Float, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
    )
    op.create_table(
        "credential",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("person", sa.String, nullable=False, index=True),
        sa.Column("right", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("label", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False, unique=True),
        sa.Column("made_at", sa.Float, nullable=False),
        sa.Column("expires_at", sa.Float, nullable=False),
        sa.Column("used_at", sa.Float, nullable=True),
        sa.Column("ended_at", sa.Float, nullable=True),
    )


def downgrade() -> None:
    op.drop_table("credential")
    op.drop_table("person")
