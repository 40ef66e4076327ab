/* Notes: the running processes, for the next worker if the launcher is killed. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOTE_HEAD 4096
#define NOTE_SIZE 128

static struct {
  int fd;
  char path[PATH_MAX];
} notes = {.fd = -1};

void open_notes(const char *directory) {
  if (!directory[0]) return;
  if ((size_t)snprintf(notes.path, sizeof notes.path, "%s/%s", directory, launcher.identity) >= sizeof notes.path) return;
  notes.fd = open(notes.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (notes.fd < 0) add_reason("the notes in %s cannot be created", directory);
}

void record_cgroups(void) {
  char head[NOTE_HEAD];
  size_t size = 0;
  for (int h = 0; h < HIERARCHIES; h++)
    if (cgroups.base[h] >= 0 && size < sizeof head)
      size += (size_t)snprintf(head + size, sizeof head - size, "cgroup %s\n", cgroups.path[h]);
  if (notes.fd >= 0 && size < sizeof head && pwrite(notes.fd, head, size, 0) < 0) add_reason("notes cannot be written");
}

/* Called when nothing is left that the next worker would have to kill. */
void remove_notes(void) {
  if (notes.fd >= 0) unlink(notes.path);
}

static off_t record_offset(const struct attempt *attempt) { return NOTE_HEAD + (off_t)attempt->slot * NOTE_SIZE; }

/* The child writes the record itself, so that no program runs without one; false with errno. */
bool record_self(const struct attempt *attempt) {
  if (notes.fd < 0 || launcher.level == LEVEL_PIDNS) return true;
  char line[NOTE_SIZE + 1];
  const char *run = attempt->run ? strchr(attempt->run, '=') + 1 : "-", *fence = attempt->fence ? strchr(attempt->fence, '=') + 1 : "-";
  int size = snprintf(line, sizeof line, "%d %llu %.64s %.24s", getpid(), (unsigned long long)boot_ticks(), run, fence);
  memset(line + size, ' ', (size_t)(NOTE_SIZE - size));
  line[NOTE_SIZE - 1] = '\n';
  errno = ENOSPC;
  return pwrite(notes.fd, line, NOTE_SIZE, record_offset(attempt)) == NOTE_SIZE;
}

void erase_record(const struct attempt *attempt) {
  if (notes.fd < 0 || launcher.level == LEVEL_PIDNS) return;
  char blank[NOTE_SIZE];
  memset(blank, ' ', sizeof blank - 1);
  blank[NOTE_SIZE - 1] = '\n';
  if (pwrite(notes.fd, blank, sizeof blank, record_offset(attempt)) < 0) return;
}
