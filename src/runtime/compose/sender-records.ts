import { Effect, Layer, Record as Records, Result } from "effect"

import type { CredentialSource } from "../../adapters/ses/credentials.ts"
import type { IdentityFacts, ProviderBFacts } from "../../domain/doctor/provider-b.ts"
import { type DnsRecord, recordsOfA, recordsOfB, sharedRecords } from "../../domain/doctor/sender-records.ts"
import { Provider, PROVIDERS } from "../../domain/mail/provider.ts"
import { SenderRecords } from "../../ports/doctor/sender-records.ts"
import type { Settings } from "../settings/settings.ts"

/** The settings that say which providers send, and as whom. */
type SenderSettings = Pick<Settings, "domains" | "embedded" | "providerA" | "providerB" | "sending">

interface Asking {
  readonly settings: SenderSettings
  readonly credentials: CredentialSource
}

/** What one provider asks for, and what could not be found out. */
interface Asked {
  readonly records: ReadonlyArray<DnsRecord>
  readonly notes: ReadonlyArray<string>
}

/** The providers that can really send mail. */
export const usesReally = (
  settings: Omit<SenderSettings, "domains" | "providerB">
): Readonly<Record<Provider, boolean>> => {
  const { fallback, isConfigured, isOff, primary } = settings.sending
  if (isOff) return Records.map(isConfigured, () => false)
  const chosen = (provider: Provider) => primary === provider || fallback === provider
  // Without keys the machine's own credentials sign, which only one that is meant to use them has.
  return {
    ...isConfigured,
    provider_b: isConfigured.provider_b || (!settings.embedded && chosen("provider_b"))
  }
}

/** Whether mail really goes to `provider_b`. */
export const usesProviderB = (settings: Omit<SenderSettings, "domains" | "providerB">): boolean =>
  usesReally(settings).provider_b

/** Account, identity and sets of `provider_b`. */
export const accountOfB = ({ credentials, settings }: Asking): Effect.Effect<ProviderBFacts> => {
  const { configurationSet, endpoint, outreachConfigurationSet, region } = settings.providerB
  return Effect.flatMap(
    Effect.promise(() => import("../../adapters/ses/account.ts")),
    (adapter) =>
      adapter.examineAccount({
        region,
        endpoint,
        credentials,
        configurationSet,
        outreachConfigurationSet,
        sender: settings.domains.sender
      })
  )
}

/** Its account, where it is used. */
export const examineProviderB = (asking: Asking): Effect.Effect<ProviderBFacts> | undefined =>
  usesProviderB(asking.settings) ? accountOfB(asking) : undefined

/** What `provider_a` asks for. */
export const askedByA = Effect.fnUntraced(function* ({
  settings
}: Pick<Asking, "settings">): Effect.fn.Return<Asked> {
  const { apiKey, baseUrl, userAgent } = settings.providerA
  if (apiKey === undefined) {
    return { records: [], notes: ["provider_a: PROVIDERA_API_KEY is unset, so its records are not known"] }
  }
  const { readDomainRecords } = yield* Effect.promise(() => import("../../adapters/resend/account.ts"))
  const { sender } = settings.domains
  const found = yield* Effect.result(readDomainRecords({ apiKey, baseUrl, userAgent }, sender))
  if (Result.isSuccess(found)) return { records: recordsOfA(found.success, sender), notes: [] }
  const facts = found.failure
  const why =
    facts._tag === "Refused" || facts._tag === "Unknown"
      ? facts.why
      : "the key may only send: give this command one with full access"
  return { records: [], notes: [`provider_a: ${why}`] }
})

/** What `provider_b` asks for, and its identity, where it has one. */
export const askedByB = Effect.fnUntraced(function* (
  asking: Asking
): Effect.fn.Return<Asked & { readonly identity: IdentityFacts | undefined }> {
  const { domains, providerB: own } = asking.settings
  const asked = examineProviderB(asking)
  const facts = asked === undefined ? undefined : yield* asked
  const found = facts?._tag === "Account" ? facts.identity : undefined
  const identity = found?._tag === "There" ? found.identity : undefined
  const why =
    facts !== undefined && "why" in facts ? facts.why : `there is no identity for ${domains.sender} yet`
  return {
    identity,
    records: recordsOfB({ sender: domains.sender, region: own.region, identity }),
    notes:
      identity === undefined
        ? [
            `provider_b: the three DKIM records are not known: ${facts === undefined ? "it is simulated or not used" : why}`
          ]
        : []
  }
})

const NOTHING: Asked = { records: [], notes: [] }

/** The records that the providers of the settings ask for; of a simulated one, which sends nothing, none. */
export const layer = (asking: Asking): Layer.Layer<SenderRecords> => {
  const { settings } = asking
  const { fallback, isOff, primary } = settings.sending
  const real = usesReally(settings)
  const named = isOff ? [] : [primary, fallback].filter((one) => one !== undefined)
  const uses = (provider: Provider) => named.includes(provider) && real[provider]
  const simulated = named
    .filter((provider) => !real[provider])
    .map(
      (provider) =>
        `${provider}: it is simulated, so that nothing is sent, and nothing has to be published for it`
    )
  return Layer.succeed(
    SenderRecords,
    SenderRecords.of({
      domain: settings.domains.sender,
      region: settings.providerB.region,
      asked: Effect.gen(function* () {
        const [a, b] = yield* Effect.all(
          [
            uses("provider_a") ? askedByA(asking) : Effect.succeed(NOTHING),
            uses("provider_b") ? askedByB(asking) : Effect.undefined
          ],
          { concurrency: "unbounded" }
        )
        const byHand = Provider.literals.filter(uses).flatMap((provider) => {
          const { records } = PROVIDERS[provider]
          return records === null ? [] : [`${provider}: ${records}`]
        })
        return {
          records: [
            ...a.records,
            ...(b?.records ?? []),
            ...(named.some(uses) ? sharedRecords(settings.domains.sender) : [])
          ],
          notes: [...a.notes, ...(b?.notes ?? []), ...byHand, ...simulated],
          providerB: b && { identity: b.identity }
        }
      })
    })
  )
}
