/* Orders: the frames that the worker sends to the launcher. */
#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cursor {
  char *at, *end;
  bool is_bad;
};

static void parse(struct cursor *cursor, void *value, size_t size) {
  memset(value, 0, size);
  if ((size_t)(cursor->end - cursor->at) < size) cursor->is_bad = true;
  if (cursor->is_bad) return;
  memcpy(value, cursor->at, size);
  cursor->at += size;
}

static uint32_t parse_u32(struct cursor *cursor) {
  uint32_t value;
  parse(cursor, &value, sizeof value);
  return value;
}

static bool parse_flag(struct cursor *cursor) {
  uint8_t value;
  parse(cursor, &value, sizeof value);
  if (value > 1) cursor->is_bad = true;
  return value == 1;
}

/* A non-negative quantity, or -1 for none. */
static double parse_double(struct cursor *cursor) {
  double value;
  parse(cursor, &value, sizeof value);
  if (!(value >= -1 && value <= 1e18)) cursor->is_bad = true;
  return cursor->is_bad ? 0 : value;
}

static char *parse_bytes(struct cursor *cursor, size_t size) {
  static char nothing[1];
  if ((size_t)(cursor->end - cursor->at) < size) cursor->is_bad = true;
  if (cursor->is_bad) return nothing;
  cursor->at += size;
  return cursor->at - size;
}

/* Texts end with a zero, which counts in their length. */
static char *parse_text(struct cursor *cursor, struct order *order) {
  uint32_t size = parse_u32(cursor);
  char *text = parse_bytes(cursor, size);
  if (size == 0 || cursor->is_bad || text[size - 1] != 0) {
    static char nothing[1];
    cursor->is_bad = true;
    return nothing;
  }
  if (strlen(text) + 1 != size) order->has_nul = true;
  return text;
}

/* A list of texts that starts with `reserved` empty entries and ends with a NULL. */
static char **parse_texts(struct cursor *cursor, struct order *order, uint32_t *count, size_t reserved) {
  *count = parse_u32(cursor);
  /* Each text takes at least five bytes, so the size of the order limits the allocation. */
  if (*count > (size_t)(cursor->end - cursor->at) / 5) cursor->is_bad = true;
  if (cursor->is_bad) *count = 0;
  char **list = allocate((*count + reserved + 1) * sizeof *list);
  for (uint32_t i = 0; i < *count; i++) list[i + reserved] = parse_text(cursor, order);
  return list;
}

static void parse_user(struct cursor *cursor, struct order *order) {
  order->has_user = parse_flag(cursor);
  if (!order->has_user) return;
  order->uid = parse_u32(cursor);
  order->gid = parse_u32(cursor);
  order->group_count = parse_u32(cursor);
  if (order->group_count > 65536 || order->group_count > (size_t)(cursor->end - cursor->at) / 4) cursor->is_bad = true;
  if (cursor->is_bad) order->group_count = 0;
  order->groups = allocate((order->group_count + 1) * sizeof *order->groups);
  for (uint32_t i = 0; i < order->group_count; i++) order->groups[i] = parse_u32(cursor);
}

static void parse_files(struct cursor *cursor, struct order *order) {
  order->files_directory = parse_text(cursor, order);
  order->file_count = parse_u32(cursor);
  if (order->file_count > MAX_FILES) cursor->is_bad = true;
  if (cursor->is_bad) order->file_count = 0;
  for (uint32_t i = 0; i < order->file_count; i++) {
    struct file *file = &order->secret_files[i];
    file->name = parse_text(cursor, order);
    file->mode = parse_u32(cursor);
    file->size = parse_u32(cursor);
    file->content = parse_bytes(cursor, file->size);
    /* A name must not lead out of the directory, because the launcher deletes these files afterwards. */
    if (file->mode > 0777 || !file->name[0] || file->name[0] == '.' || strchr(file->name, '/')) cursor->is_bad = true;
  }
}

static struct attempt *attempt_with_number(uint32_t number) {
  for (struct attempt *a = launcher.attempts; a; a = a->next)
    if (a->number == number) return a;
  return NULL;
}

static void handle_start(struct cursor *cursor) {
  struct order order = {.number = parse_u32(cursor)};
  order.umask = (int32_t)parse_u32(cursor);
  order.timeout_ms = parse_double(cursor);
  order.grace_ms = parse_double(cursor);
  order.memory = parse_double(cursor);
  order.cpu = parse_double(cursor);
  order.pids = parse_u32(cursor);
  order.files = parse_u32(cursor);
  parse_user(cursor, &order);
  order.file = parse_text(cursor, &order);
  order.cwd = parse_text(cursor, &order);
  order.has_input = parse_flag(cursor);
  order.input_size = order.has_input ? parse_u32(cursor) : 0;
  order.input = parse_bytes(cursor, order.input_size);
  order.arguments = parse_texts(cursor, &order, &order.argument_count, 1);
  order.variables = parse_texts(cursor, &order, &order.variable_count, 0);
  order.arguments[0] = order.file;
  parse_files(cursor, &order);
  if (cursor->is_bad || cursor->at != cursor->end || order.umask < -1 || order.umask > 0777 || attempt_with_number(order.number))
    fail(EXIT_GARBAGE, "an invalid order");
  start_attempt(&order);
  free(order.groups);
  free(order.arguments);
  free(order.variables);
}

static void handle_order(uint8_t kind, char *content, size_t size) {
  struct cursor cursor = {.at = content, .end = content + size};
  if (kind == ORDER_START) return handle_start(&cursor);
  struct attempt *attempt = attempt_with_number(parse_u32(&cursor));
  double grace_ms = kind == ORDER_STOP ? parse_double(&cursor) : 0;
  if (cursor.is_bad || cursor.at != cursor.end || kind < ORDER_START || kind > ORDER_RESUME)
    fail(EXIT_GARBAGE, "an invalid order");
  /* The attempt may have ended while the order was in flight. */
  if (!attempt) return;
  if (kind == ORDER_STOP) return stop_attempt(attempt, grace_ms);
  attempt->is_paused = kind == ORDER_PAUSE;
  update_reading(attempt);
}

void read_orders(void) {
  static char *bytes;
  static size_t from, to, capacity;
  if (capacity - to < READ_SIZE) {
    if (from > 0) memmove(bytes, bytes + from, to - from);
    to -= from;
    from = 0;
    if (capacity - to < READ_SIZE) {
      capacity = to + 2 * READ_SIZE;
      bytes = realloc(bytes, capacity);
      if (!bytes) fail(EXIT_OS, "no memory");
    }
  }
  ssize_t size = read(ORDERS, bytes + to, capacity - to);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  /* The worker is gone: kill everything and exit. */
  if (size <= 0) shut_down(0);
  to += (size_t)size;
  while (to - from >= FRAME_HEAD) {
    uint32_t length;
    memcpy(&length, bytes + from, sizeof length);
    if (length > MAX_FRAME) fail(EXIT_GARBAGE, "an order that is too long");
    if (to - from < FRAME_HEAD + length) break;
    from += FRAME_HEAD + length;
    handle_order((uint8_t)bytes[from - length - 1], bytes + from - length, length);
  }
  if (from == to) from = to = 0;
  /* Memory for one large order is not kept. */
  if (to == 0 && capacity > 16 * READ_SIZE) {
    free(bytes);
    bytes = NULL;
    capacity = 0;
  }
}
