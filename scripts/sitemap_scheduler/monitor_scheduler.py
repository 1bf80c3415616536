"""Show how every workflow stands, again and again: `scrapersky status` every so many seconds."""

import argparse
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--interval", type=float, default=30, help="seconds between two looks")
parser.add_argument("--times", type=int, default=0, help="how many looks; 0 means until Ctrl-C")
asked = parser.parse_args()
looks = 0
try:
    while True:
        subprocess.run([sys.executable, "-m", "scrapersky", "status"], check=False)  # nosec B603 # our own command
        looks += 1
        if looks == asked.times:
            break
        time.sleep(asked.interval)
except KeyboardInterrupt:
    sys.exit(130)
