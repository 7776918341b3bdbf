import { readAnswer } from "./answer.ts"
import { type ServerEvent, watch } from "./events.ts"
import type { RawBody } from "./generated/types.ts"
import type { CallProblem, Problem, Result } from "./problems.ts"
import { counted, sendByXhr, type UploadProgress } from "./progress.ts"
import { type Sleep, sleep, waitBefore } from "./retry.ts"
import { addressOf, type Input, newKey, type Outgoing, outgoingOf, type Route } from "./route.ts"

/** Retries of one call, after its first attempt; of a send fewer: each that reaches a provider and fails leaves a row in the log. */
const RETRIES = 4
const SEND_RETRIES = 2

/** How long one attempt may take, milliseconds; a body of bytes gets longer, an event stream has no end. */
const TIMEOUT_MS = 60_000
const UPLOAD_TIMEOUT_MS = 600_000

/** Of calls that make or cost something: a caller may name a key of their own among the headers. */
const KEY_HEADER = "idempotency-key"

/** Longest answer that is taken, bytes. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export interface ClientOptions {
  /** Where Postlane listens; `""` in a page that it serves itself. */
  readonly baseUrl: string
  /** Bearer token of an owner or an admin; a function is asked before each attempt. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** The relay's shared secret (`x-proxy-secret`): sent to the routes that need it, and to no other. Never in a browser. */
  readonly secret?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** `include` lets a page of another origin use its session cookie. */
  readonly credentials?: "include" | "omit" | "same-origin" | undefined
  readonly fetch?: typeof fetch | undefined
  /** Retries of one call after its first attempt, 4 unless it says otherwise; 2 of a send. A result says how many attempts there were. */
  readonly retries?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly maxAnswerBytes?: number | undefined
  /** How it waits between attempts, for tests; by default with a timer, until the signal is aborted. */
  readonly sleep?: Sleep | undefined
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly retries?: number | undefined
  readonly timeoutMs?: number | undefined
  /** Of a body that is bytes. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
}

/** What the calls of one client share. */
export interface Session {
  readonly base: string
  readonly send: typeof fetch
  readonly options: ClientOptions
}

const headersOf = async (
  { options }: Session,
  { secret }: Route,
  given: CallOptions,
  { key, type }: { readonly key?: string | undefined; readonly type?: string | undefined } = {}
): Promise<Headers> => {
  const headers = new Headers({ ...options.headers, ...given.headers })
  if (type !== undefined) headers.set("content-type", type)
  if (key !== undefined && !headers.has(KEY_HEADER)) headers.set(KEY_HEADER, key)
  if (secret) {
    if (options.secret !== undefined) headers.set("x-proxy-secret", options.secret)
  } else if (options.token !== undefined) {
    const token = typeof options.token === "string" ? options.token : await options.token()
    headers.set("authorization", `Bearer ${token}`)
  }
  return headers
}

const initOf = (
  { options }: Session,
  { method }: Route,
  headers: Headers,
  signal: AbortSignal,
  body?: RawBody
): RequestInit => ({
  method,
  headers,
  signal,
  // A redirect would take the credentials along.
  redirect: "manual",
  ...(body === undefined ? {} : { body }),
  ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  ...(options.credentials === undefined ? {} : { credentials: options.credentials })
})

const maxBytesOf = ({ options }: Session) => options.maxAnswerBytes ?? MAX_ANSWER_BYTES
const retriesOf = ({ options }: Session, { keyed }: Route, given: CallOptions) =>
  given.retries ?? options.retries ?? (keyed ? SEND_RETRIES : RETRIES)

/** Sends a request. An upload with a progress listener uses the one interface of its runtime that reports progress. */
const transmit = (
  session: Session,
  url: string,
  init: RequestInit,
  { raw }: Outgoing,
  { onProgress }: CallOptions
): Promise<Response> => {
  if (raw === undefined || onProgress === undefined) return session.send(url, init)
  if (typeof XMLHttpRequest === "undefined") return session.send(url, counted(init, raw, onProgress))
  return sendByXhr(url, init, onProgress, maxBytesOf(session))
}

