import { resendClient } from "../senders/peers.ts"
import { next } from "../senders/sender.ts"
import type { OpenContender } from "./contender.ts"
import { newMails } from "./queued-mail.ts"

/** The vendor's SDK without a queue, a look-up or a row: the rate that no queue which calls it once a mail can pass. */
export const sdkAlone: OpenContender = ({ providerUrl }, concurrency) => {
  const vendor = resendClient(providerUrl)
  return Promise.resolve({
    fill: () => Promise.resolve(),
    drain: async (count) => {
      const mails = [...newMails(count)]
      const caller = async () => {
        for (let one = mails.pop(); one !== undefined; one = mails.pop()) {
          await vendor.send({ ...one, n: next() }, one.idempotencyKey)
        }
      }
      await Promise.all(Array.from({ length: concurrency }, caller))
    },
    close: () => Promise.resolve(vendor.close())
  })
}
