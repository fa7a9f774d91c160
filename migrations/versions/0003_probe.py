"""What probes of engines found."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "probe",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("at", sa.Float, nullable=False, index=True),
        sa.Column("lineup", sa.String, nullable=False, index=True),
        sa.Column("engine", sa.String, nullable=False),
        sa.Column("replica", sa.Integer, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("gpus", sa.String, nullable=False),
        sa.Column("conditions", sa.String, nullable=False),
        sa.Column("figures", sa.String, nullable=False),
        sa.Column("problem", sa.String, nullable=False),
        sa.Column("notes", sa.String, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("probe")
