import { escape, page, pagePolicy } from "./html-page.ts"

/** These pages may send their form to this server. */
export const AUTH_PAGE_POLICY = pagePolicy("'self'")

/** The page that a magic link opens. The link is used up by the button, never by opening the page. */
export const magicLinkPage = (token: string): string =>
  page(
    "Sign in",
    `<h1>Sign in to Postlane</h1>
<p>Your link works once. Press the button to sign in on this device.</p>
<form method="post" action="/auth/magic">
<input type="hidden" name="token" value="${escape(token)}">
<button type="submit">Sign in</button>
</form>`
  )

/** Sign-in with a token. */
export const signInPage = page(
  "Sign in with a token",
  `<h1>Sign in with a token</h1>
<form method="post" action="/auth/session">
<label for="token">API token</label>
<input id="token" name="token" type="password" autocomplete="off" required>
<button type="submit">Sign in</button>
</form>`
)

/** After a sign-in: leads to `home` at once, and by a link where a browser does not follow. */
export const signedInPage = (actor: string, home: string): string =>
  page(
    "Signed in",
    `<h1>You are signed in</h1>
<p>Signed in as ${escape(actor)}. <a href="${escape(home)}">Continue to Postlane</a></p>
<form method="post" action="/auth/logout">
<button type="submit">Sign out</button>
</form>`,
    `<meta http-equiv="refresh" content="0; url=${escape(home)}">`
  )

/** After a sign-out. */
export const signedOutPage = page(
  "Signed out",
  `<h1>You are signed out</h1>
<p>You can close this page, or <a href="/sign-in">sign in again</a>.</p>`
)

/** A refusal, in words. */
export const refusalPage = (title: string, what: string): string =>
  page(
    title,
    `<h1>${escape(title)}</h1>\n<p>${escape(what)}</p>\n<p><a href="/sign-in">Go to the sign-in page</a></p>`
  )
