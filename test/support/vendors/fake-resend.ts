import { FakeHttp, type FakeOptions, type Reply, runAsProcess, type Seen } from "./fake-http.ts"
import { makeVendorRate } from "./vendor-rate.ts"

const WINDOW_MS = 24 * 60 * 60 * 1000
const TAG = /^[A-Za-z0-9_-]{1,256}$/

interface Tag {
  readonly name: string
  readonly value: string
}

/** The wire's payload of `POST /emails`, as far as the fake looks at it. */
export interface ResendPayload {
  readonly from?: string
  readonly to?: string | ReadonlyArray<string>
  readonly cc?: ReadonlyArray<string>
  readonly bcc?: ReadonlyArray<string>
  readonly reply_to?: ReadonlyArray<string>
  readonly subject?: string
  readonly html?: string
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly tags?: ReadonlyArray<Tag>
  readonly attachments?: ReadonlyArray<{
    readonly content?: string
    readonly filename?: string
    readonly content_type?: string
    readonly content_id?: string
  }>
}

export interface FakeResendOptions extends FakeOptions {
  /** The only key that is let in; any, where absent. */
  readonly apiKey?: string
  /** Requests a second that the team is allowed, whichever key they come with; any number, where absent. */
  readonly perSecond?: number
  /** Sender domains that are verified; all, where absent. */
  readonly verifiedDomains?: ReadonlyArray<string>
  /** The account's domains, in the order of the list. */
  readonly domains?: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly records?: ReadonlyArray<object>
  }>
  /** The team's suppression list. */
  readonly suppressed?: ReadonlyArray<{ readonly email: string; readonly origin: string }>
  /** The key may only send. */
  readonly sendOnly?: boolean
  /** The mails of the account, newest first, as the list shows them; those that were sent, where absent. */
  readonly listed?: () => ReadonlyArray<ListedItem>
  /** Scripts apply to the list instead of to sends. */
  readonly scriptsList?: boolean
}

/** An item of the list. A test may put anything else there. */
export type ListedItem = { readonly id: string } & Readonly<Record<string, unknown>>

const error = (statusCode: number, name: string, message: string): Reply => ({
  status: statusCode,
  body: { statusCode, name, message }
})

const ERRORS: Readonly<Record<number, Reply>> = {
  401: error(401, "missing_api_key", "Missing API Key"),
  403: error(403, "validation_error", "API key is invalid"),
  422: error(422, "validation_error", "Invalid `to` field."),
  429: {
    ...error(429, "rate_limit_exceeded", "Too many requests. You can only make 2 requests per second."),
    headers: { "retry-after": "1" }
  },
  500: error(500, "application_error", "An unexpected error occurred."),
  503: error(503, "service_unavailable", "API is temporarily unavailable"),
  504: { status: 504, body: "<html><body>Gateway Timeout</body></html>" }
}

