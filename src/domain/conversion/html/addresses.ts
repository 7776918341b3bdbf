/** Longest address of a link, characters. */
const MAX_ADDRESS = 2000

const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:", "ftp:", "doi:", "urn:"])

/** The address of a link, where it is one that a document may lead to; else undefined, and the words stand without it. */
export const safeAddress = (value: string): string | undefined => {
  const told = value.toWellFormed().trim()
  const url = URL.parse(/^www\./i.test(told) ? `https://${told}` : told)
  if (url === null || !SCHEMES.has(url.protocol) || url.password !== "") return undefined
  return url.href.length > MAX_ADDRESS ? undefined : url.href
}

/** The id of a page's anchor; pages from 0. */
export const pageId = (index: number): string => `page-${index + 1}`

const TAG =
  /^[a-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|\d{3}))?(?:-(?:[A-Za-z\d]{5,8}|\d[A-Za-z\d]{3}))*$/i

/** A language tag (BCP 47, without extensions) in its usual spelling; undefined where it is none. */
export const languageTag = (value: string | undefined): string | undefined => {
  const told = value?.trim().replaceAll("_", "-") ?? ""
  if (!TAG.test(told)) return undefined
  const [canonical] = Intl.getCanonicalLocales(told)
  return canonical === "und" || canonical?.startsWith("und-") === true ? undefined : canonical
}
