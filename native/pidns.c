/* Level `pidns`: PID namespaces and their inits. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void run_init(int channel) {
  struct pollfd mounts = {.events = POLLPRI};
  char message;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "punctual-init");
  signal(SIGCHLD, SIG_IGN);
  dup2(channel, 0);
  if (lock.fd >= 0) dup2(lock.fd, 3);
  syscall(SYS_close_range, lock.fd >= 0 ? 4u : 3u, ~0u, 0u);
  /* Jobs see and change the mounts of the machine; only /proc is private to the namespace. */
  if (mount(NULL, "/proc", NULL, MS_PRIVATE | MS_REC, NULL) < 0 ||
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
    int error = errno;
    if (write(0, &error, sizeof error) < 0) _exit(1);
    _exit(0);
  }
  /* The launcher has opened the namespaces; from here on no process may inspect the init, not even a job of the same user. */
  if (read(0, &message, 1) != 1) _exit(1);
  prctl(PR_SET_DUMPABLE, 0);
  mounts.fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  message = INIT_READY;
  /* The write fails if the launcher died before PR_SET_PDEATHSIG was set. */
  if (write(0, &message, 1) != 1) _exit(1);
  while (read(0, &message, 1) == 1) {
    kill(-1, SIGKILL);
    if (message != INIT_SWEEP) continue;
    /* The kernel reaps ignored children; wait only until there are none. */
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR) {}
    message = poll(&mounts, 1, 0) > 0 ? INIT_MOUNTS_CHANGED : INIT_EMPTY;
    if (write(0, &message, 1) != 1) break;
  }
  _exit(0);
}

void enter_pidns(const struct namespace *namespace) {
  if (launcher.current_namespace == namespace) return;
  if (setns(namespace ? namespace->pidns : launcher.own_pidns, CLONE_NEWPID) == 0) launcher.current_namespace = namespace;
}

static int open_namespace_file(pid_t pid, const char *kind) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
  return open(path, O_RDONLY | O_CLOEXEC);
}

void free_namespace(struct namespace *namespace) {
  struct namespace **at = &launcher.namespaces;
  while (*at && *at != namespace) at = &(*at)->next;
  if (*at) *at = namespace->next;
  if (launcher.current_namespace == namespace) enter_pidns(NULL);
  close_source(&namespace->channel);
  close_fd(&namespace->pidns);
  close_fd(&namespace->mountns);
  free(namespace);
}

/* Creates a namespace; NULL with errno on failure. */
struct namespace *create_namespace(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return NULL;
  enter_pidns(NULL);
  pid_t pid = clone_process(CLONE_NEWPID | CLONE_NEWNS, -1);
  if (pid == 0) run_init(pair[1]);
  int error = errno;
  close(pair[1]);
  if (pid < 0) {
    close(pair[0]);
    errno = error;
    return NULL;
  }
  struct namespace *namespace = allocate(sizeof *namespace);
  *namespace = (struct namespace){.next = launcher.namespaces, .init = pid, .channel = {.kind = FROM_INIT, .fd = pair[0], .owner = namespace},
                        .pidns = open_namespace_file(pid, "pid"), .mountns = open_namespace_file(pid, "mnt")};
  launcher.namespaces = namespace;
  struct timeval timeout = {.tv_sec = 5};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  error = 0;
  ssize_t size = write(pair[0], &(char){INIT_GO}, 1) == 1 ? recv(pair[0], &error, sizeof error, 0) : -1;
  if (size == 1 && namespace->pidns >= 0 && namespace->mountns >= 0) {
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    watch(&namespace->channel, EPOLLIN);
    return namespace;
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  free_namespace(namespace);
  errno = size == sizeof error ? error : EIO;
  return NULL;
}

struct namespace *acquire_namespace(void) {
  for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next)
    if (!namespace->attempt && !namespace->is_dead && !namespace->is_stale) return namespace;
  return create_namespace();
}

/* The kernel kills everything in the namespace; its death arrives as SIGCHLD. */
void kill_namespace(struct namespace *namespace) {
  namespace->is_stale = true;
  if (!namespace->is_dead) kill(namespace->init, SIGKILL);
}

void release_namespace(struct namespace *namespace) {
  namespace->attempt = NULL;
  unsigned idle = 0;
  for (struct namespace *n = launcher.namespaces; n; n = n->next) idle += !n->attempt && !n->is_stale;
  if (namespace->is_stale || idle > MAX_IDLE) kill_namespace(namespace);
}

void command_init(struct namespace *namespace, char message) {
  if (write(namespace->channel.fd, &message, 1) != 1) kill_namespace(namespace);
}

/* A namespace does not show mounts that were made after it, so the next attempts get new ones. */
void expire_namespaces(void) {
  for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next) {
    namespace->is_stale = true;
    if (!namespace->attempt) kill_namespace(namespace);
  }
}

void read_init(struct namespace *namespace) {
  char message = 0;
  struct attempt *attempt = namespace->attempt;
  if (recv(namespace->channel.fd, &message, 1, MSG_DONTWAIT) != 1) {
    /* The channel is closed, so the init is dead or dying. */
    if (errno != EAGAIN || message == 0) unwatch(&namespace->channel), kill_namespace(namespace);
    return;
  }
  if (message == INIT_MOUNTS_CHANGED) namespace->is_stale = true;
  if (attempt && attempt->has_sent_sweep && !attempt->is_swept) finish_sweep(attempt);
}
