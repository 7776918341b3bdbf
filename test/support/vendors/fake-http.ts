import { closeSync, openSync, writeSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** One canned answer. A string body goes out as it is. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | object
}

const FAULTS = [
  "refused",
  "reset-before",
  "reset",
  "hang",
  "slow",
  "401",
  "403",
  "422",
  "429",
  "500",
  "502-html",
  "503",
  "503-html",
  "504",
  "truncated-200",
  "truncated-500",
  "empty-200",
  "html-200",
  "no-id-200"
] as const

/**
 * What goes wrong. Without a suffix the peer accepts nothing; with `-accepted` it accepts first and then goes wrong.
 * `refused` closes the listener, `reset-before` cuts the connection before the body is read, `slow` answers rightly
 * once {@link FakeHttp.release} is called.
 */
export type Fault = (typeof FAULTS)[number]

/** What the peer does with a request. `reset-after` is `reset-accepted`. */
export type Outcome =
  | "ok"
  | "reset-after"
  | Fault
  | `${Fault}-accepted`
  | { readonly reply: Reply; readonly accepted?: boolean }

/** One acceptance: a copy that left. `at` is milliseconds of the peer's clock. */
export interface Acceptance {
  readonly id: string
  readonly key: string
  readonly at: number
  readonly payload: unknown
}

/** A request as it came in. `aborted`: the client went away before it was answered. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  aborted: boolean
}

/** What a vendor's fake knows: its rules and its way to word errors. */
export interface Vendor {
  /**
   * Handles a request by the vendor's rules. It may call `accept` once, and returns what it answers; `undefined` for a
   * path that it does not know.
   */
  readonly handle: (request: Seen, accept: (key: string, payload: unknown) => string) => Reply | undefined
  /** Notes that a request is being worked on; called before a `slow` one is held, undone once it is answered. */
  readonly begin?: (request: Seen) => () => void
  /** The vendor's own words for a scripted status. */
  readonly error: (status: number) => Reply
  /** Which requests scripts apply to; every other one is handled by the rules. */
  readonly scripted: (request: Pick<Seen, "method" | "path">) => boolean
}

/** How much a peer remembers: long loads need no payloads, and no requests. */
export type Keep = "all" | "keys" | "counts"

export interface FakeOptions {
  readonly port?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  readonly keep?: Keep
  /** A file that every acceptance is appended to before it is answered, one JSON object a line. */
  readonly log?: string
}

const HTML = "<html><head><title>Bad Gateway</title></head><body><h1>nginx</h1></body></html>"

const scriptOf = (outcome: Outcome): { readonly fault: Fault | "ok" | Reply; readonly accepted: boolean } => {
  if (typeof outcome === "object") return { fault: outcome.reply, accepted: outcome.accepted === true }
  if (outcome === "reset-after") return { fault: "reset", accepted: true }
  const accepted = outcome.endsWith("-accepted")
  const name = accepted ? outcome.slice(0, -"-accepted".length) : outcome
  const fault = FAULTS.find((known) => known === name)
  return fault === undefined ? { fault: "ok", accepted: true } : { fault, accepted }
}

/** A scripted HTTP peer on loopback. */
export class FakeHttp {
  readonly accepted: Array<Acceptance> = []
  readonly requests: Array<Seen> = []
  /** Scripted requests whose head arrived, answered or not. */
  received = 0
  acceptedCount = 0
  readonly #vendor: Vendor
  readonly #options: FakeOptions
  readonly #server: Server
  readonly #queue: Array<Outcome> = []
  #fallback: Outcome = "ok"
  readonly #held = new Set<() => void>()
  readonly #waiters = new Set<() => boolean>()
  readonly #log: number | undefined
  #port = 0

