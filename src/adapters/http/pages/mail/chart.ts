import type { EmailStat } from "../../../../domain/delivery/email-log-row.ts"
import { layersOf, type MailLayer } from "../../../../domain/delivery/health.ts"
import { stackedChart } from "../charts.ts"
import type { Html } from "../html.ts"

const NAMES: Readonly<Record<MailLayer, string>> = {
  delivered: "Delivered",
  sent: "Sent, no event yet",
  waiting: "Waiting",
  suppressed: "Suppressed",
  bounced: "Bounced",
  complained: "Reported as spam",
  failed: "Failed"
}

const label = (bucket: string): string =>
  bucket.length === 13 ? `${bucket.slice(0, 10)} ${bucket.slice(11)}:00` : bucket

/** What the axis says of a bucket: an hour, or a day and its month. */
const tick = (bucket: string): string =>
  bucket.length === 13
    ? `${bucket.slice(11)}:00`
    : `${Number(bucket.slice(8))}.${Number(bucket.slice(5, 7))}.`

/** What mails became, stacked by the time. */
export const mailChart = (
  id: string,
  title: string,
  stats: ReadonlyArray<EmailStat>,
  buckets: ReadonlyArray<string>
): Html =>
  stackedChart({
    id,
    title,
    unit: "mails",
    labels: buckets.map(label),
    ticks: buckets.map(tick),
    layers: layersOf(stats, buckets).map(({ counts, layer }) => ({
      name: NAMES[layer],
      look: `s-${layer}`,
      counts
    }))
  })
