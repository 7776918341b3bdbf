import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

import { MAGIC_LINK_LIFETIME_SECONDS } from "../../../domain/accounts/session.ts"
import { pathTo } from "../../../domain/pages.ts"
import type { Problem } from "../server/problem.ts"
import { acceptsPages, framedPage, pagePolicy, pageResponse } from "./html-page.ts"
import { type Html, html } from "./html.ts"
import { shellResponse } from "./shell.ts"

/** These pages may send their form to this server. */
export const AUTH_PAGE_POLICY = pagePolicy("'self'")

/** Under the referrer policy of all other answers, browsers on plain http would send `Origin: null` with these pages' forms. */
export const AUTH_PAGE_HEADERS = { "referrer-policy": "same-origin" }

/** The page to open after the sign-in, as a field of a form. */
const nextField = (next: string | undefined): Html | undefined =>
  next === undefined ? undefined : html`<input type="hidden" name="next" value="${next}">\n`

/** The page that a magic link opens. The link is used up by the button, never by opening the page. */
export const magicLinkPage = (token: string, next: string | undefined): Html =>
  framedPage(
    "Sign in",
    html`<h1>Sign in to Postlane</h1>
<p>Your link works once. Press the button to sign in on this device.</p>
<form method="post" action="/auth/magic">
<input type="hidden" name="token" value="${token}">
${nextField(next)}<button type="submit">Sign in</button>
</form>`
  )

/** Asks for a link by mail. */
const mailForm = (next: string | undefined, kind?: Html, describedBy?: Html): Html =>
  html`<form${kind} method="post" action="/auth/link">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="320" required${describedBy}>
${nextField(next)}<button type="submit"${kind === undefined ? undefined : html` class="primary"`}>Mail me a link</button>
</form>`

/** Takes a token. */
const tokenForm = (next: string | undefined): Html =>
  html`<form method="post" action="/auth/session">
<label for="token">API token</label>
<input id="token" name="token" type="password" autocomplete="off" required>
${nextField(next)}<button type="submit">Sign in</button>
</form>`

/** After a link was asked for: the same for every address. */
export const linkMailedPage = (to: string): Html =>
  framedPage(
    "Look into your mail",
    html`<h1>Look into your mail</h1>
<p role="status">If ${to} may sign in here, a link is on its way there.</p>
<p>Open it in this browser. It works once, for ${MAGIC_LINK_LIFETIME_SECONDS / 60} minutes. If no mail comes, look into the spam folder, or <a href="${pathTo.signIn()}">ask again</a>.</p>`
  )

/** After a sign-in: leads to `home` at once, and by a link where a browser does not follow. */
export const signedInPage = (actor: string, home: string): Html =>
  framedPage(
    "Signed in",
    html`<h1>You are signed in</h1>
<p>Signed in as ${actor}. <a href="${home}">Continue to Postlane</a></p>
<form method="post" action="/auth/logout">
<button type="submit">Sign out</button>
</form>`,
    html`<meta http-equiv="refresh" content="0; url=${home}">`
  )

/** After a sign-out. */
export const signedOutPage = framedPage(
  "Signed out",
  html`<h1>You are signed out</h1>
<p>You can close this page, or <a href="${pathTo.signIn()}">sign in again</a>.</p>`
)

/** The forms below a refused link of a mail, so that the next try needs no other page. */
export const signInForms = (next: string | undefined): Html =>
  html`<h2>Sign in by mail</h2>
${mailForm(next)}
<h2>Sign in with a token</h2>
${tokenForm(next)}`

/** A refusal, in words. */
const refusalPage = (title: string, what: string, forms: Html | undefined): Html =>
  framedPage(
    title,
    html`<h1>${title}</h1>
<p role="alert">${what}</p>
${forms}
<p><a href="${pathTo.signIn()}">Go to the sign-in page</a></p>`
  )

/** A page for a person, with these forms; a program gets the problem. */
export const refuse = <P extends Problem>(
  request: HttpServerRequest.HttpServerRequest,
  refused: P,
  headers?: Readonly<Record<string, string>>,
  forms?: Html
) =>
  acceptsPages(request)
    ? Effect.succeed(
        pageResponse(refusalPage(refused.title, refused.detail, forms), {
          policy: AUTH_PAGE_POLICY,
          status: refused.status,
          headers
        })
      )
    : Effect.fail(refused)

/** The values of `reason` in the sign-in page's query, and the notice for each. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ended", "Your session has ended. Sign in again to go on."],
  ["admin", "The admin pages are for admins. Sign in as one."]
])

interface Asked {
  /** Why the page is shown, as its address has it. */
  readonly reason?: string | undefined
  /** The page to open then. */
  readonly next?: string | undefined
  /** What became of the last try. */
  readonly refused?: Problem | undefined
}

/** What to say above the forms. A wrong token is no matter of bearer tokens to a person. */
const noticeOf = ({ reason, refused }: Asked): Html | undefined => {
  if (refused !== undefined) {
    const { code, detail, title } = refused
    return html`<p class="problem" id="reason" role="alert">${code === "UNAUTHENTICATED" ? "" : `${title}. `}${detail}</p>`
  }
  const text = reason === undefined ? undefined : REASONS.get(reason)
  return text === undefined ? undefined : html`<p class="notice" id="reason">${text}</p>`
}

/** The main part of the sign-in page: by mail, or with a token. */
const signInMain = (asked: Asked): Html => {
  const notice = noticeOf(asked)
  const goesOn = asked.next ?? (asked.reason === "admin" ? pathTo.admin : undefined)
  const described = (help: string) =>
    html` aria-describedby="${help}${notice === undefined ? "" : " reason"}"`
  return html`<div class="narrow">
<h1>Sign in</h1>
${notice}
<div class="card">
<h2>By mail</h2>
${mailForm(goesOn, html` class="stacked"`, described("mail-help"))}
<p class="help" id="mail-help">You are mailed a link that signs you in once, within ${MAGIC_LINK_LIFETIME_SECONDS / 60} minutes, in this browser.</p>
</div>
<div class="card">
<h2>With a token</h2>
<form class="stacked" method="post" action="/auth/session">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" spellcheck="false" required${described("token-help")}>
${nextField(goesOn)}<button type="submit">Sign in</button>
</form>
<p class="help" id="token-help">An owner’s token leads to the dashboard, an admin’s token to the admin pages. <code>postlane start</code> prints both in its terminal; <code>postlane token</code> makes new ones.</p>
</div>
</div>`
}

/** The sign-in page, which stays where a try is refused. `pathOf`: where its assets are. */
export const signInPage = (pathOf: (asset: string) => string, asked: Asked = {}) =>
  shellResponse(pathOf, {
    title: "Sign in",
    main: signInMain(asked),
    status: asked.refused?.status,
    complete: true,
    path: pathTo.signIn()
  })

/** The sign-in page, as it answers a form that was sent from it. */
export const signInAnswer = (pathOf: (asset: string) => string, asked?: Asked) =>
  HttpServerResponse.setHeaders(signInPage(pathOf, asked), AUTH_PAGE_HEADERS)

/** A refused try stays on the sign-in page, which says why; a program gets the problem. */
export const refuseSignIn =
  (pathOf: (asset: string) => string, request: HttpServerRequest.HttpServerRequest, next?: string) =>
  <P extends Problem>(refused: P) =>
    acceptsPages(request) ? Effect.succeed(signInAnswer(pathOf, { refused, next })) : Effect.fail(refused)
