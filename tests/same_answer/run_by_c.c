/* The C interface as a front end: prints what the operator gives for arrays read from a text file
 * (the number of entries; for each x y z, weight, inputs). Usage: run_by_c OPERATOR ARRAYS */
#include <funcattn.h>
#include <stdio.h>
#include <stdlib.h>

static funcattn_status* status;

static void check(int code) {
  if (code == FUNCATTN_OK) return;
  fprintf(stderr, "%s\n", funcattn_status_message(status));
  exit(1);
}

int main(int argc, char** argv) {
  const int64_t size = sizeof(double);
  funcattn_operator* op;
  funcattn_job* job;
  FILE* file;
  double *values, *results;
  long entries, i;
  int columns = 4, outputs = 0, column, k;
  if (argc != 3 || (file = fopen(argv[2], "r")) == NULL) return 2;
  status = funcattn_status_create();
  check(funcattn_load(argv[1], &op, status));
  for (k = 0; k < funcattn_input_count(op); ++k) columns += funcattn_input_components(op, k);
  for (k = 0; k < funcattn_output_count(op); ++k) outputs += funcattn_output_components(op, k);

  if (fscanf(file, "%ld", &entries) != 1) return 2;
  values = malloc((size_t)(entries * columns) * sizeof *values);
  results = malloc((size_t)(entries * outputs) * sizeof *results);
  for (i = 0; i < entries * columns; ++i)
    if (fscanf(file, "%lf", &values[i]) != 1) return 2;
  fclose(file);

  check(funcattn_job_create(op, &job, status));
  check(funcattn_job_set_option(job, "threads", "1", status));
  check(funcattn_job_set_points(job, FUNCATTN_SOURCE, entries, status));
  check(funcattn_job_set_coordinates(job, FUNCATTN_SOURCE, values, FUNCATTN_DOUBLE, 3,
                                     columns * size, 0, status));
  check(funcattn_job_set_weights(job, values + 3, FUNCATTN_DOUBLE, columns * size, status));
  for (k = 0, column = 4; k < funcattn_input_count(op); ++k) {
    const char* name = funcattn_input_name(op, k);
    const int components = funcattn_input_components(op, k);
    if (funcattn_input_role(op, k) == FUNCATTN_PARAMETER)
      check(funcattn_job_set_parameter(job, name, values + column, components, status));
    else
      check(funcattn_job_set_input(job, FUNCATTN_SOURCE, name, values + column, FUNCATTN_DOUBLE,
                                   columns * size, 0, status));
    column += components;
  }
  for (k = 0, column = 0; k < funcattn_output_count(op); ++k) {
    check(funcattn_job_set_output(job, funcattn_output_name(op, k), results + column,
                                  FUNCATTN_DOUBLE, outputs * size, 0, status));
    column += funcattn_output_components(op, k);
  }
  check(funcattn_run(job, status));
  for (i = 0; i < entries; ++i)
    for (k = 0; k < outputs; ++k)
      printf("%.17g%c", results[i * outputs + k], k + 1 < outputs ? ' ' : '\n');

  free(values);
  free(results);
  funcattn_job_free(job);
  funcattn_free(op);
  funcattn_status_free(status);
  return 0;
}
