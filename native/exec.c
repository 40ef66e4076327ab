/* Starting the process of an attempt, in the child: from the clone to the exec. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fail_child(struct failure *failure, enum stage stage) {
  failure->error = errno;
  failure->stage = (int32_t)stage;
  _exit(127);
}

/*
 * The kernel drops them only if the launcher is root. A launcher with capabilities from a service manager would pass
 * them on to the user it switches to. The bounding set stays: NO_NEW_PRIVS prevents a process from gaining it, and without
 * it, programs with file capabilities could not be executed.
 */
static bool drop_capabilities(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}};
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 || syscall(SYS_capset, &head, data) < 0) return false;
  if (syscall(SYS_capget, &head, data) < 0) return false;
  errno = EPERM;
  for (int i = 0; i < 2; i++)
    if (data[i].effective || data[i].permitted || data[i].inheritable) return false;
  return true;
}

/* Afterwards the process is exactly that user, in all ids, or it exits. */
static void become_user(const struct order *order, struct failure *failure) {
  uid_t uid[3];
  gid_t gid[3];
  if (syscall(SYS_setgroups, (size_t)order->group_count, order->groups) < 0 || syscall(SYS_setgid, order->gid) < 0 ||
      syscall(SYS_setuid, order->uid) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    fail_child(failure, STAGE_USER);
  errno = EPERM;
  if (getresuid(&uid[0], &uid[1], &uid[2]) < 0 || getresgid(&gid[0], &gid[1], &gid[2]) < 0) fail_child(failure, STAGE_USER);
  for (int i = 0; i < 3; i++)
    if (uid[i] != order->uid || gid[i] != order->gid) fail_child(failure, STAGE_USER);
  if (getgroups(0, NULL) != (int)order->group_count) fail_child(failure, STAGE_USER);
  /* An attempt that runs as root keeps the capabilities of root. */
  if (order->uid != 0 && !drop_capabilities()) fail_child(failure, STAGE_USER);
}

static void enter_cgroup(const struct attempt *attempt, bool is_cloned_into, struct failure *failure) {
  if (!attempt->cgroup) return;
  for (int h = 0; h < HIERARCHIES; h++) {
    if (!(attempt->cgroup->hierarchies & (1u << h)) || (h == UNIFIED && is_cloned_into)) continue;
    if (!write_text(cgroups.base[h], cgroup_path(attempt->cgroup, "cgroup.procs"), "0")) fail_child(failure, STAGE_CGROUP);
  }
}

/* Runs in the child. Every step is checked; a failure is written to `failure`. */
_Noreturn void exec_program(const struct order *order, const struct attempt *attempt, const int child_ends[3], bool is_cloned_into) {
  struct failure *failure = &launcher.failures[attempt->slot];
  struct rlimit none = {0, 0};
  sigset_t all_clear;
  sigemptyset(&all_clear);
  setsid();
  enter_cgroup(attempt, is_cloned_into, failure);
  if (!record_self(attempt)) fail_child(failure, STAGE_NOTES);
  if (attempt->namespace && setns(attempt->namespace->mountns, CLONE_NEWNS) < 0) fail_child(failure, STAGE_NAMESPACE);
  if (order->file_count > 0 && !write_files(order, attempt)) fail_child(failure, STAGE_SECRET_FILES);
  for (int i = 0; i < 3; i++)
    if (dup2(child_ends[i], i) < 0) fail_child(failure, STAGE_OTHER);
  /* The exec closes them, so an earlier failure can still be written. */
  syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  setrlimit(RLIMIT_CORE, &none);
  if (order->files > 0) {
    struct rlimit files = {order->files, order->files};
    if (setrlimit(RLIMIT_NOFILE, &files) < 0) fail_child(failure, STAGE_FILES);
  }
  if (order->umask >= 0) umask((mode_t)order->umask);
  if (order->has_user) become_user(order, failure);
  /* For levels without an init that dies with the launcher. A change of user clears it, so it is set afterwards. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!attempt->namespace && getppid() != launcher.pid) _exit(127);
  /* A process that moved to another mount namespace starts at its root. */
  if ((order->cwd[0] || attempt->namespace) && chdir(order->cwd[0] ? order->cwd : launcher.cwd) < 0) fail_child(failure, STAGE_CWD);
  environ = order->variables;
  sigprocmask(SIG_SETMASK, &all_clear, NULL);
  execvp(order->file, order->arguments);
  fail_child(failure, STAGE_EXEC);
  _exit(127);
}

void explain_failure(const struct failure *failure, const char *file, const char *cwd, char *text, size_t capacity) {
  const char *reason = strerror(failure->error);
  switch ((enum stage)failure->stage) {
  case STAGE_CWD:
    if (failure->error == EACCES) snprintf(text, capacity, "the directory %s may not be entered", cwd);
    else snprintf(text, capacity, "the directory %s does not exist", cwd);
    return;
  case STAGE_USER:
    snprintf(text, capacity, "it cannot run as that user on this machine: %s", reason);
    return;
  case STAGE_CGROUP:
    snprintf(text, capacity, "its cgroup cannot be entered: %s", reason);
    return;
  case STAGE_NOTES:
    snprintf(text, capacity, "its start cannot be recorded: %s", reason);
    return;
  case STAGE_FILES:
    snprintf(text, capacity, "its limit for open files cannot be set: %s", reason);
    return;
  case STAGE_SECRET_FILES:
    snprintf(text, capacity, "its secret files cannot be written: %s", reason);
    return;
  case STAGE_EXEC:
    switch (failure->error) {
    case ENOENT:
    case ENOTDIR: snprintf(text, capacity, "the program %s was not found", file); return;
    case EACCES: snprintf(text, capacity, "the program %s may not be executed", file); return;
    case ENOEXEC: snprintf(text, capacity, "the program %s is in a format this machine cannot execute", file); return;
    case E2BIG: snprintf(text, capacity, "the arguments and the environment are too long for this machine"); return;
    default: break;
    }
    break;
  default: break;
  }
  snprintf(text, capacity, "%s could not be started: %s", file, reason);
}
