/* A host that loads libfuncattn three times as a plugin: dlopen, a run in the main thread and one
 * in a thread that ends, dlclose. Exits with 42, which nothing on the way out may change. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "funcattn.h"

static void* library;
static const char* operator_file;

static void fail(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void* symbol(const char* name) {
  void* found = dlsym(library, name);
  if (!found) fail(name, dlerror());
  return found;
}

#define FUNCTION(name) (*(__typeof__(&name))symbol(#name))
#define CHECKED(name, ...)                                \
  if (FUNCTION(name)(__VA_ARGS__, status) != FUNCATTN_OK) \
  fail(#name, FUNCTION(funcattn_status_message)(status))

static void* run(void* result) {
  static const double x[] = {-2, -1, 0, 1, 2}, known[] = {-1, 0, 1, 0, 0}, flag[] = {1, 1, 1, 0, 0};
  funcattn_status* status = FUNCTION(funcattn_status_create)();
  funcattn_operator* op;
  funcattn_job* job;
  CHECKED(funcattn_load, operator_file, &op);
  CHECKED(funcattn_job_create, op, &job);
  CHECKED(funcattn_job_set_points, job, FUNCATTN_SOURCE, 5);
  CHECKED(funcattn_job_set_coordinates, job, FUNCATTN_SOURCE, x, FUNCATTN_DOUBLE, 1, 0, 0);
  CHECKED(funcattn_job_set_input, job, FUNCATTN_SOURCE, "y_context", known, FUNCATTN_DOUBLE, 0, 0);
  CHECKED(funcattn_job_set_input, job, FUNCATTN_SOURCE, "context", flag, FUNCATTN_DOUBLE, 0, 0);
  CHECKED(funcattn_job_set_output, job, "y", result, FUNCATTN_DOUBLE, 0, 0);
  CHECKED(funcattn_job_set_option, job, "threads", "2");
  CHECKED(funcattn_run, job);
  FUNCTION(funcattn_job_free)(job);
  FUNCTION(funcattn_free)(op);
  FUNCTION(funcattn_status_free)(status);
  return NULL;
}

int main(int argc, char** argv) {
  double first = 0;
  if (argc != 3) return 2;
  operator_file = argv[2];
  for (int round = 0; round < 3; ++round) {
    double here[5] = {0}, there[5] = {0};
    pthread_t thread;
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(argv[1], dlerror());
    run(here);
    if (pthread_create(&thread, NULL, run, there) != 0) fail("thread", "cannot be started");
    pthread_join(thread, NULL);
    if (dlclose(library) != 0) fail("dlclose", dlerror());
    if (round == 0) first = here[4];
    if (first == 0 || here[4] != first || there[4] != first) fail("result", "not the same again");
  }
  return 42;
}
