import { type Verdict, verdictsOf } from "./verdict.ts"

/** What keeps the high-fidelity model from answering. */
type ModelLack = "access" | "credentials" | "model" | "profile" | "temperature" | "throttled" | "unknown"

/** The facts about the high-fidelity model, from one tiny call. Texts are the vendor's. */
export interface ModelFacts {
  readonly model: string
  readonly region: string
  readonly answer:
    | { readonly _tag: "Answered" }
    | { readonly _tag: "None"; readonly lack: ModelLack; readonly why: string }
  /** Regions that the inference profile sends calls to; undefined: it is no profile, or these credentials may not look. */
  readonly regions: ReadonlyArray<string> | undefined
  /** What the batch lane finds; undefined where it is off. */
  readonly batch:
    | { readonly _tag: "Unreachable"; readonly why: string }
    /** `failure`: of the newest batch jobs, why the last that failed did. */
    | { readonly _tag: "Seen"; readonly failure: string | undefined }
    | undefined
  /** US dollars a million tokens, as costs are counted, and as the list has them; undefined: not known. */
  readonly price: {
    readonly used: readonly [number, number]
    readonly listed: readonly [number, number] | undefined
  }
}

const { fail, ok, warn } = verdictsOf("model")

const actions: Readonly<Record<ModelLack, (facts: ModelFacts) => string>> = {
  access: ({ model, region, regions }) =>
    `ask for access to the model in Bedrock's console in ${region}, and allow bedrock:InvokeModel on ${model}${
      regions === undefined ? "" : `, and on its foundation model in ${regions.join(", ")}`
    }`,
  credentials: () => "renew the keys of the cloud account, or attach the instance role",
  model: ({ region }) =>
    `set HIFI_MODEL_ID to a model or a profile that is current in ${region} (CLOUD_REGION)`,
  profile: () =>
    "set HIFI_MODEL_ID to an inference profile of the model, such as us. or global. before its id",
  temperature: () => "take HIFI_TEMPERATURE out: this model refuses any",
  throttled: () => "ask for a higher quota of tokens and requests a minute, or see what else calls the model",
  unknown: () => "see that this machine reaches Amazon Bedrock, and run doctor again"
}

const answerVerdict = (facts: ModelFacts): Verdict => {
  const { answer, model, region, regions } = facts
  if (answer._tag === "Answered")
    return ok(
      `${model} answers in ${region}${regions === undefined ? "" : `, through ${regions.join(", ")}`}`
    )
  const verdict = answer.lack === "throttled" ? warn : fail
  return verdict({
    what: `${model} does not answer in ${region}: high fidelity is not available`,
    why: answer.why,
    do: actions[answer.lack](facts)
  })
}

const batchVerdict = (batch: ModelFacts["batch"]): ReadonlyArray<Verdict> => {
  if (batch === undefined) return []
  if (batch._tag === "Unreachable")
    return [
      fail({
        what: "batch jobs cannot be listed",
        why: batch.why,
        do: "allow bedrock:ListModelInvocationJobs, CreateModelInvocationJob, GetModelInvocationJob and StopModelInvocationJob to these credentials, and iam:PassRole on BATCH_CONVERSION_ROLE_ARN"
      })
    ]
  return batch.failure === undefined
    ? [ok("batch jobs can be listed, and the newest did not fail")]
    : [
        warn({
          what: "the newest batch job failed",
          why: batch.failure,
          do: "see that the role of BATCH_CONVERSION_ROLE_ARN may read and write the bucket and invoke the model, and that the quota of records is met"
        })
      ]
}

const usd = ([input, output]: readonly [number, number]): string => `${input} and ${output} USD`

const priceVerdict = ({ model, price: { listed, used } }: ModelFacts): ReadonlyArray<Verdict> => {
  const todo =
    "set HIFI_INPUT_USD_PER_MTOK and HIFI_OUTPUT_USD_PER_MTOK to what Amazon charges, or leave them unset"
  if (listed === undefined)
    return [
      warn({
        what: `the price of ${model} is not known here`,
        why: `costs and the daily budget are counted at ${usd(used)} a million tokens`,
        do: todo
      })
    ]
  return listed[0] === used[0] && listed[1] === used[1]
    ? []
    : [
        warn({
          what: `the price of ${model} is not its list price`,
          why: `costs are counted at ${usd(used)} a million tokens, and the list has ${usd(listed)} for its profile`,
          do: todo
        })
      ]
}

/** The verdicts on the high-fidelity model. */
export const modelVerdicts = (facts: ModelFacts): ReadonlyArray<Verdict> => [
  answerVerdict(facts),
  ...batchVerdict(facts.batch),
  ...priceVerdict(facts)
]
