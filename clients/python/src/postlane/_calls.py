"""The calls, without a connection: what each sends, and what it makes of the answer. Both clients send them."""

from __future__ import annotations

import email.utils
import hashlib
import os
import random
import re
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, AsyncIterator, Dict, Generic, Iterable, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import quote

import httpx

from .errors import PostlaneError

T = TypeVar("T")
Source = Union[str, "os.PathLike[str]", bytes]

#: The longest that the server is asked to wait in one call, seconds.
MAX_WAIT = 30
#: How long one attempt may take without its waiting; an upload or a result gets longer. Seconds.
TIMEOUT = 60.0
LONG_TIMEOUT = 600.0
#: The longest wait between two attempts, seconds.
MAX_PAUSE = 60.0
#: Retries of one call; of a send fewer, since each that reaches a provider and fails leaves a row in the log.
RETRIES = 4
SEND_RETRIES = 2
#: Statuses of servers and proxies that may do better soon.
PASSING = {408, 429, 502, 503, 504}
CHUNK = 1 << 18


@dataclass
class Call(Generic[T]):
    method: str
    path: str
    #: ``json``, ``text``, ``bytes`` or ``none``.
    kind: str = "json"
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    source: Optional[Source] = None
    key: Optional[str] = None
    #: The body has an idempotency key.
    keyed: bool = False
    secret: bool = False
    #: The member of the answer that is returned.
    member: Optional[str] = None
    timeout: float = TIMEOUT

    @property
    def safe(self) -> bool:
        """Whether it may be sent again without knowing what became of it."""
        return self.method != "POST" or self.key is not None or self.keyed

    def headers(self) -> Dict[str, str]:
        headers = {} if self.key is None else {"idempotency-key": _header_key(self.key)}
        if self.source is not None:
            size = len(self.source) if isinstance(self.source, bytes) else os.stat(self.source).st_size
            headers.update({"content-type": "application/octet-stream", "content-length": str(size)})
        return headers

    def query(self) -> Dict[str, Any]:
        return {name: value for name, value in self.params.items() if value is not None}

    def chunks(self) -> Iterable[bytes]:
        """The source from its beginning; each attempt reads it again."""
        if isinstance(self.source, bytes):
            yield self.source
        elif self.source is not None:
            with open(self.source, "rb") as file:
                while chunk := file.read(CHUNK):
                    yield chunk

    async def async_chunks(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks():
            yield chunk

    def answer(self, response: httpx.Response) -> Any:
        if response.is_error:
            raise _refusal(response)
        if not response.is_success:
            raise _bad(response, "the server sends the caller elsewhere, which is not followed")
        if self.kind == "none":
            return None
        if self.kind == "bytes":
            return response.content
        if self.kind == "text":
            return response.content.decode("utf-8")
        try:
            data = response.json()
            return data if self.member is None else data[self.member]
        except (ValueError, KeyError, TypeError):
            raise _bad(response, "the answer is not the JSON that was expected") from None


def _bad(response: httpx.Response, detail: str) -> PostlaneError:
    return PostlaneError(
        "BAD_ANSWER", detail, status=response.status_code, request_id=response.headers.get("x-request-id")
    )


def _refusal(response: httpx.Response) -> PostlaneError:
    try:
        problem = response.json()
        code, detail = str(problem["code"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return _bad(response, f"status {response.status_code} without a problem document")
    return PostlaneError(
        code,
        detail,
        status=response.status_code,
        request_id=response.headers.get("x-request-id"),
        retryable=problem.get("retryable") is True,
        issues=problem.get("issues") or (),
    )


def no_answer(call: "Call[Any]", cause: Exception) -> PostlaneError:
    return PostlaneError("NO_ANSWER", str(cause) or type(cause).__name__, retryable=call.safe)


def retries_of(call: "Call[Any]", given: Optional[int]) -> int:
    return given if given is not None else SEND_RETRIES if call.keyed else RETRIES


def with_attempts(call: "Call[Any]", answer: Any, attempts: int) -> Any:
    """Of a send: how many attempts there were."""
    return {**answer, "attempts": attempts} if call.keyed else answer


def may_repeat(call: "Call[Any]", error: PostlaneError) -> bool:
    """Whether the same request may do better soon: not a result that is not there yet, which is waited for."""
    if not call.safe or error.status == 404:
        return False
    return error.retryable or error.status in PASSING


def pause(attempt: int, response: Optional[httpx.Response]) -> float:
    """Seconds before the next attempt: what the server asks for, else a random time that grows."""
    asked: Optional[str] = None if response is None else response.headers.get("retry-after")
    if asked is not None:
        try:
            seconds = float(asked)
            return min(MAX_PAUSE, max(0.0, seconds))
        except ValueError:
            try:
                until = email.utils.parsedate_to_datetime(asked).timestamp() - time.time()
                return min(MAX_PAUSE, max(0.0, until))
            except (TypeError, ValueError):
                pass
    return random.uniform(0.5, 1.0) * min(8.0, 0.5 * (1 << attempt))


def _key(key: Optional[str]) -> str:
    return key if key is not None else str(uuid.uuid4())


def _header_key(key: str) -> str:
    """The key as a header can carry it; of any other text, such as one with a file's name in it, its hash."""
    if re.fullmatch(r"[!-~]{1,255}", key):
        return key
    return "sha256-" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _id(value: Union[str, int]) -> str:
    text = str(value)
    if text in ("", ".", ".."):
        raise ValueError("an id is not empty")
    return quote(text, safe="")


def upload(source: Source, name: Optional[str], reference: Optional[str], key: Optional[str]) -> "Call[Any]":
    known = name if name is not None else ("document" if isinstance(source, bytes) else Path(source).name)
    return Call(
        "POST",
        "/api/v1/files",
        params={"name": known, "reference": reference},
        source=source,
        key=_key(key),
        member="file",
        timeout=LONG_TIMEOUT,
    )


def options_of(options: Mapping[str, Any]) -> Dict[str, Any]:
    names = {"high_fidelity": "highFidelity", "math_ocr": "mathOcr", "keep_running_heads": "keepRunningHeads"}
    return {names.get(name, name): value for name, value in options.items() if value is not None}


def start(file_id: str, options: Mapping[str, Any], key: Optional[str]) -> "Call[Any]":
    body = {"options": options_of(options)}
    return Call("POST", f"/api/v1/files/{_id(file_id)}/convert", json=body, key=_key(key), member="job")


def _waiting(path: str, member: str, wait: int) -> "Call[Any]":
    return Call("GET", path, params={"wait": wait or None}, member=member, timeout=TIMEOUT + wait)


def file(file_id: str, wait: int) -> "Call[Any]":
    return _waiting(f"/api/v1/files/{_id(file_id)}", "file", wait)


def job(job_id: str, wait: int) -> "Call[Any]":
    return _waiting(f"/api/v1/jobs/{_id(job_id)}", "job", wait)


def bulk_state(bulk_id: str, wait: int) -> "Call[Any]":
    return _waiting(f"/api/v1/bulk/{_id(bulk_id)}", "bulk", wait)


def result(file_id: str, format: str, pictures: Optional[str]) -> "Call[Any]":
    return Call(
        "GET",
        f"/api/v1/files/{_id(file_id)}/result",
        kind="json" if format == "json" else "text",
        params={"format": format, "pictures": pictures},
        timeout=LONG_TIMEOUT,
    )


def result_picture(file_id: str, index: int) -> "Call[Any]":
    path = f"/api/v1/files/{_id(file_id)}/result/pictures/{_id(index)}"
    return Call("GET", path, kind="bytes", timeout=LONG_TIMEOUT)


def cancel(file_id: str) -> "Call[Any]":
    return Call("POST", f"/api/v1/files/{_id(file_id)}/cancel")


def delete(file_id: str) -> "Call[Any]":
    return Call("DELETE", f"/api/v1/files/{_id(file_id)}", kind="none")


def bulk(
    file_ids: Sequence[str], reference: Optional[str], options: Mapping[str, Any], key: Optional[str]
) -> "Call[Any]":
    body: Dict[str, Any] = {"items": [{"fileId": one} for one in file_ids], "options": options_of(options)}
    if reference is not None:
        body["reference"] = reference
    return Call("POST", "/api/v1/bulk", json=body, key=_key(key))


def page(path: str, filters: Mapping[str, Any], cursor: Optional[str]) -> "Call[Any]":
    return Call("GET", path, params={**filters, "limit": 200, "cursor": cursor})


LOG = "/api/admin/email-log"


def log_filters(filters: Mapping[str, Optional[str]]) -> Dict[str, Any]:
    names = {"message_id": "messageId", "tag_value": "tagValue"}
    return {names.get(name, name): value for name, value in filters.items()}


def send_email(mail: Mapping[str, Any], key: Optional[str], has_secret: bool) -> "Call[Any]":
    names = {"from_": "from", "reply_to": "replyTo", "send_at": "sendAt", "configuration_set": "configurationSet"}
    body = {names.get(name, name): value for name, value in mail.items() if value is not None}
    body.setdefault("idempotencyKey", _key(key))
    path = "/internal/send-email" if has_secret else "/api/send-email"
    return Call("POST", path, json=body, keyed=True, secret=has_secret)


def ended(file: Mapping[str, Any]) -> bool:
    return file["status"] not in ("processing", "chunked_processing")


def checked(file: Any) -> Any:
    """A file with a finished conversion; else the error that says how it ended."""
    last = file.get("lastJob")
    if last is not None and last["status"] == "cancelled":
        raise PostlaneError("CONVERSION_CANCELLED", f"the conversion of {file['name']} was cancelled")
    if file["status"] == "failed":
        raise PostlaneError("CONVERSION_FAILED", file.get("error") or "the conversion failed")
    if file["status"] == "uploaded":
        raise PostlaneError("NOT_CONVERTING", f"no conversion of {file['name']} is under way")
    return file


def left(deadline: Optional[float], what: str) -> int:
    """Seconds that the next call may wait, at least 1; an error once the time is over."""
    if deadline is None:
        return MAX_WAIT
    rest = deadline - time.monotonic()
    if rest <= 0:
        raise PostlaneError("TIMED_OUT", f"{what} has not ended in time")
    return max(1, min(MAX_WAIT, int(rest)))


def deadline_of(timeout: Optional[float]) -> Optional[float]:
    return None if timeout is None else time.monotonic() + timeout


