/* The lock: proves to a later process that the launcher and all it started are gone. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct lock lock = {.fd = -1};

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

void take_lock(const char *directory) {
  if (!directory[0]) return;
  if ((size_t)snprintf(lock.path, sizeof lock.path, "%s/%s", directory, launcher.identity) >= sizeof lock.path) return;
  lock.fd = open(lock.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock.fd < 0 || flock(lock.fd, LOCK_EX | LOCK_NB) < 0 || !write_lock(LOCK_RUNNING, 0)) drop_lock(strerror(errno));
}

/* Returns once each lock is free or its file is missing. The caller reads the file to learn whether all has ended. */
int await_locks(int count, char **paths) {
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

/*
 * At level `cgroup`, the lock file names the cgroup of all attempts, and a later process checks that it is gone. The
 * file also names the mount: without it, or with another one there, the path is missing even if processes live.
 */
void record_cgroup_in_lock(void) {
  char mount_point[PATH_MAX], own[PATH_MAX], text[2 * PATH_MAX + 128];
  struct stat root;
  if (lock.fd < 0 || launcher.level != LEVEL_CGROUP) return;
  if (!find_hierarchy(killable_hierarchy(), mount_point, own) || stat(mount_point, &root) < 0) return drop_lock("the hierarchy of its cgroup was not found");
  snprintf(text, sizeof text, "mount %llu %llu %s\ncgroup %s\n", (unsigned long long)root.st_dev, (unsigned long long)root.st_ino, mount_point,
           cgroups.path[killable_hierarchy()]);
  if (!write_lock(text, (off_t)strlen(LOCK_RUNNING))) drop_lock(strerror(errno));
}

/* A launcher that refused to run has started nothing. */
void finish_lock(bool was_refused, bool is_any_left) {
  if (lock.fd < 0) return;
  if (was_refused) unlink(lock.path);
  else if (!is_any_left) write_lock(LOCK_ENDED, 0);
}
