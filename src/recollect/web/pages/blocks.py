"""
Blocks: edit with a difference before saving, history, roll back.

The form holds the version it was made from. If the block changed meanwhile, both texts are shown,
and saving again writes over the other change knowingly.
"""

from starlette.responses import Response
from starlette.routing import Route

from recollect.domain.block import Block
from recollect.errors import BlockConflict, InvalidInput, RecollectError
from recollect.web.line_diff import diff_lines
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames


def show_block(request: PageRequest) -> Response:
    """Show a block, its editor and its history."""
    block = request.rec.blocks.get(None, request.path("block"))
    return _editor(request, block, block.value)


def save(request: PageRequest) -> Response:
    """Save the text, or show first what would change."""
    block = request.rec.blocks.get(None, request.path("block"))
    if not request.form_has("value"):  # only half of the form arrived: this would empty the block
        raise InvalidInput("the form has no text; load the page again")
    text = request.value("value")
    version = _version(request)
    if request.value("action") == "preview":
        return _editor(request, block, text, version=version, is_preview=True)
    try:
        saved = request.rec.blocks.set(
            None, block, text, expected_version=version, reason=request.value("reason")
        )
    except BlockConflict as conflict:
        return _editor(request, block, text, version=conflict.version, theirs=conflict.theirs)
    except RecollectError as error:
        return _editor(request, block, text, version=version, problem=str(error))
    return request.redirect(f"/ui/blocks/{saved.id}", f"Saved as version {saved.version}.")


def roll_back(request: PageRequest) -> Response:
    """Restore an earlier version as a new one."""
    block = request.rec.blocks.get(None, request.path("block"))
    target = _number(request.value("to"))
    saved = request.rec.blocks.rollback(None, block, target, expected_version=_version(request))
    notice = f"Version {target} is restored as version {saved.version}."
    return request.redirect(f"/ui/blocks/{saved.id}", notice)


def confirm(request: PageRequest) -> Response:
    """Confirm what an agent wrote."""
    block = request.rec.blocks.get(None, request.path("block"))
    request.rec.blocks.confirm(None, block, expected_version=_version(request))
    return request.redirect(f"/ui/blocks/{block.id}", "Confirmed.")


def _editor(
    request: PageRequest,
    block: Block,
    text: str,
    *,
    version: int | None = None,
    theirs: str | None = None,
    problem: str = "",
    is_preview: bool = False,
) -> Response:
    history = request.rec.blocks.history(None, block)
    earlier = {entry.version: entry.value for entry in history}
    return request.render(
        "block.html",
        status_code=200 if theirs is None and not problem else 409,
        block=block,
        text=text,
        version=version or block.version,
        theirs=theirs,
        problem=problem,
        is_preview=is_preview,
        diff=diff_lines(block.value, text),
        history=[
            (entry, diff_lines(earlier.get(entry.version - 1, ""), entry.value))
            for entry in reversed(history)
        ],
        names=PlaceNames.read(request.rec),
    )


def _version(request: PageRequest) -> int:
    return _number(request.value("version"))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput("the form has no version; load the page again")
    return int(text)


routes = [
    Route("/blocks/{block}", page(show_block), methods=["GET"]),
    Route("/blocks/{block}", page(save), methods=["POST"]),
    Route("/blocks/{block}/rollback", page(roll_back), methods=["POST"]),
    Route("/blocks/{block}/confirm", page(confirm), methods=["POST"]),
]
