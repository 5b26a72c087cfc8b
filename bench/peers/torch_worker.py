"""PyTorch as a peer: `torch_worker.py eager` or `torch_worker.py compile`."""

import copy
import sys

import torch
import torch.nn.functional as F
from torch import nn

import worker
from workloads import TIMED_LEARNING_RATE

COMPILED = sys.argv[1] == "compile"
torch.set_num_threads(worker.threads())
torch.set_num_interop_threads(1)


def compiled(fn):
    return torch.compile(fn) if COMPILED else fn


def tensors(workload):
    return {k: torch.from_numpy(v) for k, v in worker.data(workload).items()}


def oihw(kernel, depthwise=False):
    """Converts HWIO, or HWC1 for depthwise kernels, to PyTorch's OIHW."""
    order = (2, 3, 0, 1) if depthwise else (3, 2, 0, 1)
    return kernel.permute(*order).contiguous()


def inference_job(module, *inputs):
    def step():
        with torch.inference_mode():
            return module(*inputs)

    return worker.Job(step, worker.mean_square(step().numpy()))


class Frozen:
    """Inductor's constant folding of weights, which packs them for oneDNN ahead of time."""

    def __init__(self, module, *inputs):
        self.module, self.inputs = module.eval(), inputs

    def __call__(self):
        import torch._inductor.config as config

        torch._dynamo.reset()
        with config.patch(freezing=True):
            fn = torch.compile(self.module)
            with torch.no_grad():
                fn(*self.inputs)

        def step():
            with torch.no_grad():
                return fn(*self.inputs)

        return worker.Job(step, worker.mean_square(step().numpy()))


def inference(label, module, *inputs):
    """The variants of running a module without gradients."""
    module = module.eval().requires_grad_(False)
    yield label, lambda: inference_job(compiled(module), *inputs)
    if COMPILED:
        yield label + "+freezing", Frozen(module, *inputs)


def gradient_job(fn, inputs, dy):
    """y = fn(inputs), then the gradients of all inputs from dy."""
    inputs = [t.detach().requires_grad_() for t in inputs]

    def step():
        y = fn(*inputs)
        return (y.detach(), *torch.autograd.grad(y, inputs, dy))

    return worker.Job(step, worker.mean_square(*[t.numpy() for t in step()]))


def linear(weight, bias=None):
    """nn.Linear holding weight [in, out] as PyTorch keeps it: [out, in]."""
    module = nn.Linear(*weight.shape, bias=bias is not None)
    with torch.no_grad():
        module.weight.copy_(weight.T)
        if bias is not None:
            module.bias.copy_(bias)
    return module


