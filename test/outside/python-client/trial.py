"""The Python client against a running server: URL, owner token, secret, admin token and a PDF of three pages. Prints a check a line, as JSON."""

import asyncio
import json
import sys

import httpx
from postlane import AsyncPostlane, Postlane, PostlaneError

url, token, secret, admin_token, pdf = sys.argv[1:6]


def check(name, held, detail=""):
    print(json.dumps({"name": name, "outcome": "held" if held else "failed", "detail": str(detail)[:500]}), flush=True)


def refused(call):
    try:
        call()
    except PostlaneError as error:
        return error
    return None


def documents():
    with Postlane(url, token=token) as postlane:
        markdown = postlane.convert(pdf, format="markdown", timeout=120)
        check("one call converts a file", "<!-- page 3 -->" in markdown, markdown)

        file = postlane.upload(pdf, reference="order-17", name="Ä report.pdf")
        error = refused(lambda: postlane.result(file["id"]))
        check("no result yet", error is not None and error.code == "RESULT_NOT_READY" and error.request_id, error)
        error = refused(lambda: postlane.wait(file["id"]))
        check("nothing to wait for is said", error is not None and error.code == "NOT_CONVERTING", error)
        job = postlane.start(file["id"], parser="layout")
        done = postlane.wait(file["id"], timeout=120)
        check("a file is waited for", done["status"] == "completed" and done["lastJob"]["id"] == job["id"], done)
        check("a job is looked up", postlane.job(job["id"])["status"] == "completed")
        for format, sign in (("html", "<!doctype html>"), ("fragment", "Page number 1"), ("text", "Page number 3")):
            check(f"the result as {format}", sign in postlane.result(file["id"], format))
        document = postlane.result(file["id"], "json")
        check("the result as json", [one["page"] for one in document["blocks"]][-1] == 3, document)
        error = refused(lambda: postlane.result_picture(file["id"], 0))
        check("a picture that is not there", error is not None and error.code == "NOT_FOUND", error)

        with open(pdf, "rb") as source:
            bytes_ = source.read()
        files = [postlane.upload(bytes_, name=f"{n}.pdf") for n in range(2)]
        order = postlane.bulk([one["id"] for one in files], reference="order-18")
        state = postlane.wait_for_bulk(order["bulkId"], timeout=120)
        check("an order is waited for", state["ended"] and state["counts"]["completed"] == 2, state)
        check("its files are found by its reference", len(list(postlane.files(reference="order-18"))) == 2)
        check("files by status and name", len(list(postlane.files(status="completed", name="REPORT"))) >= 1)

        first = postlane.upload(bytes_, key="upload/1", name="once.pdf")
        again = postlane.upload(bytes_, key="upload/1", name="once.pdf")
        check("the same key is the same file", first["id"] == again["id"])
        named = [postlane.upload(bytes_, key=key, name="n.pdf")["id"] for key in ("Fall 17/Übersicht.pdf",) * 2 + ("Fall 18/",)]
        check("a key may be any text", named[0] == named[1] != named[2])
        postlane.delete(first["id"])
        error = refused(lambda: postlane.file(first["id"]))
        check("a deleted file is gone", error is not None and (error.code, error.status) == ("FILE_NOT_FOUND", 404), error)
        error = refused(lambda: postlane.upload(b"no document", name="x.pdf"))
        check("a refusal has its code", error is not None and error.code == "UNSUPPORTED_FILE_TYPE", error)


