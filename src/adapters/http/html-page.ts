import { createHash } from "node:crypto"

/** What a page is sent as. */
export const PAGE_MEDIA_TYPE = "text/html; charset=utf-8"

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 0 auto; padding: 1rem }
table { border-collapse: collapse; width: 100% }
caption { text-align: start; padding-block: .5rem }
th, td { text-align: start; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid GrayText; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid GrayText }
label { display: block; padding-block: .5rem }
input { font: inherit; width: 100%; max-width: 30rem; padding: .4rem; box-sizing: border-box }
button { font: inherit; padding: .6rem 1.2rem; margin-block: 1rem; cursor: pointer }
:is(a, button, input):focus-visible { outline: 3px solid Highlight; outline-offset: 2px }
`

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64")

/** Nothing runs on a page and nothing is loaded: the one style sheet is allowed by its hash. */
export const pagePolicy = (formAction: "'none'" | "'self'"): string =>
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; ` +
  `frame-ancestors 'none'; base-uri 'none'; form-action ${formAction}`

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Text as it stands in HTML, in an attribute as well. */
export const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char]!)

/** A whole page; `title` is text, `main` is HTML. */
export const page = (title: string, main: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} – Postlane</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`
