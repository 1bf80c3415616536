"""Overture's bucket: any S3 that lets everybody read, opened by pyarrow's client, its troubles told in sentences."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapersky.providers.base import ProviderFailed, ProviderRefused

if TYPE_CHECKING:
    import pyarrow.dataset
    import pyarrow.fs

SCHEME = "s3://"
CONNECT_SECONDS = 10.0
RELEASES = "release"  # the folder of Overture's bucket that has one for each release
# What pyarrow's client calls a trouble that may be over soon; what it cannot name is one, too.
PASSING = (
    "NETWORK_CONNECTION",
    "REQUEST_TIMEOUT",
    "SLOW_DOWN",
    "SERVICE_UNAVAILABLE",
    "INTERNAL_FAILURE",
    "HTTP status 5",
)


@dataclass(frozen=True)
class OvertureBucket:
    """A folder in a bucket, and where the bucket is: at Amazon, unless an endpoint says otherwise."""

    path: str
    region: str = "us-west-2"
    endpoint: str | None = None

    @property
    def name(self) -> str:
        """The bucket's own name."""
        return self._within.partition("/")[0]

    def open(self) -> "pyarrow.dataset.Dataset":
        """The files of the folder. Blocks; ProviderRefused where there are none."""
        import pyarrow.dataset as ds

        bucket = self._connect()
        try:
            return ds.dataset(self._within, filesystem=bucket, format="parquet")
        except FileNotFoundError:
            raise self._missing(bucket) from None

    def trouble(self, error: Exception) -> ProviderFailed | ProviderRefused:
        """What an error of pyarrow's client means: come again, or put something right."""
        told = " ".join(str(error).split())
        if "ACCESS_DENIED" in told:
            return ProviderRefused(f"The bucket {self.name!r} {self._where} is not open to everybody. {self._cure}")
        if any(word in told for word in PASSING):
            why = told.rpartition("Details: ")[2][:200].rstrip(".")
            return ProviderFailed(f"The bucket {self.name!r} {self._where} does not answer: {why}.")
        return ProviderRefused(f"Overture cannot be read from {self.path}: {told[:200]} {self._cure}")

    @property
    def _within(self) -> str:
        return self.path.removeprefix(SCHEME).strip("/")

    @property
    def _where(self) -> str:
        return f"at {self.endpoint}" if self.endpoint else f"in {self.region}"

    @property
    def _cure(self) -> str:
        return f"Check PROVIDER_OVERTURE_PATH{' and PROVIDER_OVERTURE_ENDPOINT' if self.endpoint else ''}."

    def _connect(self) -> "pyarrow.fs.S3FileSystem":
        from pyarrow import fs

        at = urlsplit(self.endpoint) if self.endpoint else None
        return fs.S3FileSystem(
            anonymous=True,
            region=self.region,
            connect_timeout=CONNECT_SECONDS,
            endpoint_override=at.netloc + at.path.rstrip("/") if at else None,
            scheme=at.scheme if at else "https",
        )

    def _missing(self, bucket: "pyarrow.fs.S3FileSystem") -> ProviderRefused:
        """The bucket is not there, or not this release: then the latest one is named."""
        from pyarrow import fs

        if bucket.get_file_info(self.name).type == fs.FileType.NotFound:
            return ProviderRefused(f"There is no bucket {self.name!r} {self._where}. {self._cure}")
        kept = fs.FileSelector(f"{self.name}/{RELEASES}", allow_not_found=True)
        releases = sorted(one.base_name for one in bucket.get_file_info(kept) if one.type == fs.FileType.Directory)
        latest = f" The latest release there is {releases[-1]}." if releases else ""
        return ProviderRefused(
            f"There is nothing at {self.path}; old releases are removed.{latest} Correct PROVIDER_OVERTURE_PATH."
        )
