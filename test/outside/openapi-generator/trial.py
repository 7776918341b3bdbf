"""The whole path by the client that openapi-generator makes: a check a line, as JSON."""

import json
import os
from datetime import date, datetime, timedelta, timezone

import postlane_api as api
from postlane_api.rest import ApiException

url = os.environ["POSTLANE_URL"]
NOW = datetime.now(timezone.utc)
SOURCE = "api:walk"


def check(name, held, detail=""):
    print(json.dumps({"name": name, "outcome": "held" if held else "failed", "detail": str(detail)[:500]}), flush=True)


def bearer(token):
    return api.ApiClient(api.Configuration(host=url, access_token=os.environ[token]))


def refused(call):
    try:
        call()
    except ApiException as error:
        return api.Problem.from_json(error.body)
    return None


def mails():
    secret = {"proxySecret": os.environ["PROXY_SHARED_SECRET"]}
    relay = api.SendingApi(api.ApiClient(api.Configuration(host=url, api_key=secret)))

    def mail(n, **more):
        given = {"to": ["ann@example.com"], "subject": f"Walk {n}", "text": "Thank you.", "category": "transactional", "source": SOURCE}
        return api.SendRequest(**{**given, "idempotency_key": f"walk/{n}", **more})

    first = relay.send_email(mail(1))
    check("a mail is sent", first.status == "sent", first)
    again = relay.send_email(mail(1))
    check("with the same key it is the same mail", again.send_id == first.send_id, again)
    relay.send_email(mail(2))
    relay.send_email(mail(3))
    queued = relay.send_email(mail(4, send_at=NOW + timedelta(hours=1)))
    check("a mail for later is queued", queued.status == "queued" and queued.queue_id and queued.send_at > NOW, queued)
    problem = refused(lambda: relay.send_email(mail(5, to=["nobody"])))
    check("a refused mail names the field", problem and problem.code == "INVALID_REQUEST" and not problem.retryable and problem.issues, problem)


def log():
    admin = api.AdminApi(bearer("ADMIN_TOKEN"))
    sizes, subjects, cursor = [], set(), None
    while True:
        page = admin.list_email_log(source=SOURCE, limit=2, cursor=cursor)
        sizes.append(len(page.rows))
        subjects |= {row.subject for row in page.rows if row.created_at > NOW - timedelta(hours=1)}
        cursor = page.next_cursor
        if cursor is None:
            break
    check("the log is paged", (sizes, sorted(subjects)) == ([2, 1], ["Walk 1", "Walk 2", "Walk 3"]), (sizes, subjects))
    past, future = (len(admin.list_email_log(status="sent", since=date.today() + timedelta(days=days)).rows) for days in (-1, 2))
    check("and filtered by a day", (past, future) == (3, 0), (past, future))


def documents():
    files = api.FilesApi(bearer("OWNER_TOKEN"))
    file = files.upload_file(file="report.pdf", idempotency_key="walk/report", reference="walk").file
    check("a file is uploaded", (file.name, file.pages) == ("report.pdf", 2), file)
    problem = refused(lambda: files.get_result(file.id))
    check("no result yet is a refusal with its code", problem and problem.code == "RESULT_NOT_READY" and problem.retryable, problem)
    job = files.convert_file(file.id).job
    for _ in range(5):
        if file.last_job and file.last_job.ended_at:
            break
        file = files.get_file(file.id, wait=30).file
    check("the file is converted", file.status == "completed" and file.has_result and file.last_job.id == job.id, file)
    for name, format, sign in (
        ("its result is text", "text", "Page number 2"),
        ("its result is HTML", "html", "<!doctype html>"),
        ("its result is Markdown", "markdown", "<!-- page 2 -->"),
        ("its result is data", "json", '"blocks"'),
    ):
        result = files.get_result(file.id, format=format)
        check(name, sign in result, result)


mails()
log()
documents()
