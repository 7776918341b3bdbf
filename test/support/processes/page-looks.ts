/** A page in any browser that answers an expression. */
export interface Evaluating {
  readonly evaluate: <A>(expression: string) => Promise<A>
}

/** One that takes keys, too. */
interface Operated extends Evaluating {
  readonly keyboard: { readonly press: (key: string) => Promise<void> }
}

/** What can be operated and is lower or narrower than 24 px; a box within a label is as large as the label. */
export const smallTargets = (page: Evaluating): Promise<ReadonlyArray<string>> =>
  page.evaluate(`[...document.querySelectorAll(
    "button, input:not(label > input), label:has(> input), select, summary, nav a, .button, .narrowed a, .back a, th a, .list .name a"
  )].filter((one) => {
    const { height, width } = one.getBoundingClientRect()
    return width > 1 && one.checkVisibility() && (height < 24 || width < 24)
  }).map((one) => one.outerHTML)`)

/** Words that break inside, for want of room; an address or an id may, and what is as long. */
export const brokenWords = (page: Evaluating): Promise<ReadonlyArray<string>> =>
  page.evaluate(`[...document.querySelectorAll("body :is(h1, h2, h3, p, li, a, button, th, td, dt, dd, label, span, summary)")].flatMap((one) =>
    one.checkVisibility()
      ? [...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).flatMap((text) =>
          [...text.data.matchAll(/(?<![^\\s])\\p{L}{2,14}(?![^\\s.,:;])/gu)].flatMap(({ 0: word, index }) => {
            const range = document.createRange()
            range.setStart(text, index)
            range.setEnd(text, index + word.length)
            const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
            return lines.size > 1 ? [word + " in " + one.outerHTML.slice(0, 120)] : []
          })
        )
      : []
  )`)

/** Tables of which a part is seen only by scrolling sideways, such as the buttons of its rows. */
export const cutTables = (page: Evaluating): Promise<ReadonlyArray<string>> =>
  page.evaluate(`[...document.querySelectorAll(".table")]
    .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
    .map((one) => "a table is cut off: " + one.querySelector("caption").textContent)`)

/** What of a page Tab does not lead to, and what does not show that it has the focus. */
export const unreached = async (page: Operated): Promise<ReadonlyArray<string>> => {
  await page.evaluate(`(() => {
    const name = (one) => one.tagName + " " + (one.id || one.getAttribute("href") || one.getAttribute("name") || one.textContent.trim().slice(0, 60))
    const [reached, unseen] = [new Set(), new Set()]
    window.look = () => {
      const here = document.activeElement
      if (here !== null && here !== document.body) {
        reached.add(name(here))
        const { boxShadow, outlineStyle } = getComputedStyle(here)
        const isShown = outlineStyle !== "none" || boxShadow !== "none" || here.tagName === "IFRAME"
        if (!isShown) unseen.add("no focus is shown: " + name(here))
      }
      const all = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")
      const left = [...all].filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }))
      return [...new Set(left.map(name).filter((one) => !reached.has(one))), ...unseen]
    }
  })()`)
  let left = await page.evaluate<ReadonlyArray<string>>("look()")
  for (let presses = 0; presses < 250 && left.length > 0; presses += 1) {
    await page.keyboard.press("Tab")
    left = await page.evaluate<ReadonlyArray<string>>("look()")
  }
  return left
}
