/* Starting the process of an attempt, in the launcher. exec.c is the part of the child. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t clone_process(uint64_t flags, int cgroup_fd) {
  struct clone_args arguments = {.flags = flags, .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD};
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = (uint64_t)cgroup_fd;
  }
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  /* Some sandboxes refuse clone3 as if the kernel did not have it. */
  if (pid < 0 && errno == ENOSYS && cgroup_fd < 0) pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
  return (pid_t)pid;
}

static char *copy_variable(const struct order *order, const char *name) {
  size_t length = strlen(name);
  for (uint32_t i = 0; i < order->variable_count; i++)
    if (!strncmp(order->variables[i], name, length)) return strdup(order->variables[i]);
  return NULL;
}

/* Returns why an order is refused, or NULL if it can be executed. */
static const char *check_order(const struct order *order, unsigned wanted) {
  static char text[1200];
  static const char *const names[] = {"memory", "processor time", "processes", "files"};
  if (launcher.free_count == 0) return "this launcher has no room for another process";
  if (!is_lifeline_held()) return "the lease has expired";
  if (order->has_nul) return "one of its texts contains a zero byte, which no program can receive";
  if (order->has_user && !launcher.can_switch_user) return "this worker may not run processes as another user";
  for (int i = 0; i < 4; i++)
    if (wanted & ~launcher.limits & (1u << i)) {
      snprintf(text, sizeof text, "a limit of %s cannot be enforced here: %s", names[i], launcher.reasons);
      return text;
    }
  return NULL;
}

/* Creates the namespace and the cgroup that the level and the limits require; returns a message on failure. */
static const char *place(struct attempt *attempt, const struct order *order) {
  static char text[256];
  unsigned limits = attempt->limits & ~LIMIT_FILES, hierarchies = hierarchies_for(limits);
  if (launcher.level == LEVEL_CGROUP) hierarchies |= 1u << killable_hierarchy();
  if (launcher.level == LEVEL_PIDNS) {
    attempt->namespace = acquire_namespace();
    if (!attempt->namespace) goto failed;
    attempt->namespace->attempt = attempt;
    /* The next attempt must not see the mount of secret files that is made for this one. */
    if (order->file_count > 0 && is_coverable(order->files_directory)) attempt->namespace->is_stale = true;
  }
  if (hierarchies == 0) return NULL;
  attempt->cgroup = create_cgroup(hierarchies, limits != 0);
  if (!attempt->cgroup) goto failed;
  attempt->cgroup->events.owner = attempt;
  if (limits & LIMIT_MEMORY && !limit_memory(attempt->cgroup, order->memory)) goto failed;
  if (limits & LIMIT_PIDS && !limit_pids(attempt->cgroup, order->pids)) goto failed;
  if (limits & LIMIT_CPU && !limit_cpu(attempt->cgroup, order->cpu)) goto failed;
  watch_memory(attempt);
  return NULL;
failed:
  snprintf(text, sizeof text, "it cannot be contained: %s", strerror(errno));
  return text;
}

/*
 * In a user namespace, the launcher could enter a PID namespace but not return. So an intermediate process enters it
 * and clones a child whose parent is the launcher.
 */
static pid_t spawn_through(const struct order *order, struct attempt *attempt, const int child_ends[3], int cgroup_fd) {
  struct failure *failure = &launcher.failures[attempt->slot];
  int status;
  pid_t intermediate = clone_process(0, -1);
  if (intermediate == 0) {
    if (setns(attempt->namespace->pidns, CLONE_NEWPID) < 0) _exit(1);
    pid_t pid = clone_process(CLONE_PARENT, cgroup_fd);
    if (pid == 0) exec_program(order, attempt, child_ends, cgroup_fd >= 0);
    failure->pid = pid;
    _exit(0);
  }
  if (intermediate < 0 || waitpid(intermediate, &status, __WALL) != intermediate) return -1;
  return failure->pid > 0 ? failure->pid : -1;
}

