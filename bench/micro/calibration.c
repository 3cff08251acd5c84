/* calibration [SECONDS]: four kernels that say how fast the machine is, as in src/calibration.rs and bench/micro.lua.
 * Prints lines "BENCH <name> iters=N total_us=T us_per_op=P"; P is that of the fastest tenth. */

#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MIN = 10, ROUNDS_MAX = 1000000 };

/* What the compiler cannot know beforehand. */
static volatile unsigned long long steps = 1000000, thirty = 30;
static const char *volatile piece = "abc";

static unsigned long long int_loop(void) {
  unsigned long long sum = 0, last = steps;
  for (unsigned long long step = 1; step <= last; step++) sum = (sum * 31 + step) % 1000003;
  return sum;
}

static unsigned long long fib(unsigned long long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static unsigned long long fib30(void) { return fib(thirty); }

static void *grown(void *memory, size_t bytes) {
  memory = realloc(memory, bytes);
  if (memory == NULL) exit(1);
  return memory;
}

static unsigned long long string_concat(void) {
  size_t length = 0, room = 0;
  char *text = NULL;
  for (int step = 0; step < 1000; step++) {
    const char *added = piece;
    size_t bytes = strlen(added);
    if (length + bytes > room) text = grown(text, room = room * 2 + bytes);
    memcpy(text + length, added, bytes);
    length += bytes;
  }
  free(text);
  return length;
}

static unsigned long long array_push(void) {
  size_t count = 0, room = 0;
  unsigned long long *array = NULL;
  for (volatile unsigned long long step = 1; step <= 100000; step++) {
    if (count == room) array = grown(array, (room = room * 2 + 4) * sizeof *array);
    array[count++] = step;
  }
  free(array);
  return count;
}

static int compare(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void run(const char *name, unsigned long long (*work)(void), unsigned long long result, double seconds) {
  static double rounds[ROUNDS_MAX];
  size_t count = 0;
  double total = 0;
  while ((total < seconds * 1e6 || count < ROUNDS_MIN) && count < ROUNDS_MAX) {
    double begun = now_us();
    if (work() != result) {
      fprintf(stderr, "%s gives a wrong result\n", name);
      exit(1);
    }
    rounds[count] = now_us() - begun;
    total += rounds[count++];
  }
  qsort(rounds, count, sizeof *rounds, compare);
  printf("BENCH %s iters=%zu total_us=%.0f us_per_op=%.4f\n", name, count, total, rounds[count / 10]);
}

int main(int count, char **words) {
  double seconds = count > 1 ? atof(words[1]) : 0.4;
  run("int_loop", int_loop, 960218, seconds);
  run("fib30", fib30, 832040, seconds);
  run("string_concat", string_concat, 3000, seconds);
  run("array_push", array_push, 100000, seconds);
  return 0;
}
