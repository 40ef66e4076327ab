/*
 * The native launcher: starts the processes of a worker and is responsible for them. It does what
 * src/worker/launcher/node does, with kernel features that Node cannot use.
 *
 *   launcher LEVEL NOTES [LOCKS]  LEVEL: auto, pidns, cgroup or group; NOTES and LOCKS: directories, or empty
 *   launcher await FILE...        waits until no process holds the locks of the launchers named here
 *
 * Descriptor 0 carries orders, 4 carries reports, 3 is the lifeline (see lifeline.ts). One thread, one epoll; nothing
 * blocks, except while a new init mounts its /proc. The frames are those of src/worker/launcher/frames.ts.
 *
 * Invariant: when a process ends, everything it has started ends before its end is reported. The levels differ in how
 * reliably they achieve that.
 *
 *   pidns   Each attempt runs in a PID namespace whose init was forked by the launcher. The attempt's process is a
 *           child of the launcher, placed there with setns, so the launcher sees its end directly. The init kills the
 *           rest with one kill(-1), which no fork can outrun, and the empty namespace serves the next attempt: creating
 *           one costs more than starting a process. When the launcher dies, the kernel kills the init, and with it
 *           everything in its namespace.
 *   cgroup  Each attempt is started in a cgroup of its own, which is killed as a whole.
 *   group   A session and a process group. Descendants that break away become children of the launcher when their
 *           parents end, because it is a subreaper. They are recognised by session, environment or age.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ORDERS = 0, LIFELINE = 3, REPORTS = 4 };
enum { ORDER_START = 1, ORDER_STOP, ORDER_PAUSE, ORDER_RESUME };
enum { REPORT_READY = 16, REPORT_UNSTARTABLE, REPORT_ENDED, REPORT_OUTPUT, REPORT_REFUSED };
enum level { LEVEL_GROUP, LEVEL_CGROUP, LEVEL_PIDNS };
enum { LIMIT_MEMORY = 1, LIMIT_CPU = 2, LIMIT_PIDS = 4, LIMIT_FILES = 8 };
enum { READY_SWITCHES_USER = 1, READY_HOLDS_LOCK = 2, READY_HIDES_FILES = 4 };
enum { ENDED_OOM = 1, ENDED_TIMED_OUT = 2, ENDED_LEASE_EXPIRED = 4 };

/* Exit codes of abnormal ends. */
enum { EXIT_USAGE = 64, EXIT_GARBAGE = 65, EXIT_REFUSED = 69, EXIT_OS = 71 };

#define MS INT64_C(1000000)
#define NEVER INT64_MAX
#define FRAME_HEAD 5u
#define MAX_FRAME (64u * 1024 * 1024)
#define READ_SIZE (64u * 1024)
/* Above HIGH pending bytes, no output is read any more; below LOW, reading resumes. */
#define REPORTS_HIGH (512u * 1024)
#define REPORTS_LOW (64u * 1024)
/* How long output may stay open after all known processes are gone: a descendant broke away. */
#define OUTPUT_GRACE (500 * MS)
/* Processes that cannot be killed within this time are stuck in the kernel; stop waiting for them. */
#define SWEEP_LIMIT (5000 * MS)
#define SWEEP_AGAIN (20 * MS)
#define MAX_ATTEMPTS 16384
#define MAX_IDLE 32
#define NOTE_HEAD 4096
#define NOTE_SIZE 128
/* A separate file system that attempts may cover without an effect on other processes. */
#define SECRETS_MOUNT "/dev/shm"
#define MAX_FILES 64

/* ---------------------------------------------------------------------------------------------- */
/* Types and state                                                                                */

struct attempt;

enum source_kind { FROM_ORDERS, FROM_REPORTS, FROM_SIGNALS, FROM_MOUNTS, FROM_INIT, FROM_CHILD_OUT,
                   FROM_CHILD_ERR, FROM_CHILD_IN, FROM_OOM, FROM_CGROUP_EVENTS };

/* The data of an epoll event. */
struct source {
  enum source_kind kind;
  int fd;
  bool is_watched;
  uint32_t events;
  void *owner;
};

/* A PID namespace with an init, empty or with one attempt in it. */
struct namespace {
  struct namespace *next;
  pid_t init;
  struct source channel;
  int pidns, mountns;
  struct attempt *attempt;
  bool is_stale, is_dead;
};

/* The cgroup of an attempt: a directory in each hierarchy of the mask. */
struct cgroup {
  struct cgroup *next;
  unsigned where;
  int dir;
  bool was_killed;
  struct source events;
  char name[24];
};

struct attempt {
  struct attempt *next;
  uint32_t number;
  unsigned slot;
  pid_t pid;
  int status;
  bool has_exited, was_stopped, is_paused, has_timed_out, has_lease_expired, is_oom, has_asked, is_swept, has_ended;
  unsigned long refused;
  int64_t started, deadline, kill_at, output_until, sweep_until, sweep_again;
  uint64_t started_ticks;
  double grace_ms;
  struct source out[2], in, oom;
  char *input;
  size_t input_size, input_sent;
  struct namespace *namespace;
  struct cgroup *cgroup;
  unsigned limits;
  char *run, *fence, *file, *cwd;
  /* Files to delete when the attempt ends. */
  char **files;
  uint32_t file_count;
};

/* A file that is written for an attempt before its program starts. */
struct file {
  char *name;
  uint32_t mode;
  const char *content;
  size_t size;
};

/* A start order; its texts point into the buffer that contains it. */
struct order {
  uint32_t number;
  int32_t umask;
  double timeout_ms, grace_ms, memory, cpu;
  uint32_t pids, files;
  bool has_user, has_input, has_nul;
  uint32_t uid, gid, group_count, argument_count, variable_count;
  gid_t *groups;
  char *file, *cwd;
  const char *input;
  size_t input_size;
  char **arguments, **variables;
  char *files_directory;
  uint32_t file_count;
  struct file secret_files[MAX_FILES];
};

/* Where a child failed before exec; the child writes it to shared memory. */
enum stage { STAGE_NONE, STAGE_CGROUP, STAGE_NOTES, STAGE_NAMESPACE, STAGE_USER, STAGE_FILES, STAGE_SECRET_FILES, STAGE_CWD,
             STAGE_EXEC, STAGE_OTHER };
struct failure {
  int32_t stage, error, pid;
};

enum hierarchy { UNIFIED, V1_MEMORY, V1_PIDS, V1_CPU, HIERARCHIES };

static struct {
  enum level level;
  unsigned limits;
  bool can_switch_user, can_hide_files, is_in_user_namespace;
  char why[1024];
  int epoll, null, own_pidns, children;
  pid_t pid;
  struct source orders, reports, signals, mounts;
  struct attempt *attempts, *ended;
  struct namespace *namespaces;
  const struct namespace *current_namespace;
  struct failure *failures;
  unsigned free_slots[MAX_ATTEMPTS], free_count;
  uint64_t lifeline;
  bool is_output_paused;
  char cwd[PATH_MAX], identity[96];
} launcher;

static struct {
  int base[HIERARCHIES];
  char path[HIERARCHIES][PATH_MAX];
  bool has_kill, can_clone_into;
  struct cgroup *idle;
  unsigned idle_count, next_name;
  char leftover[MAX_IDLE][24];
} cgroups = {.base = {-1, -1, -1, -1}};

static struct {
  int fd;
  char path[PATH_MAX];
} notes = {.fd = -1};

/* Held by the launcher and by the init of each namespace, so it is free only when all of them are gone. */
static struct {
  int fd;
  char path[PATH_MAX];
} lock = {.fd = -1};

static _Noreturn void leave(int code);

/* ---------------------------------------------------------------------------------------------- */
/* Utilities                                                                                      */

static _Noreturn void fail(int code, const char *what) {
  dprintf(2, "punctual launcher: %s\n", what);
  leave(code);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* The current time in the unit that the kernel uses for start times of processes. */
static uint64_t boot_ticks(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return (uint64_t)t.tv_sec * 100 + (uint64_t)t.tv_nsec / 10000000;
}

static void *allocate(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) fail(EXIT_OS, "no memory");
  return memory;
}

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static int64_t later(int64_t from, double ms) {
  /* More than a few centuries count as never; the sum would overflow. */
  return ms < 9e12 ? from + (int64_t)(ms * 1e6) : NEVER;
}

static bool write_text(int dir, const char *path, const char *text) {
  int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = (ssize_t)strlen(text), written = write(fd, text, (size_t)size);
  int error = errno;
  close(fd);
  errno = error;
  return written == size;
}

/* Reads the beginning of a file as text. */
static ssize_t read_text(int dir, const char *path, char *text, size_t room) {
  int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
  text[0] = 0;
  if (fd < 0) return -1;
  ssize_t got, size = 0;
  while ((size_t)size < room - 1 && (got = read(fd, text + size, room - 1 - (size_t)size)) > 0) size += got;
  text[size] = 0;
  close(fd);
  return size;
}

/* The number after a word at the beginning of a line; 0 if there is none. */
static unsigned long number_after(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
    if (!strncmp(line, word, length) && line[length] == ' ') return strtoul(line + length, NULL, 10);
  return 0;
}

static void add_reason(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add_reason(const char *format, ...) {
  size_t length = strlen(launcher.why);
  va_list values;
  va_start(values, format);
  if (length > 0) length += (size_t)snprintf(launcher.why + length, sizeof launcher.why - length, "; ");
  if (length < sizeof launcher.why) vsnprintf(launcher.why + length, sizeof launcher.why - length, format, values);
  va_end(values);
}

static void watch(struct source *source, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = source};
  if (source->is_watched && source->events == events) return;
  source->events = events;
  int verb = source->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(launcher.epoll, verb, source->fd, &event) == 0) source->is_watched = true;
}

