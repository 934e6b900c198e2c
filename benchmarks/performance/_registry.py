"""The benchmarks by name, in the order of the page."""

from benchmarks.performance import (
    g_step,
    linear_mapping,
    low_dim_svc,
    other_estimators,
    single_row,
    transforms,
)

BENCHMARKS = {
    module.BENCHMARK.name: module.BENCHMARK
    for module in (low_dim_svc, g_step, linear_mapping, single_row, transforms, other_estimators)
}
