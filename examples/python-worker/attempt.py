"""One attempt of a Servo task: it asks whether it may start, runs the code, and reports how it ended."""
import http.client, json, os, random, secrets, socket, threading, time, traceback, urllib.error, urllib.request
from datetime import datetime, timezone

WORKER_ID = f"{socket.gethostname()}:{os.getpid()}"
NEEDED = ("run_id task_key attempt attempt_id asset_key location_name partition_keys upstream callback_url task_token "
          "start_deadline_at heartbeat_timeout_ms timeout_ms sequence").split()


class Skip(Exception):
    """Raise it where there is nothing to do, with the reason."""


def ulid():
    number = int(time.time() * 1000) << 80 | secrets.randbits(80)
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> 5 * i & 31] for i in range(25, -1, -1))


def instant():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Attempt(threading.Thread):
    """What the code of an asset is given, and the thread in which it runs."""
    def __init__(self, dispatch, run_code, code_version, finished):
        super().__init__(daemon=True)
        self.__dict__.update({name: dispatch[name] for name in NEEDED})
        self.run_code, self.code_version = run_code, code_version
        self.ids = {"execution_id": ulid(), "sequence": self.sequence}
        self.finished, self.progress, self.lines = finished, None, []
        self.cancelled, self.conflict = False, False
        self.stopped, self.ended = threading.Event(), threading.Event()  # the code is to stop; it has ended

    def log(self, message, level="INFO", **fields):
        self.lines.append({"at": instant(), "level": level, "message": message, **({"fields": fields} if fields else {})})

    def heartbeat(self, **progress):
        self.progress = progress

    def post(self, path, body, until=0.0):
        """Sends the same body until it is answered, or until the time has come. Answers status (0: none) and body."""
        delay, data = 0.1, json.dumps({**self.ids, **{k: v for k, v in body.items() if v is not None}}, default=str).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.task_token}"}
        while True:
            try:
                request = urllib.request.Request(f"{self.callback_url}/{path}", data, headers)
                with urllib.request.urlopen(request, timeout=15) as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as error:
                status = error.code
            except (OSError, ValueError, http.client.HTTPException):
                status = 0
            if status and status < 500 and status not in (408, 425, 429) or time.time() + delay > until:
                return status, {}
            time.sleep(delay * random.uniform(0.5, 1))
            delay = min(delay * 2, 5)

    def run(self):
        try:
            deadline = datetime.fromisoformat(self.start_deadline_at.replace("Z", "+00:00")).timestamp()
            body = {"worker_id": WORKER_ID, "code_version": self.code_version, "worker_started_at": instant()}
            status, started = self.post("started", body, deadline)
            if status != 200:  # Another execution has it, or nobody knows: the code must not run.
                return print(f"{self.attempt_id} is dropped: started was answered with {status}.", flush=True)
            beats = threading.Thread(target=self.beat, args=(started["heartbeat_interval_ms"] / 1000,), daemon=True)
            beats.start()
            if self.timeout_ms is not None:
                timer = threading.Timer(self.timeout_ms / 1000, self.stopped.set)
                timer.daemon = True
                timer.start()
            outcome = self.outcome()
            if self.lines and not self.conflict:  # A large log would go in several chunks, while the code runs.
                self.post("logs", {"chunk": 0, "lines": self.lines[:5000]}, time.time() + 10)
            self.ended.set()
            beats.join()
            if not self.conflict and self.report(outcome) in (400, 413):
                message = "The code ended, and what the worker said of it was refused."
                self.report({"outcome": "FAILED", "error": {"code": "REPORT_REFUSED", "message": message}})
        finally:
            self.finished(self.attempt_id)

    def report(self, outcome):
        body = {**outcome, "code_version": self.code_version, "worker_finished_at": instant()}
        return self.post("completed", body, time.time() + 120)[0]

    def beat(self, interval):
        seq = 0
        while not self.ended.wait(max(0.02, min(interval, self.heartbeat_timeout_ms / 3000))):
            status, answer = self.post("heartbeat", {"seq": seq, "progress": self.progress})
            seq += 1
            if status == 409 or answer.get("cancel"):
                self.cancelled, self.conflict = True, status == 409
                self.stopped.set()
                if self.conflict:  # Somebody else has the attempt: not a word more.
                    return

    def outcome(self):
        try:
            result = self.run_code(self) or {}
            if self.cancelled:
                return {"outcome": "CANCELLED"}
            if self.stopped.is_set():
                return {"outcome": "FAILED", "error": {"code": "TIMEOUT", "message": "The code ran for longer than its timeout."}}
            return {"outcome": "SUCCEEDED", "materialization_id": ulid(), **result}
        except Skip as reason:
            return {"outcome": "SKIPPED", "skip_reason": str(reason)}
        except BaseException as error:
            if self.cancelled:
                return {"outcome": "CANCELLED"}
            code, retryable = getattr(error, "code", None), getattr(error, "retryable", None)
            failure = {"code": code if isinstance(code, str) else type(error).__name__, "message": str(error)[:500],
                       "stack": traceback.format_exc()}
            return {"outcome": "FAILED", "error": failure if retryable is None else {**failure, "retryable": retryable}}
