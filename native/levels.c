/* Detecting the abilities of the machine, and choosing the level. */
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_capability(int capability) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &head, data) < 0) return false;
  return data[capability / 32].effective & (1u << (capability % 32));
}

/* False in a chroot: a process that enters a mount namespace starts at the real root. */
static bool has_same_root(const struct namespace *namespace) {
  struct stat here, there;
  int status = 1;
  if (stat("/", &here) < 0) return false;
  pid_t pid = fork();
  if (pid == 0)
    _exit(setns(namespace->mountns, CLONE_NEWNS) < 0 || stat("/", &there) < 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino);
  return pid > 0 && waitpid(pid, &status, __WALL) == pid && status == 0;
}

/* Without privileges: enters a user namespace that keeps the user id and has the capabilities of root. */
static bool enter_user_namespace(void) {
  char map[64];
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER) < 0) return false;
  snprintf(map, sizeof map, "%u %u 1", uid, uid);
  if (!write_text(AT_FDCWD, "/proc/self/uid_map", map) || !write_text(AT_FDCWD, "/proc/self/setgroups", "deny")) return false;
  snprintf(map, sizeof map, "%u %u 1", gid, gid);
  return write_text(AT_FDCWD, "/proc/self/gid_map", map);
}

static bool can_create_namespaces(bool may_use_user_namespace) {
  if (!has_capability(CAP_SYS_ADMIN)) {
    if (!may_use_user_namespace) {
      add_reason("PID namespaces need root; if requested explicitly, they run in a user namespace, where setuid programs such as sudo do not work");
      return false;
    }
    if (!enter_user_namespace()) {
      add_reason("user namespaces are not available: %s", strerror(errno));
      return false;
    }
    launcher.can_switch_user = false;
    launcher.is_in_user_namespace = true;
  }
  launcher.own_pidns = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  struct namespace *namespace = create_namespace();
  if (!namespace) {
    add_reason("PID namespaces with their own /proc are not available: %s", strerror(errno));
    return false;
  }
  if (has_same_root(namespace)) return true;
  add_reason("PID namespaces with their own /proc are not available in a chroot");
  kill_namespace(namespace);
  return false;
}

bool set_up_level(const char *wanted) {
  bool is_any = !strcmp(wanted, "auto");
  launcher.limits |= LIMIT_FILES;
  launcher.can_switch_user = has_capability(CAP_SETUID) && has_capability(CAP_SETGID);
  set_up_cgroups();
  launcher.level = LEVEL_PIDNS;
  if ((is_any || !strcmp(wanted, "pidns")) && can_create_namespaces(!is_any)) {
    launcher.can_hide_files = can_cover_secrets_mount();
    return true;
  }
  launcher.level = LEVEL_CGROUP;
  if ((is_any || !strcmp(wanted, "cgroup")) && (cgroups.has_kill || cgroups.base[V1_PIDS] >= 0)) return true;
  launcher.level = LEVEL_GROUP;
  return is_any || !strcmp(wanted, "group");
}
