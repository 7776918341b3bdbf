import { ArnFormat, CfnOutput, Duration, type Stack } from "aws-cdk-lib"
import * as api from "aws-cdk-lib/aws-apigatewayv2"
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations"
import * as iam from "aws-cdk-lib/aws-iam"
import * as lambda from "aws-cdk-lib/aws-lambda"
import * as logs from "aws-cdk-lib/aws-logs"
import { Bucket } from "aws-cdk-lib/aws-s3"
import { Schedule, ScheduleExpression } from "aws-cdk-lib/aws-scheduler"
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets"
import type * as sqs from "aws-cdk-lib/aws-sqs"

import { functionSeconds, RETRIES_AT_ONCE } from "../../src/application/mail/function-sizes.ts"
import type { Env } from "../../src/runtime/settings/settings.ts"
import { SETTINGS } from "../../src/runtime/settings/table.ts"
import type { FunctionCode, Plan } from "./plan.ts"

const MEMORY_MB = 1_024
/** The least that a queue may be limited to. */
const FEWEST_FROM_QUEUE = 2
/** An invocation of this age says nothing new any more. */
const SCHEDULE_RETRY = { maxEventAge: Duration.minutes(1), retryAttempts: 0 }

/**
 * Keys that sign calls. A function's role signs them, whose keys stand in its environment as AWS_ACCESS_KEY_ID and its fellows: those of
 * the one who applies the stack would last longer, may do more, or end with their session.
 */
const KEYS = ["CLOUD_ACCESS_KEY_ID", "CLOUD_SECRET_ACCESS_KEY", "CLOUD_SESSION_TOKEN"]
/** What the function decides by itself. */
const OWN = ["POSTLANE_DATA_DIR", "POSTLANE_EMBEDDED", "POSTLANE_ROLES", "HOST", "PORT"]

const LEFT_OUT: ReadonlySet<string> = new Set([...KEYS, ...OWN])

/**
 * The settings of the environment that the stack is made in. Values that must not be shown stand in no template: they come from
 * `secretName`, whose JSON has the settings' names as keys.
 */
const environmentOf = (env: Env, { secretName, secretVersion }: FunctionCode): Record<string, string> =>
  Object.fromEntries(
    SETTINGS.filter(({ name }) => !LEFT_OUT.has(name)).flatMap(({ alias, name, secret }) => {
      const value = [name, alias ?? name].map((one) => env[one] ?? "").find((text) => text !== "")
      if (value === undefined) return []
      const version = secretVersion === undefined ? "" : `::${secretVersion}`
      const reference = `{{resolve:secretsmanager:${secretName}:SecretString:${name}${version}}}`
      return [[name, secret ? reference : value]]
    })
  )

/** What the function is made from. */
interface FunctionPlan extends Pick<Plan, "env" | "names" | "settings"> {
  readonly code: FunctionCode
}

/** What the function works with of the other stack. */
interface Beside {
  readonly queue: sqs.IQueue
  readonly policy: iam.IManagedPolicy
}

/** The function, with its own policy for its log lines beside that for what it calls. */
const makeFunction = (
  stack: Stack,
  { code, env, names, settings }: FunctionPlan,
  { policy, queue }: Beside
) => {
  const logGroup = logs.LogGroup.fromLogGroupName(stack, "Logs", names.logGroups.api)
  const role = new iam.Role(stack, "FunctionRole", {
    description: "Postlane as a function: what it calls, and log lines",
    assumedBy: new iam.ServicePrincipal("lambda.amazonaws.com"),
    managedPolicies: [policy]
  })
  role.addToPolicy(
    new iam.PolicyStatement({
      sid: "Lines",
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      resources: [
        stack.formatArn({
          service: "logs",
          resource: "log-group",
          resourceName: `${names.logGroups.api}:*`,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME
        })
      ]
    })
  )
  if (code.network !== undefined)
    role.addManagedPolicy(
      iam.ManagedPolicy.fromAwsManagedPolicyName("service-role/AWSLambdaVPCAccessExecutionRole")
    )
  const made = new lambda.Function(stack, "Function", {
    functionName: names.prefix,
    description: "Postlane: requests, retries and what is due",
    runtime: lambda.Runtime.NODEJS_24_X,
    handler: "index.handler",
    code: lambda.Code.fromBucket(Bucket.fromBucketName(stack, "Code", code.bucket), code.key),
    memorySize: MEMORY_MB,
    timeout: Duration.seconds(functionSeconds(settings.sending)),
    environment: {
      EMAIL_DEFER_QUEUE_URL: queue.queueUrl,
      ...environmentOf(env, code)
    },
    role: role.withoutPolicyUpdates(),
    logGroup,
    ...(code.concurrency === 0 ? {} : { reservedConcurrentExecutions: code.concurrency })
  })
  if (code.network !== undefined) (made.node.defaultChild as lambda.CfnFunction).vpcConfig = code.network
  return made
}

/** The serverless entry: one function behind an HTTP API, on the retry queue and once a minute. */
export const functionResources = (stack: Stack, plan: FunctionPlan, beside: Beside): void => {
  const handler = makeFunction(stack, plan, beside)
  const gateway = new api.HttpApi(stack, "Api", {
    apiName: plan.names.prefix,
    defaultIntegration: new HttpLambdaIntegration("Requests", handler)
  })
  new CfnOutput(stack, "ApiUrl", {
    description: "Where the HTTP API answers: lead the host of BASE_URL there",
    value: gateway.apiEndpoint
  })
  new lambda.EventSourceMapping(stack, "Retries", {
    target: handler,
    eventSourceArn: beside.queue.queueArn,
    // They begin together: none waits for another's time to be over.
    batchSize: RETRIES_AT_ONCE,
    // The rest is for requests and for what is due.
    ...(plan.code.concurrency === 0
      ? {}
      : { maxConcurrency: Math.max(FEWEST_FROM_QUEUE, Math.floor(plan.code.concurrency / 2)) }),
    reportBatchItemFailures: true
  })
  new Schedule(stack, "Due", {
    description: "Alarms, alerts, digests, the poll and housekeeping",
    schedule: ScheduleExpression.rate(Duration.minutes(1)),
    target: new LambdaInvoke(handler, SCHEDULE_RETRY)
  })
}
