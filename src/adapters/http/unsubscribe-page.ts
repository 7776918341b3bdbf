import { escape, page, pagePolicy } from "./html-page.ts"

/** The one form goes back to where the page came from. */
export const UNSUBSCRIBE_POLICY = pagePolicy("'self'")

/** Asks whether to unsubscribe. The form names no address of its own: it posts to the link itself. */
export const askPage = (email: string): string =>
  page(
    "Unsubscribe",
    `<h1>Unsubscribe</h1>
<p>${escape(email)} gets mail about our campaigns. Do you want no more of it?</p>
<form method="post"><button type="submit">Unsubscribe</button></form>`
  )

export const donePage = (email: string): string =>
  page(
    "You are unsubscribed",
    `<h1>You are unsubscribed</h1>
<p role="status">${escape(email)} gets no more mail about our campaigns. You can close this page.</p>`
  )

export const unknownPage: string = page(
  "This link does not work",
  `<h1>This link does not work</h1>
<p>It may have been cut when it was copied. Open the link in the mail itself, or reply to the mail.</p>`
)
