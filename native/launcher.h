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
#pragma once
#define _GNU_SOURCE
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
/* How long output may stay open after all processes that were found are gone: a descendant that broke away has it. */
#define OUTPUT_GRACE (500 * MS)
/* Processes that cannot be killed within this time are stuck in the kernel; stop waiting for them. */
#define SWEEP_LIMIT (5000 * MS)
#define SWEEP_AGAIN (20 * MS)
#define MAX_ATTEMPTS 16384
#define MAX_IDLE 32
/* A separate file system that attempts may cover without an effect on other processes. */
#define SECRETS_MOUNT "/dev/shm"
#define MAX_FILES 64

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
  unsigned hierarchies;
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
  bool has_exited, was_stopped, is_paused, has_timed_out, has_lease_expired, is_oom, has_sent_sweep, is_swept, has_ended;
  unsigned long refused_forks;
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

struct pids {
  pid_t *list;
  size_t count, capacity;
};

struct proc_stat {
  char state;
  pid_t parent, group, session;
  uint64_t started;
};

/* One byte each way over the channel to an init. */
enum { INIT_GO = 'g', INIT_KILL = 'k', INIT_SWEEP = 's', INIT_READY = 'r', INIT_EMPTY = 'e', INIT_MOUNTS_CHANGED = 'x' };

extern struct launcher {
  enum level level;
  unsigned limits;
  bool can_switch_user, can_hide_files, is_in_user_namespace;
  char reasons[1024];
  /* Descriptors. `children` is /proc/thread-self/children. */
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

extern struct cgroups {
  int base[HIERARCHIES];
  char path[HIERARCHIES][PATH_MAX];
  bool has_kill, can_clone_into;
  struct cgroup *idle;
  unsigned idle_count, next_name;
  char leftover[MAX_IDLE][24];
} cgroups;

/* Held by the launcher and by the init of each namespace, so it is free only when all of them are gone. */
extern struct lock {
  int fd;
  char path[PATH_MAX];
} lock;

/* util.c: time, memory, small files, sources of the epoll */
_Noreturn void fail(int code, const char *what);
int64_t now(void);
uint64_t boot_ticks(void);
void *allocate(size_t size);
void close_fd(int *fd);
int64_t add_ms(int64_t from, double ms);
bool write_text(int dir, const char *path, const char *text);
ssize_t read_text(int dir, const char *path, char *text, size_t capacity);
unsigned long number_after(const char *text, const char *key);
void add_reason(const char *format, ...) __attribute__((format(printf, 1, 2)));
void watch(struct source *source, uint32_t events);
void unwatch(struct source *source);
void close_source(struct source *source);

/* reports.c: frames to the worker */
size_t pending_bytes(void);
unsigned char *reserve_bytes(size_t size);
void commit_bytes(size_t size);
void put_bytes(const void *bytes, size_t size);
void put_u8(uint8_t value);
void put_u32(uint32_t value);
void put_head(size_t size, uint8_t kind);
void put_text(const char *text);
size_t text_size(const char *text);
void send_reports(void);
void report_ready(void);
void report_unstartable(uint32_t number, const char *message);

/* orders.c: frames from the worker */
void read_orders(void);

/* spawn.c: starting a process, in the launcher */
pid_t clone_process(uint64_t flags, int cgroup_fd);
void start_attempt(const struct order *order);

/* exec.c: starting a process, in the child */
_Noreturn void exec_program(const struct order *order, const struct attempt *attempt, const int child_ends[3], bool is_cloned_into);
void explain_failure(const struct failure *failure, const char *file, const char *cwd, char *text, size_t capacity);

/* secret-files.c: files of an attempt */
bool is_coverable(const char *directory);
bool write_files(const struct order *order, const struct attempt *attempt);
void delete_files(struct attempt *attempt);
void record_files(struct attempt *attempt, const struct order *order);
bool can_cover_secrets_mount(void);

/* pipes.c: output and input of an attempt */
void update_reading(struct attempt *attempt);
void pause_all_output(bool is_output_paused);
void write_input(struct attempt *attempt);
void read_output(struct attempt *attempt, struct source *source);

/* reap.c: ending an attempt */
void remove_attempt(struct attempt *attempt);
void free_ended(void);
void kill_attempt(struct attempt *attempt);
void stop_attempt(struct attempt *attempt, double grace_ms);
void report_if_ended(struct attempt *attempt);
void finish_sweep(struct attempt *attempt);
void sweep(struct attempt *attempt);
void abandon_sweep(struct attempt *attempt);
struct attempt *attempt_with_pid(pid_t pid);
void reap(void);
void reap_namespaces(void);

/* proc.c: /proc, level `group` */
bool read_stat(pid_t pid, struct proc_stat *info);
void add_pids_in_file(struct pids *pids, int fd);
void add_own_children(struct pids *pids);
void add_process_tree(struct pids *pids, pid_t root);
bool kill_descendants(struct attempt *attempt);

/* pidns.c: level `pidns` */
void enter_pidns(const struct namespace *namespace);
void free_namespace(struct namespace *namespace);
struct namespace *create_namespace(void);
struct namespace *acquire_namespace(void);
void kill_namespace(struct namespace *namespace);
void release_namespace(struct namespace *namespace);
void command_init(struct namespace *namespace, char message);
void expire_namespaces(void);
void read_init(struct namespace *namespace);

/* cgroup.c: level `cgroup`, and limits at every level */
extern const char *const V1_CONTROLLERS[HIERARCHIES];
unsigned hierarchies_for(unsigned limits);
enum hierarchy killable_hierarchy(void);
const char *cgroup_path(const struct cgroup *cgroup, const char *file);
bool limit_memory(const struct cgroup *cgroup, double bytes);
bool limit_pids(const struct cgroup *cgroup, unsigned pids);
bool limit_cpu(const struct cgroup *cgroup, double cores);
void remove_cgroup(struct cgroup *cgroup);
void remove_leftover_cgroups(void);
struct cgroup *create_cgroup(unsigned hierarchies, bool is_for_limits);
void release_cgroup(struct cgroup *cgroup, bool was_for_limits);
bool is_cgroup_empty(const struct cgroup *cgroup);
void kill_cgroup(struct cgroup *cgroup);
void watch_memory(struct attempt *attempt);
bool was_out_of_memory(const struct attempt *attempt);
unsigned long count_refused_forks(const struct attempt *attempt);

/* cgroup-setup.c: the hierarchies of the machine */
bool find_hierarchy(enum hierarchy h, char mount_point[PATH_MAX], char own[PATH_MAX]);
void remove_base(enum hierarchy h);
void set_up_cgroups(void);

/* levels.c: the abilities of the machine */
bool set_up_level(const char *wanted);

/* notes.c: the running processes, for the next worker */
void open_notes(const char *directory);
void record_cgroups(void);
bool record_self(const struct attempt *attempt);
void erase_record(const struct attempt *attempt);
void remove_notes(void);

/* lock.c: proof that everything has ended */
void take_lock(const char *directory);
int await_locks(int count, char **paths);
void record_cgroup_in_lock(void);
void finish_lock(bool was_refused, bool is_any_left);

/* deadlines.c: lifeline and deadlines */
bool is_lifeline_held(void);
void check_deadlines(void);
int ms_until_next_deadline(void);

/* shutdown.c: exit of the launcher */
_Noreturn void shut_down(int code);
