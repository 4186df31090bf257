! funcattn.h for Fortran 2003 and later. Compile this file with your own compiler, since module files
! differ between them, and link with libfuncattn:
!
!     gfortran $(pkg-config --variable=fortran_module funcattn) solver.f90 $(pkg-config --libs funcattn)
!
! What the functions do stands in funcattn.h. Handles are type(c_ptr), c_null_ptr for none; texts that
! are handed over end with c_null_char; arrays are c_loc(array), of arrays with the target (or
! pointer) attribute that outlive the job. Strides are in bytes; 0 and 0 fit a(components, points),
! 0 and points * 8_c_int64_t fit real(c_double) :: a(points, components).
module funcattn
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_ptr, c_funptr, &
                                         c_f_pointer, c_associated
  implicit none
  private :: c_char, c_double, c_int, c_int64_t, c_ptr, c_funptr, c_f_pointer, c_associated

  integer(c_int), parameter :: funcattn_version_of_module = 100

  integer(c_int), parameter :: funcattn_ok = 0
  integer(c_int), parameter :: funcattn_usage_error = 1
  integer(c_int), parameter :: funcattn_file_error = 2
  integer(c_int), parameter :: funcattn_operator_error = 3
  integer(c_int), parameter :: funcattn_data_error = 4
  integer(c_int), parameter :: funcattn_numeric_error = 5
  integer(c_int), parameter :: funcattn_memory_error = 6
  integer(c_int), parameter :: funcattn_cancelled = 7
  integer(c_int), parameter :: funcattn_internal_error = 8

  integer(c_int), parameter :: funcattn_float = 1
  integer(c_int), parameter :: funcattn_double = 2
  integer(c_int), parameter :: funcattn_int32 = 3
  integer(c_int), parameter :: funcattn_int64 = 4
  integer(c_int), parameter :: funcattn_uint8 = 5

  integer(c_int), parameter :: funcattn_source = 0
  integer(c_int), parameter :: funcattn_query = 1

  integer(c_int), parameter :: funcattn_point = 0
  integer(c_int), parameter :: funcattn_cell = 1
  integer(c_int), parameter :: funcattn_field = 2

  integer(c_int), parameter :: funcattn_value = 0
  integer(c_int), parameter :: funcattn_source_flag = 1
  integer(c_int), parameter :: funcattn_parameter = 2

  interface
    function funcattn_version_number() bind(C) result(number)
      import :: c_int
      integer(c_int) :: number
    end function

    function funcattn_version() bind(C) result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function

    function funcattn_is_compatible(number) bind(C) result(yes)
      import :: c_int
      integer(c_int), value :: number
      integer(c_int) :: yes
    end function

    function funcattn_status_create() bind(C) result(status)
      import :: c_ptr
      type(c_ptr) :: status
    end function

    subroutine funcattn_status_free(status) bind(C)
      import :: c_ptr
      type(c_ptr), value :: status
    end subroutine

    function funcattn_status_code(status) bind(C) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_status_message(status) bind(C) result(text)
      import :: c_ptr
      type(c_ptr), value :: status
      type(c_ptr) :: text
    end function

    function funcattn_load(path, op, status) bind(C) result(code)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: op
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    subroutine funcattn_free(op) bind(C)
      import :: c_ptr
      type(c_ptr), value :: op
    end subroutine

    function funcattn_input_count(op) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int) :: number
    end function

    function funcattn_input_name(op, index) bind(C) result(text)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      type(c_ptr) :: text
    end function

    function funcattn_input_unit(op, index) bind(C) result(text)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      type(c_ptr) :: text
    end function

    function funcattn_input_components(op, index) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int) :: number
    end function

    function funcattn_input_association(op, index) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int) :: number
    end function

    function funcattn_input_role(op, index) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int) :: number
    end function

    function funcattn_input_min(op, index, component) bind(C) result(number)
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int), value :: component
      real(c_double) :: number
    end function

    function funcattn_input_max(op, index, component) bind(C) result(number)
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int), value :: component
      real(c_double) :: number
    end function

    function funcattn_output_count(op) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int) :: number
    end function

    function funcattn_output_name(op, index) bind(C) result(text)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      type(c_ptr) :: text
    end function

    function funcattn_output_unit(op, index) bind(C) result(text)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      type(c_ptr) :: text
    end function

    function funcattn_output_components(op, index) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int) :: number
    end function

    function funcattn_output_association(op, index) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int) :: number
    end function

    function funcattn_dimension(op) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int) :: number
    end function

    function funcattn_axis(op, index) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      integer(c_int), value :: index
      integer(c_int) :: number
    end function

    function funcattn_min_points(op) bind(C) result(number)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: op
      integer(c_int64_t) :: number
    end function

    function funcattn_max_points(op) bind(C) result(number)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: op
      integer(c_int64_t) :: number
    end function

    function funcattn_contract_json(op) bind(C) result(text)
      import :: c_ptr
      type(c_ptr), value :: op
      type(c_ptr) :: text
    end function

    function funcattn_job_create(op, job, status) bind(C) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: op
      type(c_ptr), intent(out) :: job
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    subroutine funcattn_job_free(job) bind(C)
      import :: c_ptr
      type(c_ptr), value :: job
    end subroutine

    function funcattn_job_set_points(job, where, points, status) bind(C) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: job
      integer(c_int), value :: where
      integer(c_int64_t), value :: points
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_job_set_coordinates(job, where, data, type, components, point_stride, &
                                          component_stride, status) bind(C) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: job
      integer(c_int), value :: where
      type(c_ptr), value :: data
      integer(c_int), value :: type
      integer(c_int), value :: components
      integer(c_int64_t), value :: point_stride
      integer(c_int64_t), value :: component_stride
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_job_set_axis(job, where, axis, data, type, point_stride, status) bind(C) &
        result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: job
      integer(c_int), value :: where
      integer(c_int), value :: axis
      type(c_ptr), value :: data
      integer(c_int), value :: type
      integer(c_int64_t), value :: point_stride
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_job_set_weights(job, data, type, point_stride, status) bind(C) result(code)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: job
      type(c_ptr), value :: data
      integer(c_int), value :: type
      integer(c_int64_t), value :: point_stride
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_job_set_input(job, where, name, data, type, point_stride, component_stride, &
                                    status) bind(C) result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: job
      integer(c_int), value :: where
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: data
      integer(c_int), value :: type
      integer(c_int64_t), value :: point_stride
      integer(c_int64_t), value :: component_stride
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    ! A count of 0, with [real(c_double) ::], takes the values back.
    function funcattn_job_set_parameter(job, name, values, count, status) bind(C) result(code)
      import :: c_char, c_double, c_int, c_ptr
      type(c_ptr), value :: job
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: values(*)
      integer(c_int), value :: count
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_job_set_output(job, name, data, type, point_stride, component_stride, &
                                     status) bind(C) result(code)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: job
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: data
      integer(c_int), value :: type
      integer(c_int64_t), value :: point_stride
      integer(c_int64_t), value :: component_stride
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_job_set_option(job, key, text, status) bind(C) result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: job
      character(kind=c_char), intent(in) :: key(*)
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    ! The function gets (fraction, user), both by value: real(c_double), type(c_ptr).
    function funcattn_job_set_progress(job, progress, user, status) bind(C) result(code)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), value :: job
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_run(job, status) bind(C) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: job
      type(c_ptr), value :: status
      integer(c_int) :: code
    end function

    function funcattn_job_warning_count(job) bind(C) result(number)
      import :: c_int, c_ptr
      type(c_ptr), value :: job
      integer(c_int) :: number
    end function

    function funcattn_job_warning(job, index) bind(C) result(text)
      import :: c_int, c_ptr
      type(c_ptr), value :: job
      integer(c_int), value :: index
      type(c_ptr) :: text
    end function

    function funcattn_job_unusable_count(job) bind(C) result(number)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: job
      integer(c_int64_t) :: number
    end function

    function funcattn_job_device(job) bind(C) result(text)
      import :: c_ptr
      type(c_ptr), value :: job
      type(c_ptr) :: text
    end function
  end interface

contains

  ! A text that the library owns, as a Fortran text of its own; empty for a null pointer.
  function funcattn_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length, i

    text = ''
    if (.not. c_associated(pointer)) return
    ! The end is looked for before anything of the text is used.
    call c_f_pointer(pointer, characters, [huge(0)])
    length = 0
    do while (characters(length + 1) /= achar(0))
      length = length + 1
    end do
    deallocate(text)
    allocate(character(len=length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function

end module
