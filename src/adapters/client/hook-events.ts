import type { Operations } from "./generated/types.ts"

type Wanted = NonNullable<Operations["eventHooks.addEventHook"]["input"]["body"]["types"]>[number]
type Area<A extends string> = Extract<Exclude<Wanted, `${A}.*`>, `${A}.${string}`>

/** What an event says of a mail. */
export interface MailEventData {
  /** Null while a request waits in the send queue. */
  readonly sendId: string | null
  readonly queueId: string | null
  readonly idempotencyKey: string | null
  readonly category: string
  readonly source: string | null
  readonly to: ReadonlyArray<string>
  /** The log's, which never goes back. */
  readonly status: string
  readonly reason: string | null
  readonly provider: string | null
  readonly providerMessageId: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly occurredAt: string
}

/** What an event says of a suppression. */
export interface SuppressionEventData {
  readonly email: string
  readonly reason: string
  /** Where only this list was left. */
  readonly list?: string
  readonly occurredAt: string
}

/** What an event says of a conversion. */
export interface ConversionEventData {
  readonly fileId: string
  readonly jobId: string | null
  readonly status: string
  readonly pages: number | null
  readonly credits: number
  readonly error: string | null
}

type Event<T extends string, D> = T extends string
  ? {
      readonly type: T
      readonly data: D
      /** `webhook-id`: an event that comes again has the same. */
      readonly id: string
      readonly timestamp: string
    }
  : never

/** What an event hook receives. */
export type HookEvent =
  | Event<Exclude<Area<"email">, "email.bounced">, MailEventData>
  /** `permanent`: the mailbox is not there, and gets no more mail. */
  | Event<"email.bounced", MailEventData & { readonly permanent: boolean }>
  | Event<Area<"suppression">, SuppressionEventData>
  | Event<Area<"conversion">, ConversionEventData>
  | Event<"test", Readonly<Record<never, never>>>

/** Headers of a request: those of `fetch`, or of Node. */
export type RequestHeaders = Headers | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** How far the sender's clock may be off, and how old a request may be, seconds. */
const TOLERANCE_S = 300

/** Most signatures of a request that are looked at: one a secret is usual, two while a secret is replaced. */
const MAX_SIGNATURES = 8

const PREFIX = "whsec_"

const headerOf = (headers: RequestHeaders, name: string): string => {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return typeof value === "string" ? value : ""
}

/** The bytes of base64, undefined where it is none. */
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

const keyOf = (secret: string) => {
  const bytes = bytesOf(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  if (bytes === undefined || bytes.length === 0) throw new TypeError("the secret is not whsec_ and base64")
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
}

/** What is signed: id, time and the bytes of the body. */
const signedBytes = (id: string, at: string, body: Uint8Array): Uint8Array<ArrayBuffer> => {
  const head = new TextEncoder().encode(`${id}.${at}.`)
  const all = new Uint8Array(head.length + body.length)
  all.set(head)
  all.set(body, head.length)
  return all
}

/**
 * Reads what an event hook received, once its signature has been checked; `undefined`: nobody with the secret sent it in the last five
 * minutes, so answer 400. `body`: the bytes as they came (`express.raw`, `await request.bytes()`), since the signature is
 * theirs. `secret`: the hook's; two, separated by a space, while it is replaced.
 */
export const readEvent = async (
  body: Uint8Array | string | undefined,
  headers: RequestHeaders,
  secret: string
): Promise<HookEvent | undefined> => {
  if (body === undefined) return undefined
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("readEvent needs the bytes of the body: it has been parsed before")
  const [id, at, signatures] = ["id", "timestamp", "signature"].map((name) =>
    headerOf(headers, `webhook-${name}`)
  ) as [string, string, string]
  const age = /^\d{1,12}$/.test(at) ? Math.abs(Date.now() / 1000 - Number(at)) : Number.POSITIVE_INFINITY
  if (id === "" || age > TOLERANCE_S) return undefined
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
  const given = signatures
    .split(" ", MAX_SIGNATURES)
    .map((one) => (one.startsWith("v1,") ? bytesOf(one.slice(3)) : undefined))
    .filter((one) => one !== undefined)
  const signed = signedBytes(id, at, bytes)
  for (const key of await Promise.all(secret.split(" ").map(keyOf)))
    for (const signature of given)
      if (await crypto.subtle.verify("HMAC", key, signature, signed))
        return { ...(JSON.parse(new TextDecoder().decode(bytes)) as HookEvent), id }
  return undefined
}
