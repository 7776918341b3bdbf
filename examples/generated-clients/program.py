import os
import postlane_api as api
from postlane_api.rest import ApiException

url = os.environ["POSTLANE_URL"]
relay = api.ApiClient(api.Configuration(host=url, api_key={"proxySecret": os.environ["PROXY_SHARED_SECRET"]}))
mail = api.SendRequest(
    to=["ann@example.com"], subject="Your receipt", text="Thank you.",
    category="transactional", source="api:receipts", idempotency_key="receipt/17",
)
print("mail", api.SendingApi(relay).send_email(mail).status)

owner = api.Configuration(host=url)
owner.access_token = os.environ["OWNER_TOKEN"]
files = api.FilesApi(api.ApiClient(owner))
file = files.upload_file(file="report.pdf").file
files.convert_file(file.id)
print("files", [(one.name, one.status) for one in files.list_files().files])

try:
    files.get_result(file.id)
except ApiException as refused:
    print("refused", refused.status, refused.body)
