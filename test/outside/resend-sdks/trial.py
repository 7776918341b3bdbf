"""Resend's Python SDK against an installation: what it was answered, as JSON on the last line."""

import json
import sys

import resend

token, slow, at, later = sys.argv[1:5]
BYTES = list(range(256))
MAIL = {"from": "Shop <shop@postlane.test>", "to": ["ann@y.test"], "text": "t"}


def asked(call):
    """What a call answered; of an error, what its user sees."""
    try:
        return {name: value for name, value in dict(call()).items() if name != "http_headers"}
    except resend.exceptions.ResendError as error:
        return {"kind": type(error).__name__, "code": str(error.code), "name": error.error_type, "message": error.message}


def send(key=None, **more):
    options = {} if key is None else {"idempotency_key": key}
    return asked(lambda: resend.Emails.send({**MAIL, **more}, options))


def batch(key, mode, mails):
    def call():
        answer = resend.Batch.send(mails, {"idempotency_key": key, "batch_validation": mode})
        return {"ids": [one["id"] for one in answer["data"]], "errors": answer.get("errors")}

    return asked(call)


resend.api_key = token
full = {
    "to": ["ann@y.test", "bob@y.test"],
    "cc": "carl@y.test",
    "bcc": ["dora@y.test"],
    "reply_to": "help@x.test",
    "subject": "whole <&> é",
    "html": "<p>h &amp; é</p>",
    "headers": {"X-Order": "17"},
    "tags": [{"name": "campaign", "value": "c1"}],
    "attachments": [
        {"filename": "all.bin", "content": BYTES},
        {"filename": "l.png", "content": "AQID", "content_type": "image/png", "content_id": "logo"},
    ],
}
pair = [{**MAIL, "subject": "first of two"}, {**MAIL, "subject": "second of two"}]
said = {
    "whole": send("whole", **full),
    "wholeAgain": send("whole", **full),
    "conflict": send("whole", **{**full, "subject": "other"}),
    "batch": batch("pair", "strict", pair),
    "batchAgain": batch("pair", "strict", pair),
    "permissive": batch("some", "permissive", [{**MAIL, "subject": "the good one"}, {**MAIL, "subject": ""}]),
    "strict": batch("none", "strict", [{**MAIL, "subject": "of a refused batch"}, {**MAIL, "subject": ""}]),
    "nulls": send(
        "nulls", subject="with nulls", html=None, cc=None, bcc=None, reply_to=None, headers=None, tags=None,
        attachments=None, scheduled_at=None,
    ),
    "words": send(subject="in words", scheduled_at="in 1 min"),
    "missing": send("missing", subject=""),
    "template": send(subject="of a template", template={"id": "welcome", "variables": {"a": "b"}}),
    "scheduled": send("later", subject="for later", scheduled_at=at),
}
planned = said["scheduled"].get("id", "none")
event = lambda: asked(lambda: resend.Emails.get(planned))
said["planned"] = event()
said["moved"] = asked(lambda: resend.Emails.update({"id": planned, "scheduled_at": later}))
said["movedTo"] = event()
said["cancelled"] = asked(lambda: resend.Emails.cancel(planned))
said["planless"] = event()
said["unknown"] = asked(lambda: resend.Emails.get("00000000-0000-4000-8000-000000000000"))
resend.api_key = slow
said["slow"] = [send(subject="slow one"), send(subject="slow two")]
resend.api_key = "pl_send_wrong"
said["wrong"] = send(subject="with a wrong token")
print(json.dumps(said))
