/* A solver that calls the stage in every step.
 *
 * The field u(x, t) = 2 sin(x - 0.5 - t) obeys u_tt = u_xx = -u. The solver carries it at six
 * stations only, as oscillators of their own; the operator, trained on sines of any amplitude and
 * phase, gives the field at all 241 points in between. Load once, bind once, run in every step.
 *
 * Usage: solver OPERATOR. Prints the largest error against the exact field at the end of each unit
 * of time; exits with 1 where an error is above 0.02. */
#include <funcattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { points = 241, stations = 6, steps = 600 };

/* One record per point: the stage reads and writes members where they lie. */
struct node {
  double x;
  double measured; /* u at the stations, 0 elsewhere. */
  double u;        /* What the stage gives. */
  unsigned char is_station;
};

static void stop_unless(int good, funcattn_status* status) {
  if (good) return;
  fprintf(stderr, "solver: %s\n", funcattn_status_message(status));
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  static struct node nodes[points];
  const int places[stations] = {12, 60, 97, 130, 175, 222};
  const double step = 0.01;
  double value[stations], speed[stations], worst = 0;
  funcattn_operator* op = NULL;
  funcattn_job* job = NULL;
  funcattn_status* status;
  int i, s, n;

  if (argc != 2) {
    fprintf(stderr, "usage: solver OPERATOR\n");
    return 2;
  }
  if (!funcattn_is_compatible(FUNCATTN_VERSION_NUMBER)) {
    fprintf(stderr, "solver: compiled for funcattn %d.%d.%d, found %s\n", FUNCATTN_VERSION_MAJOR,
            FUNCATTN_VERSION_MINOR, FUNCATTN_VERSION_PATCH, funcattn_version());
    return 1;
  }
  for (i = 0; i < points; ++i) nodes[i].x = -6 + 12.0 * i / (points - 1);
  for (s = 0; s < stations; ++s) {
    const double phase = nodes[places[s]].x - 0.5;
    nodes[places[s]].is_station = 1;
    value[s] = 2 * sin(phase);
    speed[s] = -2 * cos(phase);
  }

  status = funcattn_status_create();
  stop_unless(
      funcattn_load(argv[1], &op, status) == FUNCATTN_OK &&
          funcattn_job_create(op, &job, status) == FUNCATTN_OK &&
          funcattn_job_set_points(job, FUNCATTN_SOURCE, points, status) == FUNCATTN_OK &&
          funcattn_job_set_axis(job, FUNCATTN_SOURCE, 0, &nodes[0].x, FUNCATTN_DOUBLE,
                                sizeof nodes[0], status) == FUNCATTN_OK &&
          funcattn_job_set_input(job, FUNCATTN_SOURCE, "y_context", &nodes[0].measured,
                                 FUNCATTN_DOUBLE, sizeof nodes[0], 0, status) == FUNCATTN_OK &&
          funcattn_job_set_input(job, FUNCATTN_SOURCE, "context", &nodes[0].is_station,
                                 FUNCATTN_UINT8, sizeof nodes[0], 0, status) == FUNCATTN_OK &&
          funcattn_job_set_output(job, "y", &nodes[0].u, FUNCATTN_DOUBLE, sizeof nodes[0], 0,
                                  status) == FUNCATTN_OK &&
          funcattn_job_set_option(job, "threads", "1", status) == FUNCATTN_OK,
      status);

  for (n = 1; n <= steps; ++n) {
    double error = 0;
    for (s = 0; s < stations; ++s) { /* Leapfrog. */
      speed[s] -= step / 2 * value[s];
      value[s] += step * speed[s];
      speed[s] -= step / 2 * value[s];
      nodes[places[s]].measured = value[s];
    }
    stop_unless(funcattn_run(job, status) == FUNCATTN_OK, status);
    for (i = 0; i < points; ++i)
      error = fmax(error, fabs(nodes[i].u - 2 * sin(nodes[i].x - 0.5 - n * step)));
    worst = fmax(worst, error);
    if (n % 100 == 0) printf("t = %g  error %.2e\n", n * step, error);
  }

  funcattn_job_free(job);
  funcattn_free(op);
  funcattn_status_free(status);
  printf("%d steps, largest error %.2e\n", steps, worst);
  return worst <= 0.02 ? EXIT_SUCCESS : EXIT_FAILURE;
}
