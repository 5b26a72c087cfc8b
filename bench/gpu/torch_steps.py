"""The training steps of steps.cpp in PyTorch, as JSON lines: eager, compiled, and one CUDA graph.

A step of the first two is timed as users write it, with the batch on the GPU; nothing is read back.
The graph is the whole step captured by hand, with compiled kernels or plain ones, whichever is
faster.
"""

import json
import statistics
import time

import torch

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.benchmark = True
nn = torch.nn


def mlp():
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                        nn.Linear(512, 10))
    return net, torch.rand(128, 784)


def convnet():
    net = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3),
                        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.5),
                        nn.Linear(1600, 10))
    return net, torch.rand(128, 1, 28, 28)


def make_step(build, compiled):
    net, x = build()
    net, x, y = net.cuda(), x.cuda(), torch.randint(0, 10, (128,)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, capturable=True)
    forward = torch.compile(net) if compiled else net

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def captured(step):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def median_ms(step):
    for _ in range(50):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(20):
        before = time.perf_counter()
        for _ in range(25):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - before) * 1e3 / 25)
    return round(statistics.median(times), 4)


for name, build in {"mlp": mlp, "convnet": convnet}.items():
    row = {"model": name, "torch": torch.__version__}
    for kind, compiled in {"eager": False, "compile": True}.items():
        row[kind] = median_ms(make_step(build, compiled))
    row["graph"] = min(median_ms(captured(make_step(build, c))) for c in (False, True))
    print(json.dumps(row), flush=True)
