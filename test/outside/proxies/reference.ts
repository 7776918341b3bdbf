import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile, writeFile } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"

import { startAttacked } from "../../hostile/server.ts"
import { numbered } from "../../support/files/pdf-samples.ts"
import { until } from "../../support/until.ts"
import type { Check, Place, Reference } from "../reference.ts"
import { must } from "../tools.ts"

const OWNER = { authorization: "Bearer outside-owner-token" }
const MEGABYTE = 1024 * 1024

/** What is put into an example: where it listens, what is behind it, and a folder. */
interface Spot {
  readonly port: number
  readonly behind: string
  readonly work: string
}

/** A proxy: its file in `examples/deploy`, as a whole configuration on this machine without TLS, and how it is run. */
interface Proxy {
  readonly name: "nginx" | "caddy" | "haproxy"
  readonly version: string
  readonly file: string
  readonly configured: (text: string, spot: Spot) => string
  readonly command: (file: string) => ReadonlyArray<string>
}

const swap = (text: string, from: string | RegExp, to: string): string => {
  const changed = text.replace(from, () => to)
  if (changed === text) throw new Error(`the example has no ${String(from)} any more`)
  return changed
}

const PROXIES: ReadonlyArray<Proxy> = [
  {
    name: "nginx",
    version: "1.22.1 (Debian)",
    file: "nginx.conf",
    configured: (text, { behind, port, work }) => {
      const plain = text
        .split("\n")
        .filter((line) => !line.includes("ssl_certificate"))
        .join("\n")
      const server = swap(swap(plain, "listen 443 ssl", `listen 127.0.0.1:${port}`), "127.0.0.1:8787", behind)
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (kind) => `${kind}_temp_path ${work}/${kind};`
      )
      return `user root; daemon off; pid ${work}/nginx.pid; error_log ${work}/error.log;\nevents {}\nhttp { access_log off; ${temporary.join(" ")}\n${server}\n}`
    },
    command: (file) => ["nginx", "-c", file]
  },
  {
    name: "caddy",
    version: "2.6.2 (Debian)",
    file: "Caddyfile",
    configured: (text, { behind, port }) =>
      `{\n admin off\n auto_https off\n}\n${swap(swap(text, "app.example.com", `http://127.0.0.1:${port}`), "127.0.0.1:8787", behind)}\n`,
    command: (file) => ["caddy", "run", "--adapter", "caddyfile", "--config", file]
  },
  {
    name: "haproxy",
    version: "2.6.12 (Debian)",
    file: "haproxy.cfg",
    configured: (text, { behind, port }) =>
      `${swap(swap(text, /bind :443 .*/, `bind 127.0.0.1:${port}`), "127.0.0.1:8787", behind)}\n`,
    command: (file) => ["haproxy", "-db", "-f", file]
  }
]

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

const check = async (name: string, holds: () => Promise<true | string>): Promise<Check> => {
  const found = await holds().catch((error: unknown) => String(error))
  return found === true ? { name, outcome: "held" } : { name, outcome: "failed", detail: found }
}

/** The first text of a stream, while its conversion has not begun. */
const firstOf = async (url: string): Promise<string> => {
  const answer = await fetch(url, { headers: OWNER, signal: AbortSignal.timeout(5000) })
  const reader = answer.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

const CLOSED = ["/dev", "/dev/outbox", "/metrics", "//dev", "/%64ev/outbox", "/metrics?x=1", "/./metrics"]

const upload = (url: string, body: Uint8Array<ArrayBuffer>) =>
  fetch(`${url}/api/v1/files?name=a.pdf`, {
    method: "POST",
    headers: { ...OWNER, "content-type": "application/pdf", "idempotency-key": crypto.randomUUID() },
    body
  })

/** A path as it stands: `fetch` would tidy it. */
const statusOf = async (url: string, path: string): Promise<string> =>
  (
    await must("curl", [
      "-sS",
      "-m",
      "5",
      "--path-as-is",
      "-o",
      "/dev/null",
      "-w",
      "%{http_code}",
      url + path
    ])
  ).trim()

const trials = (url: string): ReadonlyArray<Promise<Check>> => [
  check("answers", async () => (await fetch(`${url}/health`)).ok || "no answer"),
  check("what is for operators is closed, however it is written", async () => {
    const answers = await Promise.all(CLOSED.map(async (path) => [path, await statusOf(url, path)] as const))
    const open = answers.filter(([, status]) => status !== "404")
    return open.length === 0 || open.join(" ")
  }),
  check("takes an upload of 20 MB", async () => {
    const pdf = new Uint8Array(20 * MEGABYTE)
    pdf.set(numbered(2))
    const answer = await upload(url, pdf)
    return answer.status === 201 || `${answer.status}: ${await answer.text()}`
  }),
  check("passes progress on at once", async () => {
    const { file } = (await (await upload(url, new Uint8Array(numbered(2)))).json()) as {
      file: { id: string }
    }
    const text = await firstOf(`${url}/api/convert/${file.id}/stream`)
    return text.includes("event:") || text
  })
]

const referenceOf = ({ command, configured, file: example, name, version }: Proxy): Reference => ({
  name,
  version,
  checks: `examples/deploy/${example}, in front of a server`,
  needs: [name, "curl"],
  install: () => Promise.resolve(),
  run: async ({ root, work }: Place) => {
    const text = await readFile(join(root, "examples/deploy", example), "utf8")
    const port = await freePort()
    const server = await startAttacked({ OWNER_TOKEN: "outside-owner-token", TRUSTED_PROXIES: "127.0.0.1" })
    const file = join(work, "proxy.conf")
    await writeFile(file, configured(text.trimEnd(), { port, work, behind: new URL(server.url).host }))
    const [program = "", ...args] = command(file)
    const child = spawn(program, args, {
      stdio: "ignore",
      env: { ...process.env, HOME: work }
    })
    const url = `http://127.0.0.1:${port}`
    try {
      await until("the proxy answers", () =>
        fetch(`${url}/health`).then(
          ({ ok }) => ok,
          () => false
        )
      )
      return await Promise.all(trials(url))
    } finally {
      child.kill("SIGTERM")
      await server.stop()
    }
  }
})

/** The proxies of the guide. */
export const proxies: ReadonlyArray<Reference> = PROXIES.map(referenceOf)
