"""The cases of optimizers and schedules: name, arguments, and what happens while they run."""


def case(name, run=None, **arguments):
    """`run`: dtype, constraint (of one kernel), missing (gradients), exclude (from weight decay),
    set_rates (before steps), not_finite (steps), finalize."""
    return name, arguments, run or {}


EXPONENTIAL = {"class": "ExponentialDecay", "initial_learning_rate": 0.1, "decay_steps": 5,
               "decay_rate": 0.5}
COSINE = {"class": "CosineDecay", "initial_learning_rate": 0.01, "decay_steps": 12,
          "warmup_target": 0.1, "warmup_steps": 4}
PIECES = {"class": "PiecewiseConstantDecay", "boundaries": [4, 9], "values": [0.1, 0.05, 0.01]}
FINALIZED = {"finalize": True}


def scaled(optimizer, growth=2000, **arguments):
    return {"inner_optimizer": {"class": optimizer, **arguments}, "dynamic_growth_steps": growth}


def mapped(default, **others):
    return {"optimizer_map": {"class": "OptimizerMap", "default_optimizer": default,
                              "optimizer_map": others["map"]}}


CASES = {
    "SGD": [
        case("defaults"),
        case("momentum", learning_rate=0.1, momentum=0.9),
        case("nesterov", learning_rate=0.1, momentum=0.9, nesterov=True),
        # Options of every optimizer.
        case("clipnorm", learning_rate=0.1, clipnorm=0.7),
        case("clipnorm_of_zero", learning_rate=0.1, clipnorm=0.0),
        case("clipvalue", learning_rate=0.1, clipvalue=0.5),
        case("global_clipnorm", learning_rate=0.1, global_clipnorm=1.5),
        case("global_clipnorm_large", learning_rate=0.1, global_clipnorm=100.0),
        case("weight_decay", learning_rate=0.1, weight_decay=0.2),
        case("weight_decay_but_for", {"exclude": ["bias", "^emb.*s$"]}, learning_rate=0.1,
             weight_decay=0.2),
        case("ema", FINALIZED, learning_rate=0.1, use_ema=True, ema_momentum=0.8),
        case("ema_overwrite", FINALIZED, learning_rate=0.1, use_ema=True, ema_momentum=0.8,
             ema_overwrite_frequency=3),
        case("accumulation_2", learning_rate=0.1, momentum=0.9, gradient_accumulation_steps=2),
        case("accumulation_3", learning_rate=0.1, gradient_accumulation_steps=3, clipnorm=0.7,
             weight_decay=0.2),
        case("accumulation_and_ema", FINALIZED, learning_rate=0.1, gradient_accumulation_steps=3,
             use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=2),
        case("loss_scale_factor", learning_rate=0.1, loss_scale_factor=1024.0),
        case("constraint", {"constraint": "non_neg"}, learning_rate=0.1),
        case("constraint_and_ema", {"constraint": "unit_norm", **FINALIZED}, learning_rate=0.1,
             use_ema=True, ema_overwrite_frequency=4),
        case("missing_gradients", {"missing": [2, 4], "constraint": "non_neg"}, learning_rate=0.1,
             weight_decay=0.2, use_ema=True, global_clipnorm=1.0, gradient_accumulation_steps=2),
        case("changing_rate", {"set_rates": {"1": 0.2, "5": 0.05, "12": 0.3}}, momentum=0.5),
        case("exponential_decay", learning_rate=EXPONENTIAL, momentum=0.5, weight_decay=0.1),
        case("cosine_decay_accumulated", learning_rate=COSINE, gradient_accumulation_steps=2),
        case("bfloat16", {"dtype": "bfloat16"}, learning_rate=0.1, momentum=0.9),
        case("float16", {"dtype": "float16"}, learning_rate=0.1, momentum=0.9, weight_decay=0.1),
    ],
    "RMSprop": [
        case("defaults"),
        case("momentum", learning_rate=0.05, rho=0.8, momentum=0.9, epsilon=1e-3),
        case("centered", learning_rate=0.05, centered=True, epsilon=1e-2),
        case("centered_momentum", learning_rate=0.05, centered=True, momentum=0.5, clipvalue=1.0),
        case("bfloat16", {"dtype": "bfloat16"}, learning_rate=0.05),
    ],
    "Adam": [
        case("defaults"),
        case("betas", learning_rate=0.05, beta_1=0.7, beta_2=0.9, epsilon=1e-3),
        case("amsgrad", learning_rate=0.05, beta_2=0.6, amsgrad=True),
        case("clipnorm_and_decay", learning_rate=0.05, clipnorm=0.5, weight_decay=0.1),
        case("accumulation_3", FINALIZED, learning_rate=0.05, gradient_accumulation_steps=3,
             use_ema=True, ema_momentum=0.7),
        case("cosine_decay", learning_rate=COSINE),
        case("piecewise_accumulated", learning_rate=PIECES, gradient_accumulation_steps=3),
        case("changing_rate", {"set_rates": {"1": 0.2, "5": 0.05}}),
        case("bfloat16", {"dtype": "bfloat16"}, learning_rate=0.05, beta_2=0.9),
        case("float16", {"dtype": "float16"}, learning_rate=0.05, epsilon=1e-3),
    ],
    "AdamW": [
        case("defaults"),
        case("default_decay", learning_rate=0.05, beta_2=0.9),
        case("weight_decay", learning_rate=0.05, weight_decay=0.3, amsgrad=True),
        case("weight_decay_but_for", {"exclude": ["kernel"]}, learning_rate=0.05, weight_decay=0.3),
    ],
    "Adadelta": [
        case("defaults"),
        case("rho", learning_rate=1.0, rho=0.7, epsilon=1e-2),
        case("global_clipnorm", learning_rate=1.0, global_clipnorm=0.5, weight_decay=0.1),
    ],
    "Adagrad": [
        case("defaults"),
        case("accumulator", learning_rate=0.1, initial_accumulator_value=0.5, epsilon=1e-2),
        case("accumulation_2", learning_rate=0.1, gradient_accumulation_steps=2),
    ],
    "Adamax": [
        case("defaults"),
        case("betas", learning_rate=0.05, beta_1=0.7, beta_2=0.9, epsilon=1e-2),
    ],
    "Adafactor": [
        case("defaults"),
        case("absolute_step", learning_rate=0.5, relative_step=False, beta_2_decay=-0.5,
             clip_threshold=0.6, epsilon_1=1e-6, epsilon_2=0.9),
        case("schedule", learning_rate=EXPONENTIAL),
        case("accumulation_2", learning_rate=0.5, gradient_accumulation_steps=2),
    ],
    "Nadam": [
        case("defaults"),
        case("betas", learning_rate=0.05, beta_1=0.7, beta_2=0.9, epsilon=1e-2),
        case("accumulation_2", learning_rate=0.05, gradient_accumulation_steps=2),
    ],
    "Ftrl": [
        case("defaults"),
        case("regularized", learning_rate=0.2, l1_regularization_strength=0.3,
             l2_regularization_strength=0.1, l2_shrinkage_regularization_strength=0.05, beta=0.4),
        case("power", learning_rate=0.2, learning_rate_power=-0.8, initial_accumulator_value=0.5),
    ],
    "Lion": [
        case("defaults"),
        case("betas", learning_rate=0.02, beta_1=0.6, beta_2=0.8, weight_decay=0.1),
    ],
    "Lamb": [
        case("defaults"),
        case("betas", learning_rate=0.05, beta_1=0.7, beta_2=0.9, epsilon=1e-2, weight_decay=0.1),
    ],
    "Muon": [
        case("defaults"),
        case("plain", learning_rate=0.05, nesterov=False, rms_rate=None, momentum=0.8, ns_steps=3,
             weight_decay=0.3, adam_weight_decay=0.1, adam_lr_ratio=0.5),
        case("excluded_layers", learning_rate=0.05, exclude_layers=["den.e/", "^wi$"],
             exclude_embeddings=False, adam_weight_decay=None),
        case("no_decay", learning_rate=0.05, weight_decay=None, adam_beta_1=0.7, adam_beta_2=0.9,
             epsilon=1e-3, muon_a=3.0, muon_b=-4.0, muon_c=1.5),
        case("weight_decay_but_for", {"exclude": ["kernel"]}, learning_rate=0.05, weight_decay=0.3),
    ],
    "ScheduleFreeAdamW": [
        case("defaults"),
        case("warmup", learning_rate=0.05, beta_1=0.8, beta_2=0.9, epsilon=1e-3, warmup_steps=6,
             weight_decay=0.1),
    ],
    "LossScaleOptimizer": [
        case("defaults", **scaled("Adam", learning_rate=0.05)),
        case("grows", {"not_finite": [4, 5, 13]}, initial_scale=64.0,
             **scaled("SGD", growth=3, learning_rate=0.1, momentum=0.9, clipnorm=0.7)),
        case("skips", {"not_finite": [1, 6], **FINALIZED},
             **scaled("Adam", growth=4, learning_rate=0.05, use_ema=True, ema_momentum=0.8,
                      gradient_accumulation_steps=2, loss_scale_factor=8.0)),
    ],
    "MultiOptimizer": [
        case("two", **mapped({"class": "Adam", "learning_rate": 0.05}, map={
            "dense/.*": {"class": "SGD", "learning_rate": 0.1, "momentum": 0.9},
            "net/gain": {"class": "Lion", "learning_rate": 0.01}})),
        case("ema", FINALIZED, loss_scale_factor=16.0, **mapped(
            {"class": "SGD", "learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.8}, map={
                ".*kernel": {"class": "RMSprop", "learning_rate": 0.05}})),
    ],
}

