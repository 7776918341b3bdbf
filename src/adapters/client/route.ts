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
  /** Its body has an idempotency key, or each entry of its list has one. */
  readonly keyed: boolean
  /** The member of the body whose entries have the keys. */
  readonly keyedList: string | undefined
  /** Its idempotency key is a header. */
  readonly keyHeader: boolean
  /** Its caller proves itself by the shared secret. */
  readonly secret: boolean
}

const KINDS: ReadonlyArray<Kind> = ["text", "formats", "bytes", "events", "none"]

/** Reads an entry of the table. */
export const routeOf = (text: string): Route => {
  const [method = "GET", path = "/", ...flags] = text.split(" ")
  const kind = KINDS.find((one) => flags.includes(one)) ?? "json"
  const keyedList = flags.find((flag) => flag.startsWith("key:"))?.slice("key:".length)
  const keyed = flags.includes("key") || keyedList !== undefined
  return {
    method,
    path,
    kind,
    keyed,
    keyedList,
    keyHeader: flags.includes("key-header"),
    secret: flags.includes("secret")
  }
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
export const newKey = (): string =>
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

const withKey = (given: Input): Input =>
  (given["idempotencyKey"] ?? undefined) === undefined ? { ...given, idempotencyKey: newKey() } : given

/** The body with the keys that its caller left out. */
const withKeys = ({ keyed, keyedList }: Route, given: Input): Input => {
  if (!keyed) return given
  if (keyedList === undefined) return withKey(given)
  const entries = given[keyedList]
  return Array.isArray(entries)
    ? { ...given, [keyedList]: (entries as ReadonlyArray<Input>).map(withKey) }
    : given
}

/** Bytes as they are, anything else as JSON, under idempotency keys that all attempts share. */
export const outgoingOf = (route: Route, body: unknown): Outgoing => {
  if (body === undefined) return { body: undefined, type: undefined, raw: undefined }
  if (isForm(body)) return { body, type: undefined, raw: body }
  if (isRaw(body)) return { body, type: "application/octet-stream", raw: body }
  return { body: JSON.stringify(withKeys(route, body as Input)), type: "application/json", raw: undefined }
}
