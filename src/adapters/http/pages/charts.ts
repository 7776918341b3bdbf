import { scaleBand, scaleLinear } from "d3-scale"
import { stack } from "d3-shape"

import { greatest } from "../../../domain/lists.ts"
import { type Html, html } from "./html.ts"
import { number, table } from "./ui.ts"

/** One kind of what a chart counts; `look` is the class of its colour in `parts.css`. */
interface Layer {
  readonly name: string
  readonly look: string
  readonly counts: ReadonlyArray<number>
}

/** A chart of counts over the time. */
interface StackedChart {
  readonly id: string
  readonly title: string
  /** What is counted, such as “mails”. */
  readonly unit: string
  /** The name of each count's time, and a short one for the axis. */
  readonly labels: ReadonlyArray<string>
  readonly ticks: ReadonlyArray<string>
  /** From the bottom to the top. */
  readonly layers: ReadonlyArray<Layer>
}

/** Limit on names of the time axis, so that they fit on a phone. */
const MOST_NAMED = 6

const at = (percent: number): string => `${percent.toFixed(2)}%`

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((one, other) => one + other, 0)

/** The columns of the layers, one above another; each has the same share of the width, as its time on the axis has. */
const columnsOf = (layers: ReadonlyArray<Layer>, size: number, y: (count: number) => number) => {
  const times = Array.from({ length: size }, (_, index) => index)
  const x = scaleBand(times, [0, 100]).paddingInner(0.25).paddingOuter(0.125)
  const stacked = stack<number, Layer>()
    .keys(layers)
    .value((time, { counts }) => counts[time] ?? 0)(times)
  return stacked.map(
    (column) =>
      html`<g class="${column.key.look}">${column.map(([from, to], time) =>
        to === from
          ? undefined
          : html`<rect x="${at(x(time) ?? 0)}" y="${at(y(to))}" width="${at(x.bandwidth())}" height="${at(y(from) - y(to))}"/>`
      )}</g>`
  )
}

/**
 * Counts over the time as columns of stacked layers on one scale, with axes, a legend with the totals, and the numbers as a table behind
 * it. Places are percentages, so that a drawing of any width keeps the size of its letters.
 */
export const stackedChart = ({ id, labels, layers, ticks, title, unit }: StackedChart): Html => {
  const totals = labels.map((_, time) => sum(layers.map(({ counts }) => counts[time] ?? 0)))
  const most = greatest(totals)
  const y = scaleLinear([0, Math.max(most, 4)], [100, 0]).nice(4)
  const drawn = columnsOf(layers, labels.length, y)
  const every = Math.max(1, Math.ceil(labels.length / MOST_NAMED))
  const marks = y.ticks(4)
  const grid = marks.map((count) => html`<line x1="0" x2="100%" y1="${at(y(count))}" y2="${at(y(count))}"/>`)
  // Words are HTML next to the drawing, so that a check of contrast knows their background. Both axes have even steps.
  const scale = marks.toReversed().map((count) => html`<span>${number(count)}</span>`)
  const times = ticks.map((tick, time) => html`<span>${time % every === 0 ? tick : ""}</span>`)
  const peak = most === 0 ? "none" : `most ${number(most)}, ${labels[totals.indexOf(most)] ?? ""}`
  return html`<figure class="chart" id="${id}">
<figcaption><strong>${title}</strong><ul class="legend">${layers.map(
    ({ counts, look, name }) =>
      html`<li class="${look}"><span>${name} <b>${number(sum(counts))}</b></span></li>`
  )}</ul></figcaption>
<div class="plot"><div class="counts" aria-hidden="true">${scale}</div><svg role="img" aria-label="${title}: ${number(sum(totals))} ${unit}, ${peak}">${grid}${drawn}</svg><div class="times" aria-hidden="true">${times}</div></div>
<details id="${id}-numbers"><summary>Numbers<span class="hidden"> of ${title}</span></summary>${table(
    { id: `${id}-table`, caption: title, heard: true },
    [
      ["When (UTC)", (time) => labels[time] ?? ""],
      ["All", (time) => number(totals[time] ?? 0)],
      ...layers.map(({ counts, name }) => [name, (time: number) => number(counts[time] ?? 0)] as const)
    ],
    labels.map((_, time) => time)
  )}</details>
</figure>`
}

/** A share with its limit: drawn to a scale that ends at `most`, which several share. */
export const gauge = ({
  limit,
  most,
  share
}: {
  readonly share: number
  readonly limit: number | undefined
  readonly most: number
}): Html => {
  const x = scaleLinear([0, most], [0, 100]).clamp(true)
  const mark = limit === undefined ? undefined : at(x(limit))
  return html`<svg class="gauge" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="4"/><rect class="bar${limit !== undefined && share > limit ? " over" : ""}" width="${at(x(share))}" height="100%" rx="4"/>${
    mark === undefined ? undefined : html`<line x1="${mark}" x2="${mark}" y1="-3" y2="11"/>`
  }</svg>`
}
