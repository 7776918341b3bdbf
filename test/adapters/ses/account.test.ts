import { Effect } from "effect"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"

import { examineAccount, readSendRate } from "../../../src/adapters/ses/account.ts"
import { CredentialsUnavailable } from "../../../src/adapters/ses/credentials.ts"
import { fakeSes, sesError, type SesAccount } from "../../support/vendors/fake-ses.ts"

const GOOD: SesAccount = {
  account: {
    SendingEnabled: true,
    ProductionAccessEnabled: true,
    EnforcementStatus: "HEALTHY",
    SendQuota: { Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: 3 }
  },
  identities: {
    "mail.test": {
      IdentityType: "DOMAIN",
      VerifiedForSendingStatus: true,
      ConfigurationSetName: "transactional-set",
      DkimAttributes: {
        SigningEnabled: true,
        Status: "SUCCESS",
        Tokens: ["a", "b", "c"],
        SigningAttributesOrigin: "AWS_SES",
        CurrentSigningKeyLength: "RSA_2048_BIT"
      },
      MailFromAttributes: {
        MailFromDomain: "bounce.mail.test",
        MailFromDomainStatus: "SUCCESS",
        BehaviorOnMxFailure: "USE_DEFAULT_VALUE"
      }
    }
  },
  sets: {
    "transactional-set": {
      options: { ConfigurationSetName: "transactional-set", SendingOptions: { SendingEnabled: true } },
      destinations: [
        { Name: "sns", Enabled: true, MatchingEventTypes: ["SEND"], SnsDestination: { TopicArn: "arn" } },
        {
          Name: "off",
          Enabled: false,
          MatchingEventTypes: ["OPEN"],
          EventBridgeDestination: { EventBusArn: "arn" }
        },
        {
          Name: "bus",
          Enabled: true,
          MatchingEventTypes: ["BOUNCE", "COMPLAINT"],
          EventBridgeDestination: { EventBusArn: "arn:aws:events:us-east-1:1:event-bus/default" }
        }
      ]
    }
  }
}

let answers: SesAccount = GOOD
const ses = fakeSes({ account: () => answers })
beforeAll(() => ses.listen())
afterAll(() => ses.close())
afterEach(() => {
  answers = GOOD
})

const SECRET = "wJalrXUtnFEMI-secret"
const ask = (endpoint = ses.url, credentials?: () => Promise<never>) =>
  Effect.runPromise(
    examineAccount({
      region: "us-east-1",
      endpoint,
      credentials: credentials ?? (() => Promise.resolve({ accessKeyId: "AKIA", secretAccessKey: SECRET })),
      sender: "mail.test",
      configurationSet: undefined,
      outreachConfigurationSet: "outreach-set"
    })
  )

describe("the account at Amazon SES, over the wire", () => {
  it("gives what the verdicts are made from, and sends nothing", async () => {
    assert.deepStrictEqual(await ask(), {
      _tag: "Account",
      sendingEnabled: true,
      productionAccess: true,
      enforcement: "HEALTHY",
      identity: {
        _tag: "There",
        identity: {
          verified: true,
          dkim: {
            signing: true,
            status: "SUCCESS",
            easy: true,
            tokens: ["a", "b", "c"],
            host: "dkim.amazonses.com",
            keyLength: "RSA_2048_BIT"
          },
          mailFrom: { domain: "bounce.mail.test", status: "SUCCESS" },
          configurationSet: "transactional-set"
        }
      },
      sets: [
        {
          name: "transactional-set",
          outreach: false,
          // Of the destination on the event bus that is switched on, and of no other.
          found: {
            _tag: "There",
            sendingEnabled: true,
            suppresses: undefined,
            published: ["BOUNCE", "COMPLAINT"]
          }
        },
        { name: "outreach-set", outreach: true, found: { _tag: "Missing" } }
      ]
    })
    assert.isTrue(ses.requests.every(({ method }) => method === "GET"))
    assert.strictEqual(ses.acceptedCount, 0)
  })

  it("an identity that is not there, and one that was never set up", async () => {
    answers = { ...GOOD, identities: {} }
    const missing = await ask()
    assert.deepStrictEqual(missing._tag === "Account" && missing.identity, { _tag: "Missing" })
    answers = { ...GOOD, identities: { "mail.test": {} } }
    const bare = await ask()
    assert.deepStrictEqual(bare._tag === "Account" && bare.identity, {
      _tag: "There",
      identity: {
        verified: false,
        dkim: {
          signing: false,
          status: "NOT_STARTED",
          easy: true,
          tokens: [],
          host: "dkim.amazonses.com",
          keyLength: undefined
        },
        mailFrom: undefined,
        configurationSet: undefined
      }
    })
  })

  it("credentials that are refused or missing, and a service that does not answer", async () => {
    const none = await ask(ses.url, () => Promise.reject(new CredentialsUnavailable("no keys anywhere")))
    assert.deepInclude(none, { _tag: "Refused" })
    assert.include(JSON.stringify(none), "no keys anywhere")
    assert.strictEqual((await ask("http://127.0.0.1:1"))._tag, "Unknown")
    const tagOf = async (status: number, name: string, message: string) => {
      answers = { refused: sesError(status, name, message) }
      return (await ask())._tag
    }
    assert.strictEqual(await tagOf(403, "ExpiredTokenException", "The token is expired"), "Refused")
    assert.strictEqual(await tagOf(403, "UnrecognizedClientException", "The token is invalid"), "Refused")
    assert.strictEqual(await tagOf(403, "AccessDeniedException", "not authorized to perform"), "NotAllowed")
    assert.strictEqual(await tagOf(429, "TooManyRequestsException", "Rate exceeded"), "Unknown")
    assert.strictEqual(await tagOf(503, "ServiceUnavailableException", "try later"), "Unknown")
    answers = { refused: sesError(403, "InvalidSignatureException", `mismatch for ${SECRET}`) }
    assert.notInclude(JSON.stringify(await ask()), SECRET)
  })

  it("the rate of the account, or why it is not known", async () => {
    const rate = () =>
      Effect.runPromise(
        Effect.result(
          readSendRate({
            region: "us-east-1",
            endpoint: ses.url,
            credentials: () => Promise.resolve({ accessKeyId: "AKIA", secretAccessKey: SECRET })
          })
        )
      )
    answers = { ...GOOD }
    assert.deepInclude(await rate(), { _tag: "Success", success: 14 })
    answers = { ...GOOD, account: { SendingEnabled: true } }
    assert.deepInclude(await rate(), { _tag: "Failure", failure: "the account names no rate" })
    answers = { refused: sesError(403, "AccessDeniedException", `not authorized, ${SECRET}`) }
    const refused = await rate()
    assert.strictEqual(refused._tag, "Failure")
    assert.notInclude(JSON.stringify(refused), SECRET)
  })
})
