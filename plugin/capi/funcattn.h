/* clang-format off */
/* Trained operators for solvers: the C interface of funcattn.
 *
 * An operator is loaded once; a job binds the caller's arrays to it and is run as often as their
 * content changes. Nothing is copied that the caller has to free, no array is kept beyond the job,
 * and no exception leaves a function.
 *
 *     funcattn_status* status = funcattn_status_create();
 *     funcattn_operator* op = NULL;
 *     funcattn_job* job = NULL;
 *     if (funcattn_load("darcy.safetensors", &op, status) != FUNCATTN_OK ||
 *         funcattn_job_create(op, &job, status) != FUNCATTN_OK)
 *       fail(funcattn_status_message(status));
 *     funcattn_job_set_points(job, FUNCATTN_SOURCE, n, status);
 *     funcattn_job_set_coordinates(job, FUNCATTN_SOURCE, xyz, FUNCATTN_DOUBLE, 3, 0, 0, status);
 *     funcattn_job_set_input(job, FUNCATTN_SOURCE, "permeability", k, FUNCATTN_FLOAT, 0, 0, status);
 *     funcattn_job_set_output(job, "pressure", p, FUNCATTN_DOUBLE, 0, 0, status);
 *     for (;;) {
 *       step(k);
 *       if (funcattn_run(job, status) != FUNCATTN_OK) fail(funcattn_status_message(status));
 *     }
 *
 * Errors. Every function that can fail returns one of the codes below and, where the last argument
 * is not NULL, leaves code and message in that status object. A status object belongs to one thread
 * at a time, as a job does; an operator may be used by any number of threads at once.
 *
 * Arrays. An array has `points` rows of a number of components. Strides are in bytes: from a point
 * to the next, and from a component to the next; 0 stands for packed, which means interleaved
 * (x0 y0 z0 x1 ...) for both 0, and a point after the other without gaps within each component for
 * a component stride alone (x0 x1 ... y0 y1 ...: 0 and points * sizeof(double)). Strides may be
 * negative; elements of an array must not overlap each other. Alignment is not required.
 *
 * Text is UTF-8, NUL-terminated, and owned by the object that it was asked of. */
/* clang-format on */
#ifndef FUNCATTN_H
#define FUNCATTN_H

#include <stdint.h>

#define FUNCATTN_VERSION_MAJOR 0
#define FUNCATTN_VERSION_MINOR 1
#define FUNCATTN_VERSION_PATCH 0
#define FUNCATTN_VERSION_NUMBER \
  (FUNCATTN_VERSION_MAJOR * 10000 + FUNCATTN_VERSION_MINOR * 100 + FUNCATTN_VERSION_PATCH)

#if defined(_WIN32) || !defined(__GNUC__)
#define FUNCATTN_API
#else
#define FUNCATTN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns. */
enum {
  FUNCATTN_OK = 0,
  FUNCATTN_USAGE_ERROR = 1,    /* The call is wrong: NULL, strides, unknown names or values. */
  FUNCATTN_FILE_ERROR = 2,     /* A file is missing, unreadable, or the disk is full. */
  FUNCATTN_OPERATOR_ERROR = 3, /* An operator file is damaged, of another version or kind. */
  FUNCATTN_DATA_ERROR = 4,     /* An array does not hold what is needed: NaN, no weight, ... */
  FUNCATTN_NUMERIC_ERROR = 5,  /* The prediction is not finite, or does not fit in a float. */
  FUNCATTN_MEMORY_ERROR = 6,   /* There is not enough memory; option "memory" may help. */
  FUNCATTN_CANCELLED = 7,      /* The progress function asked for it. */
  FUNCATTN_INTERNAL_ERROR = 8  /* A fault of the library. */
};

/* Types of the caller's numbers. Outputs are FLOAT or DOUBLE; the others serve flags. */
enum {
  FUNCATTN_FLOAT = 1,
  FUNCATTN_DOUBLE = 2,
  FUNCATTN_INT32 = 3,
  FUNCATTN_INT64 = 4,
  FUNCATTN_UINT8 = 5
};

/* Which points an array belongs to. */
enum {
  FUNCATTN_SOURCE = 0, /* Those that the operator is built on, and evaluated at without a query. */
  FUNCATTN_QUERY = 1   /* Those that it is evaluated at, where they are others. */
};

/* Where the values of an array sit. */
enum {
  FUNCATTN_POINT = 0, /* At mesh points. */
  FUNCATTN_CELL = 1,  /* In cells: "points" are then the cells' centres. */
  FUNCATTN_FIELD = 2  /* One value for all points: a parameter. */
};

