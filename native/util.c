/* Utilities: time, memory, small files, and the sources of events. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

_Noreturn void fail(int code, const char *what) {
  dprintf(2, "punctual launcher: %s\n", what);
  shut_down(code);
}

int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* The current time in the unit of start times in /proc/PID/stat. */
uint64_t boot_ticks(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return (uint64_t)t.tv_sec * 100 + (uint64_t)t.tv_nsec / 10000000;
}

void *allocate(size_t size) {
  void *memory = calloc(1, size);
  if (!memory) fail(EXIT_OS, "no memory");
  return memory;
}

void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

int64_t add_ms(int64_t from, double ms) {
  /* More than a few centuries count as never; the sum would overflow. */
  return ms < 9e12 ? from + (int64_t)(ms * 1e6) : NEVER;
}

bool write_text(int dir, const char *path, const char *text) {
  int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = (ssize_t)strlen(text), written = write(fd, text, (size_t)size);
  int error = errno;
  close(fd);
  errno = error;
  return written == size;
}

/* Reads the beginning of a file as text. */
ssize_t read_text(int dir, const char *path, char *text, size_t capacity) {
  int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
  text[0] = 0;
  if (fd < 0) return -1;
  ssize_t got, size = 0;
  while ((size_t)size < capacity - 1 && (got = read(fd, text + size, capacity - 1 - (size_t)size)) > 0) size += got;
  text[size] = 0;
  close(fd);
  return size;
}

/* The value of a key in a flat keyed file such as memory.events; 0 if the key is missing. */
unsigned long number_after(const char *text, const char *key) {
  size_t length = strlen(key);
  for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL)
    if (!strncmp(line, key, length) && line[length] == ' ') return strtoul(line + length, NULL, 10);
  return 0;
}

void add_reason(const char *format, ...) {
  size_t length = strlen(launcher.reasons);
  va_list values;
  va_start(values, format);
  if (length > 0) length += (size_t)snprintf(launcher.reasons + length, sizeof launcher.reasons - length, "; ");
  if (length < sizeof launcher.reasons) vsnprintf(launcher.reasons + length, sizeof launcher.reasons - length, format, values);
  va_end(values);
}

void watch(struct source *source, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = source};
  if (source->is_watched && source->events == events) return;
  source->events = events;
  int verb = source->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(launcher.epoll, verb, source->fd, &event) == 0) source->is_watched = true;
}

/* Removes the descriptor explicitly: close is not enough while a child before exec holds a copy. */
void unwatch(struct source *source) {
  if (source->is_watched) epoll_ctl(launcher.epoll, EPOLL_CTL_DEL, source->fd, NULL);
  source->is_watched = false;
}

void close_source(struct source *source) {
  unwatch(source);
  close_fd(&source->fd);
}
