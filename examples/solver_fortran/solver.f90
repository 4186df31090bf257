! A solver in Fortran that calls the stage in every step.
!
! The field u(x, t) = 2 exp(-t/10) sin(x - 0.5) diffuses; the solver carries it at six stations, and
! the operator, trained on sines of any amplitude and phase, gives it at all 241 points. The arrays
! are the columns of one array, as Fortran solvers hold them, in single precision but for x.
!
! Usage: solver OPERATOR. Exits with 1 where an error is above 0.02.
program solver
  use, intrinsic :: iso_c_binding
  use funcattn
  implicit none

  integer, parameter :: points = 241, stations = 6, steps = 300
  integer, parameter :: places(stations) = [13, 61, 98, 131, 176, 223]
  real(c_double), parameter :: step = 0.01_c_double
  real(c_double), target :: x(points)
  real(c_float), target :: fields(points, 2)     ! measured values, predicted values
  integer(c_int32_t), target :: is_station(points)
  real(c_double) :: value(stations), error, worst
  type(c_ptr) :: op, job, status
  character(len=4096) :: path
  integer :: i, n

  if (command_argument_count() /= 1) then
    print '(a)', 'usage: solver OPERATOR'
    stop 2
  end if
  call get_command_argument(1, path)
  status = funcattn_status_create()
  if (funcattn_is_compatible(funcattn_version_of_module) /= 1) then
    print '(3a)', 'solver: the library is funcattn ', funcattn_text(funcattn_version()), &
      ', which does not fit'
    stop 1
  end if

  x = [(-6 + 12.0_c_double * (i - 1) / (points - 1), i = 1, points)]
  fields = 0
  is_station = 0
  is_station(places) = 1
  value = 2 * sin(x(places) - 0.5_c_double)

  call check(funcattn_load(trim(path)//c_null_char, op, status))
  call check(funcattn_job_create(op, job, status))
  call check(funcattn_job_set_points(job, funcattn_source, int(points, c_int64_t), status))
  call check(funcattn_job_set_axis(job, funcattn_source, 0_c_int, c_loc(x), funcattn_double, &
                                   0_c_int64_t, status))
  call check(funcattn_job_set_input(job, funcattn_source, 'y_context'//c_null_char, &
                                    c_loc(fields(1, 1)), funcattn_float, 0_c_int64_t, &
                                    0_c_int64_t, status))
  call check(funcattn_job_set_input(job, funcattn_source, 'context'//c_null_char, &
                                    c_loc(is_station), funcattn_int32, 0_c_int64_t, 0_c_int64_t, &
                                    status))
  call check(funcattn_job_set_output(job, 'y'//c_null_char, c_loc(fields(1, 2)), funcattn_float, &
                                     0_c_int64_t, 0_c_int64_t, status))
  call check(funcattn_job_set_option(job, 'threads'//c_null_char, '1'//c_null_char, status))

  worst = 0
  do n = 1, steps
    value = value * (1 - step / 20) / (1 + step / 20)    ! Crank-Nicolson for du/dt = -u/10
    fields(places, 1) = real(value, c_float)
    call check(funcattn_run(job, status))
    error = maxval(abs(fields(:, 2) - 2 * exp(-n * step / 10) * sin(x - 0.5_c_double)))
    worst = max(worst, error)
    if (mod(n, 100) == 0) print '(a, f5.2, a, es9.2)', 't = ', n * step, '  error ', error
  end do

  call funcattn_job_free(job)
  call funcattn_free(op)
  call funcattn_status_free(status)
  print '(i0, a, es9.2)', steps, ' steps, largest error ', worst
  if (.not. worst <= 0.02_c_double) stop 1

contains

  subroutine check(code)
    integer(c_int), intent(in) :: code
    if (code == funcattn_ok) return
    print '(2a)', 'solver: ', funcattn_text(funcattn_status_message(status))
    stop 1
  end subroutine

end program