/* Removes the descriptor explicitly: close is not enough while a child before exec holds a copy. */
static void unwatch(struct source *source) {
  if (source->is_watched) epoll_ctl(launcher.epoll, EPOLL_CTL_DEL, source->fd, NULL);
  source->is_watched = false;
}

static void close_source(struct source *source) {
  unwatch(source);
  close_fd(&source->fd);
}

/* ---------------------------------------------------------------------------------------------- */
/* Reports                                                                                        */

static struct {
  unsigned char *bytes;
  size_t from, to, room;
} report_buffer;

static size_t pending_bytes(void) { return report_buffer.to - report_buffer.from; }

/* Returns contiguous space for `size` more bytes. */
static unsigned char *reserve(size_t size) {
  if (report_buffer.room - report_buffer.to < size && report_buffer.from > 0) {
    memmove(report_buffer.bytes, report_buffer.bytes + report_buffer.from, pending_bytes());
    report_buffer.to -= report_buffer.from;
    report_buffer.from = 0;
  }
  if (report_buffer.room - report_buffer.to < size) {
    report_buffer.room = report_buffer.to + size + READ_SIZE;
    report_buffer.bytes = realloc(report_buffer.bytes, report_buffer.room);
    if (!report_buffer.bytes) _exit(EXIT_OS);
  }
  return report_buffer.bytes + report_buffer.to;
}

static void put(const void *bytes, size_t size) {
  memcpy(reserve(size), bytes, size);
  report_buffer.to += size;
}
static void put_u8(uint8_t value) { put(&value, 1); }
static void put_u32(uint32_t value) { put(&value, 4); }
static void put_head(size_t size, uint8_t kind) {
  put_u32((uint32_t)size);
  put_u8(kind);
}
static void put_text(const char *text) {
  uint32_t size = (uint32_t)strlen(text) + 1;
  put_u32(size);
  put(text, size);
}
static size_t text_size(const char *text) { return 4 + strlen(text) + 1; }

static void pause_all_output(bool is_output_paused);

/* Sends all reports of one turn together. */
static void send_reports(void) {
  while (pending_bytes() > 0) {
    ssize_t sent = send(REPORTS, report_buffer.bytes + report_buffer.from, pending_bytes(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) leave(0);
    if (sent < 0) break;
    report_buffer.from += (size_t)sent;
  }
  if (pending_bytes() == 0) report_buffer.from = report_buffer.to = 0;
  watch(&launcher.reports, pending_bytes() > 0 ? EPOLLOUT : 0);
  if (launcher.is_output_paused && pending_bytes() <= REPORTS_LOW) pause_all_output(false);
}

static void report_ready(void) {
  put_head(3 + text_size(launcher.why), REPORT_READY);
  put_u8((uint8_t)launcher.level);
  put_u8((uint8_t)launcher.limits);
  put_u8((launcher.can_switch_user ? READY_SWITCHES_USER : 0) | (lock.fd >= 0 ? READY_HOLDS_LOCK : 0) |
         (launcher.can_hide_files ? READY_HIDES_FILES : 0));
  put_text(launcher.why);
}

static void report_unstartable(uint32_t number, const char *message) {
  put_head(4 + text_size(message), REPORT_UNSTARTABLE);
  put_u32(number);
  put_text(message);
}

/* ---------------------------------------------------------------------------------------------- */
/* The lifeline                                                                                   */

static uint64_t read_lifeline(void) {
  uint64_t instant[2];
  for (int tries = 0; tries < 100; tries++) {
    if (pread(LIFELINE, instant, sizeof instant, 0) != sizeof instant) return 0;
    /* A concurrent write shows as two different values. */
    if (instant[0] == instant[1]) return instant[0];
  }
  return 0;
}

static bool is_lifeline_held(void) {
  uint64_t instant = (uint64_t)now();
  if (launcher.lifeline <= instant) launcher.lifeline = read_lifeline();
  return launcher.lifeline > instant;
}

/* ---------------------------------------------------------------------------------------------- */
/* Reading /proc                                                                                  */

struct pids {
  pid_t *list;
  size_t count, room;
};

static void add_pid(struct pids *pids, pid_t pid) {
  if (pids->count == pids->room) {
    pids->room = pids->room ? 2 * pids->room : 64;
    pids->list = realloc(pids->list, pids->room * sizeof *pids->list);
    if (!pids->list) _exit(EXIT_OS);
  }
  pids->list[pids->count++] = pid;
}

struct proc_stat {
  char state;
  pid_t parent, group, session;
  uint64_t started;
};

static bool read_stat(pid_t pid, struct proc_stat *info) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if (read_text(AT_FDCWD, path, text, sizeof text) <= 0) return false;
  /* The name in parentheses may contain anything, including parentheses; numbers follow it. */
  const char *rest = strrchr(text, ')');
  unsigned long long started = 0;
  int found = rest ? sscanf(rest + 1, " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                            &info->state, &info->parent, &info->group, &info->session, &started)
                   : 0;
  info->started = started;
  return found == 5;
}

static void add_numbers(struct pids *pids, int fd) {
  char text[4096];
  pid_t number = 0;
  ssize_t size;
  off_t at = 0;
  while ((size = pread(fd, text, sizeof text, at)) > 0) {
    at += size;
    for (ssize_t i = 0; i < size; i++) {
      if (text[i] >= '0' && text[i] <= '9') number = number * 10 + (text[i] - '0');
      else if (number > 0) add_pid(pids, number), number = 0;
    }
  }
  if (number > 0) add_pid(pids, number);
}

/* Without lists of children in the kernel, every process is asked for its parent. */
static void add_children_slowly(struct pids *pids, pid_t parent) {
  DIR *directory = opendir("/proc");
  if (!directory) return;
  for (struct dirent *entry; (entry = readdir(directory));) {
    pid_t pid = atoi(entry->d_name);
    struct proc_stat info;
    if (pid > 0 && read_stat(pid, &info) && info.parent == parent) add_pid(pids, pid);
  }
  closedir(directory);
}

static void add_children(struct pids *pids, pid_t parent) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", parent);
  if (launcher.children < 0) return add_children_slowly(pids, parent);
  DIR *directory = opendir(path);
  if (!directory) return;
  for (struct dirent *entry; (entry = readdir(directory));) {
    char name[64];
    snprintf(name, sizeof name, "%d/children", atoi(entry->d_name));
    int fd = openat(dirfd(directory), name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    add_numbers(pids, fd);
    close(fd);
  }
  closedir(directory);
}

static void add_own_children(struct pids *pids) {
  if (launcher.children < 0) add_children_slowly(pids, launcher.pid);
  else add_numbers(pids, launcher.children);
}

/* Whether both variables are in its environment, which descendants inherit. */
static bool has_mark(pid_t pid, const struct attempt *attempt) {
  if (!attempt->run || !attempt->fence) return false;
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/environ", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  static char text[2 * 1024 * 1024];
  ssize_t got, size = 0;
  while ((size_t)size < sizeof text - 1 && (got = read(fd, text + size, sizeof text - 1 - (size_t)size)) > 0) size += got;
  close(fd);
  text[size] = 0;
  bool has_run = false, has_fence = false;
  for (const char *at = text; at < text + size; at += strlen(at) + 1) {
    has_run |= !strcmp(at, attempt->run);
    has_fence |= !strcmp(at, attempt->fence);
  }
  return has_run && has_fence;
}

/* ---------------------------------------------------------------------------------------------- */
/* Notes: the running processes, for the next worker if the launcher is killed                    */

static void open_notes(const char *directory) {
  if (!directory[0]) return;
  if ((size_t)snprintf(notes.path, sizeof notes.path, "%s/%s", directory, launcher.identity) >= sizeof notes.path) return;
  notes.fd = open(notes.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (notes.fd < 0) add_reason("the notes in %s cannot be created", directory);
}

static void record_cgroups(void) {
  char head[NOTE_HEAD];
  size_t size = 0;
  for (int h = 0; h < HIERARCHIES; h++)
    if (cgroups.base[h] >= 0 && size < sizeof head)
      size += (size_t)snprintf(head + size, sizeof head - size, "cgroup %s\n", cgroups.path[h]);
  if (notes.fd >= 0 && size < sizeof head && pwrite(notes.fd, head, size, 0) < 0) add_reason("notes cannot be written");
}

static off_t record_offset(const struct attempt *attempt) { return NOTE_HEAD + (off_t)attempt->slot * NOTE_SIZE; }

/* Written by the child itself, so that nothing starts without a record; false with errno. */
static bool record_self(const struct attempt *attempt) {
  if (notes.fd < 0 || launcher.level == LEVEL_PIDNS) return true;
  char line[NOTE_SIZE + 1];
  const char *run = attempt->run ? strchr(attempt->run, '=') + 1 : "-", *fence = attempt->fence ? strchr(attempt->fence, '=') + 1 : "-";
  int size = snprintf(line, sizeof line, "%d %llu %.64s %.24s", getpid(), (unsigned long long)boot_ticks(), run, fence);
  memset(line + size, ' ', (size_t)(NOTE_SIZE - size));
  line[NOTE_SIZE - 1] = '\n';
  errno = ENOSPC;
  return pwrite(notes.fd, line, NOTE_SIZE, record_offset(attempt)) == NOTE_SIZE;
}

static void erase_record(const struct attempt *attempt) {
  if (notes.fd < 0 || launcher.level == LEVEL_PIDNS) return;
  char blank[NOTE_SIZE];
  memset(blank, ' ', sizeof blank - 1);
  blank[NOTE_SIZE - 1] = '\n';
  if (pwrite(notes.fd, blank, sizeof blank, record_offset(attempt)) < 0) return;
}

/* ---------------------------------------------------------------------------------------------- */
/* The lock: proves to a later process that the launcher and all it started are gone              */

/* The first line of the file. Both have the same length, so that overwriting succeeds on a full disk. */
static const char LOCK_RUNNING[] = "running\n", LOCK_ENDED[] = "ended  \n";

/* The launcher continues without a lock, so that its file proves nothing. */
static void drop_lock(const char *reason) {
  add_reason("no lock can be taken at %s: %s", lock.path, reason);
  if (lock.fd >= 0) unlink(lock.path);
  close_fd(&lock.fd);
}

static bool write_lock(const char *text, off_t at) {
  size_t size = strlen(text);
  errno = ENOSPC;
  return pwrite(lock.fd, text, size, at) == (ssize_t)size;
}

static void take_lock(const char *directory) {
  if (!directory[0]) return;
  if ((size_t)snprintf(lock.path, sizeof lock.path, "%s/%s", directory, launcher.identity) >= sizeof lock.path) return;
  lock.fd = open(lock.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock.fd < 0 || flock(lock.fd, LOCK_EX | LOCK_NB) < 0 || !write_lock(LOCK_RUNNING, 0)) drop_lock(strerror(errno));
}

/* Returns once each lock is free or its file is missing. The caller reads in the file what that proves. */
static int await_locks(int count, char **paths) {
  for (int i = 0; i < count; i++) {
    int fd = open(paths[i], O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) continue;
    if (fd < 0) return EXIT_OS;
    while (flock(fd, LOCK_EX) < 0)
      if (errno != EINTR) return EXIT_OS;
    close(fd);
  }
  return 0;
}

/* ---------------------------------------------------------------------------------------------- */
/* Level `group`                                                                                  */

static bool is_known(pid_t pid) {
  for (struct attempt *a = launcher.attempts; a; a = a->next)
    if (a->pid == pid && !a->has_exited) return true;
  for (struct namespace *c = launcher.namespaces; c; c = c->next)
    if (c->init == pid) return true;
  return false;
}

/* Whether an orphan that became a child of the launcher was started by this attempt. */
static bool belongs_to(pid_t pid, const struct proc_stat *info, const struct attempt *attempt) {
  if (info->session == attempt->pid || info->group == attempt->pid || has_mark(pid, attempt)) return true;
  /* An orphan that dropped everything belongs to another attempt unless it is older than all others. */
  for (struct attempt *a = launcher.attempts; a; a = a->next) {
    if (a == attempt || a->has_exited) continue;
    if (info->session == a->pid || info->group == a->pid || info->started >= a->started_ticks || has_mark(pid, a)) return false;
  }
  return true;
}

/* Adds a process and all its descendants. */
static void add_tree(struct pids *pids, pid_t root) {
  size_t at = pids->count;
  add_pid(pids, root);
  for (; at < pids->count; at++) add_children(pids, pids->list[at]);
}

/* Kills all processes of an attempt that can be found; returns whether there were any. */
static bool kill_found(struct attempt *attempt) {
  struct pids orphans = {0}, found = {0};
  if (!attempt->has_exited) {
    add_tree(&found, attempt->pid);
    kill(-attempt->pid, SIGKILL);
  }
  add_own_children(&orphans);
  for (size_t i = 0; i < orphans.count; i++) {
    struct proc_stat info;
    pid_t pid = orphans.list[i];
    if (!is_known(pid) && read_stat(pid, &info) && info.state != 'Z' && belongs_to(pid, &info, attempt)) add_tree(&found, pid);
  }
  /* Stop all of them first: a stopped process cannot fork while the others are killed. */
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGSTOP);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  bool any = found.count > 0;
  free(orphans.list);
  free(found.list);
  return any;
}

/* ---------------------------------------------------------------------------------------------- */
/* Level `pidns`                                                                                  */

static pid_t clone_process(uint64_t flags, int cgroup_fd) {
  struct clone_args arguments = {.flags = flags, .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD};
  if (cgroup_fd >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = (uint64_t)cgroup_fd;
  }
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  /* Some sandboxes know only the older call and report the newer one as missing. */
  if (pid < 0 && errno == ENOSYS && cgroup_fd < 0) pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
  return (pid_t)pid;
}

/* One byte each way over the channel to an init. */
enum { INIT_GO = 'g', INIT_KILL = 'k', INIT_SWEEP = 's', INIT_READY = 'r', INIT_EMPTY = 'e', INIT_MOUNTS_CHANGED = 'x' };

static _Noreturn void run_init(int channel) {
  struct pollfd mounts = {.events = POLLPRI};
  char word;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "punctual-init");
  signal(SIGCHLD, SIG_IGN);
  dup2(channel, 0);
  if (lock.fd >= 0) dup2(lock.fd, 3);
  syscall(SYS_close_range, lock.fd >= 0 ? 4u : 3u, ~0u, 0u);
  /* Jobs see and change the mounts of the machine as usual; only /proc belongs to the namespace. */
  if (mount(NULL, "/proc", NULL, MS_PRIVATE | MS_REC, NULL) < 0 ||
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
    int error = errno;
    if (write(0, &error, sizeof error) < 0) _exit(1);
    _exit(0);
  }
  /* Once the launcher has opened the namespaces, no other process may inspect the init, not even jobs of its user. */
  if (read(0, &word, 1) != 1) _exit(1);
  prctl(PR_SET_DUMPABLE, 0);
  mounts.fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  word = INIT_READY;
  /* The write fails if the launcher died before PR_SET_PDEATHSIG was set. */
  if (write(0, &word, 1) != 1) _exit(1);
  while (read(0, &word, 1) == 1) {
    kill(-1, SIGKILL);
    if (word != INIT_SWEEP) continue;
    /* The kernel reaps ignored children; wait only until there are none. */
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR) {}
    word = poll(&mounts, 1, 0) > 0 ? INIT_MOUNTS_CHANGED : INIT_EMPTY;
    if (write(0, &word, 1) != 1) break;
  }
  _exit(0);
}

