"""Keras 3 as a peer, on the backend KERAS_BACKEND names: tensorflow or jax.

Single operations are keras.ops calls compiled by the backend (tf.function with and without
XLA, jax.jit); training steps are the model's own train_step, compiled likewise, on a batch that
already lives in the backend's memory.
"""

import os

import worker
from workloads import TIMED_LEARNING_RATE

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
BACKEND = os.environ.setdefault("KERAS_BACKEND", "tensorflow")
THREADS = worker.threads()

if BACKEND == "tensorflow":
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    VERSION = f"TensorFlow {tf.__version__}"
    COMPILERS = {"graph": tf.function, "xla": lambda fn: tf.function(fn, jit_compile=True)}
    to_device = tf.constant
else:
    # XLA's CPU client sizes its pool from NPROC when it starts.
    os.environ["NPROC"] = str(THREADS)
    import jax
    import jax.numpy as jnp

    VERSION = f"JAX {jax.__version__}"
    COMPILERS = {"jit": jax.jit}
    to_device = jnp.asarray

import keras  # noqa: E402  (after the backend's threads are set)


def tensors(workload):
    return {k: to_device(v) for k, v in worker.data(workload).items()}


def wait(value):
    if BACKEND == "jax":
        jax.block_until_ready(value)
    return value


def gradients(fn, args, dy):
    """y = fn(args) and the gradients of all args from dy."""
    if BACKEND == "jax":
        y, pull = jax.vjp(fn, *args)
        return (y, *pull(dy))
    with tf.GradientTape() as tape:
        for a in args:
            tape.watch(a)
        y = fn(*args)
    return (y, *tape.gradient(y, args, output_gradients=dy))


def call_job(compiled, args):
    """Each call waits for its result."""

    def step():
        return wait(compiled(*args))

    result = step()
    outputs = result if isinstance(result, tuple) else (result,)
    return worker.Job(step, worker.mean_square(*[keras.ops.convert_to_numpy(o) for o in outputs]))


def forward(fn, *args, label=""):
    for name, compile_ in COMPILERS.items():
        yield label + name, lambda c=compile_: call_job(c(fn), args)


def backward(fn, dy, *args, label=""):
    def both(dy, *args):
        return gradients(fn, args, dy)

    yield from forward(both, dy, *args, label=label)


def matmul(workload):
    t = tensors(workload)
    yield from forward(keras.ops.matmul, t["x"], t["w"])


def conv_function(workload):
    a = workload.attrs
    op = keras.ops.depthwise_conv if a["depthwise"] else keras.ops.conv

    def fn(x, w):
        return op(x, w, strides=a["stride"], padding=a["padding"], data_format="channels_last")

    return fn


def conv(workload):
    t = tensors(workload)
    yield from forward(conv_function(workload), t["x"], t["w"])


def conv_grad(workload):
    t = tensors(workload)
    yield from backward(conv_function(workload), t["dy"], t["x"], t["w"])


def lstm_function(workload):
    layer = keras.layers.LSTM(workload.attrs["hidden"], return_sequences=True)
    layer.build(workload.tensors["x"].shape)
    state = [v.value for v in layer.non_trainable_variables]

    def fn(x, w, u, b):
        return layer.stateless_call([w, u, b], state, x)[0]

    return fn


def lstm(workload):
    t = tensors(workload)
    yield from forward(lstm_function(workload), *[t[k] for k in "xwub"])


def lstm_grad(workload):
    t = tensors(workload)
    yield from backward(lstm_function(workload), t["dy"], *[t[k] for k in "xwub"])


def pointwise(workload):
    t = tensors(workload)

    def fn(x, w, b, mask):
        return keras.ops.gelu(x * w + b, approximate=True) * mask

    yield from forward(fn, *[t[k] for k in ("x", "w", "b", "mask")])


def softmax(workload):
    yield from forward(lambda x: keras.ops.softmax(x, axis=-1), tensors(workload)["x"])


def layernorm_function(x, gamma, beta):
    return keras.ops.layer_normalization(x, gamma, beta, axis=-1, epsilon=1e-5)


def layernorm(workload):
    t = tensors(workload)
    yield from forward(layernorm_function, t["x"], t["gamma"], t["beta"])


