"""Fitted models outside Python: model files, ONNX, C and JavaScript.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> import supred
>>> model = supred.LowDimSVC(n_centers=9, random_state=0).fit(*load_iris(return_X_y=True))
>>> source = supred.export.to_c(model, name="iris")
>>> "iris_predict" in source.text
True
"""

from supred.app.export.c_writer import to_c
from supred.app.export.finite_form import ExportError
from supred.app.export.javascript_writer import to_javascript
from supred.app.export.model_file import ModelFileError, load_model, save_model
from supred.app.export.onnx_writer import to_onnx
from supred.app.export.quantise import quantisation_errors

__all__ = [
    "ExportError",
    "ModelFileError",
    "load_model",
    "quantisation_errors",
    "save_model",
    "to_c",
    "to_javascript",
    "to_onnx",
]
