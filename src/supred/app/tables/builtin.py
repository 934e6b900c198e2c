"""Names of formats, steps and data sets, apart from what they stand for: help must not wait."""

FORMATS = ("csv", "tsv", "parquet", "npy", "npz", "svmlight")
IMPUTE = ("median", "mean", "zero", "none")
ENCODE = ("onehot", "drop", "none")
SCALE = ("standard", "none")

# name -> what it is
BUILTIN = {
    "digits": "scikit-learn's digits, 1797 rows of 64 pixels",
    "iris": "scikit-learn's iris, 150 rows of 4 measurements",
    "wine": "scikit-learn's wine, 178 rows of 13 measurements",
    "breast-cancer": "scikit-learn's breast cancer, 569 rows of 30 measurements",
    "spirals": "generated: three spirals, 600 rows",
    "swiss-roll": "generated: classes on a swiss roll, 1000 rows",
    "ann-thyroid": "UCI, from the folder SUPRED_DATA",
    "new-thyroid": "UCI, from the folder SUPRED_DATA",
    "satellite": "UCI, from the folder SUPRED_DATA",
    "seeds": "UCI, from the folder SUPRED_DATA",
    "segmentation": "UCI, from the folder SUPRED_DATA",
    "vehicle": "UCI, from the folder SUPRED_DATA",
    "vertebral-3c": "UCI, from the folder SUPRED_DATA",
    "mnist": "MNIST's training part, from the folder SUPRED_DATA",
}
