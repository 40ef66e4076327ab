/*
 * The native launcher: starts the processes of a worker and answers for them. It does what
 * src/worker/launcher/node does, with the help of the kernel that Node cannot ask for.
 *
 *   launcher LEVEL NOTES        LEVEL: auto, pidns, cgroup or group; NOTES: a directory, or nothing
 *
 * Descriptor 0 brings orders, 4 takes reports, 3 is the lifeline (see lifeline.ts). One thread, one
 * epoll; nothing here waits for anybody, except for a fresh init to mount its /proc. The frames are
 * those of src/worker/launcher/wire.ts.
 *
 * A promise to keep in mind while reading: when a process ends, everything it has started ends before
 * its end is reported. The levels differ in how surely.
 *
 *   pidns   Each attempt runs in a cell: a PID namespace whose init we have forked. We are the parent of
 *           the attempt's process and put it there with setns, so its end reaches us directly. The init
 *           kills what is left with one kill(-1), which no fork can outrun, and the empty cell serves the
 *           next attempt: making one costs more than starting a process. The kernel kills an init whose
 *           launcher dies, and with it all that is in its namespace.
 *   cgroup  Each attempt is born in a control group of its own, which is killed as one.
 *   group   A session and a group. What breaks away becomes our child when its parents end, because we
 *           are a subreaper, and is recognised by its session, its environment or its age.
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
enum { ENDED_OOM = 1, ENDED_TIMED_OUT = 2, ENDED_LAPSED = 4 };

/* How we leave when we do not leave well. */
enum { EXIT_USAGE = 64, EXIT_GARBAGE = 65, EXIT_REFUSED = 69, EXIT_OS = 71 };

#define MS INT64_C(1000000)
#define NEVER INT64_MAX
#define FRAME_HEAD 5u
#define LONGEST_FRAME (64u * 1024 * 1024)
#define READ_SIZE (64u * 1024)
/* So much may wait for the worker before nobody is read any more, and so much when they are again. */
#define REPORTS_HIGH (512u * 1024)
#define REPORTS_LOW (64u * 1024)
/* How long output may stay open after everything we know of is gone: somebody broke away. */
#define OUTPUT_GRACE (500 * MS)
/* What cannot be killed in this time waits for the kernel, not for us. */
#define SWEEP_LIMIT (5000 * MS)
#define SWEEP_AGAIN (20 * MS)
#define MOST_ATTEMPTS 16384
#define MOST_IDLE 32
#define NOTE_HEAD 4096
#define NOTE_SIZE 128

/* ---------------------------------------------------------------------------------------------- */
/* What there is                                                                                  */

struct attempt;

enum source_kind { FROM_ORDERS, FROM_REPORTS, FROM_SIGNALS, FROM_MOUNTS, FROM_CELL, FROM_CHILD_OUT,
                   FROM_CHILD_ERR, FROM_CHILD_IN, FROM_OOM, FROM_EVENTS };

/* What epoll hands back. */
struct source {
  enum source_kind kind;
  int fd;
  bool is_watched;
  uint32_t events;
  void *owner;
};

/* A PID namespace with an init, empty or with one attempt in it. */
struct cell {
  struct cell *next;
  pid_t init;
  struct source line;
  int pidns, mountns;
  struct attempt *tenant;
  bool is_stale, is_dead;
};

/* A control group directory of an attempt, in each hierarchy of the mask. */
struct box {
  struct box *next;
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
  bool has_exited, was_stopped, is_paused, has_timed_out, has_lapsed, is_oom, has_asked, is_swept, is_over;
  unsigned long refused;
  int64_t started, deadline, kill_at, output_until, sweep_until, sweep_again;
  uint64_t started_ticks;
  double grace_ms;
  struct source out[2], in, oom;
  char *input;
  size_t input_size, input_sent;
  struct cell *cell;
  struct box *box;
  unsigned limits;
  char *run, *fence, *file, *cwd;
};

/* What a start order says; its texts stand in the buffer that brought it. */
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
};

/* Where a child failed before it became the program; it tells through shared memory. */
enum stage { STAGE_NONE, STAGE_CGROUP, STAGE_NOTES, STAGE_NAMESPACE, STAGE_USER, STAGE_FILES, STAGE_CWD, STAGE_EXEC,
             STAGE_OTHER };
struct failure {
  int32_t stage, error, pid;
};

enum hierarchy { UNIFIED, V1_MEMORY, V1_PIDS, V1_CPU, HIERARCHIES };

static struct {
  enum level level;
  unsigned limits;
  bool can_switch_user, is_in_user_namespace;
  char why[1024];
  int epoll, null, own_pidns, children;
  pid_t pid;
  struct source orders, reports, signals, mounts;
  struct attempt *attempts, *over;
  struct cell *cells;
  const struct cell *birthplace;
  struct failure *failures;
  unsigned free_slots[MOST_ATTEMPTS], free_count;
  uint64_t lifeline;
  bool is_held_up;
  char cwd[PATH_MAX], identity[96];
} our;

static struct {
  int base[HIERARCHIES];
  char path[HIERARCHIES][PATH_MAX];
  bool has_kill, can_be_born_in;
  struct box *idle;
  unsigned idle_count, next_name;
  char leftover[MOST_IDLE][24];
} cgroups = {.base = {-1, -1, -1, -1}};

static struct {
  int fd;
  char path[PATH_MAX];
} notes = {.fd = -1};

static _Noreturn void leave(int code);

/* ---------------------------------------------------------------------------------------------- */
/* Small things                                                                                   */

static _Noreturn void fail(int code, const char *what) {
  dprintf(2, "punctual launcher: %s\n", what);
  leave(code);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* The instant in the unit in which the kernel says when a process was started. */
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
  /* Beyond a few centuries it is never; a double holds more than we can add. */
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

/* The beginning of a file, as text. */
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

static void because(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void because(const char *format, ...) {
  size_t length = strlen(our.why);
  va_list values;
  va_start(values, format);
  if (length > 0) length += (size_t)snprintf(our.why + length, sizeof our.why - length, "; ");
  if (length < sizeof our.why) vsnprintf(our.why + length, sizeof our.why - length, format, values);
  va_end(values);
}

static void watch(struct source *source, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = source};
  if (source->is_watched && source->events == events) return;
  source->events = events;
  int verb = source->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(our.epoll, verb, source->fd, &event) == 0) source->is_watched = true;
}

/* Said, and not left to close: a child that has not become its program yet still holds a copy. */
static void unwatch(struct source *source) {
  if (source->is_watched) epoll_ctl(our.epoll, EPOLL_CTL_DEL, source->fd, NULL);
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
} out;

static size_t waiting_bytes(void) { return out.to - out.from; }

/* Room for so many more bytes, in one piece. */
static unsigned char *room_for(size_t size) {
  if (out.room - out.to < size && out.from > 0) {
    memmove(out.bytes, out.bytes + out.from, waiting_bytes());
    out.to -= out.from;
    out.from = 0;
  }
  if (out.room - out.to < size) {
    out.room = out.to + size + READ_SIZE;
    out.bytes = realloc(out.bytes, out.room);
    if (!out.bytes) _exit(EXIT_OS);
  }
  return out.bytes + out.to;
}

