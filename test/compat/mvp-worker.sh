#!/bin/sh
# A worker as the original MVP had it: registering must answer 200, `next` must be 200 with {"job": …} or
# {"job": null}, and a report carries the exit code. It ends at the first answer that is anything else.
# mvp-worker.sh NAME URL
name=$1 url=$2
ask() { curl -sS -w '\n%{http_code}' -H 'Content-Type: application/json' "$@"; }
# ANSWER: its body; ends the worker unless its status is 200.
body() {
  [ "${1##*
}" = 200 ] || { printf 'not 200: %s\n' "$1" >&2; kill $$; }
  printf '%s' "${1%
*}"
}
body "$(ask "$url/workers/register" -d "{\"worker_id\":\"$name\"}")" > /dev/null
while :; do
  answer=$(body "$(ask "$url/workers/$name/next")")
  case $answer in
    '{"job":null}') sleep 0.2 && continue ;;
    *'"job":{'*) job=${answer#*'"job":'} ;;
    *) printf 'no job in %s\n' "$answer" >&2 && exit 1 ;;
  esac
  id=$(printf '%s' "$job" | sed 's/^{"id":\([0-9]*\),.*/\1/')
  command=$(printf '%s' "$job" | sed 's/.*"command":"\(.*\)","schedule":.*/\1/; s/\\"/"/g')
  logs=$(printf '%b' "$command" | sh 2>&1)
  code=$?
  [ $code -eq 0 ] && status=success || status=failure
  body "$(ask "$url/jobs/$id/log" -d "{\"worker_id\":\"$name\",\"logs\":\"$logs\",\"status\":\"$status\",\"exit_code\":$code}")" > /dev/null
done
