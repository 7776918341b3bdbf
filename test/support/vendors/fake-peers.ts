import { Effect, Redacted, type Scope } from "effect"

import type { PostmarkOptions } from "../../../src/adapters/postmark/api.ts"
import { makePostmarkProvider } from "../../../src/adapters/postmark/postmark-provider.ts"
import { makeResendProvider, type ResendClient } from "../../../src/adapters/resend/resend-provider.ts"
import { makeSesProvider } from "../../../src/adapters/ses/ses-provider.ts"
import { formattedKey } from "../../../src/domain/mail/address.ts"
import type {
  Copy,
  PeerOutcome,
  ProviderPeer,
  ProviderUnderTest,
  WireFault
} from "../../contracts/mail/mail-provider.ts"
import type { Acceptance, FakeHttp, Outcome } from "./fake-http.ts"
import { addressesOf, fakePostmark, type FakePostmarkOptions, type PostmarkPayload } from "./fake-postmark.ts"
import { fakeResend, type FakeResendOptions, type ResendPayload } from "./fake-resend.ts"
import { fakeSes, type FakeSesOptions, type SesPayload } from "./fake-ses.ts"

/** A fake that listens, closed with the scope. */
export const listening = (make: () => FakeHttp): Effect.Effect<FakeHttp, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => make().listen()),
    (peer) => Effect.promise(() => peer.close())
  )

/** The adapter's test key. */
export const RESEND_KEY = "re_test_0123456789"

/** Static credentials as the adapter takes them. */
export const STATIC = () =>
  Promise.resolve({
    accessKeyId: "AKIAEXAMPLE",
    secretAccessKey: "ses-secret-key",
    sessionToken: "ses-session-token"
  })

/** Resend's adapter with a fake Resend behind it. */
export const resendWithFake = (options: FakeResendOptions = {}, client?: ResendClient) =>
  Effect.gen(function* () {
    const fake = yield* listening(() => fakeResend({ apiKey: RESEND_KEY, ...options }))
    const provider = makeResendProvider({ apiKey: Redacted.make(RESEND_KEY), baseUrl: fake.url, client })
    return { fake, provider }
  })

/** Amazon SES's adapter with a fake SES behind it. */
export const sesWithFake = (options: FakeSesOptions & { readonly configurationSet?: string } = {}) =>
  Effect.gen(function* () {
    const fake = yield* listening(() => fakeSes(options))
    const provider = yield* makeSesProvider({
      region: "us-east-1",
      endpoint: fake.url,
      credentials: STATIC,
      configurationSet: options.configurationSet
    })
    return { fake, provider }
  })

/** The adapter's test token. */
export const POSTMARK_TOKEN = "0a129aee-test-token"

/** Postmark's adapter with a fake Postmark behind it. */
export const postmarkWithFake = (options: FakePostmarkOptions = {}) =>
  Effect.gen(function* () {
    const fake = yield* listening(() => fakePostmark({ serverToken: POSTMARK_TOKEN, ...options }))
    const settings: PostmarkOptions = {
      serverToken: Redacted.make(POSTMARK_TOKEN),
      baseUrl: fake.url,
      messageStream: "outbound"
    }
    return { fake, settings, provider: makePostmarkProvider(settings) }
  })

const OUTCOMES: Readonly<Record<PeerOutcome, Outcome>> = {
  ok: "ok",
  rejected: "422",
  unavailable: "503",
  ambiguous: "500",
  lost: "reset-after",
  hang: "hang"
}

const FAULTS: Readonly<Record<WireFault, Outcome>> = {
  page: "503-html",
  half: "truncated-200-accepted",
  "accepted-hang": "hang-accepted"
}

const peerOf = (
  fake: FakeHttp,
  secrets: ReadonlyArray<string>,
  copyOf: (acceptance: Acceptance) => Copy
): ProviderPeer => ({
  wire: {
    next: (fault) => Effect.promise(() => fake.script([FAULTS[fault]])),
    bodies: Effect.sync(() => fake.requests.map(({ body }) => body)),
    secrets
  },
  next: (...outcomes) => Effect.promise(() => fake.script(outcomes.map((outcome) => OUTCOMES[outcome]))),
  copies: Effect.sync(() => fake.accepted.map(copyOf)),
  received: Effect.sync(() => fake.received),
  arrived: (count) => Effect.promise(() => fake.until(() => fake.requests.length >= count)),
  gaveUp: Effect.promise(() => fake.until(() => fake.requests.at(-1)?.aborted === true))
})

const keys = (...lists: ReadonlyArray<string | ReadonlyArray<string> | undefined>): ReadonlyArray<string> =>
  lists.flatMap((list) => list ?? []).map(formattedKey)

/** Resend, as test/contracts/mail asks for a provider. */
export const resendUnderTest = (
  client?: ResendClient
): Effect.Effect<ProviderUnderTest, never, Scope.Scope> =>
  Effect.map(resendWithFake({}, client), ({ fake, provider }) => ({
    provider,
    peer: peerOf(fake, [RESEND_KEY], ({ id, payload }) => {
      const { to, cc, bcc, tags = [] } = payload as ResendPayload
      return {
        messageId: id,
        recipients: keys(to, cc, bcc),
        tags: Object.fromEntries(tags.map(({ name, value }) => [name, value]))
      }
    })
  }))

/** Amazon SES, likewise. */
export const sesUnderTest: Effect.Effect<ProviderUnderTest, never, Scope.Scope> = Effect.map(
  sesWithFake(),
  ({ fake, provider }) => ({
    provider,
    peer: peerOf(fake, ["ses-secret-key", "ses-session-token"], ({ id, payload }) => {
      const { Destination = {}, EmailTags = [] } = payload as SesPayload
      return {
        messageId: `0100${id}-000000`,
        recipients: keys(Destination.ToAddresses, Destination.CcAddresses, Destination.BccAddresses),
        tags: Object.fromEntries(EmailTags.map(({ Name, Value }) => [Name, Value]))
      }
    })
  })
)

/** Postmark, likewise. */
export const postmarkUnderTest: Effect.Effect<ProviderUnderTest, never, Scope.Scope> = Effect.map(
  postmarkWithFake(),
  ({ fake, provider }) => ({
    provider,
    peer: peerOf(fake, [POSTMARK_TOKEN], ({ id, payload }) => {
      const { Bcc, Cc, Metadata = {}, To } = payload as PostmarkPayload
      return { messageId: id, recipients: keys([To, Cc, Bcc].flatMap(addressesOf)), tags: Metadata }
    })
  })
)
