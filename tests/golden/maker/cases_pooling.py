"""Cases of the adaptive pooling layers."""

from maker.cases_image import FIRST, SPACE, first, last, sizes
from maker.spec import Case, F


def adaptive(rank):
    output = sizes(rank, 3, 2, 3)
    return [
        Case("sizes", dict(output_size=output), last(rank)),
        Case("one size", dict(output_size=2), last(rank, 3)),
        Case("to one", dict(output_size=1), last(rank)),
        Case("as many", dict(output_size=sizes(rank, *SPACE[rank])), last(rank)),
        Case("divides", dict(output_size=sizes(rank, 2, 3, 2)),
             last(rank, size=sizes(rank, 6, 3, 4) if rank > 1 else (6,))),
        Case("more than there are", dict(output_size=sizes(rank, 11, 9, 5)), last(rank)),
        Case("channels_first", dict(output_size=output, **FIRST), first(rank, 3)),
        # TensorFlow pools three axes in float32 alone.
        *([Case("float64", dict(output_size=output, dtype="float64"),
                F(2, *SPACE[rank], 2, dtype="float64")),
           Case("mixed_bfloat16", dict(output_size=output, dtype="mixed_bfloat16"), last(rank))]
          if rank < 3 else []),
        *([Case("mask is lost", dict(output_size=3), F(2, 4, 3, mask="1110 1000"))]
          if rank == 1 else []),
    ]


CASES = {
    f"Adaptive{kind}Pooling{rank}D": adaptive(rank)
    for kind in ("Average", "Max") for rank in (1, 2, 3)
}
