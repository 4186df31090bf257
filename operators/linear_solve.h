#pragma once

#include "operators/torch_compat.h"

namespace funcattn {

/// X = A^-1 B for a batch of symmetric positive (semi-)definite systems, by Cholesky in float64
/// whatever the dtype of the input, with one step of iterative refinement; X has the dtype of B.
/// Differentiable once in A and B: asking for second derivatives throws UsageError.
///
/// Every system stands alone. One that is singular to working precision (a pivot below k times the
/// float64 rounding unit of its own diagonal entry) is solved with the smallest multiple of its
/// mean diagonal added that makes it factor (1e-14, 1e-13, ...; the identity where it is all zero);
/// one whose matrix holds a non-finite number yields NaN. Neither alters the others.
///
/// @param A [...,k,k], symmetric; the factorisation reads the lower triangle
/// @param B [...,k,m], same leading axes
Tensor solve_positive_definite(const Tensor& A, const Tensor& B);

}  // namespace funcattn