class Matmul(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        return x @ self.weight


def matmul(workload):
    t = tensors(workload)
    yield from inference("x@w", Matmul(t["w"]), t["x"])
    yield from inference("linear", linear(t["w"]), t["x"])


def conv_tensors(workload, channels_last):
    t, a = tensors(workload), workload.attrs
    format_ = torch.channels_last if channels_last else torch.contiguous_format
    x = t["x"].permute(0, 3, 1, 2).contiguous(memory_format=format_)
    w = oihw(t["w"], a["depthwise"]).contiguous(memory_format=format_)
    dy = t["dy"].permute(0, 3, 1, 2).contiguous(memory_format=format_) if "dy" in t else None
    options = dict(stride=a["stride"], padding=a["kernel"] // 2 if a["padding"] == "same" else 0,
                   groups=x.shape[1] if a["depthwise"] else 1)
    return x, w, dy, options


def conv(workload):
    for label, last in (("nchw", False), ("channels_last", True)):
        x, w, _, options = conv_tensors(workload, last)
        module = nn.Conv2d(w.shape[1] * options["groups"], w.shape[0], w.shape[2:], bias=False, **options)
        module.weight = nn.Parameter(w)
        yield from inference(label, module, x)


def conv_grad(workload):
    for label, last in (("nchw", False), ("channels_last", True)):
        x, w, dy, options = conv_tensors(workload, last)
        fn = compiled(lambda x, w, o=options: F.conv2d(x, w, **o))
        yield label, lambda: gradient_job(fn, (x, w), dy)


class Lstm(nn.Module):
    """nn.LSTM with Keras's weights (gates i f g o in both) and one bias; returns all outputs."""

    def __init__(self, t):
        super().__init__()
        self.rnn = nn.LSTM(t["w"].shape[0], t["u"].shape[0], batch_first=True)
        with torch.no_grad():
            self.rnn.weight_ih_l0.copy_(t["w"].T)
            self.rnn.weight_hh_l0.copy_(t["u"].T)
            self.rnn.bias_ih_l0.copy_(t["b"])
            self.rnn.bias_hh_l0.zero_()

    def forward(self, x):
        return self.rnn(x)[0]


def lstm(workload):
    t = tensors(workload)
    yield from inference("nn.LSTM", Lstm(t), t["x"])


def lstm_grad(workload):
    t = tensors(workload)

    def make():
        module = Lstm(t)
        fn, x = compiled(module), t["x"].clone().requires_grad_()
        rnn = module.rnn
        # The second bias belongs to PyTorch's formula; its gradient equals the first's.
        params = (x, rnn.weight_ih_l0, rnn.weight_hh_l0, rnn.bias_ih_l0)

        def step():
            y = fn(x)
            return (y.detach(), *torch.autograd.grad(y, params, t["dy"]))

        return worker.Job(step, worker.mean_square(*[g.numpy() for g in step()]))

    yield "nn.LSTM", make


def pointwise(workload):
    t = tensors(workload)
    inputs = [t[k] for k in ("x", "w", "b", "mask")]

    class Chain(nn.Module):
        def forward(self, x, w, b, mask):
            return F.gelu(x * w + b, approximate="tanh") * mask

    class InPlace(nn.Module):
        def forward(self, x, w, b, mask):
            return F.gelu(torch.addcmul(b, x, w), approximate="tanh").mul_(mask)

    yield "plain", lambda: inference_job(compiled(Chain()), *inputs)
    if not COMPILED:
        yield "addcmul+mul_", lambda: inference_job(InPlace(), *inputs)


def make_adam(params, a, how):
    # A tensor learning rate keeps a compiled step valid when the rate changes.
    lr = torch.tensor(a["lr"]) if how == "compiled" else a["lr"]
    extra = {"fused": {"fused": True}, "foreach": {"foreach": True},
             "compiled": {"foreach": False}}[how]
    return torch.optim.Adam(params, lr=lr, betas=(a["beta1"], a["beta2"]), eps=a["epsilon"], **extra)


def optimizer_kinds():
    return ("fused", "compiled") if COMPILED else ("fused", "foreach")


def optimizer_step(optimizer, how):
    return torch.compile(optimizer.step) if how == "compiled" else optimizer.step


def set_rate(optimizer, rate):
    for group in optimizer.param_groups:
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def adam(workload):
    t, a = tensors(workload), workload.attrs

    def job(how):
        p = nn.Parameter(torch.zeros_like(t["g"]))
        p.grad = t["g"].clone()
        step = optimizer_step(make_adam([p], a, how), how)
        step()
        return worker.Job(step, worker.mean_square(p.detach().numpy()))

    for how in optimizer_kinds():
        yield how, lambda how=how: job(how)


def softmax(workload):
    class Softmax(nn.Module):
        def forward(self, x):
            return F.softmax(x, dim=-1)

    yield "softmax", lambda: inference_job(compiled(Softmax()), tensors(workload)["x"])


class LayerNorm(nn.Module):
    def forward(self, x, gamma, beta):
        return F.layer_norm(x, (x.shape[-1],), gamma, beta, 1e-5)


def layernorm(workload):
    t = tensors(workload)
    yield "layer_norm", lambda: inference_job(compiled(LayerNorm()), t["x"], t["gamma"], t["beta"])


def layernorm_grad(workload):
    t = tensors(workload)
    yield "layer_norm", lambda: gradient_job(
        compiled(LayerNorm()), (t["x"], t["gamma"], t["beta"]), t["dy"])


def mlp(t, activation_last=False):
    count = sum(k.endswith("_w") for k in t)
    layers = []
    for i in range(1, count + 1):
        layers.append(linear(t[f"d{i}_w"], t[f"d{i}_b"]))
        if activation_last or i < count:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def tiny_mlp(workload):
    t = tensors(workload)
    yield from inference("sequential", mlp(t, activation_last=True), t["x"])


class Loss(nn.Module):
    """Model and loss as one module, so that both are compiled together."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return F.cross_entropy(self.model(x), y)


def train_job(model, x, y, a, how):
    loss = Loss(model)
    run = compiled(loss)
    optimizer = make_adam(model.parameters(), a, how)
    update = optimizer_step(optimizer, how)

    def step():
        optimizer.zero_grad(set_to_none=True)
        run(x, y).backward()
        update()

    for _ in range(a["check_steps"]):
        step()
    loss.eval()
    with torch.no_grad():
        check = [float(loss(x, y))]
    loss.train()
    set_rate(optimizer, TIMED_LEARNING_RATE)
    return worker.Job(step, check)


def mlp_train(workload):
    t, y = tensors(workload), torch.from_numpy(worker.labels(workload))
    for how in optimizer_kinds():
        yield how, lambda how=how: train_job(mlp(t), t["x"], y, workload.attrs, how)


def convnet(t, dropout):
    """Flatten follows channels-first order, so the dense kernel's rows are reordered to match."""
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(dropout),
        linear(t["d1_w"].reshape(5, 5, 64, 10).permute(2, 0, 1, 3).reshape(1600, 10), t["d1_b"]))
    with torch.no_grad():
        for layer, name in ((model[0], "c1"), (model[3], "c2")):
            layer.weight.copy_(oihw(t[f"{name}_w"]))
            layer.bias.copy_(t[f"{name}_b"])
    return model


