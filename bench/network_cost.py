"""What a network costs by its sizes, and how measured costs grow."""
import math


def flops_per_point(model):
    """Nominal operations per point of shared_basis and shared_basis_tied: multiplications and
    additions of the matrix products alone, each term counting two. Softmax, GELU, LayerNorm and
    what is done once per block on coefficients are left out, and so is whatever an implementation
    does twice: the figure says what is asked for, not what is done.
    """
    width, basis = model["width"], model["basis"]
    hidden = model["mlp_ratio"] * width
    inputs = model["coordinate_dimension"] + model["value_features"]
    lifting = 2 * inputs * 2 * width + 2 * 2 * width * width
    projections = 2 * 2 * width * width  # in_project_x and in_project_fx
    # H heads with width / H channels each: logits, coefficients and reconstruction each cost
    # 2 H basis (width / H).
    in_basis = 3 * 2 * basis * width
    output = 2 * width * width
    mlp = 2 * 2 * width * hidden
    block = projections + in_basis + output + mlp
    return lifting + model["blocks"] * block + 2 * width * model["out_features"]


def memory_allowance(model, points):
    """Bytes that exact inference may take at its peak: 1.3 times the float32 activations of all
    points, and 64 MiB."""
    return 1.3 * points * model["width"] * 4 + 64 * 2**20


def growth_exponent(sizes, costs):
    """p of the least-squares fit costs = c sizes^p in logarithms. None below two sizes."""
    x = [math.log(size) for size in sizes]
    y = [math.log(cost) for cost in costs]
    if len(set(x)) < 2:
        return None
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / \
        sum((a - mean_x) ** 2 for a in x)