static void enter_pidns(const struct namespace *namespace) {
  if (launcher.current_namespace == namespace) return;
  if (setns(namespace ? namespace->pidns : launcher.own_pidns, CLONE_NEWPID) == 0) launcher.current_namespace = namespace;
}

static int open_namespace(pid_t pid, const char *kind) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static void free_namespace(struct namespace *namespace) {
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
static struct namespace *create_namespace(void) {
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
                        .pidns = open_namespace(pid, "pid"), .mountns = open_namespace(pid, "mnt")};
  launcher.namespaces = namespace;
  struct timeval patience = {.tv_sec = 5};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
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

static struct namespace *acquire_namespace(void) {
  for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next)
    if (!namespace->attempt && !namespace->is_dead && !namespace->is_stale) return namespace;
  return create_namespace();
}

/* The kernel kills everything in the namespace; its death arrives as SIGCHLD. */
static void kill_namespace(struct namespace *namespace) {
  namespace->is_stale = true;
  if (!namespace->is_dead) kill(namespace->init, SIGKILL);
}

static void release_namespace(struct namespace *namespace) {
  namespace->attempt = NULL;
  unsigned idle = 0;
  for (struct namespace *c = launcher.namespaces; c; c = c->next) idle += !c->attempt && !c->is_stale;
  if (namespace->is_stale || idle > MAX_IDLE) kill_namespace(namespace);
}

static void command_init(struct namespace *namespace, char word) {
  if (write(namespace->channel.fd, &word, 1) != 1) kill_namespace(namespace);
}

/* Jobs must see mounts that were made after their namespace. */
static void expire_namespaces(void) {
  for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next) {
    namespace->is_stale = true;
    if (!namespace->attempt) kill_namespace(namespace);
  }
}

/* ---------------------------------------------------------------------------------------------- */
/* Cgroups: level `cgroup`, and limits at every level                                             */

static const char *const V1_CONTROLLERS[HIERARCHIES] = {"", "memory", "pids", "cpu"};

static unsigned hierarchies_for(unsigned limits) {
  unsigned where = 0;
  bool is_v1 = cgroups.base[V1_MEMORY] >= 0 || cgroups.base[V1_PIDS] >= 0 || cgroups.base[V1_CPU] >= 0;
  if (!is_v1) return limits & (LIMIT_MEMORY | LIMIT_CPU | LIMIT_PIDS) ? 1u << UNIFIED : 0;
  if (limits & LIMIT_MEMORY) where |= 1u << V1_MEMORY;
  if (limits & LIMIT_PIDS) where |= 1u << V1_PIDS;
  if (limits & LIMIT_CPU) where |= 1u << V1_CPU;
  return where;
}

/* The hierarchy whose cgroups can be killed. */
static enum hierarchy killable_hierarchy(void) { return cgroups.has_kill ? UNIFIED : V1_PIDS; }

static const char *path_in(const struct cgroup *cgroup, const char *file) {
  static char path[96];
  snprintf(path, sizeof path, "%s/%s", cgroup->name, file);
  return path;
}

static bool write_in(enum hierarchy h, const struct cgroup *cgroup, const char *file, const char *format, ...) __attribute__((format(printf, 4, 5)));
static bool write_in(enum hierarchy h, const struct cgroup *cgroup, const char *file, const char *format, ...) {
  char text[64];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return write_text(cgroups.base[h], path_in(cgroup, file), text);
}

static bool limit_memory(const struct cgroup *cgroup, double bytes) {
  unsigned long long limit = (unsigned long long)bytes;
  if (cgroup->where & (1u << UNIFIED) && cgroups.base[V1_MEMORY] < 0)
    /* Kill the cgroup as a whole, and forbid swap, where an attempt could grow unnoticed. */
    return write_in(UNIFIED, cgroup, "memory.max", "%llu", limit) && write_in(UNIFIED, cgroup, "memory.oom.group", "1") &&
           (write_in(UNIFIED, cgroup, "memory.swap.max", "0") || errno == ENOENT);
  if (!write_in(V1_MEMORY, cgroup, "memory.limit_in_bytes", "%llu", limit)) return false;
  /* Without swap accounting, the kernel is told not to swap. */
  return write_in(V1_MEMORY, cgroup, "memory.memsw.limit_in_bytes", "%llu", limit) || write_in(V1_MEMORY, cgroup, "memory.swappiness", "0");
}

