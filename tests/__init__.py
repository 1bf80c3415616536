"""The tests; each directory by what it needs."""

import atexit
import os
import shutil
import tempfile

# Before our own modules read it: what a test leaves behind, such as a secret key, is not the developer's.
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="ss-data-")
atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)
