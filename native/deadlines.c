/* The lifeline and the deadlines of attempts. */
#include "launcher.h"

#include <limits.h>
#include <unistd.h>

static uint64_t read_lifeline(void) {
  uint64_t instant[2];
  for (int tries = 0; tries < 100; tries++) {
    if (pread(LIFELINE, instant, sizeof instant, 0) != sizeof instant) return 0;
    /* A concurrent write shows as two different values. */
    if (instant[0] == instant[1]) return instant[0];
  }
  return 0;
}

bool is_lifeline_held(void) {
  uint64_t instant = (uint64_t)now();
  if (launcher.lifeline <= instant) launcher.lifeline = read_lifeline();
  return launcher.lifeline > instant;
}

void check_deadlines(void) {
  int64_t instant = now();
  for (struct attempt *a = launcher.attempts, *next; a; a = next) {
    next = a->next;
    if (instant >= a->deadline) {
      a->deadline = NEVER;
      /* An attempt that was stopped for another reason has not timed out. */
      a->has_timed_out = !a->was_stopped;
      stop_attempt(a, a->grace_ms);
    }
    if (instant >= a->kill_at) kill_attempt(a);
    if (instant >= a->output_until && a->is_swept) {
      for (int i = 0; i < 2; i++) close_source(&a->out[i]);
      report_if_ended(a);
    } else if (instant >= a->sweep_until) {
      abandon_sweep(a);
    } else if (instant >= a->sweep_again) {
      sweep(a);
    }
  }
  /* The lifeline may have been renewed since the last read. */
  if (launcher.attempts && !is_lifeline_held())
    for (struct attempt *a = launcher.attempts; a; a = a->next)
      if (!a->has_exited && !a->has_lease_expired) a->has_lease_expired = true, kill_attempt(a);
}

int ms_until_next_deadline(void) {
  int64_t next = NEVER;
  for (struct attempt *a = launcher.attempts; a; a = a->next) {
    const int64_t instants[] = {a->deadline, a->kill_at, a->is_swept ? a->output_until : NEVER, a->sweep_until, a->sweep_again,
                                a->has_exited || a->has_lease_expired ? NEVER : (int64_t)launcher.lifeline};
    for (size_t i = 0; i < sizeof instants / sizeof *instants; i++)
      if (instants[i] < next) next = instants[i];
  }
  if (next == NEVER) return -1;
  int64_t ms = (next - now()) / MS + 1;
  return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}