static bool limit_pids(const struct cgroup *cgroup, unsigned pids) {
  return write_in(cgroups.base[V1_PIDS] >= 0 ? V1_PIDS : UNIFIED, cgroup, "pids.max", "%u", pids);
}

static bool limit_cpu(const struct cgroup *cgroup, double cores) {
  long quota = (long)(cores * 100000);
  /* The kernel accepts no less than a millisecond. */
  if (quota < 1000) quota = 1000;
  if (cgroups.base[V1_CPU] >= 0)
    return write_in(V1_CPU, cgroup, "cpu.cfs_period_us", "100000") && write_in(V1_CPU, cgroup, "cpu.cfs_quota_us", "%ld", quota);
  return write_in(UNIFIED, cgroup, "cpu.max", "%ld 100000", quota);
}

static void remove_cgroup(struct cgroup *cgroup) {
  bool is_left = false;
  close_source(&cgroup->events);
  close_fd(&cgroup->dir);
  for (int h = 0; h < HIERARCHIES; h++)
    if (cgroup->where & (1u << h) && unlinkat(cgroups.base[h], cgroup->name, AT_REMOVEDIR) < 0 && errno != ENOENT) is_left = true;
  /* The kernel may need a moment to release dead processes; the removal is retried with the next ones. */
  for (int i = 0; is_left && i < MAX_IDLE; i++)
    if (!cgroups.leftover[i][0]) {
      memcpy(cgroups.leftover[i], cgroup->name, sizeof cgroup->name);
      break;
    }
  free(cgroup);
}

static void remove_leftovers(void) {
  for (int i = 0; i < MAX_IDLE; i++) {
    bool is_left = false;
    if (!cgroups.leftover[i][0]) continue;
    for (int h = 0; h < HIERARCHIES; h++)
      if (cgroups.base[h] >= 0 && unlinkat(cgroups.base[h], cgroups.leftover[i], AT_REMOVEDIR) < 0 && errno != ENOENT) is_left = true;
    if (!is_left) cgroups.leftover[i][0] = 0;
  }
}

/* Creates the directories for an attempt; NULL with errno on failure. Cgroups without limits are reused. */
static struct cgroup *create_cgroup(unsigned where, bool is_for_limits) {
  if (!is_for_limits && cgroups.idle) {
    struct cgroup *cgroup = cgroups.idle;
    cgroups.idle = cgroup->next;
    cgroups.idle_count--;
    return cgroup;
  }
  remove_leftovers();
  struct cgroup *cgroup = allocate(sizeof *cgroup);
  cgroup->dir = cgroup->events.fd = -1;
  snprintf(cgroup->name, sizeof cgroup->name, "%u", cgroups.next_name++);
  for (int h = 0; h < HIERARCHIES; h++) {
    if (!(where & (1u << h))) continue;
    if (mkdirat(cgroups.base[h], cgroup->name, 0755) < 0 && errno != EEXIST) {
      int error = errno;
      remove_cgroup(cgroup);
      errno = error;
      return NULL;
    }
    cgroup->where |= 1u << h;
  }
  if (where & (1u << UNIFIED)) {
    cgroup->dir = openat(cgroups.base[UNIFIED], cgroup->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cgroup->events = (struct source){.kind = FROM_CGROUP_EVENTS, .fd = openat(cgroup->dir, "cgroup.events", O_RDONLY | O_CLOEXEC)};
  }
  return cgroup;
}

/* Current kernels kill every process that is started in a cgroup that was killed before. */
static void release_cgroup(struct cgroup *cgroup, bool was_for_limits) {
  unwatch(&cgroup->events);
  if (was_for_limits || cgroup->was_killed || cgroups.idle_count >= MAX_IDLE) return remove_cgroup(cgroup);
  cgroup->next = cgroups.idle;
  cgroups.idle = cgroup;
  cgroups.idle_count++;
}

static bool is_cgroup_empty(const struct cgroup *cgroup) {
  char text[256];
  if (cgroups.has_kill) {
    ssize_t size = pread(cgroup->events.fd, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    return size <= 0 || number_after(text, "populated") == 0;
  }
  return read_text(cgroups.base[V1_PIDS], path_in(cgroup, "cgroup.procs"), text, sizeof text) <= 0;
}

static void kill_cgroup(struct cgroup *cgroup) {
  cgroup->was_killed = true;
  if (cgroups.has_kill) {
    write_in(UNIFIED, cgroup, "cgroup.kill", "1");
    return;
  }
  /* Forbid forks while the processes are killed. */
  write_in(V1_PIDS, cgroup, "pids.max", "0");
  int fd = openat(cgroups.base[V1_PIDS], path_in(cgroup, "cgroup.procs"), O_RDONLY | O_CLOEXEC);
  struct pids found = {0};
  if (fd >= 0) add_numbers(&found, fd), close(fd);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  free(found.list);
}

/*
 * On v1 the kernel kills one process of a cgroup that ran out of memory; the launcher is notified and kills the rest.
 */
static void watch_memory(struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_MEMORY) || cgroups.base[V1_MEMORY] < 0) return;
  int control = openat(cgroups.base[V1_MEMORY], path_in(attempt->cgroup, "memory.oom_control"), O_RDONLY | O_CLOEXEC);
  attempt->oom = (struct source){.kind = FROM_OOM, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .owner = attempt};
  if (control >= 0 && attempt->oom.fd >= 0 && write_in(V1_MEMORY, attempt->cgroup, "cgroup.event_control", "%d %d", attempt->oom.fd, control))
    watch(&attempt->oom, EPOLLIN);
  close_fd(&control);
}

static unsigned long read_count(enum hierarchy h, const struct cgroup *cgroup, const char *file, const char *word) {
  char text[512];
  read_text(cgroups.base[h], path_in(cgroup, file), text, sizeof text);
  return number_after(text, word);
}

static bool was_out_of_memory(const struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_MEMORY)) return false;
  return cgroups.base[V1_MEMORY] >= 0 ? read_count(V1_MEMORY, attempt->cgroup, "memory.oom_control", "oom_kill") > 0
                                      : read_count(UNIFIED, attempt->cgroup, "memory.events", "oom_kill") > 0;
}

static unsigned long pids_refused(const struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_PIDS)) return 0;
  return read_count(cgroups.base[V1_PIDS] >= 0 ? V1_PIDS : UNIFIED, attempt->cgroup, "pids.events", "max");
}

/* ---------------------------------------------------------------------------------------------- */
/* Starting a process                                                                             */

static void fail_child(struct failure *failure, enum stage stage) {
  failure->error = errno;
  failure->stage = (int32_t)stage;
  _exit(127);
}

/*
 * The kernel does this only for a launcher that is root. A launcher with capabilities from a service manager would pass
 * them on to the user it switches to. The bounding set stays: NO_NEW_PRIVS prevents gaining it, and programs with file
 * capabilities could not even be executed without it.
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
  /* Root without capabilities would not be root. */
  if (order->uid != 0 && !drop_capabilities()) fail_child(failure, STAGE_USER);
}

static void enter_cgroup(const struct attempt *attempt, bool is_cloned_into, struct failure *failure) {
  if (!attempt->cgroup) return;
  for (int h = 0; h < HIERARCHIES; h++) {
    if (!(attempt->cgroup->where & (1u << h)) || (h == UNIFIED && is_cloned_into)) continue;
    if (!write_text(cgroups.base[h], path_in(attempt->cgroup, "cgroup.procs"), "0")) fail_child(failure, STAGE_CGROUP);
  }
}

/*
 * Whether the directory lies directly in the file system that cover_with_tmpfs() makes private. Covering any other
 * directory could show the mount and its files to the whole machine.
 */
static bool is_coverable(const char *directory) {
  const size_t length = strlen(SECRETS_MOUNT "/");
  return launcher.can_hide_files && !strncmp(directory, SECRETS_MOUNT "/", length) && directory[length] != '.' && directory[length] != 0 &&
         !strchr(directory + length, '/');
}

/* Covers a directory with a tmpfs that only this mount namespace sees, and that disappears with it. */
static bool cover_with_tmpfs(const char *directory) {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  /* Otherwise the mount would propagate to the machine. */
  if (mount(NULL, SECRETS_MOUNT, NULL, MS_PRIVATE, NULL) < 0) return false;
  return mount("punctual-secrets", directory, "tmpfs", flags, "mode=0711,size=8m,nr_inodes=256,noswap") == 0 ||
         mount("punctual-secrets", directory, "tmpfs", flags, "mode=0711,size=8m,nr_inodes=256") == 0;
}