def layernorm_grad(workload):
    t = tensors(workload)
    yield from backward(layernorm_function, t["dy"], t["x"], t["gamma"], t["beta"])


def make_adam(a):
    return keras.optimizers.Adam(a["lr"], beta_1=a["beta1"], beta_2=a["beta2"], epsilon=a["epsilon"])


def adam(workload):
    g = tensors(workload)["g"]

    def stateful(compile_):
        variable = keras.Variable(keras.ops.zeros_like(g))
        optimizer = make_adam(workload.attrs)
        optimizer.build([variable])
        step = compile_(lambda: optimizer.apply([g]))
        step()
        return worker.Job(step, worker.mean_square(variable.numpy()))

    def stateless():
        variable = keras.Variable(keras.ops.zeros_like(g))
        optimizer = make_adam(workload.attrs)
        optimizer.build([variable])

        def update(p, slots):
            return optimizer.stateless_apply(slots, [g], [p])

        run = jax.jit(update, donate_argnums=(0, 1))
        state = [variable.value, [v.value for v in optimizer.variables]]

        def step():
            (state[0],), state[1] = run(*state)
            wait(state[0])

        step()
        return worker.Job(step, worker.mean_square(state[0]))

    if BACKEND == "jax":
        yield "jit", stateless
    else:
        for name, compile_ in COMPILERS.items():
            yield name, lambda c=compile_: stateful(c)


def dense_stack(workload, last):
    count = sum(k.endswith("_w") for k in workload.tensors)
    layers = [keras.layers.Dense(workload.tensors[f"d{i}_b"].shape[0],
                                 activation="relu" if i < count else last)
              for i in range(1, count + 1)]
    return build(workload, layers)


def build(workload, layers):
    """A Sequential of the layers, with the workload's weights in order."""
    tensors_ = worker.data(workload)
    model = keras.Sequential([keras.Input(workload.tensors["x"].shape[1:]), *layers])
    model.set_weights([v for k, v in tensors_.items() if k != "x"])
    return model


def tiny_mlp(workload):
    model = dense_stack(workload, last="relu")
    x = tensors(workload)["x"]
    if BACKEND == "jax":
        weights = [v.value for v in model.trainable_variables]
        yield from forward(lambda w, x: model.stateless_call(w, [], x)[0], weights, x)
    else:
        yield from forward(lambda x: model(x, training=False), x)


def jax_train_job(model, x, y, steps):
    groups = (model.trainable_variables, model.non_trainable_variables, model.optimizer.variables,
              model.metrics_variables)
    state = tuple([v.value for v in group] for group in groups)
    run = jax.jit(model.train_step, donate_argnums=0)
    holder = [state]

    def step():
        holder[0] = run(holder[0], (x, y))[1]

    def finish():
        jax.block_until_ready(holder[0])

    for _ in range(steps):
        step()
    logits = model.stateless_call(holder[0][0], holder[0][1], x, training=False)[0]
    rate = [v is model.optimizer.learning_rate for v in model.optimizer.variables].index(True)
    slots = list(holder[0][2])
    slots[rate] = jnp.asarray(TIMED_LEARNING_RATE, slots[rate].dtype)
    holder[0] = (holder[0][0], holder[0][1], slots, holder[0][3])
    # Steps depend on each other, so they may be dispatched ahead, as in fit().
    return step, finish, logits, 4


def tf_train_job(model, x, y, steps, compile_):
    run = compile_(lambda x, y: model.train_step((x, y)))

    def step():
        run(x, y)

    for _ in range(steps):
        step()
    logits = model(x, training=False)
    model.optimizer.learning_rate = TIMED_LEARNING_RATE
    return step, lambda: None, logits, 1


def train_variants(workload, make_model):
    x, y = tensors(workload)["x"], to_device(worker.labels(workload).astype("int32"))

    def job(name, compile_):
        model = make_model()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(make_adam(workload.attrs), loss, jit_compile=name != "graph")
        model.optimizer.build(model.trainable_variables)
        model.test_on_batch(x, y)  # creates the metric variables train_step carries
        steps = workload.attrs["check_steps"]
        if BACKEND == "jax":
            step, finish, logits, group = jax_train_job(model, x, y, steps)
        else:
            step, finish, logits, group = tf_train_job(model, x, y, steps, compile_)
        return worker.Job(step, [float(loss(y, logits))], finish, group)

    for name, compile_ in COMPILERS.items():
        yield name, lambda n=name, c=compile_: job(n, c)


