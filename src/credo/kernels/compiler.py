"""The one door to Numba: `@compiled` makes a kernel of a function, which is compiled when it is first called.

Importing a kernel imports no Numba, so that small work, which needs no kernel, starts at once. At its first call a
kernel becomes a Numba dispatcher, and so do all kernels that its module can call; those that Python calls are compiled
apart from those that kernels call.

Compiled code is kept on disk by Numba: in `NUMBA_CACHE_DIR` where that is set, else in `__pycache__` beside the
kernel, else in the user's cache folder. Numba by itself asks only whether the file of a function has changed; but the
code of a kernel contains that of the kernels it calls. So the stamp here is a hash of the kernel's file and of all
kernel files that it imports, directly or through others. Where no folder can be written, kernels are compiled in
memory, with one warning.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from functools import cache, update_wrapper
from hashlib import sha256
from pathlib import Path
from threading import RLock
from time import perf_counter
from types import FunctionType
from typing import Any

from credo.interrupts import uninterrupted

# What only other kernels call needs no door for Python, which takes a third of the time to compile.
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_linking = RLock()
_warned = False
_timing: Any = None


class Kernel:
    """A function that Numba compiles at its first call; compiled kernels release the GIL."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.python = function  # the same, uncompiled
        self._options = options
        self._dispatcher: Any = None  # that Python calls,
        self._inner: Any = None  # and that other kernels call

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function; compile it first where it never was for arguments of these types.

        An interrupt waits until it returns.
        """
        with uninterrupted():
            if self._dispatcher is None:
                with _linking:
                    self._dispatcher = self._dispatcher or self._link({})
            return self._dispatcher(*arguments)

    def _link(self, options: dict[str, Any]) -> Any:
        """A dispatcher of this kernel that finds those of all that its module calls: compilation looks them up by name.

        They are found in a copy of the module's names. In the module itself kernels stay kernels.
        """
        namespace = dict(self.python.__globals__)
        dispatcher = _dispatcher_of(_with_names(self.python, namespace), {**self._options, **options})
        if options:
            self._inner = dispatcher  # before what it calls, which may be itself
        for name, value in list(namespace.items()):
            if isinstance(value, Kernel):
                namespace[name] = value._inner or value._link(INNER)
        return dispatcher


def compiled(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a kernel of a function: `@compiled`, or `@compiled(error_model="numpy")` with options of `numba.njit`."""
    if function is None:
        return lambda decorated: Kernel(decorated, options)
    return Kernel(function, options)


def compile_seconds() -> float:
    """How long this process has compiled kernels, or loaded them from disk, so far."""
    return 0.0 if _timing is None else _timing.seconds


def _with_names(function: Callable[..., Any], namespace: dict[str, Any]) -> Callable[..., Any]:
    """The same function, which looks up global names in `namespace`."""
    copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__)
    return update_wrapper(copy, function)


def _dispatcher_of(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    import numba

    _start_timing()
    dispatcher = numba.njit(nogil=True, **options)(function)
    if hasattr(dispatcher, "enable_caching"):  # not where NUMBA_DISABLE_JIT leaves the function as it is
        try:
            dispatcher._cache = _kernel_cache()(function, "no_cpython_wrapper" in options)
        except (RuntimeError, OSError):  # "cannot cache function …: no locator available"
            _warn_of_memory(function)
    return dispatcher


def _start_timing() -> None:
    """Listen to Numba's own events, of which nested ones belong to their outermost one."""
    global _timing
    if _timing is not None:
        return
    from numba.core import event

    class Timing(event.Listener):
        seconds = 0.0
        depth = 0
        started = 0.0

        def on_start(self, event: Any) -> None:
            if self.depth == 0:
                self.started = perf_counter()
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += perf_counter() - self.started

    _timing = Timing()
    event.register("numba:compile", _timing)


@cache
def _kernel_cache() -> Any:
    """Numba's cache of a function, with a stamp that covers all sources that the compiled code comes from."""
    import numba
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    class KernelCache(FunctionCache):
        def __init__(self, function: Callable[..., Any], is_inner: bool) -> None:
            super().__init__(function)
            self._function = function
            stamp = source_stamp(Path(function.__code__.co_filename))
            self._cache_file = IndexDataCacheFile(
                cache_path=self._cache_path,
                filename_base=f"{self._impl.filename_base}{'.inner' if is_inner else ''}",
                source_stamp=stamp,
            )
            # Numba compares its version before it unpickles an index, and the stamp after. An index of older sources
            # may refer to a class that was renamed since, and cannot be unpickled: so the stamp is part of the version.
            self._cache_file._version = f"{numba.__version__} {stamp}"

        def save_overload(self, *arguments: Any) -> None:
            try:
                super().save_overload(*arguments)
            except OSError:  # a full disk, or a folder that went away
                _warn_of_memory(self._function)

    return KernelCache


def source_stamp(path: Path) -> str:
    """A hash of a kernel's file, of this one, and of all files in its folder that it imports or they import."""
    digest = sha256()
    for source in sorted({*_sources(path), Path(__file__)}):
        digest.update(_read(source))
    return digest.hexdigest()


def _sources(path: Path) -> set[Path]:
    found, waiting = {path}, [path]
    while waiting:
        for name in imported_names(_read(waiting.pop())):
            other = path.parent / f"{name}.py"
            if other not in found and other.exists():
                found.add(other)
                waiting.append(other)
    return found


def imported_names(source: bytes) -> list[str]:
    """The last part of each module that a source imports from: kernels import each other by their full names."""
    return [name.decode() for name in re.findall(rb"^\s*(?:from|import)\s+(?:[\w.]+\.)?(\w+)", source, re.MULTILINE)]


@cache
def _read(path: Path) -> bytes:
    return path.read_bytes()


def _warn_of_memory(function: Callable[..., Any]) -> None:
    global _warned
    if _warned:
        return
    _warned = True
    folder = Path(sys.modules[function.__module__].__file__ or ".").parent
    warnings.warn(
        f"Compiled code cannot be kept: neither {folder / '__pycache__'} nor a cache folder of yours can be written. "
        "Every new process compiles it again, which takes seconds. Set NUMBA_CACHE_DIR to a folder that can be "
        "written.",
        stacklevel=2,
    )
