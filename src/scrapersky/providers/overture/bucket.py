"""Overture's S3 bucket, which is readable without an account, and the errors of pyarrow's client."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapersky.providers.base import ProviderFailed, ProviderRefused

if TYPE_CHECKING:
    import pyarrow.dataset
    import pyarrow.fs

SCHEME = "s3://"
CONNECT_SECONDS = 10.0
RELEASES = "release"  # the folder of the releases in Overture's bucket
# Errors of pyarrow's client after which a retry may succeed.
TEMPORARY = (
    "NETWORK_CONNECTION",
    "REQUEST_TIMEOUT",
    "SLOW_DOWN",
    "SERVICE_UNAVAILABLE",
    "INTERNAL_FAILURE",
    "HTTP status 5",
)


@dataclass(frozen=True)
class OvertureBucket:
    """A folder in a bucket: at Amazon, or at another endpoint."""

    path: str
    region: str = "us-west-2"
    endpoint: str | None = None

    @property
    def name(self) -> str:
        """The name of the bucket."""
        return self._within.partition("/")[0]

    def open(self) -> "pyarrow.dataset.Dataset":
        """Open the files of the folder. Blocks; raises ProviderRefused if there are none."""
        import pyarrow.dataset as ds

        bucket = self._connect()
        try:
            return ds.dataset(self._within, filesystem=bucket, format="parquet")
        except FileNotFoundError:
            raise self._missing(bucket) from None

    def error_of(self, error: Exception) -> ProviderFailed | ProviderRefused:
        """Map an error of pyarrow's client: a retry may help, or a setting has to be corrected."""
        message = " ".join(str(error).split())
        if "ACCESS_DENIED" in message:
            return ProviderRefused(f"The bucket {self.name!r} {self._where} is not public. {self._cure}")
        if any(word in message for word in TEMPORARY):
            why = message.rpartition("Details: ")[2][:200].rstrip(".")
            return ProviderFailed(f"The bucket {self.name!r} {self._where} does not answer: {why}.")
        return ProviderRefused(f"Overture cannot be read from {self.path}: {message[:200]} {self._cure}")

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
        """Return the error for a missing bucket or release, with the latest release."""
        from pyarrow import fs

        if bucket.get_file_info(self.name).type == fs.FileType.NotFound:
            return ProviderRefused(f"There is no bucket {self.name!r} {self._where}. {self._cure}")
        kept = fs.FileSelector(f"{self.name}/{RELEASES}", allow_not_found=True)
        releases = sorted(one.base_name for one in bucket.get_file_info(kept) if one.type == fs.FileType.Directory)
        latest = f" The latest release there is {releases[-1]}." if releases else ""
        return ProviderRefused(
            f"There is nothing at {self.path}; old releases are removed.{latest} Correct PROVIDER_OVERTURE_PATH."
        )