def mlp_train(workload):
    yield from train_variants(workload, lambda: dense_stack(workload, last=None))


def convnet_layers(workload):
    layers = keras.layers
    return [layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(2), layers.Flatten(),
            layers.Dropout(workload.attrs["dropout"]), layers.Dense(10)]


def convnet_train(workload):
    yield from train_variants(workload, lambda: build(workload, convnet_layers(workload)))


class Positions(keras.layers.Layer):
    """Adds a learned vector to each step."""

    def build(self, shape):
        self.table = self.add_weight(shape=shape[1:], name="table")

    def call(self, x):
        return x + self.table


def transformer(workload):
    layers, a, w = keras.layers, workload.attrs, workload.tensors
    vocabulary, width = w["embedding"].shape
    steps, heads = w["x"].shape[1], a["heads"]
    tokens = keras.Input((steps,), dtype="int32")
    x = Positions()(layers.Embedding(vocabulary, width)(tokens))
    for i in range(a["layers"]):
        attended = layers.MultiHeadAttention(heads, width // heads)(x, x)
        x = layers.LayerNormalization(epsilon=1e-5)(x + attended)
        hidden = layers.Dense(w[f"l{i}_f1_b"].shape[0], activation="relu")(x)
        x = layers.LayerNormalization(epsilon=1e-5)(x + layers.Dense(width)(hidden))
    return keras.Model(tokens, layers.Dense(a["classes"])(layers.GlobalAveragePooling1D()(x)))


def sequence_model(workload):
    layers, (vocabulary, width) = keras.layers, workload.tensors["embedding"].shape
    return keras.Sequential([keras.Input((workload.tensors["x"].shape[1],), dtype="int32"),
                             layers.Embedding(vocabulary, width, mask_zero=True), layers.LSTM(width),
                             layers.Dense(1, activation="sigmoid")])


def fit_model(workload):
    """The model of a fit workload, with its weights, and its loss."""
    kind = workload.attrs["model"]
    sparse = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    if kind == "mlp":
        return dense_stack(workload, last=None), sparse
    if kind == "convnet":
        return build(workload, convnet_layers(workload)), sparse
    make, loss = dict(lstm=(sequence_model, keras.losses.BinaryCrossentropy()),
                      transformer=(transformer, sparse))[kind]
    model = make(workload)
    model.set_weights([v for k, v in worker.data(workload).items() if k != "x"])
    return model, loss


def fit(workload):
    x, y, batch = worker.data(workload)["x"], worker.labels(workload).astype("int32"), workload.attrs["batch"]

    def job(name):
        model, loss = fit_model(workload)
        model.compile(make_adam(workload.attrs), loss, jit_compile=name != "graph")
        model.fit(x, y, batch_size=batch, shuffle=False, verbose=0)
        check = [float(model.evaluate(x, y, batch_size=batch, verbose=0))]
        model.optimizer.learning_rate = TIMED_LEARNING_RATE
        return worker.Job(lambda: model.fit(x, y, batch_size=batch, verbose=0), check)

    for name in COMPILERS:
        yield name, lambda n=name: job(n)


def predict_one(workload):
    model, x = dense_stack(workload, last="relu"), worker.data(workload)["x"]

    def job(name):
        model.compile(jit_compile=name != "graph")
        return worker.Job(lambda: model.predict(x, verbose=0), worker.mean_square(model.predict(x, verbose=0)))

    for name in COMPILERS:
        yield name, lambda n=name: job(n)


if __name__ == "__main__":
    builders = dict(matmul=matmul, conv=conv, conv_grad=conv_grad, lstm=lstm, lstm_grad=lstm_grad,
                    pointwise=pointwise, adam=adam, softmax=softmax, layernorm=layernorm,
                    layernorm_grad=layernorm_grad, tiny_mlp=tiny_mlp, mlp_train=mlp_train,
                    convnet_train=convnet_train, fit=fit, predict_one=predict_one)
    worker.Worker(f"keras_{BACKEND}", f"Keras {keras.__version__} on {VERSION}", builders).serve()
