/* The start of the launcher, and its main loop. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct launcher launcher;

static void dispatch(struct source *source, uint32_t events) {
  struct attempt *attempt = source->owner;
  struct signalfd_siginfo signals[8];
  switch (source->kind) {
  case FROM_ORDERS: return read_orders();
  case FROM_REPORTS:
    if (events & (EPOLLHUP | EPOLLERR)) shut_down(0);
    return send_reports();
  case FROM_SIGNALS:
    while (read(launcher.signals.fd, signals, sizeof signals) > 0) {}
    return reap();
  case FROM_MOUNTS: return expire_namespaces();
  case FROM_INIT: return read_init(source->owner);
  default: break;
  }
  if (attempt->has_ended || source->fd < 0) return;
  switch (source->kind) {
  case FROM_CHILD_IN: return write_input(attempt);
  case FROM_CGROUP_EVENTS:
    if (attempt->has_exited) sweep(attempt);
    return;
  case FROM_OOM:
    unwatch(source);
    if (!attempt->has_exited) attempt->is_oom = true, kill_attempt(attempt);
    return;
  default:
    if (source->is_watched) read_output(attempt, source);
  }
}

static void run_loop(void) {
  struct epoll_event events[64];
  for (;;) {
    int count = epoll_wait(launcher.epoll, events, 64, ms_until_next_deadline());
    for (int i = 0; i < count; i++) dispatch(events[i].data.ptr, events[i].events);
    check_deadlines();
    reap_namespaces();
    free_ended();
    send_reports();
  }
}

static void prepare_signals(void) {
  sigset_t handled;
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  sigemptyset(&handled);
  /*
   * The worker handles the signals that a terminal sends to its process group. The launcher blocks them and does not
   * ignore them, because children inherit ignored signals.
   */
  const int blocked[] = {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN};
  for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++) sigaddset(&handled, blocked[i]);
  sigprocmask(SIG_SETMASK, &handled, NULL);
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  launcher.signals = (struct source){.kind = FROM_SIGNALS, .fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK)};
}

static void prepare_identity(void) {
  char boot[16];
  struct stat pidns = {.st_ino = 0};
  struct proc_stat self = {.started = 0};
  launcher.pid = getpid();
  read_text(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 9);
  if (stat("/proc/self/ns/pid", &pidns) < 0 || !read_stat(launcher.pid, &self)) fail(EXIT_OS, "no /proc");
  snprintf(launcher.identity, sizeof launcher.identity, "%.8s.%lu.%d.%llu", boot, (unsigned long)pidns.st_ino, launcher.pid, (unsigned long long)self.started);
}

static void prepare_state(void) {
  launcher.null = open("/dev/null", O_RDWR | O_CLOEXEC);
  launcher.children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  launcher.epoll = epoll_create1(EPOLL_CLOEXEC);
  launcher.failures = mmap(NULL, MAX_ATTEMPTS * sizeof *launcher.failures, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (launcher.null < 0 || launcher.epoll < 0 || launcher.signals.fd < 0 || launcher.failures == MAP_FAILED) fail(EXIT_OS, strerror(errno));
  while (launcher.free_count < MAX_ATTEMPTS) launcher.free_slots[launcher.free_count] = MAX_ATTEMPTS - 1 - launcher.free_count, launcher.free_count++;
  launcher.orders = (struct source){.kind = FROM_ORDERS, .fd = ORDERS};
  launcher.reports = (struct source){.kind = FROM_REPORTS, .fd = REPORTS};
}

int main(int count, char **arguments) {
  if (count > 2 && !strcmp(arguments[1], "await")) return await_locks(count - 2, arguments + 2);
  if (count != 3 && count != 4) {
    dprintf(2, "usage: launcher auto|pidns|cgroup|group NOTES [LOCKS], started by a worker\n");
    return EXIT_USAGE;
  }
  const int inherited[] = {ORDERS, LIFELINE, REPORTS};
  for (int i = 0; i < 3; i++)
    if (fcntl(inherited[i], F_SETFD, FD_CLOEXEC) < 0) return EXIT_USAGE;
  fcntl(ORDERS, F_SETFL, O_NONBLOCK);
  prctl(PR_SET_NAME, "punctual-launch");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prepare_signals();
  prepare_identity();
  if (!getcwd(launcher.cwd, sizeof launcher.cwd)) strcpy(launcher.cwd, "/");
  prepare_state();
  watch(&launcher.signals, EPOLLIN);
  open_notes(arguments[2]);
  take_lock(count == 4 ? arguments[3] : "");
  if (!set_up_level(arguments[1])) {
    put_head(text_size(launcher.reasons), REPORT_REFUSED);
    put_text(launcher.reasons);
    send_reports();
    shut_down(EXIT_REFUSED);
  }
  record_cgroup_in_lock();
  if (launcher.level == LEVEL_PIDNS) {
    launcher.mounts = (struct source){.kind = FROM_MOUNTS, .fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)};
    watch(&launcher.mounts, EPOLLPRI);
  }
  watch(&launcher.orders, EPOLLIN);
  report_ready();
  send_reports();
  run_loop();
}
