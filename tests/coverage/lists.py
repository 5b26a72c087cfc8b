"""What Keratin lacks of Keras on purpose, and what has another name here.

scripts/coverage finds everything else by its name."""

# In these namespaces whatever Keratin lacks is in MISSING or NOT_MEANT, so that nothing new in
# Keras can be missed.
LISTED = ("keras.layers", "keras.losses", "keras.metrics", "keras.optimizers",
          "keras.optimizers.schedules", "keras.callbacks", "keras.dtype_policies")

# What may come yet.
MISSING = {
    "keras.callbacks": {"RemoteMonitor"},
    "keras.dtype_policies": {"AWQDTypePolicy", "DTypePolicyMap", "GPTQDTypePolicy", "Int4DTypePolicy",
                             "QuantizedDTypePolicy", "QuantizedFloat8DTypePolicy"},
}

PYTHON = "is about Python's tracebacks"
ONE_BACKEND = "Keratin is the only backend"
COMPILED = "each model is compiled when it runs"
DEPRECATED = "is deprecated in Keras"
STATELESS = "is for transformations of JAX"
SCIKIT = "is for scikit-learn"
NO_CODE = "no code in a file is ever run"

# What will not come, with the reason.
NOT_MEANT = {
    "keras": {"RematScope": "a layer's call is written once, and compiled",
              "StatelessScope": STATELESS, "SymbolicScope": "shapes are inferred without a scope"},
    "keras.callbacks": {"CallbackList": "fit calls the callbacks itself",
                        "OrbaxCheckpoint": "writes files of a Python package"},
    "keras.config": {
        "backend": ONE_BACKEND, "set_backend": ONE_BACKEND, "is_nnx_enabled": "is about JAX",
        "disable_traceback_filtering": PYTHON, "enable_traceback_filtering": PYTHON,
        "is_traceback_filtering_enabled": PYTHON, "enable_unsafe_deserialization": NO_CODE},
    "keras.layers": {"FlaxLayer": "wraps a layer of Flax", "JaxLayer": "wraps a function of JAX",
                     "TFSMLayer": "wraps a model of TensorFlow",
                     "TorchModuleWrapper": "wraps a module of PyTorch"},
    "keras.wrappers": {"SKLearnClassifier": SCIKIT, "SKLearnRegressor": SCIKIT,
                       "SKLearnTransformer": SCIKIT},
    "Layer": {"add_metric": DEPRECATED, "stateless_call": STATELESS},
    "Metric": {"stateless_reset_state": STATELESS, "stateless_result": STATELESS,
               "stateless_update_state": STATELESS},
    "Model": {"compiled_loss": DEPRECATED, "compiled_metrics": DEPRECATED,
              "distribute_reduction_method": "is about TensorFlow",
              "distribute_strategy": "is about TensorFlow", "jit_compile": COMPILED,
              "make_predict_function": COMPILED, "make_test_function": COMPILED,
              "make_train_function": COMPILED, "run_eagerly": COMPILED,
              "stateless_compute_loss": STATELESS},
    "Optimizer": {"stateless_apply": STATELESS},
    "Keras 2": {"callbacks.SidecarEvaluatorModelExport": "is for parameter servers",
                "utils.SidecarEvaluator": "is for parameter servers"},
}



def of_parts(space, cls):
    """The functions that each namespace of parts of a config has."""
    return {f"{space}.get": f"keratin::{cls}::{cls}", f"{space}.deserialize": f"keratin::{cls}::from_json",
            f"{space}.serialize": f"keratin::{cls}::to_json"}


# Keras's name, and the public name here. Several functions of Keras are members here.
RENAMED = {
    **of_parts("keras.activations", "Activation"),
    **of_parts("keras.constraints", "Constraint"),
    **of_parts("keras.dtype_policies", "DTypePolicy"),
    **of_parts("keras.initializers", "Initializer"),
    **of_parts("keras.losses", "Loss"),
    **of_parts("keras.metrics", "Metric"),
    **of_parts("keras.optimizers", "Optimizer"),
    **of_parts("keras.regularizers", "Regularizer"),
    "keras.FloatDTypePolicy": "keratin::DTypePolicy",
    "keras.KerasTensor": "keratin::SymbolicTensor",
    "keras.device": "keratin::DeviceScope",
    "keras.dtype_policies.FloatDTypePolicy": "keratin::DTypePolicy",
    "keras.layers.deserialize": "keratin::layer_from_json",
    "keras.layers.serialize": "keratin::serialize_layer",
    "keras.models.save_model": "keratin::Model::save",
    "keras.optimizers.schedules.LearningRateSchedule": "keratin::LearningRate",
    "keras.optimizers.schedules.deserialize": "keratin::LearningRate::from_json",
    "keras.optimizers.schedules.serialize": "keratin::LearningRate::to_json",
    "keras.preprocessing.image.load_img": "keratin::load_image",
    "keras.random.normal": "keratin::ops::random_normal",
    "keras.random.uniform": "keratin::ops::random_uniform",
    "keras.random.dropout": "keratin::ops::dropout",
    "keras.random.randint": "keratin::ops::randint",
    "keras.random.shuffle": "keratin::ops::shuffle",
    "keras.random.truncated_normal": "keratin::ops::truncated_normal",
    "keras.saving.deserialize_keras_object": "keratin::layer_from_json",
    "keras.saving.register_keras_serializable": "keratin::register_serializable",
    "keras.utils.register_keras_serializable": "keratin::register_serializable",
    "keras.saving.load_weights": "keratin::Model::load_weights",
    "keras.saving.save_model": "keratin::Model::save",
    "keras.saving.save_weights": "keratin::Model::save_weights",
    "keras.saving.serialize_keras_object": "keratin::serialize_layer",
    "keras.tree.flatten": "keratin::Tree::flat",
    "keras.tree.map_structure": "keratin::Tree::map",
    "keras.tree.pack_sequence_as": "keratin::Tree::pack",
    "keras.tree.assert_same_structure": "keratin::Tree::same_structure",
    "keras.utils.Progbar": "keratin::ProgressBar",
    "keras.utils.PyDataset": "keratin::Dataset",
    "keras.utils.deserialize_keras_object": "keratin::layer_from_json",
    "keras.utils.load_img": "keratin::load_image",
    "keras.utils.serialize_keras_object": "keratin::serialize_layer",
    "Layer.add_loss": "keratin::Call::add_loss",
    "Layer.load_own_variables": "keratin::Layer::load_assets",
    "Layer.save_own_variables": "keratin::Layer::assets",
    "Model.summary": "keratin::summary",
    "Model.get_compile_config": "keratin::io::compile_config",
    "Model.compile_from_config": "keratin::io::training_options",
    "Sequential.add": "keratin::Sequential::add",
}