static bool write_file(int dir, const struct file *file, const struct order *order) {
  int fd = openat(dir, file->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  size_t written = 0;
  for (ssize_t size; written < file->size; written += (size_t)size)
    if ((size = write(fd, file->content + written, file->size - written)) <= 0) break;
  bool is_done = written == file->size && (!order->has_user || fchown(fd, order->uid, order->gid) == 0) && fchmod(fd, (mode_t)file->mode) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return is_done;
}

/* Runs in the child, in its mount namespace and before it switches the user; false with errno. */
static bool write_files(const struct order *order, const struct attempt *attempt) {
  if (attempt->namespace && is_coverable(order->files_directory) && !cover_with_tmpfs(order->files_directory)) return false;
  int dir = open(order->files_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  for (uint32_t i = 0; i < order->file_count; i++)
    if (dir < 0 || !write_file(dir, &order->secret_files[i], order)) return false;
  return true;
}

/* Runs in the child. Every step is checked; a failure is written to `failure`. */
static _Noreturn void exec_program(const struct order *order, const struct attempt *attempt, const int ends[3], bool is_cloned_into) {
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
    if (dup2(ends[i], i) < 0) fail_child(failure, STAGE_OTHER);
  /* Closed by the exec, so that an earlier failure can still be written. */
  syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  setrlimit(RLIMIT_CORE, &none);
  if (order->files > 0) {
    struct rlimit files = {order->files, order->files};
    if (setrlimit(RLIMIT_NOFILE, &files) < 0) fail_child(failure, STAGE_FILES);
  }
  if (order->umask >= 0) umask((mode_t)order->umask);
  if (order->has_user) become_user(order, failure);
  /* For levels without an init that dies with the launcher. Set after the change of user, which clears it. */
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

static void explain(const struct failure *failure, const char *file, const char *cwd, char *text, size_t room) {
  const char *reason = strerror(failure->error);
  switch ((enum stage)failure->stage) {
  case STAGE_CWD:
    if (failure->error == EACCES) snprintf(text, room, "the directory %s may not be entered", cwd);
    else snprintf(text, room, "the directory %s does not exist", cwd);
    return;
  case STAGE_USER:
    snprintf(text, room, "it cannot run as that user on this machine: %s", reason);
    return;
  case STAGE_CGROUP:
    snprintf(text, room, "its cgroup cannot be entered: %s", reason);
    return;
  case STAGE_NOTES:
    snprintf(text, room, "its start cannot be recorded: %s", reason);
    return;
  case STAGE_FILES:
    snprintf(text, room, "its limit for open files cannot be set: %s", reason);
    return;
  case STAGE_SECRET_FILES:
    snprintf(text, room, "its secret files cannot be written: %s", reason);
    return;
  case STAGE_EXEC:
    switch (failure->error) {
    case ENOENT:
    case ENOTDIR: snprintf(text, room, "the program %s was not found", file); return;
    case EACCES: snprintf(text, room, "the program %s may not be executed", file); return;
    case ENOEXEC: snprintf(text, room, "the program %s is in a format this machine cannot execute", file); return;
    case E2BIG: snprintf(text, room, "the arguments and the environment are too long for this machine"); return;
    default: break;
    }
    break;
  default: break;
  }
  snprintf(text, room, "%s could not be started: %s", file, reason);
}

static char *variable(const struct order *order, const char *name) {
  size_t length = strlen(name);
  for (uint32_t i = 0; i < order->variable_count; i++)
    if (!strncmp(order->variables[i], name, length)) return strdup(order->variables[i]);
  return NULL;
}

static void update_reading(struct attempt *attempt) {
  bool is_read = !attempt->is_paused && !launcher.is_output_paused;
  for (int i = 0; i < 2; i++) {
    struct source *source = &attempt->out[i];
    if (source->fd < 0 || source->is_watched == is_read) continue;
    if (is_read) watch(source, EPOLLIN);
    else unwatch(source);
  }
  /* Output that the worker could not read yet must not be lost. */
  if (attempt->has_exited) attempt->output_until = is_read ? now() + OUTPUT_GRACE : NEVER;
}

static void pause_all_output(bool is_output_paused) {
  launcher.is_output_paused = is_output_paused;
  for (struct attempt *a = launcher.attempts; a; a = a->next) update_reading(a);
}

static void write_input(struct attempt *attempt) {
  while (attempt->input_sent < attempt->input_size) {
    ssize_t sent = write(attempt->in.fd, attempt->input + attempt->input_sent, attempt->input_size - attempt->input_sent);
    if (sent < 0 && errno == EAGAIN) {
      if (!attempt->in.is_watched) watch(&attempt->in, EPOLLOUT);
      return;
    }
    /* A process need not read its input. */
    if (sent < 0) break;
    attempt->input_sent += (size_t)sent;
  }
  close_source(&attempt->in);
  free(attempt->input);
  attempt->input = NULL;
}

/* Files in a private tmpfs need no deletion: they disappear with the namespace. */
static void delete_files(struct attempt *attempt) {
  for (uint32_t i = 0; i < attempt->file_count; i++) {
    if (attempt->files[i]) unlink(attempt->files[i]);
    free(attempt->files[i]);
  }
  free(attempt->files);
  attempt->files = NULL;
  attempt->file_count = 0;
}

static void remember_files(struct attempt *attempt, const struct order *order) {
  if (order->file_count == 0) return;
  attempt->files = allocate(order->file_count * sizeof *attempt->files);
  attempt->file_count = order->file_count;
  for (uint32_t i = 0; i < order->file_count; i++)
    if (asprintf(&attempt->files[i], "%s/%s", order->files_directory, order->secret_files[i].name) < 0) attempt->files[i] = NULL;
}

static void remove_attempt(struct attempt *attempt) {
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
  /* Pending events of this turn may still point to it. */
  attempt->has_ended = true;
  attempt->next = launcher.ended;
  launcher.ended = attempt;
}

static void free_ended(void) {
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
      snprintf(text, sizeof text, "a limit of %s cannot be enforced here: %s", names[i], launcher.why);
      return text;
    }
  return NULL;
}

/* Creates the namespace and the cgroup that the level and the limits require; returns a message on failure. */
static const char *place(struct attempt *attempt, const struct order *order) {
  static char text[256];
  unsigned limits = attempt->limits & ~LIMIT_FILES, where = hierarchies_for(limits);
  if (launcher.level == LEVEL_CGROUP) where |= 1u << killable_hierarchy();
  if (launcher.level == LEVEL_PIDNS) {
    attempt->namespace = acquire_namespace();
    if (!attempt->namespace) goto failed;
    attempt->namespace->attempt = attempt;
    /* Mounts made in the namespace for this attempt are not for the next. */
    if (order->file_count > 0 && is_coverable(order->files_directory)) attempt->namespace->is_stale = true;
  }
  if (where == 0) return NULL;
  attempt->cgroup = create_cgroup(where, limits != 0);
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
static pid_t spawn_through(const struct order *order, struct attempt *attempt, const int ends[3], int cgroup_fd) {
  struct failure *failure = &launcher.failures[attempt->slot];
  int status;
  pid_t intermediate = clone_process(0, -1);
  if (intermediate == 0) {
    if (setns(attempt->namespace->pidns, CLONE_NEWPID) < 0) _exit(1);
    pid_t pid = clone_process(CLONE_PARENT, cgroup_fd);
    if (pid == 0) exec_program(order, attempt, ends, cgroup_fd >= 0);
    failure->pid = pid;
    _exit(0);
  }
  if (intermediate < 0 || waitpid(intermediate, &status, __WALL) != intermediate) return -1;
  return failure->pid > 0 ? failure->pid : -1;
}

/* Clones into the cgroup where the kernel supports that; otherwise the child enters it before exec. */
static pid_t spawn(const struct order *order, struct attempt *attempt, const int ends[3]) {
  bool is_cloned_into = attempt->cgroup && attempt->cgroup->dir >= 0 && cgroups.can_clone_into;
  int cgroup_fd = is_cloned_into ? attempt->cgroup->dir : -1;
  attempt->started = now();
  attempt->started_ticks = boot_ticks();
  if (attempt->namespace && launcher.is_in_user_namespace) return spawn_through(order, attempt, ends, cgroup_fd);
  enter_pidns(attempt->namespace);
  if (launcher.current_namespace != attempt->namespace) return -1;
  pid_t pid = clone_process(0, cgroup_fd);
  if (pid == 0) exec_program(order, attempt, ends, is_cloned_into);
  return pid;
}

static void start(const struct order *order) {
  unsigned wanted = (order->memory > 0 ? LIMIT_MEMORY : 0u) | (order->cpu > 0 ? LIMIT_CPU : 0u) |
                    (order->pids > 0 ? LIMIT_PIDS : 0u) | (order->files > 0 ? LIMIT_FILES : 0u);
  const char *refusal = check_order(order, wanted);
  if (refusal) return report_unstartable(order->number, refusal);

  struct attempt *attempt = allocate(sizeof *attempt);
  *attempt = (struct attempt){.next = launcher.attempts, .number = order->number, .slot = launcher.free_slots[--launcher.free_count], .limits = wanted,
                              .deadline = NEVER, .kill_at = NEVER, .output_until = NEVER, .sweep_until = NEVER, .sweep_again = NEVER,
                              .grace_ms = order->grace_ms, .oom = {.fd = -1}, .in = {.kind = FROM_CHILD_IN, .fd = -1, .owner = attempt},
                              .out = {{.kind = FROM_CHILD_OUT, .fd = -1, .owner = attempt}, {.kind = FROM_CHILD_ERR, .fd = -1, .owner = attempt}},
                              .run = variable(order, "PUNCTUAL_RUN_ID="), .fence = variable(order, "PUNCTUAL_FENCE="),
                              .file = strdup(order->file), .cwd = strdup(order->cwd[0] ? order->cwd : launcher.cwd)};
  launcher.attempts = attempt;
  launcher.failures[attempt->slot] = (struct failure){0, 0, 0};

  remember_files(attempt, order);
  int ours[3] = {-1, -1, -1}, ends[3] = {launcher.null, -1, -1};
  refusal = place(attempt, order);
  for (int i = order->has_input ? 0 : 1; i < 3 && !refusal; i++) {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) < 0) {
      refusal = "this machine has no room for another process";
      break;
    }
    ours[i] = pair[i == 0];
    ends[i] = pair[i != 0];
    fcntl(ours[i], F_SETFL, O_NONBLOCK);
  }
  attempt->in.fd = ours[0];
  attempt->out[0].fd = ours[1];
  attempt->out[1].fd = ours[2];
  if (!refusal) attempt->pid = spawn(order, attempt, ends);
  if (!refusal && attempt->pid < 0) {
    refusal = "this machine has no room for another process";
    if (attempt->namespace) kill_namespace(attempt->namespace);
  }
  /* Without a pipe for its input, the child uses the shared /dev/null. */
  for (int i = 0; i < 3; i++)
    if (ends[i] != launcher.null) close_fd(&ends[i]);
  if (refusal) {
    report_unstartable(order->number, refusal);
    return remove_attempt(attempt);
  }
  if (order->timeout_ms >= 0) attempt->deadline = later(attempt->started, order->timeout_ms);
  update_reading(attempt);
  if (order->has_input) {
    attempt->input_size = order->input_size;
    attempt->input = allocate(order->input_size + 1);
    memcpy(attempt->input, order->input, order->input_size);
    write_input(attempt);
  }
}

/* ---------------------------------------------------------------------------------------------- */
/* Ending a process                                                                               */

static void kill_attempt(struct attempt *attempt) {
  attempt->was_stopped = true;
  attempt->kill_at = NEVER;
  if (attempt->limits & LIMIT_PIDS) attempt->refused = pids_refused(attempt);
  if (attempt->namespace) command_init(attempt->namespace, INIT_KILL);
  else if (launcher.level == LEVEL_CGROUP) kill_cgroup(attempt->cgroup);
  else kill_found(attempt);
  /* In case everything else failed: the process is still a child of the launcher. */
  if (!attempt->has_exited) kill(attempt->pid, SIGKILL);
}

/* A later call can only shorten the grace. */
static void stop(struct attempt *attempt, double grace_ms) {
  if (attempt->has_exited) return;
  if (!(grace_ms > 0)) return kill_attempt(attempt);
  /* Before setsid() the attempt is a single process. */
  if (!attempt->was_stopped && kill(-attempt->pid, SIGTERM) < 0) kill(attempt->pid, SIGTERM);
  attempt->was_stopped = true;
  int64_t kill_at = later(now(), grace_ms);
  if (kill_at < attempt->kill_at) attempt->kill_at = kill_at;
}

static void report_if_ended(struct attempt *attempt) {
  if (!attempt->has_exited || !attempt->is_swept || attempt->has_ended) return;
  if (attempt->out[0].fd >= 0 || attempt->out[1].fd >= 0) return;
  const struct failure *failure = &launcher.failures[attempt->slot];
  if (failure->stage != STAGE_NONE) {
    char text[PATH_MAX + 256];
    explain(failure, attempt->file, attempt->cwd, text, sizeof text);
    report_unstartable(attempt->number, text);
    return remove_attempt(attempt);
  }
  bool is_signal = WIFSIGNALED(attempt->status);
  if (attempt->limits & LIMIT_PIDS && attempt->refused == 0) attempt->refused = pids_refused(attempt);
  if (was_out_of_memory(attempt)) attempt->is_oom = true;
  put_head(18, REPORT_ENDED);
  put_u32(attempt->number);
  put_u32(is_signal ? UINT32_MAX : (uint32_t)WEXITSTATUS(attempt->status));
  put_u32(is_signal ? (uint32_t)WTERMSIG(attempt->status) : 0);
  put_u8((uint8_t)launcher.level);
  put_u8((attempt->is_oom ? ENDED_OOM : 0) | (attempt->has_timed_out ? ENDED_TIMED_OUT : 0) | (attempt->has_lease_expired ? ENDED_LEASE_EXPIRED : 0));
  put_u32((uint32_t)attempt->refused);
  remove_attempt(attempt);
}

static void finish_sweep(struct attempt *attempt) {
  attempt->is_swept = true;
  attempt->sweep_until = attempt->sweep_again = NEVER;
  erase_record(attempt);
  report_if_ended(attempt);
}

/* Kills the rest without waiting; called again until nothing is left. */
static void sweep(struct attempt *attempt) {
  if (attempt->is_swept) return;
  bool is_empty = true;
  if (attempt->namespace) {
    if (!attempt->has_asked && !attempt->namespace->is_dead) command_init(attempt->namespace, INIT_SWEEP);
    attempt->has_asked = true;
    is_empty = attempt->namespace->is_dead;
  } else if (launcher.level == LEVEL_CGROUP) {
    is_empty = is_cgroup_empty(attempt->cgroup);
    if (!is_empty) kill_cgroup(attempt->cgroup);
    if (!is_empty && cgroups.has_kill) watch(&attempt->cgroup->events, EPOLLPRI);
  } else {
    is_empty = !kill_found(attempt);
  }
  if (is_empty) return finish_sweep(attempt);
  if (!attempt->namespace) attempt->sweep_again = now() + SWEEP_AGAIN;
}

/* A process that cannot be killed is stuck in the kernel and will die before it runs again. */
static void abandon_sweep(struct attempt *attempt) {
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

static struct attempt *attempt_of(pid_t pid) {
  for (struct attempt *a = launcher.attempts; a; a = a->next)
    if (a->pid == pid && !a->has_exited) return a;
  return NULL;
}

static void reap(void) {
  siginfo_t info = {.si_pid = 0};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_pid > 0) {
    struct attempt *attempt = attempt_of(info.si_pid);
    /* Until it is reaped, its process number cannot be reused. */
    if (attempt && launcher.level == LEVEL_GROUP) kill(-info.si_pid, SIGKILL);
    int status;
    if (waitpid(info.si_pid, &status, __WALL) != info.si_pid) break;
    for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next)
      if (namespace->init == info.si_pid) namespace->is_dead = namespace->is_stale = true;
    if (attempt) handle_exit(attempt, status);
    info.si_pid = 0;
  }
}

