"""The steps of steps.cpp in PyTorch, as JSON lines: eager, compiled, and one CUDA graph.

    torch_steps.py [MODEL...] [--bf16] [--predict] [--batch] [--compile]

A step of the first two is timed as users write it, with the batch on the GPU; nothing is read back.
The graph is the whole step captured by hand. Compiling takes long and is done on demand, once and
last; then the graph is of compiled kernels or plain ones, whichever is faster. With --bf16 a step
runs under autocast; with --predict it is the prediction of one sample, with --batch too that of the
batch. Each line has all of a model that is known by then: the last of them counts.
"""

import argparse
import contextlib
import json
import math
import statistics
import time

import torch

import torch_models
from rows import MODELS, UNCAPTURABLE

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.benchmark = True


def precision(bf16):
    if not bf16:
        return contextlib.nullcontext()
    return torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False)


def train_step(build, compiled, bf16, _):
    net, x, y, loss_of, _ = build()
    net, x, y = net.cuda(), x.cuda(), y.cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, capturable=True)
    forward = torch.compile(net) if compiled else net

    def step():
        optimizer.zero_grad(set_to_none=True)
        with precision(bf16):
            loss = loss_of(forward(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def predict_step(build, compiled, bf16, batch):
    net, x, _, _, one = build()
    net, x = net.cuda().eval(), (x if batch else one).cuda()
    forward = torch.compile(net) if compiled else net

    def step():
        with torch.no_grad(), precision(bf16):
            return forward(x)

    return step


def captured(step):
    """The step as a graph. It must have run on this stream only: what it keeps belongs to that."""
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        step()
    return graph.replay


def median_ms(step):
    """Of 20 samples of at least 20 ms each, after half a second to warm up."""
    def run(count):
        before = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - before) * 1e3 / count

    run(3)
    once = run(3)
    run(max(1, int(500 / once)))
    count = max(1, int(20 / once))
    return round(statistics.median(run(count) for _ in range(20)), 4)


def measurements(name, make, compiles):
    """What is known of a model, more of it each time. `make(compiled)` gives a step."""
    known = {"torch": torch.__version__}
    for mode in ["eager", "compile"] if compiles else ["eager"]:
        step, begin = make(mode == "compile"), time.perf_counter()
        step()
        torch.cuda.synchronize()
        known[f"{mode}_first_s"] = round(time.perf_counter() - begin, 1)
        known[mode] = median_ms(step)
        yield known
        if name in UNCAPTURABLE:
            continue
        ms = median_ms(captured(step))
        if ms < known.get("graph", math.inf):
            known |= {"graph": ms, "graph_of": mode}
        yield known


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", choices=[[], *MODELS])
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--batch", action="store_true")
    parser.add_argument("--compile", action="store_true")
    given = parser.parse_args()
    kind = predict_step if given.predict else train_step
    about = {"bf16": given.bf16, "predict": given.predict}
    # The default stream cannot be captured.
    with torch.cuda.stream(torch.cuda.Stream()):
        for name in given.models or MODELS:
            build = getattr(torch_models, name)

            def make(compiled):
                return kind(build, compiled, given.bf16, given.batch)

            for known in measurements(name, make, given.compile):
                print(json.dumps({"model": name, **about, **known}), flush=True)


if __name__ == "__main__":
    main()
