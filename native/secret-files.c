/* Files that are written for an attempt before its program starts, and deleted when it has ended. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Whether the directory lies directly in the file system that cover_with_tmpfs() makes private. Covering any other
 * directory could show the mount and its files to the whole machine.
 */
bool is_coverable(const char *directory) {
  const size_t length = strlen(SECRETS_MOUNT "/");
  return launcher.can_hide_files && !strncmp(directory, SECRETS_MOUNT "/", length) && directory[length] != '.' && directory[length] != 0 &&
         !strchr(directory + length, '/');
}

/* Covers a directory with a tmpfs that only this mount namespace sees, and that disappears with it. */
static bool cover_with_tmpfs(const char *directory) {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  /* Without this, the mount would propagate to the machine. */
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
bool write_files(const struct order *order, const struct attempt *attempt) {
  if (attempt->namespace && is_coverable(order->files_directory) && !cover_with_tmpfs(order->files_directory)) return false;
  int dir = open(order->files_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  for (uint32_t i = 0; i < order->file_count; i++)
    if (dir < 0 || !write_file(dir, &order->secret_files[i], order)) return false;
  return true;
}

/* For files outside of a private tmpfs; the others disappear with the namespace. */
void delete_files(struct attempt *attempt) {
  for (uint32_t i = 0; i < attempt->file_count; i++) {
    if (attempt->files[i]) unlink(attempt->files[i]);
    free(attempt->files[i]);
  }
  free(attempt->files);
  attempt->files = NULL;
  attempt->file_count = 0;
}

void record_files(struct attempt *attempt, const struct order *order) {
  if (order->file_count == 0) return;
  attempt->files = allocate(order->file_count * sizeof *attempt->files);
  attempt->file_count = order->file_count;
  for (uint32_t i = 0; i < order->file_count; i++)
    if (asprintf(&attempt->files[i], "%s/%s", order->files_directory, order->secret_files[i].name) < 0) attempt->files[i] = NULL;
}

/* Whether the mount for secrets is a separate file system that can be covered without an effect on the machine. */
bool can_cover_secrets_mount(void) {
  struct stat mount_stat, above;
  int status = 1;
  if (stat(SECRETS_MOUNT, &mount_stat) < 0 || stat(SECRETS_MOUNT "/..", &above) < 0 || mount_stat.st_dev == above.st_dev) return false;
  pid_t pid = fork();
  if (pid == 0) _exit(unshare(CLONE_NEWNS) < 0 || !cover_with_tmpfs(SECRETS_MOUNT));
  return pid > 0 && waitpid(pid, &status, __WALL) == pid && status == 0;
}
