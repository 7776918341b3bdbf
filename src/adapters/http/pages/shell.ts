import { may, type Principal } from "../../../domain/accounts/principal.ts"
import { escape } from "./html-page.ts"

/**
 * What a page of the dashboard may do: run and load what this server serves, and talk to it. No inline script or style,
 * nothing from outside, and no markup from strings (Trusted Types): data of the API goes into the page as text.
 */
export const APP_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

/** A page inside the shell; `main` is HTML. */
export interface ShellPage {
  readonly title: string
  readonly main: string
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
}

/** The screens of the admin pages, in the order of their navigation. */
export const ADMIN_SCREENS = [
  { name: "jobs", title: "Jobs" },
  { name: "email-log", title: "Email log" },
  { name: "suppressions", title: "Suppressions" },
  { name: "incoming", title: "Incoming mails" },
  { name: "dead-letters", title: "Dead letters" },
  { name: "customers", title: "Customers" },
  { name: "admins", title: "Admins" },
  { name: "messages", title: "Messages" },
  { name: "notifications", title: "Notifications" },
  { name: "statistics", title: "Statistics" },
  { name: "costs", title: "Costs" },
  { name: "audit", title: "Audit" }
] as const
export type AdminScreen = (typeof ADMIN_SCREENS)[number]["name"]

const link = (href: string, text: string, here: string | undefined): string =>
  `<li><a href="${href}"${here === undefined ? "" : ` aria-current="${here}"`}>${text}</a></li>`

const navigation = (path: string, principal: Principal): string => {
  const links = [
    may(principal, "owner")
      ? link("/dashboard", "Dashboard", path === "/dashboard" ? "page" : undefined)
      : "",
    may(principal, "admin:read")
      ? link("/admin", "Admin", path.startsWith("/admin") ? "true" : undefined)
      : ""
  ]
  return `<nav aria-label="Main"><ul>${links.join("")}</ul></nav>`
}

const adminNavigation = (path: string): string =>
  `<nav class="screens" aria-label="Admin"><ul>${link("/admin", "Overview", path === "/admin" ? "page" : undefined)}${ADMIN_SCREENS.map(
    ({ name, title }) =>
      link(
        `/admin/${name}`,
        title,
        path === `/admin/${name}` ? "page" : path.startsWith(`/admin/${name}/`) ? "true" : undefined
      )
  ).join("")}</ul></nav>`

const account = ({ actor }: Principal): string =>
  `<form class="account" method="post" action="/auth/logout">
<p>Signed in as <strong>${escape(actor)}</strong></p>
<button type="submit">Sign out</button>
</form>`

const NEEDS_SCRIPT = `<noscript><p class="notice">This page needs JavaScript. Everything on it can be done through the <a href="/docs">API</a> as well.</p></noscript>`

/** The whole page. The two live regions exist from the start, so that text added to them is read out. */
export const shell = (
  pathOf: (asset: string) => string,
  { complete = false, main, path, principal, script, style, title }: ShellPage
): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} – Postlane</title>
<link rel="icon" href="${pathOf("icon.svg")}" type="image/svg+xml">
<link rel="stylesheet" href="${pathOf("app.css")}">
${style === undefined ? "" : `<link rel="stylesheet" href="${pathOf(style)}">`}
${script === undefined ? "" : `<script type="module" src="${pathOf(script)}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<p class="brand"><a href="/">Postlane</a></p>
${principal === undefined ? "" : navigation(path, principal) + account(principal)}
</header>
${principal !== undefined && path.startsWith("/admin") && may(principal, "admin:read") ? adminNavigation(path) : ""}
<main id="main" tabindex="-1">
${main}
</main>
<div id="polite" class="hidden" role="status"></div>
<div id="urgent" class="hidden" role="alert"></div>
${complete ? "" : NEEDS_SCRIPT}
</body>
</html>
`