def convnet_train(workload):
    t, y = tensors(workload), torch.from_numpy(worker.labels(workload))
    x = t["x"].permute(0, 3, 1, 2).contiguous()

    def job(format_, how):
        model = convnet(t, workload.attrs["dropout"]).to(memory_format=format_)
        return train_job(model, x.to(memory_format=format_), y, workload.attrs, how)

    for label, format_ in (("nchw", torch.contiguous_format), ("channels_last", torch.channels_last)):
        for how in optimizer_kinds():
            yield f"{label}, {how}", lambda f=format_, h=how: job(f, h)


class SequenceModel(nn.Module):
    """Embedding, LSTM over the tokens that are not padding, one logit. `packed` says how padding is
    left out: a packed sequence, or the output at each row's last token."""

    def __init__(self, t, packed):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(t["embedding"].clone(), freeze=False)
        self.lstm = Lstm(dict(w=t["kernel"], u=t["recurrent"], b=t["bias"]))
        self.lstm.rnn.bias_hh_l0.requires_grad_(False)  # Keras has one bias
        self.out = linear(t["d1_w"], t["d1_b"])
        self.packed = packed

    def forward(self, tokens):
        x, lengths = self.embedding(tokens), (tokens != 0).sum(1)
        if self.packed:
            x = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            last = self.lstm.rnn(x)[1][0][0]
        else:
            last = self.lstm(x)[torch.arange(len(x)), lengths - 1]
        return self.out(last)[:, 0]


class Block(nn.Module):
    """Attention and two dense layers, each with a residual connection and a normalisation."""

    def __init__(self, t, label, heads):
        super().__init__()
        width = t[f"{label}_q_w"].shape[0]
        projections = [linear(t[f"{label}_{p}_w"].reshape(width, -1), t[f"{label}_{p}_b"].reshape(-1)) for p in "qkv"]
        # One matmul for all three, as in nn.MultiheadAttention.
        self.qkv = nn.Linear(width, 3 * width)
        with torch.no_grad():
            self.qkv.weight.copy_(torch.cat([p.weight for p in projections]))
            self.qkv.bias.copy_(torch.cat([p.bias for p in projections]))
        self.out = linear(t[f"{label}_o_w"].reshape(-1, width), t[f"{label}_o_b"])
        self.norms = nn.ModuleList([self.norm(t, f"{label}_n{i}") for i in (1, 2)])
        self.hidden = linear(t[f"{label}_f1_w"], t[f"{label}_f1_b"])
        self.narrow = linear(t[f"{label}_f2_w"], t[f"{label}_f2_b"])
        self.heads = heads

    @staticmethod
    def norm(t, label):
        module = nn.LayerNorm(t[f"{label}_g"].shape[0], eps=1e-5)
        with torch.no_grad():
            module.weight.copy_(t[f"{label}_g"])
            module.bias.copy_(t[f"{label}_b"])
        return module

    def forward(self, x):
        batch, steps, width = x.shape
        q, k, v = self.qkv(x).view(batch, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, steps, width)
        x = self.norms[0](x + self.out(attended))
        return self.norms[1](x + self.narrow(F.relu(self.hidden(x))))


