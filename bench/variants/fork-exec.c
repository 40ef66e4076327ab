/* The ceiling: forks and execs `true`, a given number at once, with pipes for its output, for a warm-up and
   then for the measured seconds. Prints the number of processes that ended and the seconds measured. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void start(void) {
  static char *arguments[] = {"true", NULL}, *variables[] = {"PATH=/bin", NULL};
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) exit(1);
  pid_t pid = fork();
  if (pid < 0) exit(1);
  if (pid == 0) {
    dup2(out[1], 1);
    dup2(err[1], 2);
    execve("/bin/true", arguments, variables);
    _exit(127);
  }
  close(out[0]);
  close(out[1]);
  close(err[0]);
  close(err[1]);
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  int concurrency = atoi(argv[1]);
  double warm = now() + atof(argv[2]), end = warm + atof(argv[3]), from = 0;
  long ended = 0;
  for (int i = 0; i < concurrency; i++) start();
  while (now() < end) {
    int status;
    if (wait(&status) < 0 || status != 0) return 1;
    start();
    if (from > 0) ended++;
    else if (now() >= warm) from = now();
  }
  double took = now() - from;
  while (wait(NULL) > 0) {}
  printf("%ld %f\n", ended, took);
}
