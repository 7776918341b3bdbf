/**
 * Tags travel to the provider and come back on its delivery events. Both providers take ASCII letters, digits, `_` and
 * `-` only, 256 characters at most; anything else is carried as base64url behind a marker and decoded on its way back,
 * so that nothing is dropped or altered.
 */
const PROVIDER_ALPHABET = /^[A-Za-z0-9_-]+$/
const MARKER = "b64_"

/** The longest name or value that a provider takes. */
const MAX_TAG_LENGTH = 256

/** The tag that names the use of a key that a send belongs to (64 hex digits, `KeyTag`); callers cannot use it. */
export const KEY_TAG = "postlane_key"

const toBase64Url = (text: string): string => {
  let binary = ""
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

const fromBase64Url = (text: string): string | undefined => {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(binary, (char) => char.charCodeAt(0))
    )
  } catch {
    return undefined
  }
}

/** A tag name or value in the providers' alphabet. Its length may pass {@link MAX_TAG_LENGTH}: see {@link tagFaults}. */
export const encodeTag = (text: string): string =>
  PROVIDER_ALPHABET.test(text) && !text.startsWith(MARKER) ? text : MARKER + toBase64Url(text)

/** The inverse of {@link encodeTag}; text that was never encoded is returned unchanged. */
export const decodeTag = (text: string): string =>
  text.startsWith(MARKER) ? (fromBase64Url(text.slice(MARKER.length)) ?? text) : text

/** What is wrong with a tag of a caller (MAIL-12). */
export const tagFaults = (name: string, value: string): ReadonlyArray<string> => {
  const faults: Array<string> = []
  if (name.toLowerCase() === KEY_TAG) faults.push("is a name that Postlane uses itself")
  if (name === "") faults.push("has no name")
  if (name.toLowerCase().startsWith("ses:")) faults.push("starts with ses:, which Amazon SES keeps to itself")
  if (encodeTag(name).length > MAX_TAG_LENGTH)
    faults.push(`its name is longer than ${MAX_TAG_LENGTH} characters once encoded`)
  if (encodeTag(value).length > MAX_TAG_LENGTH)
    faults.push(`is longer than ${MAX_TAG_LENGTH} characters once encoded`)
  return faults
}
