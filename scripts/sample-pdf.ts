/**
 * Makes `examples/sample.pdf`, the document of README's first conversion: `node scripts/sample-pdf.ts`. A tagged PDF with a heading of each
 * level, lists, a table, a link and a picture that is described.
 */
import { writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

import { openBrowser } from "../test/support/processes/browser.ts"

const CHART = `<svg role="img" aria-label="Columns: 120 mails on Monday, 180 on Tuesday, 90 on Wednesday" width="300" height="110" xmlns="http://www.w3.org/2000/svg">
<g fill="#0b6157"><rect x="20" y="40" width="60" height="60"/><rect x="110" y="10" width="60" height="90"/><rect x="200" y="55" width="60" height="45"/></g></svg>`

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A week of mail</title>
<style>body { font: 11pt/1.5 sans-serif } table { border-collapse: collapse } th, td { border: 1px solid #555; padding: 4px 10px; text-align: left } h2 { margin-top: 1.5em }</style></head>
<body><h1>A week of mail</h1>
<p>This page was made to be converted: it has what documents have, and nothing of anybody. The result keeps its headings, its lists, its table and the words about its picture.</p>
<h2>What was sent</h2>
<table><thead><tr><th scope="col">Day</th><th scope="col">Mails</th><th scope="col">Delivered</th></tr></thead>
<tbody><tr><th scope="row">Monday</th><td>120</td><td>119</td></tr><tr><th scope="row">Tuesday</th><td>180</td><td>180</td></tr><tr><th scope="row">Wednesday</th><td>90</td><td>88</td></tr></tbody></table>
<p>${CHART}</p>
<h2>What to look at</h2>
<h3>Every morning</h3>
<ol><li>Is an alarm firing?</li><li>How many mails bounced, and why?</li><li>Does anything wait longer than it should?</li></ol>
<h3>Every week</h3>
<ul><li>Read the addresses that were suppressed.</li><li>Read <a href="https://www.rfc-editor.org/rfc/rfc5321">RFC 5321</a>, a section at a time.</li></ul>
</body></html>`

const browser = await openBrowser()
try {
  const page = await browser.newPage()
  await page.setContent(PAGE)
  const path = fileURLToPath(new URL("../examples/sample.pdf", import.meta.url))
  await writeFile(path, await page.pdf({ format: "A4", tagged: true, outline: true }))
  console.log(path)
} finally {
  await browser.close()
}