/* Clones into the cgroup where the kernel supports that; otherwise the child enters it before exec. */
static pid_t spawn(const struct order *order, struct attempt *attempt, const int child_ends[3]) {
  bool is_cloned_into = attempt->cgroup && attempt->cgroup->dir >= 0 && cgroups.can_clone_into;
  int cgroup_fd = is_cloned_into ? attempt->cgroup->dir : -1;
  attempt->started = now();
  attempt->started_ticks = boot_ticks();
  if (attempt->namespace && launcher.is_in_user_namespace) return spawn_through(order, attempt, child_ends, cgroup_fd);
  enter_pidns(attempt->namespace);
  if (launcher.current_namespace != attempt->namespace) return -1;
  pid_t pid = clone_process(0, cgroup_fd);
  if (pid == 0) exec_program(order, attempt, child_ends, is_cloned_into);
  return pid;
}

/* Adds an attempt for an order that is not refused. */
static struct attempt *create_attempt(const struct order *order, unsigned limits) {
  struct attempt *attempt = allocate(sizeof *attempt);
  *attempt = (struct attempt){.next = launcher.attempts, .number = order->number, .slot = launcher.free_slots[--launcher.free_count], .limits = limits,
                              .deadline = NEVER, .kill_at = NEVER, .output_until = NEVER, .sweep_until = NEVER, .sweep_again = NEVER,
                              .grace_ms = order->grace_ms, .oom = {.fd = -1}, .in = {.kind = FROM_CHILD_IN, .fd = -1, .owner = attempt},
                              .out = {{.kind = FROM_CHILD_OUT, .fd = -1, .owner = attempt}, {.kind = FROM_CHILD_ERR, .fd = -1, .owner = attempt}},
                              .run = copy_variable(order, "PUNCTUAL_RUN_ID="), .fence = copy_variable(order, "PUNCTUAL_FENCE="),
                              .file = strdup(order->file), .cwd = strdup(order->cwd[0] ? order->cwd : launcher.cwd)};
  launcher.attempts = attempt;
  launcher.failures[attempt->slot] = (struct failure){0, 0, 0};
  record_files(attempt, order);
  return attempt;
}

/* Opens a pipe for the output, the errors and, if there is one, the input; returns a message on failure. */
static const char *open_pipes(struct attempt *attempt, bool has_input, int child_ends[3]) {
  int *const launcher_ends[3] = {&attempt->in.fd, &attempt->out[0].fd, &attempt->out[1].fd};
  for (int i = has_input ? 0 : 1; i < 3; i++) {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) < 0) return "this machine has no room for another process";
    *launcher_ends[i] = pair[i == 0];
    child_ends[i] = pair[i != 0];
    fcntl(*launcher_ends[i], F_SETFL, O_NONBLOCK);
  }
  return NULL;
}

void start_attempt(const struct order *order) {
  unsigned wanted = (order->memory > 0 ? LIMIT_MEMORY : 0u) | (order->cpu > 0 ? LIMIT_CPU : 0u) |
                    (order->pids > 0 ? LIMIT_PIDS : 0u) | (order->files > 0 ? LIMIT_FILES : 0u);
  const char *refusal = check_order(order, wanted);
  if (refusal) return report_unstartable(order->number, refusal);

  struct attempt *attempt = create_attempt(order, wanted);
  int child_ends[3] = {launcher.null, -1, -1};
  refusal = place(attempt, order);
  if (!refusal) refusal = open_pipes(attempt, order->has_input, child_ends);
  if (!refusal) attempt->pid = spawn(order, attempt, child_ends);
  if (!refusal && attempt->pid < 0) {
    refusal = "this machine has no room for another process";
    if (attempt->namespace) kill_namespace(attempt->namespace);
  }
  /* Without a pipe for its input, the child uses the shared /dev/null. */
  for (int i = 0; i < 3; i++)
    if (child_ends[i] != launcher.null) close_fd(&child_ends[i]);
  if (refusal) {
    report_unstartable(order->number, refusal);
    return remove_attempt(attempt);
  }
  if (order->timeout_ms >= 0) attempt->deadline = add_ms(attempt->started, order->timeout_ms);
  update_reading(attempt);
  if (order->has_input) {
    attempt->input_size = order->input_size;
    attempt->input = allocate(order->input_size + 1);
    memcpy(attempt->input, order->input, order->input_size);
    write_input(attempt);
  }
}