def log(admin):
    with Postlane(url, token=admin) as postlane:
        rows = [row for row in postlane.mails(source="api:py", by_mail=True)]
        check("the log, a line a mail", [row["rows_of_mail"] for row in rows] == [1], rows)
        check("by a tag", [row["idempotency_key"] for row in postlane.mails(tag="order", tag_value="17")] == ["mail/1"])
        check("and by none that is there", list(postlane.mails(tag="order", tag_value="18")) == [])
        pages = list(postlane.mail_changes("2026-01-01T00:00:00Z", source="api:py"))
        check("changes say from when to ask next", pages[-1]["changedUntil"] > "2026-01-01", pages)
        later = list(postlane.mail_changes("2999-01-01T00:00:00Z"))
        check("and what changed since is nothing twice", [page["rows"] for page in later] == [[]], later)
        error = refused(lambda: list(postlane.mail_changes("yesterday")))
        check("a moment is a moment", error is not None and error.code == "INVALID_REQUEST", error)


def mail():
    with Postlane(url, secret=secret) as postlane:
        given = {"to": "ann@example.com", "subject": "s", "text": "t", "category": "transactional", "source": "api:py", "tags": {"order": "17"}}
        first = postlane.send_email(key="mail/1", **given)
        again = postlane.send_email(key="mail/1", **given)
        check("a mail is sent once for its key", first["ok"] and first["sendId"] == again["sendId"], first)
        check("and says how often it was asked for", first["attempts"] == 1, first)
        error = refused(lambda: postlane.send_email(**{**given, "to": "nobody"}))
        check("a refused mail names the field", error is not None and error.issues and error.status == 400, error)


def repeats():
    seen = []

    def server(request):
        seen.append((request.headers.get("idempotency-key"), request.read()))
        if len(seen) == 1:
            raise httpx.ReadTimeout("no answer", request=request)
        if len(seen) == 2:
            body = {"code": "UNAVAILABLE", "detail": "later", "retryable": True}
            return httpx.Response(503, json=body, headers={"retry-after": "0"})
        if len(seen) == 3:
            return httpx.Response(429, text="a proxy's page", headers={"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"})
        return httpx.Response(201, json={"file": {"id": "f"}})

    with Postlane("http://p.test", token="t", transport=httpx.MockTransport(server)) as postlane:
        file = postlane.upload(pdf)
    check("a call is repeated whole, with one key", file == {"id": "f"} and len(set(seen)) == 1 and len(seen) == 4, len(seen))
    check("the key is there", seen[0][0] is not None and len(seen[0][1]) > 0)

    def count(status, body, call, retries=2):
        calls = []

        def answer(request):
            calls.append(request)
            return httpx.Response(status, json=body, headers={"retry-after": "0", "x-request-id": "r-1"})

        with Postlane("http://p.test", token="t", retries=retries, transport=httpx.MockTransport(answer)) as postlane:
            return len(calls), refused(lambda: call(postlane)), calls

    busy = {"code": "UNAVAILABLE", "detail": "later", "retryable": True}
    _, error, calls = count(503, busy, lambda postlane: postlane.file("f"))
    check("and no more often than it was told", len(calls) == 3 == error.attempts and error.code == "UNAVAILABLE" and error.request_id == "r-1")
    given = {"to": "a@x.test", "subject": "s", "text": "t", "category": "transactional", "source": "api:py"}
    _, error, calls = count(503, busy, lambda postlane: postlane.send_email(**given), retries=None)
    check("a send is repeated twice", len(calls) == 3 == error.attempts, error)
    _, error, calls = count(402, {"code": "INSUFFICIENT_CREDITS", "detail": "d", "retryable": False}, lambda p: p.start("f"))
    check("what is refused is not repeated", len(calls) == 1 and error.code == "INSUFFICIENT_CREDITS")
    _, error, calls = count(503, busy, lambda postlane: postlane.cancel("f"))
    check("a call without a key is not repeated", len(calls) == 1)


async def asynchronous():
    async with AsyncPostlane(url, token=token) as postlane:
        texts = await asyncio.gather(*(postlane.convert(pdf, format="text", timeout=120) for _ in range(2)))
        check("two at once", all("Page number 2" in text for text in texts))
        names = [file["name"] async for file in postlane.files()]
        check("files, asynchronously", len(names) >= 4, names)


documents()
mail()
log(admin_token)
repeats()
asyncio.run(asynchronous())
