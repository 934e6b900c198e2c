"""Quotes, blank fields and byte order marks of CSV and TSV: the same rows however it is cut."""

import pytest

from supred.rows.files import text_readers
from supred.rows.files.text_readers import CsvReader

pytest.importorskip("pyarrow")


def rows_of(path, **options):
    reader = CsvReader(path, **options)
    parts = reader.parts(list(range(reader.n_columns)))
    return [row for part in parts for row in zip(*part.to_pydict().values(), strict=True)]


def write(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.encode())
    return tmp_path / "t.csv"


def test_a_quote_is_open_though_their_number_is_even(tmp_path):
    """5" is a field as it stands; the quote before v would take all rows that follow."""
    path = write(tmp_path, 'a,b,y\n1,5",u\n2,3,"v\n4,5,u\n5,5,u\n')
    with pytest.raises(ValueError, match=r"t\.csv, line 3: cannot be read as a table"):
        rows_of(path)


CUT = {
    "quotes inside of fields": ('a\n5"\n"\n two\n "\n', [('5"',), ("\n two\n ",)]),
    "both kinds": ('a;b\n5";"x\ny"\n"a ""b";6"\n', [('5"', "x\ny"), ('a "b', '6"')]),
    "tabs alone": ("a\tb\n1\t2\n\t\n", [("1", "2"), ("", "")]),
    "marks": ("a,b\n1,2\n\ufeff3,4\n", [("1", "2"), ("\ufeff3", "4")]),
}


@pytest.mark.parametrize("name", CUT)
def test_rows_that_are_cut_are_those_of_the_whole(name, tmp_path, monkeypatch):
    text, wanted = CUT[name]
    header, body = text.split("\n", 1)
    path = write(tmp_path, f"{header}\n{body * 40}")
    assert rows_of(path) == wanted * 40
    for size in (12, 13, 16, 30):
        # Segments end early; a row is as long as it is.
        monkeypatch.setattr(text_readers, "SEGMENT_BYTES", size)
        assert rows_of(path) == wanted * 40


def test_quotes_inside_of_the_names(tmp_path):
    path = write(tmp_path, 'width 5",height 6"\n1,2\n')
    assert CsvReader(path).column_names == ['width 5"', 'height 6"']
    assert rows_of(path) == [("1", "2")]
    path = write(tmp_path, 'width 5",height\n1,2\n')
    assert CsvReader(path).column_names == ['width 5"', "height"]


def test_a_row_of_missing_values_of_a_tsv_file(tmp_path):
    assert rows_of(write(tmp_path, "a\tb\n\t\n")) == [("", "")]