static void put(const void *bytes, size_t size) {
  memcpy(room_for(size), bytes, size);
  out.to += size;
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

static void hold_everybody(bool is_held_up);

/* Whatever was said in one turn leaves together. */
static void send_reports(void) {
  while (waiting_bytes() > 0) {
    ssize_t sent = send(REPORTS, out.bytes + out.from, waiting_bytes(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) leave(0);
    if (sent < 0) break;
    out.from += (size_t)sent;
  }
  if (waiting_bytes() == 0) out.from = out.to = 0;
  watch(&our.reports, waiting_bytes() > 0 ? EPOLLOUT : 0);
  if (our.is_held_up && waiting_bytes() <= REPORTS_LOW) hold_everybody(false);
}

static void report_ready(void) {
  put_head(3 + text_size(our.why), REPORT_READY);
  put_u8((uint8_t)our.level);
  put_u8((uint8_t)our.limits);
  put_u8(our.can_switch_user);
  put_text(our.why);
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
    /* Whoever reads while it is written finds that the two differ. */
    if (instant[0] == instant[1]) return instant[0];
  }
  return 0;
}

static bool is_lifeline_held(void) {
  uint64_t instant = (uint64_t)now();
  if (our.lifeline <= instant) our.lifeline = read_lifeline();
  return our.lifeline > instant;
}

/* ---------------------------------------------------------------------------------------------- */
/* Looking at processes                                                                           */

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

struct seen {
  char state;
  pid_t parent, group, session;
  uint64_t started;
};

static bool look_at(pid_t pid, struct seen *seen) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if (read_text(AT_FDCWD, path, text, sizeof text) <= 0) return false;
  /* The name in parentheses may hold anything, parentheses too; what follows it is numbers. */
  const char *rest = strrchr(text, ')');
  unsigned long long started = 0;
  int found = rest ? sscanf(rest + 1, " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                            &seen->state, &seen->parent, &seen->group, &seen->session, &started)
                   : 0;
  seen->started = started;
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

/* Kernels may be built without lists of children; then every process is asked for its parent. */
static void add_children_slowly(struct pids *pids, pid_t parent) {
  DIR *directory = opendir("/proc");
  if (!directory) return;
  for (struct dirent *entry; (entry = readdir(directory));) {
    pid_t pid = atoi(entry->d_name);
    struct seen seen;
    if (pid > 0 && look_at(pid, &seen) && seen.parent == parent) add_pid(pids, pid);
  }
  closedir(directory);
}

static void add_children(struct pids *pids, pid_t parent) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", parent);
  if (our.children < 0) return add_children_slowly(pids, parent);
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
  if (our.children < 0) add_children_slowly(pids, our.pid);
  else add_numbers(pids, our.children);
}

/* Whether both variables stand in its environment, which everything inherits wherever it goes. */
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
/* Notes: what is under way, for whoever comes after we were killed                               */

static void open_notes(const char *directory) {
  if (!directory[0]) return;
  if ((size_t)snprintf(notes.path, sizeof notes.path, "%s/%s", directory, our.identity) >= sizeof notes.path) return;
  notes.fd = open(notes.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (notes.fd < 0) because("nothing can be noted in %s", directory);
}

static void note_cgroups(void) {
  char head[NOTE_HEAD];
  size_t size = 0;
  for (int h = 0; h < HIERARCHIES; h++)
    if (cgroups.base[h] >= 0 && size < sizeof head)
      size += (size_t)snprintf(head + size, sizeof head - size, "cgroup %s\n", cgroups.path[h]);
  if (notes.fd >= 0 && size < sizeof head && pwrite(notes.fd, head, size, 0) < 0) because("notes cannot be written");
}

static off_t note_place(const struct attempt *attempt) { return NOTE_HEAD + (off_t)attempt->slot * NOTE_SIZE; }

/* Written by the child itself, so that nothing is started which is not noted; false with errno. */
static bool note_self(const struct attempt *attempt) {
  if (notes.fd < 0 || our.level == LEVEL_PIDNS) return true;
  char line[NOTE_SIZE + 1];
  const char *run = attempt->run ? strchr(attempt->run, '=') + 1 : "-", *fence = attempt->fence ? strchr(attempt->fence, '=') + 1 : "-";
  int size = snprintf(line, sizeof line, "%d %llu %.64s %.24s", getpid(), (unsigned long long)boot_ticks(), run, fence);
  memset(line + size, ' ', (size_t)(NOTE_SIZE - size));
  line[NOTE_SIZE - 1] = '\n';
  errno = ENOSPC;
  return pwrite(notes.fd, line, NOTE_SIZE, note_place(attempt)) == NOTE_SIZE;
}

static void forget_note(const struct attempt *attempt) {
  if (notes.fd < 0 || our.level == LEVEL_PIDNS) return;
  char blank[NOTE_SIZE];
  memset(blank, ' ', sizeof blank - 1);
  blank[NOTE_SIZE - 1] = '\n';
  if (pwrite(notes.fd, blank, sizeof blank, note_place(attempt)) < 0) return;
}

/* ---------------------------------------------------------------------------------------------- */
/* Level `group`                                                                                  */

static bool is_known(pid_t pid) {
  for (struct attempt *a = our.attempts; a; a = a->next)
    if (a->pid == pid && !a->has_exited) return true;
  for (struct cell *c = our.cells; c; c = c->next)
    if (c->init == pid) return true;
  return false;
}

/* Whether a child that came to us as an orphan was started by this attempt. */
static bool is_of(pid_t pid, const struct seen *seen, const struct attempt *attempt) {
  if (seen->session == attempt->pid || seen->group == attempt->pid || has_mark(pid, attempt)) return true;
  /* One that has dropped everything is nobody's only if it is older than all others under way. */
  for (struct attempt *a = our.attempts; a; a = a->next) {
    if (a == attempt || a->has_exited) continue;
    if (seen->session == a->pid || seen->group == a->pid || seen->started >= a->started_ticks || has_mark(pid, a)) return false;
  }
  return true;
}

/* All that descends from one process, itself included. */
static void add_tree(struct pids *pids, pid_t root) {
  size_t at = pids->count;
  add_pid(pids, root);
  for (; at < pids->count; at++) add_children(pids, pids->list[at]);
}

/* Kills what can be found of an attempt, and says whether there was anything. */
static bool kill_found(struct attempt *attempt) {
  struct pids orphans = {0}, found = {0};
  if (!attempt->has_exited) {
    add_tree(&found, attempt->pid);
    kill(-attempt->pid, SIGKILL);
  }
  add_own_children(&orphans);
  for (size_t i = 0; i < orphans.count; i++) {
    struct seen seen;
    pid_t pid = orphans.list[i];
    if (!is_known(pid) && look_at(pid, &seen) && seen.state != 'Z' && is_of(pid, &seen, attempt)) add_tree(&found, pid);
  }
  /* Stopped first: what cannot run cannot fork while the others are killed. */
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGSTOP);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  bool any = found.count > 0;
  free(orphans.list);
  free(found.list);
  return any;
}

/* ---------------------------------------------------------------------------------------------- */
/* Level `pidns`: cells                                                                           */

static pid_t fork_with(uint64_t flags, int cgroup) {
  struct clone_args arguments = {.flags = flags, .exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD};
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = (uint64_t)cgroup;
  }
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  /* Some sandboxes know only the older call, and say that the newer one does not exist. */
  if (pid < 0 && errno == ENOSYS && cgroup < 0) pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
  return (pid_t)pid;
}

/* One byte each way over a cell's line. */
enum { CELL_GO = 'g', CELL_KILL = 'k', CELL_SWEEP = 's', CELL_READY = 'r', CELL_EMPTY = 'e', CELL_SPOILT = 'x' };

static _Noreturn void be_init(int line) {
  struct pollfd mounts = {.events = POLLPRI};
  char word;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "punctual-init");
  signal(SIGCHLD, SIG_IGN);
  dup2(line, 0);
  syscall(SYS_close_range, 3u, ~0u, 0u);
  /* Jobs see and change the mounts of the machine as ever; only /proc is the cell's own. */
  if (mount(NULL, "/proc", NULL, MS_PRIVATE | MS_REC, NULL) < 0 ||
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
    int error = errno;
    if (write(0, &error, sizeof error) < 0) _exit(1);
    _exit(0);
  }
  /* Once the launcher has hold of our namespaces, nobody may look into us: not even jobs of our user. */
  if (read(0, &word, 1) != 1) _exit(1);
  prctl(PR_SET_DUMPABLE, 0);
  mounts.fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  word = CELL_READY;
  /* Nobody listens if the launcher died before we asked to die with it. */
  if (write(0, &word, 1) != 1) _exit(1);
  while (read(0, &word, 1) == 1) {
    kill(-1, SIGKILL);
    if (word != CELL_SWEEP) continue;
    /* Ignored children are buried by the kernel; we only wait until there are none. */
    while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR) {}
    word = poll(&mounts, 1, 0) > 0 ? CELL_SPOILT : CELL_EMPTY;
    if (write(0, &word, 1) != 1) break;
  }
  _exit(0);
}

static void enter(const struct cell *cell) {
  if (our.birthplace == cell) return;
  if (setns(cell ? cell->pidns : our.own_pidns, CLONE_NEWPID) == 0) our.birthplace = cell;
}

static int open_namespace(pid_t pid, const char *kind) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static void bury_cell(struct cell *cell) {
  struct cell **at = &our.cells;
  while (*at && *at != cell) at = &(*at)->next;
  if (*at) *at = cell->next;
  if (our.birthplace == cell) enter(NULL);
  close_source(&cell->line);
  close_fd(&cell->pidns);
  close_fd(&cell->mountns);
  free(cell);
}

