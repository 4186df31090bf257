! A parameter from Fortran: given, and taken back. Usage: parameter_test OPERATOR, of the fixtures.
program parameter_test
  use, intrinsic :: iso_c_binding
  use funcattn
  implicit none

  integer, parameter :: points = 12
  real(c_double), target :: xyz(3, points), load(points), pressure(points)
  type(c_ptr) :: op, job, status
  character(len=4096) :: path
  integer :: i

  call get_command_argument(1, path)
  xyz = reshape([(real(modulo(7 * i, 36), c_double) / 36, i = 1, 3 * points)], [3, points])
  load = 1
  status = funcattn_status_create()
  call expect(funcattn_ok, funcattn_load(trim(path)//c_null_char, op, status))
  call expect(funcattn_ok, funcattn_job_create(op, job, status))
  call expect(funcattn_ok, funcattn_job_set_points(job, funcattn_source, int(points, c_int64_t), status))
  call expect(funcattn_ok, funcattn_job_set_coordinates(job, funcattn_source, c_loc(xyz), &
    funcattn_double, 3_c_int, 0_c_int64_t, 0_c_int64_t, status))
  call expect(funcattn_ok, funcattn_job_set_input(job, funcattn_source, 'load'//c_null_char, &
    c_loc(load), funcattn_double, 0_c_int64_t, 0_c_int64_t, status))
  call expect(funcattn_ok, funcattn_job_set_output(job, 'pressure'//c_null_char, c_loc(pressure), &
    funcattn_double, 0_c_int64_t, 0_c_int64_t, status))

  call expect(funcattn_ok, funcattn_job_set_parameter(job, 'force'//c_null_char, &
    [0.25_c_double, -0.5_c_double, 2.0_c_double], 3_c_int, status))
  call expect(funcattn_ok, funcattn_run(job, status))
  call expect(funcattn_ok, funcattn_job_set_parameter(job, 'force'//c_null_char, &
    [real(c_double) ::], 0_c_int, status))
  call expect(funcattn_usage_error, funcattn_run(job, status))
  if (index(funcattn_text(funcattn_status_message(status)), "'force'") == 0) error stop 1
  call funcattn_job_free(job)
  call funcattn_free(op)
  call funcattn_status_free(status)

contains

  subroutine expect(expected, found)
    integer(c_int), intent(in) :: expected, found
    if (found == expected) return
    print '(a, i0, a, i0, 2a)', 'expected ', expected, ', found ', found, ': ', &
      funcattn_text(funcattn_status_message(status))
    error stop 1
  end subroutine

end program
