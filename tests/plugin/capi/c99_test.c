/* The C interface in C99: the sine operator finds 2 sin(x - 0.5) again from five known points. */
#include <funcattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 201

static int failures = 0;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "not so: %s\n", what);
  ++failures;
}

int main(int argc, char** argv) {
  static double x[POINTS], known[POINTS], flag[POINTS], y[POINTS];
  const int places[] = {10, 40, 100, 150, 190};
  double largest = 0;
  funcattn_operator* op = NULL;
  funcattn_job* job = NULL;
  funcattn_status* status = funcattn_status_create();
  int i;
  if (argc != 2) return 2;

  check(funcattn_is_compatible(FUNCATTN_VERSION_NUMBER), "the library fits the header");
  check(funcattn_load("absent.safetensors", &op, status) == FUNCATTN_FILE_ERROR, "no such file");
  check(op == NULL, "nothing was loaded");
  check(strstr(funcattn_status_message(status), "absent.safetensors") != NULL, "the file is named");
  if (funcattn_load(argv[1], &op, status) != FUNCATTN_OK ||
      funcattn_job_create(op, &job, status) != FUNCATTN_OK) {
    fprintf(stderr, "%s\n", funcattn_status_message(status));
    return 1;
  }
  check(strcmp(funcattn_status_message(status), "") == 0, "success has no message");

  for (i = 0; i < POINTS; ++i) x[i] = -6 + 0.06 * i;
  for (i = 0; i < 5; ++i) {
    flag[places[i]] = 1;
    known[places[i]] = 2 * sin(x[places[i]] - 0.5);
  }
  check(funcattn_job_set_points(job, FUNCATTN_SOURCE, POINTS, status) == FUNCATTN_OK &&
            funcattn_job_set_coordinates(job, FUNCATTN_SOURCE, x, FUNCATTN_DOUBLE, 1, 0, 0,
                                         status) == FUNCATTN_OK &&
            funcattn_job_set_input(job, FUNCATTN_SOURCE, "y_context", known, FUNCATTN_DOUBLE, 0, 0,
                                   status) == FUNCATTN_OK &&
            funcattn_job_set_input(job, FUNCATTN_SOURCE, "context", flag, FUNCATTN_DOUBLE, 0, 0,
                                   status) == FUNCATTN_OK &&
            funcattn_job_set_output(job, "y", y, FUNCATTN_DOUBLE, 0, 0, status) == FUNCATTN_OK &&
            funcattn_job_set_option(job, "threads", "1", status) == FUNCATTN_OK &&
            funcattn_run(job, status) == FUNCATTN_OK,
        funcattn_status_message(status));
  for (i = 0; i < POINTS; ++i) {
    const double error = fabs(y[i] - 2 * sin(x[i] - 0.5));
    if (error > largest) largest = error;
  }
  printf("largest error %g\n", largest);
  check(largest < 0.01, "the sine is found");

  funcattn_job_free(job);
  funcattn_free(op);
  funcattn_status_free(status);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
