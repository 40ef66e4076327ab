# Shared by both scripts: requests, fields of answers, and checks.
set -u
failures=0

# METHOD PATH [BODY]: leaves the answer in $answer and its status in $status.
call() {
  method=$1 path=$2
  shift 2
  answer=$(curl -sS -X "$method" "$URL$path" -w '\n%{http_code}' \
    ${TOKEN:+-H "Authorization: Bearer $TOKEN"} ${USER_ID:+-H "X-User-ID: $USER_ID"} \
    ${IN_PROJECT:+-H "Punctual-Project: $IN_PROJECT"} \
    ${1:+-H 'Content-Type: application/json' -d "$1"})
  status=${answer##*
}
  answer=${answer%
*}
}

# NAME: the first field of that name in the answer, without its quotes.
field() {
  printf '%s' "$answer" | sed -n "s/\"$1\":/\n&/; s/^[^\n]*\n\"$1\"://p" |
    sed -n 's/^"\(\([^"\\]\|\\.\)*\)".*/\1/p; s/^\([^",}]*\).*/\1/p' | head -n 1
}

# SENTENCE FOUND EXPECTED
check() {
  if [ "$2" = "$3" ]; then
    printf 'ok    %s\n' "$1"
  else
    printf 'FAIL  %s: found "%s", expected "%s"\n      %s\n' "$1" "$2" "$3" "$answer"
    failures=$((failures + 1))
  fi
}

# SENTENCE COMMAND…: tries until it succeeds, for a minute at most.
eventually() {
  sentence=$1 tries=0
  shift
  until "$@"; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ]; then
      check "$sentence" "never" "eventually"
      return
    fi
    sleep 0.2
  done
  printf 'ok    %s\n' "$sentence"
}

finish() {
  [ "$failures" -eq 0 ] || exit 1
}