/* What an input means to the operator. */
enum {
  FUNCATTN_VALUE = 0,
  FUNCATTN_SOURCE_FLAG = 1, /* Non-zero where the values are known; the others are queries. */
  FUNCATTN_PARAMETER = 2    /* One value for all points: funcattn_job_set_parameter(). */
};

typedef struct funcattn_status funcattn_status;
typedef struct funcattn_operator funcattn_operator;
typedef struct funcattn_job funcattn_job;

/* --- version ---------------------------------------------------------------------------------- */

/* FUNCATTN_VERSION_NUMBER of the library, to be compared with that of the header. */
FUNCATTN_API int funcattn_version_number(void);
FUNCATTN_API const char* funcattn_version(void); /* "0.1.0" */
/* 1 where a program compiled with FUNCATTN_VERSION_NUMBER `number` may use this library, else 0:
 * the same major version and nothing newer than the library. */
FUNCATTN_API int funcattn_is_compatible(int number);

/* --- status ----------------------------------------------------------------------------------- */

FUNCATTN_API funcattn_status* funcattn_status_create(void); /* NULL without memory. */
FUNCATTN_API void funcattn_status_free(funcattn_status* status);
FUNCATTN_API int funcattn_status_code(const funcattn_status* status);
/* "" after success. Valid until the status is used again. */
FUNCATTN_API const char* funcattn_status_message(const funcattn_status* status);

/* --- operators -------------------------------------------------------------------------------- */

/* Reads and verifies an operator file. On failure *op is NULL. */
FUNCATTN_API int funcattn_load(const char* path, funcattn_operator** op, funcattn_status* status);
/* Jobs of the operator stay valid. NULL is allowed. */
FUNCATTN_API void funcattn_free(funcattn_operator* op);

/* Inputs and outputs, counted from 0. Where there is none of that index, or `op` is NULL, texts are
 * NULL and numbers -1. Units are "" where the training data had none. */
FUNCATTN_API int funcattn_input_count(const funcattn_operator* op);
FUNCATTN_API const char* funcattn_input_name(const funcattn_operator* op, int index);
FUNCATTN_API const char* funcattn_input_unit(const funcattn_operator* op, int index);
FUNCATTN_API int funcattn_input_components(const funcattn_operator* op, int index);
FUNCATTN_API int funcattn_input_association(const funcattn_operator* op, int index);
FUNCATTN_API int funcattn_input_role(const funcattn_operator* op, int index);
/* Least and largest value of a component (from 0) of a parameter in training; NaN where the file
 * does not say, for other inputs, and for a component that there is not. */
FUNCATTN_API double funcattn_input_min(const funcattn_operator* op, int index, int component);
FUNCATTN_API double funcattn_input_max(const funcattn_operator* op, int index, int component);
FUNCATTN_API int funcattn_output_count(const funcattn_operator* op);
FUNCATTN_API const char* funcattn_output_name(const funcattn_operator* op, int index);
FUNCATTN_API const char* funcattn_output_unit(const funcattn_operator* op, int index);
FUNCATTN_API int funcattn_output_components(const funcattn_operator* op, int index);
FUNCATTN_API int funcattn_output_association(const funcattn_operator* op, int index);

/* How many coordinates the operator uses (0 to 3), and which: 0 is x, 1 is y, 2 is z. */
FUNCATTN_API int funcattn_dimension(const funcattn_operator* op);
FUNCATTN_API int funcattn_axis(const funcattn_operator* op, int index);
/* Fewest and most points of a training sample; 0 where the file does not say. */
FUNCATTN_API int64_t funcattn_min_points(const funcattn_operator* op);
FUNCATTN_API int64_t funcattn_max_points(const funcattn_operator* op);
/* All that the file says of arrays and coordinates, as JSON (docs/operator_file.md). */
FUNCATTN_API const char* funcattn_contract_json(const funcattn_operator* op);

/* --- jobs ------------------------------------------------------------------------------------- */

/* An empty job. On failure *job is NULL. */
FUNCATTN_API int funcattn_job_create(const funcattn_operator* op, funcattn_job** job,
                                     funcattn_status* status);
FUNCATTN_API void funcattn_job_free(funcattn_job* job); /* NULL is allowed. */

/* How many points there are, at least 1. Another number than before forgets all arrays of these
 * points (and the outputs), whose lengths it was. 0 for FUNCATTN_QUERY: no query after all. */
