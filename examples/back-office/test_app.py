import json
import os
import subprocess
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

PDF = Path(__file__).with_name("report.pdf").read_bytes()


@pytest.fixture(scope="session")
def postlane():
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = ["npx", "postlane", "start", "--temporary", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as server:
        yield json.loads(server.stdout.readline())
        server.terminate()


@pytest.fixture(scope="session")
def office(postlane):
    names = {"POSTLANE_URL": "url", "OWNER_TOKEN": "ownerToken", "PROXY_SHARED_SECRET": "proxySecret"}
    os.environ.update({name: postlane[value] for name, value in names.items()})
    from app import app

    with TestClient(app) as client:
        yield client


def test_51_documents_are_converted_once(office):
    files = [("files", (f"report {n}.pdf", PDF)) for n in range(51)]
    order, again = (office.post("/cases/17/documents", files=files).json() for _ in range(2))
    assert order["bulkId"] == again["bulkId"]
    while not (state := office.get(f"/orders/{order['bulkId']}", params={"wait": 30}).json())["ended"]:
        pass
    assert state["counts"]["completed"] == 51
    listed = office.get("/cases/17/documents").json()
    assert sorted(one["name"] for one in listed) == sorted(f"report {n}.pdf" for n in range(51))
    document = f"/documents/{listed[0]['id']}"
    assert "<!-- page 2 -->" in office.get(document).text
    blocks = office.get(document, params={"format": "json"}).json()["blocks"]
    assert {1, 2} <= {block["page"] for block in blocks}


def test_what_is_no_document_is_refused_with_its_code(office):
    answer = office.post("/cases/18/documents", files=[("files", ("x.pdf", b"no document"))])
    assert (answer.status_code, answer.json()["code"]) == (415, "UNSUPPORTED_FILE_TYPE")


def test_the_customer_is_told_once(office, postlane):
    for _ in range(2):
        assert office.post("/cases/17/notice", params={"to": "ann@case.test"}).json() == {"status": "sent"}
    mails = httpx.get(f"{postlane['url']}/dev/outbox", params={"address": "ann@case.test"}).json()["messages"]
    assert [mail["subject"] for mail in mails] == ["Case 17: your documents are ready"]