/* A new cell, or NULL with errno. */
static struct cell *make_cell(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return NULL;
  enter(NULL);
  pid_t pid = fork_with(CLONE_NEWPID | CLONE_NEWNS, -1);
  if (pid == 0) be_init(pair[1]);
  int error = errno;
  close(pair[1]);
  if (pid < 0) {
    close(pair[0]);
    errno = error;
    return NULL;
  }
  struct cell *cell = allocate(sizeof *cell);
  *cell = (struct cell){.next = our.cells, .init = pid, .line = {.kind = FROM_CELL, .fd = pair[0], .owner = cell},
                        .pidns = open_namespace(pid, "pid"), .mountns = open_namespace(pid, "mnt")};
  our.cells = cell;
  struct timeval patience = {.tv_sec = 5};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  error = 0;
  ssize_t size = write(pair[0], &(char){CELL_GO}, 1) == 1 ? recv(pair[0], &error, sizeof error, 0) : -1;
  if (size == 1 && cell->pidns >= 0 && cell->mountns >= 0) {
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    watch(&cell->line, EPOLLIN);
    return cell;
  }
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  bury_cell(cell);
  errno = size == sizeof error ? error : EIO;
  return NULL;
}

static struct cell *free_cell(void) {
  for (struct cell *cell = our.cells; cell; cell = cell->next)
    if (!cell->tenant && !cell->is_dead && !cell->is_stale) return cell;
  return make_cell();
}

/* The kernel ends all that is in it; we hear of its death like of any other. */
static void end_cell(struct cell *cell) {
  cell->is_stale = true;
  if (!cell->is_dead) kill(cell->init, SIGKILL);
}

static void vacate(struct cell *cell) {
  cell->tenant = NULL;
  unsigned idle = 0;
  for (struct cell *c = our.cells; c; c = c->next) idle += !c->tenant && !c->is_stale;
  if (cell->is_stale || idle > MOST_IDLE) end_cell(cell);
}

static void tell_cell(struct cell *cell, char word) {
  if (write(cell->line.fd, &word, 1) != 1) end_cell(cell);
}

/* Jobs must see mounts that were made after their cell was. */
static void renew_cells(void) {
  for (struct cell *cell = our.cells; cell; cell = cell->next) {
    cell->is_stale = true;
    if (!cell->tenant) end_cell(cell);
  }
}

/* ---------------------------------------------------------------------------------------------- */
/* Control groups: level `cgroup`, and limits at every level                                      */

static const char *const V1_NAMES[HIERARCHIES] = {"", "memory", "pids", "cpu"};

static unsigned limit_homes(unsigned limits) {
  unsigned where = 0;
  bool is_v1 = cgroups.base[V1_MEMORY] >= 0 || cgroups.base[V1_PIDS] >= 0 || cgroups.base[V1_CPU] >= 0;
  if (!is_v1) return limits & (LIMIT_MEMORY | LIMIT_CPU | LIMIT_PIDS) ? 1u << UNIFIED : 0;
  if (limits & LIMIT_MEMORY) where |= 1u << V1_MEMORY;
  if (limits & LIMIT_PIDS) where |= 1u << V1_PIDS;
  if (limits & LIMIT_CPU) where |= 1u << V1_CPU;
  return where;
}

/* The hierarchy whose groups can be killed. */
static enum hierarchy killing(void) { return cgroups.has_kill ? UNIFIED : V1_PIDS; }

static const char *inside(const struct box *box, const char *file) {
  static char path[96];
  snprintf(path, sizeof path, "%s/%s", box->name, file);
  return path;
}

static bool set_in(enum hierarchy h, const struct box *box, const char *file, const char *format, ...) __attribute__((format(printf, 4, 5)));
static bool set_in(enum hierarchy h, const struct box *box, const char *file, const char *format, ...) {
  char text[64];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return write_text(cgroups.base[h], inside(box, file), text);
}

static bool limit_memory(const struct box *box, double bytes) {
  unsigned long long limit = (unsigned long long)bytes;
  if (box->where & (1u << UNIFIED) && cgroups.base[V1_MEMORY] < 0)
    /* Killed as one, and without swap, where an attempt could grow unseen. */
    return set_in(UNIFIED, box, "memory.max", "%llu", limit) && set_in(UNIFIED, box, "memory.oom.group", "1") &&
           (set_in(UNIFIED, box, "memory.swap.max", "0") || errno == ENOENT);
  if (!set_in(V1_MEMORY, box, "memory.limit_in_bytes", "%llu", limit)) return false;
  /* Without an account of swap, the kernel is told not to use it. */
  return set_in(V1_MEMORY, box, "memory.memsw.limit_in_bytes", "%llu", limit) || set_in(V1_MEMORY, box, "memory.swappiness", "0");
}

static bool limit_pids(const struct box *box, unsigned pids) {
  return set_in(cgroups.base[V1_PIDS] >= 0 ? V1_PIDS : UNIFIED, box, "pids.max", "%u", pids);
}

static bool limit_cpu(const struct box *box, double cores) {
  long quota = (long)(cores * 100000);
  /* The kernel takes no less than a millisecond. */
  if (quota < 1000) quota = 1000;
  if (cgroups.base[V1_CPU] >= 0)
    return set_in(V1_CPU, box, "cpu.cfs_period_us", "100000") && set_in(V1_CPU, box, "cpu.cfs_quota_us", "%ld", quota);
  return set_in(UNIFIED, box, "cpu.max", "%ld 100000", quota);
}

static void remove_box(struct box *box) {
  bool is_left = false;
  close_source(&box->events);
  close_fd(&box->dir);
  for (int h = 0; h < HIERARCHIES; h++)
    if (box->where & (1u << h) && unlinkat(cgroups.base[h], box->name, AT_REMOVEDIR) < 0 && errno != ENOENT) is_left = true;
  /* The dead may take the kernel a moment; it is tried again with the next ones. */
  for (int i = 0; is_left && i < MOST_IDLE; i++)
    if (!cgroups.leftover[i][0]) {
      memcpy(cgroups.leftover[i], box->name, sizeof box->name);
      break;
    }
  free(box);
}

static void remove_leftovers(void) {
  for (int i = 0; i < MOST_IDLE; i++) {
    bool is_left = false;
    if (!cgroups.leftover[i][0]) continue;
    for (int h = 0; h < HIERARCHIES; h++)
      if (cgroups.base[h] >= 0 && unlinkat(cgroups.base[h], cgroups.leftover[i], AT_REMOVEDIR) < 0 && errno != ENOENT) is_left = true;
    if (!is_left) cgroups.leftover[i][0] = 0;
  }
}

/* Directories for an attempt, or NULL with errno. Those without limits serve again and again. */
static struct box *make_box(unsigned where, bool is_for_limits) {
  if (!is_for_limits && cgroups.idle) {
    struct box *box = cgroups.idle;
    cgroups.idle = box->next;
    cgroups.idle_count--;
    return box;
  }
  remove_leftovers();
  struct box *box = allocate(sizeof *box);
  box->dir = box->events.fd = -1;
  snprintf(box->name, sizeof box->name, "%u", cgroups.next_name++);
  for (int h = 0; h < HIERARCHIES; h++) {
    if (!(where & (1u << h))) continue;
    if (mkdirat(cgroups.base[h], box->name, 0755) < 0 && errno != EEXIST) {
      int error = errno;
      remove_box(box);
      errno = error;
      return NULL;
    }
    box->where |= 1u << h;
  }
  if (where & (1u << UNIFIED)) {
    box->dir = openat(cgroups.base[UNIFIED], box->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    box->events = (struct source){.kind = FROM_EVENTS, .fd = openat(box->dir, "cgroup.events", O_RDONLY | O_CLOEXEC)};
  }
  return box;
}

/* A group that was killed once kills whoever is born in it, on kernels of today. */
static void give_back(struct box *box, bool was_for_limits) {
  unwatch(&box->events);
  if (was_for_limits || box->was_killed || cgroups.idle_count >= MOST_IDLE) return remove_box(box);
  box->next = cgroups.idle;
  cgroups.idle = box;
  cgroups.idle_count++;
}

static bool is_box_empty(const struct box *box) {
  char text[256];
  if (cgroups.has_kill) {
    ssize_t size = pread(box->events.fd, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    return size <= 0 || number_after(text, "populated") == 0;
  }
  return read_text(cgroups.base[V1_PIDS], inside(box, "cgroup.procs"), text, sizeof text) <= 0;
}

static void kill_box(struct box *box) {
  box->was_killed = true;
  if (cgroups.has_kill) {
    set_in(UNIFIED, box, "cgroup.kill", "1");
    return;
  }
  /* Nobody can fork while it is being killed. */
  set_in(V1_PIDS, box, "pids.max", "0");
  int fd = openat(cgroups.base[V1_PIDS], inside(box, "cgroup.procs"), O_RDONLY | O_CLOEXEC);
  struct pids found = {0};
  if (fd >= 0) add_numbers(&found, fd), close(fd);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  free(found.list);
}

/* On v1 the kernel kills one process of a group that has no memory left; we are told, and kill all. */
static void watch_memory(struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_MEMORY) || cgroups.base[V1_MEMORY] < 0) return;
  int control = openat(cgroups.base[V1_MEMORY], inside(attempt->box, "memory.oom_control"), O_RDONLY | O_CLOEXEC);
  attempt->oom = (struct source){.kind = FROM_OOM, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .owner = attempt};
  if (control >= 0 && attempt->oom.fd >= 0 && set_in(V1_MEMORY, attempt->box, "cgroup.event_control", "%d %d", attempt->oom.fd, control))
    watch(&attempt->oom, EPOLLIN);
  close_fd(&control);
}

