/* Memory levels off: 120 runs of 1,000 to 20,000 points from new threads, each with an operator and
 * a job of its own, need at most 1.1 times what the first 30 needed. Usage: memory_test OPERATOR */
#define _POSIX_C_SOURCE 200809L
#include <funcattn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char* operator_file;

/* Resident memory in bytes. */
static long resident(void) {
  long pages = 0, total = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2) exit(2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void* run(void* argument) {
  const long points = *(const long*)argument;
  double* arrays = calloc(4 * (size_t)points, sizeof *arrays);
  double *x = arrays, *known = x + points, *flag = known + points, *y = flag + points;
  funcattn_operator* op = NULL;
  funcattn_job* job = NULL;
  int failures = 0;
  long i;
  for (i = 0; i < points; ++i) x[i] = -6 + 12.0 * (double)i / (double)points;
  for (i = 0; i < points; i += points / 8) {
    flag[i] = 1;
    known[i] = sin(x[i]);
  }
  failures += funcattn_load(operator_file, &op, NULL);
  failures += funcattn_job_create(op, &job, NULL);
  failures += funcattn_job_set_points(job, FUNCATTN_SOURCE, points, NULL);
  failures += funcattn_job_set_coordinates(job, FUNCATTN_SOURCE, x, FUNCATTN_DOUBLE, 1, 0, 0, NULL);
  failures +=
      funcattn_job_set_input(job, FUNCATTN_SOURCE, "y_context", known, FUNCATTN_DOUBLE, 0, 0, NULL);
  failures +=
      funcattn_job_set_input(job, FUNCATTN_SOURCE, "context", flag, FUNCATTN_DOUBLE, 0, 0, NULL);
  failures += funcattn_job_set_output(job, "y", y, FUNCATTN_DOUBLE, 0, 0, NULL);
  failures += funcattn_job_set_option(job, "threads", "1", NULL);
  failures += funcattn_run(job, NULL);
  for (i = 0; i < points; ++i) failures += !(fabs(y[i] - sin(x[i])) < 0.01);
  funcattn_job_free(job);
  funcattn_free(op);
  free(arrays);
  return failures == 0 ? NULL : argument;
}

int main(int argc, char** argv) {
  long before = 0, after;
  unsigned long random = 7;
  int i;
  if (argc != 2) return 2;
  operator_file = argv[1];
  for (i = 0; i < 120; ++i) {
    pthread_t thread;
    void* failed = NULL;
    long points;
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    points = i == 0 ? 20000 : 1000 + (long)(random >> 33) % 19001;
    if (pthread_create(&thread, NULL, run, &points) != 0) return 2;
    pthread_join(thread, &failed);
    if (failed) {
      fprintf(stderr, "run %d of %ld points failed\n", i, points);
      return 1;
    }
    if (i == 29) before = resident();
  }
  after = resident();
  printf("%ld MiB after 30 runs, %ld after 120\n", before >> 20, after >> 20);
  return (double)after <= 1.1 * (double)before ? 0 : 1;
}
