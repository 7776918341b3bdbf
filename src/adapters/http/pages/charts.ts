import { greatest } from "../../../domain/lists.ts"
import type { Mood } from "../../../domain/mood.ts"
import { type Html, html, lines } from "./html.ts"
import { number } from "./ui.ts"

/** A chart of counts over the time. */
interface Chart {
  readonly id: string
  readonly title: string
  readonly mood: Mood
  readonly total: number
  readonly counts: ReadonlyArray<number>
  /** The name of each count's time. */
  readonly labels: ReadonlyArray<string>
  readonly href: string | undefined
}

const WIDTH = 240
const HEIGHT = 56
/** A count above zero is visible next to one of thousands. */
const LEAST = 2

const bars = (counts: ReadonlyArray<number>): ReadonlyArray<Html | undefined> => {
  const most = Math.max(greatest(counts), 1)
  const step = WIDTH / counts.length
  return counts.map((count, index) => {
    if (count === 0) return undefined
    const height = Math.max(LEAST, (count / most) * HEIGHT)
    return html`<rect x="${(index * step).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${Math.max(1, step - 1).toFixed(1)}" height="${height.toFixed(1)}"/>`
  })
}

/** A chart as a drawing with its sum, and its numbers as a table behind it. */
export const chart = ({ counts, href, id, labels, mood, title, total }: Chart): Html => {
  const most = greatest(counts)
  const peak = most === 0 ? "none" : `most ${number(most)}, ${labels[counts.indexOf(most)] ?? ""}`
  const name = href === undefined ? title : html`<a href="${href}">${title}</a>`
  return html`<figure class="chart ${total === 0 ? "" : mood}">
<figcaption><span>${name}</span> <strong>${number(total)}</strong></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}: ${number(total)}, ${peak}"><path d="M0 ${HEIGHT - 0.5}H${WIDTH}"/>${bars(counts)}</svg>
<details id="numbers-${id}"><summary>Numbers<span class="hidden"> of ${title}</span></summary>
<table><caption class="hidden">${title}</caption><thead><tr><th scope="col">When (UTC)</th><th scope="col" class="number">Mails</th></tr></thead><tbody>
${lines(counts.map((count, index) => html`<tr><th scope="row">${labels[index] ?? ""}</th><td class="number">${number(count)}</td></tr>`))}
</tbody></table></details>
</figure>`
}
