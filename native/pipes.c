/* The pipes of an attempt: its output and its input. */
#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

void update_reading(struct attempt *attempt) {
  bool is_read = !attempt->is_paused && !launcher.is_output_paused;
  for (int i = 0; i < 2; i++) {
    struct source *source = &attempt->out[i];
    if (source->fd < 0 || source->is_watched == is_read) continue;
    if (is_read) watch(source, EPOLLIN);
    else unwatch(source);
  }
  /* Output that the worker could not read yet must not be lost. */
  if (attempt->has_exited) attempt->output_until = is_read ? now() + OUTPUT_GRACE : NEVER;
}

void pause_all_output(bool is_output_paused) {
  launcher.is_output_paused = is_output_paused;
  for (struct attempt *a = launcher.attempts; a; a = a->next) update_reading(a);
}

void write_input(struct attempt *attempt) {
  while (attempt->input_sent < attempt->input_size) {
    ssize_t sent = write(attempt->in.fd, attempt->input + attempt->input_sent, attempt->input_size - attempt->input_sent);
    if (sent < 0 && errno == EAGAIN) {
      if (!attempt->in.is_watched) watch(&attempt->in, EPOLLOUT);
      return;
    }
    /* A process may close its input unread. */
    if (sent < 0) break;
    attempt->input_sent += (size_t)sent;
  }
  close_source(&attempt->in);
  free(attempt->input);
  attempt->input = NULL;
}

void read_output(struct attempt *attempt, struct source *source) {
  const size_t head = FRAME_HEAD + 13;
  unsigned char *frame = reserve_bytes(head + READ_SIZE);
  ssize_t size = read(source->fd, frame + head, READ_SIZE);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    close_source(source);
    return report_if_ended(attempt);
  }
  double ms = (double)(now() - attempt->started) / 1e6;
  put_head(13 + (size_t)size, REPORT_OUTPUT);
  put_u32(attempt->number);
  put_u8(source->kind == FROM_CHILD_OUT ? 1 : 2);
  put_bytes(&ms, sizeof ms);
  commit_bytes((size_t)size);
  if (pending_bytes() <= REPORTS_HIGH) return;
  send_reports();
  if (pending_bytes() > REPORTS_HIGH) pause_all_output(true);
}
