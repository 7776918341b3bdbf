import json, os, urllib.error, urllib.request

def call(method, path, body=None, **headers):
    request = urllib.request.Request(os.environ["POSTLANE_URL"] + path, body, {k.replace("_", "-"): v for k, v in headers.items()}, method=method)
    return urllib.request.urlopen(request, timeout=90).read()

mail = {"to": "ann@example.com", "subject": "Your receipt", "text": "Thank you.", "category": "transactional", "source": "api:receipts", "idempotencyKey": "receipt/python"}
sent = call("POST", "/internal/send-email", json.dumps(mail).encode(), x_proxy_secret=os.environ["PROXY_SHARED_SECRET"], content_type="application/json")
print("mail", json.loads(sent)["status"])

owner = {"Authorization": "Bearer " + os.environ["OWNER_TOKEN"]}
file = json.loads(call("POST", "/api/v1/files?name=report.pdf", open("report.pdf", "rb").read(), Content_Type="application/pdf", **owner))["file"]["id"]
call("POST", f"/api/v1/files/{file}/convert", Idempotency_Key=f"convert/{file}", **owner)
print("file", json.loads(call("GET", f"/api/v1/files/{file}?wait=60", **owner))["file"]["status"])
print(call("GET", f"/api/v1/files/{file}/result?format=text", **owner).decode())

try:
    call("GET", "/api/v1/files/00000000-0000-4000-8000-000000000000", **owner)
except urllib.error.HTTPError as refused:
    problem = json.load(refused)
    print("refused", problem["status"], problem["code"], problem["retryable"])