SCHEDULES = [  # name, class, arguments, last step
    ("exponential", "ExponentialDecay",
     dict(initial_learning_rate=0.1, decay_steps=100, decay_rate=0.9), 1000),
    ("exponential_stairs", "ExponentialDecay",
     dict(initial_learning_rate=0.3, decay_steps=70, decay_rate=0.5, staircase=True), 1000),
    ("inverse_time", "InverseTimeDecay",
     dict(initial_learning_rate=0.1, decay_steps=100, decay_rate=0.9), 1000),
    ("inverse_time_stairs", "InverseTimeDecay",
     dict(initial_learning_rate=0.2, decay_steps=30, decay_rate=2.5, staircase=True), 400),
    ("pieces", "PiecewiseConstantDecay",
     dict(boundaries=[10, 40, 75], values=[1.0, 0.5, 0.1, 0.01]), 100),
    ("pieces_one_boundary", "PiecewiseConstantDecay",
     dict(boundaries=[50], values=[1.0, 0.5]), 100),
    ("pieces_between_steps", "PiecewiseConstantDecay",
     dict(boundaries=[9.5, 20.0], values=[0.3, 0.2, 0.1], name="pieces"), 30),
    ("polynomial", "PolynomialDecay", dict(initial_learning_rate=0.1, decay_steps=500), 800),
    ("polynomial_power", "PolynomialDecay",
     dict(initial_learning_rate=0.1, decay_steps=500, end_learning_rate=0.01, power=0.5), 800),
    ("polynomial_cycle", "PolynomialDecay",
     dict(initial_learning_rate=0.1, decay_steps=90, end_learning_rate=0.02, power=2.0, cycle=True),
     500),
    ("cosine", "CosineDecay", dict(initial_learning_rate=0.1, decay_steps=500), 800),
    ("cosine_alpha", "CosineDecay",
     dict(initial_learning_rate=0.1, decay_steps=500, alpha=0.3), 800),
    ("cosine_warmup", "CosineDecay",
     dict(initial_learning_rate=0.0, decay_steps=300, warmup_target=0.2, warmup_steps=90), 500),
    ("cosine_restarts", "CosineDecayRestarts",
     dict(initial_learning_rate=0.1, first_decay_steps=60), 997),
    ("cosine_restarts_even", "CosineDecayRestarts",
     dict(initial_learning_rate=0.1, first_decay_steps=64, t_mul=1.0, m_mul=0.8, alpha=0.1), 500),
    ("cosine_restarts_shrinking", "CosineDecayRestarts",
     dict(initial_learning_rate=0.1, first_decay_steps=41, t_mul=1.5, m_mul=0.7), 997),
]

