#!/bin/sh
# The REST scheduler with worker nodes, by nothing but curl. Needs a server without workers of its own, whose compat
# workers may be silent for some seconds only.    URL=http://127.0.0.1:7420 [TOKEN=…] s1.sh
. "$(dirname "$0")/lib.sh"

# Jobs
call POST /jobs '{"name":"Say hello","command":"echo hello"}'
check 'a job is accepted' "$status" 201
job=$(field id)
check 'its id is a number' "$(printf %s "$job" | tr -d 0-9)" ''
check 'it has its name' "$(field name)" 'Say hello'
check 'it has its command' "$(field command)" 'echo hello'
check 'it has no schedule' "$(field schedule)" null
check 'it has a time of creation' "$(field created_at | cut -c1-2)" 20
call POST /jobs '{"name":"Say hello","command":"echo again"}'
second=$(field id)
check 'names may repeat' "$status" 201
call GET /jobs
check 'jobs are listed, newest first' "$(field id)" "$second"
call GET "/jobs/$job"
check 'a job that nobody has taken is pending' "$(field status)" pending
check 'and has no last run' "$(field last_run)" null
call GET /jobs/999999
check 'a job that is not there is not found' "$status" 404

# A worker
call GET /workers/w1/next
check 'a worker must register first' "$status" 404
call POST /workers/register '{"worker_id":"w1"}'
check 'a worker registers' "$status" 200
check 'and is active' "$(field status)" active
check 'and was just seen' "$(field last_seen | cut -c1-2)" 20
call POST /workers/heartbeat '{"worker_id":"w1"}'
check 'its heartbeat is heard' "$status" 200
call GET /workers/w1/next
check 'it is given the first job' "$(field id)" "$job"
run=$(field run_id)
call GET /workers/w1/next
check 'and again, while it has not finished it' "$(field run_id)" "$run"
call GET "/jobs/$job"
check 'the job is running' "$(field status)" running
call POST "/jobs/$job/log" '{"worker_id":"w1","logs":"hel","status":"running"}'
check 'logs are appended' "$status" 200
call POST "/jobs/$job/log" '{"worker_id":"w1","logs":"lo\n","status":"success"}'
check 'a report ends it' "$status" 200
call GET "/jobs/$job"
check 'the job has succeeded' "$(field status)" succeeded
check 'its last run is that of the worker' "$(field worker_id)" w1
check 'its last run is the one that was taken' "$(field run_id)" "$run"
check 'its logs are whole' "$(field logs)" 'hello\n'
check 'its last run has ended' "$(field end_time | cut -c1-2)" 20
call POST "/jobs/$job/log" '{"worker_id":"w1","logs":"","status":"success"}'
check 'nobody reports a job that is not in hand' "$status" 409
call GET /workers/w1/next
check 'it is given the second job' "$(field id)" "$second"
call POST "/jobs/$second/log" '{"worker_id":"w1","logs":"oh\n","status":"failed"}'
call GET "/jobs/$second"
check 'a job may fail' "$(field status)" failed
call GET /workers/w1/next
check 'an empty answer is 204' "$status" 204
call GET '/workers/w1/next?empty=json'
check 'or JSON, for workers that ask for it' "$status $answer" '200 {"job":null}'

# A worker of the original MVP: it reads {"job": …} and sends an exit code.
mvp() {
  call POST /jobs '{"name":"Original","command":"exit 4"}'
  original=$(field id)
  call GET '/workers/w1/next?empty=json'
  check 'a job comes with its fields first' "$(field id)" "$original"
  answer=${answer#*'"job":'}
  check 'and with the same fields under "job"' "$(field id) $(field command)" "$original exit 4"
  call POST "/jobs/$original/log" "{\"worker_id\":\"w1\",\"logs\":\"\",\"status\":\"$1\",\"exit_code\":$2}"
  check "exit code $2 is accepted" "$status" 200
  call GET "/jobs/$original"
  check "exit code $2 is kept" "$(field exit_code)" "$2"
}
mvp failed 4
mvp failed -1
mvp success 0
mvp failed null

# Failover
call POST /jobs '{"name":"Fragile","command":"sleep 1"}'
fragile=$(field id)
call GET /workers/w1/next
check 'a worker takes a job and falls silent' "$(field id)" "$fragile"
call POST /workers/register '{"worker_id":"w2"}'
taken_over() {
  call GET /workers/w2/next
  [ "$status" = 200 ]
}
eventually 'another worker gets the job' taken_over
check 'it is the same job' "$(field id)" "$fragile"
check 'as another attempt' "$(field attempt)" 2
call POST "/jobs/$fragile/log" '{"worker_id":"w1","logs":"late","status":"success"}'
check 'the late report of the silent worker is refused' "$status" 409
call POST "/jobs/$fragile/log" '{"worker_id":"w2","logs":"done\n","status":"succeeded"}'
check 'that of the other is taken' "$status" 200
call GET "/jobs/$fragile"
check 'what the job printed is from the other' "$(field logs)" 'done\n'

# Schedules
call POST /jobs '{"name":"Tick","command":"echo tick","schedule":"@every 1s"}'
tick=$(field id)
check 'a job may have a schedule' "$(field schedule)" '@every 1s'
ticked() {
  call GET /workers/w2/next
  [ "$(field id)" = "$tick" ] || return 1
  call POST "/jobs/$tick/log" '{"worker_id":"w2","logs":"tick\n","status":"success"}'
  [ "$status" = 200 ]
}
eventually 'it fires' ticked
eventually 'and again' ticked
between_runs() {
  call GET "/jobs/$tick"
  [ "$(field status)" = pending ]
}
eventually 'between runs it is pending, although its last run has succeeded' between_runs
check 'its last run is shown all the same' "$(printf '%s' "$answer" | grep -c '"status":"success"')" 1
call POST /jobs '{"name":"Never","command":"true","schedule":"61 * * * *"}'
check 'a schedule that means nothing is refused' "$status $(field field)" '422 schedule'

finish
