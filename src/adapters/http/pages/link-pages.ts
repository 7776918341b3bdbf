import { escape, page, pagePolicy } from "./html-page.ts"

/** The one form posts to this server. */
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

/** The page has no form. */
export const SHARED_PAGE_POLICY = pagePolicy("'none'")

/** For a link that is unknown or has expired. */
export const sharedGonePage: string = page(
  "This link does not work",
  `<h1>This link does not work</h1>
<p>It may have expired, its file may have been deleted, or it was cut when it was copied. Ask the person who shared the file with you for a new link.</p>`
)

/** What an invitation opens. It is accepted by the button, never by opening the page. */
export const invitePage = (token: string): string =>
  page(
    "Invitation",
    `<h1>Join a team on Postlane</h1>
<p>Press the button to accept the invitation. If you did not expect it, close this page.</p>
<form method="post" action="/invites/${escape(token)}">
<button type="submit">Accept the invitation</button>
</form>`
  )

/** After an invitation was accepted. */
export const joinedPage = (inviter: string): string =>
  page(
    "Invitation accepted",
    `<h1>Invitation accepted</h1>
<p>You accepted the invitation of ${escape(inviter)}.</p>`
  )