class Transformer(nn.Module):
    def __init__(self, t, a):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(t["embedding"].clone(), freeze=False)
        self.positions = nn.Parameter(t["positions"].clone())
        self.blocks = nn.Sequential(*[Block(t, f"l{i}", a["heads"]) for i in range(a["layers"])])
        self.out = linear(t["d1_w"], t["d1_b"])

    def forward(self, tokens):
        return self.out(self.blocks(self.embedding(tokens) + self.positions).mean(1))


class BinaryLoss(Loss):
    def forward(self, x, y):
        return F.binary_cross_entropy_with_logits(self.model(x), y)


def fit_candidates(workload, t):
    """Yields (label, model, loss, layout of x) for each variant of the model of a fit workload."""
    a, kind = workload.attrs, workload.attrs["model"]
    if kind == "mlp":
        yield "", mlp({k: v for k, v in t.items() if k != "x"}), Loss, torch.contiguous_format
    elif kind == "convnet":
        for label, format_ in (("nchw, ", torch.contiguous_format), ("channels_last, ", torch.channels_last)):
            yield label, convnet(t, a["dropout"]).to(memory_format=format_), Loss, format_
    elif kind == "lstm":
        yield "packed, ", SequenceModel(t, packed=True), BinaryLoss, torch.contiguous_format
        yield "last token, ", SequenceModel(t, packed=False), BinaryLoss, torch.contiguous_format
    else:
        yield "", Transformer(t, a), Loss, torch.contiguous_format


def fit_job(model, make_loss, format_, x, y, a, how):
    """A usual PyTorch loop: shuffled indices, rows gathered from memory, running loss."""
    loss, batch = make_loss(model), a["batch"]
    run, optimizer = compiled(loss), make_adam([p for p in model.parameters() if p.requires_grad], a, how)
    update = optimizer_step(optimizer, how)

    def rows(order, start):
        here = order[start:start + batch]
        return x[here].contiguous(memory_format=format_), y[here]

    def epoch(order):
        total = torch.zeros(())
        for start in range(0, len(x), batch):
            optimizer.zero_grad(set_to_none=True)
            value = run(*rows(order, start))
            value.backward()
            update()
            total += value.detach()
        return total.item() * batch / len(x)

    in_order = torch.arange(len(x))
    epoch(in_order)
    loss.eval()
    with torch.no_grad():
        check = [sum(float(loss(*rows(in_order, i))) for i in range(0, len(x), batch)) * batch / len(x)]
    loss.train()
    set_rate(optimizer, TIMED_LEARNING_RATE)
    return worker.Job(lambda: epoch(torch.randperm(len(x))), check)


def fit(workload):
    t, a = tensors(workload), workload.attrs
    x, y = t["x"], torch.from_numpy(worker.labels(workload))
    if a["model"] == "convnet":
        x = x.permute(0, 3, 1, 2).contiguous()
    if a["model"] == "lstm":
        y = y.float()
    for label, model, loss, format_ in fit_candidates(workload, t):
        for how in optimizer_kinds():
            # Each variant starts from the same weights.
            yield label + how, lambda m=model, l=loss, f=format_, h=how: fit_job(
                copy.deepcopy(m), l, f, x, y, a, h)


def predict_one(workload):
    t = tensors(workload)
    model = mlp(t, activation_last=True).eval().requires_grad_(False)
    run, x = compiled(model), t["x"].numpy()

    def step():
        with torch.inference_mode():
            return run(torch.from_numpy(x)).numpy()

    yield "sequential", lambda: worker.Job(step, worker.mean_square(step()))


if __name__ == "__main__":
    builders = dict(matmul=matmul, conv=conv, conv_grad=conv_grad, lstm=lstm, lstm_grad=lstm_grad,
                    pointwise=pointwise, adam=adam, softmax=softmax, layernorm=layernorm,
                    layernorm_grad=layernorm_grad, tiny_mlp=tiny_mlp, mlp_train=mlp_train,
                    convnet_train=convnet_train, fit=fit, predict_one=predict_one)
    worker.Worker(f"torch_{sys.argv[1]}", f"PyTorch {torch.__version__}", builders,
                  reset=lambda: torch._dynamo.reset() if COMPILED else None).serve()
