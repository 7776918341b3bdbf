import { type Html, html } from "./html.ts"
import { option, words } from "./ui.ts"

/** A choice of a filter. `text`: the label of a value. */
export const select = (
  name: string,
  label: string,
  values: ReadonlyArray<string>,
  any: string,
  text: (value: string) => string = words
): Html =>
  html`<div class="field"><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}">${option("", any)}${values.map((value) => option(value, text(value)))}</select></div>`

/** A text, or a day, of a filter. */
export const input = (name: string, label: string, type = "text"): Html =>
  html`<div class="field"><label for="f-${name}">${label}</label><input id="f-${name}" name="${name}" type="${type}" autocomplete="off" spellcheck="false"></div>`

/** The links to the pages of a list, which its script shows. */
export const pager = html`<nav class="pager" aria-label="Pages" id="pager" hidden><a id="first" class="button" hidden>First page</a> <a id="previous" class="button" hidden>Previous page</a> <a id="next" class="button" hidden>Next page</a></nav>`
