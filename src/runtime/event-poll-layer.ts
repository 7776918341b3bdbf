import { Layer } from "effect"

import * as NoSentMails from "../adapters/memory/no-sent-mails.ts"
import type { ReadSql, WriteSql } from "../adapters/postgres/client.ts"
import * as PollLog from "../adapters/postgres/poll-log.ts"
import * as SentMailList from "../adapters/resend/list-mails.ts"
import type { EventRecording } from "../domain/delivery/event-recording.ts"
import * as Poll from "../domain/delivery/poll.ts"
import type { SentMails } from "../ports/sent-mails.ts"
import type { Settings } from "./settings.ts"

/** The list of `provider_a`; an empty one where it is simulated, whose events all come by themselves. */
const sentMails = ({ embedded, providerA }: Settings): Layer.Layer<SentMails> => {
  const { apiKey, baseUrl } = providerA
  if (apiKey !== undefined) return SentMailList.layer({ apiKey, baseUrl })
  return embedded ? NoSentMails.layerEmpty : NoSentMails.layerNone
}

/** The poll of `provider_a`'s list. */
export const layer = (
  settings: Settings
): Layer.Layer<Poll.EventPoll, never, EventRecording | ReadSql | WriteSql> =>
  Poll.layer().pipe(Layer.provide([sentMails(settings), PollLog.layer]))
