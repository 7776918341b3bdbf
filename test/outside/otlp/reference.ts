import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"

import { startAttacked } from "../../hostile/server.ts"
import type { Check, Reference } from "../reference.ts"
import { comes } from "../services.ts"
import { must, pip } from "../tools.ts"

const SPEC = "opentelemetry-proto==1.38.0"
const SECRET = "outside-proxy-secret"

const PATHS = ["/v1/traces", "/v1/metrics", "/v1/logs"]

/** A mail that goes out, one that is refused, and what a reader of metrics asks for. */
const use = async (url: string): Promise<void> => {
  for (const to of ["ann@good.test", "nobody"])
    await fetch(`${url}/internal/send-email`, {
      method: "POST",
      headers: { "x-proxy-secret": SECRET, "content-type": "application/json" },
      body: JSON.stringify({ to, subject: "s", text: "t", category: "transactional", source: "api:outside" })
    })
  await fetch(`${url}/metrics`)
}

export const otlp: Reference = {
  name: "opentelemetry-proto",
  version: SPEC.split("==")[1] ?? "",
  checks: "what a server exports over OTLP, read by OpenTelemetry's own messages",
  needs: ["python3"],
  install: async ({ cache }) => void (await pip(cache, SPEC, "python")),
  run: async ({ cache, root, work }) => {
    const lines: Array<string> = []
    const paths = new Set<string>()
    const collector = createServer((request, response) => {
      const take = async () => {
        const path = request.url ?? ""
        lines.push(JSON.stringify({ path, body: await text(request) }))
        paths.add(path)
        response.end("{}")
      }
      void take()
    }).listen(0, "127.0.0.1")
    await once(collector, "listening")
    const { port } = collector.address() as AddressInfo
    try {
      const server = await startAttacked({
        PROXY_SHARED_SECRET: SECRET,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`
      })
      try {
        await use(server.url)
        await comes("all three signals are exported", () => PATHS.every((path) => paths.has(path)))
      } finally {
        // What is left is exported as it ends.
        await server.stop()
      }
      const file = join(work, "exports.jsonl")
      await writeFile(file, `${lines.join("\n")}\n`)
      const python = await pip(cache, SPEC, "python")
      const said = await must(python, [join(root, "test/outside/otlp/parse.py"), file])
      return said
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Check)
    } finally {
      collector.closeAllConnections()
      collector.close()
    }
  }
}
