import { ListSuppressedDestinationsCommand, type SESv2Client } from "@aws-sdk/client-sesv2"
import { Effect, Option, Schedule, Stream } from "effect"

import type { ExportRecord } from "../../domain/mail/export-records.ts"
import { failureText } from "../../domain/mail/failover.ts"
import { type ProviderSuppressions, SuppressionsUnread } from "../../ports/mail/suppression-list.ts"
import { classifySesError } from "./classify.ts"
import { makeClient, type SesOptions } from "./ses-provider.ts"

/** The vendor's largest page. */
const PAGE = 1000

/** The vendor allows about one such call a second. */
const PATIENCE = Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 10 }))

interface Failure {
  readonly isBusy: boolean
  readonly message: string
}

const page = (client: SESv2Client, NextToken: string | undefined) =>
  Effect.tryPromise({
    try: (abortSignal) =>
      client.send(new ListSuppressedDestinationsCommand({ PageSize: PAGE, NextToken }), { abortSignal }),
    catch: (cause): Failure => {
      const { code, message } = classifySesError(cause)
      return {
        isBusy: /throttl|too ?many ?requests/i.test(`${code} ${message}`),
        message: failureText(code === undefined ? message : `${code}: ${message}`)
      }
    }
  }).pipe(
    Effect.retry({ schedule: PATIENCE, while: ({ isBusy }) => isBusy }),
    Effect.mapError(({ message }) => new SuppressionsUnread({ message: `Amazon SES: ${message}` }))
  )

/** The account's suppression list, every page (`ses:ListSuppressedDestinations`). */
export const suppressionsOfAccount = (
  options: Pick<SesOptions, "region" | "credentials" | "endpoint">
): ProviderSuppressions =>
  Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => makeClient(options, options.credentials)),
        (open) => Effect.sync(() => open.destroy())
      ),
      (client) =>
        Stream.paginate<string | undefined, ExportRecord, SuppressionsUnread>(undefined, (token) =>
          Effect.map(
            page(client, token),
            ({ NextToken, SuppressedDestinationSummaries = [] }) =>
              [
                SuppressedDestinationSummaries.map(({ EmailAddress = "", Reason = "" }) => ({
                  line: 0,
                  fields: new Map([
                    ["email", EmailAddress],
                    ["reason", Reason]
                  ])
                })),
                Option.fromUndefinedOr(NextToken)
              ] as const
          )
        )
    )
  )
