"""A Punctual worker in the Python standard library, from docs/reference/worker-protocol.md alone."""
import json, os, signal, subprocess, sys, tempfile, time, urllib.error, urllib.request

URL, TOKEN, NAME, SLOTS = sys.argv[1], sys.argv[2], sys.argv[3], 4
PROTOCOL = [int(version) for version in sys.argv[4:]] or [1, 2]
session, secret, registration, registered, deadline = None, None, 0, False, 0.0
running, finished, forsaken = {}, {}, []  # attempts under way and reports not yet accepted, by run

def post(path, body):
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"}
    if secret: headers["Punctual-Session-Secret"] = secret
    request = urllib.request.Request(URL + "/v1/workers" + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=2) as answer: return json.loads(answer.read())

def pairs(*groups): return [{"run": a["run"], "fence": a["fence"]} for g in groups for a in g.values()]

def start(attempt):
    work, out = attempt["work"], tempfile.TemporaryFile()
    argv = work["argv"] if work["executor"] == "argv" else ["/bin/sh", "-c", work["run"]]
    env = {**os.environ, **work.get("env", {}), "PUNCTUAL_RUN_ID": attempt["run"]}
    child = subprocess.Popen(argv, env=env, start_new_session=True, stdout=out, stderr=out)
    running[attempt["run"]] = {**attempt, "child": child, "out": out, "outcome": "failed"}

def stop(run, how, outcome):
    if run in running: os.killpg(running[run]["child"].pid, how); running[run]["outcome"] = outcome

def drop(runs):
    for run in runs: stop(run, signal.SIGKILL, "lost"); running.pop(run, None); finished.pop(run, None)

def reap(attempt, code):
    attempt["out"].seek(0); printed = attempt["out"].read()
    process = {"exit_code": code} if code >= 0 else {}
    if printed: process["output"] = {"chunks": 1, "bytes": len(printed), "last": [[0, 1, printed.decode("utf-8", "surrogateescape")]]}
    done = {"run": attempt["run"], "fence": attempt["fence"], "process": process}
    done["outcome"] = "succeeded" if code == 0 else attempt["outcome"]
    if done["outcome"] == "failed": done["cause"] = "exit" if code > 0 else "signal"
    finished[attempt["run"]] = done; del running[attempt["run"]]

while True:
    for attempt in list(running.values()):
        if attempt["child"].poll() is not None: reap(attempt, attempt["child"].returncode)
    if time.monotonic() > deadline: forsaken += pairs(running); drop(list(running)); registered = False
    try:
        sent = time.monotonic()
        if not registered:
            registration, known = (registration + 1, {"session": session}) if session else (1, {})
            offer = {"name": NAME, "queues": ["default"], "labels": {}, "executors": ["shell", "argv"], "slots": SLOTS, "protocol": PROTOCOL}
            hello = post("", {**offer, **known, "registration": registration, "held": pairs(running, finished), "forsaken": forsaken})
            session, secret = hello["session"], hello.get("session_secret", secret)
            registered, number, answered, message, forsaken = True, 0, 0, None, []
        if hello or sent > beat_at:
            beat = hello or post(f"/{session}/heartbeat", {"registration": registration, "answered": answered, "held": pairs(running, finished)})
            ttl, period = (hello["lease_ttl_ms"] / 1000, hello["heartbeat_ms"] / 1000) if hello else (ttl, period)
            deadline, beat_at, hello = max(deadline, sent + 0.95 * ttl - 1), sent + period, None
            forsaken += [one for one in pairs(running) if one["run"] in beat["lost"]]; drop(beat["lost"])
            for run in beat.get("cancels", []): stop(run, signal.SIGTERM, "cancelled")
        if not message and (finished or len(running) < SLOTS):
            number, free = number + 1, SLOTS - len(running)
            message = {"registration": registration, "number": number, "answered": answered, "done": list(finished.values()), "free": free, "wait_ms": 0 if finished else 200}
        answer = post(f"/{session}/exchange", message) if message else time.sleep(0.05)
        if not answer or time.monotonic() > deadline: continue
        for item in message["done"]: finished.pop(item["run"], None)
        answered, message = number, None
        for run in answer["runs"]: run["run"] in running or run["run"] in finished or start(run)
    except urllib.error.HTTPError as error:
        if error.code == 404 and not registered: forsaken += pairs(running); drop(list(running)); session = secret = None
        registered &= error.code not in (404, 409); time.sleep(0.1)
    except Exception: time.sleep(0.1)
