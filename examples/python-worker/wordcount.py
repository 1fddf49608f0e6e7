"""The assets that location.json declares: `python3 wordcount.py`, and then `servo deploy location.json`."""
import os
from collections import Counter
from worker import asset, serve

TEXT = "one worker serves one location, and one location has one worker or many"


@asset("wordcount.text")
def text(attempt):
    return {"metadata": {"words": TEXT.replace(",", "").split()}}


@asset("wordcount.count", code_version="1")
def count(attempt):
    [upstream] = attempt.upstream["wordcount.text"]
    counted = Counter(upstream["metadata"]["words"])
    attempt.log("Counted.", words=len(counted))
    return {"metadata": dict(counted.most_common(3))}


if __name__ == "__main__":
    serve("wordcount", port=int(os.environ.get("PORT", "7801")))