static void reap_namespaces(void) {
  for (struct namespace *namespace = launcher.namespaces, *next; namespace; namespace = next) {
    next = namespace->next;
    struct attempt *attempt = namespace->is_dead ? namespace->attempt : NULL;
    /* The kernel reaps an init only after all processes of its namespace. */
    if (attempt && attempt->has_exited && !attempt->is_swept) finish_sweep(attempt);
    if (namespace->is_dead && !namespace->attempt) free_namespace(namespace);
  }
}

static void read_init(struct namespace *namespace) {
  char word = 0;
  struct attempt *attempt = namespace->attempt;
  if (recv(namespace->channel.fd, &word, 1, MSG_DONTWAIT) != 1) {
    /* The channel is closed, so the init is dead or dying. */
    if (errno != EAGAIN || word == 0) unwatch(&namespace->channel), kill_namespace(namespace);
    return;
  }
  if (word == INIT_MOUNTS_CHANGED) namespace->is_stale = true;
  if (attempt && attempt->has_asked && !attempt->is_swept) finish_sweep(attempt);
}

static void read_output(struct attempt *attempt, struct source *source) {
  const size_t head = FRAME_HEAD + 13;
  unsigned char *frame = reserve(head + READ_SIZE);
  ssize_t size = read(source->fd, frame + head, READ_SIZE);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    close_source(source);
    return report_if_ended(attempt);
  }
  double ms = (double)(now() - attempt->started) / 1e6;
  put_head(13 + (size_t)size, REPORT_OUTPUT);
  put_u32(attempt->number);
  put_u8(source->kind == FROM_CHILD_OUT ? 1 : 2);
  put(&ms, sizeof ms);
  report_buffer.to += (size_t)size;
  if (pending_bytes() <= REPORTS_HIGH) return;
  send_reports();
  if (pending_bytes() > REPORTS_HIGH) pause_all_output(true);
}

/* ---------------------------------------------------------------------------------------------- */
/* Orders                                                                                         */

struct cursor {
  char *at, *end;
  bool is_bad;
};

static void parse(struct cursor *cursor, void *value, size_t size) {
  memset(value, 0, size);
  if ((size_t)(cursor->end - cursor->at) < size) cursor->is_bad = true;
  if (cursor->is_bad) return;
  memcpy(value, cursor->at, size);
  cursor->at += size;
}

static uint32_t parse_u32(struct cursor *cursor) {
  uint32_t value;
  parse(cursor, &value, sizeof value);
  return value;
}

static bool parse_flag(struct cursor *cursor) {
  uint8_t value;
  parse(cursor, &value, sizeof value);
  if (value > 1) cursor->is_bad = true;
  return value == 1;
}

/* A non-negative quantity, or -1 for none. */
static double parse_double(struct cursor *cursor) {
  double value;
  parse(cursor, &value, sizeof value);
  if (!(value >= -1 && value <= 1e18)) cursor->is_bad = true;
  return cursor->is_bad ? 0 : value;
}

static char *parse_bytes(struct cursor *cursor, size_t size) {
  static char nothing[1];
  if ((size_t)(cursor->end - cursor->at) < size) cursor->is_bad = true;
  if (cursor->is_bad) return nothing;
  cursor->at += size;
  return cursor->at - size;
}

/* Texts end with a zero, which counts in their length. */
static char *parse_text(struct cursor *cursor, struct order *order) {
  uint32_t size = parse_u32(cursor);
  char *text = parse_bytes(cursor, size);
  if (size == 0 || cursor->is_bad || text[size - 1] != 0) {
    static char nothing[1];
    cursor->is_bad = true;
    return nothing;
  }
  if (strlen(text) + 1 != size) order->has_nul = true;
  return text;
}

/* A list of texts after `reserved` free entries, with a NULL at the end. */
static char **parse_texts(struct cursor *cursor, struct order *order, uint32_t *count, size_t reserved) {
  *count = parse_u32(cursor);
  /* Each text takes at least five bytes, so the size of the order limits the allocation. */
  if (*count > (size_t)(cursor->end - cursor->at) / 5) cursor->is_bad = true;
  if (cursor->is_bad) *count = 0;
  char **list = allocate((*count + reserved + 1) * sizeof *list);
  for (uint32_t i = 0; i < *count; i++) list[i + reserved] = parse_text(cursor, order);
  return list;
}

