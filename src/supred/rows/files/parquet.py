"""Readers of Parquet files: any stretch of rows."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from supred.common.arguments import one_line
from supred.common.files import check_opened
from supred.common.threads import Turn
from supred.rows.files.columns import Column, check_names, import_pyarrow, is_string
from supred.rows.files.parquet_pages import Chunk, chunks_of, unpacked_bytes
from supred.rows.files.readers import FileReader, most_unpacked

# What pandas calls the index of a frame if it has no name.
UNNAMED = re.compile(r"__index_level_\d+__")
BUFFER_BYTES = 65_536
# Texts of a Parquet file may take this many bytes, or this many times the size of the file, in the
# rows that are read at a time.
MOST_TEXT_BYTES, TEXT_GROWTH = 128 * 2**20, 100
# No page is larger than 2^31 bytes, so those of larger files need not be looked at.
LARGE_BYTES = 2**32 // TEXT_GROWTH


class ParquetReader(FileReader):
    """Rows of a Parquet file, streamed batch by batch within its row groups."""

    BATCH_ROWS = 16_384
    _stream: Iterator[Any]
    _position: int  # the row that the open stream gives next
    _batch_row: int  # first row of the batch to come
    _rest: np.ndarray | None

    def __init__(self, path: Path, title: str | None = None) -> None:
        super().__init__(path, title)
        self._turn = Turn()  # threads of a worker share a reader, and look at its pages once
        self._chunks: list[list[Chunk]] = []
        self._places: dict[str, int] = {}  # of each column in a row group
        self._page_bytes: dict[str, int] = {}  # and what its pages take
        import_pyarrow()
        from pyarrow import parquet

        with self.opened():
            try:
                with parquet.ParquetFile(path) as file:
                    self.metadata, self.schema = file.metadata, file.schema_arrow
                    index = _index_columns(self.schema.metadata or {})
                    self.names = [
                        name
                        for name in self.schema.names
                        if name not in index or not UNNAMED.fullmatch(name)
                    ]
            except Exception as error:  # of many kinds, in a file that was made to deceive
                check_opened(error, path)
                raise ValueError(
                    f"{self.title} is not a readable Parquet file: {one_line(error)}"
                ) from None
        check_names(self.names, self.title)
        self.n_columns = len(self.names)
        self.use([Column(name, "number") for name in self.names], range(self.n_columns))
        sizes = [self.metadata.row_group(g).num_rows for g in range(self.metadata.num_row_groups)]
        self._check_sizes(sizes)
        self.group_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)

    def _check_sizes(self, sizes: list[int]) -> None:
        """Raise a ValueError if there are more rows than a file of this size may have."""
        n_bytes = self.path.stat().st_size
        if min(sizes, default=0) < 0 or 8 * sum(sizes) > most_unpacked(n_bytes):
            raise ValueError(
                f"{self.title} has {n_bytes} bytes and would unpack to {sum(sizes)} rows, too many "
                "for a file of this size; if you trust it, save it as NPY or CSV."
            )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.group_starts[-1])

    def read(self, start: int, stop: int) -> np.ndarray:
        """Return the numbers of some rows; those that follow the last ones come quickest."""
        if start != self._position:
            self._seek(start)
        self._position = -1  # what is interrupted is read again from its row group on
        pieces, missing = [], stop - start
        while missing:
            batch = self._rest if self._rest is not None else self._next()
            pieces.append(batch[:missing])
            self._rest = batch[missing:] if len(batch) > missing else None
            missing -= len(pieces[-1])
        self._position = stop
        if stop == self.n_rows:
            self.close()
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def parts(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns as Arrow tables, one after the other."""
        yield from map(self._spelt_out, self.coded_parts(columns))

    def parts_of_group(self, columns: list[int], group: int) -> Iterator[Any]:
        """Yield some columns of a row group as Arrow tables, one after the other."""
        names = [self.column_names[k] for k in columns]
        yield from map(self._spelt_out, self._batches(names, group, group + 1))

    def coded_parts(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns as Arrow tables, columns of texts as dictionaries."""
        done = 0
        for part in self._batches([self.column_names[k] for k in columns]):
            done += part.num_rows
            self.share = done / max(self.n_rows, 1)
            yield part

    def _seek(self, start: int) -> None:
        group = int(np.searchsorted(self.group_starts, start, side="right")) - 1
        self._stream = self._batches(self._wanted, group)
        self._rest, self._batch_row = None, int(self.group_starts[group])
        skip = start - int(self.group_starts[group])
        while skip:
            batch = self._next()
            self._rest = batch[skip:] if len(batch) > skip else None
            skip -= min(skip, len(batch))

    def _batches(
        self, columns: list[str], first_group: int = 0, stop: int | None = None
    ) -> Iterator[Any]:
        """Yield some columns batch by batch, as tables; the file is open meanwhile."""
        from pyarrow import parquet

        pa, types = import_pyarrow(), {name: self.schema.field(name).type for name in columns}
        # Neither numbers nor text, of which the type tells enough: they may grow without bound.
        unread = {name: kind for name, kind in types.items() if _is_unreadable(kind)}
        wanted = [name for name in columns if name not in unread]
        texts = [field.name for field in self.schema if is_string(field.type)]
        stop = self.metadata.num_row_groups if stop is None else stop
        missing = int(self.group_starts[stop] - self.group_starts[first_group])
        with self.opened() as unchanged:
            packed = [name for name in wanted if is_string(types[name])]
            looked_at = wanted if self.path.stat().st_size < LARGE_BYTES else []
            try:
                with self._turn:
                    self._look_at_pages(unchanged, packed, looked_at)
            except (OSError, ValueError) as error:
                raise self._damaged(error) from None
            for groups in self._runs(first_group, stop):
                self._check_packed(groups, packed)
            self._check_pages(looked_at)
            try:
                # With a buffer, pages are read one by one, not a column of a whole row group.
                with parquet.ParquetFile(
                    self.path,
                    metadata=self.metadata,
                    buffer_size=BUFFER_BYTES,
                    pre_buffer=False,
                    read_dictionary=texts,
                ) as file:
                    # A few groups at a time: the texts of a column are kept until the last batch.
                    for groups in self._runs(first_group, stop):
                        for batch in file.iter_batches(self.BATCH_ROWS, groups, wanted):
                            missing -= batch.num_rows
                            self.check_unchanged(unchanged)
                            part = pa.Table.from_batches([batch])
                            gaps = {n: pa.nulls(len(part), kind) for n, kind in unread.items()}
                            held = [gaps[n] if n in gaps else part[n] for n in columns]
                            yield pa.table(held, names=columns)
                if missing:
                    raise ValueError(f"{missing} rows are not there")
            except Exception as error:  # of many kinds, on several lines
                raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> ValueError:
        check_opened(error, self.path)
        if isinstance(error, NotImplementedError) or "Not yet implemented" in str(error):
            return ValueError(
                f"{self.title} has an encoding or a compression that is not read, such as that of "
                "texts by their differences; write it anew, for instance with pandas."
            )
        return ValueError(
            f"{self.title} is damaged and cannot be read: {one_line(error)}; write it anew."
        )

    def _runs(self, first_group: int, stop: int) -> Iterator[list[int]]:
        """Yield row groups that follow each other and have the rows of a batch, or one group."""
        run: list[int] = []
        for group in range(first_group, stop):
            run.append(group)
            if self.group_starts[group + 1] - self.group_starts[run[0]] >= self.BATCH_ROWS:
                yield run
                run = []
        if run:
            yield run

    def _next(self) -> np.ndarray:
        table = next(self._stream)
        self._batch_row += table.num_rows
        return self.encode(self._spelt_out(table), self._batch_row - table.num_rows)

    def _spelt_out(self, table: Any) -> Any:
        """Return a batch with each text in its row; in the file a long one may be there once."""
        pa, columns = import_pyarrow(), dict(zip(table.column_names, table.columns, strict=True))
        sizes = {
            field.name: sum(_spelt_bytes(chunk) for chunk in columns[field.name].chunks)
            for field in table.schema
            if pa.types.is_dictionary(field.type) and is_string(field.type.value_type)
        }
        self._check_texts(sizes, table.num_rows)
        for name in sizes:
            columns[name] = columns[name].cast(columns[name].type.value_type)
        return pa.table(columns)

    def _check_packed(self, groups: list[int], texts: list[str]) -> None:
        """Raise a ValueError if texts take far more memory, as they are kept, than the file."""
        places, n_rows = self._places, self.group_starts
        sizes = {
            name: sum(self._chunks[group][places[name]].unpacked for group in groups)
            for name in texts
        }
        self._check_texts(sizes, sum(int(n_rows[group + 1] - n_rows[group]) for group in groups))

    def _check_pages(self, names: list[str]) -> None:
        """Raise a ValueError if pages of columns, one of each at a time, take too much memory."""
        n_bytes, size = sum(self._page_bytes[name] for name in names), self.path.stat().st_size
        if n_bytes > max(MOST_TEXT_BYTES, TEXT_GROWTH * size):
            raise ValueError(
                f"{self.title} has {size} bytes, and parts of it would unpack to {n_bytes} at a "
                "time, too many for a file of this size; if you trust it, save it as NPY or CSV."
            )

    def _look_at_pages(self, file: IO[bytes], texts: list[str], names: list[str]) -> None:
        """Note where columns are, and what the pages of some take, before pyarrow reads them."""
        if (texts or names) and not self._chunks:
            self._chunks, schema = chunks_of(file), self.metadata.schema
            self._places = {schema.column(k).path: k for k in range(len(schema))}
            n_groups = len(self.group_starts) - 1
            if [len(group) for group in self._chunks] != [len(schema)] * n_groups:
                raise ValueError("its row groups have other columns than its schema")
        for name in {*texts, *names} - self._places.keys():
            raise ValueError(f"it holds no column {name!r}")
        for name in names:
            if name not in self._page_bytes:
                chunks = (group[self._places[name]] for group in self._chunks)
                sizes = (unpacked_bytes(file, chunk) for chunk in chunks)
                self._page_bytes[name] = max(sizes, default=0)

    def _check_texts(self, sizes: dict[str, int], n_rows: int) -> None:
        """Raise a ValueError if the texts of columns take more memory than they may."""
        n_bytes = sum(sizes.values())
        if n_bytes > max(MOST_TEXT_BYTES, TEXT_GROWTH * self.path.stat().st_size):
            name = max(sizes, key=lambda name: sizes[name])
            raise ValueError(
                f"{self.title}: texts take {n_bytes} bytes in {n_rows} rows, most of them "
                f"in the column {name!r}; leave it out of the file, or shorten them."
            )

    @property
    def _wanted(self) -> list[str]:
        return [self.column_names[place] for place in self.places]

    def use(self, columns: Sequence[Column], places: Sequence[int]) -> None:
        """Choose the columns that `read` returns."""
        super().use(columns, places)
        kinds = [self.schema.field(name).type for name in self._wanted]
        single = all(kind == import_pyarrow().float32() for kind in kinds)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: it opens the file itself."""
        return {**self.__dict__, "_stream": iter(()), "_position": -1, "_rest": None}

    def close(self) -> None:
        """Close the file that is open from one `read` to the next."""
        self._stream, self._position, self._batch_row, self._rest = iter(()), -1, 0, None


def _index_columns(metadata: dict[bytes, bytes]) -> list[Any]:
    """Return the columns that pandas made of the index of a frame, if it wrote the file.

    One with a name is a column like any other, as it is in CSV.
    """
    try:
        index = json.loads(metadata[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError, RecursionError):  # no pandas wrote this
        return []
    return index if isinstance(index, list) else []


def _is_unreadable(kind: Any) -> bool:
    pa = import_pyarrow()
    kinds = pa.types
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    binary = (kinds.is_binary, kinds.is_large_binary, kinds.is_fixed_size_binary)
    others = isinstance(kind, pa.BaseExtensionType) or str(kind) == "binary_view"
    return others or kinds.is_nested(kind) or any(test(kind) for test in binary)


def _spelt_bytes(coded: Any) -> int:
    """Return how many bytes the texts of a dictionary array take once each is in its row."""
    compute = import_pyarrow().compute
    lengths = compute.binary_length(coded.dictionary)
    return compute.sum(compute.cast(lengths.take(coded.indices), "int64")).as_py() or 0
