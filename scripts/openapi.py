"""Print the OpenAPI document, as `GET /api/v3/openapi.json` returns it, for linters and generators of clients."""

import json
import sys

from scrapersky.api.openapi import openapi_document
from scrapersky.asgi import create_app
from scrapersky.core.settings import Environment

if __name__ == "__main__":
    json.dump(openapi_document(create_app(Environment({}, None))), sys.stdout, ensure_ascii=False)
