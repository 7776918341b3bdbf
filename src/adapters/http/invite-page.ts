import { escape, page } from "./html-page.ts"

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
