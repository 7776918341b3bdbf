/**
 * `IntakeStore`: a mail is one, however often it comes; it is claimed by one worker, charged once, and answered in order.
 *
 * Adapters: memory, postgres. Rules: C2, F1, DOC-6, H3, I1, I2, I4, INBOUND-5, INBOUND-7, INBOUND-8, INBOUND-10, INBOUND-12, INBOUND-14.
 */
import type { Layer } from "effect"

import { afterwards } from "./afterwards.ts"
import { fundsOfMails } from "./funds.ts"
import { leases } from "./leases.ts"
import { meanwhile } from "./meanwhile.ts"
import { order } from "./order.ts"
import { replies } from "./replies.ts"
import { turns } from "./turns.ts"
import type { Stores } from "./world.ts"

/** What every store of mails under way does. */
export const suite = (name: string, stores: Layer.Layer<Stores>) => {
  leases(name, stores)
  turns(name, stores)
  order(name, stores)
  meanwhile(name, stores)
  fundsOfMails(name, stores)
  replies(name, stores)
  afterwards(name, stores)
}
