import { escape, page, pagePolicy } from "./html-page.ts"

/** These pages may send their form to this server. */
export const AUTH_PAGE_POLICY = pagePolicy("'self'")

/** What a magic link opens. The link is used up by the button, never by opening the page. */
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

/** After a sign-in. */
export const signedInPage = (actor: string): string =>
  page(
    "Signed in",
    `<h1>You are signed in</h1>
<p>Signed in as ${escape(actor)}. <a href="/">Continue to Postlane</a></p>
<form method="post" action="/auth/logout">
<button type="submit">Sign out</button>
</form>`
  )

/** After a sign-out. */
export const signedOutPage = page(
  "Signed out",
  `<h1>You are signed out</h1>
<p>You can close this page.</p>`
)

/** A refusal, in words. */
export const refusalPage = (title: string, what: string): string =>
  page(title, `<h1>${escape(title)}</h1>\n<p>${escape(what)}</p>`)
