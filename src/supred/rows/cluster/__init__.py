"""Rows that live on the workers of a Dask cluster; imported only when a collection is given."""
