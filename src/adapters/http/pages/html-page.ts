import { createHash } from "node:crypto"

import { type HttpServerRequest, HttpServerResponse } from "effect/http"

import { pathTo } from "../../../domain/pages.ts"
import { PAGE_MEDIA_TYPE } from "../server/representations.ts"
import { type Html, html } from "./html.ts"
import { ICON_PATH } from "./paths.ts"

/** The tokens of `app.css`, as far as pages without assets need them. */
const STYLE = html`
:root {
  color-scheme: light dark; font: .9375rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --ground: light-dark(#fbfcfb, #101418); --surface: light-dark(#fff, #171d22); --line: light-dark(#dfe4e1, #2d363e);
  --edge: light-dark(#7b8580, #7f8c97); --text: light-dark(#18211e, #e8edf0); --accent: light-dark(#0b6157, #6fd0bf);
  --on-accent: light-dark(#fff, #06231f); background: var(--ground); color: var(--text)
}
body { margin: 0; overflow-wrap: anywhere }
header { display: flex; gap: 1rem; align-items: center; min-height: 3.25rem; padding: .25rem 1.25rem; background: var(--surface); border-bottom: 1px solid var(--line) }
header a { padding: .3rem 0; color: var(--text); text-decoration: none }
header a:first-child { font-size: 1.125rem; font-weight: 700; letter-spacing: -.02em }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.015em }
h2 { font-size: 1.125rem }
a { color: var(--accent) }
table { border-collapse: collapse; width: 100% }
caption { text-align: start; padding-block: .5rem }
th, td { text-align: start; vertical-align: top; padding: .5rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--surface) }
label { display: block; padding-block: .5rem; font-weight: 600 }
input { font: inherit; width: 100%; max-width: 30rem; min-height: 2.25rem; padding: .25rem .6rem; box-sizing: border-box; color: inherit; background: var(--surface); border: 1px solid var(--edge); border-radius: .375rem }
button { font: inherit; font-weight: 600; min-height: 2.25rem; padding: .25rem .8rem; margin-block: 1rem; cursor: pointer; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .375rem }
[role=alert] { max-width: 48rem; padding: .5rem .8rem; color: light-dark(#a3231d, #ff9d94); background: light-dark(#fbeae8, #3a1f1d); border-inline-start: .25rem solid; border-radius: .375rem }
:is(a, button, input, pre):focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`

const STYLE_HASH = createHash("sha256").update(STYLE.toString()).digest("base64")

/** A page runs nothing and loads its icon alone: its one style sheet is allowed by its hash. */
export const pagePolicy = (formAction: "'none'" | "'self'"): string =>
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; ` +
  `frame-ancestors 'none'; base-uri 'none'; form-action ${formAction}`

/** The document that every page is: what its head always has, and its own. */
export const documentOf = (given: {
  readonly title: string
  readonly icon: string
  readonly head: Html
  readonly body: Html
}): Html =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${given.title} – Postlane</title>
<link rel="icon" href="${given.icon}" type="image/svg+xml">
${given.head}
</head>
<body>
${given.body}
</body>
</html>
`

const bare = (title: string, main: Html, head: Html | undefined, frame: Html | undefined): Html =>
  documentOf({
    title,
    icon: ICON_PATH,
    head: html`<style>${STYLE}</style>${head}`,
    body: html`${frame}<main>
${main}
</main>`
  })

/** A page without the shell, for people with a link and no session: it loads its icon alone. `head`: what it adds to its head. */
export const page = (title: string, main: Html, head?: Html): Html => bare(title, main, head, undefined)

/** The same in the product's frame, for people who use it and may have no session. */
export const framedPage = (title: string, main: Html, head?: Html): Html =>
  bare(
    title,
    main,
    head,
    html`<header><a href="${pathTo.start}">Postlane</a><a href="${pathTo.docs}">API reference</a></header>\n`
  )

interface Answer {
  readonly policy: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The answer that carries a mail as HTML, which others wrote: its policy keeps it from running anything. */
export const mailResponse = (document: string, { headers, policy, status = 200 }: Answer) =>
  HttpServerResponse.text(document, {
    status,
    contentType: PAGE_MEDIA_TYPE,
    headers: { "content-security-policy": policy, ...headers }
  })

/** The answer that carries a page under its policy. */
export const pageResponse = (markup: Html, answer: Answer): HttpServerResponse.HttpServerResponse =>
  mailResponse(markup.toString(), answer)

/** Whether the client is a person's browser, which gets a page where a program gets a problem. */
export const acceptsPages = ({ headers }: HttpServerRequest.HttpServerRequest): boolean => {
  const accept = headers["accept"] ?? ""
  return /\btext\/html\b/i.test(accept) && !/\bjson\b/i.test(accept)
}