  constructor(vendor: Vendor, options: FakeOptions = {}) {
    this.#vendor = vendor
    this.#options = options
    this.#log = options.log === undefined ? undefined : openSync(options.log, "a")
    this.#server = createServer((request, response) => this.#serve(request, response))
    this.#server.keepAliveTimeout = 60_000
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get port(): number {
    return this.#port
  }

  /** The next requests get these outcomes, in this order; later ones `afterwards`. */
  async script(outcomes: ReadonlyArray<Outcome>, afterwards: Outcome = "ok"): Promise<void> {
    this.#queue.splice(0, Infinity, ...outcomes)
    this.#fallback = afterwards
    const refuses = (outcomes[0] ?? afterwards) === "refused"
    if (refuses) await this.#unlisten()
    else await this.listen()
  }

  /** Every request gets this outcome. */
  always(outcome: Outcome): Promise<void> {
    return this.script([], outcome)
  }

  /** Answers every request that is held by `slow`. */
  release(): void {
    for (const answer of this.#held) answer()
    this.#held.clear()
  }

  /** Resolves once `predicate` holds; asked again whenever something happens here. */
  until(predicate: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!predicate()) return false
        resolve()
        return true
      }
      if (!check()) this.#waiters.add(check)
    })
  }

  async listen(): Promise<this> {
    if (this.#server.listening) return this
    const port = this.#port === 0 ? (this.#options.port ?? 0) : this.#port
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject)
      this.#server.listen(port, "127.0.0.1", () => {
        this.#server.off("error", reject)
        resolve()
      })
    })
    this.#port = (this.#server.address() as AddressInfo).port
    return this
  }

  async close(): Promise<void> {
    await this.#unlisten()
    if (this.#log !== undefined) closeSync(this.#log)
  }

  async #unlisten(): Promise<void> {
    if (!this.#server.listening) return
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  #changed(): void {
    for (const check of this.#waiters) if (check()) this.#waiters.delete(check)
  }

  readonly #accept = (key: string, payload: unknown): string => {
    this.acceptedCount += 1
    const at = (this.#options.now ?? Date.now)()
    const id = `${key.slice(0, 8).replace(/[^\w-]/g, "_")}-${this.acceptedCount.toString().padStart(8, "0")}`
    const keep = this.#options.keep ?? "all"
    const entry: Acceptance = { id, key, at, payload: keep === "all" ? payload : undefined }
    if (keep !== "counts") this.accepted.push(entry)
    if (this.#log !== undefined) writeSync(this.#log, `${JSON.stringify(entry)}\n`)
    return id
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const method = request.method ?? "GET"
    const path = request.url ?? "/"
    if (path.startsWith("/__")) return this.#control(request, response, path)
    const scripted = this.#vendor.scripted({ method, path })
    const { fault, accepted } = scriptOf(scripted ? (this.#queue.shift() ?? this.#fallback) : "ok")
    if (scripted) this.received += 1
    if (fault === "reset-before") {
      request.socket.resetAndDestroy()
      return this.#changed()
    }
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("error", () => this.#changed())
    request.on("end", () => {
      const seen: Seen = {
        method,
        path,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        aborted: false
      }
      if ((this.#options.keep ?? "all") === "all") this.requests.push(seen)
      response.on("close", () => {
        seen.aborted = !response.writableFinished
        this.#changed()
      })
      if (fault === "slow") {
        const done = this.#vendor.begin?.(seen)
        this.#held.add(() => {
          done?.()
          this.#answer(fault, true, seen, response)
        })
      } else this.#answer(fault, accepted, seen, response)
      this.#changed()
    })
  }

  #answer(fault: Fault | "ok" | Reply, accepted: boolean, seen: Seen, response: ServerResponse): void {
    // What the vendor's rules refuse is refused however the script goes on.
    const right = accepted ? this.#vendor.handle(seen, this.#accept) : undefined
    const reply = (answer: Reply) => {
      const body = typeof answer.body === "object" ? JSON.stringify(answer.body) : (answer.body ?? "")
      const type = typeof answer.body === "object" ? "application/json" : "text/html"
      response.writeHead(answer.status, {
        "content-type": type,
        "content-length": Buffer.byteLength(body),
        ...answer.headers
      })
      response.end(body)
    }
    if (typeof fault === "object") return reply(fault)
    switch (fault) {
      case "ok":
      case "slow":
        return reply(right ?? { status: 404, body: { message: "no such path" } })
      case "reset":
      case "reset-before":
      case "refused":
        return void response.socket?.resetAndDestroy()
      case "hang":
        return
      case "401":
      case "403":
      case "422":
      case "429":
      case "500":
      case "503":
      case "504":
        return reply(this.#vendor.error(Number(fault)))
      case "502-html":
        return reply({ status: 502, body: HTML })
      case "503-html":
        return reply({ status: 503, body: HTML })
      case "empty-200":
        return reply({ status: 200, body: "" })
      case "html-200":
        return reply({ status: 200, body: HTML })
      case "no-id-200":
        return reply({ status: 200, body: {} })
      case "truncated-200":
      case "truncated-500":
        response.writeHead(Number(fault.slice(-3)), {
          "content-type": "application/json",
          "content-length": 100
        })
        response.write('{"id":"')
        return void response.socket?.end()
    }
  }

  /** For a test in another process: `POST /__script` `{"outcomes": [], "afterwards": "ok"}`, `POST /__release`, `GET /__accepted`. */
  #control(request: IncomingMessage, response: ServerResponse, path: string): void {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      if (path === "/__script") {
        const { outcomes = [], afterwards = "ok" } = JSON.parse(Buffer.concat(chunks).toString()) as {
          readonly outcomes?: ReadonlyArray<Outcome>
          readonly afterwards?: Outcome
        }
        void this.script(outcomes, afterwards)
      } else if (path === "/__release") this.release()
      response.writeHead(200, { "content-type": "application/json" })
      const accepted = path === "/__accepted" ? this.accepted : undefined
      response.end(JSON.stringify({ count: this.acceptedCount, accepted }))
    })
  }
}

/** Runs a fake as a process of its own: `--port N`, `--log FILE`, `--keep all|keys|counts`; prints `{"port": N}` when it listens. */
export const runAsProcess = async (
  make: (options: FakeOptions) => FakeHttp,
  args: ReadonlyArray<string>
): Promise<void> => {
  const option = (name: string): string | undefined => {
    const index = args.indexOf(`--${name}`)
    return index === -1 ? undefined : args[index + 1]
  }
  const log = option("log")
  const keep = option("keep")
  const peer = await make({
    port: Number(option("port") ?? 0),
    keep: keep === "all" || keep === "counts" ? keep : "keys",
    ...(log === undefined ? {} : { log })
  }).listen()
  process.stdout.write(`${JSON.stringify({ port: peer.port })}\n`)
}
