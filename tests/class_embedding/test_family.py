import pytest

from supred import ClassConstrainedEmbedding
from tests.family import EstimatorFamily

IN_PARTS = "ignore:.*of the neighbour graph have no labelled row:UserWarning"


@pytest.mark.filterwarnings(IN_PARTS)
class TestFamily(EstimatorFamily):
    """Embedding the rows of `fit` is transductive; transforming new rows is not.

    So a row does not depend on the rows that are transformed with it, and `fit_transform` is
    `fit` and `transform`, because a training row is put where it was embedded.
    """

    not_applicable = {
        "test_a_weight_is_a_number_of_copies": (
            "a weight is the strength of a row's tie to its class; a copy is one more node of the "
            "neighbour graph and changes the neighbours of others"
        ),
        "test_the_model_does_not_grow_with_the_rows": (
            "it is transductive: a new row lies between the training rows next to it, so these "
            "have to be kept"
        ),
        "test_a_missing_label": "a row without a label is an unlabelled row, and welcome",
        "test_a_missing_label_in_a_list": "the same: it is unlabelled",
        "test_a_missing_label_to_score": "the same: it is left out",
    }
    expected_failures = {
        "check_sample_weight_equivalence_on_dense_data": (
            "a copy is one more node of the graph, a weight is the strength of a tie"
        ),
        "check_sample_weight_equivalence_on_sparse_data": (
            "a copy is one more node of the graph, a weight is the strength of a tie"
        ),
        "check_classifiers_classes": "it has a class -1, which marks unlabelled rows here",
    }

    def make(self, **parameters):
        model = ClassConstrainedEmbedding(n_neighbors=5)
        return model.set_params(**parameters)
