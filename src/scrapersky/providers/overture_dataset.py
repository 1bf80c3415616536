"""Overture's parquet files, on this machine or in their bucket: rows within a box, or one by its id."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from scrapersky.providers.area import Box
from scrapersky.providers.place import ProviderFailed, ProviderRefused

if TYPE_CHECKING:
    import pyarrow.compute
    import pyarrow.dataset

REGION = "us-west-2"
LEAST_CONFIDENCE = 0.6  # below, one in a few places does not exist
COLUMNS = (
    "id",
    "names",
    "bbox",
    "categories",
    "basic_category",
    "taxonomy",
    "confidence",
    "websites",
    "socials",
    "emails",
    "phones",
    "brand",
    "addresses",
    "operating_status",
)


class OvertureDataset:
    """A release, opened by the first question. Needs pyarrow, which is an extra."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def is_remote(self) -> bool:
        """Whether every look costs a walk over the network."""
        return self.path.startswith("s3://")

    def within(self, box: Box) -> Iterator[Mapping[str, Any]]:
        """The rows in the box that are likely to exist. Blocks; a thread of its own is the place for it."""
        _require_pyarrow()
        import pyarrow.compute as pc

        x, y = pc.field("bbox", "xmin"), pc.field("bbox", "ymin")
        wide = (x >= box.west) & (x <= box.east) if box.west <= box.east else (x >= box.west) | (x <= box.east)
        likely = pc.field("confidence") >= LEAST_CONFIDENCE
        yield from self._rows(wide & (y >= box.south) & (y <= box.north) & likely)

    def one(self, identity: str) -> Mapping[str, Any] | None:
        """The row with this id."""
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
            reason = f"Overture cannot be read: {' '.join(str(error).split())[:200]} Check PROVIDER_OVERTURE_PATH."
            raise (ProviderFailed(reason) if self.is_remote else ProviderRefused(reason)) from None

    def _open(self) -> "pyarrow.dataset.Dataset":
        import pyarrow.dataset as ds
        from pyarrow import fs

        if not self.is_remote:
            return ds.dataset(self.path, format="parquet")
        bucket = fs.S3FileSystem(anonymous=True, region=REGION)
        return ds.dataset(self.path.removeprefix("s3://"), filesystem=bucket, format="parquet")


def _require_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise ProviderRefused("Reading Overture needs pyarrow, which is not installed: install scrapersky[overture].")
