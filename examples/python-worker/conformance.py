"""The assets of the conformance suite, as test/fixtures/conformance.ts has them: `python3 conformance.py`."""
import os, time
from worker import asset, serve


class NoData(Exception):
    code, retryable = "NO_DATA", False


@asset("conformance.echo", code_version="7")
def echo(attempt):
    names = ("partition_key", "materialization_id", "metadata")
    upstream = [{name: each[name] for name in names} for each in attempt.upstream["conformance.source"]]
    metadata = {"run_id": attempt.run_id, "attempt": attempt.attempt, "partition_keys": attempt.partition_keys, "upstream": upstream}
    return {"metadata": metadata, "data_version": "v1"}


@asset("conformance.partitioned")
def partitioned(attempt):
    return {"metadata": {"partition_keys": attempt.partition_keys}}


@asset("conformance.fail")
def fail(attempt):
    raise NoData("There is no data for this day.")


@asset("conformance.skip")
def skip(attempt):
    return {"skip_reason": "No new files."}


@asset("conformance.wait")
def wait(attempt):
    attempt.progress = {"done": 1, "total": 3, "message": "waiting"}
    attempt.stopped.wait()


@asset("conformance.log")
def log(attempt):
    attempt.log("Reading.", rows=3)
    attempt.log("One row was left out.", level="WARN")


@asset("conformance.touch")
def touch(attempt):
    with open(os.environ["CONFORMANCE_FILE"], "a") as file:
        file.write(f"{attempt.attempt_id}\n")


@asset("conformance.hold")
def hold(attempt):
    while not os.path.getsize(os.environ["CONFORMANCE_FILE"]):
        time.sleep(0.01)


if __name__ == "__main__":
    serve("conformance", grace=int(os.environ.get("CONFORMANCE_GRACE_MS", "30000")) / 1000)
