"""ONNX Runtime as a peer: inference only, graphs made here with onnx.helper."""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import worker

OPSET = 20
IR_VERSION = 10


def session(nodes, inputs, output_shape, constants):
    """A session over the nodes; constants become initializers, so the runtime may pack them."""
    graph = helper.make_graph(
        nodes, "workload",
        [helper.make_tensor_value_info(k, TensorProto.FLOAT, v.shape) for k, v in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output_shape)],
        [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                              ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = worker.threads()
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def variants(nodes, inputs, output_shape, constants):
    inputs = {k: np.ascontiguousarray(v) for k, v in inputs.items()}
    run = session(nodes, inputs, output_shape, constants)

    def plain():
        step = lambda: run.run(None, inputs)
        return worker.Job(step, worker.mean_square(step()[0]))

    def bound():
        binding, y = run.io_binding(), np.zeros(output_shape, np.float32)
        for k, v in inputs.items():
            binding.bind_cpu_input(k, v)
        binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
        step = lambda: run.run_with_iobinding(binding)
        step()
        job = worker.Job(step, worker.mean_square(y))
        job.buffers = inputs, y  # the binding holds bare pointers into these
        return job

    yield "run", plain
    yield "io_binding", bound


def matmul(workload):
    d = worker.data(workload)
    shape = (d["x"].shape[0], d["w"].shape[1])
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    yield from variants([node], {"x": d["x"]}, shape, {"w": d["w"]})


def conv(workload):
    d, a = worker.data(workload), workload.attrs
    order = (2, 3, 0, 1) if a["depthwise"] else (3, 2, 0, 1)
    x, w = d["x"].transpose(0, 3, 1, 2), d["w"].transpose(order)
    node = helper.make_node(
        "Conv", ["x", "w"], ["y"], strides=[a["stride"]] * 2,
        auto_pad="SAME_UPPER" if a["padding"] == "same" else "VALID",
        group=x.shape[1] if a["depthwise"] else 1)
    yield from variants([node], {"x": x}, (x.shape[0], w.shape[0], a["out"], a["out"]), {"w": w})


def lstm(workload):
    """ONNX orders the gates i o f c, wants time first and adds a direction axis."""
    d, h = worker.data(workload), workload.attrs["hidden"]

    def gates(v):
        i, f, g, o = np.split(v, 4, axis=-1)
        return np.concatenate([i, o, f, g], axis=-1).T[None]

    constants = {"w": gates(d["w"]), "u": gates(d["u"]),
                 "b": np.concatenate([gates(d["b"]), np.zeros((1, 4 * h), np.float32)], axis=-1)}
    x = d["x"].transpose(1, 0, 2)
    node = helper.make_node("LSTM", ["x", "w", "u", "b"], ["y"], hidden_size=h)
    yield from variants([node], {"x": x}, (x.shape[0], 1, x.shape[1], h), constants)


def pointwise(workload):
    d = worker.data(workload)
    nodes = [helper.make_node("Mul", ["x", "w"], ["xw"]), helper.make_node("Add", ["xw", "b"], ["u"]),
             helper.make_node("Gelu", ["u"], ["g"], approximate="tanh"),
             helper.make_node("Mul", ["g", "mask"], ["y"])]
    yield from variants(nodes, d, d["x"].shape, {})


def softmax(workload):
    x = worker.data(workload)["x"]
    yield from variants([helper.make_node("Softmax", ["x"], ["y"], axis=-1)], {"x": x}, x.shape, {})


def layernorm(workload):
    d = worker.data(workload)
    node = helper.make_node("LayerNormalization", ["x", "gamma", "beta"], ["y"], axis=-1, epsilon=1e-5)
    yield from variants([node], {"x": d["x"]}, d["x"].shape, {k: d[k] for k in ("gamma", "beta")})


def tiny_mlp(workload):
    d, nodes, value = worker.data(workload), [], "x"
    layers = workload.attrs["layers"]
    for i in range(1, layers + 1):
        nodes.append(helper.make_node("Gemm", [value, f"d{i}_w", f"d{i}_b"], [f"z{i}"]))
        value = "y" if i == layers else f"h{i}"
        nodes.append(helper.make_node("Relu", [f"z{i}"], [value]))
    constants = {k: v for k, v in d.items() if k != "x"}
    yield from variants(nodes, {"x": d["x"]}, d["x"].shape, constants)


if __name__ == "__main__":
    builders = dict(matmul=matmul, conv=conv, lstm=lstm, pointwise=pointwise, softmax=softmax,
                    layernorm=layernorm, tiny_mlp=tiny_mlp)
    worker.Worker("onnxruntime", f"ONNX Runtime {ort.__version__}", builders).serve()
