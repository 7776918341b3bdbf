import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

import type { Problem } from "../server/problem.ts"
import { acceptsPages, escape, page, pagePolicy, pageResponse } from "./html-page.ts"

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
const refusalPage = (title: string, what: string): string =>
  page(
    title,
    `<h1>${escape(title)}</h1>\n<p>${escape(what)}</p>\n<p><a href="/sign-in">Go to the sign-in page</a></p>`
  )

/** A page for a person; a program gets the problem. */
export const refuse = <P extends Problem>(
  request: HttpServerRequest.HttpServerRequest,
  refused: P,
  headers?: Readonly<Record<string, string>>
) =>
  acceptsPages(request)
    ? Effect.succeed(
        pageResponse(refusalPage(refused.title, refused.detail), {
          policy: AUTH_PAGE_POLICY,
          status: refused.status,
          headers
        })
      )
    : Effect.fail(refused)

/** The values of `reason` in the sign-in page's query, and the notice for each. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ended", "Your session has ended. Sign in again to go on."],
  ["admin", "The admin pages need an admin’s token."]
])

/** The main part of `GET /sign-in`: a field for a token, or how to sign in by mail. */
export const signInMain = (reason: string | undefined): string => {
  const notice = reason === undefined ? undefined : REASONS.get(reason)
  return `<div class="narrow">
<h1>Sign in</h1>
${notice === undefined ? "" : `<p class="notice" id="reason">${notice}</p>`}
<form class="card" method="post" action="/auth/session">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" spellcheck="false" required aria-describedby="token-help${notice === undefined ? "" : " reason"}">
<p class="help" id="token-help">An owner’s token leads to the dashboard, an admin’s token to the admin pages. <code>npm start</code> prints both in its terminal; <code>npm run postlane -- token</code> makes new ones.</p>
<button type="submit" class="primary">Sign in</button>
</form>
<h2>By mail</h2>
<p>The mail that came after you took part in a promotion holds a link that signs you in once, for 15 minutes after it was sent. Open it on this device and press the button there.</p>
</div>`
}
