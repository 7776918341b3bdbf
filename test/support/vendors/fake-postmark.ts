import { FakeHttp, type FakeOptions, type Reply, type Seen } from "./fake-http.ts"

/** The wire's payload of `POST /email`, as far as the fake looks at it. */
export interface PostmarkPayload {
  readonly From?: string
  readonly To?: string
  readonly Cc?: string
  readonly Bcc?: string
  readonly ReplyTo?: string
  readonly Subject?: string
  readonly HtmlBody?: string
  readonly TextBody?: string
  readonly Headers?: ReadonlyArray<{ readonly Name: string; readonly Value: string }>
  readonly Metadata?: Readonly<Record<string, string>>
  readonly Attachments?: ReadonlyArray<Readonly<Record<string, string>>>
  readonly MessageStream?: string
}

export interface FakePostmarkOptions extends FakeOptions {
  /** The only token that is let in; any, where absent. */
  readonly serverToken?: string
  /** Addresses to which no mail goes. */
  readonly inactive?: ReadonlyArray<string>
  readonly sandbox?: boolean
  /** The server's message streams by ID. */
  readonly streams?: Readonly<Record<string, object>>
  readonly webhooks?: ReadonlyArray<object>
  /** What `GET` of a path, its query included, answers. */
  readonly pages?: Readonly<Record<string, Reply>>
}

const STREAMS = {
  outbound: { ID: "outbound", MessageStreamType: "Transactional", ArchivedAt: null },
  broadcast: { ID: "broadcast", MessageStreamType: "Broadcasts", ArchivedAt: null }
}

const error = (status: number, ErrorCode: number, Message: string): Reply => ({
  status,
  body: { ErrorCode, Message }
})

const ERRORS: Readonly<Record<number, Reply>> = {
  401: error(401, 10, "No Account or Server API tokens were supplied in the HTTP headers."),
  403: error(403, 10, "Forbidden."),
  422: error(422, 300, "Invalid 'To' address: 'x'."),
  429: error(429, 429, "Rate limit exceeded."),
  500: error(500, 500, "Internal Server Error."),
  503: error(503, 100, "The Postmark API is offline for maintenance."),
  504: { status: 504, body: "<html><body>Gateway Timeout</body></html>" }
}

/** The addresses of a list: none of the tests' has a comma in its address. */
export const addressesOf = (list: string | undefined): ReadonlyArray<string> =>
  (list ?? "").match(/[^\s<>,]+@[^\s<>,]+/g) ?? []

const LIMIT_BYTES = 10 * 1024 * 1024

const invalid = ({ body }: Seen, payload: PostmarkPayload): Reply | undefined => {
  if (body.length > LIMIT_BYTES) return error(413, 0, "The request is too large.")
  if (addressesOf(payload.From).length !== 1) return error(422, 300, "Invalid 'From' address.")
  if (addressesOf(payload.To).length === 0) return error(422, 300, "Zero recipients specified")
  if (payload.HtmlBody === undefined && payload.TextBody === undefined) {
    return error(422, 300, "Provide either email TextBody or HtmlBody or both.")
  }
  const metadata = Object.entries(payload.Metadata ?? {})
  const fits = metadata.every(([name, value]) => name.length <= 20 && value.length <= 80)
  return metadata.length > 10 || !fits ? error(422, 300, "Metadata is too long.") : undefined
}

/** Postmark's API as far as sending, its examination, its lists and its suppressions need it. */
export const fakePostmark = (options: FakePostmarkOptions = {}): FakeHttp => {
  const streams: Readonly<Record<string, object>> = options.streams ?? STREAMS

  const send = (request: Seen, accept: (key: string, payload: unknown) => string): Reply => {
    const payload = JSON.parse(request.body) as PostmarkPayload
    const wrong = invalid(request, payload)
    if (wrong !== undefined) return wrong
    if (streams[payload.MessageStream ?? "outbound"] === undefined) {
      return error(422, 1235, "The 'MessageStream' provided does not exist on this server.")
    }
    const all = [payload.To, payload.Cc, payload.Bcc].flatMap(addressesOf)
    const held = all.filter((address) => options.inactive?.includes(address) === true)
    if (held.length === all.length && held.length > 0) {
      return error(
        422,
        406,
        `You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: ${held.join(", ")}.`
      )
    }
    const MessageID = accept("", payload)
    const Message =
      held.length === 0
        ? "OK"
        : `Message OK, but will not deliver to these inactive addresses: ${held.join(", ")}.`
    return {
      status: 200,
      body: { To: payload.To, SubmittedAt: new Date().toISOString(), MessageID, ErrorCode: 0, Message }
    }
  }

  const get = (path: string): Reply | undefined => {
    const page = options.pages?.[path]
    if (page !== undefined) return page
    const { pathname } = new URL(path, "http://fake")
    const stream = /^\/message-streams\/([^/]+)$/.exec(pathname)?.[1]
    if (stream !== undefined) {
      const found = streams[decodeURIComponent(stream)]
      return found === undefined
        ? error(404, 1226, "The stream was not found.")
        : { status: 200, body: found }
    }
    if (pathname === "/server") {
      const DeliveryType = options.sandbox === true ? "Sandbox" : "Live"
      return { status: 200, body: { ID: 1, Name: "Production", DeliveryType } }
    }
    return pathname === "/webhooks" ? { status: 200, body: { Webhooks: options.webhooks ?? [] } } : undefined
  }

  return new FakeHttp(
    {
      scripted: ({ method, path }) => method === "POST" && path === "/email",
      error: (status) => ERRORS[status] ?? error(status, 0, "An unexpected error occurred."),
      handle: (request, accept) => {
        const token = request.headers["x-postmark-server-token"]
        if (token === undefined || (options.serverToken !== undefined && token !== options.serverToken)) {
          return ERRORS[401]
        }
        if (request.method === "GET") return get(request.path)
        return request.method === "POST" && request.path === "/email" ? send(request, accept) : undefined
      }
    },
    options
  )
}
