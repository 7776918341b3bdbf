// The loop of a runtime for Node, by AWS's documentation of the runtime API.
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const { AWS_LAMBDA_RUNTIME_API: api, LAMBDA_TASK_ROOT: root } = process.env
const [file, exported] = process.argv[2].split(".")
const base = `http://${api}/2018-06-01/runtime`

const tell = (path, body) => fetch(`${base}/${path}`, { method: "POST", body: JSON.stringify(body ?? null) })
const told = (error) => ({
  errorType: error?.name ?? "Error",
  errorMessage: String(error?.message ?? error),
  trace: []
})

console.log(`runtime is process ${process.pid}.`)
let handler
try {
  handler = (await import(pathToFileURL(join(root, `${file}.mjs`)).href))[exported]
} catch (error) {
  await tell("init/error", told(error))
  process.exit(1)
}
for (;;) {
  const next = await fetch(`${base}/invocation/next`)
  const { headers } = next
  const event = await next.json()
  const id = headers.get("lambda-runtime-aws-request-id")
  const end = Number(headers.get("lambda-runtime-deadline-ms"))
  const context = { awsRequestId: id, getRemainingTimeInMillis: () => end - Date.now() }
  try {
    await tell(`invocation/${id}/response`, await handler(event, context))
  } catch (error) {
    await tell(`invocation/${id}/error`, told(error))
  }
}
