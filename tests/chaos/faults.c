/* Put before libc in a process under test: faults that a word in a shared page turns on and off while it runs. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct page {
  volatile int disk_full;       /* writes to regular files fail with ENOSPC */
  volatile int sync_delay_us;   /* what each sync takes longer */
  volatile int line_cut;        /* connections over IP break, and new ones fail */
  volatile int clock_jump_s;    /* what the wall clock is off by */
};

static struct page none;
static struct page *faults = &none;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("TEMPER_CHAOS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof(struct page), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) faults = mapped;
  close(file);
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int no_room(int file) {
  struct stat found;
  if (!faults->disk_full || file < 3 || fstat(file, &found) || !S_ISREG(found.st_mode)) return 0;
  errno = ENOSPC;
  return 1;
}

static int no_line(int file) {
  struct sockaddr_storage at;
  socklen_t size = sizeof at;
  if (!faults->line_cut || getsockname(file, (struct sockaddr *)&at, &size)) return 0;
  if (at.ss_family != AF_INET && at.ss_family != AF_INET6) return 0;
  shutdown(file, SHUT_RDWR); /* what broke stays broken */
  errno = ECONNRESET;
  return 1;
}

ssize_t write(int file, const void *what, size_t size) {
  REAL(write);
  return no_room(file) ? -1 : real(file, what, size);
}

ssize_t pwrite(int file, const void *what, size_t size, off_t at) {
  REAL(pwrite);
  return no_room(file) ? -1 : real(file, what, size, at);
}

ssize_t pwrite64(int file, const void *what, size_t size, off64_t at) {
  REAL(pwrite64);
  return no_room(file) ? -1 : real(file, what, size, at);
}

int ftruncate64(int file, off64_t size) {
  REAL(ftruncate64);
  return no_room(file) ? -1 : real(file, size);
}

int fsync(int file) {
  REAL(fsync);
  if (faults->sync_delay_us) usleep(faults->sync_delay_us);
  return real(file);
}

int fdatasync(int file) {
  REAL(fdatasync);
  if (faults->sync_delay_us) usleep(faults->sync_delay_us);
  return real(file);
}

int connect(int file, const struct sockaddr *to, socklen_t size) {
  REAL(connect);
  return no_line(file) ? -1 : real(file, to, size);
}

ssize_t send(int file, const void *what, size_t size, int flags) {
  REAL(send);
  return no_line(file) ? -1 : real(file, what, size, flags);
}

ssize_t recv(int file, void *into, size_t size, int flags) {
  REAL(recv);
  return no_line(file) ? -1 : real(file, into, size, flags);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  REAL(clock_gettime);
  int said = real(clock, at);
  if (!said && clock == CLOCK_REALTIME) at->tv_sec += faults->clock_jump_s;
  return said;
}
