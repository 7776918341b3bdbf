/** Decodes percent-encoded text; `undefined` when a `%` in it encodes nothing. */
export const decodedPercent = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
