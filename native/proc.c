/* Reading /proc. Level `group`, which finds the descendants of an attempt there. */
#include "launcher.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_pid(struct pids *pids, pid_t pid) {
  if (pids->count == pids->capacity) {
    pids->capacity = pids->capacity ? 2 * pids->capacity : 64;
    pids->list = realloc(pids->list, pids->capacity * sizeof *pids->list);
    if (!pids->list) _exit(EXIT_OS);
  }
  pids->list[pids->count++] = pid;
}

bool read_stat(pid_t pid, struct proc_stat *info) {
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

void add_pids_in_file(struct pids *pids, int fd) {
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

/* For kernels without /proc/PID/task/TID/children: reads the parent of every process. */
static void add_children_by_parent(struct pids *pids, pid_t parent) {
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
  if (launcher.children < 0) return add_children_by_parent(pids, parent);
  DIR *directory = opendir(path);
  if (!directory) return;
  for (struct dirent *entry; (entry = readdir(directory));) {
    char name[64];
    snprintf(name, sizeof name, "%d/children", atoi(entry->d_name));
    int fd = openat(dirfd(directory), name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    add_pids_in_file(pids, fd);
    close(fd);
  }
  closedir(directory);
}

void add_own_children(struct pids *pids) {
  if (launcher.children < 0) add_children_by_parent(pids, launcher.pid);
  else add_pids_in_file(pids, launcher.children);
}

/* Whether the run and the fence of the attempt are in its environment, which descendants inherit. */
static bool has_attempt_environment(pid_t pid, const struct attempt *attempt) {
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

static bool is_attempt_or_init(pid_t pid) {
  for (struct attempt *a = launcher.attempts; a; a = a->next)
    if (a->pid == pid && !a->has_exited) return true;
  for (struct namespace *n = launcher.namespaces; n; n = n->next)
    if (n->init == pid) return true;
  return false;
}

/* Whether an orphan that became a child of the launcher was started by this attempt. */
static bool was_started_by(pid_t pid, const struct proc_stat *info, const struct attempt *attempt) {
  if (info->session == attempt->pid || info->group == attempt->pid || has_attempt_environment(pid, attempt)) return true;
  /* An orphan without its session, group and environment belongs to this attempt only if it is older than all others. */
  for (struct attempt *a = launcher.attempts; a; a = a->next) {
    if (a == attempt || a->has_exited) continue;
    if (info->session == a->pid || info->group == a->pid || info->started >= a->started_ticks || has_attempt_environment(pid, a)) return false;
  }
  return true;
}

/* Adds a process and all its descendants. */
void add_process_tree(struct pids *pids, pid_t root) {
  size_t at = pids->count;
  add_pid(pids, root);
  for (; at < pids->count; at++) add_children(pids, pids->list[at]);
}

/* Kills all processes of an attempt that can be found; returns whether there were any. */
bool kill_descendants(struct attempt *attempt) {
  struct pids orphans = {0}, found = {0};
  if (!attempt->has_exited) {
    add_process_tree(&found, attempt->pid);
    kill(-attempt->pid, SIGKILL);
  }
  add_own_children(&orphans);
  for (size_t i = 0; i < orphans.count; i++) {
    struct proc_stat info;
    pid_t pid = orphans.list[i];
    if (!is_attempt_or_init(pid) && read_stat(pid, &info) && info.state != 'Z' && was_started_by(pid, &info, attempt)) add_process_tree(&found, pid);
  }
  /* Stop all of them first: a stopped process cannot fork while the others are killed. */
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGSTOP);
  for (size_t i = 0; i < found.count; i++) kill(found.list[i], SIGKILL);
  bool any = found.count > 0;
  free(orphans.list);
  free(found.list);
  return any;
}
