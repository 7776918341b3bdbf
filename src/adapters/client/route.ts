import type { Kind } from "./answer.ts"
import type { RawBody } from "./generated/types.ts"
import type { Problem } from "./problems.ts"

/** What a caller passes: parameters of path and query by name, and `body`. */
export type Input = Readonly<Record<string, unknown>>

/** A route of the generated table, taken apart. */
export interface Route {
  readonly method: string
  readonly path: string
  readonly kind: Kind
  /** Its body has an idempotency key. */
  readonly keyed: boolean
  /** Its caller proves itself by the shared secret. */
  readonly secret: boolean
}

const KINDS: ReadonlyArray<Kind> = ["text", "bytes", "events", "none"]

/** Reads an entry of the table. */
export const routeOf = (text: string): Route => {
  const [method = "GET", path = "/", ...flags] = text.split(" ")
  const kind = KINDS.find((one) => flags.includes(one)) ?? "json"
  return { method, path, kind, keyed: flags.includes("key"), secret: flags.includes("secret") }
}

/** Text that a URL would not keep as a segment: it is dropped, or leads elsewhere. */
const isNoSegment = (text: string) => text === "" || text === "." || text === ".."

const wrongParameter = (name: string): Problem<"INVALID_REQUEST"> => {
  const message = "cannot stand in a path"
  return {
    code: "INVALID_REQUEST",
    type: "urn:postlane:problem:invalid-request",
    title: "The request is not valid",
    status: 400,
    detail: `${name}: ${message}`,
    retryable: false,
    issues: [{ path: name, message }]
  }
}

/** The path with its parameters, and the query of the rest; a problem when a parameter is missing or a path cannot hold it. */
export const addressOf = (
  { path }: Route,
  input: Input
): { readonly url: string } | { readonly problem: Problem } => {
  const query = new URLSearchParams()
  let url = path
  for (const [name, value] of Object.entries(input)) {
    if (name === "body" || (typeof value !== "string" && typeof value !== "number")) continue
    const text = String(value)
    if (!path.includes(`{${name}}`)) query.append(name, text)
    else if (isNoSegment(text)) return { problem: wrongParameter(name) }
    else url = url.replace(`{${name}}`, () => encodeURIComponent(text))
  }
  const missing = /\{(\w+)\}/.exec(url)?.[1]
  if (missing !== undefined) return { problem: wrongParameter(missing) }
  return { url: query.size === 0 ? url : `${url}?${query.toString()}` }
}

/** An idempotency key of 128 random bits; `randomUUID` is missing on pages without https. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    ""
  )

/** A body as it goes out; `raw` is there where it is bytes. */
export interface Outgoing {
  readonly body: RawBody | undefined
  readonly type: string | undefined
  readonly raw: RawBody | undefined
}

/** A form brings its own type, with the boundary. */
const isForm = (body: unknown) => body instanceof FormData || body instanceof URLSearchParams

const isRaw = (body: unknown): body is RawBody =>
  typeof body === "string" ||
  body instanceof Blob ||
  body instanceof ArrayBuffer ||
  body instanceof ReadableStream ||
  ArrayBuffer.isView(body)

/** Bytes as they are, anything else as JSON, under an idempotency key that all attempts share. */
export const outgoingOf = ({ keyed }: Route, body: unknown): Outgoing => {
  if (body === undefined) return { body: undefined, type: undefined, raw: undefined }
  if (isForm(body)) return { body, type: undefined, raw: body }
  if (isRaw(body)) return { body, type: "application/octet-stream", raw: body }
  const given = body as Input
  const hasKey = (given["idempotencyKey"] ?? undefined) !== undefined
  const whole = keyed && !hasKey ? { ...given, idempotencyKey: newKey() } : given
  return { body: JSON.stringify(whole), type: "application/json", raw: undefined }
}
