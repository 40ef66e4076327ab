"""A Punctual worker in the Python standard library, from docs/reference/worker-protocol.md alone."""
import json, os, signal, subprocess, sys, threading, time, urllib.error, urllib.request

URL, TOKEN, NAME, SLOTS = sys.argv[1], sys.argv[2], sys.argv[3], 4
lock, held, finished, forsaken = threading.RLock(), {}, {}, []
me = {"session": None, "registration": 0, "answered": 0, "deadline": 0.0}

def post(path, body, timeout=5):
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"}
    request = urllib.request.Request(URL + "/v1/workers" + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=timeout) as answer: return json.loads(answer.read())

def pairs(attempts): return [{"run": a["run"], "fence": a["fence"]} for a in attempts.values()]

def stop(attempt, why, with_signal):
    attempt["why"] = attempt.get("why") or why
    if attempt.get("pid"): os.killpg(attempt["pid"], with_signal)

def perform(attempt):
    work = attempt["work"]
    argv = work["argv"] if work["executor"] == "argv" else ["/bin/sh", "-c", work["run"]]
    env = {**os.environ, **work.get("env", {}), "PUNCTUAL_RUN_ID": attempt["run"]}
    child = subprocess.Popen(argv, env=env, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    attempt["pid"] = child.pid
    printed = child.communicate()[0]
    output = {"chunks": 1, "bytes": len(printed), "last": [[0, 1, printed.decode("utf-8", "surrogateescape")]]}
    done = {"run": attempt["run"], "fence": attempt["fence"], "process": {"output": output} if printed else {}}
    done["outcome"] = "succeeded" if child.returncode == 0 else attempt.get("why") or "failed"
    if done["outcome"] == "failed": done["cause"] = "exit" if child.returncode > 0 else "signal"
    if child.returncode >= 0: done["process"]["exit_code"] = child.returncode
    with lock:
        if held.get(attempt["run"]) is attempt: finished[held.pop(attempt["run"])["run"]] = done

def renew(sent, ttl_ms): me["deadline"] = max(me["deadline"], sent + ttl_ms * 0.95 / 1000 - 1)

def register():
    me["registration"] = me["registration"] + 1 if me["session"] else 1
    hello = {"name": NAME, "queues": ["default"], "labels": {}, "executors": ["shell", "argv"], "slots": SLOTS, "protocol": [1]}
    sent, known = time.monotonic(), {"session": me["session"]} if me["session"] else {}
    welcome = post("", {**hello, **known, "registration": me["registration"], "held": pairs({**held, **finished}), "forsaken": forsaken})
    me.update(session=welcome["session"], answered=0); renew(sent, welcome["lease_ttl_ms"]); forsaken.clear()
    with lock:
        for run in welcome["lost"]: stop(held.pop(run, {}), "lost", signal.SIGKILL); finished.pop(run, None)
    threading.Thread(target=beat, args=(me["registration"], welcome), daemon=True).start()

def beat(registration, welcome):
    while time.sleep(welcome["heartbeat_ms"] / 1000) or registration == me["registration"]:
        with lock: sent, body = time.monotonic(), {"registration": registration, "answered": me["answered"], "held": pairs({**held, **finished})}
        try: answer = post(f"/{me['session']}/heartbeat", body)
        except Exception: continue
        with lock:
            renew(sent, welcome["lease_ttl_ms"])
            for run in answer["lost"]: stop(held.pop(run, {}), "lost", signal.SIGKILL)
            for run in answer["cancels"]: stop(held.get(run, {}), "cancelled", signal.SIGTERM)

def exchange(number):
    with lock: done, free = list(finished.values()), SLOTS - len(held)
    body = {"registration": me["registration"], "number": number, "answered": me["answered"], "done": done, "free": free, "wait_ms": 0 if done else 300}
    while time.monotonic() < me["deadline"]:
        try: answer = post(f"/{me['session']}/exchange", body, 11)
        except urllib.error.HTTPError as error:
            if error.code in (404, 409): return False
        except Exception: time.sleep(0.1)
        else: break
    with lock:
        if time.monotonic() > me["deadline"]: return False
        me["answered"] = number
        for item in done: finished.pop(item["run"], None)
        for run in answer["runs"]:
            if run["run"] not in held: held[run["run"]] = run; threading.Thread(target=perform, args=(run,), daemon=True).start()
    return free > 0 or time.sleep(0.1) is None

while True:
    try: register()
    except Exception: time.sleep(0.2); continue
    number = 1
    while exchange(number): number += 1
    with lock:
        if time.monotonic() > me["deadline"]:
            forsaken += pairs(held)
            for attempt in list(held.values()): held.pop(attempt["run"]); stop(attempt, "lost", signal.SIGKILL)
