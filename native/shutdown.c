/* The exit of the launcher, which ends everything it has started. */
#include "launcher.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Kills all attempts and namespaces. */
static void kill_everything(void) {
  for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next) kill_namespace(namespace);
  for (struct attempt *a = launcher.attempts; a; a = a->next)
    if (!a->namespace && !a->is_swept) kill_attempt(a);
}

static bool is_any_left(void) {
  bool is_left = false;
  for (struct attempt *a = launcher.attempts; a; a = a->next) {
    if (!a->has_exited) is_left = true;
    if (a->namespace || a->is_swept) continue;
    if (launcher.level == LEVEL_GROUP) is_left |= kill_descendants(a);
    else if (a->cgroup && !is_cgroup_empty(a->cgroup)) kill_cgroup(a->cgroup), is_left = true;
  }
  for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next) is_left |= !namespace->is_dead;
  return is_left;
}

/* Whether any descendant is left: orphans become children of the launcher. */
static bool has_children(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

static void kill_children(void) {
  struct pids children = {0}, found = {0};
  add_own_children(&children);
  for (size_t i = 0; i < children.count; i++) add_process_tree(&found, children.list[i]);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  free(children.list);
  free(found.list);
}

/* Reaps like reap(), but sends no reports. */
static void reap_silently(void) {
  siginfo_t info = {.si_pid = 0};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL) == 0 && info.si_pid > 0) {
    struct attempt *attempt = attempt_with_pid(info.si_pid);
    if (attempt) attempt->has_exited = true;
    for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next)
      if (namespace->init == info.si_pid) namespace->is_dead = true;
    info.si_pid = 0;
  }
}

static void remove_cgroups(void) {
  while (cgroups.idle) {
    struct cgroup *cgroup = cgroups.idle;
    cgroups.idle = cgroup->next;
    remove_cgroup(cgroup);
  }
  remove_leftover_cgroups();
  for (int h = 0; h < HIERARCHIES; h++) remove_base((enum hierarchy)h);
}

_Noreturn void shut_down(int code) {
  static bool is_shutting_down;
  if (is_shutting_down) _exit(code);
  is_shutting_down = true;
  kill_everything();
  bool is_left;
  for (int64_t until = now() + SWEEP_LIMIT; (is_left = is_any_left() || has_children()) && now() < until;) {
    kill_children();
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    reap_silently();
  }
  while (launcher.attempts) remove_attempt(launcher.attempts);
  remove_cgroups();
  /* Keep the record of processes that could not be killed for the next launcher. */
  if (!is_left) remove_notes();
  finish_lock(code == EXIT_REFUSED, is_left);
  /* Tools that examine the launcher at its exit fork a process, which cannot start in a dead namespace. */
  enter_pidns(NULL);
  exit(code);
}
