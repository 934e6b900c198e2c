"""Quotes of text tables: a table gives the same rows however it is cut, and none is lost."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supred.rows.files import text_readers
from supred.rows.files.text_readers import CsvReader, has_stray_quotes

LETTERS = st.sampled_from([*'",;\n\r\t a1é.-?', "\r\n", '""', "a,b\n", "1,2\n", "\n\n", '"\n"'])
HEADERS = st.sampled_from(["a,b\n", "x\n", "a;b;c\n", ""])


def rows_of(path, header=True):
    reader = CsvReader(path, header=header)
    parts = list(reader.parts(list(range(reader.n_columns))))
    return reader.column_names, [row for part in parts for row in part.to_pylist()]


def rows_or_error(path, header, segment_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_readers, "SEGMENT_BYTES", segment_bytes)
        try:
            return rows_of(path, header)
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
    path, data = tmp_path / "table.csv", (first + text).encode()
    path.write_bytes(data)
    whole, cut = (rows_or_error(path, header, size) for size in (8_000_000, n_bytes))
    # where quotes are not those of fields it may be cut inside of one: an error, not other rows
    if cut is not None or not any(has_stray_quotes(data, separator) for separator in ",;\t"):
        assert cut == whole


@pytest.mark.parametrize(
    "text",
    ['a,5"\nb,6\na,"7\nb,8\n', 'a,1\nb,2" 3" 4"\na,"4\n', 'a,"1" 2\nb,3\n'],
    ids=["a stray quote and an open one", "three quotes and an open one", "text after a quote"],
)
def test_an_open_quote_does_not_swallow_rows(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text("label,size\n" + text)
    with pytest.raises(ValueError, match="check the quotes of the row that begins there"):
        rows_of(path)


def test_quotes_inside_of_texts_are_letters(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('label,size\na,5"\nb,6" 7"\n"a ""b""", "c"\n')
    assert [list(row.values()) for row in rows_of(path)[1]] == [
        ["a", '5"'], ["b", '6" 7"'], ['a "b"', ' "c"']
    ]  # fmt: skip


def test_an_open_quote_in_the_header(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('"a,b\n1,2\n3,4\n')
    with pytest.raises(ValueError, match="the first line is not a row of a table"):
        CsvReader(path)


def test_a_line_of_blanks_is_no_empty_line_wherever_it_is(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n \n")
    for n_bytes in (1, 100):
        assert rows_or_error(path, True, n_bytes) is None
