import { type Html, html } from "./html.ts"
import { option, words } from "./ui.ts"

/** How a filter is shown. */
interface FieldLook {
  /** What it is called where it is on. */
  readonly short?: string
  readonly type?: "text" | "date"
}

/** A choice of a filter. `text`: the label of a value. */
export const select = (
  name: string,
  label: string,
  values: ReadonlyArray<string>,
  text: (value: string) => string = words
): Html =>
  html`<div class="field"><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}" data-short="${label}">${option("", "Any")}${values.map((value) => option(value, text(value)))}</select></div>`

/** A text, or a day, of a filter. */
export const input = (name: string, label: string, { short = label, type = "text" }: FieldLook = {}): Html =>
  html`<div class="field"><label for="f-${name}">${label}</label><input id="f-${name}" name="${name}" type="${type}" data-short="${short}" autocomplete="off" spellcheck="false"></div>`

/** The links to the pages of a list, which its script shows. */
export const pager = html`<nav class="pager" aria-label="Pages" id="pager" hidden><a id="first" class="button" hidden>First page</a> <a id="previous" class="button" hidden>Previous page</a> <a id="next" class="button" hidden>Next page</a></nav>`
