"""Changes to the content of a file: of bytes, of tokens, of numbers, of lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

NUMBERS = (
    b"0", b"-0", b"1", b"-1", b"2", b"1e308", b"1e999", b"-1e999", b"1e-320", b"5e-324", b"nan", b"inf", b"-inf",
    b"NaN", b"Infinity", b"0.1", b".5", b"5.", b"1e", b"1e+", b"--1", b"+1", b"00", b"01", b"0x10", b"1_000",
    b"1,5", b"127", b"128", b"255", b"256", b"32768", b"65536", b"2147483647", b"2147483648", b"4294967296",
    b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"99999999999999999999999999",
    "٣".encode(), "½".encode(), "１".encode(), b"1" * 400, b"0." + b"3" * 400,
)  # fmt: skip
ODD = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r", b"\n",
    b"\r\n", b"\x0b", b"\x0c", b"\x1a", b"\x1c", b"\x85", "\u2028".encode(), "\u200b".encode(), "\u00a0".encode(),
    b"\t", b" ", b'"', b"'", b'""', b"\\", b"\\\\", b"/*", b"*/", b"//", b"#", b"<", b">", b"&", b"&amp;", b"&#0;",
    b"]]>", b"--", b"{", b"}", b"(", b")", b"[", b"]", b"|", b"=", b",", b";", b":", b"%", b"$", b"~",
    "é".encode(), "年".encode(), "🫀".encode(), "e\u0301".encode(), b"__class__", b"../..", b"${x}", b"{0}", b"%s",
    b"A" * 300,
)  # fmt: skip
TOKEN = re.compile(rb"[A-Za-z_][\w.\-]*|[0-9][0-9.eE+\-]*|\s+|.", re.DOTALL)
NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
MOST = 200_000  # bytes of an input

Change = Callable[[Random, bytes, Sequence[bytes]], bytes]


def mutated(choose: Random, content: bytes, words: Sequence[bytes] = (), most: int = 5) -> bytes:
    """The content after none to `most` changes; `words` are tokens of its language."""
    for _ in range(choose.choice((0, 0, 1, 1, 1, 2, choose.randint(0, most)))):
        content = choose.choice(CHANGES)(choose, content, words)[:MOST]
    return content


def _span(choose: Random, size: int, longest: int = 40) -> tuple[int, int]:
    start = choose.randrange(size + 1)
    length = choose.choice((1, 2, choose.randrange(longest + 1), choose.randrange(longest + 1)))
    return start, min(size, start + length)


def flip_bit(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    if not content:
        return b"\x01"
    place = choose.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << choose.randrange(8))]) + content[place + 1 :]


def set_bytes(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    start, stop = _span(choose, len(content), 4)
    return content[:start] + choose.randbytes(stop - start) + content[stop:]


def delete_span(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    start, stop = _span(choose, len(content))
    return content[:start] + content[stop:]


def insert_odd(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    start, stop = _span(choose, len(content), 3)
    return content[:start] + choose.choice(ODD) + content[choose.choice((start, stop)) :]


def copy_span(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    start, stop = _span(choose, len(content), 200)
    target = choose.randrange(len(content) + 1)
    return content[:target] + content[start:stop] + content[target:]


def repeat_span(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    start, stop = _span(choose, len(content))
    times = choose.choice((2, 3, 10, 100, 1000)) if choose.random() < 0.8 else 20_000
    return content[:start] + content[start:stop] * min(times, MOST // max(1, stop - start)) + content[stop:]


def truncate(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    cut = choose.randrange(len(content) + 1)
    return content[:cut] if choose.random() < 0.8 else content[cut:]


def change_number(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    found = list(NUMBER.finditer(content))
    if not found:
        return content + choose.choice(NUMBERS)
    match = choose.choice(found)
    return content[: match.start()] + choose.choice(NUMBERS) + content[match.end() :]


def change_token(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    """A token is replaced by a word of the language, by another token of the content, doubled, or removed."""
    tokens = TOKEN.findall(content)
    if not tokens:
        return choose.choice(words) if words else b"x"
    place = choose.randrange(len(tokens))
    new = (
        choose.choice(words or ODD),
        choose.choice(tokens),
        tokens[place] * 2,
        b"",
        b" " + choose.choice(words or ODD),
    )
    tokens[place] = choose.choice(new)
    return b"".join(tokens)


def swap_tokens(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    tokens = TOKEN.findall(content)
    if len(tokens) < 2:
        return content
    one, two = choose.randrange(len(tokens)), choose.randrange(len(tokens))
    tokens[one], tokens[two] = tokens[two], tokens[one]
    return b"".join(tokens)


def rename_everywhere(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    """One token becomes another wherever it stands, so that the content stays consistent but for a duplicate."""
    tokens = [token for token in TOKEN.findall(content) if not token.isspace()]
    if not tokens:
        return content
    old, new = choose.choice(tokens), choose.choice((*tokens[:50], *ODD))
    return content.replace(old, new) if content.count(old) * len(new) < MOST else content


def change_lines(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return b"\n"
    place, other = choose.randrange(len(lines)), choose.randrange(len(lines))
    how = choose.randrange(4)
    if how == 0:
        del lines[place]
    elif how == 1:
        lines.insert(other, lines[place])
    elif how == 2:
        lines[place], lines[other] = lines[other], lines[place]
    else:
        ending = choose.choice((b"\r", b"\r\n", b"\n\n", b"", b"\x85"))
        lines = [line.rstrip(b"\r\n") + ending for line in lines]
    return b"".join(lines)


def change_encoding(choose: Random, content: bytes, words: Sequence[bytes]) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(choose.choice(("utf-16", "utf-8-sig", "latin-1", "utf-16-le", "utf-32", "cp1252")), "replace")


# The last ones change much at once, and are seldom worth it.
CHANGES: tuple[Change, ...] = (
    *(flip_bit, set_bytes, delete_span, insert_odd, copy_span, change_number, change_token, swap_tokens, change_lines)
    * 6,
    *(rename_everywhere, repeat_span, truncate) * 3,
    change_encoding,
)
