import { createHash } from "node:crypto"

import { type HttpServerRequest, HttpServerResponse } from "effect/http"

import { PAGE_MEDIA_TYPE } from "../server/representations.ts"
import { type Html, html } from "./html.ts"
import { ICON_PATH } from "./paths.ts"

const STYLE = html`
:root {
  color-scheme: light dark; font: 1rem/1.55 system-ui, sans-serif;
  --ground: light-dark(#f5f6f4, #13171b); --surface: light-dark(#fff, #1b2127); --line: light-dark(#d5dad6, #37414a);
  --edge: light-dark(#7b8580, #7f8c97); --text: light-dark(#1c2522, #e9edf0); --accent: light-dark(#0b6157, #6fd0bf);
  --on-accent: light-dark(#fff, #06231f); background: var(--ground); color: var(--text)
}
body { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.65rem; line-height: 1.2 }
a { color: var(--accent) }
table { border-collapse: collapse; width: 100% }
caption { text-align: start; padding-block: .5rem }
th, td { text-align: start; vertical-align: top; padding: .5rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--surface) }
label { display: block; padding-block: .5rem; font-weight: 600 }
input { font: inherit; width: 100%; max-width: 30rem; padding: .5rem .7rem; box-sizing: border-box; color: inherit; background: var(--surface); border: 1px solid var(--edge); border-radius: .5rem }
button { font: inherit; font-weight: 600; padding: .6rem 1.2rem; margin-block: 1rem; cursor: pointer; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: .5rem }
:is(a, button, input, pre):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
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

/** A page without the shell, for people with a link and no session: it loads its icon alone. `head`: what it adds to its head. */
export const page = (title: string, main: Html, head?: Html): Html =>
  documentOf({
    title,
    icon: ICON_PATH,
    head: html`<style>${STYLE}</style>${head}`,
    body: html`<main>
${main}
</main>`
  })

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
