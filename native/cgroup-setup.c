/* Finding the cgroup hierarchies of the machine, and creating the launcher's directories in them. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool exists_at(int dir, const char *path) { return faccessat(dir, path, F_OK, 0) == 0; }

/* Finds where a hierarchy is mounted, and which part of it (`root`) the mount shows. */
static bool find_mount(enum hierarchy h, char root[PATH_MAX], char mount_point[PATH_MAX]) {
  static char mounts[256 * 1024];
  char options[1024], kind[32], *rest;
  bool is_found = false;
  read_text(AT_FDCWD, "/proc/self/mountinfo", mounts, sizeof mounts);
  for (char *line = strtok_r(mounts, "\n", &rest); line && !is_found; line = strtok_r(NULL, "\n", &rest)) {
    const char *tail = strstr(line, " - ");
    if (!tail || sscanf(line, "%*d %*d %*s %4095s %4095s", root, mount_point) != 2) continue;
    if (sscanf(tail, " - %31s %*s %1022s", kind, options) != 2) continue;
    strcat(options, ",");
    char word[16];
    snprintf(word, sizeof word, ",%s,", V1_CONTROLLERS[h]);
    is_found = h == UNIFIED ? !strcmp(kind, "cgroup2") : !strcmp(kind, "cgroup") && strstr(options, word);
  }
  return is_found;
}

/* The launcher's own path in a hierarchy; empty if it has none. */
static void find_own_path(enum hierarchy h, char own_path[PATH_MAX]) {
  static char cgroup_lines[16 * 1024];
  char *rest;
  own_path[0] = 0;
  read_text(AT_FDCWD, "/proc/self/cgroup", cgroup_lines, sizeof cgroup_lines);
  for (char *line = strtok_r(cgroup_lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    if (!path) continue;
    *path++ = 0;
    bool is_ours = h == UNIFIED && names[1] == 0;
    char *next;
    for (char *name = strtok_r(names + 1, ",", &next); name && h != UNIFIED; name = strtok_r(NULL, ",", &next)) is_ours |= !strcmp(name, V1_CONTROLLERS[h]);
    if (is_ours) snprintf(own_path, PATH_MAX, "%s", path);
  }
}

/* Finds where a hierarchy is mounted, and the launcher's own directory in it. */
bool find_hierarchy(enum hierarchy h, char mount_point[PATH_MAX], char own[PATH_MAX]) {
  char root[PATH_MAX] = "", own_path[PATH_MAX];
  if (!find_mount(h, root, mount_point)) return false;
  find_own_path(h, own_path);
  /* In a container, the mount may show only a part of the hierarchy, while /proc/self/cgroup has the path from its top. */
  size_t length = strlen(root);
  const char *below = length > 1 && !strncmp(own_path, root, length) ? own_path + length : own_path;
  snprintf(own, PATH_MAX, "%.2000s%.2000s", mount_point, strcmp(below, "/") ? below : "");
  return true;
}

/* Creates the launcher's directory in `parent`; false with errno. */
static bool create_base(enum hierarchy h, const char *parent) {
  snprintf(cgroups.path[h], PATH_MAX, "%.3900s/punctual.%.96s", parent, launcher.identity);
  if (mkdir(cgroups.path[h], 0755) < 0 && errno != EEXIST) return false;
  cgroups.base[h] = open(cgroups.path[h], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return cgroups.base[h] >= 0;
}

void remove_base(enum hierarchy h) {
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

/* Creates a cgroup for a trial. Returns whether cgroups can be killed or limited there, and adds the limits. */
static bool probe_base(int base) {
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
    if (probe_base(cgroups.base[UNIFIED]) && (v1 || is_last || (launcher.limits & all) == all)) return;
    launcher.limits = before;
    cgroups.has_kill = false;
    remove_base(UNIFIED);
  }
}

void set_up_cgroups(void) {
  set_up_v1(V1_MEMORY, LIMIT_MEMORY, "memory.limit_in_bytes");
  set_up_v1(V1_PIDS, LIMIT_PIDS, "pids.max");
  set_up_v1(V1_CPU, LIMIT_CPU, "cpu.cfs_quota_us");
  set_up_unified();
  record_cgroups();
}
