/** A complex page costs as much as any (document 2, "Credit rules"). */
export const HIGH_FIDELITY_CREDIT_MULTIPLIER = 1

/** Pages that the free plan has in a lifetime (document 2, "Limits"). */
export const FREE_LIFETIME_PAGES = 10

/** What a page of text takes in a PDF, bytes: between plain text (20 kB) and a scan (300 kB). */
const BYTES_A_PAGE = 100_000

/** What a document's pages cost: 1 credit each. */
export const creditsFor = (pages: { readonly standard: number; readonly complex: number }): number =>
  pages.standard + pages.complex * HIGH_FIDELITY_CREDIT_MULTIPLIER

/** Pages of a PDF of this size, roughly, where they cannot be counted before it is converted; 1 at least. */
export const estimatePages = (bytes: number): number => Math.max(1, Math.ceil(bytes / BYTES_A_PAGE))
