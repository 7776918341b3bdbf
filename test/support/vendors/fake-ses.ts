import { FakeHttp, type FakeOptions, type Reply, runAsProcess, type Seen } from "./fake-http.ts"
import { makeVendorRate } from "./vendor-rate.ts"

const TAG = /^[A-Za-z0-9_-]{1,256}$/
const PATH = "/v2/email/outbound-emails"

interface Text {
  readonly Data: string
  readonly Charset?: string
}

/** The wire's payload of `SendEmail`, as far as the fake looks at it. */
export interface SesPayload {
  readonly FromEmailAddress?: string
  readonly Destination?: {
    readonly ToAddresses?: ReadonlyArray<string>
    readonly CcAddresses?: ReadonlyArray<string>
    readonly BccAddresses?: ReadonlyArray<string>
  }
  readonly ReplyToAddresses?: ReadonlyArray<string>
  readonly Content?: {
    readonly Raw?: { readonly Data: string }
    readonly Simple?: {
      readonly Subject: Text
      readonly Body: { readonly Text?: Text; readonly Html?: Text }
      readonly Headers?: ReadonlyArray<{ readonly Name: string; readonly Value: string }>
      readonly Attachments?: ReadonlyArray<{
        readonly FileName: string
        readonly RawContent: string
        readonly ContentType?: string
        readonly ContentDisposition?: string
        readonly ContentId?: string
        readonly ContentTransferEncoding?: string
      }>
    }
  }
  readonly EmailTags?: ReadonlyArray<{ readonly Name: string; readonly Value: string }>
  readonly ConfigurationSetName?: string
}

/** What the account's read-only calls answer, in the service's own words. */
export interface SesAccount {
  /** Every one of these calls is answered so. */
  readonly refused?: Reply
  readonly account?: object
  /** By domain; one that is not there is a 404. */
  readonly identities?: Readonly<Record<string, object>>
  /** By name: the set's options and its event destinations. */
  readonly sets?: Readonly<
    Record<string, { readonly options: object; readonly destinations: ReadonlyArray<object> }>
  >
  /** The account's suppression list. */
  readonly suppressed?: ReadonlyArray<{ readonly EmailAddress: string; readonly Reason: string }>
  /** That many reads are refused as too fast, first. */
  throttled?: number
}

export interface FakeSesOptions extends FakeOptions {
  /** Asked at each request, so that a test can change it; without it these calls are unknown paths. */
  readonly account?: () => SesAccount
  /** Mails a second that the account is allowed; any number, where absent. */
  readonly perSecond?: number
  /** Sender domains that are verified; all, where absent. */
  readonly verifiedDomains?: ReadonlyArray<string>
  /** Configuration sets that exist; all, where absent. */
  readonly configurationSets?: ReadonlyArray<string>
}

/** An error as the service words it: the name in a header, the text in the body. */
export const sesError = (status: number, name: string, message: string): Reply => ({
  status,
  headers: { "x-amzn-errortype": name },
  body: { message }
})

const ERRORS: Readonly<Record<number, Reply>> = {
  401: sesError(401, "MissingAuthenticationTokenException", "Missing Authentication Token"),
  403: sesError(403, "ExpiredTokenException", "The security token included in the request is expired"),
  422: sesError(400, "MessageRejected", "Email is invalid."),
  429: sesError(429, "TooManyRequestsException", "Maximum sending rate exceeded."),
  500: sesError(500, "InternalServiceErrorException", "Internal failure"),
  503: sesError(503, "ServiceUnavailableException", "Service is unavailable"),
  504: { status: 504, body: "<html><body>Gateway Timeout</body></html>" }
}

const bad = (message: string): Reply => sesError(400, "BadRequestException", message)
const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