static void parse_user(struct cursor *cursor, struct order *order) {
  order->has_user = parse_flag(cursor);
  if (!order->has_user) return;
  order->uid = parse_u32(cursor);
  order->gid = parse_u32(cursor);
  order->group_count = parse_u32(cursor);
  if (order->group_count > 65536 || order->group_count > (size_t)(cursor->end - cursor->at) / 4) cursor->is_bad = true;
  if (cursor->is_bad) order->group_count = 0;
  order->groups = allocate((order->group_count + 1) * sizeof *order->groups);
  for (uint32_t i = 0; i < order->group_count; i++) order->groups[i] = parse_u32(cursor);
}

static void parse_files(struct cursor *cursor, struct order *order) {
  order->files_directory = parse_text(cursor, order);
  order->file_count = parse_u32(cursor);
  if (order->file_count > MAX_FILES) cursor->is_bad = true;
  if (cursor->is_bad) order->file_count = 0;
  for (uint32_t i = 0; i < order->file_count; i++) {
    struct file *file = &order->secret_files[i];
    file->name = parse_text(cursor, order);
    file->mode = parse_u32(cursor);
    file->size = parse_u32(cursor);
    file->content = parse_bytes(cursor, file->size);
    /* Only within that directory, because the launcher deletes these files afterwards. */
    if (file->mode > 0777 || !file->name[0] || file->name[0] == '.' || strchr(file->name, '/')) cursor->is_bad = true;
  }
}

static struct attempt *attempt_numbered(uint32_t number) {
  for (struct attempt *a = launcher.attempts; a; a = a->next)
    if (a->number == number) return a;
  return NULL;
}

static void handle_start(struct cursor *cursor) {
  struct order order = {.number = parse_u32(cursor)};
  order.umask = (int32_t)parse_u32(cursor);
  order.timeout_ms = parse_double(cursor);
  order.grace_ms = parse_double(cursor);
  order.memory = parse_double(cursor);
  order.cpu = parse_double(cursor);
  order.pids = parse_u32(cursor);
  order.files = parse_u32(cursor);
  parse_user(cursor, &order);
  order.file = parse_text(cursor, &order);
  order.cwd = parse_text(cursor, &order);
  order.has_input = parse_flag(cursor);
  order.input_size = order.has_input ? parse_u32(cursor) : 0;
  order.input = parse_bytes(cursor, order.input_size);
  order.arguments = parse_texts(cursor, &order, &order.argument_count, 1);
  order.variables = parse_texts(cursor, &order, &order.variable_count, 0);
  order.arguments[0] = order.file;
  parse_files(cursor, &order);
  if (cursor->is_bad || cursor->at != cursor->end || order.umask < -1 || order.umask > 0777 || attempt_numbered(order.number))
    fail(EXIT_GARBAGE, "an invalid order");
  start(&order);
  free(order.groups);
  free(order.arguments);
  free(order.variables);
}

static void handle_order(uint8_t kind, char *content, size_t size) {
  struct cursor cursor = {.at = content, .end = content + size};
  if (kind == ORDER_START) return handle_start(&cursor);
  struct attempt *attempt = attempt_numbered(parse_u32(&cursor));
  double grace_ms = kind == ORDER_STOP ? parse_double(&cursor) : 0;
  if (cursor.is_bad || cursor.at != cursor.end || kind < ORDER_START || kind > ORDER_RESUME)
    fail(EXIT_GARBAGE, "an invalid order");
  /* The attempt may have ended while the order was in flight. */
  if (!attempt) return;
  if (kind == ORDER_STOP) return stop(attempt, grace_ms);
  attempt->is_paused = kind == ORDER_PAUSE;
  update_reading(attempt);
}

static void read_orders(void) {
  static char *bytes;
  static size_t from, to, room;
  if (room - to < READ_SIZE) {
    if (from > 0) memmove(bytes, bytes + from, to - from);
    to -= from;
    from = 0;
    if (room - to < READ_SIZE) {
      room = to + 2 * READ_SIZE;
      bytes = realloc(bytes, room);
      if (!bytes) fail(EXIT_OS, "no memory");
    }
  }
  ssize_t size = read(ORDERS, bytes + to, room - to);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  /* The worker is gone: kill everything and exit. */
  if (size <= 0) leave(0);
  to += (size_t)size;
  while (to - from >= FRAME_HEAD) {
    uint32_t length;
    memcpy(&length, bytes + from, sizeof length);
    if (length > MAX_FRAME) fail(EXIT_GARBAGE, "an order that is too long");
    if (to - from < FRAME_HEAD + length) break;
    from += FRAME_HEAD + length;
    handle_order((uint8_t)bytes[from - length - 1], bytes + from - length, length);
  }
  if (from == to) from = to = 0;
  /* One large order must not occupy its memory for ever. */
  if (to == 0 && room > 16 * READ_SIZE) {
    free(bytes);
    bytes = NULL;
    room = 0;
  }
}

/* ---------------------------------------------------------------------------------------------- */
/* Detecting the abilities of the machine                                                         */

static bool has_capability(int capability) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &head, data) < 0) return false;
  return data[capability / 32].effective & (1u << (capability % 32));
}

static bool exists_at(int dir, const char *path) { return faccessat(dir, path, F_OK, 0) == 0; }

