"""A Servo worker, as docs/worker-protocol.md says, by the standard library alone. conformance.py shows its use."""
import hmac, http.server, itertools, json, os, random, re, secrets, signal, threading, time, traceback, urllib.request
from urllib.parse import unquote, urlsplit
from datetime import datetime, timezone

PROTOCOL, ASSETS, TAKING, DRAINING = "servo-worker-v1", {}, threading.Lock(), threading.Event()
TIMED_OUT = {"error": {"code": "TIMEOUT", "message": "The code ran for longer than its timeout."}}
# As `servo worker secret` prints them. The code of assets finds them in no variable of its environment.
KEYS = dict(entry.split(":", 1) for entry in os.environ.pop("SERVO_WORKER_SECRETS", "").split(",") if entry)
APIS = [urlsplit(url.rstrip("/") + "/") for url in os.environ.get("SERVO_API_URL", "http://127.0.0.1:7800").split(",")]
NEEDED = ("run_id task_key attempt attempt_id asset_key location_name partition_keys upstream callback_url task_token "
          "start_deadline_at heartbeat_timeout_ms timeout_ms sequence").split()

def asset(key, code_version=None):
    """Decorates an asset's code, which takes an Attempt and returns metadata, data_version, skip_reason, or nothing."""
    return lambda code: ASSETS.setdefault(key, (code, code_version))[0]

def error(code, message, **more): return {"error": {"code": code, "message": message, **more}}
def refusal(code, message): return {"answer": "REFUSED", **error(code, message)}
def instant(): return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
def attempts(): return [each for each in threading.enumerate() if isinstance(each, Attempt)]
def in_background(work): threading.Thread(target=work, daemon=True).start()
def ulid():
    number = int(time.time() * 1000) << 80 | secrets.randbits(80)
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[number >> 5 * i & 31] for i in range(25, -1, -1))

class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None  # It would take the token of the attempt elsewhere.

CALLS = urllib.request.build_opener(NoRedirect)

class Attempt(threading.Thread):
    """What the code of an asset is given. As a thread it asks whether the code may run, and reports how that ended."""
    def __init__(self, dispatch):
        super().__init__(daemon=True)
        self.__dict__.update({name: dispatch[name] for name in NEEDED})
        self.code, self.code_version = ASSETS[self.asset_key]
        self.ids = {"execution_id": ulid(), "sequence": self.sequence}
        self.lines, self.progress, self.outcome = [], None, None
        self.stopped, self.ended = threading.Event(), threading.Event()  # The code is to stop. Nobody waits for it now.

    def log(self, message, level="INFO", **fields):
        self.lines.append({"at": instant(), "level": level, "message": message, **(fields and {"fields": fields})})

    def end(self, outcome, **said):
        """By the code, a cancel, the time-out or a drain: the first of them is reported. The code is asked to stop."""
        self.outcome = self.outcome or {"outcome": outcome, **said}
        self.stopped.set()

    def post(self, path, body, seconds=0):
        """Sends the same body until it is answered or the time is up. Answers the status (0: none) and the body."""
        data = json.dumps({**self.ids, **{k: v for k, v in body.items() if v is not None}}, default=str).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.task_token}"}
        delay, until = 0.1, time.monotonic() + seconds
        while True:
            try:
                request = urllib.request.Request(f"{self.callback_url}/{path}", data, headers)
                with CALLS.open(request, timeout=15) as answer:
                    return answer.status, json.load(answer)
            except (OSError, ValueError, http.client.HTTPException) as fault:  # Without a code it may have arrived.
                status, asked = getattr(fault, "code", 0), getattr(fault, "headers", {}).get("Retry-After", "0")
            if status == 409: raise SystemExit(self.end("CANCELLED"))  # It is another's, or over: not a word more.
            if 0 < status < 500 and status not in (408, 425, 429) or time.monotonic() + delay > until: return status, {}
            time.sleep(max(delay * random.uniform(0.5, 1), min(int(asked), 5) if asked.isdigit() else 0))
            delay = min(delay * 2, 5)

    def run(self):
        due = datetime.fromisoformat(self.start_deadline_at.replace("Z", "+00:00")).timestamp() - time.time()
        me, version = f"{os.uname().nodename}:{os.getpid()}", {"code_version": self.code_version}
        status, started = self.post("started", {"worker_id": me, "worker_started_at": instant(), **version}, due)
        if status != 200: return  # Nobody knows whether another execution has it: the code must not run.
        if started.get("cancel"): self.end("CANCELLED"), self.ended.set()
        elif not self.stopped.is_set(): in_background(self.run_code)
        in_background(lambda: self.ended.wait((self.timeout_ms or 0) / 1000 or None) or self.end("FAILED", **TIMED_OUT))
        seq, every_ms = itertools.count(), max(20, min(started["heartbeat_interval_ms"], self.heartbeat_timeout_ms / 3))
        while not self.ended.wait(every_ms / 1000):
            beat = {"seq": next(seq), "progress": self.progress}
            if self.post("heartbeat", beat)[1].get("cancel"): self.end("CANCELLED")
        if self.lines: self.post("logs", {"chunk": 0, "lines": self.lines[:5000]}, 10)  # Of a large log, the beginning.
        refused = {"outcome": "FAILED", **error("REPORT_REFUSED", "The report of how the code ended was refused.")}
        for outcome in (self.outcome, refused):
            body = {**outcome, **version, "worker_finished_at": instant()}
            if self.post("completed", body, 120)[0] not in (400, 413): return

    def run_code(self):
        try:
            said = dict(self.code(self) or {})
            made = {} if "skip_reason" in said else {"materialization_id": ulid()}
            self.end("SUCCEEDED" if made else "SKIPPED", **said, **made)
        except BaseException as thrown:
            more = {"retryable": thrown.retryable} if hasattr(thrown, "retryable") else {}
            code, stack = str(getattr(thrown, "code", type(thrown).__name__)), traceback.format_exc()[-16000:]
            self.end("FAILED", **error(code, str(thrown)[:500], stack=stack, **more))
        self.ended.set()

    def drain(self, grace):
        self.join(grace)
        self.end("RELEASED", **error("WORKER_DRAINED", "The worker was shut down before the code had ended."))
        self.ended.wait(5) or self.ended.set()  # Code that does not stop is not waited for.
        self.join(120)

