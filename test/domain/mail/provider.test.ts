import { assert, describe, it } from "@effect/vitest"

import {
  dedupes,
  isPolled,
  isProvider,
  Provider,
  PROVIDERS,
  providerName,
  providersNamed,
  reports,
  ReportingProvider
} from "../../../src/domain/mail/provider.ts"

describe("providers", () => {
  it("S1: one alone dedupes by the key: a second copy of any other's mail cannot be ruled out (MAIL-57)", () => {
    assert.deepStrictEqual(Provider.literals.filter(dedupes), ["provider_a"])
  })

  it("tell of their mails but for an SMTP relay, of which only reports come back", () => {
    assert.deepStrictEqual(Provider.literals.filter(reports), ["provider_a", "provider_b", "postmark"])
    assert.deepStrictEqual(ReportingProvider.literals, Provider.literals.filter(reports))
    // Asked by the poll, so that a row may know of what no webhook told.
    assert.deepStrictEqual(Provider.literals.filter(isPolled), ["provider_a", "postmark"])
    const throughFunctions = Provider.literals.filter((one) => PROVIDERS[one].throughFunctions)
    assert.deepStrictEqual(throughFunctions, ["provider_a", "postmark"])
  })

  it("are shown where the settings name them, in one order", () => {
    const named = (primary: Provider, fallback?: Provider) => providersNamed({ primary, fallback })
    assert.deepStrictEqual(named("provider_a"), ["provider_a"])
    assert.deepStrictEqual(named("provider_b", "provider_a"), ["provider_a", "provider_b"])
    assert.deepStrictEqual(named("smtp", "smtp"), ["smtp"])
  })

  it("are known by their neutral names alone", () => {
    for (const one of Provider.literals) {
      assert.isTrue(isProvider(one))
      assert.notMatch(providerName(one), /^an? /)
    }
    for (const none of [null, "", "toString", "Resend", "PROVIDER_A"]) assert.isFalse(isProvider(none))
  })
})
