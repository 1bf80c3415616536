"""A tiny Places API (New): points on a map, masks, pages of twenty, a cap of sixty, a key, and a bill."""

import base64
import json
import random
from typing import Any

from tests.factories.http_server import ReceivedRequest, Reply, ScriptedServer

KEY = "AIza-planted-Secret_0123456789"
DEARER = {"websiteUri", "internationalPhoneNumber", "nationalPhoneNumber", "rating", "userRatingCount", "priceLevel"}
NOT_COMPARED = ("pageToken", "pageSize")


def error(code: int, status: str, message: str, reason: str = "", **metadata: str) -> Reply:
    """Build the JSON of a google.rpc.Status."""
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "metadata": metadata}
    details = {"details": [info]} if reason else {}
    return Reply({"error": {"code": code, "message": message, "status": status, **details}}, code)


def exhausted(unit: str) -> Reply:
    """Build Google's 429 for a quota per Minute or per Day."""
    name = f"SearchTextRequestPer{unit}PerProject"
    short = {"Minute": "1/min/{project}", "Day": "1/d/{project}"}[unit]
    return error(429, "RESOURCE_EXHAUSTED", "Quota.", "RATE_LIMIT_EXCEEDED", quota_limit=name, quota_unit=short)


def points(
    count: int, seed: int = 1, box: tuple[float, float, float, float] = (60.16, 24.93, 60.18, 24.96)
) -> list[Any]:
    """Return this many random places in clusters, as in a town."""
    random_ = random.Random(seed)
    south, west, north, east = box
    centres = [(random_.uniform(south, north), random_.uniform(west, east)) for _ in range(6)]
    made = []
    for number in range(count):
        latitude, longitude = random_.choice(centres)
        latitude = min(max(random_.gauss(latitude, (north - south) / 10), south), north)
        longitude = min(max(random_.gauss(longitude, (east - west) / 10), west), east)
        made.append({"id": f"place{number:04d}", "location": {"latitude": latitude, "longitude": longitude}})
    return made


class TinyGoogle:
    """Answers for a little server; `faults` are answered before anything else."""

    def __init__(self, server: ScriptedServer, places: list[dict[str, Any]]) -> None:
        self.places = places
        self.faults: list[Reply] = []
        self.paid = 0
        self.free = 0
        server.replies["/v1/places:searchText"] = self.search
        for place in places:
            server.replies[f"/v1/places/{place['id']}"] = self.details

    def search(self, asked: ReceivedRequest) -> Reply:
        refusal = self.refusal(asked)
        if refusal is not None:
            return refusal
        body = asked.json
        found = [place for place in self.places if inside(place, body.get("locationRestriction"))][:60]
        start = self.start(body)
        if start is None:
            return error(400, "INVALID_ARGUMENT", "Request parameters for paging requests must match.")
        page = found[start : start + body["pageSize"]]
        answer: dict[str, Any] = {"places": [masked(place, asked) for place in page]} if page else {}
        if start + body["pageSize"] < len(found):
            answer["nextPageToken"] = base64.b64encode(json.dumps([compared(body), start + 20]).encode()).decode()
        return Reply(answer)

    def details(self, asked: ReceivedRequest) -> Reply:
        wanted = asked.path.rpartition("/")[2]
        place = next(place for place in self.places if place["id"] == wanted)
        return self.refusal(asked) or Reply(masked(place, asked))

    def refusal(self, asked: ReceivedRequest) -> Reply | None:
        if asked.headers.get("X-Goog-Api-Key") != KEY or "key" in asked.query:
            return error(400, "INVALID_ARGUMENT", f"API key not valid: {asked.headers}", "API_KEY_INVALID")
        if self.faults:
            return self.faults.pop(0)
        if not asked.headers.get("X-Goog-FieldMask"):
            return error(400, "INVALID_ARGUMENT", "FieldMask is a required parameter.")
        if DEARER & fields(asked):
            self.paid += 1
        else:
            self.free += 1
        return None

    def start(self, body: dict[str, Any]) -> int | None:
        if "pageToken" not in body:
            return 0
        params, start = json.loads(base64.b64decode(body["pageToken"]))
        return int(start) if params == compared(body) else None


def compared(body: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in body.items() if key not in NOT_COMPARED}, sort_keys=True)


def fields(asked: ReceivedRequest) -> set[str]:
    return {field.removeprefix("places.") for field in asked.headers["X-Goog-FieldMask"].split(",")}


def masked(place: dict[str, Any], asked: ReceivedRequest) -> dict[str, Any]:
    known = {
        "displayName": {"text": f"Business {place['id']}"},
        "websiteUri": f"https://{place['id']}.example/",
        **place,
    }
    return {field: value for field, value in known.items() if field in fields(asked)}


def inside(place: dict[str, Any], restriction: dict[str, Any] | None) -> bool:
    if restriction is None:
        return True
    low, high, at = restriction["rectangle"]["low"], restriction["rectangle"]["high"], place["location"]
    west, east, longitude = low["longitude"], high["longitude"], at["longitude"]
    inside_wide = west <= longitude <= east if west <= east else longitude >= west or longitude <= east
    return bool(low["latitude"] <= at["latitude"] <= high["latitude"]) and inside_wide