const refusal = (payload: SesPayload, options: FakeSesOptions): Reply | undefined => {
  const { Destination = {}, FromEmailAddress: from = "", Content = {} } = payload
  const { ToAddresses = [], CcAddresses = [], BccAddresses = [] } = Destination
  const recipients = [...ToAddresses, ...CcAddresses, ...BccAddresses]
  if (recipients.length === 0) return bad("Must have at least one recipient")
  if (recipients.length > 50) return bad("Recipient count exceeds 50.")
  for (const address of [from, ...recipients, ...(payload.ReplyToAddresses ?? [])]) {
    if (!isAscii(address)) return bad("Local address contains control or whitespace")
    if (!/@[^@\s>]+>?$/.test(address)) return bad("Missing final '@domain'")
  }
  if ((Content.Simple === undefined) === (Content.Raw === undefined))
    return bad("Content must hold exactly one member")
  if ((Content.Simple?.Headers?.length ?? 0) > 15) return bad("Too many headers")
  for (const { Name, Value } of Content.Simple?.Headers ?? []) {
    if (!isAscii(Value) || Name.length + Value.length > 996) return bad(`Invalid header ${Name}`)
  }
  for (const { FileName } of Content.Simple?.Attachments ?? []) {
    if (FileName.length > 255) return bad("FileName is too long")
  }
  for (const { Name, Value } of payload.EmailTags ?? []) {
    if (!TAG.test(Name) || !TAG.test(Value)) return bad(`Invalid tag ${Name}`)
  }
  const set = payload.ConfigurationSetName
  if (set !== undefined && options.configurationSets?.includes(set) === false) {
    return sesError(404, "NotFoundException", `Configuration set <${set}> does not exist.`)
  }
  const domain = /@([^>]+)>?$/.exec(from)?.[1] ?? ""
  if (options.verifiedDomains?.includes(domain) === false) {
    return sesError(
      400,
      "MessageRejected",
      `Email address is not verified. The following identities failed the check in region US-EAST-1: ${from}`
    )
  }
  return undefined
}

const ok = (body: object): Reply => ({ status: 200, body })

/** `GetAccount`, `GetEmailIdentity`, `GetConfigurationSet`, `GetConfigurationSetEventDestinations`. */
const read = (path: string, state: SesAccount): Reply | undefined => {
  const { account = {}, identities = {}, refused, sets = {}, suppressed = [] } = state
  if (refused !== undefined) return refused
  if ((state.throttled ?? 0) > 0) {
    state.throttled = (state.throttled ?? 0) - 1
    return sesError(429, "TooManyRequestsException", "Rate exceeded")
  }
  if (path === "/v2/email/account") return ok(account)
  const list = /^\/v2\/email\/suppression\/addresses(?:\?(.*))?$/.exec(path)
  if (list !== null) {
    const query = new URLSearchParams(list[1])
    const from = Number(query.get("NextToken") ?? 0)
    const end = from + Number(query.get("PageSize"))
    return ok({
      SuppressedDestinationSummaries: suppressed.slice(from, end),
      ...(end < suppressed.length ? { NextToken: String(end) } : {})
    })
  }
  const identity = /^\/v2\/email\/identities\/([^/]+)$/.exec(path)?.[1]
  if (identity !== undefined) {
    const found = identities[decodeURIComponent(identity)]
    return found === undefined
      ? sesError(404, "NotFoundException", `Email identity ${identity} does not exist.`)
      : ok(found)
  }
  const [, name, part] = /^\/v2\/email\/configuration-sets\/([^/]+)(\/event-destinations)?$/.exec(path) ?? []
  if (name === undefined) return undefined
  const set = sets[name]
  if (set === undefined)
    return sesError(404, "NotFoundException", `Configuration set <${name}> does not exist.`)
  return ok(part === undefined ? set.options : { EventDestinations: set.destinations })
}

/** Amazon SES v2 `SendEmail`. It knows no idempotency key: every accepted request is a copy that leaves. */
export const fakeSes = (options: FakeSesOptions = {}): FakeHttp => {
  const isTooFast = makeVendorRate(options.perSecond, options.now ?? Date.now)
  const send = (request: Seen, accept: (key: string, payload: unknown) => string): Reply => {
    const payload = JSON.parse(request.body) as SesPayload
    const refused = refusal(payload, options)
    if (refused !== undefined) return refused
    const key = payload.EmailTags?.find(({ Name }) => Name === "postlane_key")?.Value ?? ""
    return { status: 200, body: { MessageId: `0100${accept(key, payload)}-000000` } }
  }
  return new FakeHttp(
    {
      scripted: ({ method, path }) => method === "POST" && path === PATH,
      error: (status) =>
        ERRORS[status] ?? sesError(status, "InternalServiceErrorException", "Internal failure"),
      handle: (request, accept) => {
        const signed =
          /^AWS4-HMAC-SHA256 Credential=[^,]+\/ses\/aws4_request, SignedHeaders=[^,]+, Signature=[0-9a-f]{64}$/
        if (
          !signed.test(request.headers.authorization ?? "") ||
          request.headers["x-amz-date"] === undefined
        ) {
          return ERRORS[401]
        }
        if (request.method === "GET" && options.account !== undefined)
          return read(request.path, options.account())
        if (request.method !== "POST" || request.path !== PATH) return undefined
        return isTooFast() ? ERRORS[429] : send(request, accept)
      }
    },
    options
  )
}

if (import.meta.main) await runAsProcess(fakeSes, process.argv)
