"""Quotes, blank fields and byte order marks of CSV and TSV: the same rows however it is cut."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supred.rows.files import text_readers
from supred.rows.files.text_readers import CsvReader

pytest.importorskip("pyarrow")

LETTERS = st.sampled_from([*'",;\n\r\t a1é.-?', "\r\n", '""', "a,b\n", "1,2\n", "\n\n", '"\n"'])
HEADERS = st.sampled_from(["a,b\n", "x\n", "a;b;c\n", ""])


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


def test_an_open_quote_in_the_header(tmp_path):
    with pytest.raises(ValueError, match="the first line is not a row of a table"):
        CsvReader(write(tmp_path, '"a,b\n1,2\n3,4\n'))


def rows_or_none(path, header, segment_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_readers, "SEGMENT_BYTES", segment_bytes)
        try:
            return rows_of(path, header=header)
        except ValueError:
            return None


# The same examples each time: what fails is of the change that is tested.
@settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(HEADERS, st.lists(LETTERS, max_size=40).map("".join), st.integers(1, 12), st.booleans())
def test_a_table_does_not_depend_on_where_it_is_cut(tmp_path, first, text, n_bytes, header):
    path = write(tmp_path, first + text)
    assert rows_or_none(path, header, n_bytes) == rows_or_none(path, header, 8_000_000)
