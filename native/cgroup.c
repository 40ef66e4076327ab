/* Cgroups: level `cgroup`, and limits at every level. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

struct cgroups cgroups = {.base = {-1, -1, -1, -1}};

const char *const V1_CONTROLLERS[HIERARCHIES] = {"", "memory", "pids", "cpu"};

unsigned hierarchies_for(unsigned limits) {
  unsigned hierarchies = 0;
  bool is_v1 = cgroups.base[V1_MEMORY] >= 0 || cgroups.base[V1_PIDS] >= 0 || cgroups.base[V1_CPU] >= 0;
  if (!is_v1) return limits & (LIMIT_MEMORY | LIMIT_CPU | LIMIT_PIDS) ? 1u << UNIFIED : 0;
  if (limits & LIMIT_MEMORY) hierarchies |= 1u << V1_MEMORY;
  if (limits & LIMIT_PIDS) hierarchies |= 1u << V1_PIDS;
  if (limits & LIMIT_CPU) hierarchies |= 1u << V1_CPU;
  return hierarchies;
}

/* The hierarchy whose cgroups can be killed. */
enum hierarchy killable_hierarchy(void) { return cgroups.has_kill ? UNIFIED : V1_PIDS; }

const char *cgroup_path(const struct cgroup *cgroup, const char *file) {
  static char path[96];
  snprintf(path, sizeof path, "%s/%s", cgroup->name, file);
  return path;
}

static bool write_cgroup_file(enum hierarchy h, const struct cgroup *cgroup, const char *file, const char *format, ...) __attribute__((format(printf, 4, 5)));
static bool write_cgroup_file(enum hierarchy h, const struct cgroup *cgroup, const char *file, const char *format, ...) {
  char text[64];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return write_text(cgroups.base[h], cgroup_path(cgroup, file), text);
}

bool limit_memory(const struct cgroup *cgroup, double bytes) {
  unsigned long long limit = (unsigned long long)bytes;
  if (cgroup->hierarchies & (1u << UNIFIED) && cgroups.base[V1_MEMORY] < 0)
    /* The kernel kills the cgroup as a whole. Swap is forbidden, because memory.max does not count it. */
    return write_cgroup_file(UNIFIED, cgroup, "memory.max", "%llu", limit) && write_cgroup_file(UNIFIED, cgroup, "memory.oom.group", "1") &&
           (write_cgroup_file(UNIFIED, cgroup, "memory.swap.max", "0") || errno == ENOENT);
  if (!write_cgroup_file(V1_MEMORY, cgroup, "memory.limit_in_bytes", "%llu", limit)) return false;
  /* A kernel without swap accounting has no memsw file; there, swappiness 0 prevents swapping. */
  return write_cgroup_file(V1_MEMORY, cgroup, "memory.memsw.limit_in_bytes", "%llu", limit) || write_cgroup_file(V1_MEMORY, cgroup, "memory.swappiness", "0");
}

bool limit_pids(const struct cgroup *cgroup, unsigned pids) {
  return write_cgroup_file(cgroups.base[V1_PIDS] >= 0 ? V1_PIDS : UNIFIED, cgroup, "pids.max", "%u", pids);
}

bool limit_cpu(const struct cgroup *cgroup, double cores) {
  long quota = (long)(cores * 100000);
  /* The kernel accepts no less than a millisecond. */
  if (quota < 1000) quota = 1000;
  if (cgroups.base[V1_CPU] >= 0)
    return write_cgroup_file(V1_CPU, cgroup, "cpu.cfs_period_us", "100000") && write_cgroup_file(V1_CPU, cgroup, "cpu.cfs_quota_us", "%ld", quota);
  return write_cgroup_file(UNIFIED, cgroup, "cpu.max", "%ld 100000", quota);
}

void remove_cgroup(struct cgroup *cgroup) {
  bool is_left = false;
  close_source(&cgroup->events);
  close_fd(&cgroup->dir);
  for (int h = 0; h < HIERARCHIES; h++)
    if (cgroup->hierarchies & (1u << h) && unlinkat(cgroups.base[h], cgroup->name, AT_REMOVEDIR) < 0 && errno != ENOENT) is_left = true;
  /* The kernel may need a moment to release dead processes; create_cgroup() and shut_down() retry the removal. */
  for (int i = 0; is_left && i < MAX_IDLE; i++)
    if (!cgroups.leftover[i][0]) {
      memcpy(cgroups.leftover[i], cgroup->name, sizeof cgroup->name);
      break;
    }
  free(cgroup);
}

void remove_leftover_cgroups(void) {
  for (int i = 0; i < MAX_IDLE; i++) {
    bool is_left = false;
    if (!cgroups.leftover[i][0]) continue;
    for (int h = 0; h < HIERARCHIES; h++)
      if (cgroups.base[h] >= 0 && unlinkat(cgroups.base[h], cgroups.leftover[i], AT_REMOVEDIR) < 0 && errno != ENOENT) is_left = true;
    if (!is_left) cgroups.leftover[i][0] = 0;
  }
}

