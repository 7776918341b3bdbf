import type { ModelPrice } from "../../domain/cascade/cost.ts"

/** What is known of a model on Bedrock, by its ids. */
interface KnownModel {
  /** What a foundation model's id, a profile's or an ARN of one holds. */
  readonly id: RegExp
  /** Whether a call may carry a temperature; the others answer 400 to any. */
  readonly takesTemperature: boolean
  /** Of the global profile; undefined: not known here. US dollars a million tokens (aws.amazon.com/bedrock/pricing). */
  readonly price: ModelPrice | undefined
}

const usd = (inputUsdPerMtok: number, outputUsdPerMtok: number): ModelPrice => ({
  inputUsdPerMtok,
  outputUsdPerMtok
})

/** From these on a call within one region or one geography costs a tenth more than one of the global profile. */
const MODELS: ReadonlyArray<KnownModel> = [
  { id: /anthropic\.claude-haiku-4-5/, takesTemperature: true, price: usd(1, 5) },
  { id: /anthropic\.claude-sonnet-4-[56]/, takesTemperature: true, price: usd(3, 15) },
  { id: /anthropic\.claude-opus-4-[56]/, takesTemperature: true, price: usd(5, 25) },
  { id: /anthropic\.claude-opus-4-7/, takesTemperature: false, price: usd(5, 25) },
  { id: /anthropic\.claude-opus-4-8/, takesTemperature: false, price: undefined },
  { id: /anthropic\.claude-(?:opus|sonnet|haiku)-[5-9]/, takesTemperature: false, price: undefined }
]

/** The highest known price, assumed for a model without a known one. */
const DEAREST = usd(5, 25)

/** Price of a regional or geographic profile, as a multiple of the global one's. */
const REGIONAL = 1.1

/** The default: takes documents and a temperature, answers without thinking first, and is batched. */
export const DEFAULT_MODEL = "us.anthropic.claude-sonnet-4-6"

/** To thousandths of a dollar: 3 * 1.1 is not 3.3. */
const times = (price: number, factor: number) => Math.round(price * factor * 1000) / 1000

/** What a call of this model costs, by its profile, and whether it may carry a temperature (undefined: not known). */
export const modelFacts = (
  modelId: string
): {
  readonly price: ModelPrice
  readonly isPriceKnown: boolean
  readonly takesTemperature: boolean | undefined
} => {
  const known = MODELS.find(({ id }) => id.test(modelId))
  const { inputUsdPerMtok, outputUsdPerMtok } = known?.price ?? DEAREST
  const factor = /(?:^|\/)global\./.test(modelId) ? 1 : REGIONAL
  return {
    price: usd(times(inputUsdPerMtok, factor), times(outputUsdPerMtok, factor)),
    isPriceKnown: known?.price !== undefined,
    takesTemperature: known?.takesTemperature
  }
}
