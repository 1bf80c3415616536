"""Number the cell of the map in which a place lies, and index places by it: cells within a cell are one range."""

from alembic import op

revision = "place_cells"
down_revision = "saved_views"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The column and the row of the square at level 20 of the mercator, their bits in turn.
    op.execute(r"""
CREATE FUNCTION map_cell(latitude double precision, longitude double precision) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    radians double precision := pi() / 180 * greatest(-85.0511287798066, least(85.0511287798066, latitude));
    south double precision := (1 - ln(tan(radians) + 1 / cos(radians)) / pi()) / 2;
    edge bigint := (1 << 20) - 1;
    x bigint := greatest(0, least(edge, floor((longitude + 180) / 360 * (1 << 20))::bigint));
    y bigint := greatest(0, least(edge, floor(south * (1 << 20))::bigint));
BEGIN
    x := (x | (x << 16)) & 281470681808895;       -- 0000FFFF0000FFFF
    x := (x | (x << 8)) & 71777214294589695;      -- 00FF00FF00FF00FF
    x := (x | (x << 4)) & 1085102592571150095;    -- 0F0F0F0F0F0F0F0F
    x := (x | (x << 2)) & 3689348814741910323;    -- 3333333333333333
    x := (x | (x << 1)) & 6148914691236517205;    -- 5555555555555555
    y := (y | (y << 16)) & 281470681808895;
    y := (y | (y << 8)) & 71777214294589695;
    y := (y | (y << 4)) & 1085102592571150095;
    y := (y | (y << 2)) & 3689348814741910323;
    y := (y | (y << 1)) & 6148914691236517205;
    RETURN x | (y << 1);
END $$""")
    op.execute("ALTER TABLE place ADD COLUMN cell bigint GENERATED ALWAYS AS (map_cell(latitude, longitude)) STORED")
    op.execute(
        "CREATE INDEX place_by_cell ON place (tenant_id, cell) INCLUDE (latitude, longitude) WHERE cell IS NOT NULL"
    )


def downgrade() -> None:
    op.execute("DROP INDEX place_by_cell")
    op.execute("ALTER TABLE place DROP COLUMN cell")
    op.execute("DROP FUNCTION map_cell")
