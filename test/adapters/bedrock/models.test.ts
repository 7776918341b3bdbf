import { assert, describe, it } from "vitest"

import { DEFAULT_MODEL, modelFacts } from "../../../src/adapters/bedrock/models.ts"

describe("what is known of models on Bedrock", () => {
  it("a temperature is taken up to 4.6, and refused by all that came later, whatever the profile", () => {
    for (const id of [
      DEFAULT_MODEL,
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-4-6-v1",
      "anthropic.claude-haiku-4-5-20251001-v1:0"
    ])
      assert.isTrue(modelFacts(id).takesTemperature, id)
    for (const id of [
      "us.anthropic.claude-opus-4-7",
      "global.anthropic.claude-opus-4-8",
      "us.anthropic.claude-opus-5",
      "eu.anthropic.claude-sonnet-5"
    ])
      assert.isFalse(modelFacts(id).takesTemperature, id)
    assert.isUndefined(
      modelFacts("arn:aws:bedrock:us-west-2:1:application-inference-profile/x").takesTemperature
    )
  })

  it("a profile of a geography or a region costs a tenth more than the global one", () => {
    const priceOf = (id: string) => Object.values(modelFacts(id).price)
    assert.deepStrictEqual(priceOf(DEFAULT_MODEL), [3.3, 16.5])
    assert.deepStrictEqual(priceOf("global.anthropic.claude-sonnet-4-6"), [3, 15])
    assert.deepStrictEqual(
      priceOf("arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-opus-4-7"),
      [5, 25]
    )
    assert.isFalse(modelFacts("us.anthropic.claude-opus-5").isPriceKnown)
    assert.deepStrictEqual(priceOf("us.anthropic.claude-opus-5"), [5.5, 27.5])
  })
})