/** Whether the request may go out again without knowing what became of the one before. */
const isSafe = ({ keyHeader, keyed, method }: Route) => keyed || keyHeader || method !== "POST"

const noAnswer = (cause: unknown, given: CallOptions, limit: AbortSignal, safe: boolean): CallProblem =>
  given.signal?.aborted === true
    ? { code: "ABORTED", status: 0, detail: "the caller ended it", retryable: false }
    : {
        code: "NO_ANSWER",
        status: 0,
        detail: limit.aborted ? "no answer in time" : String(cause),
        retryable: safe
      }

const attempt = async (
  session: Session,
  route: Route,
  url: string,
  outgoing: Outgoing & { readonly key: string | undefined },
  given: CallOptions
) => {
  const usual = (outgoing.raw === undefined ? TIMEOUT_MS : UPLOAD_TIMEOUT_MS) + waitOf(url)
  const headers = await headersOf(session, route, given, outgoing)
  const limit = AbortSignal.timeout(given.timeoutMs ?? session.options.timeoutMs ?? usual)
  const signal = given.signal === undefined ? limit : AbortSignal.any([given.signal, limit])
  const init = initOf(session, route, headers, signal, outgoing.body)
  const safe = isSafe(route)
  try {
    const response = await transmit(session, url, init, outgoing, given)
    const read = await readAnswer(response, { kind: route.kind, maxBytes: maxBytesOf(session), safe })
    return { status: response.status, ...read }
  } catch (cause) {
    return { error: noAnswer(cause, given, limit, safe) }
  }
}

/** How long the server was asked to wait before it answers, milliseconds. */
const waitOf = (url: string): number => Number(/[?&]wait=(\d{1,3})(?:&|$)/.exec(url)?.[1] ?? 0) * 1000

/** Calls a route, and again while its problem is retryable and retries are left. */
export const call = async (
  session: Session,
  route: Route,
  input: Input,
  given: CallOptions
): Promise<Result<unknown, Problem | CallProblem>> => {
  const address = addressOf(route, input)
  if ("problem" in address) return { ok: false, error: address.problem, attempts: 0 }
  // All attempts share the key.
  const outgoing = { ...outgoingOf(route, input["body"]), key: route.keyHeader ? newKey() : undefined }
  // A stream is gone once it was read.
  const retries = outgoing.body instanceof ReadableStream ? 0 : retriesOf(session, route, given)
  for (let attempts = 1; ; attempts += 1) {
    const answer = await attempt(session, route, session.base + address.url, outgoing, given)
    if ("data" in answer) return { ok: true, status: answer.status, data: answer.data, attempts }
    const { error } = answer
    const again = error.retryable && attempts <= retries
    const wait = again ? waitBefore(attempts, error.retryAfterMs, Math.random) : undefined
    if (wait === undefined) return { ok: false, error, attempts }
    await (session.options.sleep ?? sleep)(wait, given.signal)
  }
}

/** Watches a route's event stream. */
export const events = (
  session: Session,
  route: Route,
  input: Input,
  given: CallOptions
): AsyncGenerator<ServerEvent, void> => {
  const address = addressOf(route, input)
  const connect = async (lastId: string, signal: AbortSignal) => {
    if ("problem" in address) return Response.json(address.problem, { status: address.problem.status })
    const headers = await headersOf(session, route, given)
    headers.set("accept", "text/event-stream")
    if (lastId !== "") headers.set("last-event-id", lastId)
    return session.send(session.base + address.url, initOf(session, route, headers, signal))
  }
  return watch(connect, {
    retries: retriesOf(session, route, given),
    maxBytes: maxBytesOf(session),
    random: Math.random,
    sleep: session.options.sleep ?? sleep,
    signal: given.signal
  })
}
