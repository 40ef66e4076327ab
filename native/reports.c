/* Reports: the frames that the launcher sends to the worker. */
#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
  unsigned char *bytes;
  size_t from, to, capacity;
} report_buffer;

size_t pending_bytes(void) { return report_buffer.to - report_buffer.from; }

/* Returns contiguous space for `size` more bytes. */
unsigned char *reserve_bytes(size_t size) {
  if (report_buffer.capacity - report_buffer.to < size && report_buffer.from > 0) {
    memmove(report_buffer.bytes, report_buffer.bytes + report_buffer.from, pending_bytes());
    report_buffer.to -= report_buffer.from;
    report_buffer.from = 0;
  }
  if (report_buffer.capacity - report_buffer.to < size) {
    report_buffer.capacity = report_buffer.to + size + READ_SIZE;
    report_buffer.bytes = realloc(report_buffer.bytes, report_buffer.capacity);
    if (!report_buffer.bytes) _exit(EXIT_OS);
  }
  return report_buffer.bytes + report_buffer.to;
}

/* Counts bytes that the caller has written to the reserved space. */
void commit_bytes(size_t size) { report_buffer.to += size; }

void put_bytes(const void *bytes, size_t size) {
  memcpy(reserve_bytes(size), bytes, size);
  report_buffer.to += size;
}
void put_u8(uint8_t value) { put_bytes(&value, 1); }
void put_u32(uint32_t value) { put_bytes(&value, 4); }
void put_head(size_t size, uint8_t kind) {
  put_u32((uint32_t)size);
  put_u8(kind);
}
void put_text(const char *text) {
  uint32_t size = (uint32_t)strlen(text) + 1;
  put_u32(size);
  put_bytes(text, size);
}

size_t text_size(const char *text) { return 4 + strlen(text) + 1; }

/* Called once per turn of the main loop, so that its reports are sent together. */
void send_reports(void) {
  while (pending_bytes() > 0) {
    ssize_t sent = send(REPORTS, report_buffer.bytes + report_buffer.from, pending_bytes(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) shut_down(0);
    if (sent < 0) break;
    report_buffer.from += (size_t)sent;
  }
  if (pending_bytes() == 0) report_buffer.from = report_buffer.to = 0;
  watch(&launcher.reports, pending_bytes() > 0 ? EPOLLOUT : 0);
  if (launcher.is_output_paused && pending_bytes() <= REPORTS_LOW) pause_all_output(false);
}

void report_ready(void) {
  put_head(3 + text_size(launcher.reasons), REPORT_READY);
  put_u8((uint8_t)launcher.level);
  put_u8((uint8_t)launcher.limits);
  put_u8((launcher.can_switch_user ? READY_SWITCHES_USER : 0) | (lock.fd >= 0 ? READY_HOLDS_LOCK : 0) |
         (launcher.can_hide_files ? READY_HIDES_FILES : 0));
  put_text(launcher.reasons);
}

void report_unstartable(uint32_t number, const char *message) {
  put_head(4 + text_size(message), REPORT_UNSTARTABLE);
  put_u32(number);
  put_text(message);
}
