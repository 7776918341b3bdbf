import { page, pagePolicy } from "./html-page.ts"

/** The page has no form. */
export const SHARED_PAGE_POLICY = pagePolicy("'none'")

/** A link that shows nothing (any more). */
export const sharedGonePage: string = page(
  "This link does not work",
  `<h1>This link does not work</h1>
<p>It may have expired, its file may have been deleted, or it was cut when it was copied. Ask whoever shared the file with you for a new link.</p>`
)
