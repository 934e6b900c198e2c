"""Results in files: read back the same, refused where a number is text."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from supred.app.cli.main import main
from supred.app.comparison.file import load_comparison, save_comparison
from supred.base.container import ModelFileError
from tests.app.report.pages import EVIL, made_up


def test_everything_is_read_back(tmp_path):
    path = tmp_path / "kept.supred"
    comparison = made_up()
    save_comparison(comparison, path)
    again = load_comparison(path)
    assert again.verdict == comparison.verdict
    assert [m.name for m in again.methods] == [m.name for m in comparison.methods]
    for a, b in zip(again.methods, comparison.methods, strict=True):
        np.testing.assert_array_equal(a.latent, b.latent)
        np.testing.assert_array_equal(a.predicted, b.predicted)
    np.testing.assert_array_equal(again.class_map.latent, comparison.class_map.latent)
    np.testing.assert_array_equal(again.class_map.regions.x, comparison.class_map.regions.x)


@pytest.mark.parametrize("name", ["n_folds", "n_settings", "n_basis", "fit_seconds"])
def test_text_in_place_of_a_number_is_refused(tmp_path, name):
    path, edited = tmp_path / "kept.supred", tmp_path / "edited.supred"
    save_comparison(made_up(), path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(edited, "w") as copy:
        for entry in archive.namelist():
            content = archive.read(entry)
            if entry == "description.json":
                content = _with_text(json.loads(content), name)
            copy.writestr(entry, content)
    with pytest.raises(ModelFileError, match=f"{name} is .*not a number"):
        load_comparison(edited)


def _with_text(document, name):
    def edit(value):
        if isinstance(value, dict):
            if name in value.get("state", {}):
                value["state"][name] = EVIL
            value = {key: edit(item) for key, item in value.items()}
        elif isinstance(value, list):
            value = [edit(item) for item in value]
        return value

    return json.dumps(edit(document))


def test_a_number_that_json_has_no_word_for_leaves_no_page(tmp_path, capsys):
    comparison = made_up()
    first = replace(comparison.methods[0], model_bytes=np.inf)
    path, page = tmp_path / "edited.supred", tmp_path / "page.html"
    save_comparison(replace(comparison, methods=[first, *comparison.methods[1:]]), path)
    assert main(["report", str(path), "--out", str(page), "--json"]) == 2
    captured = capsys.readouterr()
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""
    assert not page.exists()


@pytest.mark.parametrize("number", [1e308, np.inf, np.nan, 10**400])
def test_numbers_without_a_spread_are_refused(tmp_path, number):
    """Means and charts of them would be infinite, or none."""
    comparison = made_up()
    first = replace(comparison.methods[0], fold_errors=[0.5, number])
    path = tmp_path / "edited.supred"
    save_comparison(replace(comparison, methods=[first, *comparison.methods[1:]]), path)
    with pytest.raises(ModelFileError, match=r"fold_errors is .* out of range"):
        load_comparison(path)
    heavy = replace(comparison.class_map, weights={"a": number})
    save_comparison(replace(comparison, class_map=heavy), path, overwrite=True)
    with pytest.raises(ModelFileError, match=r"weights is .* out of range"):
        load_comparison(path)


@pytest.mark.parametrize("held_out", [np.full(6, np.inf), np.full(6, "x"), np.ones(2, dtype=bool)])
def test_a_page_of_an_edited_map_is_one_line_of_error(tmp_path, held_out, capsys):
    comparison = made_up()
    edited = replace(comparison, class_map=replace(comparison.class_map, held_out=held_out))
    save_comparison(edited, tmp_path / "kept")
    assert main(["report", str(tmp_path / "kept"), "--out", str(tmp_path / "page.html")]) == 2
    assert "damaged (ValueError: held_out of the map must tell" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()
