#!/bin/sh
# The production service set, by nothing but curl. Needs a server with a worker.
# URL=http://127.0.0.1:7420 [TOKEN=… PROJECT=…] s4.sh
. "$(dirname "$0")/lib.sh"
project=${PROJECT:-shop}

# PAYLOAD [MORE FIELDS]
submit() {
  call POST /submit "{\"project_id\":\"$project\",\"payload\":\"$1\"${2:+,$2}}"
}
# ID STATUS
stands() {
  call GET "/job?id=$1"
  [ "$(field status)" = "$2" ]
}
# ID COUNT: at least COUNT of its runs have ended.
has_run() {
  call GET "/job?id=$1"
  [ "$(printf '%s' "$answer" | tr ',' '\n' | grep -c '"completed_at":"')" -ge "$2" ]
}

UUID=xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx

USER_ID=
submit 'cmd:echo anybody'
if [ -n "${TOKEN:-}" ]; then
  check 'with a token, the user must be named' "$status $(field field)" '400 X-User-ID'
else
  check 'without tokens, nobody has to name a user' "$status" 201
  call GET "/job?id=$(field job_id)"
  check 'the job is that of anonymous' "$(field user_id)" anonymous
fi
USER_ID=ada

# Immediate
submit 'cmd:echo one\necho two >&2'
check 'a command is accepted' "$status" 201
check 'it is Submitted' "$(field status)" Submitted
check 'with a message' "$([ -n "$(field message)" ] && echo yes)" yes
now=$(field job_id)
check 'its id is a UUID' "$(printf %s "$now" | tr 0-9a-f x)" $UUID
eventually 'it succeeds' stands "$now" succeeded
check 'it has its user' "$(field user_id)" ada
check 'it has its project' "$(field project_id)" "$project"
check 'it has its payload' "$(field payload)" 'cmd:echo one\necho two >&2'
check 'what it printed is there' "$(field output)" 'one\ntwo\n'
check 'nothing went wrong' "$(field error_message)" null
run=$(field run_id)
check 'the id of its run is a UUID' "$(printf %s "$run" | tr 0-9a-f x)" $UUID
IN_PROJECT=$project
call GET "/v1/runs/$run"
check 'the native API accepts it too' "$status $(field state)" '200 succeeded'
call GET "/v1/runs/$run/logs/raw"
check 'also for the log' "$(printf %s "$answer")" "$(printf 'one\ntwo')"
IN_PROJECT=
USER_ID=
call GET "/job?id=$now"
check 'a job is shown to callers that name no user' "$status $(field user_id)" '200 ada'
USER_ID=ada
submit '{\"order\":17}'
data=$(field job_id)
eventually 'a payload that is no command is handed on' stands "$data" succeeded
check 'as it is' "$(field output)" '{\"order\":17}'
submit 'cmd:exit 3' '"max_retries":1'
bad=$(field job_id)
eventually 'a command may fail' stands "$bad" failed
check 'with its retries' "$(field max_retries)" 1
check 'and says why' "$([ "$(field error_message)" != null ] && echo yes)" yes

# Scheduled
submit 'cmd:true' '"next_fire_at":"2999-01-01T09:00:00+01:00"'
later=$(field job_id)
call GET "/job?id=$later"
check 'a job of the future waits' "$(field status)" pending
check 'for its time' "$(field next_fire_at)" 2999-01-01T08:00:00.000Z
soon=$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)
submit 'cmd:true' "\"next_fire_at\":\"$soon\""
soon=$(field job_id)
eventually 'a job of the near future runs then' stands "$soon" succeeded

# Recurring
submit 'cmd:echo tick' '"cron_schedule":"@every 1s"'
tick=$(field job_id)
eventually '@every 1s runs again and again' has_run "$tick" 2
check 'its schedule is shown' "$(field cron_schedule)" '@every 1s'
check 'and its next time' "$(field next_fire_at | cut -c1-2)" 20
eventually 'between runs it is pending' stands "$tick" pending
submit 'cmd:exit 3' '"cron_schedule":"@yearly","next_fire_at":"2001-01-01T00:00:00Z"'
yearly=$(field job_id)
eventually 'a recurring job runs now if its first time has passed' has_run "$yearly" 1
check 'and waits for the next time, whether or not it failed' "$(field status)" pending
check 'its runs say how they ended' "$(printf '%s' "$answer" | sed 's/.*"runs"//' | grep -c '"status":"failed"')" 1
submit 'cmd:true' '"cron_schedule":"*/1 * * * * *"'
eventually 'cron has seconds' has_run "$(field job_id)" 1
submit 'cmd:true' '"cron_schedule":"@daily","next_fire_at":"2998-06-15T10:20:30Z"'
call GET "/job?id=$(field job_id)"
check 'the first time may be another' "$(field next_fire_at)" 2998-06-15T10:20:30.000Z
submit 'cmd:true' '"cron_schedule":"@weekly"'
call GET "/job?id=$(field job_id)"
check '@weekly waits for its day' "$(field status)" pending
submit 'cmd:true' '"cron_schedule":"* * *"'
check 'cron of three fields is refused' "$status $(field field)" '422 cron_schedule'

# Users
call GET /jobs
check 'a user lists jobs' "$(printf '%s' "$answer" | grep -o '"user_id":"[^"]*"' | sort -u)" '"user_id":"ada"'
USER_ID=grace
call GET /jobs
check 'and sees none of others' "$answer" '[]'
call GET "/job?id=$now"
check 'not even by id' "$status" 404
submit 'cmd:true'
mine=$(field job_id)
call GET /jobs
check 'but those of their own' "$(field job_id)" "$mine"

finish
