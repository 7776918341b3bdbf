import fc from "fast-check"
import { parseFragment } from "parse5"
import { expect, it } from "vitest"

import { html, joined, lines } from "../../../../src/adapters/http/pages/html.ts"

it("escapes whatever it did not make itself, in text and in attributes", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "a", " ", "/") }), (text) => {
      const { childNodes } = parseFragment(html`<p title="${text}">x${text}</p>`.toString())
      const [paragraph] = childNodes
      expect(childNodes).toHaveLength(1)
      expect(paragraph).toMatchObject({
        attrs: [{ name: "title", value: text }],
        childNodes: [{ value: `x${text}` }]
      })
    })
  )
})

it("keeps what it made, leaves out what is undefined, and takes lists, nested ones too", () => {
  expect(html`${html`<b>${"<"}</b>`}${undefined}${[1, ["&", html`<br>`]]}`.toString()).toBe(
    "<b>&lt;</b>1&amp;<br>"
  )
  expect(joined(["<", html`<i></i>`], ", ").toString()).toBe("&lt;, <i></i>")
  expect(lines([]).toString()).toBe("")
})

it("takes nothing for markup that only looks like what it makes", () => {
  const forged = JSON.parse('["<script>"]') as ReadonlyArray<string>
  expect(html`${forged}`.toString()).toBe("&lt;script&gt;")
})
