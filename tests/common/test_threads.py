"""n_jobs is the number of threads, and they do not crowd each other."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_all_start_methods, get_context

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from supred import LowDimSVC
from supred.common import threads
from supred.common.threads import Scratch, cores, in_order, map_in_threads, one_blas_thread
from supred.low_dim_svm.mappings import band_form, f_step
from supred.numerics import linear_svm
from supred.numerics.decisions import task_signs
from tests.family import blobs


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this BLAS has no threads to limit")
        yield
        assert blas_threads() == {2}  # whatever was set was put back


def spread_out(n_rows=2500, n_classes=12):
    """Rows enough that the SVMs are not solved in one piece."""
    X, y = blobs(n_rows=n_rows, n_features=3, n_classes=n_classes, spread=3.0)
    return X, task_signs(y, n_classes, "ovr")


def watch(monkeypatch, on_call):
    """Call `on_call` wherever a worker of the g step starts its work."""
    original = linear_svm.interior_point

    def watched(*arguments, **options):
        on_call()
        return original(*arguments, **options)

    monkeypatch.setattr(linear_svm, "interior_point", watched)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_blas_has_one_thread_inside_the_workers(monkeypatch, n_jobs):
    Z, signs = spread_out()
    seen = []
    watch(monkeypatch, lambda: seen.append(blas_threads()))
    linear_svm.solve_linear_svms(Z, signs, np.ones(len(Z)), n_jobs=n_jobs)
    assert seen
    assert all(threads == {1} for threads in seen)


def test_n_jobs_threads_work_at_the_same_time(monkeypatch):
    monkeypatch.setattr(linear_svm, "TOGETHER", 2)
    Z, signs = spread_out()
    meeting = threading.Barrier(2, timeout=60)
    arrived = set()

    def meet():
        name = threading.get_ident()
        if name not in arrived:
            arrived.add(name)
            meeting.wait()  # passes only if a second thread gets here

    watch(monkeypatch, meet)
    linear_svm.solve_linear_svms(Z, signs, np.ones(len(Z)), n_jobs=2)
    assert len(arrived) == 2


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_job_stays_in_its_thread(monkeypatch, n_jobs):
    Z, signs = spread_out()
    seen = set()
    watch(monkeypatch, lambda: seen.add(threading.get_ident()))
    linear_svm.solve_linear_svms(Z, signs, np.ones(len(Z)), n_jobs=n_jobs)
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize(("n_jobs", "expected"), [(1, 1), (3, 3), (None, 2)])
def test_n_jobs_is_the_number_of_threads_that_visit_blocks(monkeypatch, n_jobs, expected):
    """None takes as many as the BLAS may; while they work the BLAS has one."""
    monkeypatch.setattr("supred.common.threads.effective_n_jobs", lambda n: n if n > 0 else 8)
    meeting = threading.Barrier(expected, timeout=60)

    def meet(number):
        meeting.wait()  # passes only if as many threads get here
        return blas_threads(), threading.get_ident()

    with cores(n_jobs):
        seen = list(in_order(meet, [(number,) for number in range(2 * expected)]))
    assert {next(iter(threads)) for threads, _ in seen} == {1}
    assert len({thread for _, thread in seen}) == expected


def test_calls_are_made_a_few_ahead_of_their_results():
    asked = []

    def calls():
        for number in range(20):
            asked.append(number)
            yield (number,)

    with cores(2):
        results = in_order(abs, calls())
        assert next(results) == 0
        assert len(asked) <= 4
        assert list(results) == list(range(1, 20))


def test_an_error_comes_in_its_turn_and_nothing_goes_on_after_it():
    running = threading.Semaphore(0)

    def work(number):
        if number == 2:
            raise ValueError("the third")
        running.release()
        return number

    with cores(3):
        results = in_order(work, ((number,) for number in range(100)))
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(ValueError, match="the third"):
            next(results)
    assert running._value <= 8  # those that were asked for ahead


def test_calls_inside_of_calls_stay_in_their_thread():
    def outer(number):
        return {threading.get_ident()}, set(in_order(threading.get_ident, [()] * 4))

    with cores(2):
        assert all(one == others for one, others in in_order(outer, [(k,) for k in range(6)]))


def test_scratch_memory_belongs_to_a_thread_and_does_not_travel():
    scratch = Scratch()
    large = scratch.doubles(np.arange(6, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(large, [[0, 1, 2], [3, 4, 5]])
    with ThreadPoolExecutor(1) as pool:
        assert not np.shares_memory(pool.submit(scratch.doubles, np.ones(2)).result(), large)
    assert np.shares_memory(scratch.doubles(np.ones(2)), large)
    assert pickle.loads(pickle.dumps(scratch)).room.size == 0


def test_the_model_has_the_same_bits_whatever_n_jobs():
    X, y = blobs(n_rows=5000, n_features=4, n_classes=4, spread=3.0)
    models = [
        LowDimSVC(n_centers=30, n_jobs=n_jobs, random_state=0, **options).fit(X, y)
        for options in ({}, {"loss": "log", "early_stopping": True})
        for n_jobs in (1, 2, 5, None)
    ]
    for model, reference in zip(models, [models[0]] * 4 + [models[4]] * 4, strict=True):
        np.testing.assert_array_equal(model.coef_, reference.coef_)
        np.testing.assert_array_equal(model.mapping_.W, reference.mapping_.W)


@pytest.mark.parametrize("main_leaves_first", [False, True])
def test_blocks_that_overlap_put_back_what_there_was(main_leaves_first):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    with one_blas_thread():
        thread.start()
        assert inside.wait(60)
        assert blas_threads() == {1}
        if not main_leaves_first:
            leave.set()
            thread.join()
            assert blas_threads() == {1}
    leave.set()
    thread.join()
    assert blas_threads() == {2}
    with one_blas_thread():
        assert blas_threads() == {1}


def test_an_error_puts_back_what_there_was():
    def fail():
        raise RuntimeError(str(blas_threads()))

    with pytest.raises(RuntimeError, match=r"\{1\}"):
        map_in_threads(fail, [()], n_jobs=1)
    assert blas_threads() == {2}


@pytest.mark.parametrize(("module", "name"), [(band_form, "dpbtrf"), (f_step, "dpotrf")])
@pytest.mark.parametrize("size", [20, 600])
def test_factors_take_one_thread(monkeypatch, size, module, name):
    """With two they have other bits, and small ones take longer."""
    seen = []
    original = getattr(module, name)

    def watched(*arguments, **options):
        seen.append(blas_threads())
        return original(*arguments, **options)

    monkeypatch.setattr(module, name, watched)
    equations = f_step.NormalEquations(np.eye(size))
    if module is band_form:
        equations.reduce()
    equations.solve(np.ones((size, 1)), 1.0)
    assert seen
    assert all(threads == {1} for threads in seen)


def _take_locks(turn):
    with threads.one_blas_thread(), turn:
        pass


@pytest.mark.skipif("fork" not in get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_locks_that_other_threads_hold_are_free_in_a_process_that_is_forked():
    turn = threads.Turn()
    held, forked = threading.Event(), threading.Event()

    def hold():
        with turn:
            held.set()
            forked.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    child = get_context("fork").Process(target=_take_locks, args=(turn,))
    with threads._lock:
        child.start()
    forked.set()
    holder.join()
    child.join(60)
    child.kill()
    assert child.exitcode == 0
