"""The client for asyncio. ``scripts/generate-python-client.ts`` makes the one that blocks of this file."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, AsyncIterator, Dict, Literal, Mapping, Optional, Sequence, Type, Union, cast, overload

import httpx

from . import _calls as calls
from ._calls import Call, Source
from .errors import PostlaneError
from .types import BulkOrder, BulkState, Document, File, Format, Job, JobDetails, LoggedMail, MailChanges, SendResult

TextFormat = Literal["html", "fragment", "markdown", "text"]


class AsyncPostlane:
    """A connection to Postlane, for asyncio; close it, or use it as an asynchronous context manager.

    ``token``: bearer token of an owner, of an admin, or of a program that sends. ``secret``: the relay's shared secret, which
    goes with ``send_email`` alone. ``retries``: of one call after its first attempt; 4 by default, 2 of a send.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: Optional[str] = None,
        secret: Optional[str] = None,
        retries: Optional[int] = None,
        transport: Optional[httpx.AsyncBaseTransport] = None,
    ) -> None:
        self._token = token
        self._secret = secret
        self._retries = retries
        self._http = httpx.AsyncClient(base_url=base_url, transport=transport)

    async def __aenter__(self) -> "AsyncPostlane":
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    # Documents

    async def convert(
        self,
        source: Source,
        *,
        format: Format = "html",
        pictures: Optional[Literal["inline", "none"]] = None,
        name: Optional[str] = None,
        timeout: Optional[float] = None,
        **options: Any,
    ) -> Union[str, Document]:
        """Uploads a file (its path or its bytes), converts it, waits for the end and returns the result."""
        file = await self.upload(source, name=name)
        await self.start(file["id"], **options)
        await self.wait(file["id"], timeout=timeout)
        return cast(Union[str, Document], await self._do(calls.result(file["id"], format, pictures)))

    async def upload(
        self,
        source: Source,
        *,
        name: Optional[str] = None,
        reference: Optional[str] = None,
        key: Optional[str] = None,
    ) -> File:
        return cast(File, await self._do(calls.upload(source, name, reference, key)))

    async def start(self, file_id: str, *, key: Optional[str] = None, **options: Any) -> Job:
        """Starts a conversion. Options: ``high_fidelity``, ``parser``, ``math_ocr``, ``keep_running_heads``."""
        return cast(Job, await self._do(calls.start(file_id, options, key)))

    async def wait(self, file_id: str, *, timeout: Optional[float] = None) -> File:
        """Waits until the file's conversion has ended; an error where it failed, was cancelled or takes longer."""
        deadline = calls.deadline_of(timeout)
        while True:
            file = await self.file(file_id, wait=calls.left(deadline, "the conversion"))
            if calls.ended(file):
                return cast(File, calls.checked(file))

    async def file(self, file_id: str, *, wait: int = 0) -> File:
        """A file; with ``wait`` (seconds, 60 at most) once its conversion has ended, else its state then."""
        return cast(File, await self._do(calls.file(file_id, wait)))

    async def job(self, job_id: str, *, wait: int = 0) -> JobDetails:
        return cast(JobDetails, await self._do(calls.job(job_id, wait)))

    @overload
    async def result(
        self, file_id: str, format: TextFormat = ..., *, pictures: Optional[Literal["inline", "none"]] = ...
    ) -> str: ...

    @overload
    async def result(
        self, file_id: str, format: Literal["json"], *, pictures: Optional[Literal["inline", "none"]] = ...
    ) -> Document: ...

    async def result(
        self, file_id: str, format: Format = "html", *, pictures: Optional[Literal["inline", "none"]] = None
    ) -> Union[str, Document]:
        return cast(Union[str, Document], await self._do(calls.result(file_id, format, pictures)))

    async def result_picture(self, file_id: str, index: int) -> bytes:
        """A picture of the result, by its index in the format ``json``."""
        return cast(bytes, await self._do(calls.result_picture(file_id, index)))

    async def cancel(self, file_id: str) -> None:
        await self._do(calls.cancel(file_id))

    async def delete(self, file_id: str) -> None:
        await self._do(calls.delete(file_id))

    async def files(
        self,
        *,
        status: Optional[str] = None,
        name: Optional[str] = None,
        reference: Optional[str] = None,
        since: Optional[str] = None,
        until: Optional[str] = None,
    ) -> AsyncIterator[File]:
        """All files, newest first, page by page. ``name``: a part of it; ``since`` and ``until``: days, ``YYYY-MM-DD``."""
        filters = {"status": status, "name": name, "reference": reference, "since": since, "until": until}
        async for page in self._pages("/api/v1/files", filters):
            for one in page["files"]:
                yield cast(File, one)

    async def bulk(
        self,
        file_ids: Sequence[str],
        *,
        reference: Optional[str] = None,
        key: Optional[str] = None,
        **options: Any,
    ) -> BulkOrder:
        """Starts the conversions of many files, all or none."""
        return cast(BulkOrder, await self._do(calls.bulk(file_ids, reference, options, key)))

    async def bulk_state(self, bulk_id: str, *, wait: int = 0) -> BulkState:
        return cast(BulkState, await self._do(calls.bulk_state(bulk_id, wait)))

    async def wait_for_bulk(self, bulk_id: str, *, timeout: Optional[float] = None) -> BulkState:
        """Waits until every conversion of the order has ended, however it did."""
        deadline = calls.deadline_of(timeout)
        while True:
            state = await self.bulk_state(bulk_id, wait=calls.left(deadline, "the order"))
            if state["ended"]:
                return state

    # Mail

    async def send_email(
        self,
        *,
        to: Union[str, Sequence[str]],
        subject: str,
        category: str,
        source: str,
        key: Optional[str] = None,
        **mail: Any,
    ) -> SendResult:
        """Sends a mail, once for each key. Other members as in the API: ``text``, ``html``, ``cc``, ``from_``, ``reply_to``, …"""
        body: Dict[str, Any] = {"to": to, "subject": subject, "category": category, "source": source, **mail}
        return cast(SendResult, await self._do(calls.send_email(body, key, self._secret is not None)))

    async def mails(self, *, by_mail: bool = False, **filters: Optional[str]) -> AsyncIterator[LoggedMail]:
        """The send log, newest first; needs an admin's token. ``by_mail``: each idempotency key once.

        Filters: ``status``, ``category``, ``provider``, ``recipient``, ``subject``, ``id``, ``key``, ``message_id``, ``source``, ``tag``,
        ``tag_value``, ``search``, ``since`` and ``until`` (days).
        """
        query = {**calls.log_filters(filters), "by": "mail" if by_mail else None}
        async for page in self._pages(calls.LOG, query):
            for one in page["rows"]:
                yield cast(LoggedMail, one)

    async def mail_changes(self, since: str, **filters: Optional[str]) -> AsyncIterator[MailChanges]:
        """What changed in the send log at a moment or later, page by page; ask from the last page's ``changedUntil`` next time."""
        query = {**calls.log_filters(filters), "changedSince": since}
        async for page in self._pages(calls.LOG, query):
            yield cast(MailChanges, page)

    async def _pages(self, path: str, filters: Mapping[str, Any]) -> AsyncIterator[Any]:
        cursor: Optional[str] = None
        while True:
            page = await self._do(calls.page(path, filters, cursor))
            yield page
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    async def _attempt(self, call: "Call[Any]") -> httpx.Response:
        headers = call.headers()
        if call.secret and self._secret is not None:
            headers["x-proxy-secret"] = self._secret
        elif self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        return await self._http.request(
            call.method,
            call.path,
            params=call.query(),
            headers=headers,
            timeout=call.timeout,
            content=None if call.source is None else call.async_chunks(),
            json=call.json,
        )

    async def _do(self, call: "Call[Any]") -> Any:
        attempt = 0
        while True:
            response: Optional[httpx.Response] = None
            try:
                response = await self._attempt(call)
                return calls.with_attempts(call, call.answer(response), attempt + 1)
            except httpx.TransportError as cause:
                error = calls.no_answer(call, cause)
            except PostlaneError as refused:
                error = refused
            attempt += 1
            error.attempts = attempt
            if attempt > calls.retries_of(call, self._retries) or not calls.may_repeat(call, error):
                raise error
            await asyncio.sleep(calls.pause(attempt, response))