static unsigned long count_in(enum hierarchy h, const struct box *box, const char *file, const char *word) {
  char text[512];
  read_text(cgroups.base[h], inside(box, file), text, sizeof text);
  return number_after(text, word);
}

static bool was_out_of_memory(const struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_MEMORY)) return false;
  return cgroups.base[V1_MEMORY] >= 0 ? count_in(V1_MEMORY, attempt->box, "memory.oom_control", "oom_kill") > 0
                                      : count_in(UNIFIED, attempt->box, "memory.events", "oom_kill") > 0;
}

static unsigned long pids_refused(const struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_PIDS)) return 0;
  return count_in(cgroups.base[V1_PIDS] >= 0 ? V1_PIDS : UNIFIED, attempt->box, "pids.events", "max");
}

/* ---------------------------------------------------------------------------------------------- */
/* From order to program                                                                          */

static void give_up(struct failure *failure, enum stage stage) {
  failure->error = errno;
  failure->stage = (int32_t)stage;
  _exit(127);
}

/*
 * The kernel does this only for a launcher that is root. One that a service manager gave capabilities
 * would hand them to whomever it becomes. What may still be bounded stays: without new privileges nobody
 * gets it, and programs that have some of it in their file could not even be executed.
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

/* Either it is that user afterwards, and nobody else in any way, or it is nothing. */
static void become_user(const struct order *order, struct failure *failure) {
  uid_t uid[3];
  gid_t gid[3];
  if (syscall(SYS_setgroups, (size_t)order->group_count, order->groups) < 0 || syscall(SYS_setgid, order->gid) < 0 ||
      syscall(SYS_setuid, order->uid) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    give_up(failure, STAGE_USER);
  errno = EPERM;
  if (getresuid(&uid[0], &uid[1], &uid[2]) < 0 || getresgid(&gid[0], &gid[1], &gid[2]) < 0) give_up(failure, STAGE_USER);
  for (int i = 0; i < 3; i++)
    if (uid[i] != order->uid || gid[i] != order->gid) give_up(failure, STAGE_USER);
  if (getgroups(0, NULL) != (int)order->group_count) give_up(failure, STAGE_USER);
  /* Root without them would not be root. */
  if (order->uid != 0 && !drop_capabilities()) give_up(failure, STAGE_USER);
}

static void enter_box(const struct attempt *attempt, bool is_born_there, struct failure *failure) {
  if (!attempt->box) return;
  for (int h = 0; h < HIERARCHIES; h++) {
    if (!(attempt->box->where & (1u << h)) || (h == UNIFIED && is_born_there)) continue;
    if (!write_text(cgroups.base[h], inside(attempt->box, "cgroup.procs"), "0")) give_up(failure, STAGE_CGROUP);
  }
}

/* In the child. Everything is checked; what fails is told through `failure`. */
static _Noreturn void become(const struct order *order, const struct attempt *attempt, const int ends[3], bool is_born_in_box) {
  struct failure *failure = &our.failures[attempt->slot];
  struct rlimit none = {0, 0};
  sigset_t all_clear;
  sigemptyset(&all_clear);
  setsid();
  enter_box(attempt, is_born_in_box, failure);
  if (!note_self(attempt)) give_up(failure, STAGE_NOTES);
  if (attempt->cell && setns(attempt->cell->mountns, CLONE_NEWNS) < 0) give_up(failure, STAGE_NAMESPACE);
  for (int i = 0; i < 3; i++)
    if (dup2(ends[i], i) < 0) give_up(failure, STAGE_OTHER);
  /* Closed by the exec, so that whoever fails before it can still tell. */
  syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
  setrlimit(RLIMIT_CORE, &none);
  if (order->files > 0) {
    struct rlimit files = {order->files, order->files};
    if (setrlimit(RLIMIT_NOFILE, &files) < 0) give_up(failure, STAGE_FILES);
  }
  if (order->umask >= 0) umask((mode_t)order->umask);
  if (order->has_user) become_user(order, failure);
  /* For levels without an init that dies with us; a change of user would have undone it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!attempt->cell && getppid() != our.pid) _exit(127);
  /* A process that was moved to another mount namespace starts at its root. */
  if ((order->cwd[0] || attempt->cell) && chdir(order->cwd[0] ? order->cwd : our.cwd) < 0) give_up(failure, STAGE_CWD);
  environ = order->variables;
  sigprocmask(SIG_SETMASK, &all_clear, NULL);
  execvp(order->file, order->arguments);
  give_up(failure, STAGE_EXEC);
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
    snprintf(text, room, "it cannot run as that user here: %s", reason);
    return;
  case STAGE_CGROUP:
    snprintf(text, room, "its control group cannot be entered: %s", reason);
    return;
  case STAGE_NOTES:
    snprintf(text, room, "its start cannot be noted: %s", reason);
    return;
  case STAGE_FILES:
    snprintf(text, room, "its limit of files cannot be set: %s", reason);
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

static void flow(struct attempt *attempt) {
  bool is_read = !attempt->is_paused && !our.is_held_up;
  for (int i = 0; i < 2; i++) {
    struct source *source = &attempt->out[i];
    if (source->fd < 0 || source->is_watched == is_read) continue;
    if (is_read) watch(source, EPOLLIN);
    else unwatch(source);
  }
  /* Nobody loses what it printed because nobody could read it yet. */
  if (attempt->has_exited) attempt->output_until = is_read ? now() + OUTPUT_GRACE : NEVER;
}

static void hold_everybody(bool is_held_up) {
  our.is_held_up = is_held_up;
  for (struct attempt *a = our.attempts; a; a = a->next) flow(a);
}

static void feed(struct attempt *attempt) {
  while (attempt->input_sent < attempt->input_size) {
    ssize_t sent = write(attempt->in.fd, attempt->input + attempt->input_sent, attempt->input_size - attempt->input_sent);
    if (sent < 0 && errno == EAGAIN) {
      if (!attempt->in.is_watched) watch(&attempt->in, EPOLLOUT);
      return;
    }
    /* A process need not read what it is given. */
    if (sent < 0) break;
    attempt->input_sent += (size_t)sent;
  }
  close_source(&attempt->in);
  free(attempt->input);
  attempt->input = NULL;
}

static void forget(struct attempt *attempt) {
  for (int i = 0; i < 2; i++) close_source(&attempt->out[i]);
  close_source(&attempt->in);
  close_source(&attempt->oom);
  if (attempt->box) give_back(attempt->box, attempt->limits & ~LIMIT_FILES);
  if (attempt->cell) vacate(attempt->cell);
  our.free_slots[our.free_count++] = attempt->slot;
  struct attempt **at = &our.attempts;
  while (*at && *at != attempt) at = &(*at)->next;
  if (*at) *at = attempt->next;
  /* Events of this turn may still name it. */
  attempt->is_over = true;
  attempt->next = our.over;
  our.over = attempt;
}

static void bury_the_over(void) {
  while (our.over) {
    struct attempt *attempt = our.over;
    our.over = attempt->next;
    free(attempt->input);
    free(attempt->run);
    free(attempt->fence);
    free(attempt->file);
    free(attempt->cwd);
    free(attempt);
  }
}

/* Refuses in words what cannot be had here; NULL if everything can. */
static const char *refuse(const struct order *order, unsigned wanted) {
  static char text[1200];
  static const char *const names[] = {"memory", "processor time", "processes", "files"};
  if (our.free_count == 0) return "this launcher has no room for another process";
  if (!is_lifeline_held()) return "the lease had run out";
  if (order->has_nul) return "a text of it holds a zero byte, which no program can be given";
  if (order->has_user && !our.can_switch_user) return "this worker may not run processes as another user";
  for (int i = 0; i < 4; i++)
    if (wanted & ~our.limits & (1u << i)) {
      snprintf(text, sizeof text, "a limit of %s cannot be enforced here: %s", names[i], our.why);
      return text;
    }
  return NULL;
}

/* A place to live in, as the level and the limits ask for it; says in words what went wrong. */
static const char *house(struct attempt *attempt, const struct order *order) {
  static char text[256];
  unsigned limits = attempt->limits & ~LIMIT_FILES, where = limit_homes(limits);
  if (our.level == LEVEL_CGROUP) where |= 1u << killing();
  if (our.level == LEVEL_PIDNS) {
    attempt->cell = free_cell();
    if (!attempt->cell) goto failed;
    attempt->cell->tenant = attempt;
  }
  if (where == 0) return NULL;
  attempt->box = make_box(where, limits != 0);
  if (!attempt->box) goto failed;
  attempt->box->events.owner = attempt;
  if (limits & LIMIT_MEMORY && !limit_memory(attempt->box, order->memory)) goto failed;
  if (limits & LIMIT_PIDS && !limit_pids(attempt->box, order->pids)) goto failed;
  if (limits & LIMIT_CPU && !limit_cpu(attempt->box, order->cpu)) goto failed;
  watch_memory(attempt);
  return NULL;
failed:
  snprintf(text, sizeof text, "it cannot be contained: %s", strerror(errno));
  return text;
}

/*
 * In a user namespace we could enter the namespace of a cell but not come back. So a process in between
 * enters it, and its child becomes ours.
 */
static pid_t give_birth_through(const struct order *order, struct attempt *attempt, const int ends[3], int cgroup) {
  struct failure *told = &our.failures[attempt->slot];
  int status;
  pid_t between = fork_with(0, -1);
  if (between == 0) {
    if (setns(attempt->cell->pidns, CLONE_NEWPID) < 0) _exit(1);
    pid_t pid = fork_with(CLONE_PARENT, cgroup);
    if (pid == 0) become(order, attempt, ends, cgroup >= 0);
    told->pid = pid;
    _exit(0);
  }
  if (between < 0 || waitpid(between, &status, __WALL) != between) return -1;
  return told->pid > 0 ? told->pid : -1;
}

/* Into the control group where the kernel can do that; otherwise the child enters it by the door. */
static pid_t give_birth(const struct order *order, struct attempt *attempt, const int ends[3]) {
  bool is_born_in_box = attempt->box && attempt->box->dir >= 0 && cgroups.can_be_born_in;
  int cgroup = is_born_in_box ? attempt->box->dir : -1;
  attempt->started = now();
  attempt->started_ticks = boot_ticks();
  if (attempt->cell && our.is_in_user_namespace) return give_birth_through(order, attempt, ends, cgroup);
  enter(attempt->cell);
  if (our.birthplace != attempt->cell) return -1;
  pid_t pid = fork_with(0, cgroup);
  if (pid == 0) become(order, attempt, ends, is_born_in_box);
  return pid;
}

static void start(const struct order *order) {
  unsigned wanted = (order->memory > 0 ? LIMIT_MEMORY : 0u) | (order->cpu > 0 ? LIMIT_CPU : 0u) |
                    (order->pids > 0 ? LIMIT_PIDS : 0u) | (order->files > 0 ? LIMIT_FILES : 0u);
  const char *refusal = refuse(order, wanted);
  if (refusal) return report_unstartable(order->number, refusal);

  struct attempt *attempt = allocate(sizeof *attempt);
  *attempt = (struct attempt){.next = our.attempts, .number = order->number, .slot = our.free_slots[--our.free_count], .limits = wanted,
                              .deadline = NEVER, .kill_at = NEVER, .output_until = NEVER, .sweep_until = NEVER, .sweep_again = NEVER,
                              .grace_ms = order->grace_ms, .oom = {.fd = -1}, .in = {.kind = FROM_CHILD_IN, .fd = -1, .owner = attempt},
                              .out = {{.kind = FROM_CHILD_OUT, .fd = -1, .owner = attempt}, {.kind = FROM_CHILD_ERR, .fd = -1, .owner = attempt}},
                              .run = variable(order, "PUNCTUAL_RUN_ID="), .fence = variable(order, "PUNCTUAL_FENCE="),
                              .file = strdup(order->file), .cwd = strdup(order->cwd[0] ? order->cwd : our.cwd)};
  our.attempts = attempt;
  our.failures[attempt->slot] = (struct failure){0, 0, 0};

  int ours[3] = {-1, -1, -1}, ends[3] = {our.null, -1, -1};
  refusal = house(attempt, order);
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
  if (!refusal) attempt->pid = give_birth(order, attempt, ends);
  if (!refusal && attempt->pid < 0) {
    refusal = "this machine has no room for another process";
    if (attempt->cell) end_cell(attempt->cell);
  }
  /* Who got no pipe for its input still holds what is everybody's. */
  for (int i = 0; i < 3; i++)
    if (ends[i] != our.null) close_fd(&ends[i]);
  if (refusal) {
    report_unstartable(order->number, refusal);
    return forget(attempt);
  }
  if (order->timeout_ms >= 0) attempt->deadline = later(attempt->started, order->timeout_ms);
  flow(attempt);
  if (order->has_input) {
    attempt->input_size = order->input_size;
    attempt->input = allocate(order->input_size + 1);
    memcpy(attempt->input, order->input, order->input_size);
    feed(attempt);
  }
}

/* ---------------------------------------------------------------------------------------------- */
/* To the end                                                                                     */

static void kill_attempt(struct attempt *attempt) {
  attempt->was_stopped = true;
  attempt->kill_at = NEVER;
  if (attempt->limits & LIMIT_PIDS) attempt->refused = pids_refused(attempt);
  if (attempt->cell) tell_cell(attempt->cell, CELL_KILL);
  else if (our.level == LEVEL_CGROUP) kill_box(attempt->box);
  else kill_found(attempt);
  /* Should everything else have failed: it is still our child. */
  if (!attempt->has_exited) kill(attempt->pid, SIGKILL);
}

/* A later call can only shorten the grace. */
static void stop(struct attempt *attempt, double grace_ms) {
  if (attempt->has_exited) return;
  if (!(grace_ms > 0)) return kill_attempt(attempt);
  /* Before it has made itself a group it is one process. */
  if (!attempt->was_stopped && kill(-attempt->pid, SIGTERM) < 0) kill(attempt->pid, SIGTERM);
  attempt->was_stopped = true;
  int64_t kill_at = later(now(), grace_ms);
  if (kill_at < attempt->kill_at) attempt->kill_at = kill_at;
}

static void end_if_over(struct attempt *attempt) {
  if (!attempt->has_exited || !attempt->is_swept || attempt->is_over) return;
  if (attempt->out[0].fd >= 0 || attempt->out[1].fd >= 0) return;
  const struct failure *failure = &our.failures[attempt->slot];
  if (failure->stage != STAGE_NONE) {
    char text[PATH_MAX + 256];
    explain(failure, attempt->file, attempt->cwd, text, sizeof text);
    report_unstartable(attempt->number, text);
    return forget(attempt);
  }
  bool is_signal = WIFSIGNALED(attempt->status);
  if (attempt->limits & LIMIT_PIDS && attempt->refused == 0) attempt->refused = pids_refused(attempt);
  if (was_out_of_memory(attempt)) attempt->is_oom = true;
  put_head(18, REPORT_ENDED);
  put_u32(attempt->number);
  put_u32(is_signal ? UINT32_MAX : (uint32_t)WEXITSTATUS(attempt->status));
  put_u32(is_signal ? (uint32_t)WTERMSIG(attempt->status) : 0);
  put_u8((uint8_t)our.level);
  put_u8((attempt->is_oom ? ENDED_OOM : 0) | (attempt->has_timed_out ? ENDED_TIMED_OUT : 0) | (attempt->has_lapsed ? ENDED_LAPSED : 0));
  put_u32((uint32_t)attempt->refused);
  forget(attempt);
}

static void swept(struct attempt *attempt) {
  attempt->is_swept = true;
  attempt->sweep_until = attempt->sweep_again = NEVER;
  forget_note(attempt);
  end_if_over(attempt);
}

/* Ends what is left, without waiting for it; called again until nothing is. */
static void sweep(struct attempt *attempt) {
  if (attempt->is_swept) return;
  bool is_empty = true;
  if (attempt->cell) {
    if (!attempt->has_asked && !attempt->cell->is_dead) tell_cell(attempt->cell, CELL_SWEEP);
    attempt->has_asked = true;
    is_empty = attempt->cell->is_dead;
  } else if (our.level == LEVEL_CGROUP) {
    is_empty = is_box_empty(attempt->box);
    if (!is_empty) kill_box(attempt->box);
    if (!is_empty && cgroups.has_kill) watch(&attempt->box->events, EPOLLPRI);
  } else {
    is_empty = !kill_found(attempt);
  }
  if (is_empty) return swept(attempt);
  if (!attempt->cell) attempt->sweep_again = now() + SWEEP_AGAIN;
}

/* What cannot be killed is stuck in the kernel and will be dead before it does anything. */
static void give_up_sweeping(struct attempt *attempt) {
  if (attempt->cell) end_cell(attempt->cell);
  swept(attempt);
}

static void exited(struct attempt *attempt, int status) {
  attempt->status = status;
  attempt->has_exited = true;
  attempt->deadline = attempt->kill_at = NEVER;
  attempt->sweep_until = now() + SWEEP_LIMIT;
  flow(attempt);
  sweep(attempt);
}

static struct attempt *attempt_of(pid_t pid) {
  for (struct attempt *a = our.attempts; a; a = a->next)
    if (a->pid == pid && !a->has_exited) return a;
  return NULL;
}

static void reap(void) {
  siginfo_t info = {.si_pid = 0};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_pid > 0) {
    struct attempt *attempt = attempt_of(info.si_pid);
    /* While it is not buried, its number cannot have become somebody else's. */
    if (attempt && our.level == LEVEL_GROUP) kill(-info.si_pid, SIGKILL);
    int status;
    if (waitpid(info.si_pid, &status, __WALL) != info.si_pid) break;
    for (struct cell *cell = our.cells; cell; cell = cell->next)
      if (cell->init == info.si_pid) cell->is_dead = cell->is_stale = true;
    if (attempt) exited(attempt, status);
    info.si_pid = 0;
  }
}

static void bury_dead_cells(void) {
  for (struct cell *cell = our.cells, *next; cell; cell = next) {
    next = cell->next;
    struct attempt *tenant = cell->is_dead ? cell->tenant : NULL;
    /* The kernel buries an init only after everybody in its namespace. */
    if (tenant && tenant->has_exited && !tenant->is_swept) swept(tenant);
    if (cell->is_dead && !cell->tenant) bury_cell(cell);
  }
}

static void hear_cell(struct cell *cell) {
  char word = 0;
  struct attempt *tenant = cell->tenant;
  if (recv(cell->line.fd, &word, 1, MSG_DONTWAIT) != 1) {
    /* Its line is closed, so it is gone or going. */
    if (errno != EAGAIN || word == 0) unwatch(&cell->line), end_cell(cell);
    return;
  }
  if (word == CELL_SPOILT) cell->is_stale = true;
  if (tenant && tenant->has_asked && !tenant->is_swept) swept(tenant);
}

static void listen_to(struct attempt *attempt, struct source *source) {
  const size_t head = FRAME_HEAD + 13;
  unsigned char *frame = room_for(head + READ_SIZE);
  ssize_t size = read(source->fd, frame + head, READ_SIZE);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    close_source(source);
    return end_if_over(attempt);
  }
  double ms = (double)(now() - attempt->started) / 1e6;
  put_head(13 + (size_t)size, REPORT_OUTPUT);
  put_u32(attempt->number);
  put_u8(source->kind == FROM_CHILD_OUT ? 1 : 2);
  put(&ms, sizeof ms);
  out.to += (size_t)size;
  if (waiting_bytes() <= REPORTS_HIGH) return;
  send_reports();
  if (waiting_bytes() > REPORTS_HIGH) hold_everybody(true);
}

