/** The media type of a page. */
export const PAGE_MEDIA_TYPE = "text/html; charset=utf-8"

/** True when the client takes gzip: named, or by `*`, and not with a weight of zero. */
export const takesGzip = (accepted: string): boolean => {
  for (const entry of accepted.toLowerCase().split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim())
    if (name !== "gzip" && name !== "*") continue
    return !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  }
  return false
}

/** The name of a representation that is compressed: other bytes, so another name. */
export const gzipTag = (etag: string): string => `${etag.slice(0, -1)}-gzip"`

/** True when the client has one of these representations already (RFC 9110, section 13.1.2: weak comparison). */
export const hasAlready = (known: string | undefined, etags: ReadonlyArray<string>): boolean =>
  known !== undefined &&
  (known.trim() === "*" || known.split(",").some((tag) => etags.includes(tag.trim().replace(/^W\//, ""))))
