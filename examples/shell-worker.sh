#!/bin/sh
# A worker in sh and curl: takes jobs, runs them, says how they went.    shell-worker.sh NAME [URL]
name=$1 url=${2:-http://127.0.0.1:7420}
ask() { curl -fsS ${PUNCTUAL_TOKEN:+-H "Authorization: Bearer $PUNCTUAL_TOKEN"} "$@"; }
post() { ask -H 'Content-Type: application/json' -d @- "$url$1" > /dev/null; }
text() { # what was printed, as text of JSON
  iconv -c -t utf-8 | sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g' | tr -d '\000-\011\013-\037' |
    awk '{ printf "%s\\n", $0 }'
}
echo "{\"worker_id\":\"$name\"}" | post /workers/register || exit 1
while sleep 5; do echo "{\"worker_id\":\"$name\"}" | post /workers/heartbeat; done & beat=$!
trap 'kill $beat; exit' INT TERM
while :; do
  job=$(ask "$url/workers/$name/next?wait=5s") || sleep 1
  id=$(echo "$job" | sed -n 's/^{"id":\([0-9]*\),.*/\1/p')
  [ -n "$id" ] || continue
  command=$(printf '%s' "$job" | sed 's/.*"command":"\(.*\)","schedule":.*/\1/; s/\\"/"/g')
  logs=$(printf '%b' "$command" | sh 2>&1) && status=success || status=failure
  printf '{"worker_id":"%s","status":"%s","logs":"%s"}' \
    "$name" "$status" "$(printf '%s\n' "$logs" | text)" | post "/jobs/$id/log"
done
