/** An object of nodemailer's that names parts: a message, an attachment, a text with its source. */
type Parts = object

/** Why a message is not sent as it was given. */
type Refusal = string

const ENCODES = "the provider encodes the mail"
const OWN_PARTS = "providers take text, html and attachments: attach it"

/**
 * Options of a message that no provider takes, and what to do instead. Refused, since leaving one out would send another mail than was
 * meant. Every other option of nodemailer's is carried, by nodemailer before a transport sees the message, or here.
 */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["raw", "pass the parts of the message"],
  ["alternatives", OWN_PARTS],
  ["icalEvent", OWN_PARTS],
  ["amp", OWN_PARTS],
  ["watchHtml", OWN_PARTS],
  ["sender", "use from and replyTo"],
  ["envelope", "the provider writes it"],
  ["messageId", "the provider writes it"],
  ["date", "the provider writes it"],
  ["dkim", "the provider signs"],
  ["_dkim", "the provider signs"],
  ["dsn", "deliveries and bounces are in the send log"],
  ["encoding", ENCODES],
  ["textEncoding", ENCODES],
  ["newline", ENCODES],
  ["boundaryPrefix", ENCODES],
  ["baseBoundary", ENCODES],
  ["normalizeHeaderKey", "headers are sent under the names that they have"],
  ["requireTLSExtensionEnabled", "the provider delivers"],
  ["auth", "the provider's key is a setting"],
  ["ses", "pass Postlane's own options"]
])

/** The same of an attachment. */
const REFUSED_OF_ATTACHMENT: ReadonlyMap<string, string> = new Map([
  ["raw", "pass its content"],
  ["headers", "providers take no headers of a part"],
  ["contentTransferEncoding", ENCODES]
])

/** The same of a text that is given as an object; its type is set by nodemailer. */
const REFUSED_OF_TEXT: ReadonlyMap<string, string> = new Map([
  ...REFUSED_OF_ATTACHMENT,
  ["filename", "a text has none"]
])

/** Where a part can come from. */
const SOURCES = ["content", "path", "href"]

/** True when nodemailer counts the option as given: not when it is empty or false. */
const isGiven = (parts: Parts, name: string): boolean => {
  const value: unknown = Reflect.get(parts, name)
  if (typeof value === "object" && value !== null && !(value instanceof Date))
    return Object.keys(value).length > 0
  return Boolean(value)
}

const refusedOf = (parts: Parts, refused: ReadonlyMap<string, string>, where = ""): ReadonlyArray<Refusal> =>
  [...refused].flatMap(([name, instead]) =>
    isGiven(parts, name) ? [`${name}${where} is not taken here: ${instead}`] : []
  )

/** nodemailer itself would read the one and leave the other out. */
const twoSources = (parts: Parts, where: string): ReadonlyArray<Refusal> => {
  const given = SOURCES.filter((name) => isGiven(parts, name))
  return given.length > 1 ? [`${given.join(" and ")}${where} are not taken together: name one`] : []
}

/** A part with a `cid` is shown inline, one without is not: providers know no other way. */
const dispositionOf = (attachment: Parts): ReadonlyArray<Refusal> => {
  const { cid, contentDisposition } = attachment as {
    readonly cid?: string
    readonly contentDisposition?: string
  }
  const known = (cid ?? "") === "" ? "attachment" : "inline"
  if ((contentDisposition ?? "") === "" || contentDisposition?.toLowerCase() === known) return []
  return [
    `contentDisposition of attachments is not taken here as ${contentDisposition}: a part is shown inline where it has a cid`
  ]
}

const ofAttachment = (attachment: Parts): ReadonlyArray<Refusal> => [
  ...refusedOf(attachment, REFUSED_OF_ATTACHMENT, " of attachments"),
  ...twoSources(attachment, " of attachments"),
  ...dispositionOf(attachment),
  ...(Reflect.get(attachment, "filename") === false
    ? ["filename of attachments is not taken here as false: each has a name"]
    : [])
]

const ofText = (text: unknown, name: string): ReadonlyArray<Refusal> =>
  typeof text !== "object" || text === null || text instanceof Uint8Array || "pipe" in text
    ? []
    : [...refusedOf(text, REFUSED_OF_TEXT, ` of ${name}`), ...twoSources(text, ` of ${name}`)]

/** A message as nodemailer hands it to a transport. */
export interface GivenMessage {
  headers?: unknown
  readonly html?: unknown
  readonly text?: unknown
  readonly attachments?: ReadonlyArray<object> | object | null
}

/** Everything of the message that would be left out of the mail, in words. */
export const refusalsOf = (message: GivenMessage): ReadonlyArray<Refusal> => [
  ...refusedOf(message, REFUSED),
  ...[message.attachments ?? []].flat().flatMap(ofAttachment),
  ...ofText(message.html, "html"),
  ...ofText(message.text, "text")
]
