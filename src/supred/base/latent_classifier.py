"""What every estimator of the library shares."""

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from supred.base.dask_input import lazily, unpacked
from supred.base.scales import MOST_LATENT, in_unit, is_safe, project_far_rows, unit_exponent
from supred.base.sources import (
    as_source,
    check_not_vanishing,
    check_source,
    refuse_out_of_core,
    source_labels,
)
from supred.base.state import present_attributes
from supred.base.validation import accuracy, are_ready, canonical, check_column_names
from supred.common.arguments import (
    OutOfRangeError,
    all_finite,
    check_n_jobs,
    check_unmasked,
    largest_magnitude,
)
from supred.common.arrays import on_host, place_of, stays_in_place, type_name, without_gradients
from supred.common.labels import (
    as_they_are,
    check_no_label_missing,
    encode_labels,
    index_among,
)
from supred.numerics.decisions import labels_of
from supred.rows.blocks import RowSource
from supred.rows.cluster.collections import is_dask


class ModelSize(NamedTuple):
    """Size of what a fitted model needs to predict."""

    numbers: int
    bytes: int


class LatentClassifier(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """A classifier that works on latent coordinates which `transform` returns.

    A subclass has `fit`, sets ``classes_`` and ``_n_features_out`` there, and gives three
    answers: `_project` (validated rows to latent coordinates), `_decide` (latent coordinates to
    scores) and `_model_arrays` (what the fitted model must keep). `predict` is then exactly the
    classifier applied to `transform`.
    """

    # What validate_data may accept in `X`, beyond its defaults.
    _input_options: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

    # Whether rows may come block by block, from files, memory maps or a cluster.
    _takes_sources = False

    # Whether rows may be arrays of torch or CuPy, which then stay where they are.
    _takes_devices = False

    @property
    def _maps_devices(self) -> bool:
        """Whether the fitted model predicts such arrays, though it does not train on them."""
        return False

    # What `fit` sets, of which an estimator may have some only; a subclass adds its own.
    _fitted_attributes: tuple[str, ...] = (
        "classes_",
        "n_features_in_",
        "feature_names_in_",
        "_n_features_out",
        "_unit_exponent",
    )

    # Rows are counted in units of two to this power; 0 unless their size is extreme.
    _unit_exponent = 0

    def _validate_rows_and_labels(
        self,
        X: Any,
        y: Any,
        *,
        classes: np.ndarray | None = None,
        reset: bool = True,
        in_memory: bool = False,
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return the validated rows, the classes and the index of each row's class.

        Parameters
        ----------
        X, y
        classes : ndarray, optional
            The sorted classes if they are known; else those in `y`.
        reset : bool
            Note columns and unit, as for a fit; else the columns must be those of the model, and
            rows are counted in its unit.
        in_memory : bool
            Refuse out-of-core rows even if the fitted estimator takes them.
        """
        if self._takes_sources and not in_memory and (source := as_source(X)) is not None:
            X = self._validate_source(source, reset=reset)
            y = source_labels(X, y)
        else:
            refuse_out_of_core(self, X)
            if y is not None:
                check_no_label_missing(y)
            X, y = self._validate_rows(X, as_they_are(on_host(y)), reset=reset)
        if classes is None:
            return X, *encode_labels(y)
        return X, classes, index_among(y, classes)

    def _validate_source(self, X: RowSource, *, reset: bool) -> RowSource:
        """Return out-of-core rows, whose columns and unit are noted if `reset`, else compared."""
        check_source(self, X, reset=reset)
        if reset:
            self._unit_exponent = 0  # rows out of memory keep their own unit
            check_not_vanishing(X.at_home)
        elif self._unit_exponent:
            raise ValueError(
                f"the model counts rows in units of 2^{self._unit_exponent}, but out-of-core rows "
                "keep their own unit; give an array of the rows."
            )
        return X

    def _validate_rows(
        self, X: Any, *y: Any, reset: bool = True, far: bool = False, **options: Any
    ) -> Any:
        """Return the validated rows in their unit; a pair if there are labels to validate.

        `reset` chooses the unit anew, as for a fit; else `far` lets rows pass that are much larger
        than those of the fit. `options` add to the `_input_options`.
        """
        accepted = {**self._options_for(X, far), **options}
        check_unmasked("X", X)
        check_column_names(X)
        # Its sum of finite numbers may be inf - inf, and long doubles may be infinite as doubles.
        with np.errstate(invalid="ignore", over="ignore"):
            found = validate_data(self, without_gradients(X), *y, reset=reset, **accepted)
        X, *labels = found if y else (found,)
        if sparse.issparse(X):
            X = canonical(X, zeros_count=not get_tags(self).input_tags.pairwise)
        if reset:
            check_n_jobs(getattr(self, "n_jobs", None))
            self._unit_exponent = unit_exponent(X, "X")
        X = in_unit(X, self._unit_exponent)
        if not (reset or far or is_safe(X)):
            raise ValueError(
                f"the rows hold numbers up to {largest_magnitude(X):.2g} in the unit of the "
                "training rows, far larger than these; give rows of a similar size."
            )
        return (X, *labels) if y else X

    def _options_for(self, X: Any, predicted: bool) -> dict[str, Any]:
        """Return what `validate_data` may accept in `X`, in the words of its array library."""
        if not stays_in_place(X):
            return self._input_options
        place = place_of(X)
        if not (self._takes_devices or (predicted and self._maps_devices)):
            raise TypeError(
                f"{type(self).__name__} does not take arrays of {place.name} with "
                f"array_api_dispatch=True {'here' if predicted else 'to train on'}; give a NumPy "
                "array, or use LowDimSVC or RBFNetClassifier."
            )
        return {**self._input_options, "dtype": [place.xp.float64, place.xp.float32]}

    @abstractmethod
    def _project(self, X: Any) -> np.ndarray:
        """Return latent coordinates of validated rows, shape (n_rows, n_components)."""

    @abstractmethod
    def _decide(self, Z: np.ndarray) -> np.ndarray:
        """Return scores of latent coordinates: (n_rows,) for two classes, else one per class."""

    def _classify(self, Z: np.ndarray) -> np.ndarray:
        """Return the class of each point of the latent space: that of the largest score."""
        return labels_of(self._decide(Z), self.classes_)

    @abstractmethod
    def _model_arrays(self) -> list[np.ndarray]:
        """Return the arrays that `transform` and `predict` need."""

    def _latent(self, X: Any) -> np.ndarray:
        # scikit-learn's checks take longer than a small model does on a single row.
        n_features = getattr(self, "n_features_in_", None)
        if (
            not hasattr(self, "feature_names_in_")
            and self._unit_exponent == 0
            and are_ready(X, n_features)
        ):
            return self._project(X)
        check_is_fitted(self)
        if self._takes_sources and (source := as_source(X)) is not None:
            return self._project(self._validate_source(source, reset=False))
        refuse_out_of_core(self, X)
        return self._place(self._validate_rows(X, reset=False, far=True))

    def _place(self, X: Any) -> np.ndarray:
        """Return latent coordinates of validated rows, however far they lie."""
        return self._project(X) if is_safe(X) else project_far_rows(self._project, X)

    def _answer(self, X: Any, method: str | None = None) -> np.ndarray:
        """Return the latent coordinates of rows, or what a method says of these.

        Of a Dask collection the answer is a Dask array, not yet computed.
        """
        if is_dask(X):
            return lazily(self, X, method)
        Z = self._latent(X)
        return Z if method is None else getattr(self, method)(Z)

    def transform(self, X: Any) -> np.ndarray:
        """Return the latent coordinates of the rows of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        Z : ndarray of shape (n_rows, n_components)
            A row's coordinates do not depend on the other rows of `X`.
        """
        return self._answer(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how strongly each row belongs to each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        scores : ndarray of shape (n_rows,) for two classes, else (n_rows, n_classes)
            With two classes, positive means ``classes_[1]``; else the largest score wins.
        """
        return self._answer(X, "_decide")

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        return self._answer(X, "_classify")

    def score_latent(self, Z: np.ndarray) -> np.ndarray:
        """Return the scores of latent coordinates, as `decision_function` does for rows.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_components)
            Coordinates that `transform` returned, or any other points of the latent space.

        Returns
        -------
        scores : ndarray of shape (n_rows,) for two classes, else (n_rows, n_classes)
        """
        return self._decide(self._check_latent(Z))

    def _check_latent(self, Z: Any) -> Any:
        """Return points of the latent space as an array, or raise an error that says why not."""
        check_is_fitted(self)
        check_unmasked("Z", Z)
        Z = without_gradients(Z)
        if not stays_in_place(Z):
            Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z")
        if Z.shape[1] != self._n_features_out:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but {type(self).__name__} has "
                f"{self._n_features_out} latent coordinates; give what transform returns."
            )
        most = MOST_LATENT[type_name(Z)]
        if not largest_magnitude(Z) < most:
            raise OutOfRangeError(f"Z holds numbers beyond {most:g}; give what transform returns.")
        return Z

    def classify_latent(self, Z: np.ndarray) -> np.ndarray:
        """Return the class of each point of the latent space, as `predict` does for rows.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_components)
            Coordinates that `transform` returned, or any other points of the latent space.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        return self._classify(self._check_latent(Z))

    def to_state(self) -> dict[str, Any]:
        """Return parameters and fitted attributes: all that a file must hold of the estimator."""
        check_is_fitted(self)
        fitted = present_attributes(self, self._fitted_attributes)
        return {**self.get_params(deep=False), **fitted}

    def _forget(self) -> None:
        """Remove the attributes of an earlier fit: this one may not set all of them."""
        for name in self._fitted_attributes:
            self.__dict__.pop(name, None)

    def check_finite(self) -> None:
        """Raise a ValueError if a number that predictions need is not finite."""
        for array in self._model_arrays():
            if array.dtype.kind == "f" and not all_finite(array):
                raise ValueError(
                    f"{type(self).__name__} holds a number that is not finite; bring the "
                    "parameters, the features and the weights of the rows nearer to 1."
                )

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the fitted estimator whose state `to_state` returned."""
        parameters = {name: state[name] for name in cls._get_param_names()}
        made = cls(**parameters)
        for name in state.keys() - parameters.keys():
            if name not in cls._fitted_attributes:
                raise ValueError(f"{cls.__name__} has no attribute {name!r}")
            setattr(made, name, state[name])
        return made

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows (or of their weight) whose class is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask collection} of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        score : float
        """
        _, y, sample_weight = unpacked(None, ("y", y), ("sample_weight", sample_weight))
        predicted: Any = self.predict(X)
        predicted = predicted.compute() if is_dask(X) else on_host(predicted)
        if not sparse.issparse(y):
            check_no_label_missing(y)
        return accuracy(as_they_are(y), predicted, sample_weight)

    @property
    def row_unit_(self) -> float:
        """Unit in which rows are counted, a power of two: 1.0 unless their size is extreme."""
        check_is_fitted(self)
        return float(np.ldexp(1.0, self._unit_exponent))

    @property
    def model_size_(self) -> ModelSize:
        """Numbers and bytes that the fitted model needs to predict."""
        check_is_fitted(self)
        arrays = self._model_arrays()
        return ModelSize(sum(a.size for a in arrays), sum(a.nbytes for a in arrays))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