def take(dispatch, location_name, slots):
    location, key, in_work = dispatch["location_name"], dispatch["asset_key"], [each.attempt_id for each in attempts()]
    if dispatch["attempt_id"] in in_work: return {"answer": "ACCEPTED"}  # It is not run a second time.
    if DRAINING.is_set() or len(in_work) >= slots: return {"answer": "BUSY"}
    if location != location_name: return refusal("OTHER_LOCATION", f"This worker serves the location {location_name}.")
    if key not in ASSETS: return refusal("UNKNOWN_ASSET", f"{location_name} has no asset {key} in this worker.")
    Attempt(dispatch).start()
    return {"answer": "ACCEPTED"}

def is_ours(url):  # Below the API: a step of dots, however it is encoded, could lead out of it.
    try: scheme, netloc, path, *_ = urlsplit(url)
    except (ValueError, TypeError, AttributeError): return False
    if {".", ".."} & set(unquote(path).replace("\\", "/").split("/")): return False
    return any((scheme, netloc) == (api.scheme, api.netloc) and path.startswith(api.path) for api in APIS)

def is_signed(header, body):  # Just now (v1), or until the second moment that it names (v2), as it was in a queue.
    found = re.fullmatch(r"t=(\d{1,12}),(e=(\d{1,12}),)?k=([^,=]{1,100}),v([12])=([0-9a-f]{64})", header or "")
    if not found or found[4] not in KEYS or (found[5] == "2") != bool(found[2]): return False
    if time.time() > int(found[3]) if found[2] else abs(time.time() - int(found[1])) > 300: return False
    signed = (f"v2.{found[1]}.{found[3]}." if found[2] else f"{found[1]}.").encode() + body
    return hmac.compare_digest(hmac.new(KEYS[found[4]].encode(), signed, "sha256").hexdigest(), found[6])

class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, code, **body):
        problem = {} if code == 200 else {"type": "about:blank", "title": "The request was refused", "status": code}
        self.send_response(code)
        self.send_header("Content-Type", "application/problem+json" if problem else "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({**problem, **body}).encode())

    def do_POST(self):
        size, word = int(self.headers.get("Content-Length", 0)), "draining" if DRAINING.is_set() else "ok"
        if self.path == "/healthz": return self.answer(200, status=word, running=len(attempts()), **self.served)
        if self.path != "/servo/v1/dispatch": return self.answer(404, detail=f"There is no {self.path} here.")
        if self.headers.get("Origin"): return self.answer(403, detail="A worker takes nothing from pages in a browser.")
        if size > 32 * 1024 * 1024: return self.answer(413, detail="Send fewer dispatches in one request.")
        body = self.rfile.read(size)
        if KEYS and not is_signed(self.headers.get("servo-location-signature"), body):
            return self.answer(401, detail="It has no signature of the last five minutes by a key that is known here.")
        try: request = dict(json.loads(body))
        except (ValueError, TypeError): request = {}
        errors = [] if request.get("protocol") == PROTOCOL else [{"path": "protocol", "message": f"Say {PROTOCOL}."}]
        errors += [{"path": f"dispatches[{i}].{name}", "message": "It is missing."}
                   for i, each in enumerate(request.get("dispatches") or [{}]) for name in NEEDED if name not in each]
        if errors: return self.answer(400, detail="The body is no DispatchRequest.", errors=errors)
        if not all(is_ours(one["callback_url"]) for one in request["dispatches"]):
            return self.answer(403, detail="This worker reports to the API of its SERVO_API_URL alone.")
        with TAKING:
            answers = [{"attempt_id": one["attempt_id"], **take(one, **self.served)} for one in request["dispatches"]]
        is_taken = all(each["answer"] == "ACCEPTED" for each in answers)  # A queue reads the status alone.
        self.answer(200 if is_taken or self.headers.get("servo-delivery") != "queue" else 429, answers=answers)
    do_GET = do_POST

def serve(location_name, host="127.0.0.1", port=0, slots=8, grace=30):
    """Until SIGTERM: then nothing new is taken, and what does not end within the grace (in seconds) is given back."""
    Handler.served = {"location_name": location_name, "slots": slots}
    server = http.server.ThreadingHTTPServer((host, port), Handler)
    in_background(server.serve_forever)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # It is an interrupt, too.
    try:
        print(f"http://{host}:{server.server_port}", flush=True)
        while True: time.sleep(0.2)  # A signal that came to another thread is noticed when this one wakes.
    except KeyboardInterrupt:
        with TAKING: DRAINING.set()
        for each in attempts(): threading.Thread(target=each.drain, args=[grace]).start()