ERRORS = [  # class and arguments, as in a config
    ("SGD", dict(clipnorm=1.0, clipvalue=2.0)),
    ("SGD", dict(clipvalue=0.5, global_clipnorm=2.5)),
    ("SGD", dict(gradient_accumulation_steps=1)),
    ("SGD", dict(gradient_accumulation_steps=-3)),
    ("SGD", dict(gradient_accumulation_steps=0)),
    ("SGD", dict(use_ema=True, ema_momentum=1.5)),
    ("SGD", dict(use_ema=True, ema_momentum=-0.5)),
    ("SGD", dict(ema_momentum=1.5)),
    ("SGD", dict(use_ema=True, ema_overwrite_frequency=-1)),
    ("SGD", dict(momentum=1.5)),
    ("SGD", dict(momentum=-0.5)),
    ("AdamW", dict(weight_decay=None)),
    ("Ftrl", dict(initial_accumulator_value=-0.5)),
    ("Ftrl", dict(learning_rate_power=0.5)),
    ("Ftrl", dict(l1_regularization_strength=-0.5)),
    ("Ftrl", dict(l2_regularization_strength=-0.5)),
    ("Ftrl", dict(l2_shrinkage_regularization_strength=-0.5)),
    ("Lion", dict(beta_1=0.0)),
    ("Lion", dict(beta_1=1.5)),
    ("ExponentialDecay", dict(initial_learning_rate=0.1, decay_steps=0, decay_rate=0.5)),
    ("InverseTimeDecay", dict(initial_learning_rate=0.1, decay_steps=-2, decay_rate=0.5)),
    ("PolynomialDecay", dict(initial_learning_rate=0.1, decay_steps=0)),
    ("CosineDecay", dict(initial_learning_rate=0.1, decay_steps=0)),
    ("CosineDecayRestarts", dict(initial_learning_rate=0.1, first_decay_steps=0)),
    ("PiecewiseConstantDecay", dict(boundaries=[1, 2], values=[0.1, 0.2])),
]
