"""A peer in `make bench-inference`: peer_worker.py onnxruntime|openvino|litert. One JSON line a request.

Every peer gets the number of threads, takes its input from memory that it knows already where it
can, and runs one request per caller; its default optimisations are on.
"""

import json
import os
import sys
import threading
import time

import numpy as np


class OnnxRuntime:
    def __init__(self, path, x, threads):
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = ort.InferenceSession(path + ".onnx", options, ["CPUExecutionProvider"])
        self.feed = {self.session.get_inputs()[0].name: x}

    def caller(self):
        return lambda: self.session.run(None, self.feed)[0]

    @staticmethod
    def version():
        import onnxruntime as ort
        return f"ONNX Runtime {ort.__version__}"


class OpenVino:
    def __init__(self, path, x, threads):
        import openvino as ov
        core = ov.Core()
        model = core.read_model(path + ".onnx")
        model.reshape(list(x.shape))
        config = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                  "INFERENCE_PRECISION_HINT": "f32"}
        self.model, self.x = core.compile_model(model, "CPU", config), x

    def caller(self):
        request = self.model.create_infer_request()
        return lambda: list(request.infer([self.x], share_inputs=True).values())[0]

    @staticmethod
    def version():
        import openvino as ov
        return f"OpenVINO {ov.__version__}"


class LiteRt:
    def __init__(self, path, x, threads):
        self.path, self.x, self.threads = path + ".tflite", x, threads

    def caller(self):
        from ai_edge_litert.interpreter import Interpreter
        run = Interpreter(model_path=self.path, num_threads=self.threads)
        where = run.get_input_details()[0]["index"]
        run.resize_tensor_input(where, self.x.shape)
        run.allocate_tensors()
        out = run.get_output_details()[0]["index"]

        def call():
            run.set_tensor(where, self.x)
            run.invoke()
            return run.get_tensor(out)

        return call

    @staticmethod
    def version():
        import importlib.metadata
        return f"LiteRT {importlib.metadata.version('ai-edge-litert')}"


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "litert": LiteRt}


def sample(callers, seconds):
    """The milliseconds of each call of callers that run at the same time, and the seconds they took."""
    times, end = [[] for _ in callers], time.perf_counter() + seconds

    def loop(call, mine):
        while True:
            start = time.perf_counter()
            call()
            now = time.perf_counter()
            mine.append((now - start) * 1e3)
            if now >= end:
                return

    begin = time.perf_counter()
    threads = [threading.Thread(target=loop, args=pair) for pair in list(zip(callers, times))[1:]]
    for t in threads:
        t.start()
    loop(callers[0], times[0])
    for t in threads:
        t.join()
    return {"times_ms": [t for mine in times for t in mine], "seconds": time.perf_counter() - begin}


class Worker:
    def __init__(self, peer):
        self.peer, self.callers = peer, []

    def handle(self, request):
        if request["cmd"] == "list":
            return {"version": self.peer.version()}
        if request["cmd"] == "prepare":
            self.callers = []
            x = np.ascontiguousarray(np.load(request["path"] + ".npy")[:request["batch"]])
            self.model = self.peer(request["path"], x, request["threads"])
            self.callers = [self.model.caller() for _ in range(request["callers"])]
            y = self.callers[0]()
            sample(self.callers, 0.2)
            return {"check": float(np.mean(np.square(np.asarray(y, np.float64))))}
        if request["cmd"] == "sample":
            return sample(self.callers, request["seconds"])
        raise ValueError(f"unknown command {request['cmd']}")

    def serve(self):
        replies = os.fdopen(os.dup(1), "w")  # libraries may print
        os.dup2(2, 1)
        for line in sys.stdin:
            request = json.loads(line)
            if request["cmd"] == "quit":
                break
            try:
                reply = self.handle(request)
            except Exception as e:
                reply = {"error": f"{type(e).__name__}: {e}"[:1000]}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


if __name__ == "__main__":
    Worker(PEERS[sys.argv[1]]).serve()
