/** The longest text of a provider that is passed on, in characters. */
const MAX_TEXT = 300
const MAX_CODE = 64

// oxlint-disable-next-line no-control-regex -- the point is to strip them
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]+/g
const LOCAL_PART = /(?<![^\s<>"'`(),;:/@])[^\s<>"'`(),;:/@]+(?=@)/g

/**
 * What a provider said, fit for a log line and for the caller: one line, at most 300 characters, without the given
 * secrets and without the part before the @ of any address.
 */
export const failureText = (text: string, secrets: Iterable<string> = []): string => {
  let safe = text
  for (const secret of secrets) if (secret !== "") safe = safe.replaceAll(secret, "…")
  safe = safe
    .slice(0, 10 * MAX_TEXT)
    .replace(BLANK_OR_CONTROL, " ")
    .replace(LOCAL_PART, "…")
    .trim()
  return safe.length <= MAX_TEXT ? safe : `${safe.slice(0, MAX_TEXT - 1)}…`
}

/** A provider's error name, cut to what a name can be; `undefined` for anything else. */
export const failureCode = (name: unknown): string | undefined =>
  typeof name === "string" && /^[\x21-\x7e]+$/.test(name) ? name.slice(0, MAX_CODE) : undefined