/* ---------------------------------------------------------------------------------------------- */
/* Orders                                                                                         */

struct cursor {
  char *at, *end;
  bool is_bad;
};

static void take(struct cursor *cursor, void *value, size_t size) {
  memset(value, 0, size);
  if ((size_t)(cursor->end - cursor->at) < size) cursor->is_bad = true;
  if (cursor->is_bad) return;
  memcpy(value, cursor->at, size);
  cursor->at += size;
}

static uint32_t take_u32(struct cursor *cursor) {
  uint32_t value;
  take(cursor, &value, sizeof value);
  return value;
}

static bool take_flag(struct cursor *cursor) {
  uint8_t value;
  take(cursor, &value, sizeof value);
  if (value > 1) cursor->is_bad = true;
  return value == 1;
}

/* A number of something, between bounds that nobody sensible leaves. */
static double take_double(struct cursor *cursor) {
  double value;
  take(cursor, &value, sizeof value);
  if (!(value >= -1 && value <= 1e18)) cursor->is_bad = true;
  return cursor->is_bad ? 0 : value;
}

static char *take_bytes(struct cursor *cursor, size_t size) {
  static char nothing[1];
  if ((size_t)(cursor->end - cursor->at) < size) cursor->is_bad = true;
  if (cursor->is_bad) return nothing;
  cursor->at += size;
  return cursor->at - size;
}

