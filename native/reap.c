/* Ending an attempt: stop, kill, reap, sweep, report. */
#include "launcher.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>

void remove_attempt(struct attempt *attempt) {
  delete_files(attempt);
  for (int i = 0; i < 2; i++) close_source(&attempt->out[i]);
  close_source(&attempt->in);
  close_source(&attempt->oom);
  if (attempt->cgroup) release_cgroup(attempt->cgroup, attempt->limits & ~LIMIT_FILES);
  if (attempt->namespace) release_namespace(attempt->namespace);
  launcher.free_slots[launcher.free_count++] = attempt->slot;
  struct attempt **at = &launcher.attempts;
  while (*at && *at != attempt) at = &(*at)->next;
  if (*at) *at = attempt->next;
  /* Pending events of this epoll_wait() may still point to it; free_ended() frees it afterwards. */
  attempt->has_ended = true;
  attempt->next = launcher.ended;
  launcher.ended = attempt;
}

void free_ended(void) {
  while (launcher.ended) {
    struct attempt *attempt = launcher.ended;
    launcher.ended = attempt->next;
    free(attempt->input);
    free(attempt->run);
    free(attempt->fence);
    free(attempt->file);
    free(attempt->cwd);
    free(attempt);
  }
}

void kill_attempt(struct attempt *attempt) {
  attempt->was_stopped = true;
  attempt->kill_at = NEVER;
  if (attempt->limits & LIMIT_PIDS) attempt->refused_forks = count_refused_forks(attempt);
  if (attempt->namespace) command_init(attempt->namespace, INIT_KILL);
  else if (launcher.level == LEVEL_CGROUP) kill_cgroup(attempt->cgroup);
  else kill_descendants(attempt);
  /* Whatever failed above, the process is still a child of the launcher. */
  if (!attempt->has_exited) kill(attempt->pid, SIGKILL);
}

/* A later call can only shorten the grace. */
void stop_attempt(struct attempt *attempt, double grace_ms) {
  if (attempt->has_exited) return;
  if (!(grace_ms > 0)) return kill_attempt(attempt);
  /* Before setsid() the attempt is a single process. */
  if (!attempt->was_stopped && kill(-attempt->pid, SIGTERM) < 0) kill(attempt->pid, SIGTERM);
  attempt->was_stopped = true;
  int64_t kill_at = add_ms(now(), grace_ms);
  if (kill_at < attempt->kill_at) attempt->kill_at = kill_at;
}

void report_if_ended(struct attempt *attempt) {
  if (!attempt->has_exited || !attempt->is_swept || attempt->has_ended) return;
  if (attempt->out[0].fd >= 0 || attempt->out[1].fd >= 0) return;
  const struct failure *failure = &launcher.failures[attempt->slot];
  if (failure->stage != STAGE_NONE) {
    char text[PATH_MAX + 256];
    explain_failure(failure, attempt->file, attempt->cwd, text, sizeof text);
    report_unstartable(attempt->number, text);
    return remove_attempt(attempt);
  }
  bool is_signal = WIFSIGNALED(attempt->status);
  if (attempt->limits & LIMIT_PIDS && attempt->refused_forks == 0) attempt->refused_forks = count_refused_forks(attempt);
  if (was_out_of_memory(attempt)) attempt->is_oom = true;
  put_head(18, REPORT_ENDED);
  put_u32(attempt->number);
  put_u32(is_signal ? UINT32_MAX : (uint32_t)WEXITSTATUS(attempt->status));
  put_u32(is_signal ? (uint32_t)WTERMSIG(attempt->status) : 0);
  put_u8((uint8_t)launcher.level);
  put_u8((attempt->is_oom ? ENDED_OOM : 0) | (attempt->has_timed_out ? ENDED_TIMED_OUT : 0) | (attempt->has_lease_expired ? ENDED_LEASE_EXPIRED : 0));
  put_u32((uint32_t)attempt->refused_forks);
  remove_attempt(attempt);
}

void finish_sweep(struct attempt *attempt) {
  attempt->is_swept = true;
  attempt->sweep_until = attempt->sweep_again = NEVER;
  erase_record(attempt);
  report_if_ended(attempt);
}

/* Kills the rest without waiting; called again until nothing is left. */
void sweep(struct attempt *attempt) {
  if (attempt->is_swept) return;
  bool is_empty = true;
  if (attempt->namespace) {
    if (!attempt->has_sent_sweep && !attempt->namespace->is_dead) command_init(attempt->namespace, INIT_SWEEP);
    attempt->has_sent_sweep = true;
    is_empty = attempt->namespace->is_dead;
  } else if (launcher.level == LEVEL_CGROUP) {
    is_empty = is_cgroup_empty(attempt->cgroup);
    if (!is_empty) kill_cgroup(attempt->cgroup);
    if (!is_empty && cgroups.has_kill) watch(&attempt->cgroup->events, EPOLLPRI);
  } else {
    is_empty = !kill_descendants(attempt);
  }
  if (is_empty) return finish_sweep(attempt);
  if (!attempt->namespace) attempt->sweep_again = now() + SWEEP_AGAIN;
}

/* A process that does not die of SIGKILL is stuck in the kernel and dies before it runs again. */
void abandon_sweep(struct attempt *attempt) {
  if (attempt->namespace) kill_namespace(attempt->namespace);
  finish_sweep(attempt);
}

static void handle_exit(struct attempt *attempt, int status) {
  attempt->status = status;
  attempt->has_exited = true;
  attempt->deadline = attempt->kill_at = NEVER;
  attempt->sweep_until = now() + SWEEP_LIMIT;
  update_reading(attempt);
  sweep(attempt);
}

struct attempt *attempt_with_pid(pid_t pid) {
  for (struct attempt *a = launcher.attempts; a; a = a->next)
    if (a->pid == pid && !a->has_exited) return a;
  return NULL;
}

void reap(void) {
  siginfo_t info = {.si_pid = 0};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_pid > 0) {
    struct attempt *attempt = attempt_with_pid(info.si_pid);
    /* Before the wait: until then the kernel does not reuse its process number. */
    if (attempt && launcher.level == LEVEL_GROUP) kill(-info.si_pid, SIGKILL);
    int status;
    if (waitpid(info.si_pid, &status, __WALL) != info.si_pid) break;
    for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next)
      if (namespace->init == info.si_pid) namespace->is_dead = namespace->is_stale = true;
    if (attempt) handle_exit(attempt, status);
    info.si_pid = 0;
  }
}

void reap_namespaces(void) {
  for (struct namespace *namespace = launcher.namespaces, *next; namespace; namespace = next) {
    next = namespace->next;
    struct attempt *attempt = namespace->is_dead ? namespace->attempt : NULL;
    /* The kernel reaps an init only after all processes of its namespace. */
    if (attempt && attempt->has_exited && !attempt->is_swept) finish_sweep(attempt);
    if (namespace->is_dead && !namespace->attempt) free_namespace(namespace);
  }
}
