import type { HttpServerResponse } from "effect/http"

import { may, type Principal } from "../../../domain/accounts/principal.ts"
import { ADMIN_SCREENS, type AdminScreen, pathTo, screensByGroup } from "../../../domain/pages.ts"
import { documentOf, pageResponse } from "./html-page.ts"
import { type Html, html, lines } from "./html.ts"

/**
 * What a page of the dashboard may do: run and load what this server serves, and talk to it. No inline script or style,
 * nothing from outside, and no markup from strings (Trusted Types): data of the API goes into the page as text.
 */
const APP_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** The policy of pages that also show mails or results in frames; this server gives these a stricter policy (HTTP-10, HTTP-11). */
export const FRAME_POLICY = `${APP_POLICY}; frame-src 'self'`

/** A page inside the shell. */
export interface ShellPage {
  readonly title: string
  readonly main: Html
  readonly status?: number | undefined
  /** The module that runs on it, and its style sheet in addition to the common one. */
  readonly script?: string | undefined
  readonly style?: string | undefined
  /** The page can be read without its script. */
  readonly complete?: boolean | undefined
  /** Where it is another than {@link APP_POLICY}. */
  readonly policy?: string | undefined
  /** The signed-in user. */
  readonly principal?: Principal | undefined
  /** The path of the page, which the navigation marks. */
  readonly path: string
  /** The installation keeps its mails in an outbox, which its pages lead to. */
  readonly outbox?: boolean | undefined
}

const link = (href: string, text: string, here: "page" | "true" | undefined): Html =>
  html`<li><a href="${href}"${here === undefined ? undefined : html` aria-current="${here}"`}>${text}</a></li>`

/** The outbox needs no sign-in; other pages ask for one. */
const navigation = ({ outbox = false, path, principal }: ShellPage): Html => {
  const isOutbox = path === pathTo.outbox
  const sees = (right: "owner" | "admin:read") =>
    isOutbox || (principal !== undefined && may(principal, right))
  const links = [
    sees("owner")
      ? link(pathTo.dashboard, "Dashboard", path === pathTo.dashboard ? "page" : undefined)
      : undefined,
    sees("admin:read") && !path.startsWith(pathTo.admin) ? link(pathTo.admin, "Admin", undefined) : undefined,
    isOutbox || outbox ? link(pathTo.outbox, "Outbox", isOutbox ? "page" : undefined) : undefined,
    link(pathTo.docs, "API reference", undefined)
  ]
  return html`<nav aria-label="Main"><ul>${links}</ul></nav>`
}

const screenLink = (path: string, name: AdminScreen): Html => {
  const href = pathTo.adminScreen(name)
  return link(
    href,
    ADMIN_SCREENS[name],
    path === href ? "page" : path.startsWith(`${href}/`) ? "true" : undefined
  )
}

const adminNavigation = (path: string): Html =>
  html`<nav class="screens" aria-label="Admin"><ul>${link(pathTo.admin, "Overview", path === pathTo.admin ? "page" : undefined)}</ul>
${lines(
  screensByGroup().map(
    ([group, names]) =>
      html`<p class="group" id="group-${group}">${group}</p><ul aria-labelledby="group-${group}">${names.map((name) => screenLink(path, name))}</ul>`
  )
)}</nav>`

const account = ({ actor }: Principal): Html =>
  html`<form class="account" method="post" action="/auth/logout">
<p>Signed in as <strong>${actor}</strong></p>
<button type="submit" class="small">Sign out</button>
</form>`

/**
 * The head of a page: a rail on admin screens, elsewhere a row. On small screens a button opens its links, without a script.
 */
const header = (shown: ShellPage): Html => {
  const { path, principal } = shown
  const isAdmin = principal !== undefined && path.startsWith(pathTo.admin) && may(principal, "admin:read")
  return html`<header class="top${isAdmin ? " rail" : ""}">
<p class="brand"><a href="${pathTo.start}">Postlane</a></p>
<button type="button" class="open-menu" popovertarget="menu">Menu</button>
<div id="menu" popover>
${isAdmin ? adminNavigation(path) : undefined}
${navigation(shown)}
${principal === undefined ? undefined : account(principal)}
</div>
</header>`
}

const NEEDS_SCRIPT = html`<noscript><p class="notice">This page needs JavaScript. Everything on it can be done through the <a href="${pathTo.docs}">API</a> as well.</p></noscript>`

/** The whole page. The two live regions exist from the start, so that text added to them is read out. */
const shell = (pathOf: (asset: string) => string, shown: ShellPage): Html => {
  const { complete = false, main, script, style, title } = shown
  return documentOf({
    title,
    icon: pathOf("icon.svg"),
    head: html`<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${pathOf("app.css")}">
<link rel="stylesheet" href="${pathOf("parts.css")}">
${style === undefined ? undefined : html`<link rel="stylesheet" href="${pathOf(style)}">`}
${script === undefined ? undefined : html`<script type="module" src="${pathOf(script)}"></script>`}`,
    body: html`<a class="skip" href="#main">Skip to the content</a>
${header(shown)}
<main id="main" tabindex="-1">
${main}
</main>
<div id="polite" class="hidden" role="status"></div>
<div id="urgent" class="hidden" role="alert"></div>
${complete ? undefined : NEEDS_SCRIPT}`
  })
}

/** The answer with a page in the shell; `pathOf`: where its assets are. */
export const shellResponse = (
  pathOf: (asset: string) => string,
  page: ShellPage
): HttpServerResponse.HttpServerResponse =>
  pageResponse(shell(pathOf, page), { policy: page.policy ?? APP_POLICY, status: page.status ?? 200 })