FUNCATTN_API int funcattn_job_set_points(funcattn_job* job, int where, int64_t points,
                                         funcattn_status* status);

/* Coordinates: `components` (1 to 3) of x, y, z, in this order; the operator takes the axes that it
 * was trained with. */
FUNCATTN_API int funcattn_job_set_coordinates(funcattn_job* job, int where, const void* data,
                                              int type, int components, int64_t point_stride,
                                              int64_t component_stride, funcattn_status* status);
/* The coordinates along one axis (0 is x, 1 is y, 2 is z), for solvers that hold them apart. */
FUNCATTN_API int funcattn_job_set_axis(funcattn_job* job, int where, int axis, const void* data,
                                       int type, int64_t point_stride, funcattn_status* status);

/* Quadrature weights of the source points, >= 0: how much of the domain each stands for, in any
 * unit (a node's share of the volume). NULL, as at the beginning: all the same. */
FUNCATTN_API int funcattn_job_set_weights(funcattn_job* job, const void* data, int type,
                                          int64_t point_stride, funcattn_status* status);

/* An input of the operator, by name. An operator that evaluates at other points may ask for its
 * inputs there too; funcattn_run() says so. */
FUNCATTN_API int funcattn_job_set_input(funcattn_job* job, int where, const char* name,
                                        const void* data, int type, int64_t point_stride,
                                        int64_t component_stride, funcattn_status* status);

/* An input that is one value for all points (FUNCATTN_PARAMETER): `count` numbers, one for each of
 * its components, which are copied. They stay until they are set anew; NULL, or a count of 0, takes
 * them back. A value outside the range of training is a warning of the run. */
FUNCATTN_API int funcattn_job_set_parameter(funcattn_job* job, const char* name,
                                            const double* values, int count,
                                            funcattn_status* status);

/* Where an output goes, at the query points if there are any and at the source points otherwise.
 * Outputs that are not asked for are neither kept nor checked; NULL takes one back. An output may
 * be the very array (place, type, strides) of an input, of coordinates or of weights, which it then
 * replaces; any other overlap is an error of funcattn_run(). */
FUNCATTN_API int funcattn_job_set_output(funcattn_job* job, const char* name, void* data, int type,
                                         int64_t point_stride, int64_t component_stride,
                                         funcattn_status* status);

/* Options, as text; NULL gives the default back.
 *   threads       0 (default): the cores this process may use
 *   nan           error (default), or mask: points with NaN take no part and get NaN
 *   weights       uniform (default) or density (the space around each point), where none were set
 *   device        cpu (default), cuda, cuda:N, or auto: a GPU where there is one. On a GPU results
 *                 differ by rounding, and memory, spill_folder and tile_points mean nothing
 *   memory        resident (default), spilled or recomputed: features of the points
 *   spill_folder  folder for "spilled"; default: the system's for temporary files
 *   tile_points   points between two sums; 0 (default): a good number
 *   parameter.NAME  the numbers of the parameter NAME with commas between them, as
 *                 funcattn_job_set_parameter() takes them */
FUNCATTN_API int funcattn_job_set_option(funcattn_job* job, const char* key, const char* value,
                                         funcattn_status* status);

/* Called by funcattn_run(), in the thread that called it, a few hundred times at most: how much is
 * done, from 0 to 1, and `user`. 0 goes on; anything else ends the run with FUNCATTN_CANCELLED. It
 * must not touch the job, and must return (no longjmp). */
typedef int (*funcattn_progress)(double fraction, void* user);
FUNCATTN_API int funcattn_job_set_progress(funcattn_job* job, funcattn_progress progress,
                                           void* user, funcattn_status* status); /* NULL: none. */

/* Runs the job. On failure no output is touched. */
FUNCATTN_API int funcattn_run(funcattn_job* job, funcattn_status* status);

/* After a run: what deserves a look (far outside the training data, ...), and how many points got
 * NaN because their inputs are NaN. */
FUNCATTN_API int funcattn_job_warning_count(const funcattn_job* job);
FUNCATTN_API const char* funcattn_job_warning(const funcattn_job* job, int index);
FUNCATTN_API int64_t funcattn_job_unusable_count(const funcattn_job* job);
/* What computed, "cpu" or "cuda:N"; "" before the first run and after one that failed. */
FUNCATTN_API const char* funcattn_job_device(const funcattn_job* job);

#ifdef __cplusplus
}
#endif

#endif
