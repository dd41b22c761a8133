"""
Import onnxruntime with its telemetry disabled.

Official builds from 1.29 on send what they run on, with an identity of the device, to their vendor,
and keep both in the user's cache folder. They decide when the library is imported, by a variable of
the environment; on Windows a call disables what is reported afterwards.
"""

import os
from importlib import import_module
from typing import Any

OPT_OUT = "ORT_DISABLE_TELEMETRY"


def load_onnxruntime() -> Any:
    """Import onnxruntime and return it. Slow the first time."""
    os.environ.setdefault(OPT_OUT, "1")
    onnxruntime = import_module("onnxruntime")
    onnxruntime.disable_telemetry_events()
    return onnxruntime