/* Creates the directories for an attempt; NULL with errno on failure. Cgroups without limits are reused. */
struct cgroup *create_cgroup(unsigned hierarchies, bool is_for_limits) {
  if (!is_for_limits && cgroups.idle) {
    struct cgroup *cgroup = cgroups.idle;
    cgroups.idle = cgroup->next;
    cgroups.idle_count--;
    return cgroup;
  }
  remove_leftover_cgroups();
  struct cgroup *cgroup = allocate(sizeof *cgroup);
  cgroup->dir = cgroup->events.fd = -1;
  snprintf(cgroup->name, sizeof cgroup->name, "%u", cgroups.next_name++);
  for (int h = 0; h < HIERARCHIES; h++) {
    if (!(hierarchies & (1u << h))) continue;
    if (mkdirat(cgroups.base[h], cgroup->name, 0755) < 0 && errno != EEXIST) {
      int error = errno;
      remove_cgroup(cgroup);
      errno = error;
      return NULL;
    }
    cgroup->hierarchies |= 1u << h;
  }
  if (hierarchies & (1u << UNIFIED)) {
    cgroup->dir = openat(cgroups.base[UNIFIED], cgroup->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cgroup->events = (struct source){.kind = FROM_CGROUP_EVENTS, .fd = openat(cgroup->dir, "cgroup.events", O_RDONLY | O_CLOEXEC)};
  }
  return cgroup;
}

/* A killed cgroup is not reused: current kernels also kill every process that is started in it later. */
void release_cgroup(struct cgroup *cgroup, bool was_for_limits) {
  unwatch(&cgroup->events);
  if (was_for_limits || cgroup->was_killed || cgroups.idle_count >= MAX_IDLE) return remove_cgroup(cgroup);
  cgroup->next = cgroups.idle;
  cgroups.idle = cgroup;
  cgroups.idle_count++;
}

bool is_cgroup_empty(const struct cgroup *cgroup) {
  char text[256];
  if (cgroups.has_kill) {
    ssize_t size = pread(cgroup->events.fd, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    return size <= 0 || number_after(text, "populated") == 0;
  }
  return read_text(cgroups.base[V1_PIDS], cgroup_path(cgroup, "cgroup.procs"), text, sizeof text) <= 0;
}

void kill_cgroup(struct cgroup *cgroup) {
  cgroup->was_killed = true;
  if (cgroups.has_kill) {
    write_cgroup_file(UNIFIED, cgroup, "cgroup.kill", "1");
    return;
  }
  /* Forbid forks while the processes are killed. */
  write_cgroup_file(V1_PIDS, cgroup, "pids.max", "0");
  int fd = openat(cgroups.base[V1_PIDS], cgroup_path(cgroup, "cgroup.procs"), O_RDONLY | O_CLOEXEC);
  struct pids found = {0};
  if (fd >= 0) add_pids_in_file(&found, fd), close(fd);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  free(found.list);
}

/* On v1 the kernel kills only one process of a cgroup that is out of memory; the launcher gets an event and kills the rest. */
void watch_memory(struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_MEMORY) || cgroups.base[V1_MEMORY] < 0) return;
  int control = openat(cgroups.base[V1_MEMORY], cgroup_path(attempt->cgroup, "memory.oom_control"), O_RDONLY | O_CLOEXEC);
  attempt->oom = (struct source){.kind = FROM_OOM, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .owner = attempt};
  if (control >= 0 && attempt->oom.fd >= 0 && write_cgroup_file(V1_MEMORY, attempt->cgroup, "cgroup.event_control", "%d %d", attempt->oom.fd, control))
    watch(&attempt->oom, EPOLLIN);
  close_fd(&control);
}

static unsigned long read_cgroup_count(enum hierarchy h, const struct cgroup *cgroup, const char *file, const char *key) {
  char text[512];
  read_text(cgroups.base[h], cgroup_path(cgroup, file), text, sizeof text);
  return number_after(text, key);
}

bool was_out_of_memory(const struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_MEMORY)) return false;
  return cgroups.base[V1_MEMORY] >= 0 ? read_cgroup_count(V1_MEMORY, attempt->cgroup, "memory.oom_control", "oom_kill") > 0
                                      : read_cgroup_count(UNIFIED, attempt->cgroup, "memory.events", "oom_kill") > 0;
}

unsigned long count_refused_forks(const struct attempt *attempt) {
  if (!(attempt->limits & LIMIT_PIDS)) return 0;
  return read_cgroup_count(cgroups.base[V1_PIDS] >= 0 ? V1_PIDS : UNIFIED, attempt->cgroup, "pids.events", "max");
}
