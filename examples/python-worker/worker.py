"""A Servo worker with the standard library alone, as docs/worker-protocol.md says. conformance.py shows how to use it."""
import hashlib, hmac, json, os, re, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from attempt import NEEDED, Attempt

ASSETS = {}
SLOTS = 8
BODY_BYTES_MAX = 32 * 1024 * 1024


def asset(key, code_version=None):
    """Decorates the function that makes an asset: it takes an Attempt, and returns {"metadata": ..., "data_version": ...} or nothing."""
    def register(run):
        ASSETS[key] = (run, code_version)
        return run
    return register


def signature_fault(keys, header, body):
    found = re.fullmatch(r"t=(\d{1,12}),k=([^,=]{1,100}),v1=([0-9a-f]{64})", header or "")
    if not found or found[2] not in keys:
        return "The request has no signature of a key that is known here."
    mac = hmac.new(keys[found[2]].encode(), found[1].encode() + b"." + body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(mac, found[3]):
        return "The signature of the request is wrong."
    return "The signature of the request is older than five minutes." if abs(time.time() - int(found[1])) > 300 else None


def faults_of(request):
    if not isinstance(request, dict) or request.get("protocol") != "servo-worker-v1":
        return [{"path": "protocol", "message": 'Give it "servo-worker-v1".'}]
    if not isinstance(request.get("dispatches"), list) or not request["dispatches"]:
        return [{"path": "dispatches", "message": "Give it a list of dispatches."}]
    return [{"path": f"dispatches[{i}].{name}", "message": "It is missing."}
            for i, each in enumerate(request["dispatches"]) for name in NEEDED if name not in each]


def serve(location_name, host="127.0.0.1", port=0):
    keys = dict(entry.split(":", 1) for entry in os.environ.get("SERVO_WORKER_SECRETS", "").split(",") if entry)
    attempts, lock = {}, threading.Lock()

    def take(dispatch):
        attempt_id, key = dispatch["attempt_id"], dispatch["asset_key"]
        refuse = lambda code, message: {"attempt_id": attempt_id, "answer": "REFUSED", "error": {"code": code, "message": message}}
        with lock:
            if attempt_id in attempts:
                return {"attempt_id": attempt_id, "answer": "ACCEPTED"}
            if dispatch["location_name"] != location_name:
                return refuse("OTHER_LOCATION", f"This worker serves the code location {location_name}.")
            if key not in ASSETS:
                return refuse("UNKNOWN_ASSET", f"The code location {location_name} has no asset {key} in this worker.")
            if len(attempts) >= SLOTS:
                return {"attempt_id": attempt_id, "answer": "BUSY"}
            attempts[attempt_id] = Attempt(dispatch, *ASSETS[key], finished=attempts.pop)
            attempts[attempt_id].start()
            return {"attempt_id": attempt_id, "answer": "ACCEPTED"}

    class Handler(BaseHTTPRequestHandler):
        protocol_version, log_message = "HTTP/1.1", lambda *_: None

        def answer(self, body, status=200):
            data = json.dumps({"type": "about:blank", "status": status, **body} if status != 200 else body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json" if status == 200 else "application/problem+json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            if self.path == "/healthz":
                return self.answer({"status": "ok", "location_name": location_name, "running": len(attempts), "slots": SLOTS})
            self.answer({"title": "Not found", "detail": f"There is no {self.path} here."}, 404)

        def do_POST(self):
            size = int(self.headers.get("Content-Length", 0))
            if size > BODY_BYTES_MAX:
                self.close_connection = True
                return self.answer({"title": "Too large", "detail": "Send fewer dispatches in one request."}, 413)
            body = self.rfile.read(size)
            if self.path != "/servo/v1/dispatch":
                return self.answer({"title": "Not found", "detail": f"There is no {self.path} here."}, 404)
            fault = signature_fault(keys, self.headers.get("servo-signature"), body) if keys else None
            if fault:
                return self.answer({"title": "Not signed", "detail": fault}, 401)
            try:
                request = json.loads(body)
            except ValueError:
                return self.answer({"title": "Bad request", "detail": "The body is no JSON."}, 400)
            errors = faults_of(request)
            if errors:
                return self.answer({"title": "Bad request", "detail": "The body is no DispatchRequest.", "errors": errors}, 400)
            self.answer({"answers": [take(each) for each in request["dispatches"]]})

    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    print(f"http://{host}:{server.server_port}", flush=True)
    server.serve_forever()