/* Texts end with a zero that their length counts. */
static char *take_text(struct cursor *cursor, struct order *order) {
  uint32_t size = take_u32(cursor);
  char *text = take_bytes(cursor, size);
  if (size == 0 || cursor->is_bad || text[size - 1] != 0) {
    static char nothing[1];
    cursor->is_bad = true;
    return nothing;
  }
  if (strlen(text) + 1 != size) order->has_nul = true;
  return text;
}

/* A list of texts after a number of places that stay free, with a NULL at the end. */
static char **take_texts(struct cursor *cursor, struct order *order, uint32_t *count, size_t reserved) {
  *count = take_u32(cursor);
  /* Each takes at least five bytes, so this bounds what we allocate by what was sent. */
  if (*count > (size_t)(cursor->end - cursor->at) / 5) cursor->is_bad = true;
  if (cursor->is_bad) *count = 0;
  char **list = allocate((*count + reserved + 1) * sizeof *list);
  for (uint32_t i = 0; i < *count; i++) list[i + reserved] = take_text(cursor, order);
  return list;
}

static void take_user(struct cursor *cursor, struct order *order) {
  order->has_user = take_flag(cursor);
  if (!order->has_user) return;
  order->uid = take_u32(cursor);
  order->gid = take_u32(cursor);
  order->group_count = take_u32(cursor);
  if (order->group_count > 65536 || order->group_count > (size_t)(cursor->end - cursor->at) / 4) cursor->is_bad = true;
  if (cursor->is_bad) order->group_count = 0;
  order->groups = allocate((order->group_count + 1) * sizeof *order->groups);
  for (uint32_t i = 0; i < order->group_count; i++) order->groups[i] = take_u32(cursor);
}

static struct attempt *attempt_numbered(uint32_t number) {
  for (struct attempt *a = our.attempts; a; a = a->next)
    if (a->number == number) return a;
  return NULL;
}

static void obey_start(struct cursor *cursor) {
  struct order order = {.number = take_u32(cursor)};
  order.umask = (int32_t)take_u32(cursor);
  order.timeout_ms = take_double(cursor);
  order.grace_ms = take_double(cursor);
  order.memory = take_double(cursor);
  order.cpu = take_double(cursor);
  order.pids = take_u32(cursor);
  order.files = take_u32(cursor);
  take_user(cursor, &order);
  order.file = take_text(cursor, &order);
  order.cwd = take_text(cursor, &order);
  order.has_input = take_flag(cursor);
  order.input_size = order.has_input ? take_u32(cursor) : 0;
  order.input = take_bytes(cursor, order.input_size);
  order.arguments = take_texts(cursor, &order, &order.argument_count, 1);
  order.variables = take_texts(cursor, &order, &order.variable_count, 0);
  order.arguments[0] = order.file;
  if (cursor->is_bad || cursor->at != cursor->end || order.umask < -1 || order.umask > 0777 || attempt_numbered(order.number))
    fail(EXIT_GARBAGE, "an order that makes no sense");
  start(&order);
  free(order.groups);
  free(order.arguments);
  free(order.variables);
}

static void obey(uint8_t kind, char *content, size_t size) {
  struct cursor cursor = {.at = content, .end = content + size};
  if (kind == ORDER_START) return obey_start(&cursor);
  struct attempt *attempt = attempt_numbered(take_u32(&cursor));
  double grace_ms = kind == ORDER_STOP ? take_double(&cursor) : 0;
  if (cursor.is_bad || cursor.at != cursor.end || kind < ORDER_START || kind > ORDER_RESUME)
    fail(EXIT_GARBAGE, "an order that makes no sense");
  /* It may have ended while the order was on its way. */
  if (!attempt) return;
  if (kind == ORDER_STOP) return stop(attempt, grace_ms);
  attempt->is_paused = kind == ORDER_PAUSE;
  flow(attempt);
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
  /* The worker is gone, so nobody is left who could want anything. */
  if (size <= 0) leave(0);
  to += (size_t)size;
  while (to - from >= FRAME_HEAD) {
    uint32_t length;
    memcpy(&length, bytes + from, sizeof length);
    if (length > LONGEST_FRAME) fail(EXIT_GARBAGE, "an order too long to be one");
    if (to - from < FRAME_HEAD + length) break;
    from += FRAME_HEAD + length;
    obey((uint8_t)bytes[from - length - 1], bytes + from - length, length);
  }
  if (from == to) from = to = 0;
  /* One large order must not cost memory for ever. */
  if (to == 0 && room > 16 * READ_SIZE) {
    free(bytes);
    bytes = NULL;
    room = 0;
  }
}