/* Finds where a hierarchy is mounted, and the launcher's own directory in it. */
static bool find_hierarchy(enum hierarchy h, char mount_point[PATH_MAX], char own[PATH_MAX]) {
  static char mounts[256 * 1024], cgroup_lines[16 * 1024];
  read_text(AT_FDCWD, "/proc/self/mountinfo", mounts, sizeof mounts);
  read_text(AT_FDCWD, "/proc/self/cgroup", cgroup_lines, sizeof cgroup_lines);
  char root[PATH_MAX] = "", options[1024], kind[32], own_path[PATH_MAX] = "", *rest;
  bool is_found = false;
  for (char *line = strtok_r(mounts, "\n", &rest); line && !is_found; line = strtok_r(NULL, "\n", &rest)) {
    const char *tail = strstr(line, " - ");
    if (!tail || sscanf(line, "%*d %*d %*s %4095s %4095s", root, mount_point) != 2) continue;
    if (sscanf(tail, " - %31s %*s %1022s", kind, options) != 2) continue;
    strcat(options, ",");
    char word[16];
    snprintf(word, sizeof word, ",%s,", V1_CONTROLLERS[h]);
    is_found = h == UNIFIED ? !strcmp(kind, "cgroup2") : !strcmp(kind, "cgroup") && strstr(options, word);
  }
  if (!is_found) return false;
  for (char *line = strtok_r(cgroup_lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    if (!path) continue;
    *path++ = 0;
    bool is_ours = h == UNIFIED && names[1] == 0;
    char *next;
    for (char *name = strtok_r(names + 1, ",", &next); name && h != UNIFIED; name = strtok_r(NULL, ",", &next)) is_ours |= !strcmp(name, V1_CONTROLLERS[h]);
    if (is_ours) snprintf(own_path, sizeof own_path, "%s", path);
  }
  /* A container may see only its own part of the hierarchy, under the path names of the whole. */
  size_t length = strlen(root);
  const char *below = length > 1 && !strncmp(own_path, root, length) ? own_path + length : own_path;
  snprintf(own, PATH_MAX, "%.2000s%.2000s", mount_point, strcmp(below, "/") ? below : "");
  return true;
}

/* Creates the launcher's directory in another; false with errno. */
static bool create_base(enum hierarchy h, const char *parent) {
  snprintf(cgroups.path[h], PATH_MAX, "%.3900s/punctual.%.96s", parent, launcher.identity);
  if (mkdir(cgroups.path[h], 0755) < 0 && errno != EEXIST) return false;
  cgroups.base[h] = open(cgroups.path[h], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return cgroups.base[h] >= 0;
}

static void remove_base(enum hierarchy h) {
  if (cgroups.base[h] < 0) return;
  rmdir(cgroups.path[h]);
  close_fd(&cgroups.base[h]);
}

static void set_up_v1(enum hierarchy h, unsigned limit, const char *file) {
  char mount_point[PATH_MAX], own[PATH_MAX];
  if (!find_hierarchy(h, mount_point, own)) return;
  if (!create_base(h, own)) return add_reason("the cgroups of %s cannot be used: %s", V1_CONTROLLERS[h], strerror(errno));
  if (!exists_at(cgroups.base[h], file)) return remove_base(h);
  launcher.limits |= limit;
}

/* Whether cgroups can be created and killed there, and which limits they support. */
static bool is_usable(int base) {
  if (mkdirat(base, "probe", 0755) < 0 && errno != EEXIST) return false;
  int dir = openat(base, "probe", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int status = 1;
  pid_t pid = clone_process(0, dir);
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid(pid, &status, __WALL);
  cgroups.can_clone_into = pid > 0 && status == 0;
  cgroups.has_kill = exists_at(dir, "cgroup.kill");
  if (exists_at(dir, "memory.max")) launcher.limits |= LIMIT_MEMORY;
  if (exists_at(dir, "pids.max")) launcher.limits |= LIMIT_PIDS;
  if (exists_at(dir, "cpu.max")) launcher.limits |= LIMIT_CPU;
  close(dir);
  /* The kernel may need a moment to release the dead process. */
  for (int tries = 0; unlinkat(base, "probe", AT_REMOVEDIR) < 0 && errno == EBUSY && tries < 100; tries++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return cgroups.has_kill || launcher.limits & ~(unsigned)LIMIT_FILES;
}

/*
 * Tries the launcher's own cgroup if it can have children with limits, then the one above it if that was delegated,
 * then the top of the hierarchy. A cgroup that contains processes cannot pass controllers on.
 */
static void set_up_unified(void) {
  char mount_point[PATH_MAX], own[PATH_MAX], above[PATH_MAX];
  const char *const controllers[] = {"+memory", "+pids", "+cpu"};
  const unsigned all = LIMIT_MEMORY | LIMIT_PIDS | LIMIT_CPU, before = launcher.limits;
  /* LIMIT_FILES comes from no cgroup; only the v1 limits say that v1 has the controllers. */
  const unsigned v1 = before & all;
  if (!find_hierarchy(UNIFIED, mount_point, own)) return;
  snprintf(above, sizeof above, "%s", own);
  char *slash = strrchr(above, '/');
  if (slash && strcmp(own, mount_point)) *slash = 0;
  const char *const candidates[] = {own, above, mount_point, own};
  for (int i = 0; i < 4; i++) {
    bool is_last = i == 3;
    char path[PATH_MAX + 32];
    if (!create_base(UNIFIED, candidates[i])) {
      if (is_last) add_reason("cgroups cannot be created in %s: %s", own, strerror(errno));
      continue;
    }
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", candidates[i]);
    for (int c = 0; c < 3 && !v1; c++) {
      write_text(AT_FDCWD, path, controllers[c]);
      write_text(cgroups.base[UNIFIED], "cgroup.subtree_control", controllers[c]);
    }
    if (is_usable(cgroups.base[UNIFIED]) && (v1 || is_last || (launcher.limits & all) == all)) return;
    launcher.limits = before;
    cgroups.has_kill = false;
    remove_base(UNIFIED);
  }
}

static void set_up_cgroups(void) {
  set_up_v1(V1_MEMORY, LIMIT_MEMORY, "memory.limit_in_bytes");
  set_up_v1(V1_PIDS, LIMIT_PIDS, "pids.max");
  set_up_v1(V1_CPU, LIMIT_CPU, "cpu.cfs_quota_us");
  set_up_unified();
  record_cgroups();
}

/*
 * At level `cgroup`, the lock file names the cgroup of all attempts, and a later process must find it gone. It must
 * look in the same hierarchy: without that mount, or with another one there, the path is missing even if processes
 * live.
 */
static void record_cgroup_in_lock(void) {
  char mount_point[PATH_MAX], own[PATH_MAX], text[2 * PATH_MAX + 128];
  struct stat root;
  if (lock.fd < 0 || launcher.level != LEVEL_CGROUP) return;
  if (!find_hierarchy(killable_hierarchy(), mount_point, own) || stat(mount_point, &root) < 0) return drop_lock("the hierarchy of its cgroup was not found");
  snprintf(text, sizeof text, "mount %llu %llu %s\ncgroup %s\n", (unsigned long long)root.st_dev, (unsigned long long)root.st_ino, mount_point,
           cgroups.path[killable_hierarchy()]);
  if (!write_lock(text, (off_t)strlen(LOCK_RUNNING))) drop_lock(strerror(errno));
}

/* In a chroot, a mount namespace would lead back to the real root. */
static bool keeps_root(const struct namespace *namespace) {
  struct stat here, there;
  int status = 1;
  if (stat("/", &here) < 0) return false;
  pid_t pid = fork();
  if (pid == 0)
    _exit(setns(namespace->mountns, CLONE_NEWNS) < 0 || stat("/", &there) < 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino);
  return pid > 0 && waitpid(pid, &status, __WALL) == pid && status == 0;
}

/* Without privileges: enters a user namespace that keeps the user id and has the capabilities of root. */
static bool enter_user_namespace(void) {
  char map[64];
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER) < 0) return false;
  snprintf(map, sizeof map, "%u %u 1", uid, uid);
  if (!write_text(AT_FDCWD, "/proc/self/uid_map", map) || !write_text(AT_FDCWD, "/proc/self/setgroups", "deny")) return false;
  snprintf(map, sizeof map, "%u %u 1", gid, gid);
  return write_text(AT_FDCWD, "/proc/self/gid_map", map);
}

static bool can_create_namespaces(bool may_use_user_namespace) {
  if (!has_capability(CAP_SYS_ADMIN)) {
    if (!may_use_user_namespace) {
      add_reason("PID namespaces need root; if requested explicitly, they run in a user namespace, where setuid programs such as sudo do not work");
      return false;
    }
    if (!enter_user_namespace()) {
      add_reason("user namespaces are not available: %s", strerror(errno));
      return false;
    }
    launcher.can_switch_user = false;
    launcher.is_in_user_namespace = true;
  }
  launcher.own_pidns = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  struct namespace *namespace = create_namespace();
  if (!namespace) {
    add_reason("PID namespaces with their own /proc are not available: %s", strerror(errno));
    return false;
  }
  if (keeps_root(namespace)) return true;
  add_reason("PID namespaces with their own /proc are not available in a chroot");
  kill_namespace(namespace);
  return false;
}

/* Whether the mount for secrets is a separate file system that can be covered without an effect on the machine. */
static bool can_cover(void) {
  struct stat mount_stat, above;
  int status = 1;
  if (stat(SECRETS_MOUNT, &mount_stat) < 0 || stat(SECRETS_MOUNT "/..", &above) < 0 || mount_stat.st_dev == above.st_dev) return false;
  pid_t pid = fork();
  if (pid == 0) _exit(unshare(CLONE_NEWNS) < 0 || !cover_with_tmpfs(SECRETS_MOUNT));
  return pid > 0 && waitpid(pid, &status, __WALL) == pid && status == 0;
}

static bool set_up_level(const char *wanted) {
  bool is_any = !strcmp(wanted, "auto");
  launcher.limits |= LIMIT_FILES;
  launcher.can_switch_user = has_capability(CAP_SETUID) && has_capability(CAP_SETGID);
  set_up_cgroups();
  launcher.level = LEVEL_PIDNS;
  if ((is_any || !strcmp(wanted, "pidns")) && can_create_namespaces(!is_any)) {
    launcher.can_hide_files = can_cover();
    return true;
  }
  launcher.level = LEVEL_CGROUP;
  if ((is_any || !strcmp(wanted, "cgroup")) && (cgroups.has_kill || cgroups.base[V1_PIDS] >= 0)) return true;
  launcher.level = LEVEL_GROUP;
  return is_any || !strcmp(wanted, "group");
}

/* ---------------------------------------------------------------------------------------------- */
/* Main loop and exit                                                                             */

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
    if (launcher.level == LEVEL_GROUP) is_left |= kill_found(a);
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
  for (size_t i = 0; i < children.count; i++) add_tree(&found, children.list[i]);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  free(children.list);
  free(found.list);
}

static _Noreturn void leave(int code) {
  static bool is_leaving;
  if (is_leaving) _exit(code);
  is_leaving = true;
  kill_everything();
  bool is_left;
  for (int64_t until = now() + SWEEP_LIMIT; (is_left = is_any_left() || has_children()) && now() < until;) {
    kill_children();
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    siginfo_t info = {.si_pid = 0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL) == 0 && info.si_pid > 0) {
      struct attempt *attempt = attempt_of(info.si_pid);
      if (attempt) attempt->has_exited = true;
      for (struct namespace *namespace = launcher.namespaces; namespace; namespace = namespace->next)
        if (namespace->init == info.si_pid) namespace->is_dead = true;
      info.si_pid = 0;
    }
  }
  while (launcher.attempts) remove_attempt(launcher.attempts);
  while (cgroups.idle) {
    struct cgroup *cgroup = cgroups.idle;
    cgroups.idle = cgroup->next;
    remove_cgroup(cgroup);
  }
  remove_leftovers();
  for (int h = 0; h < HIERARCHIES; h++) remove_base((enum hierarchy)h);
  /* Keep the record of processes that could not be killed for the next launcher. */
  if (notes.fd >= 0 && !is_left) unlink(notes.path);
  if (lock.fd >= 0 && code == EXIT_REFUSED) unlink(lock.path);
  else if (lock.fd >= 0 && !is_left) write_lock(LOCK_ENDED, 0);
  /* Tools that examine the launcher at its exit fork a process, which cannot start in a dead namespace. */
  enter_pidns(NULL);
  exit(code);
}

static void check_deadlines(void) {
  int64_t instant = now();
  for (struct attempt *a = launcher.attempts, *next; a; a = next) {
    next = a->next;
    if (instant >= a->deadline) {
      a->deadline = NEVER;
      /* An attempt that was stopped for another reason has not timed out. */
      a->has_timed_out = !a->was_stopped;
      stop(a, a->grace_ms);
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

static int until_next_ms(void) {
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

static void dispatch(struct source *source, uint32_t events) {
  struct attempt *attempt = source->owner;
  struct signalfd_siginfo signals[8];
  switch (source->kind) {
  case FROM_ORDERS: return read_orders();
  case FROM_REPORTS:
    if (events & (EPOLLHUP | EPOLLERR)) leave(0);
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
    int count = epoll_wait(launcher.epoll, events, 64, until_next_ms());
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
   * The worker handles signals to the terminal's group. They are blocked instead of ignored: children would inherit
   * ignored signals.
   */
  const int held[] = {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) sigaddset(&handled, held[i]);
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

  launcher.null = open("/dev/null", O_RDWR | O_CLOEXEC);
  launcher.children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  launcher.epoll = epoll_create1(EPOLL_CLOEXEC);
  launcher.failures = mmap(NULL, MAX_ATTEMPTS * sizeof *launcher.failures, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (launcher.null < 0 || launcher.epoll < 0 || launcher.signals.fd < 0 || launcher.failures == MAP_FAILED) fail(EXIT_OS, strerror(errno));
  while (launcher.free_count < MAX_ATTEMPTS) launcher.free_slots[launcher.free_count] = MAX_ATTEMPTS - 1 - launcher.free_count, launcher.free_count++;

  launcher.orders = (struct source){.kind = FROM_ORDERS, .fd = ORDERS};
  launcher.reports = (struct source){.kind = FROM_REPORTS, .fd = REPORTS};
  watch(&launcher.signals, EPOLLIN);
  open_notes(arguments[2]);
  take_lock(count == 4 ? arguments[3] : "");
  if (!set_up_level(arguments[1])) {
    put_head(text_size(launcher.why), REPORT_REFUSED);
    put_text(launcher.why);
    send_reports();
    leave(EXIT_REFUSED);
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
