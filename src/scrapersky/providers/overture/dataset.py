"""Overture's parquet files, on this machine or in a bucket: rows within a box, or one row by its id."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scrapersky.core.errors import ScraperSkyError
from scrapersky.providers.areas.geometry import Box
from scrapersky.providers.base import ProviderRefused
from scrapersky.providers.overture.bucket import SCHEME, OvertureBucket

if TYPE_CHECKING:
    import pyarrow.compute
    import pyarrow.dataset

MIN_CONFIDENCE = 0.6  # below, many places do not exist
COLUMNS = (
    "id", "names", "bbox", "categories", "basic_category", "taxonomy", "confidence", "websites", "socials", "emails",
    "phones", "brand", "addresses", "operating_status",
)  # fmt: skip


class OvertureDataset:
    """A release, opened by the first read. Needs pyarrow, which is an optional dependency."""

    def __init__(self, path: str, region: str = "us-west-2", endpoint: str | None = None) -> None:
        self.path = path
        self._bucket = OvertureBucket(path, region, endpoint) if path.startswith(SCHEME) else None

    @property
    def is_remote(self) -> bool:
        """Whether the files are in a bucket and every read uses the network."""
        return self._bucket is not None

    def within(self, box: Box) -> Iterator[Mapping[str, Any]]:
        """Yield the rows in the box that are likely to exist. Blocks, so call it in a thread."""
        _require_pyarrow()
        import pyarrow.compute as pc

        x, y = pc.field("bbox", "xmin"), pc.field("bbox", "ymin")
        wide = (x >= box.west) & (x <= box.east) if box.west <= box.east else (x >= box.west) | (x <= box.east)
        likely = pc.field("confidence") >= MIN_CONFIDENCE
        yield from self._rows(wide & (y >= box.south) & (y <= box.north) & likely)

    def one(self, identity: str) -> Mapping[str, Any] | None:
        """Return the row with this id, or None."""
        _require_pyarrow()
        import pyarrow.compute as pc

        return next(self._rows(pc.field("id") == identity), None)

    def _rows(self, condition: "pyarrow.compute.Expression") -> Iterator[Mapping[str, Any]]:
        import pyarrow as pa

        try:
            dataset = self._open()
            columns = [name for name in COLUMNS if name in dataset.schema.names]
            for batch in dataset.to_batches(columns=columns, filter=condition):
                yield from batch.to_pylist()
        except (OSError, pa.ArrowInvalid) as error:
            raise self._error_of(error) from None

    def _open(self) -> "pyarrow.dataset.Dataset":
        import pyarrow.dataset as ds

        return self._bucket.open() if self._bucket else ds.dataset(self.path, format="parquet")

    def _error_of(self, error: Exception) -> ScraperSkyError:
        if self._bucket is not None:
            return self._bucket.error_of(error)
        message = " ".join(str(error).split())[:200]
        return ProviderRefused(f"Overture cannot be read: {message} Check PROVIDER_OVERTURE_PATH.")


def _require_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise ProviderRefused("Reading Overture needs pyarrow, which is not installed: install scrapersky[overture].")
