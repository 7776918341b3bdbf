/** What a percent-encoded text stands for; `undefined` where a `%` in it stands for nothing. */
export const decodedPercent = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
