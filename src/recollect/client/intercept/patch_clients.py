"""
Intercept the calls of the vendors' clients by patching the HTTP client classes.

Theory of operation. The packages of OpenAI, Anthropic, Ollama and Google (if it does not use
aiohttp) make every call, plain, parsed, streamed or raw, with `Client.send` or `AsyncClient.send`
of HTTPX (or its fork HTTPX2), looked up on the class. These two methods are replaced while a
session is open, so it does not matter when a client was created. A call outside of a session goes
straight to the original. Thread starts and pool submissions are replaced too, so that they inherit
the session (`client/current_session.py`). When the last session ends, the original methods are
restored.

Errors of our own code are suppressed: the call is then sent without changes.
"""

import functools
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType, ModuleType
from typing import Any
from urllib.parse import urlsplit

import httpx2

from recollect.client.current_session import bind_session, current_session, inherited_by, no_session
from recollect.client.intercept import aws_signature, import_watcher
from recollect.client.intercept.detect_dialect import may_call_model
from recollect.client.intercept.other_services import other_service
from recollect.client.run_blocking import run_blocking

Method = Callable[..., Any]

_BEDROCK_OPERATIONS = ("Converse", "ConverseStream", "InvokeModel", "InvokeModelWithResponseStream")

_lock = threading.RLock()
_sessions = 0
_patches: list[tuple[type, str, Method, Method]] = []  # class, name, original, replacement


def install() -> None:
    """Start to intercept calls; each `install` needs an `uninstall`."""
    global _sessions
    with _lock:
        _sessions += 1
        if _sessions == 1:
            for http in _http_libraries():
                _patch(http.Client, "send", _wrap_send(http))
                _patch(http.AsyncClient, "send", _wrap_async_send(http))
            _patch(threading.Thread, "start", _wrap_start)
            _patch(ThreadPoolExecutor, "submit", _wrap_submit)
            import_watcher.after_import("botocore.auth", _patch_signer)
            import_watcher.after_import("botocore.client", _patch_api_calls)
            import_watcher.after_import("aiohttp.client", _patch_aiohttp)


def uninstall() -> None:
    """Restore the original methods after the last session."""
    global _sessions
    with _lock:
        _sessions -= 1
        if _sessions:
            return
        import_watcher.stop_watching()
        aws_signature.forget_credentials()
        while _patches:
            owner, name, original, replacement = _patches.pop()
            if owner.__dict__.get(name) is replacement:  # else another package patched it since
                setattr(owner, name, original)


def _reset_lock() -> None:
    """Replace the lock in a forked process: a thread of the parent may have held it."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_lock)


def _http_libraries() -> list[ModuleType]:
    """Return HTTPX2, and HTTPX if installed: older versions of the packages use it."""
    libraries: list[ModuleType] = [httpx2]
    if "httpx" in sys.modules or importlib.util.find_spec("httpx") is not None:
        libraries.append(importlib.import_module("httpx"))
    return libraries


def _patch_signer(module: ModuleType) -> None:
    """Learn with which credentials requests are signed for AWS."""
    _patch_while_open(module.SigV4Auth, "add_auth", aws_signature.remember_credentials)


def _patch_api_calls(module: ModuleType) -> None:
    """Notice calls that boto3 makes: they do not go through HTTPX."""
    _patch_while_open(module.BaseClient, "_make_api_call", _wrap_api_call)


def _wrap_api_call(original: Method) -> Method:
    def make_api_call(self: Any, operation_name: str, api_params: Any) -> Any:
        session = current_session()
        if session and operation_name in _BEDROCK_OPERATIONS:
            session.note_other_service("Bedrock")
        return original(self, operation_name, api_params)

    return _copy_metadata(original, make_api_call)


def _patch_aiohttp(module: ModuleType) -> None:
    """Notice calls that are made with aiohttp: they do not go through HTTPX."""
    _patch_while_open(module.ClientSession, "_request", _wrap_aiohttp_request)


def _wrap_aiohttp_request(original: Method) -> Method:
    async def request(self: Any, method: str, url: Any, **options: Any) -> Any:
        session = current_session()
        path = urlsplit(str(url)).path
        if session and method.upper() == "POST" and (may_call_model(path) or other_service(path)):
            session.note_other_service("a model through aiohttp")
        return await original(self, method, url, **options)

    return _copy_metadata(original, request)


def _patch_while_open(owner: type, name: str, wrap: Callable[[Method], Method]) -> None:
    """
    Patch a class that is loaded while a session is open, unless the last one has just ended.

    A version of the package that has no such method is left alone: its import must not fail.
    """
    with _lock:
        if _sessions and name in owner.__dict__:
            _patch(owner, name, wrap)


def _patch(owner: type, name: str, wrap: Callable[[Method], Method]) -> None:
    original = owner.__dict__[name]
    replacement = wrap(_as_function(original))
    _patches.append((owner, name, original, replacement))
    setattr(owner, name, replacement)


def _as_function(method: Method) -> Method:
    """
    Return *method* as a function that is called with the object.

    Packages that trace programs (OpenTelemetry, New Relic) may have put a descriptor in its place,
    which knows the object only if it is bound to it.
    """
    if type(method) is FunctionType:  # for isinstance, the descriptors of wrapt are functions too
        return method

    @functools.wraps(method)
    def call_bound(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method.__get__(self, type(self))(*args, **kwargs)

    return call_bound


def _wrap_send(http: ModuleType) -> Callable[[Method], Method]:
    def wrap(original: Method) -> Method:
        def send(self: Any, request: Any, **options: Any) -> Any:
            session = current_session()
            model_request = session and session.parse_request(request)
            if not session or not model_request:
                return original(self, request, **options)
            request = session.inject_memory(model_request, request)
            with no_session():  # `original` may call another patched method
                response = original(self, request, **options)
            session.tap_response(model_request, http, response)
            return response

        return _copy_metadata(original, send)

    return wrap


def _wrap_async_send(http: ModuleType) -> Callable[[Method], Method]:
    def wrap(original: Method) -> Method:
        async def send(self: Any, request: Any, **options: Any) -> Any:
            session = current_session()
            model_request = session and session.parse_request(request)
            if not session or not model_request:
                return await original(self, request, **options)
            if session.injects_memory:
                # It blocks, so it must not run in the event loop.
                request = await run_blocking(session.inject_memory, model_request, request)
            with no_session():  # `original` may call another patched method
                response = await original(self, request, **options)
            session.tap_response(model_request, http, response)
            return response

        return _copy_metadata(original, send)

    return wrap


def _wrap_start(original: Method) -> Method:
    def start(self: threading.Thread) -> None:
        with inherited_by(self):
            original(self)

    return _copy_metadata(original, start)


def _wrap_submit(original: Method) -> Method:
    def submit(self: ThreadPoolExecutor, work: Any, /, *args: Any, **kwargs: Any) -> Any:
        bound = bind_session(work)
        with no_session():  # the threads of the pool outlive the session
            return original(self, bound, *args, **kwargs)

    return _copy_metadata(original, submit)


def _copy_metadata(original: Method, replacement: Any) -> Method:
    replacement.__name__ = original.__name__
    replacement.__qualname__ = original.__qualname__
    replacement.__doc__ = original.__doc__
    replacement.__module__ = original.__module__
    replacement.__wrapped__ = original  # so that signatures and debuggers show the original
    return replacement  # type: ignore[no-any-return]
