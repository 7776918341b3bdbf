/** The address of an unsubscribe link, and the campaign whose mail carried it. */
export interface UnsubscribeSubject {
  /** Bare and lower-case. */
  readonly email: string
  readonly campaign: string
}

/** A campaign's name: it is used in links, tags and logs. */
export const CAMPAIGN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Longest token, characters: the longest address and campaign fit into a path parameter and into one header line. */
export const MAX_TOKEN_LENGTH = 900

/** The signing purpose of unsubscribe links. */
export const UNSUBSCRIBE_LABEL = "postlane unsubscribe 1"

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Campaign and address as bytes; a campaign holds no line break. */
export const payloadOf = ({ campaign, email }: UnsubscribeSubject): Uint8Array =>
  encoder.encode(`${campaign}\n${email}`)

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** The subject of a payload; undefined for bytes that {@link payloadOf} does not make. */
export const subjectOf = (payload: Uint8Array): UnsubscribeSubject | undefined => {
  const [campaign, email, ...more] = textOf(payload)?.split("\n") ?? []
  if (campaign === undefined || email === undefined || email === "" || more.length > 0) return undefined
  return CAMPAIGN.test(campaign) ? { email, campaign } : undefined
}