const list = (value: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  value === undefined ? [] : typeof value === "string" ? [value] : value

const invalid = (payload: ResendPayload): Reply | undefined => {
  for (const field of ["from", "subject"] as const) {
    if (typeof payload[field] !== "string") {
      return error(422, "missing_required_field", `Missing \`${field}\` field.`)
    }
  }
  if (list(payload.to).length === 0) return error(422, "missing_required_field", "Missing `to` field.")
  if (payload.html === undefined && payload.text === undefined) {
    return error(422, "missing_required_field", "Missing `html` or `text` field.")
  }
  if ([...list(payload.to), ...list(payload.cc), ...list(payload.bcc)].length > 50) {
    return error(422, "validation_error", "Too many recipients.")
  }
  if (!(payload.tags ?? []).every(({ name, value }) => TAG.test(name) && TAG.test(value))) {
    return error(
      422,
      "validation_error",
      "Tags should only contain ASCII letters, numbers, underscores, or dashes."
    )
  }
  return undefined
}

/** Resend's API as far as sending and its poll need it, with its idempotency rules. */
export const fakeResend = (options: FakeResendOptions = {}): FakeHttp => {
  const now = options.now ?? Date.now
  const keys = new Map<string, { readonly body: string; readonly id: string; readonly at: number }>()
  const sent = new Map<string, { readonly payload: ResendPayload; readonly at: number }>()
  const inFlight = new Set<string>()
  const isTooFast = makeVendorRate(options.perSecond, now)
  const keep = options.keep ?? "all"

  const send = (request: Seen, accept: (key: string, payload: unknown) => string): Reply => {
    const key = request.headers["idempotency-key"]
    if (Array.isArray(key) || (key !== undefined && key.length > 256)) {
      return error(400, "invalid_idempotency_key", "The key must be between 1-256 chars.")
    }
    const payload = JSON.parse(request.body) as ResendPayload
    const wrong = invalid(payload)
    if (wrong !== undefined) return wrong
    const domain = /@([^>]+)>?$/.exec(payload.from ?? "")?.[1] ?? ""
    if (options.verifiedDomains?.includes(domain) === false) {
      return error(
        403,
        "validation_error",
        `The ${domain} domain is not verified. Please, add and verify your domain.`
      )
    }
    if (key !== undefined && inFlight.has(key)) {
      return error(
        409,
        "concurrent_idempotent_requests",
        "Same idempotency key used while original request is still in progress."
      )
    }
    const known = key === undefined ? undefined : keys.get(key)
    if (known !== undefined && now() - known.at < WINDOW_MS) {
      return keep === "counts" || known.body === request.body
        ? { status: 200, body: { id: known.id } }
        : error(
            409,
            "invalid_idempotent_request",
            "Same idempotency key used with a different request payload."
          )
    }
    const id = accept(key ?? "", payload)
    if (key !== undefined) keys.set(key, { body: keep === "counts" ? "" : request.body, id, at: now() })
    if (keep === "all") sent.set(id, { payload, at: now() })
    return { status: 200, body: { id } }
  }

  const view = (id: string, { payload, at }: { readonly payload: ResendPayload; readonly at: number }) => ({
    id,
    message_id: `<${id}@email.example.com>`,
    from: payload.from,
    to: list(payload.to),
    cc: payload.cc ?? null,
    bcc: payload.bcc ?? null,
    reply_to: payload.reply_to ?? null,
    subject: payload.subject,
    created_at: new Date(at).toISOString().replace("T", " ").replace("Z", "+00"),
    last_event: "sent",
    scheduled_at: null
  })

  const pageOf = (url: URL, all: ReadonlyArray<{ readonly id: string }>): Reply => {
    if (options.sendOnly === true) {
      return error(401, "restricted_api_key", "This API key is restricted to only send emails")
    }
    const from = all.findIndex(({ id }) => id === url.searchParams.get("after")) + 1
    const limit = Number(url.searchParams.get("limit") ?? 20)
    const data = all.slice(from, from + limit)
    return { status: 200, body: { object: "list", has_more: from + limit < all.length, data } }
  }

  const domainsPage = (url: URL): Reply =>
    pageOf(
      url,
      (options.domains ?? []).map((domain, index) => ({ id: `domain-${index}`, ...domain }))
    )

  const suppressionsPage = (url: URL): Reply =>
    pageOf(
      url,
      (options.suppressed ?? []).map((one, index) => ({ object: "suppression", id: `s-${index}`, ...one }))
    )

  const get = (path: string): Reply | undefined => {
    const url = new URL(path, "http://fake")
    const id = /^\/emails\/([^/]+)$/.exec(url.pathname)?.[1]
    if (id !== undefined) {
      const found = sent.get(id)
      if (found === undefined) return error(404, "not_found", "Email not found")
      const { html = null, text = null, tags = [] } = found.payload
      return { status: 200, body: { object: "email", ...view(id, found), html, text, tags } }
    }
    const domain = /^\/domains\/domain-(\d+)$/.exec(url.pathname)?.[1]
    if (domain !== undefined) {
      return {
        status: 200,
        body: { object: "domain", id: `domain-${domain}`, records: [], ...options.domains?.[Number(domain)] }
      }
    }
    if (url.pathname === "/domains") return domainsPage(url)
    if (url.pathname === "/suppressions") return suppressionsPage(url)
    if (url.pathname !== "/emails") return undefined
    const limit = Number(url.searchParams.get("limit") ?? 20)
    if (!(limit >= 1 && limit <= 100))
      return error(422, "validation_error", "The `limit` must be between 1 and 100.")
    const newest: ReadonlyArray<ListedItem> =
      options.listed?.() ?? [...sent].reverse().map(([each, mail]) => view(each, mail))
    const after = url.searchParams.get("after")
    const at = newest.findIndex((each) => each.id === after)
    if (after !== null && at === -1) return error(422, "validation_error", "The `after` is not an email.")
    const from = at + 1
    const page = newest.slice(from, from + limit)
    return {
      status: 200,
      body: {
        object: "list",
        has_more: from + limit < newest.length,
        data: page
      }
    }
  }

  return new FakeHttp(
    {
      scripted: ({ method, path }) =>
        options.scriptsList === true
          ? method === "GET" && /^\/emails(?:\?|$)/.test(path)
          : method === "POST" && path === "/emails",
      begin: ({ headers }) => {
        const key = headers["idempotency-key"]
        if (typeof key !== "string") return () => {}
        inFlight.add(key)
        return () => inFlight.delete(key)
      },
      error: (status) =>
        ERRORS[status] ?? error(status, "application_error", "An unexpected error occurred."),
      handle: (request, accept) => {
        const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1]
        if (bearer === undefined) return ERRORS[401]
        if (options.apiKey !== undefined && bearer !== options.apiKey) return ERRORS[403]
        if (isTooFast()) return ERRORS[429]
        if (request.method === "GET") return get(request.path)
        return request.method === "POST" && request.path === "/emails" ? send(request, accept) : undefined
      }
    },
    options
  )
}

if (import.meta.main) await runAsProcess(fakeResend, process.argv)
