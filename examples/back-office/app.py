"""A FastAPI back office: the documents of a case in, their text out, and a mail to the customer."""

import os
from typing import Any, Dict, List

from fastapi import FastAPI, Request, Response, UploadFile
from fastapi.responses import JSONResponse
from postlane import AsyncPostlane, PostlaneError
from postlane.types import BulkOrder, BulkState, Format

url = os.environ["POSTLANE_URL"]
documents = AsyncPostlane(url, token=os.environ["OWNER_TOKEN"])
mail = AsyncPostlane(url, secret=os.environ["PROXY_SHARED_SECRET"])
app = FastAPI()


# The keys make it one upload, one order and one charge, however often the form is sent.
@app.post("/cases/{case}/documents", status_code=202)
async def take(case: str, files: List[UploadFile]) -> BulkOrder:
    taken = [
        await documents.upload(await file.read(), name=file.filename, reference=case, key=f"{case}/{file.filename}")
        for file in files
    ]
    return await documents.bulk([one["id"] for one in taken], reference=case, key=f"{case}/order", parser="layout")


@app.get("/orders/{order}")
async def state(order: str, wait: int = 0) -> BulkState:
    return await documents.bulk_state(order, wait=wait)


@app.get("/cases/{case}/documents")
async def listed(case: str) -> List[Dict[str, Any]]:
    return [
        {"id": file["id"], "name": file["name"], "status": file["status"], "error": file["error"]}
        async for file in documents.files(reference=case)
    ]


@app.get("/documents/{document}")
async def result(document: str, format: Format = "markdown") -> Response:
    found = await documents.result(document, format)
    return JSONResponse(found) if format == "json" else Response(found, media_type="text/plain; charset=utf-8")


@app.post("/cases/{case}/notice")
async def tell(case: str, to: str) -> Dict[str, str]:
    sent = await mail.send_email(
        to=to,
        subject=f"Case {case}: your documents are ready",
        text="You can read them now.",
        category="transactional",
        source="api:back-office",
        key=f"notice/{case}",
    )
    return {"status": sent["status"]}


@app.exception_handler(PostlaneError)
async def refused(_: Request, error: PostlaneError) -> JSONResponse:
    return JSONResponse({"code": error.code, "detail": error.detail}, status_code=error.status or 502)
