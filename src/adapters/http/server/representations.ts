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

/** A range of media types that a client takes, and its weight. */
interface TakenRange {
  readonly type: string
  readonly weight: number
}

const rangesOf = (accept: string): ReadonlyArray<TakenRange> =>
  accept
    .toLowerCase()
    .split(",")
    .flatMap((entry) => {
      const [type = "", ...parameters] = entry.split(";").map((part) => part.trim())
      if (type === "") return []
      const weight = parameters.map((one) => /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(one)?.[1])
      const named = weight.find((one) => one !== undefined)
      return [{ type, weight: named === undefined ? 1 : Number(named) }]
    })

/**
 * The media type among those offered that an Accept header prefers (RFC 9110, section 12.5.1); among equals the first offered.
 * Without a header any type will do; undefined where the client takes none.
 */
export const preferredType = <T extends string>(
  accept: string | undefined,
  offered: ReadonlyArray<T>
): T | undefined => {
  const ranges = rangesOf(accept ?? "")
  if (ranges.length === 0) return offered[0]
  let best: { readonly type: T; readonly weight: number } | undefined
  for (const type of offered) {
    const group = `${type.slice(0, type.indexOf("/"))}/*`
    // The most specific range decides.
    const range = [type, group, "*/*"].flatMap((one) => ranges.find((taken) => taken.type === one) ?? [])[0]
    if (range !== undefined && range.weight > (best?.weight ?? 0)) best = { type, weight: range.weight }
  }
  return best?.type
}