/* ---------------------------------------------------------------------------------------------- */
/* What this machine offers                                                                       */

static bool has_capability(int capability) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &head, data) < 0) return false;
  return data[capability / 32].effective & (1u << (capability % 32));
}

static bool exists_at(int dir, const char *path) { return faccessat(dir, path, F_OK, 0) == 0; }

/* Where a hierarchy is mounted, and which of its directories we are in. */
static bool find_hierarchy(enum hierarchy h, char mount_point[PATH_MAX], char own[PATH_MAX]) {
  static char mounts[256 * 1024], places[16 * 1024];
  read_text(AT_FDCWD, "/proc/self/mountinfo", mounts, sizeof mounts);
  read_text(AT_FDCWD, "/proc/self/cgroup", places, sizeof places);
  char root[PATH_MAX] = "", options[1024], kind[32], place[PATH_MAX] = "", *rest;
  bool is_found = false;
  for (char *line = strtok_r(mounts, "\n", &rest); line && !is_found; line = strtok_r(NULL, "\n", &rest)) {
    const char *tail = strstr(line, " - ");
    if (!tail || sscanf(line, "%*d %*d %*s %4095s %4095s", root, mount_point) != 2) continue;
    if (sscanf(tail, " - %31s %*s %1022s", kind, options) != 2) continue;
    strcat(options, ",");
    char word[16];
    snprintf(word, sizeof word, ",%s,", V1_NAMES[h]);
    is_found = h == UNIFIED ? !strcmp(kind, "cgroup2") : !strcmp(kind, "cgroup") && strstr(options, word);
  }
  if (!is_found) return false;
  for (char *line = strtok_r(places, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    if (!path) continue;
    *path++ = 0;
    bool is_ours = h == UNIFIED && names[1] == 0;
    char *next;
    for (char *name = strtok_r(names + 1, ",", &next); name && h != UNIFIED; name = strtok_r(NULL, ",", &next)) is_ours |= !strcmp(name, V1_NAMES[h]);
    if (is_ours) snprintf(place, sizeof place, "%s", path);
  }
  /* A container may see only its own part of the hierarchy, under the names of the whole. */
  size_t length = strlen(root);
  const char *below = length > 1 && !strncmp(place, root, length) ? place + length : place;
  snprintf(own, PATH_MAX, "%.2000s%.2000s", mount_point, strcmp(below, "/") ? below : "");
  return true;
}

/* A directory of ours in another, or false with errno. */
static bool settle_in(enum hierarchy h, const char *parent) {
  snprintf(cgroups.path[h], PATH_MAX, "%.3900s/punctual.%.96s", parent, our.identity);
  if (mkdir(cgroups.path[h], 0755) < 0 && errno != EEXIST) return false;
  cgroups.base[h] = open(cgroups.path[h], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return cgroups.base[h] >= 0;
}

static void unsettle(enum hierarchy h) {
  if (cgroups.base[h] < 0) return;
  rmdir(cgroups.path[h]);
  close_fd(&cgroups.base[h]);
}

static void settle_v1(enum hierarchy h, unsigned limit, const char *file) {
  char mount_point[PATH_MAX], own[PATH_MAX];
  if (!find_hierarchy(h, mount_point, own)) return;
  if (!settle_in(h, own)) return because("the control groups of %s cannot be used: %s", V1_NAMES[h], strerror(errno));
  if (!exists_at(cgroups.base[h], file)) return unsettle(h);
  our.limits |= limit;
}

/* Whether groups can be made there and killed, and which limits they can have. */
static bool is_usable(int base) {
  if (mkdirat(base, "probe", 0755) < 0 && errno != EEXIST) return false;
  int dir = openat(base, "probe", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int status = 1;
  pid_t pid = fork_with(0, dir);
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid(pid, &status, __WALL);
  cgroups.can_be_born_in = pid > 0 && status == 0;
  cgroups.has_kill = exists_at(dir, "cgroup.kill");
  if (exists_at(dir, "memory.max")) our.limits |= LIMIT_MEMORY;
  if (exists_at(dir, "pids.max")) our.limits |= LIMIT_PIDS;
  if (exists_at(dir, "cpu.max")) our.limits |= LIMIT_CPU;
  close(dir);
  /* The dead may take the kernel a moment. */
  for (int tries = 0; unlinkat(base, "probe", AT_REMOVEDIR) < 0 && errno == EBUSY && tries < 100; tries++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return cgroups.has_kill || our.limits & ~(unsigned)LIMIT_FILES;
}

/*
 * Our own group if it can have children with limits, the one above it if it was delegated to us, or the
 * top of the hierarchy. A group with processes of its own cannot hand limits down.
 */
static void settle_unified(void) {
  char mount_point[PATH_MAX], own[PATH_MAX], above[PATH_MAX];
  const char *const controllers[] = {"+memory", "+pids", "+cpu"};
  const unsigned all = LIMIT_MEMORY | LIMIT_PIDS | LIMIT_CPU, before = our.limits;
  /* Those of a process by itself are no control group's; they say nothing about who has the controllers. */
  const unsigned v1 = before & all;
  if (!find_hierarchy(UNIFIED, mount_point, own)) return;
  snprintf(above, sizeof above, "%s", own);
  char *slash = strrchr(above, '/');
  if (slash && strcmp(own, mount_point)) *slash = 0;
  const char *const candidates[] = {own, above, mount_point, own};
  for (int i = 0; i < 4; i++) {
    bool is_last = i == 3;
    char path[PATH_MAX + 32];
    if (!settle_in(UNIFIED, candidates[i])) {
      if (is_last) because("control groups cannot be made in %s: %s", own, strerror(errno));
      continue;
    }
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", candidates[i]);
    for (int c = 0; c < 3 && !v1; c++) {
      write_text(AT_FDCWD, path, controllers[c]);
      write_text(cgroups.base[UNIFIED], "cgroup.subtree_control", controllers[c]);
    }
    if (is_usable(cgroups.base[UNIFIED]) && (v1 || is_last || (our.limits & all) == all)) return;
    our.limits = before;
    cgroups.has_kill = false;
    unsettle(UNIFIED);
  }
}

static void look_for_cgroups(void) {
  settle_v1(V1_MEMORY, LIMIT_MEMORY, "memory.limit_in_bytes");
  settle_v1(V1_PIDS, LIMIT_PIDS, "pids.max");
  settle_v1(V1_CPU, LIMIT_CPU, "cpu.cfs_quota_us");
  settle_unified();
  note_cgroups();
}

/* In a chroot, a mount namespace would lead back to the real root. */
static bool keeps_root(const struct cell *cell) {
  struct stat here, there;
  int status = 1;
  if (stat("/", &here) < 0) return false;
  pid_t pid = fork();
  if (pid == 0)
    _exit(setns(cell->mountns, CLONE_NEWNS) < 0 || stat("/", &there) < 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino);
  return pid > 0 && waitpid(pid, &status, __WALL) == pid && status == 0;
}

/* Without privileges, in a namespace where we are ourselves and may do what root may. */
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

static bool can_make_cells(bool may_use_user_namespace) {
  if (!has_capability(CAP_SYS_ADMIN)) {
    if (!may_use_user_namespace) {
      because("PID namespaces need root; asked for by name they work in a user namespace, where setuid programs such as sudo do not");
      return false;
    }
    if (!enter_user_namespace()) {
      because("there are no user namespaces for us: %s", strerror(errno));
      return false;
    }
    our.can_switch_user = false;
    our.is_in_user_namespace = true;
  }
  our.own_pidns = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  struct cell *cell = make_cell();
  if (!cell) {
    because("PID namespaces with a /proc of their own cannot be had: %s", strerror(errno));
    return false;
  }
  if (keeps_root(cell)) return true;
  because("in a chroot there are no PID namespaces with a /proc of their own");
  end_cell(cell);
  return false;
}

static bool settle_for(const char *wanted) {
  bool is_any = !strcmp(wanted, "auto");
  our.limits |= LIMIT_FILES;
  our.can_switch_user = has_capability(CAP_SETUID) && has_capability(CAP_SETGID);
  look_for_cgroups();
  our.level = LEVEL_PIDNS;
  if ((is_any || !strcmp(wanted, "pidns")) && can_make_cells(!is_any)) return true;
  our.level = LEVEL_CGROUP;
  if ((is_any || !strcmp(wanted, "cgroup")) && (cgroups.has_kill || cgroups.base[V1_PIDS] >= 0)) return true;
  our.level = LEVEL_GROUP;
  return is_any || !strcmp(wanted, "group");
}

/* ---------------------------------------------------------------------------------------------- */
/* Coming, staying and leaving                                                                    */

/* Kills everybody, and looks again until nobody is left that we could see. */
static void end_everything(void) {
  for (struct cell *cell = our.cells; cell; cell = cell->next) end_cell(cell);
  for (struct attempt *a = our.attempts; a; a = a->next)
    if (!a->cell && !a->is_swept) kill_attempt(a);
}

static bool is_anybody_left(void) {
  bool is_left = false;
  for (struct attempt *a = our.attempts; a; a = a->next) {
    if (!a->has_exited) is_left = true;
    if (a->cell || a->is_swept) continue;
    if (our.level == LEVEL_GROUP) is_left |= kill_found(a);
    else if (a->box && !is_box_empty(a->box)) kill_box(a->box), is_left = true;
  }
  for (struct cell *cell = our.cells; cell; cell = cell->next) is_left |= !cell->is_dead;
  return is_left;
}

static _Noreturn void leave(int code) {
  static bool is_leaving;
  if (is_leaving) _exit(code);
  is_leaving = true;
  end_everything();
  for (int64_t until = now() + SWEEP_LIMIT; is_anybody_left() && now() < until;) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    siginfo_t info = {.si_pid = 0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL) == 0 && info.si_pid > 0) {
      struct attempt *attempt = attempt_of(info.si_pid);
      if (attempt) attempt->has_exited = true;
      for (struct cell *cell = our.cells; cell; cell = cell->next)
        if (cell->init == info.si_pid) cell->is_dead = true;
      info.si_pid = 0;
    }
  }
  while (our.attempts) forget(our.attempts);
  while (cgroups.idle) {
    struct box *box = cgroups.idle;
    cgroups.idle = box->next;
    remove_box(box);
  }
  remove_leftovers();
  for (int h = 0; h < HIERARCHIES; h++) unsettle((enum hierarchy)h);
  if (notes.fd >= 0) unlink(notes.path);
  /* Whoever examines us at the end does it from a process of its own, which cannot be born in the dead. */
  enter(NULL);
  exit(code);
}

static void look_at_clock(void) {
  int64_t instant = now();
  for (struct attempt *a = our.attempts, *next; a; a = next) {
    next = a->next;
    if (instant >= a->deadline) {
      a->deadline = NEVER;
      /* Whoever was stopped for another reason has not run out of time. */
      a->has_timed_out = !a->was_stopped;
      stop(a, a->grace_ms);
    }
    if (instant >= a->kill_at) kill_attempt(a);
    if (instant >= a->output_until && a->is_swept) {
      for (int i = 0; i < 2; i++) close_source(&a->out[i]);
      end_if_over(a);
    } else if (instant >= a->sweep_until) {
      give_up_sweeping(a);
    } else if (instant >= a->sweep_again) {
      sweep(a);
    }
  }
  /* It may have been renewed since we looked. */
  if (our.attempts && !is_lifeline_held())
    for (struct attempt *a = our.attempts; a; a = a->next)
      if (!a->has_exited && !a->has_lapsed) a->has_lapsed = true, kill_attempt(a);
}

static int until_next_ms(void) {
  int64_t next = NEVER;
  for (struct attempt *a = our.attempts; a; a = a->next) {
    const int64_t instants[] = {a->deadline, a->kill_at, a->is_swept ? a->output_until : NEVER, a->sweep_until, a->sweep_again,
                                a->has_exited || a->has_lapsed ? NEVER : (int64_t)our.lifeline};
    for (size_t i = 0; i < sizeof instants / sizeof *instants; i++)
      if (instants[i] < next) next = instants[i];
  }
  if (next == NEVER) return -1;
  int64_t ms = (next - now()) / MS + 1;
  return ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms;
}

static void hear(struct source *source, uint32_t events) {
  struct attempt *attempt = source->owner;
  struct signalfd_siginfo signals[8];
  switch (source->kind) {
  case FROM_ORDERS: return read_orders();
  case FROM_REPORTS:
    if (events & (EPOLLHUP | EPOLLERR)) leave(0);
    return send_reports();
  case FROM_SIGNALS:
    while (read(our.signals.fd, signals, sizeof signals) > 0) {}
    return reap();
  case FROM_MOUNTS: return renew_cells();
  case FROM_CELL: return hear_cell(source->owner);
  default: break;
  }
  if (attempt->is_over || source->fd < 0) return;
  switch (source->kind) {
  case FROM_CHILD_IN: return feed(attempt);
  case FROM_EVENTS:
    if (attempt->has_exited) sweep(attempt);
    return;
  case FROM_OOM:
    unwatch(source);
    if (!attempt->has_exited) attempt->is_oom = true, kill_attempt(attempt);
    return;
  default:
    if (source->is_watched) listen_to(attempt, source);
  }
}

static void stay(void) {
  struct epoll_event events[64];
  for (;;) {
    int count = epoll_wait(our.epoll, events, 64, until_next_ms());
    for (int i = 0; i < count; i++) hear(events[i].data.ptr, events[i].events);
    look_at_clock();
    bury_dead_cells();
    bury_the_over();
    send_reports();
  }
}

static void prepare_signals(void) {
  sigset_t handled;
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  sigemptyset(&handled);
  /* Signals to a terminal's group are for the worker to interpret. Held back and not ignored: children
     would go on ignoring what we ignore. */
  const int held[] = {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) sigaddset(&handled, held[i]);
  sigprocmask(SIG_SETMASK, &handled, NULL);
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  our.signals = (struct source){.kind = FROM_SIGNALS, .fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK)};
}

static void prepare_identity(void) {
  char boot[16];
  struct stat namespace = {.st_ino = 0};
  struct seen self = {.started = 0};
  our.pid = getpid();
  read_text(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 9);
  if (stat("/proc/self/ns/pid", &namespace) < 0 || !look_at(our.pid, &self)) fail(EXIT_OS, "no /proc");
  snprintf(our.identity, sizeof our.identity, "%.8s.%lu.%d.%llu", boot, (unsigned long)namespace.st_ino, our.pid, (unsigned long long)self.started);
}

int main(int count, char **arguments) {
  if (count != 3) {
    dprintf(2, "usage: launcher auto|pidns|cgroup|group NOTES, started by a worker\n");
    return EXIT_USAGE;
  }
  const int kept[] = {ORDERS, LIFELINE, REPORTS};
  for (int i = 0; i < 3; i++)
    if (fcntl(kept[i], F_SETFD, FD_CLOEXEC) < 0) return EXIT_USAGE;
  fcntl(ORDERS, F_SETFL, O_NONBLOCK);
  prctl(PR_SET_NAME, "punctual-launch");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prepare_signals();
  prepare_identity();
  if (!getcwd(our.cwd, sizeof our.cwd)) strcpy(our.cwd, "/");

  our.null = open("/dev/null", O_RDWR | O_CLOEXEC);
  our.children = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  our.epoll = epoll_create1(EPOLL_CLOEXEC);
  our.failures = mmap(NULL, MOST_ATTEMPTS * sizeof *our.failures, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (our.null < 0 || our.epoll < 0 || our.signals.fd < 0 || our.failures == MAP_FAILED) fail(EXIT_OS, strerror(errno));
  while (our.free_count < MOST_ATTEMPTS) our.free_slots[our.free_count] = MOST_ATTEMPTS - 1 - our.free_count, our.free_count++;

  our.orders = (struct source){.kind = FROM_ORDERS, .fd = ORDERS};
  our.reports = (struct source){.kind = FROM_REPORTS, .fd = REPORTS};
  watch(&our.signals, EPOLLIN);
  open_notes(arguments[2]);
  if (!settle_for(arguments[1])) {
    put_head(text_size(our.why), REPORT_REFUSED);
    put_text(our.why);
    send_reports();
    leave(EXIT_REFUSED);
  }
  if (our.level == LEVEL_PIDNS) {
    our.mounts = (struct source){.kind = FROM_MOUNTS, .fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)};
    watch(&our.mounts, EPOLLPRI);
  }
  watch(&our.orders, EPOLLIN);
  report_ready();
  send_reports();
  stay();
}
